//! An open snapshot: ranges of blocks of a table, read by sessions that share one exported snapshot.

use futures_util::StreamExt as _;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};
use tokio::sync::{Mutex, Semaphore};

use super::connect::Connector;
use super::copy::FieldReader;
use super::error::driver;
use super::names::{Physical, literal};
use super::scan_sql::{self, Heap};
use super::snapshot::{BEGIN_SNAPSHOT, begin, lift_timeouts};
use crate::backend::snapshot::{BLOCK_TARGET_BYTES, BlockSink, RawBlock, ScanRange, Snapshot, SnapshotInfo};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::item::ControlChars;
use crate::domain::table::{TableInfo, TableKey};

const PLAN: &str = "plan the scan of a table";
const SCAN: &str = "scan a table";
/// A range is not made smaller than this: 2 MiB with the usual block size.
const MIN_RANGE_BLOCKS: i64 = 256;
/// First server version that finds a range of `ctid` without reading the whole table.
const TID_RANGE_VERSION: i32 = 140_000;

/// Where the items of a table of the snapshot lie.
#[derive(Debug, Clone)]
pub enum Source {
    /// In a physical table of the data database.
    Table(Physical),
    /// In the catalog's `backup_items`.
    LegacyBackup {
        /// Its ARN.
        backup_arn: String,
    },
}

/// The session that exported the snapshot, in its transaction.
pub struct Exported {
    /// What workers import.
    pub id: String,
    /// The session.
    pub session: PgConnection,
}

/// A snapshot of tables, or of one in-catalog backup.
pub struct PgSnapshot {
    connector: Connector,
    id: String,
    exporter: Mutex<PgConnection>,
    info: SnapshotInfo,
    tables: Vec<TableInfo>,
    sources: Vec<Source>,
    encoding: ControlChars,
    /// Sessions at rest, out of any transaction, so that none holds a lock it does not need.
    idle: Mutex<Vec<PgConnection>>,
    permits: Semaphore,
}

impl PgSnapshot {
    /// A snapshot over tables and where their items lie; at most `connections` workers at once.
    pub fn new(
        connector: Connector,
        exported: Exported,
        info: SnapshotInfo,
        tables: Vec<(TableInfo, Source)>,
        encoding: ControlChars,
        connections: usize,
    ) -> Self {
        let (tables, sources) = tables.into_iter().unzip();
        Self {
            connector,
            id: exported.id,
            exporter: Mutex::new(exported.session),
            info,
            tables,
            sources,
            encoding,
            idle: Mutex::default(),
            permits: Semaphore::new(connections.max(1)),
        }
    }

    fn source(&self, key: &TableKey) -> Result<&Source> {
        let at = self.tables.iter().position(|t| t.key() == *key);
        at.and_then(|i| self.sources.get(i)).ok_or_else(|| {
            Error::new(ErrorKind::Internal, SCAN, "the table is not part of this snapshot")
                .with("table", &key.table_name)
        })
    }

    /// A session inside the snapshot.
    async fn worker(&self, source: &Source) -> Result<PgConnection> {
        let rested = self.idle.lock().await.pop();
        let mut session = match rested {
            Some(session) => session,
            None => {
                let mut session = match source {
                    Source::Table(_) => self.connector.data_connection().await?,
                    Source::LegacyBackup { .. } => self.connector.catalog_connection().await?,
                };
                lift_timeouts(&mut session).await?;
                session
            }
        };
        begin(&mut session, BEGIN_SNAPSHOT).await?;
        let import = format!("SET TRANSACTION SNAPSHOT {}", literal(&self.id));
        session.execute(AssertSqlSafe(import)).await.map_err(|e| driver("import the snapshot", e))?;
        Ok(session)
    }
}

#[async_trait::async_trait]
impl Snapshot for PgSnapshot {
    fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    fn encoding(&self) -> ControlChars {
        self.encoding
    }

    async fn plan(&self, table: &TableInfo, parts: usize) -> Result<Vec<ScanRange>> {
        let Source::Table(physical) = self.source(&table.key())? else {
            return Ok(vec![ScanRange { from: 0, to: i64::MAX }]);
        };
        let row = sqlx::query("SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint")
            .bind(physical.sql())
            .fetch_one(&mut *self.exporter.lock().await)
            .await
            .map_err(|e| driver(PLAN, e))?;
        let blocks: i64 = row.try_get(0).map_err(|e| driver(PLAN, e))?;
        Ok(split(blocks, i64::try_from(parts).unwrap_or(i64::MAX)))
    }

