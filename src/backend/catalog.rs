//! Role: what the catalog says about tables, indexes and in-catalog backups.

use super::error::{Error, Result};
use crate::domain::table::{SourceTable, TableInfo, TableKey};
use crate::domain::timestamp::TimestampMs;

/// Facts about a catalog that operations need before they start, judged by shape, not by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogInfo {
    /// `settings.catalog_version` as it stands.
    pub recorded_version: Option<String>,
    /// The catalog has `backup_index` and the job columns of `table_restores` (0.0.5).
    pub has_backup_index: bool,
    /// Restore registrations exist (0.0.4): `table_restores` is there.
    pub has_table_restores: bool,
    /// `settings.catalog_id`, from 0.0.5 on.
    pub catalog_id: Option<String>,
    /// `settings.default_account_id`.
    pub default_account_id: Option<String>,
    /// Accounts, in byte order.
    pub accounts: Vec<String>,
    /// A row in `backup_maintenance`: a maintenance run is under way, of whom is not recorded.
    pub under_maintenance: bool,
    /// A server was seen at work on this catalog, and how it was seen; for people.
    pub live_servers: Vec<String>,
}

/// An in-catalog backup made by a server up to 0.0.4.
#[derive(Debug, Clone, PartialEq)]
pub struct LegacyBackup {
    /// Its ARN, as stored; may be one that no backup ARN can carry.
    pub backup_arn: String,
    /// Its name.
    pub backup_name: String,
    /// Account.
    pub account_id: String,
    /// Stored status.
    pub status: String,
    /// When it was made.
    pub created_at: TimestampMs,
    /// Items it says it has.
    pub item_count: i64,
    /// Size it says it has.
    pub size_bytes: i64,
    /// The table, rebuilt from the row and its definition; provisioned 5/5 where there is no definition.
    pub table: SourceTable,
    /// What its definition names and this build cannot rebuild (vector indexes kept by name only).
    pub notes: Vec<String>,
}

/// Reads the catalog. Everything here is read-only but the two deletions of legacy backups.
#[async_trait::async_trait]
pub trait Catalog: Send + Sync {
    /// Facts about the catalog.
    ///
    /// # Errors
    /// `NotInitialized` when there is no `settings` table; `Damaged` for rows that break their rules.
    async fn catalog_info(&self) -> Result<CatalogInfo> {
        Err(Error::unsupported("read the catalog"))
    }

    /// Tables, of one account or of all, ordered by `(account_id, table_name)` in byte order.
    ///
    /// # Errors
    /// As [`Catalog::catalog_info`].
    async fn list_tables(&self, account_id: Option<&str>) -> Result<Vec<TableInfo>> {
        let _ = account_id;
        Err(Error::unsupported("list tables"))
    }

    /// One table.
    ///
    /// # Errors
    /// `NotFound` names the table.
    async fn table(&self, key: &TableKey) -> Result<TableInfo> {
        let _ = key;
        Err(Error::unsupported("describe a table"))
    }

    /// In-catalog backups, tombstones included, ordered by `(created_at, backup_arn)` in byte order.
    ///
    /// # Errors
    /// As [`Catalog::catalog_info`].
    async fn legacy_backups(&self, account_id: Option<&str>) -> Result<Vec<LegacyBackup>> {
        let _ = account_id;
        Err(Error::unsupported("list in-catalog backups"))
    }

    /// Removes the items of an in-catalog backup and leaves the row as a `DELETED` tombstone, as a server does,
    /// in one transaction. Refused as `Busy` while a restore uses it.
    ///
    /// # Errors
    /// `NotFound` when it is not there or a tombstone already.
    async fn delete_legacy_backup(&self, backup_arn: &str) -> Result<()> {
        let _ = backup_arn;
        Err(Error::unsupported("delete an in-catalog backup"))
    }
}
