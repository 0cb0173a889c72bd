//! Rows of the server's `backup_index` (0.0.5). Source: backup operations, sections 1, 2 and 7.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::error::driver;
use super::fence::epoch_of;
use super::legacy::running_restore;
use super::shape::Shape;
use super::tables::epoch_ms;
use crate::backend::jobs::{BackupKey, BackupRow, DeleteStart};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::WriteOutcome;
use crate::domain::job::BackupStatus;
use crate::domain::store_ref::StoreRef;
use crate::domain::timestamp::TimestampMs;

const READ: &str = "read the backup rows";
const DELETE: &str = "delete a backup row";
/// Address of a row, never a bare id: account, id and ARN as the first three parameters.
pub const ADDRESS: &str = "account_id = $1 AND backup_id = $2 AND backup_arn = $3";

/// Rows of one account or of all, ordered by `(created_at, backup_arn)` in byte order.
///
/// # Errors
/// `Damaged` names the row.
pub async fn list(conn: &mut PgConnection, account_id: Option<&str>) -> Result<Vec<BackupRow>> {
    let shape = Shape::of_catalog(conn).await?;
    if !shape.has_backup_index() {
        return Ok(Vec::new());
    }
    let sql = select("$1::text IS NULL OR account_id = $1");
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(account_id).fetch_all(conn).await.map_err(|e| driver(READ, e))?;
    rows.iter().map(record).collect()
}

/// One row.
///
/// # Errors
/// `Damaged` names it.
pub async fn find(conn: &mut PgConnection, key: &BackupKey) -> Result<Option<BackupRow>> {
    let row = sqlx::query(AssertSqlSafe(select(ADDRESS)))
        .bind(&key.account_id)
        .bind(&key.backup_id)
        .bind(&key.backup_arn)
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(READ, e))?;
    row.as_ref().map(record).transpose()
}

/// In-use check and the move to `DELETING`, in one transaction under the row's lock.
///
/// # Errors
/// Database errors.
pub async fn start_delete(conn: &mut PgConnection, key: &BackupKey) -> Result<DeleteStart> {
    let shape = Shape::of_catalog(conn).await?;
    if !shape.has_backup_index() {
        return Ok(DeleteStart::NoRow);
    }
    let mut tx = conn.begin().await.map_err(|e| driver(DELETE, e))?;
    let lock = format!("SELECT status FROM backup_index WHERE {ADDRESS} FOR UPDATE");
    let row = sqlx::query(AssertSqlSafe(lock))
        .bind(&key.account_id)
        .bind(&key.backup_id)
        .bind(&key.backup_arn)
        .fetch_optional(&mut *tx)
        .await
        .map_err(|e| driver(DELETE, e))?;
    let Some(row) = row else { return Ok(DeleteStart::NoRow) };
    let word: String = row.try_get(0).map_err(|e| driver(DELETE, e))?;
    let status = parse_status(&word, &key.backup_arn)?;
    // Looked at under the lock, which a registering restore takes too: of the two one loses.
    if let Some(target) = running_restore(&mut tx, &shape, &key.backup_arn).await? {
        return Ok(DeleteStart::InUse(target));
    }
    if status == BackupStatus::Deleting {
        return Ok(DeleteStart::Deleting);
    }
    if status.may_become(BackupStatus::Deleting).is_err() {
        return Ok(DeleteStart::Status(status));
    }
    let update = format!("UPDATE backup_index SET status = 'DELETING', heartbeat_at = now() WHERE {ADDRESS}");
    execute(&mut tx, update, key).await?;
    tx.commit().await.map_err(|e| driver(DELETE, e))?;
    Ok(DeleteStart::Deleting)
}

/// `DELETING` to `DELETED`.
///
/// # Errors
/// Database errors.
pub async fn finish_delete(conn: &mut PgConnection, key: &BackupKey) -> Result<WriteOutcome> {
    if !Shape::of_catalog(conn).await?.has_backup_index() {
        return Ok(WriteOutcome::NotMatched);
    }
    let update = format!(
        "UPDATE backup_index SET status = 'DELETED', completed_at = now() WHERE {ADDRESS} AND status = 'DELETING'"
    );
    let moved = execute(conn, update, key).await?;
    Ok(if moved == 1 { WriteOutcome::Matched } else { WriteOutcome::NotMatched })
}

async fn execute(conn: &mut PgConnection, sql: String, key: &BackupKey) -> Result<u64> {
    sqlx::query(AssertSqlSafe(sql))
        .bind(&key.account_id)
        .bind(&key.backup_id)
        .bind(&key.backup_arn)
        .execute(conn)
        .await
        .map(|done| done.rows_affected())
        .map_err(|e| driver(DELETE, e))
}

fn select(condition: &str) -> String {
    format!(
        "SELECT account_id, backup_id, backup_arn, table_name, backup_name, status, store_kind, store_root, store_id, \
         owner_generation, {age}, size_bytes, item_count, {created}, {completed}, failure_reason, \
         source_table_details_json::text FROM backup_index WHERE {condition} \
         ORDER BY created_at, backup_arn COLLATE \"C\"",
        age = epoch_ms("(clock_timestamp() - heartbeat_at)"),
        created = epoch_ms("created_at"),
        completed = epoch_ms("completed_at"),
    )
}

fn record(row: &PgRow) -> Result<BackupRow> {
    let fail = |e| driver(READ, e);
    let key = BackupKey {
        account_id: row.try_get(0).map_err(fail)?,
        backup_id: row.try_get(1).map_err(fail)?,
        backup_arn: row.try_get(2).map_err(fail)?,
    };
    let status: String = row.try_get(5).map_err(fail)?;
    Ok(BackupRow {
        table_name: row.try_get(3).map_err(fail)?,
        backup_name: row.try_get(4).map_err(fail)?,
        status: parse_status(&status, &key.backup_arn)?,
        store: StoreRef {
            kind: row.try_get(6).map_err(fail)?,
            root: row.try_get(7).map_err(fail)?,
            id: row.try_get::<Option<String>, _>(8).map_err(fail)?.unwrap_or_default(),
        },
        owner_generation: epoch_of(row.try_get(9).map_err(fail)?, "backup_index", &key.backup_arn)?,
        heartbeat_age_ms: row.try_get(10).map_err(fail)?,
        size_bytes: row.try_get(11).map_err(fail)?,
        item_count: row.try_get(12).map_err(fail)?,
        created_at: TimestampMs(row.try_get(13).map_err(fail)?),
        completed_at: row.try_get::<Option<i64>, _>(14).map_err(fail)?.map(TimestampMs),
        failure_reason: row.try_get(15).map_err(fail)?,
        source_table_json: row.try_get(16).map_err(fail)?,
        key,
    })
}

fn parse_status(word: &str, arn: &str) -> Result<BackupStatus> {
    BackupStatus::parse(word).ok_or_else(|| {
        Error::new(ErrorKind::Damaged, READ, format!("status: {word:?} is no status"))
            .with("row", format!("{arn} of backup_index"))
    })
}
