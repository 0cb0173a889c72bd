//! Role `snapshot` on this backend.
//!
//! Order of a snapshot of tables: the catalog rows are held FOR SHARE in `(account_id, table_name)` order,
//! then a read-only repeatable-read transaction in the data database holds ACCESS SHARE on each physical table
//! and has read a row from each, then the snapshot is exported, then the rows are looked at again and let go.
//! Workers import the exported snapshot; the exporting session stays open until the end.
//! Source: PostgreSQL ledgers, section 5, "Row locks".

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::catalog::no_table;
use super::error::driver;
use super::names::Physical;
use super::scan::{Exported, PgSnapshot, Source};
use super::shape::Shape;
use super::tables::{Which, read_tables};
use super::{Postgres, encoding, legacy};
use crate::backend::snapshot::{Snapshot, SnapshotInfo, SnapshotOptions, Snapshots};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::item::ControlChars;
use crate::domain::table::{TableInfo, TableKey, TableStatus};

const OPEN: &str = "open a snapshot";
/// How the commit record names such a snapshot.
const SNAPSHOT_KIND: &str = "postgres_repeatable_read";
/// Begins the transaction of an exporting or importing session.
pub const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
/// Most tables named in one LOCK statement or read by one SELECT.
const TABLES_PER_STATEMENT: usize = 200;
/// Locks that the exporting session holds for each table: the table, its primary key, its TTL index, and one to spare.
const LOCKS_PER_TABLE: u64 = 4;

#[async_trait::async_trait]
impl Snapshots for Postgres {
    async fn snapshot_groups(&self, tables: &[TableKey]) -> Result<Vec<Vec<TableKey>>> {
        const OPERATION: &str = "read the size of the lock table";
        let mut conn = self.data_connection().await?;
        let row = sqlx::query(
            "SELECT current_setting('max_locks_per_transaction')::bigint \
             * (current_setting('max_connections')::bigint + current_setting('max_prepared_transactions')::bigint)",
        )
        .fetch_one(&mut conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
        let slots: i64 = row.try_get(0).map_err(|e| driver(OPERATION, e))?;
        let half = u64::try_from(slots).unwrap_or_default() / 2;
        let most = usize::try_from((half / LOCKS_PER_TABLE).max(1)).unwrap_or(usize::MAX);
        Ok(tables.chunks(most).map(<[TableKey]>::to_vec).collect())
    }

    async fn open_snapshot(&self, tables: &[TableKey], options: &SnapshotOptions) -> Result<Box<dyn Snapshot>> {
        let mut catalog = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut catalog).await?;
        begin(&mut catalog, "BEGIN").await?;
        if options.hold_rows {
            hold_rows(&mut catalog, tables).await?;
        }
        let infos = in_order(read_tables(&mut catalog, &shape, Which::Keys(tables), &self.connector).await?, tables)?;
        for info in &infos {
            check_active(info)?;
        }
        let names: Vec<Physical> = infos.iter().map(Physical::base).collect();
        if shape.named_by_table() {
            refuse_shared_names(&mut catalog, &infos, &names).await?;
        }

        let mut exporter = self.data_connection().await?;
        lift_timeouts(&mut exporter).await?;
        begin(&mut exporter, BEGIN_SNAPSHOT).await?;
        lock_and_read(&mut exporter, &infos, &names).await?;
        let (id, marker) = export(&mut exporter).await?;
        let encoding = encoding::of_items(&mut exporter, Some(&mut catalog)).await?;
        check_unchanged(&mut catalog, &infos).await?;
        end(catalog).await?;

        let info = SnapshotInfo { kind: SNAPSHOT_KIND, marker };
        let exported = Exported { id, session: exporter };
        let sources = infos.into_iter().zip(names.into_iter().map(Source::Table)).collect();
        Ok(Box::new(PgSnapshot::new(self.connector.clone(), exported, info, sources, encoding, options.connections)))
    }

