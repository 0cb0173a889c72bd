//! ExtendDB's own `backup_index` rows.
//!
//! Source: backup operations, sections 2, 4 and 7. One server process serves a file and holds its lock, so a
//! row is written only while that lock is ours: the claim of a row keeps it for the whole run. The row's holder
//! also keeps a lock file of ours, by which another run of this tool sees that it lives.

use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use super::Sqlite;
use super::catalog::restoring_from;
use super::error::{damaged, driver};
use super::fence::epoch;
use super::jobs::now;
use super::lock::FileLock;
use super::rows::time;
use super::shape::{columns, has_table};
use crate::backend::jobs::{BackupKey, BackupRow, BackupRowClaim, BackupRowFields, DeleteStart, NewBackupRow};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, WriteOutcome};
use crate::domain::job::BackupStatus;
use crate::domain::store_ref::StoreRef;

const TABLE: &str = "backup_index";
const ADDRESS: &str = "account_id = ?1 AND backup_id = ?2 AND backup_arn = ?3";

impl Sqlite {
    /// Inserts a `CREATING` row, or says why none may be written now.
    pub(super) fn claim_row(&self, row: &NewBackupRow) -> Result<Claimed> {
        let operation = "claim a backup row";
        let fail = |e| driver(operation, e).with("backup", &row.key.backup_arn);
        if !has_table(&self.reader()?, TABLE)? {
            return Ok(Claimed::NoRows);
        }
        let server = match self.server_lock() {
            Ok(lock) => lock,
            Err(e) if e.kind() == ErrorKind::Busy => {
                return Ok(Claimed::NotNow(format!("{}; `backup sync` adds the row later", e.message())));
            }
            Err(e) => return Err(e),
        };
        let lock = self.row_lock(operation, &row.key)?;
        let mut conn = self.writer()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let known: Option<String> = tx
            .query_row("SELECT backup_arn FROM backup_index WHERE backup_id = ?1", [&row.key.backup_id], |r| r.get(0))
            .optional()
            .map_err(fail)?;
        if let Some(known) = known {
            return Err(Error::new(ErrorKind::Conflict, operation, format!("its id has a row already, of {known}"))
                .with("backup", &row.key.backup_arn));
        }
        let generation = Epoch::ZERO.mint_above(Epoch::ZERO).map_err(|e| damaged(operation, TABLE, e))?;
        let mut names = vec![
            "account_id",
            "backup_id",
            "backup_arn",
            "table_name",
            "backup_name",
            "status",
            "store_kind",
            "store_root",
            "store_id",
            "owner_generation",
            "heartbeat_at",
            "created_at",
            "source_table_details_json",
        ];
        let prefix = format!("{}/{}/{}/", row.key.account_id, row.table_name, row.key.backup_id);
        let (status, generation_text) = (BackupStatus::Creating.word(), generation.stored());
        let (beat, created) = (now().to_string(), row.created_at.to_string());
        let mut values: Vec<&dyn rusqlite::ToSql> = vec![
            &row.key.account_id,
            &row.key.backup_id,
            &row.key.backup_arn,
            &row.table_name,
            &row.backup_name,
            &status,
            &row.store.kind,
            &row.store.root,
            &row.store.id,
            &generation_text,
            &beat,
            &created,
            &row.source_table_json,
        ];
        // Named by the design only; written where a catalog has it.
        if columns(&tx, TABLE)?.iter().any(|c| c == "store_key_prefix") {
            names.push("store_key_prefix");
            values.push(&prefix);
        }
        let places: Vec<String> = (1..=names.len()).map(|i| format!("?{i}")).collect();
        tx.execute(
            &format!("INSERT INTO backup_index ({}) VALUES ({})", names.join(", "), places.join(", ")),
            &*values,
        )
        .map_err(fail)?;
        tx.commit().map_err(fail)?;
        Ok(Claimed::Row(RowClaim::new(self, &row.key, generation, conn, lock, server)))
    }

