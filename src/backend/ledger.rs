//! Role: what schema is there, what the ledgers say, and applying migration steps under the lock.

use super::error::{Error, Result};
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;

/// Introspects, locks and migrates.
#[async_trait::async_trait]
pub trait Ledger: Send + Sync {
    /// What is there, in canonical form, read in one read-only transaction. Empty where nothing is:
    /// a missing file, an empty database, a lineage this backend does not have.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`; `Damaged` for a declaration that cannot be read.
    async fn introspect(&self, lineage: Lineage) -> Result<Introspection> {
        let _ = lineage;
        Err(Error::unsupported("read the schema"))
    }

    /// What versions, ledgers and settings say, read in one read-only transaction.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`. Worn rows are no error here: they are returned as they stand.
    async fn recorded(&self) -> Result<Recorded> {
        Err(Error::unsupported("read the ledgers"))
    }

    /// Lineages this backend has, in the order they are reported.
    fn lineages(&self) -> &'static [Lineage] {
        &[Lineage::Catalog, Lineage::Admin]
    }
}