    async fn open_legacy_backup(&self, backup_arn: &str) -> Result<Box<dyn Snapshot>> {
        let mut session = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut session).await?;
        lift_timeouts(&mut session).await?;
        begin(&mut session, BEGIN_SNAPSHOT).await?;
        let backup = legacy::find(&mut session, &shape, backup_arn).await?;
        let (id, marker) = export(&mut session).await?;
        let encoding = encoding::of_items(&mut self.data_connection().await?, Some(&mut session)).await?;
        let table = TableInfo {
            account_id: backup.account_id,
            status: TableStatus::Active,
            definition: backup.table,
            indexes: Vec::new(),
            named_by_table: shape.named_by_table(),
            notes: backup.notes,
        };
        let info = SnapshotInfo { kind: SNAPSHOT_KIND, marker };
        let exported = Exported { id, session };
        let sources = vec![(table, Source::LegacyBackup { backup_arn: backup_arn.to_owned() })];
        Ok(Box::new(PgSnapshot::new(self.connector.clone(), exported, info, sources, encoding, 1)))
    }
}

/// A snapshot of one physical table, without a look at the catalog.
///
/// # Errors
/// Database errors.
pub async fn open_source(
    pg: &Postgres,
    table: TableInfo,
    source: Source,
    encoding: ControlChars,
    connections: usize,
) -> Result<PgSnapshot> {
    let mut session = pg.data_connection().await?;
    lift_timeouts(&mut session).await?;
    begin(&mut session, BEGIN_SNAPSHOT).await?;
    let (id, marker) = export(&mut session).await?;
    let info = SnapshotInfo { kind: SNAPSHOT_KIND, marker };
    let exported = Exported { id, session };
    Ok(PgSnapshot::new(pg.connector.clone(), exported, info, vec![(table, source)], encoding, connections))
}

/// Runs a statement that begins a transaction.
pub async fn begin(conn: &mut PgConnection, statement: &'static str) -> Result<()> {
    conn.execute(statement).await.map(drop).map_err(|e| driver(OPEN, e))
}

/// Ends the transaction and the session.
async fn end(mut conn: PgConnection) -> Result<()> {
    conn.execute("COMMIT").await.map_err(|e| driver(OPEN, e))?;
    conn.close().await.map_err(|e| driver(OPEN, e))
}

/// Nothing may end this session or its transaction while others depend on it, however long it idles.
pub async fn lift_timeouts(conn: &mut PgConnection) -> Result<()> {
    // Some of these settings are newer than the oldest server; set_config over those that exist.
    sqlx::query(
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN \
         ('statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')",
    )
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| driver(OPEN, e))
}

/// Locks the catalog rows in `(account_id, table_name)` order. A role that may not lock goes on without: the
/// check after the snapshot is then all there is, and it is made in any case.
async fn hold_rows(catalog: &mut PgConnection, tables: &[TableKey]) -> Result<()> {
    let accounts: Vec<&str> = tables.iter().map(|k| k.account_id.as_str()).collect();
    let names: Vec<&str> = tables.iter().map(|k| k.table_name.as_str()).collect();
    let held = sqlx::query(
        "SELECT 1 FROM tables WHERE (account_id, table_name) IN (SELECT * FROM unnest($1::text[], $2::text[])) \
         ORDER BY account_id COLLATE \"C\", table_name COLLATE \"C\" FOR SHARE",
    )
    .bind(&accounts)
    .bind(&names)
    .execute(&mut *catalog)
    .await;
    match held.map_err(|e| driver("hold the catalog's table rows", e)) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => {
            tracing::debug!("going on without row locks: {e}");
            begin(catalog, "ROLLBACK").await?;
            begin(catalog, "BEGIN").await
        }
        Err(e) if e.kind() == ErrorKind::Busy => {
            Err(e.with("hint", "a server is changing or deleting one of the tables: run again"))
        }
        Err(e) => Err(e),
    }
}

/// Brings what was read into the order asked for.
fn in_order(infos: Vec<TableInfo>, asked: &[TableKey]) -> Result<Vec<TableInfo>> {
    let mut by_key: std::collections::HashMap<TableKey, TableInfo> =
        infos.into_iter().map(|info| (info.key(), info)).collect();
    asked.iter().map(|key| by_key.remove(key).ok_or_else(|| no_table(key))).collect()
}

fn check_active(info: &TableInfo) -> Result<()> {
    if info.status == TableStatus::Active {
        return Ok(());
    }
    let message = format!("the table is {}, expected ACTIVE: run again when it is", info.status.word());
    Err(Error::new(ErrorKind::Busy, OPEN, message)
        .with("table", &info.definition.table_name)
        .with("account", &info.account_id)
        .temporary())
}