    /// Takes over a row that is not final and whose holder is dead.
    pub(super) fn take_over_row(&self, key: &BackupKey, stale_after_ms: i64) -> Result<RowClaim> {
        let operation = "take over a backup row";
        let fail = |e| driver(operation, e).with("backup", &key.backup_arn);
        let missing =
            || Error::new(ErrorKind::NotFound, operation, "there is no such row").with("backup", &key.backup_arn);
        // Looked for before any lock, so that a missing row is said to be missing beside a server too.
        let row = find(&self.reader()?, key)?.ok_or_else(missing)?;
        let server = self.server_lock()?;
        let lock = FileLock::try_take_own(self.job_lock_path(&lock_name(key)))?.map_err(|holder| {
            let age = row.heartbeat_age_ms;
            let stale = if age >= stale_after_ms { "which is stale, but its process lives" } else { "which is fresh" };
            Error::new(ErrorKind::Busy, operation, format!("{holder} holds it, heartbeat {age} ms old, {stale}"))
                .with("backup", &key.backup_arn)
        })?;
        // The server's lock is ours and nobody has the row's: the holder is dead, however fresh its last beat.
        let mut conn = self.writer()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let row = find(&tx, key)?.ok_or_else(missing)?;
        if !matches!(row.status, BackupStatus::Creating | BackupStatus::Deleting) {
            let message = format!("it is {}, and nobody holds it", row.status.word());
            return Err(Error::new(ErrorKind::Conflict, operation, message).with("backup", &key.backup_arn));
        }
        let generation = row
            .owner_generation
            .mint_above(Epoch::ZERO)
            .map_err(|e| damaged(operation, format!("{} of {TABLE}", key.backup_arn), e))?;
        tx.execute(
            &format!("UPDATE backup_index SET owner_generation = ?4, heartbeat_at = ?5 WHERE {ADDRESS}"),
            params![key.account_id, key.backup_id, key.backup_arn, generation.stored(), now().to_string()],
        )
        .map_err(fail)?;
        tx.commit().map_err(fail)?;
        Ok(RowClaim::new(self, key, generation, conn, lock, server))
    }

    fn row_lock(&self, operation: &'static str, key: &BackupKey) -> Result<FileLock> {
        FileLock::try_take_own(self.job_lock_path(&lock_name(key)))?.map_err(|holder| {
            Error::new(ErrorKind::Busy, operation, format!("{holder} holds it")).with("backup", &key.backup_arn)
        })
    }

    /// Rows in `(created_at, backup_arn)` byte order.
    pub(super) fn rows_of(&self, account_id: Option<&str>) -> Result<Vec<BackupRow>> {
        let conn = self.reader()?;
        if !has_table(&conn, TABLE)? {
            return Ok(Vec::new());
        }
        let mut rows = select(&conn, "?1 IS NULL OR account_id = ?1", [account_id])?;
        rows.sort_by(|a, b| (a.created_at, &a.key.backup_arn).cmp(&(b.created_at, &b.key.backup_arn)));
        Ok(rows)
    }

    /// In-use check and the move to `DELETING`, in one IMMEDIATE transaction.
    pub(super) fn start_delete(&self, key: &BackupKey) -> Result<DeleteStart> {
        let operation = "delete a backup";
        let fail = |e| driver(operation, e).with("backup", &key.backup_arn);
        let there = self.reader()?;
        if !has_table(&there, TABLE)? || find(&there, key)?.is_none() {
            return Ok(DeleteStart::NoRow);
        }
        drop(there);
        let _server = self.server_lock()?;
        let mut conn = self.writer()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let Some(row) = find(&tx, key)? else { return Ok(DeleteStart::NoRow) };
        if let Some(table) = restoring_from(&tx, &key.backup_arn)? {
            return Ok(DeleteStart::InUse(table));
        }
        if row.status == BackupStatus::Deleting {
            return Ok(DeleteStart::Deleting);
        }
        if row.status.may_become(BackupStatus::Deleting).is_err() {
            return Ok(DeleteStart::Status(row.status));
        }
        tx.execute(
            &format!("UPDATE backup_index SET status = 'DELETING', heartbeat_at = ?4 WHERE {ADDRESS}"),
            params![key.account_id, key.backup_id, key.backup_arn, now().to_string()],
        )
        .map_err(fail)?;
        tx.commit().map_err(fail)?;
        Ok(DeleteStart::Deleting)
    }

