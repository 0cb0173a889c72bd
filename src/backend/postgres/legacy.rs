//! In-catalog backups that servers up to 0.0.4 made. Source: PostgreSQL data layout, section 8.5.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::error::{damaged_row, driver};
use super::shape::Shape;
use super::tables::epoch_ms;
use crate::backend::catalog::LegacyBackup;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::catalog_row::{BackupColumns, backup_table};
use crate::domain::timestamp::TimestampMs;

const LIST: &str = "read the in-catalog backups";
/// Operation name of the deletion.
pub const DELETE: &str = "delete the in-catalog backup";

/// A row of `backups` as it stands.
pub struct Stored {
    columns: BackupColumns,
    backup_name: String,
    status: String,
}

/// Which rows to read.
#[derive(Clone, Copy)]
enum Which<'a> {
    Account(Option<&'a str>),
    Arn(&'a str),
}

/// Backups of one account or of all, tombstones included, ordered by `(created_at, backup_arn)` in byte order.
///
/// # Errors
/// `Damaged` names the row.
pub async fn list(conn: &mut PgConnection, shape: &Shape, account_id: Option<&str>) -> Result<Vec<LegacyBackup>> {
    if !shape.has_table("backups") {
        return Ok(Vec::new());
    }
    read(conn, shape, Which::Account(account_id)).await?.into_iter().map(describe).collect()
}

/// One backup that is not a tombstone.
///
/// # Errors
/// `NotFound`; `CatalogRefused` for a definition of an unknown version.
pub async fn find(conn: &mut PgConnection, shape: &Shape, backup_arn: &str) -> Result<LegacyBackup> {
    let rows = if shape.has_table("backups") { read(conn, shape, Which::Arn(backup_arn)).await? } else { Vec::new() };
    let stored = rows.into_iter().next().filter(|s| s.status != "DELETED").ok_or_else(|| not_found(backup_arn))?;
    let (table, notes) = backup_table(&stored.columns).map_err(|e| {
        let kind = if e.problem.starts_with("Version") { ErrorKind::CatalogRefused } else { ErrorKind::Damaged };
        Error::new(kind, LIST, e.to_string())
    })?;
    Ok(of(stored, table, notes))
}

/// Deletes as a server does, inside the caller's transaction: the row is locked, items go, a tombstone stays.
///
/// # Errors
/// `NotFound`; `Busy` while a restore uses it or it is still being made.
pub async fn delete(conn: &mut PgConnection, shape: &Shape, backup_arn: &str) -> Result<()> {
    if !shape.has_table("backups") {
        return Err(not_found(backup_arn));
    }
    let row = sqlx::query("SELECT backup_status FROM backups WHERE backup_arn = $1 FOR UPDATE")
        .bind(backup_arn)
        .fetch_optional(&mut *conn)
        .await
        .map_err(|e| driver(DELETE, e))?;
    let status: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(DELETE, e))?;
    match status.as_deref() {
        None | Some("DELETED") => return Err(not_found(backup_arn)),
        Some("AVAILABLE") => {}
        Some(other) => {
            let message = format!("its status is {other}, expected AVAILABLE");
            return Err(Error::new(ErrorKind::Busy, DELETE, message).with("backup", backup_arn));
        }
    }
    if let Some(target) = running_restore(conn, shape, backup_arn).await? {
        let message = format!("it is being used to restore table {target}");
        return Err(Error::new(ErrorKind::Busy, DELETE, message).with("backup", backup_arn));
    }
    for sql in [
        "DELETE FROM backup_items WHERE backup_arn = $1",
        "UPDATE backups SET backup_status = 'DELETED' WHERE backup_arn = $1",
    ] {
        sqlx::query(sql).bind(backup_arn).execute(&mut *conn).await.map_err(|e| driver(DELETE, e))?;
    }
    Ok(())
}