    async fn scan(&self, table: &TableInfo, range: &ScanRange, sink: &BlockSink) -> Result<u64> {
        let source = self.source(&table.key())?;
        let _permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let mut session = self.worker(source).await?;
        let statement = match source {
            Source::Table(physical) => scan_sql::of_table(physical, range, heap_of(&mut session, physical).await?),
            Source::LegacyBackup { backup_arn } => scan_sql::of_legacy_backup(backup_arn),
        };
        match copy(&mut session, &statement, sink).await? {
            Scanned::Whole(items) => {
                begin(&mut session, "COMMIT").await?;
                self.idle.lock().await.push(session);
                Ok(items)
            }
            Scanned::Stopped(items) => {
                // A COPY that is not read to its end makes a session useless: every answer would belong to the
                // question before.
                let _ = session.close_hard().await;
                Ok(items)
            }
        }
    }

    async fn close(self: Box<Self>) -> Result<()> {
        const OPERATION: &str = "close the snapshot";
        let this = *self;
        for session in this.idle.into_inner() {
            session.close().await.map_err(|e| driver(OPERATION, e))?;
        }
        let mut exporter = this.exporter.into_inner();
        exporter.execute("COMMIT").await.map_err(|e| {
            let lost = driver(OPERATION, e);
            Error::new(
                ErrorKind::Unavailable,
                OPERATION,
                format!(
                    "the session that held the snapshot was lost, what was read cannot be trusted: {}",
                    lost.message()
                ),
            )
            .temporary()
        })?;
        exporter.close().await.map_err(|e| driver(OPERATION, e))
    }
}

/// Splits blocks into ranges that cover a table; the last one is open, for rows may lie behind the size read.
pub fn split(blocks: i64, parts: i64) -> Vec<ScanRange> {
    let parts = parts.min(blocks / MIN_RANGE_BLOCKS).max(1);
    let starts: Vec<i64> = (0..parts).map(|i| blocks / parts * i + (blocks % parts) * i / parts).collect();
    let mut ranges = Vec::with_capacity(starts.len());
    for (i, &from) in starts.iter().enumerate() {
        ranges.push(ScanRange { from, to: starts.get(i + 1).map_or(i64::MAX, |next| next - 1) });
    }
    ranges
}

/// How a COPY ended.
enum Scanned {
    /// All of it was read.
    Whole(u64),
    /// The other side went away.
    Stopped(u64),
}

/// How the table lies on the disk.
async fn heap_of(session: &mut PgConnection, physical: &Physical) -> Result<Heap> {
    let row = sqlx::query(
        "SELECT pg_relation_size(oid) / current_setting('block_size')::bigint, \
         coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) > 0, current_setting('server_version_num')::int \
         FROM pg_class WHERE oid = $1::regclass",
    )
    .bind(physical.sql())
    .fetch_one(session)
    .await
    .map_err(|e| driver(SCAN, e))?;
    let read = || -> Result<Heap, sqlx::Error> {
        let version: i32 = row.try_get(2)?;
        Ok(Heap { blocks: row.try_get(0)?, has_toast: row.try_get(1)?, has_tid_range: version >= TID_RANGE_VERSION })
    };
    read().map_err(|e| driver(SCAN, e))
}

/// Runs a COPY of one text column into blocks.
async fn copy(session: &mut PgConnection, statement: &str, sink: &BlockSink) -> Result<Scanned> {
    let mut stream = session.copy_out_raw(statement).await.map_err(|e| driver(SCAN, e))?;
    let mut reader = FieldReader::default();
    let mut items = 0u64;
    let Ok(mut block) = sink.take().await else { return Ok(Scanned::Stopped(items)) };
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|e| driver(SCAN, e))?;
        reader.feed(&chunk, |field| {
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', field).chain([field.len()]) {
                block.push(&field[start..end]);
                items += 1;
                start = end + 1;
            }
        })?;
        if block.bytes.len() >= BLOCK_TARGET_BYTES {
            let next = async {
                sink.send(std::mem::take(&mut block)).await.ok()?;
                sink.take().await.ok()
            };
            match next.await {
                Some(empty) => block = empty,
                None => return Ok(Scanned::Stopped(items)),
            }
        }
    }
    reader.finish()?;
    drop(stream);
    send_last(block, sink, items).await
}

async fn send_last(block: RawBlock, sink: &BlockSink, items: u64) -> Result<Scanned> {
    match sink.send(block).await {
        Ok(()) => Ok(Scanned::Whole(items)),
        Err(_) => Ok(Scanned::Stopped(items)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_every_block_once_and_the_last_is_open() {
        for (blocks, parts) in [(0, 4), (255, 8), (1024, 4), (10_007, 3), (100_000, 64)] {
            let ranges = split(blocks, parts);
            assert!(ranges.len() <= usize::try_from(parts).unwrap());
            assert_eq!(ranges[0].from, 0);
            assert_eq!(ranges.last().unwrap().to, i64::MAX);
            for pair in ranges.windows(2) {
                assert_eq!(pair[0].to + 1, pair[1].from);
                assert!(pair[0].from <= pair[0].to);
            }
        }
        assert_eq!(split(100, 8).len(), 1);
    }
}