    /// `DELETING` to `DELETED`.
    pub(super) fn finish_delete(&self, key: &BackupKey) -> Result<WriteOutcome> {
        let operation = "delete a backup";
        let fail = |e| driver(operation, e).with("backup", &key.backup_arn);
        if !has_table(&self.reader()?, TABLE)? {
            return Ok(WriteOutcome::NotMatched);
        }
        let _server = self.server_lock()?;
        let moved = self
            .writer()?
            .execute(
                &format!(
                    "UPDATE backup_index SET status = 'DELETED', completed_at = ?4 WHERE {ADDRESS} AND status = 'DELETING'"
                ),
                params![key.account_id, key.backup_id, key.backup_arn, now().to_string()],
            )
            .map_err(fail)?;
        Ok(if moved == 1 { WriteOutcome::Matched } else { WriteOutcome::NotMatched })
    }
}

/// Ids are digits and a dash as we and servers make them; anything else is kept out of a file name.
fn lock_name(key: &BackupKey) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("backup-{}", key.backup_id.chars().map(plain).collect::<String>())
}

fn find(conn: &Connection, key: &BackupKey) -> Result<Option<BackupRow>> {
    if !has_table(conn, TABLE)? {
        return Ok(None);
    }
    Ok(select(conn, ADDRESS, [&key.account_id, &key.backup_id, &key.backup_arn])?.pop())
}

fn select(conn: &Connection, condition: &str, params: impl rusqlite::Params) -> Result<Vec<BackupRow>> {
    let fail = |e| driver("read backup rows", e);
    let sql = format!(
        "SELECT account_id, backup_id, backup_arn, table_name, backup_name, status, store_kind, store_root, store_id, \
         owner_generation, heartbeat_at, size_bytes, item_count, created_at, completed_at, failure_reason, \
         source_table_details_json FROM backup_index WHERE ({condition})"
    );
    let mut statement = conn.prepare_cached(&sql).map_err(fail)?;
    let mut rows = statement.query(params).map_err(fail)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(fail)? {
        all.push(read_row(row)?);
    }
    Ok(all)
}

fn read_row(row: &Row<'_>) -> Result<BackupRow> {
    let operation = "read a backup row";
    let fail = |e| driver(operation, e);
    let text = |column: &str| row.get::<_, String>(column).map_err(fail);
    let optional = |column: &str| row.get::<_, Option<String>>(column).map_err(fail);
    let key =
        BackupKey { account_id: text("account_id")?, backup_id: text("backup_id")?, backup_arn: text("backup_arn")? };
    let name = format!("{} of {TABLE}", key.backup_arn);
    let status = text("status")?;
    let beat = time(operation, &name, "heartbeat_at", &text("heartbeat_at")?)?;
    Ok(BackupRow {
        table_name: text("table_name")?,
        backup_name: text("backup_name")?,
        status: BackupStatus::parse(&status)
            .ok_or_else(|| damaged(operation, &name, format!("status: {status:?} is no status")))?,
        store: StoreRef {
            kind: text("store_kind")?,
            root: text("store_root")?,
            id: optional("store_id")?.unwrap_or_default(),
        },
        owner_generation: epoch(operation, &name, row.get("owner_generation").map_err(fail)?)?,
        heartbeat_age_ms: now().0.saturating_sub(beat.0),
        size_bytes: row.get("size_bytes").map_err(fail)?,
        item_count: row.get("item_count").map_err(fail)?,
        created_at: time(operation, &name, "created_at", &text("created_at")?)?,
        completed_at: optional("completed_at")?.map(|t| time(operation, &name, "completed_at", &t)).transpose()?,
        failure_reason: optional("failure_reason")?,
        source_table_json: optional("source_table_details_json")?,
        key,
    })
}

