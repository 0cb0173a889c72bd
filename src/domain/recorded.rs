//! What a deployment says of itself: versions, ledgers and settings, as they stand and however worn.

use std::collections::BTreeMap;

/// Tables of ledgers that were announced and never released; a catalog with one is refused.
pub const FOREIGN_LEDGERS: [&str; 2] = ["_sqlx_migrations", "code_migrations"];

/// The settings that recognition reads. None of them is secret.
pub const READ_SETTINGS: [&str; 6] = [
    "catalog_version",
    "catalog_id",
    "control_plane_delay_seconds",
    "gsi_propagation_delay_ms",
    "index_propagation_delay_ms",
    "default_account_id",
];

/// What introspection found in one lineage's place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Introspection {
    /// Tables and sequences. Physical tables of items (`_ddb_…`, `_vidx_…`) and objects that an
    /// extension owns are left out; tables that nobody knows are in.
    pub schema: super::schema::Schema,
    /// Other objects, in words: views, triggers, functions of an operator. Never drift.
    pub extras: Vec<String>,
}

/// One row of a `schema_history`, as stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerRow {
    /// Name of the file; null in a worn ledger.
    pub filename: Option<String>,
    /// When, as text; null in a worn ledger.
    pub applied_at: Option<String>,
}

/// What versions, ledgers and settings say. Everything is optional: a catalog may lack any of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recorded {
    /// The rows of [`READ_SETTINGS`] that are there: one value a key, or several in a worn table.
    pub settings: BTreeMap<String, Vec<Option<String>>>,
    /// Rows of `settings` without a key.
    pub nameless_settings: u64,
    /// Rows of the catalog's `schema_history`, by file name.
    pub ledger: Vec<LedgerRow>,
    /// Rows of the data database's `schema_history`, by file name; those of the catalog's where
    /// one database serves as both.
    pub data_ledger: Vec<LedgerRow>,
    /// The data database is the catalog database.
    pub one_database: bool,
    /// Why the data database could not be read, where it could not.
    pub data_unreachable: Option<String>,
    /// Names of code migrations of the data for which progress rows exist (`data_code_migration_progress`), sorted.
    pub data_progress: Vec<String>,
    /// Tables of ledgers that were announced and never released: `_sqlx_migrations`, `code_migrations`.
    pub foreign_ledgers: Vec<String>,
    /// Physical tables of items that are named by account and table, not by an id.
    pub legacy_physical_names: u64,
}
