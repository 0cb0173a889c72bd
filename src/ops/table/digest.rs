//! The digest of a live table: every item of one snapshot, in any order, in bounded memory.
//!
//! Scans put blocks of raw items into a bounded channel, worker threads parse, canonise and hash them; the
//! digest is a sum, so that the order does not matter. Source: backup format, section 12.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use tokio::task::JoinSet;

use crate::backend::Backend;
use crate::backend::snapshot::{BlockSource, SnapshotOptions, block_channel};
use crate::domain::digest::TableDigest;
use crate::domain::item::{ControlChars, ItemParser};
use crate::domain::table::TableKey;
use crate::ops::observer::Observer;
use crate::ops::{Error, Result};

/// Ranges planned for each scan, so that the scans end at about the same time.
const RANGES_PER_SCAN: usize = 4;

/// Report of [`digest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DigestReport {
    /// Name.
    pub table: String,
    /// Account.
    pub account_id: String,
    /// Items counted.
    pub item_count: u64,
    /// The digest.
    pub digest: TableDigest,
}

enum Ended {
    Scan(u64),
    Worker(TableDigest),
}

/// Reads every item of a table and digests it with at most `workers` threads and connections.
///
/// # Errors
/// `Busy` for a table that is not ACTIVE; `Failed` naming an item that is none; database errors.
pub async fn digest(
    backend: &dyn Backend,
    table: &TableKey,
    workers: NonZeroUsize,
    observer: Arc<dyn Observer>,
) -> Result<DigestReport> {
    let scans = if backend.capabilities().parallel_scan { workers.get() } else { 1 };
    let options = SnapshotOptions { connections: scans, hold_rows: false };
    let snapshot = Arc::new(backend.open_snapshot(std::slice::from_ref(table), &options).await?);
    let info = snapshot.tables().first().cloned().ok_or_else(|| {
        Error::NotFound(format!("table {}/{} is not in the snapshot", table.account_id, table.table_name))
    })?;
    observer.phase("digest", u64::try_from(info.definition.item_count).ok().filter(|count| *count > 0));
    let parts = if scans > 1 { scans * RANGES_PER_SCAN } else { 1 };
    let ranges = Arc::new(snapshot.plan(&info, parts).await?);
    let next = Arc::new(AtomicUsize::new(0));
    let (sink, source) = block_channel(2 * workers.get() + 2);
    let mut tasks: JoinSet<Result<Ended>> = JoinSet::new();
    for _ in 0..scans.min(ranges.len()) {
        let (snapshot, info, ranges, next, sink) =
            (snapshot.clone(), info.clone(), ranges.clone(), next.clone(), sink.clone());
        tasks.spawn(async move {
            let mut items = 0;
            while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
                items += snapshot.scan(&info, range, &sink).await?;
            }
            Ok(Ended::Scan(items))
        });
    }
    for _ in 0..workers.get() {
        let (source, observer, encoding) = (source.clone(), observer.clone(), snapshot.encoding());
        let name = info.definition.table_name.clone();
        tasks.spawn_blocking(move || digest_blocks(&source, encoding, &name, &*observer).map(Ended::Worker));
    }
    // Without these ends the workers see when the scans are done, and the scans when the workers are gone.
    drop((sink, source));
    let (mut scanned, mut digest) = (0, TableDigest::default());
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(Ok(Ended::Scan(items))) => scanned += items,
            Ok(Ok(Ended::Worker(part))) => digest.merge(&part),
            // Dropping the set stops the rest: scans are aborted, and workers see the end of the channel.
            Ok(Err(error)) => return Err(error),
            Err(join) => std::panic::resume_unwind(join.into_panic()),
        }
    }
    if scanned != digest.count {
        let found = digest.count;
        return Err(Error::Failed(format!("{scanned} items were read and {found} digested: the result is void")));
    }
    if let Some(snapshot) = Arc::into_inner(snapshot) {
        snapshot.close().await?;
    }
    Ok(DigestReport {
        table: info.definition.table_name,
        account_id: info.account_id,
        item_count: digest.count,
        digest,
    })
}

fn digest_blocks(
    source: &BlockSource,
    encoding: ControlChars,
    table: &str,
    observer: &dyn Observer,
) -> Result<TableDigest> {
    let mut parser = ItemParser::new();
    let mut digest = TableDigest::default();
    while let Some(block) = source.next_blocking() {
        for text in block.texts() {
            let item = parser.parse(text, encoding).map_err(|e| {
                let start = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)]).into_owned();
                Error::Failed(format!("table {table} holds a row that is no item: {e}; it begins with {start}"))
            })?;
            digest.add(item.canonical());
        }
        let items = u64::try_from(block.ends.len()).unwrap_or(u64::MAX);
        observer.advance(items, u64::try_from(block.bytes.len()).unwrap_or(u64::MAX));
        source.recycle(block);
    }
    Ok(digest)
}

/// Bytes of a bad item that its error shows.
const SHOWN_BYTES: usize = 120;