/// Answer to a claim of a new row.
pub enum Claimed {
    /// The row is there, and ours.
    Row(RowClaim),
    /// The catalog is older than such rows.
    NoRows,
    /// A row may not be written now, and why.
    NotNow(String),
}

/// The claim of this process on a row.
pub struct RowClaim {
    state: Arc<State>,
    _lock: FileLock,
    _server: Arc<FileLock>,
}

struct State {
    db: Sqlite,
    key: BackupKey,
    generation: Epoch,
    beats: Mutex<Option<Connection>>,
    writes: Mutex<Connection>,
    lost: std::sync::atomic::AtomicBool,
}

impl RowClaim {
    fn new(
        db: &Sqlite,
        key: &BackupKey,
        generation: Epoch,
        conn: Connection,
        lock: FileLock,
        server: Arc<FileLock>,
    ) -> Self {
        let state = State {
            db: db.clone(),
            key: key.clone(),
            generation,
            beats: Mutex::new(None),
            writes: Mutex::new(conn),
            lost: false.into(),
        };
        Self { state: Arc::new(state), _lock: lock, _server: server }
    }
}

#[async_trait::async_trait]
impl BackupRowClaim for RowClaim {
    async fn heartbeat(&self) -> Result<WriteOutcome> {
        let state = Arc::clone(&self.state);
        super::connect::blocking(move || state.beat()).await
    }

    async fn set_status(&self, from: BackupStatus, to: BackupStatus, fields: &BackupRowFields) -> Result<WriteOutcome> {
        let (state, fields) = (Arc::clone(&self.state), fields.clone());
        super::connect::blocking(move || state.set_status(from, to, &fields)).await
    }
}

impl State {
    fn beat(&self) -> Result<WriteOutcome> {
        let mut beats = self.beats.lock().expect("no write on a claim panics");
        let conn = match &mut *beats {
            Some(conn) => conn,
            none => none.insert(self.db.writer()?),
        };
        self.write("renew the heartbeat of a backup row", conn, "heartbeat_at = ?5", "", &[&now().to_string()])
    }

    fn set_status(&self, from: BackupStatus, to: BackupStatus, fields: &BackupRowFields) -> Result<WriteOutcome> {
        let operation = "change the status of a backup row";
        from.may_become(to).map_err(|e| {
            Error::new(ErrorKind::Conflict, operation, e.to_string()).with("backup", &self.key.backup_arn)
        })?;
        let completed = fields.completed.then(|| now().to_string());
        let conn = self.writes.lock().expect("no write on a claim panics");
        self.write(
            operation,
            &conn,
            "status = ?5, size_bytes = coalesce(?7, size_bytes), item_count = coalesce(?8, item_count), \
             completed_at = coalesce(?9, completed_at), failure_reason = coalesce(?10, failure_reason), \
             source_table_details_json = coalesce(?11, source_table_details_json)",
            "AND status = ?6",
            &[
                &to.word(),
                &from.word(),
                &fields.size_bytes,
                &fields.item_count,
                &completed,
                &fields.failure_reason,
                &fields.source_table_json,
            ],
        )
    }

    /// One statement is one transaction: the condition is checked where the write happens.
    fn write(
        &self,
        operation: &'static str,
        conn: &Connection,
        assignments: &str,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<WriteOutcome> {
        use std::sync::atomic::Ordering;
        if self.lost.load(Ordering::Acquire) {
            return Ok(WriteOutcome::NotMatched);
        }
        let generation = self.generation.stored();
        let mut all: Vec<&dyn rusqlite::ToSql> =
            vec![&self.key.account_id, &self.key.backup_id, &self.key.backup_arn, &generation];
        all.extend(values);
        let sql =
            format!("UPDATE backup_index SET {assignments} WHERE {ADDRESS} AND owner_generation = ?4 {condition}");
        let moved = conn.execute(&sql, &*all).map_err(|e| driver(operation, e).with("backup", &self.key.backup_arn))?;
        if moved == 1 {
            return Ok(WriteOutcome::Matched);
        }
        self.lost.store(true, Ordering::Release);
        Ok(WriteOutcome::NotMatched)
    }
}
