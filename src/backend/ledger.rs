//! Role: what schema is there, what the ledgers say, and applying migration steps under the lock.

/// Introspects, locks and migrates.
#[async_trait::async_trait]
pub trait Ledger: Send + Sync {}
