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

impl Error {
    /// Stable upper-case word of the error, as JSON shows it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Backend(error) => backend_code(error.kind()),
            Self::Store(error) | Self::Archive(archive::Error::Store(error)) => store_code(error.kind),
            Self::Archive(archive::Error::Refused(_)) => "BACKUP_REFUSED",
            Self::Archive(archive::Error::Item(_)) => "ITEM_INVALID",
            Self::Archive(archive::Error::Spool { .. }) => "SPOOL",
            Self::Archive(archive::Error::Unfinished) => "FAILED",
            Self::Archive(archive::Error::Stopped) => "INTERRUPTED",
            Self::Usage(_) => "USAGE",
            Self::CheckFailed { code, .. } => code,
            Self::CatalogRefused { .. } => "CATALOG_REFUSED",
            Self::Busy(_) => "BUSY",
            Self::NotFound(_) => "NOT_FOUND",
            Self::Conflict(_) => "CONFLICT",
            Self::Fenced(_) => "FENCED",
            Self::Interrupted(_) => "INTERRUPTED",
            Self::Failed(_) => "FAILED",
        }
    }

    /// The run lost its claim: nothing may be written any more.
    #[must_use]
    pub fn is_fenced(&self) -> bool {
        matches!(self, Self::Fenced(_))
            || matches!(self, Self::Backend(error) if error.kind() == backend::ErrorKind::Fenced)
    }
}

/// Stable upper-case word of a database error.
#[must_use]
pub fn backend_code(kind: backend::ErrorKind) -> &'static str {
    use backend::ErrorKind as K;
    match kind {
        K::Config => "CONFIG",
        K::Unavailable => "UNAVAILABLE",
        K::PermissionDenied => "PERMISSION_DENIED",
        K::NotInitialized => "NOT_INITIALIZED",
        K::NotFound => "NOT_FOUND",
        K::Conflict => "CONFLICT",
        K::Busy => "BUSY",
        K::Fenced => "FENCED",
        K::CatalogRefused => "CATALOG_REFUSED",
        K::Damaged => "DAMAGED_ROW",
        K::Unrepresentable => "TARGET_CANNOT_REPRESENT",
        K::Timeout => "TIMEOUT",
        K::Unsupported => "UNSUPPORTED",
        K::Internal => "INTERNAL",
    }
}

/// Stable upper-case word of a store error.
#[must_use]
pub fn store_code(kind: store::ErrorKind) -> &'static str {
    use store::ErrorKind as K;
    match kind {
        K::Config => "STORE_CONFIG",
        K::NotFound => "OBJECT_NOT_FOUND",
        K::PermissionDenied => "STORE_PERMISSION_DENIED",
        K::InvalidKey => "INVALID_KEY",
        K::NotEmpty => "STORE_NOT_EMPTY",
        K::BadIdentity => "STORE_IDENTITY",
        K::Io => "STORE_IO",
        K::Transport => "STORE_TRANSPORT",
    }
}
