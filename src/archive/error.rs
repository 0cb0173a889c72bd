//! The one error type of the archive.

use crate::domain::finding::Finding;
use crate::domain::item::ItemError;
use crate::store;

/// Result of an archive call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed archive call.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The backup is damaged or incomplete.
    #[error("{0}")]
    Refused(Box<Finding>),
    /// An item of the source cannot be written.
    #[error("item cannot be backed up: {0}")]
    Item(#[from] ItemError),
    /// Scratch files could not be written or read, or there is no room for them.
    #[error("cannot use the spool directory {directory}: {message}")]
    Spool {
        /// The directory.
        directory: String,
        /// What happened.
        message: String,
    },
    /// A worker went away without finishing its data files, so the backup is not whole.
    #[error("not every worker finished its data files")]
    Unfinished,
    /// The caller asked to stop.
    #[error("stopped on request")]
    Stopped,
}

impl Error {
    /// A refusal.
    #[must_use]
    pub fn refused(finding: Finding) -> Self {
        Self::Refused(Box::new(finding))
    }
}
