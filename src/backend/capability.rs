//! What a backend declares it can do.

/// Differences between backends that operations may ask about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// One snapshot can cover several tables at one instant.
    pub shared_snapshot: bool,
    /// Several connections can read one snapshot.
    pub parallel_scan: bool,
    /// Several connections can load one table.
    pub parallel_load: bool,
    /// Schema changes are transactional.
    pub transactional_ddl: bool,
    /// Writes can assert a fence. Jobs are refused where this is false.
    pub fenced_writes: bool,
}
