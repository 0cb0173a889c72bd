//! What a person or a script sees: results on standard output, everything else on standard error.
