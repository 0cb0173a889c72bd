//! Filesystem store.
