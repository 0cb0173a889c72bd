//! The one error type of the store seam.

/// Result of a store call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The configuration of the store is not usable.
    Config,
    /// No such object.
    NotFound,
    /// A link, an escape from the root, or the store said no.
    PermissionDenied,
    /// A key breaks the rules, or is too short for a deletion.
    InvalidKey,
    /// The store holds objects and has no identity.
    NotEmpty,
    /// The identity object is malformed or of another version.
    BadIdentity,
    /// Input or output failed.
    Io,
    /// The network failed.
    Transport,
}

/// A failed store call. Never holds credentials.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation}: {message}")]
pub struct Error {
    /// Kind.
    pub kind: ErrorKind,
    /// Verb phrase: `write an object`.
    pub operation: &'static str,
    /// What happened, naming the key or path.
    pub message: String,
}

impl Error {
    /// A new error.
    pub fn new(kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        Self { kind, operation, message: message.into() }
    }
}
