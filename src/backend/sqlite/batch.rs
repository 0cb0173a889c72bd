//! One data file being applied: rows are encoded by the caller, and inserted by a thread that owns the
//! connection and its one IMMEDIATE transaction.
//!
//! The two are coupled by a short queue of row buffers, so that reading and parsing the next lines goes on
//! while SQLite inserts the last. The fence is asserted when the transaction begins and again before it
//! commits, with the file's progress in between: all of it lands, or nothing.

use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Statement, ToSql, params};

use super::Sqlite;
use super::claim::{beat_job, beat_targets};
use super::error::{damaged, driver};
use super::jobs::now;
use super::layout::Layout;
use super::shape::{has_column, has_table};
use crate::backend::loader::{FileDone, LoadBatch};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::FenceToken;
use crate::domain::item::{ControlChars, Item, encode_for_storage};
use crate::domain::key::{KeyValues, SortValue};
use crate::domain::number::encode_number_key;

/// A buffer is handed over once it holds this many bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Buffers waiting for the inserting thread.
const QUEUED_BUFFERS: usize = 2;

/// Page cache of the loading connection. The primary keys take rows in any order, so their pages should stay
/// in memory: measured with two million keys in no order, 128 MiB take a fifth less time than 64. Together
/// with the buffers it stays below 256 MiB.
const LOAD_CACHE_KIB: i64 = 96 * 1024;

/// The log is copied into the file when it has grown to this many pages (of 4 KiB). Copying after every
/// transaction would write the pages of a key again and again.
const CHECKPOINT_PAGES: i64 = 64 * 1024;

const OPERATION: &str = "load a data file";

/// Encoded rows: their fields lie in `bytes` in any order.
#[derive(Default)]
struct Rows {
    bytes: Vec<u8>,
    fields: Vec<Field>,
    rows: Vec<RowOf>,
}

/// Place of a value in a buffer.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    blob: bool,
}

/// One row: its table (0 is the base, then the indexes) and how many fields it has.
struct RowOf {
    table: usize,
    fields: usize,
}

enum Message {
    Rows(Rows),
    Commit(FileDone),
}

/// Everything the inserting thread needs.
pub struct Target {
    /// The deployment.
    pub db: Sqlite,
    /// The claim under which rows are inserted.
    pub token: FenceToken,
    /// The new table's id.
    pub table_id: String,
    /// Its physical tables.
    pub layout: Layout,
}

/// The caller's half.
pub struct Batch {
    target: Arc<Target>,
    filling: Rows,
    messages: async_channel::Sender<Message>,
    emptied: async_channel::Receiver<Rows>,
    thread: Option<tokio::task::JoinHandle<Result<()>>>,
    /// One batch at a time: the file has one writer.
    _turn: tokio::sync::OwnedMutexGuard<()>,
}

impl Batch {
    /// Opens the transaction.
    ///
    /// # Errors
    /// `Fenced`; `Busy` when the file's write lock is not to be had.
    pub async fn begin(target: Target, turn: tokio::sync::OwnedMutexGuard<()>) -> Result<Self> {
        let target = Arc::new(target);
        let (messages, received) = async_channel::bounded(QUEUED_BUFFERS);
        let (returned, emptied) = async_channel::bounded(QUEUED_BUFFERS + 1);
        let (begun, begins) = tokio::sync::oneshot::channel();
        let inserting = Arc::clone(&target);
        let thread = tokio::task::spawn_blocking(move || insert_all(&inserting, begun, &received, &returned));
        let mut batch = Self { target, filling: Rows::default(), messages, emptied, thread: Some(thread), _turn: turn };
        match begins.await {
            Ok(()) => Ok(batch),
            Err(_) => Err(batch.failure().await),
        }
    }

    /// Why the thread ended before it was told to.
    async fn failure(&mut self) -> Error {
        match self.thread.take() {
            None => Error::new(ErrorKind::Internal, OPERATION, "the batch failed before"),
            Some(thread) => match thread.await {
                Ok(Err(e)) => e,
                Ok(Ok(())) => Error::new(ErrorKind::Internal, OPERATION, "the transaction ended early"),
                Err(join) => std::panic::resume_unwind(join.into_panic()),
            },
        }
    }
}