/// Name of the table that a running restore makes from this backup.
///
/// With job columns (0.0.5) the record says so; before, a registration whose table is still `CREATING`.
///
/// # Errors
/// Database errors.
pub async fn running_restore(conn: &mut PgConnection, shape: &Shape, backup_arn: &str) -> Result<Option<String>> {
    const OPERATION: &str = "look for restores that use the backup";
    if !shape.has_table_restores() {
        return Ok(None);
    }
    let running =
        if shape.has("table_restores", "status") { "r.status = 'RUNNING'" } else { "t.table_status = 'CREATING'" };
    let sql = format!(
        "SELECT t.table_name FROM table_restores r JOIN tables t ON t.table_id = r.table_id \
         WHERE r.source_backup_arn = $1 AND {running} ORDER BY t.table_name COLLATE \"C\" LIMIT 1"
    );
    let row = sqlx::query(AssertSqlSafe(sql))
        .bind(backup_arn)
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
    row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(OPERATION, e))
}

async fn read(conn: &mut PgConnection, shape: &Shape, which: Which<'_>) -> Result<Vec<Stored>> {
    let (definition, join) = if shape.has_table("backup_definitions") {
        ("d.definition::text", "LEFT JOIN backup_definitions d ON d.backup_arn = backups.backup_arn")
    } else {
        ("NULL::text", "")
    };
    let (filter, value) = match which {
        Which::Account(account) => ("$1::text IS NULL OR backups.account_id = $1", account),
        Which::Arn(arn) => ("backups.backup_arn = $1", Some(arn)),
    };
    let sql = format!(
        "SELECT backups.backup_arn, backup_name, table_id, table_name, account_id, backup_status, {created}, \
         key_schema::text, attribute_definitions::text, item_count, backup_size_bytes, {vectors}, {definition} \
         FROM backups {join} WHERE {filter} ORDER BY created_at, backups.backup_arn COLLATE \"C\"",
        created = epoch_ms("created_at"),
        vectors = shape.text("backups", "vector_indexes"),
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(value).fetch_all(conn).await.map_err(|e| driver(LIST, e))?;
    rows.iter().map(stored).collect::<Result<_, _>>().map_err(|e| driver(LIST, e))
}

fn stored(row: &PgRow) -> Result<Stored, sqlx::Error> {
    Ok(Stored {
        backup_name: row.try_get(1)?,
        status: row.try_get(5)?,
        columns: BackupColumns {
            backup_arn: row.try_get(0)?,
            table_id: row.try_get(2)?,
            table_name: row.try_get(3)?,
            account_id: row.try_get(4)?,
            created_at: TimestampMs(row.try_get(6)?),
            key_schema: row.try_get(7)?,
            attribute_definitions: row.try_get(8)?,
            item_count: row.try_get(9)?,
            backup_size_bytes: row.try_get(10)?,
            vector_indexes: row.try_get(11)?,
            definition: row.try_get(12)?,
        },
    })
}

/// A listing shows a backup whose definition it cannot read by its keys, with the reason as a note; whoever
/// opens it is refused.
fn describe(stored: Stored) -> Result<LegacyBackup> {
    let (table, notes) = match backup_table(&stored.columns) {
        Ok(read) => read,
        Err(e) => {
            let keys_only = BackupColumns { definition: None, vector_indexes: None, ..stored.columns.clone() };
            let (table, _) = backup_table(&keys_only).map_err(|e| damaged_row(LIST, &e))?;
            (table, vec![format!("cannot be restored by this build: {e}")])
        }
    };
    Ok(of(stored, table, notes))
}

fn of(stored: Stored, table: crate::domain::table::SourceTable, notes: Vec<String>) -> LegacyBackup {
    LegacyBackup {
        backup_arn: stored.columns.backup_arn,
        backup_name: stored.backup_name,
        account_id: stored.columns.account_id,
        status: stored.status,
        created_at: stored.columns.created_at,
        item_count: stored.columns.item_count,
        size_bytes: stored.columns.backup_size_bytes,
        table,
        notes,
    }
}

fn not_found(backup_arn: &str) -> Error {
    Error::new(ErrorKind::NotFound, "find the in-catalog backup", "the catalog has no such backup")
        .with("backup", backup_arn)
}
