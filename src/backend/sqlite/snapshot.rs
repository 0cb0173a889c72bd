//! Role `snapshot` on this backend: one read transaction over catalog and items, which lie in one file.
//!
//! The first read fixes the snapshot, not BEGIN, so the catalog rows are read at once. A writer goes on
//! beside it; the log cannot be reset meanwhile and grows. Connections cannot share a snapshot, so the scan is
//! serial: one connection reads on a thread of its own, and the work on the items happens elsewhere.

use std::sync::{Arc, Mutex};

use rusqlite::{Connection, Params};

use super::Sqlite;
use super::catalog::no_such_table;
use super::connect::blocking;
use super::error::{damaged, driver};
use super::rows;
use super::shape::{has_table, physical_name, quoted};
use crate::backend::snapshot::{BLOCK_TARGET_BYTES, BlockSink, ScanRange, Snapshot, SnapshotInfo, SnapshotOptions};
use crate::backend::{Error, ErrorKind, Result, Snapshots};
use crate::domain::item::ControlChars;
use crate::domain::table::{TableInfo, TableKey, TableStatus};

/// Page cache of the scanning connection. A scan reads each page once, so this need not be large.
const SCAN_CACHE_KIB: i64 = 16 * 1024;

#[async_trait::async_trait]
impl Snapshots for Sqlite {
    async fn open_snapshot(&self, tables: &[TableKey], _options: &SnapshotOptions) -> Result<Box<dyn Snapshot>> {
        let keys = tables.to_vec();
        self.run(move |this| {
            let operation = "open a snapshot";
            let conn = this.scanner()?;
            let mut tables = Vec::with_capacity(keys.len());
            for key in &keys {
                let table = rows::table(&conn, key)?.ok_or_else(|| no_such_table(operation, key))?;
                let name = format!("{}/{}", key.account_id, key.table_name);
                if table.status != TableStatus::Active {
                    let message = format!("it is {}, expected ACTIVE", table.status.word());
                    return Err(Error::new(ErrorKind::Busy, operation, message).with("table", name));
                }
                if !has_table(&conn, &physical_name(&table.definition.table_id))? {
                    return Err(damaged(operation, format!("{name} of tables"), "its physical table is missing"));
                }
                tables.push(table);
            }
            Ok(Box::new(ReadTransaction::new(conn, tables, Source::Tables)) as Box<dyn Snapshot>)
        })
        .await
    }

    async fn open_legacy_backup(&self, backup_arn: &str) -> Result<Box<dyn Snapshot>> {
        let arn = backup_arn.to_owned();
        self.run(move |this| {
            let operation = "read an in-catalog backup";
            let conn = this.scanner()?;
            let backup = rows::legacy_backup_of(&conn, &arn)?.filter(|b| b.status != "DELETED").ok_or_else(|| {
                Error::new(ErrorKind::NotFound, operation, "there is no such backup").with("backup", &arn)
            })?;
            if backup.status != "AVAILABLE" {
                let message = format!("it is {}, expected AVAILABLE", backup.status);
                return Err(Error::new(ErrorKind::Busy, operation, message).with("backup", &arn));
            }
            let table = TableInfo {
                account_id: backup.account_id,
                status: TableStatus::Active,
                definition: backup.table,
                indexes: Vec::new(),
                named_by_table: false,
                notes: backup.notes,
            };
            Ok(Box::new(ReadTransaction::new(conn, vec![table], Source::Backup(arn))) as Box<dyn Snapshot>)
        })
        .await
    }
}

impl Sqlite {
    fn scanner(&self) -> Result<Connection> {
        let conn = self.read_transaction()?;
        conn.pragma_update(None, "cache_size", -SCAN_CACHE_KIB).map_err(|e| driver("set the cache size", e))?;
        Ok(conn)
    }
}

/// Where the items of the snapshot lie.
#[derive(Clone)]
enum Source {
    /// In the physical table of each table.
    Tables,
    /// In `backup_items`, under this ARN.
    Backup(String),
}

struct ReadTransaction {
    conn: Arc<Mutex<Connection>>,
    info: SnapshotInfo,
    tables: Vec<TableInfo>,
    source: Source,
}

impl ReadTransaction {
    fn new(conn: Connection, tables: Vec<TableInfo>, source: Source) -> Self {
        Self {
            conn: Arc::new(Mutex::new(conn)),
            info: SnapshotInfo { kind: "sqlite_wal_read_txn", marker: String::new() },
            tables,
            source,
        }
    }
}

#[async_trait::async_trait]
impl Snapshot for ReadTransaction {
    fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    fn encoding(&self) -> ControlChars {
        ControlChars::Plain
    }

    /// One range: a second would be read by the same connection after the first.
    async fn plan(&self, _table: &TableInfo, _parts: usize) -> Result<Vec<ScanRange>> {
        Ok(vec![ScanRange { from: i64::MIN, to: i64::MAX }])
    }

    async fn scan(&self, table: &TableInfo, range: &ScanRange, sink: &BlockSink) -> Result<u64> {
        let physical = quoted(&physical_name(&table.definition.table_id));
        let (conn, source, range, sink) = (Arc::clone(&self.conn), self.source.clone(), range.clone(), sink.clone());
        blocking(move || {
            let conn = conn.lock().expect("no scan panics while it holds the connection");
            match source {
                Source::Tables => {
                    let sql = format!("SELECT item_data, rowid FROM {physical} WHERE rowid BETWEEN ?1 AND ?2");
                    scan_rows(&conn, &sql, [range.from, range.to], &sink)
                }
                Source::Backup(arn) => {
                    let sql = "SELECT item_data, rowid FROM backup_items WHERE backup_arn = ?1";
                    scan_rows(&conn, sql, [arn], &sink)
                }
            }
        })
        .await
    }

    async fn close(self: Box<Self>) -> Result<()> {
        blocking(move || {
            let conn = self.conn.lock().expect("no scan panics while it holds the connection");
            conn.execute_batch("COMMIT").map_err(|e| driver("end the snapshot", e))
        })
        .await
    }
}

/// Runs a query whose first column is an item's text and second its rowid, into blocks. Returns the number of
/// items handed over; ends quietly when nobody takes blocks any more.
///
/// # Errors
/// Database errors; `Damaged` for an item that is no text.
pub fn scan_rows(conn: &Connection, sql: &str, params: impl Params, sink: &BlockSink) -> Result<u64> {
    let fail = |e| driver("scan a table", e);
    let mut statement = conn.prepare(sql).map_err(fail)?;
    let mut rows = statement.query(params).map_err(fail)?;
    let mut items = 0;
    let Ok(mut block) = sink.take_blocking() else { return Ok(0) };
    block.bytes.reserve(BLOCK_TARGET_BYTES + BLOCK_TARGET_BYTES / 4);
    while let Some(row) = rows.next().map_err(fail)? {
        let value = row.get_ref(0).map_err(fail)?;
        let Ok(text) = value.as_bytes() else {
            let rowid: i64 = row.get(1).map_err(fail)?;
            return Err(damaged("scan a table", format!("rowid {rowid}"), "item_data is no text").with("query", sql));
        };
        block.push(text);
        items += 1;
        if block.bytes.len() >= BLOCK_TARGET_BYTES {
            let full = std::mem::take(&mut block);
            if sink.send_blocking(full).is_err() {
                return Ok(items);
            }
            match sink.take_blocking() {
                Ok(empty) => block = empty,
                Err(_) => return Ok(items),
            }
        }
    }
    // Sent even when it is empty, so that it comes back to the pool; a stopped run has no use for the rest.
    let _ = sink.send_blocking(block);
    Ok(items)
}