#[async_trait::async_trait]
impl LoadBatch for Batch {
    fn push(&mut self, item: &Item<'_>) -> Result<bool> {
        let layout = &self.target.layout;
        let unrepresentable = |e: String| {
            let text = String::from_utf8_lossy(item.canonical());
            let shown: String = text.chars().take(200).collect();
            Error::new(ErrorKind::Unrepresentable, OPERATION, e).with("item", shown)
        };
        let rows = &mut self.filling;
        let key = layout.key.key_of(item, ControlChars::Plain).map_err(|e| unrepresentable(e.to_string()))?;
        let base = rows.key(&key).map_err(&unrepresentable)?;
        let data = rows.written(|bytes| encode_for_storage(item.canonical(), ControlChars::Plain, bytes));
        rows.row(0, &[&base, &[data]]);
        for (number, (spec, _)) in layout.indexes.iter().enumerate() {
            let start = rows.bytes.len();
            // Skipped items have no row: nothing was appended for them.
            let Ok(key) = spec.row_of(item, &layout.key, ControlChars::Plain, &mut rows.bytes) else { continue };
            let data = Field { start, end: rows.bytes.len(), blob: false };
            let own = rows.key(&key).map_err(&unrepresentable)?;
            rows.row(number + 1, &[&own, &base, &[data]]);
        }
        Ok(rows.bytes.len() >= BUFFER_BYTES)
    }

    async fn flush(&mut self) -> Result<()> {
        if self.filling.rows.is_empty() {
            return Ok(());
        }
        let empty = self.emptied.try_recv().unwrap_or_default();
        let full = std::mem::replace(&mut self.filling, empty);
        match self.messages.send(Message::Rows(full)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.failure().await),
        }
    }

    async fn commit(mut self: Box<Self>, done: &FileDone) -> Result<()> {
        self.flush().await?;
        if self.messages.send(Message::Commit(done.clone())).await.is_err() {
            return Err(self.failure().await);
        }
        match self.thread.take() {
            None => Err(Error::new(ErrorKind::Internal, OPERATION, "the batch failed before")),
            Some(thread) => match thread.await {
                Ok(result) => result,
                Err(join) => std::panic::resume_unwind(join.into_panic()),
            },
        }
    }
}

impl Rows {
    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Field {
        let start = self.bytes.len();
        write(&mut self.bytes);
        Field { start, end: self.bytes.len(), blob: false }
    }

    /// The partition text and the sort values.
    fn key(&mut self, key: &KeyValues) -> Result<Vec<Field>, String> {
        let mut fields = vec![self.written(|bytes| bytes.extend_from_slice(key.pk.as_bytes()))];
        for value in &key.sort {
            let field = match value {
                SortValue::S(text) => self.written(|bytes| bytes.extend_from_slice(text.as_bytes())),
                SortValue::N(number) => {
                    let text = encode_number_key(number).map_err(|e| format!("sort number {number}: {e}"))?;
                    self.written(|bytes| bytes.extend_from_slice(text.as_bytes()))
                }
                SortValue::B(raw) => Field { blob: true, ..self.written(|bytes| bytes.extend_from_slice(raw)) },
            };
            fields.push(field);
        }
        Ok(fields)
    }

    fn row(&mut self, table: usize, parts: &[&[Field]]) {
        let before = self.fields.len();
        for part in parts {
            self.fields.extend_from_slice(part);
        }
        self.rows.push(RowOf { table, fields: self.fields.len() - before });
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
        self.rows.clear();
    }
}

