//! Which store a name, path or URL means.
