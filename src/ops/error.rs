//! What an operation returns when it fails; the command line gives it its exit status and hint.

use crate::{archive, backend, store};

/// Result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database.
    #[error(transparent)]
    Backend(#[from] backend::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The archive: damage, the spool, or the store below it.
    #[error(transparent)]
    Archive(#[from] archive::Error),
    /// Wrong usage that only the operation could see: an ambiguous name, a violated bound.
    #[error("{0}")]
    Usage(String),
    /// A check found a difference: damaged backup, drift, unrepresentable item.
    #[error("{message}")]
    CheckFailed {
        /// Stable upper-case code.
        code: &'static str,
        /// What was found.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The catalog is newer, unknown, or must be migrated first.
    #[error("{message}")]
    CatalogRefused {
        /// What was found.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// A claim, lock or bound stands in the way.
    #[error("{0}")]
    Busy(String),
    /// No such thing.
    #[error("{0}")]
    NotFound(String),
    /// The target exists, or an idempotency key was used otherwise.
    #[error("{0}")]
    Conflict(String),
    /// The run lost its claim and wrote nothing after that.
    #[error("{0}")]
    Fenced(String),
    /// Stopped by a signal or a cancel request; says what was left.
    #[error("{0}")]
    Interrupted(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}