/// A value bound without a copy of ours.
struct Bound<'a>(&'a [u8], bool);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = if self.1 { ValueRef::Blob(self.0) } else { ValueRef::Text(self.0) };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// The inserting thread. The transaction rolls back when the caller's half goes away before a commit.
fn insert_all(
    target: &Target,
    begun: tokio::sync::oneshot::Sender<()>,
    messages: &async_channel::Receiver<Message>,
    returned: &async_channel::Sender<Rows>,
) -> Result<()> {
    let fail = |e| driver(OPERATION, e);
    let conn = match target.db.take_loading_connection() {
        Some(conn) => conn,
        None => loading_connection(&target.db)?,
    };
    conn.execute_batch("BEGIN IMMEDIATE").map_err(fail)?;
    let committed = (|| {
        target.db.refusals.check(&conn, OPERATION, &target.token)?;
        if begun.send(()).is_err() {
            return Ok(false);
        }
        let mut statements = Vec::new();
        for table in target.layout.tables() {
            statements.push(conn.prepare(&table.insert).map_err(fail)?);
        }
        while let Ok(message) = messages.recv_blocking() {
            match message {
                Message::Rows(mut rows) => {
                    insert_rows(&mut statements, &rows)?;
                    rows.clear();
                    // Its other half may have gone; then the buffer goes too.
                    let _ = returned.try_send(rows);
                }
                Message::Commit(done) => {
                    record(&conn, target, &done)?;
                    target.db.refusals.check(&conn, OPERATION, &target.token)?;
                    conn.execute_batch("COMMIT").map_err(fail)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    })();
    match committed {
        Ok(true) => {
            target.db.keep_loading_connection(conn);
            Ok(())
        }
        // Closing the connection rolls back.
        Ok(false) => Ok(()),
        Err(e) => Err(e),
    }
}

/// A connection with the settings of a load: a power failure may lose the last transactions as a whole, which
/// a resumed run repeats; the publication's commit makes everything durable.
fn loading_connection(db: &Sqlite) -> Result<Connection> {
    let conn = db.writer()?;
    // A server's file is in WAL mode already; one made from a dump becomes it here, as a server would do it.
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(|e| driver("prepare a load", e))?;
    for (pragma, value) in
        [("cache_size", -LOAD_CACHE_KIB), ("wal_autocheckpoint", CHECKPOINT_PAGES), ("synchronous", 1)]
    {
        conn.pragma_update(None, pragma, value).map_err(|e| driver("prepare a load", e))?;
    }
    Ok(conn)
}

fn insert_rows(statements: &mut [Statement<'_>], rows: &Rows) -> Result<()> {
    let mut fields = rows.fields.as_slice();
    for row in &rows.rows {
        let statement = &mut statements[row.table];
        let (own, rest) = fields.split_at(row.fields);
        fields = rest;
        for (i, field) in own.iter().enumerate() {
            statement
                .raw_bind_parameter(i + 1, Bound(&rows.bytes[field.start..field.end], field.blob))
                .map_err(|e| driver(OPERATION, e))?;
        }
        statement.raw_execute().map_err(|e| {
            let error = driver(OPERATION, e);
            if error.kind() != ErrorKind::Conflict {
                return error;
            }
            let pk = own.first().map_or(&[][..], |f| &rows.bytes[f.start..f.end]);
            Error::new(ErrorKind::Conflict, OPERATION, "two items have the same key")
                .with("partition key", String::from_utf8_lossy(pk).chars().take(200).collect::<String>())
        })?;
    }
    Ok(())
}

/// The file's progress, its mirror in the catalog's record, and the heartbeats, which could not be written
/// by anybody else while this transaction holds the file's write lock.
fn record(conn: &Connection, target: &Target, done: &FileDone) -> Result<()> {
    let fail = |e| driver("record the progress of a load", e);
    let (token, at) = (&target.token, now().to_string());
    let items = i64::try_from(done.items)
        .map_err(|_| damaged(OPERATION, format!("data file {}", done.file_index), "too many items"))?;
    conn.execute(
        "INSERT INTO extenddb_admin_load_progress (fence_key, table_id, file_index, items, digest, applied_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![token.key, target.table_id, done.file_index, items, done.digest, at],
    )
    .map_err(fail)?;
    beat_job(conn, token, &at)?;
    beat_targets(conn, token, &at)?;
    if !has_table(conn, "table_restores")? || !has_column(conn, "table_restores", "file_index")? {
        return Ok(());
    }
    // Files are applied in any order here; the catalog counts those that are complete from the first on.
    let moved = conn
        .execute(
            "UPDATE table_restores SET \
             items_applied = (SELECT coalesce(sum(items), 0) FROM extenddb_admin_load_progress \
               WHERE fence_key = ?1 AND table_id = ?2), \
             file_index = (SELECT count(*) FROM extenddb_admin_load_progress p WHERE fence_key = ?1 AND table_id = ?2 \
               AND p.file_index < (SELECT count(*) FROM extenddb_admin_load_progress q \
                 WHERE q.fence_key = ?1 AND q.table_id = ?2 AND q.file_index <= p.file_index)) \
             WHERE table_id = ?2 AND status = 'RUNNING' AND owner_generation = ?3",
            params![token.key, target.table_id, token.epoch.stored()],
        )
        .map_err(fail)?;
    if moved == 1 {
        return Ok(());
    }
    target.db.refusals.latch(token);
    Err(Error::new(
        ErrorKind::Fenced,
        OPERATION,
        format!("the catalog's record of this restore is no longer RUNNING under generation {}", token.epoch),
    )
    .with("fence", &token.key))
}
