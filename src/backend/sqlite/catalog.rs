//! Role `catalog` on this backend.

use rusqlite::{OptionalExtension as _, TransactionBehavior};

use super::Sqlite;
use super::error::driver;
use super::rows::{self, setting};
use super::shape::{has_column, has_table};
use crate::backend::catalog::{CatalogInfo, LegacyBackup};
use crate::backend::{Catalog, Error, ErrorKind, Result};
use crate::domain::table::{TableInfo, TableKey};

#[async_trait::async_trait]
impl Catalog for Sqlite {
    async fn catalog_info(&self) -> Result<CatalogInfo> {
        self.run(|this| this.info()).await
    }

    async fn list_tables(&self, account_id: Option<&str>) -> Result<Vec<TableInfo>> {
        let account_id = account_id.map(str::to_owned);
        self.run(move |this| {
            let conn = this.read_transaction()?;
            rows::tables(&conn, account_id.as_deref())
        })
        .await
    }

    async fn table(&self, key: &TableKey) -> Result<TableInfo> {
        let key = key.clone();
        self.run(move |this| {
            let conn = this.read_transaction()?;
            rows::table(&conn, &key)?.ok_or_else(|| no_such_table("describe a table", &key))
        })
        .await
    }

    async fn legacy_backups(&self, account_id: Option<&str>) -> Result<Vec<LegacyBackup>> {
        let account_id = account_id.map(str::to_owned);
        self.run(move |this| {
            let conn = this.read_transaction()?;
            rows::legacy_backups(&conn, account_id.as_deref())
        })
        .await
    }

    async fn delete_legacy_backup(&self, backup_arn: &str) -> Result<()> {
        let backup_arn = backup_arn.to_owned();
        self.run(move |this| this.delete_legacy(&backup_arn)).await
    }
}

/// The table is not in the catalog.
pub fn no_such_table(operation: &'static str, key: &TableKey) -> Error {
    Error::new(ErrorKind::NotFound, operation, "there is no such table")
        .with("table", format!("{}/{}", key.account_id, key.table_name))
}

impl Sqlite {
    fn info(&self) -> Result<CatalogInfo> {
        let operation = "read the catalog";
        let conn = self.read_transaction()?;
        if !has_table(&conn, "settings")? {
            return Err(Error::new(ErrorKind::NotInitialized, operation, "there is no table named settings")
                .with("path", self.path.display().to_string()));
        }
        let accounts = if has_table(&conn, "accounts")? {
            conn.prepare("SELECT account_id FROM accounts WHERE account_id IS NOT NULL ORDER BY account_id")
                .and_then(|mut s| s.query_map([], |row| row.get(0))?.collect())
                .map_err(|e| driver("read the accounts", e))?
        } else {
            Vec::new()
        };
        let under_maintenance = has_table(&conn, "backup_maintenance")?
            && conn
                .query_row("SELECT 1 FROM backup_maintenance LIMIT 1", [], |_| Ok(()))
                .optional()
                .map_err(|e| driver("read backup_maintenance", e))?
                .is_some();
        let mut live_servers: Vec<String> = self
            .server_lock_holder()
            .map(|holder| format!("{holder} holds {}", self.server_lock_path().display()))
            .into_iter()
            .collect();
        live_servers
            .extend(self.foreign_writers().iter().map(|holder| format!("{holder} has the database open for writing")));
        Ok(CatalogInfo {
            recorded_version: setting(&conn, "catalog_version")?,
            has_backup_index: has_table(&conn, "backup_index")?
                && has_column(&conn, "table_restores", "owner_generation")?,
            has_table_restores: has_table(&conn, "table_restores")?,
            catalog_id: setting(&conn, "catalog_id")?,
            default_account_id: setting(&conn, "default_account_id")?,
            accounts,
            under_maintenance,
            live_servers,
        })
    }

    /// Items go, the row stays as a `DELETED` tombstone. A row still `CREATING` was never a backup (whoever
    /// made it is dead, since the server's lock is ours): it goes whole, items and definition with it.
    fn delete_legacy(&self, backup_arn: &str) -> Result<()> {
        let operation = "delete an in-catalog backup";
        let fail = |e| driver(operation, e).with("backup", backup_arn);
        let _lock = self.server_lock()?;
        let mut conn = self.writer()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let missing =
            || Error::new(ErrorKind::NotFound, operation, "there is no such backup").with("backup", backup_arn);
        if !has_table(&tx, "backups")? {
            return Err(missing());
        }
        let status: Option<String> = tx
            .query_row("SELECT backup_status FROM backups WHERE backup_arn = ?1", [backup_arn], |row| row.get(0))
            .optional()
            .map_err(fail)?;
        let status = status.filter(|s| s != "DELETED").ok_or_else(missing)?;
        if let Some(table) = restoring_from(&tx, backup_arn)? {
            return Err(Error::new(ErrorKind::Busy, operation, format!("it is being restored to table {table}"))
                .with("backup", backup_arn));
        }
        if status == "CREATING" {
            tx.execute("DELETE FROM backups WHERE backup_arn = ?1", [backup_arn]).map_err(fail)?;
        } else {
            tx.execute("DELETE FROM backup_items WHERE backup_arn = ?1", [backup_arn]).map_err(fail)?;
            tx.execute("UPDATE backups SET backup_status = 'DELETED' WHERE backup_arn = ?1", [backup_arn])
                .map_err(fail)?;
        }
        tx.commit().map_err(fail)
    }
}

/// The table that a running restore fills from this backup.
///
/// With job columns: a `RUNNING` record; before them: a registered target that is still `CREATING`.
///
/// # Errors
/// Database errors.
pub fn restoring_from(conn: &rusqlite::Connection, backup_arn: &str) -> Result<Option<String>> {
    if !has_table(conn, "table_restores")? {
        return Ok(None);
    }
    let running = if has_column(conn, "table_restores", "status")? {
        "r.status = 'RUNNING'"
    } else {
        "t.table_status = 'CREATING' AND t.status_transition_at IS NULL"
    };
    conn.query_row(
        &format!(
            "SELECT coalesce(t.table_name, r.table_id) FROM table_restores r \
             LEFT JOIN tables t ON t.table_id = r.table_id \
             WHERE r.source_backup_arn = ?1 AND {running} LIMIT 1"
        ),
        [backup_arn],
        |row| row.get(0),
    )
    .optional()
    .map_err(|e| driver("look for a running restore", e).with("backup", backup_arn))
}
