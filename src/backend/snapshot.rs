//! Role: a consistent read of tables, in blocks of raw item texts.
//!
//! A snapshot is opened over a set of tables, planned into ranges, and each range is scanned
//! into a [`BlockSink`]. Raw texts are what the backend stores; recoding is the archive's work.
//! Blocks are recycled through the sink, so memory is bounded by the number of blocks.

use super::error::{Error, Result};
use crate::domain::item::ControlChars;
use crate::domain::table::{TableInfo, TableKey};

/// How to open a snapshot.
#[derive(Debug, Clone)]
pub struct SnapshotOptions {
    /// Most connections the snapshot may use at once, the coordinating one not counted.
    pub connections: usize,
    /// Hold or check the catalog rows so that no table changes between catalog and items.
    pub hold_rows: bool,
}

/// What kind of instant it is, as the commit record names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// `postgres_repeatable_read`, `sqlite_wal_read_txn`, …
    pub kind: &'static str,
    /// Mark of the instant; may be empty.
    pub marker: String,
}

/// A part of one table, opaque to all but the snapshot that planned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanRange {
    /// First position, inclusive, in the backend's own terms.
    pub from: i64,
    /// Last position, inclusive.
    pub to: i64,
}

/// A block of raw item texts laid end to end.
#[derive(Debug, Default)]
pub struct RawBlock {
    /// The texts.
    pub bytes: Vec<u8>,
    /// End of each text in `bytes`.
    pub ends: Vec<u32>,
}

impl RawBlock {
    /// Empties the block, keeping its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends one text.
    ///
    /// # Panics
    /// Never for blocks kept under 4 GiB, which [`BLOCK_TARGET_BYTES`] sees to.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(u32::try_from(self.bytes.len()).expect("blocks stay far below 4 GiB"));
    }

    /// The texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0usize;
        self.ends.iter().map(move |&end| {
            let text = &self.bytes[start..end as usize];
            start = end as usize;
            text
        })
    }
}

/// A scan hands a block over once it holds at least this many bytes.
pub const BLOCK_TARGET_BYTES: usize = 1 << 20;

/// Where a scan puts its blocks. Clone it for each parallel scan.
#[derive(Debug, Clone)]
pub struct BlockSink {
    full: async_channel::Sender<RawBlock>,
    empty: async_channel::Receiver<RawBlock>,
}

/// Where the blocks come out. Clone it for each worker.
#[derive(Debug, Clone)]
pub struct BlockSource {
    full: async_channel::Receiver<RawBlock>,
    empty: async_channel::Sender<RawBlock>,
}

/// The other side went away: the run is ending, the scan should stop quietly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// A pool of `blocks` blocks travelling between scans and workers.
#[must_use]
pub fn block_channel(blocks: usize) -> (BlockSink, BlockSource) {
    let (full_tx, full_rx) = async_channel::bounded(blocks);
    let (empty_tx, empty_rx) = async_channel::bounded(blocks);
    for _ in 0..blocks {
        // Cannot fail: the channel has room for exactly these.
        let _ = empty_tx.try_send(RawBlock::default());
    }
    (BlockSink { full: full_tx, empty: empty_rx }, BlockSource { full: full_rx, empty: empty_tx })
}

impl BlockSink {
    /// An empty block, waiting for one to come back.
    ///
    /// # Errors
    /// [`Stopped`] when the workers are gone.
    pub async fn take(&self) -> Result<RawBlock, Stopped> {
        self.empty.recv().await.map_err(|_| Stopped)
    }

    /// Hands a block over.
    ///
    /// # Errors
    /// [`Stopped`] when the workers are gone.
    pub async fn send(&self, block: RawBlock) -> Result<(), Stopped> {
        self.full.send(block).await.map_err(|_| Stopped)
    }

    /// [`BlockSink::take`] for a thread of its own.
    ///
    /// # Errors
    /// [`Stopped`] when the workers are gone.
    pub fn take_blocking(&self) -> Result<RawBlock, Stopped> {
        self.empty.recv_blocking().map_err(|_| Stopped)
    }

    /// [`BlockSink::send`] for a thread of its own.
    ///
    /// # Errors
    /// [`Stopped`] when the workers are gone.
    pub fn send_blocking(&self, block: RawBlock) -> Result<(), Stopped> {
        self.full.send_blocking(block).map_err(|_| Stopped)
    }
}

impl BlockSource {
    /// The next block, or `None` when every sink is gone and all is read. For a thread of its own.
    #[must_use]
    pub fn next_blocking(&self) -> Option<RawBlock> {
        self.full.recv_blocking().ok()
    }

    /// Gives a block back to the scans.
    pub fn recycle(&self, mut block: RawBlock) {
        block.clear();
        // The scans may be gone already, which is no concern of the worker's.
        let _ = self.empty.try_send(block);
    }
}

/// An open snapshot.
#[async_trait::async_trait]
pub trait Snapshot: Send + Sync {
    /// What kind of instant it is.
    fn info(&self) -> &SnapshotInfo;

    /// The tables as the catalog describes them at that instant, in the order asked for.
    fn tables(&self) -> &[TableInfo];

    /// How strings are held in the items.
    fn encoding(&self) -> ControlChars;

    /// Splits a table into at most `parts` ranges that cover it.
    ///
    /// # Errors
    /// Database errors.
    async fn plan(&self, table: &TableInfo, parts: usize) -> Result<Vec<ScanRange>>;

    /// Scans one range into the sink, in no particular order. Returns the number of items.
    /// May be called from several tasks at once where the backend scans in parallel.
    /// Ends quietly when the sink's other side is gone.
    ///
    /// # Errors
    /// Database errors.
    async fn scan(&self, table: &TableInfo, range: &ScanRange, sink: &BlockSink) -> Result<u64>;

    /// Ends the snapshot and gives its connections back.
    ///
    /// # Errors
    /// When the snapshot's own session was lost on the way, so that what was read cannot be trusted.
    async fn close(self: Box<Self>) -> Result<()>;
}

/// Opens snapshots.
#[async_trait::async_trait]
pub trait Snapshots: Send + Sync {
    /// Splits tables into groups that one snapshot each can cover, keeping their order.
    /// (PostgreSQL: by the lock table's size; elsewhere one group.)
    ///
    /// # Errors
    /// Database errors.
    async fn snapshot_groups(&self, tables: &[TableKey]) -> Result<Vec<Vec<TableKey>>> {
        Ok(vec![tables.to_vec()])
    }

    /// Opens one snapshot over tables that must be `ACTIVE`.
    ///
    /// # Errors
    /// `NotFound`; `Busy` when a table is not `ACTIVE`; `CatalogRefused` for data half way through an
    /// escape migration.
    async fn open_snapshot(&self, tables: &[TableKey], options: &SnapshotOptions) -> Result<Box<dyn Snapshot>> {
        let _ = (tables, options);
        Err(Error::unsupported("open a snapshot"))
    }

    /// Opens a snapshot of an in-catalog backup, shown as one table.
    ///
    /// # Errors
    /// `NotFound` when it is not there or a tombstone.
    async fn open_legacy_backup(&self, backup_arn: &str) -> Result<Box<dyn Snapshot>> {
        let _ = backup_arn;
        Err(Error::unsupported("read an in-catalog backup"))
    }
}
