//! Role `catalog` on this backend.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Row as _};

use super::error::driver;
use super::legacy;
use super::shape::Shape;
use super::snapshot::lift_timeouts;
use super::tables::{Which, read_tables};
use super::{Postgres, lock};
use crate::backend::catalog::{CatalogInfo, LegacyBackup};
use crate::backend::ledger::LiveSession;
use crate::backend::{Catalog, Error, ErrorKind, Ledger as _, Result};
use crate::domain::table::{TableInfo, TableKey};

#[async_trait::async_trait]
impl Catalog for Postgres {
    async fn catalog_info(&self) -> Result<CatalogInfo> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        let live_servers = match self.live_sessions().await {
            Ok(sessions) => sessions,
            // What the catalog says stands without the items.
            Err(e) if e.kind() == ErrorKind::Unavailable => {
                tracing::debug!("the data database was not looked at: {e}");
                let seen = lock::sessions(&mut conn, None).await?.into_iter();
                seen.map(|(description, is_server)| LiveSession { description, is_server }).collect()
            }
            Err(e) => return Err(e),
        };
        let live_servers = live_servers.into_iter().filter(|s| s.is_server).map(|s| s.description).collect();
        Ok(CatalogInfo {
            recorded_version: setting(&mut conn, "catalog_version").await?,
            has_backup_index: shape.has_backup_index(),
            has_table_restores: shape.has_table_restores(),
            catalog_id: setting(&mut conn, "catalog_id").await?,
            default_account_id: setting(&mut conn, "default_account_id").await?,
            accounts: accounts(&mut conn).await?,
            under_maintenance: under_maintenance(&mut conn, &shape).await?,
            live_servers,
        })
    }

    async fn list_tables(&self, account_id: Option<&str>) -> Result<Vec<TableInfo>> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        let which = account_id.map_or(Which::All, Which::Account);
        read_tables(&mut conn, &shape, which, &self.connector).await
    }

    async fn table(&self, key: &TableKey) -> Result<TableInfo> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        let keys = std::slice::from_ref(key);
        read_tables(&mut conn, &shape, Which::Keys(keys), &self.connector).await?.pop().ok_or_else(|| no_table(key))
    }

    async fn legacy_backups(&self, account_id: Option<&str>) -> Result<Vec<LegacyBackup>> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        legacy::list(&mut conn, &shape, account_id).await
    }

    async fn delete_legacy_backup(&self, backup_arn: &str) -> Result<()> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        // As long as it takes: the items of a backup are deleted in one statement, as a server does.
        lift_timeouts(&mut conn).await?;
        let mut tx = conn.begin().await.map_err(|e| driver(legacy::DELETE, e))?;
        legacy::delete(&mut tx, &shape, backup_arn).await?;
        tx.commit().await.map_err(|e| driver(legacy::DELETE, e))
    }
}

/// The error for a table that the catalog does not have.
pub fn no_table(key: &TableKey) -> Error {
    Error::new(ErrorKind::NotFound, "find the table", "the catalog has no such table")
        .with("table", &key.table_name)
        .with("account", &key.account_id)
}

/// A row of `settings`.
pub async fn setting(conn: &mut PgConnection, key: &'static str) -> Result<Option<String>> {
    const OPERATION: &str = "read the settings";
    let row = sqlx::query("SELECT value FROM settings WHERE key = $1")
        .bind(key)
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
    row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(OPERATION, e))
}

/// Accounts, in byte order.
pub async fn accounts(conn: &mut PgConnection) -> Result<Vec<String>> {
    const OPERATION: &str = "read the accounts";
    let rows = sqlx::query("SELECT account_id FROM accounts ORDER BY account_id COLLATE \"C\"")
        .fetch_all(conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
    rows.iter().map(|r| r.try_get(0)).collect::<Result<_, _>>().map_err(|e| driver(OPERATION, e))
}

async fn under_maintenance(conn: &mut PgConnection, shape: &Shape) -> Result<bool> {
    const OPERATION: &str = "read backup_maintenance";
    if !shape.has_table("backup_maintenance") {
        return Ok(false);
    }
    sqlx::query("SELECT EXISTS (SELECT 1 FROM backup_maintenance)")
        .fetch_one(conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(OPERATION, e))
}
