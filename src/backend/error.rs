//! The one error type of the backend seam.

use std::fmt;

/// Result of a backend call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it was; decides the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The URL or configuration is not usable.
    Config,
    /// The database could not be reached, or the connection broke.
    Unavailable,
    /// The database answered that this role may not.
    PermissionDenied,
    /// There is no catalog here.
    NotInitialized,
    /// The named table, backup or job does not exist.
    NotFound,
    /// The target exists already, or the request conflicts with another.
    Conflict,
    /// A lock, claim or bound stands in the way; the message names its holder.
    Busy,
    /// A claim was lost: nothing was written.
    Fenced,
    /// The catalog is newer than this build, or not recognised, or must be migrated first.
    CatalogRefused,
    /// A stored row breaks its own rules; the message names the row.
    Damaged,
    /// The backend cannot represent what it is asked to hold.
    Unrepresentable,
    /// A time limit of the database ended the statement.
    Timeout,
    /// The backend does not do this.
    Unsupported,
    /// Anything else.
    Internal,
}

/// A failed backend call: kind, what was being done, facts, and the driver's message.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    temporary: bool,
    operation: &'static str,
    message: String,
    context: Vec<(&'static str, String)>,
}

impl Error {
    /// A permanent error. `operation` is a verb phrase: `read the catalog version`.
    pub fn new(kind: ErrorKind, operation: &'static str, message: impl Into<String>) -> Self {
        Self { kind, temporary: false, operation, message: message.into(), context: Vec::new() }
    }

    /// A call this backend does not have.
    #[must_use]
    pub fn unsupported(operation: &'static str) -> Self {
        Self::new(ErrorKind::Unsupported, operation, "this backend does not support it")
    }

    /// Marks the error as worth a retry.
    #[must_use]
    pub fn temporary(mut self) -> Self {
        self.temporary = true;
        self
    }

    /// Adds a fact, for example `table` and its name.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.context.push((key, value.into()));
        self
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// Whether the connection is gone: the same call cannot succeed on it.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.kind == ErrorKind::Unavailable
            && !self.context.iter().any(|(key, value)| *key == "SQLSTATE" && value.starts_with("40"))
    }

    /// The message without operation and context.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.operation, self.message)?;
        if !self.context.is_empty() {
            f.write_str(" (")?;
            for (i, (key, value)) in self.context.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(f, "{comma}{key} {value}")?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