/// The oldest naming scheme cuts long names off, so that two tables could lie in one: that cannot be told apart.
async fn refuse_shared_names(conn: &mut PgConnection, infos: &[TableInfo], names: &[Physical]) -> Result<()> {
    if names.iter().all(|n| n.name().len() < super::names::MAX_IDENTIFIER_BYTES) {
        return Ok(());
    }
    let rows =
        sqlx::query("SELECT account_id, table_name FROM tables").fetch_all(conn).await.map_err(|e| driver(OPEN, e))?;
    for row in rows {
        let read = || -> Result<(String, String), sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
        let (account, table) = read().map_err(|e| driver(OPEN, e))?;
        let physical = Physical::by_table(&account, &table);
        for (info, name) in infos.iter().zip(names) {
            if *name == physical && (info.account_id != account || info.definition.table_name != table) {
                let message =
                    format!("tables {} and {table} share the physical name {name}", info.definition.table_name);
                return Err(Error::new(ErrorKind::Damaged, OPEN, message).with("account", &account));
            }
        }
    }
    Ok(())
}

/// ACCESS SHARE on every table first, then one row from each: only a read fixes the snapshot, and it must not be
/// fixed while a table could still be dropped.
async fn lock_and_read(exporter: &mut PgConnection, infos: &[TableInfo], names: &[Physical]) -> Result<()> {
    for names in names.chunks(TABLES_PER_STATEMENT) {
        let list: Vec<String> = names.iter().map(Physical::sql).collect();
        let sql = format!("LOCK TABLE {} IN ACCESS SHARE MODE", list.join(", "));
        exporter.execute(AssertSqlSafe(sql)).await.map_err(|e| {
            let missing = e.as_database_error().and_then(|d| d.code()).is_some_and(|c| c == "42P01");
            let error = driver(OPEN, e);
            if missing {
                let tables: Vec<&str> = infos.iter().map(|i| i.definition.table_name.as_str()).collect();
                return Error::new(
                    ErrorKind::Damaged,
                    OPEN,
                    format!("a table's items are not there: {}", error.message()),
                )
                .with("tables", tables.join(", "));
            }
            error
        })?;
    }
    for names in names.chunks(TABLES_PER_STATEMENT) {
        let list: Vec<String> = names.iter().map(|n| format!("(SELECT 1 FROM {} LIMIT 1)", n.sql())).collect();
        let sql = format!("SELECT {}", list.join(", "));
        exporter.execute(AssertSqlSafe(sql)).await.map_err(|e| driver(OPEN, e))?;
    }
    Ok(())
}

/// The exported snapshot's id, and the text of the snapshot for the commit record.
async fn export(session: &mut PgConnection) -> Result<(String, String)> {
    let row = sqlx::query("SELECT pg_export_snapshot(), pg_current_snapshot()::text")
        .fetch_one(session)
        .await
        .map_err(|e| driver(OPEN, e))?;
    let read = || -> Result<_, sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
    read().map_err(|e| driver(OPEN, e))
}

/// The tables are still the ones the snapshot shows: same id, ACTIVE, same key schema.
async fn check_unchanged(catalog: &mut PgConnection, infos: &[TableInfo]) -> Result<()> {
    for info in infos {
        let row = sqlx::query(
            "SELECT table_id, table_status, key_schema::text FROM tables WHERE account_id = $1 AND table_name = $2",
        )
        .bind(&info.account_id)
        .bind(&info.definition.table_name)
        .fetch_optional(&mut *catalog)
        .await
        .map_err(|e| driver(OPEN, e))?;
        let same = row
            .map(|r| -> Result<bool, sqlx::Error> {
                let (id, status, schema): (String, String, String) = (r.try_get(0)?, r.try_get(1)?, r.try_get(2)?);
                let schema: Option<Vec<crate::domain::table::KeyElement>> = serde_json::from_str(&schema).ok();
                Ok(id == info.definition.table_id
                    && status == info.status.word()
                    && schema.as_ref() == Some(&info.definition.key_schema))
            })
            .transpose()
            .map_err(|e| driver(OPEN, e))?;
        if same != Some(true) {
            return Err(Error::new(
                ErrorKind::Busy,
                OPEN,
                "the table was changed, deleted or made anew while the snapshot was opened: run again",
            )
            .with("table", &info.definition.table_name)
            .with("account", &info.account_id)
            .temporary());
        }
    }
    Ok(())
}
