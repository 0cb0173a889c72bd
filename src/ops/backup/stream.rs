//! Reads tables out of one snapshot into data files.
//!
//! A lane is a scan task and a worker thread: the scan takes the next range of its table, the worker recodes,
//! digests, compresses and writes what comes out. A table begins with one lane and gets more once it turns out to
//! be larger than a few blocks, so many small tables run side by side and a large one takes what is left.
//! Never more than `workers` lanes in all, and no more scans at once than the backend can run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::rate::RateLimit;
use crate::archive;
use crate::archive::writer::{BackupWriter, DataFileWriter, Written};
use crate::backend::snapshot::{BlockSink, BlockSource, ScanRange, Snapshot, block_channel};
use crate::domain::item::{AttrType, ControlChars, Item, ItemParser};
use crate::domain::key::KeySpec;
use crate::domain::table::{ScalarType, TableInfo};
use crate::ops::error::{Error, Result};
use crate::ops::heart::Counters;
use crate::ops::settings::Run;

/// A table gets another lane when its first ones have worked through this many blocks.
const BLOCKS_BEFORE_GROWTH: usize = 4;
/// Ranges asked for each lane, so that lanes end at about the same time.
const RANGES_PER_LANE: usize = 4;

/// What all tables of one snapshot share.
pub struct Lanes {
    run: Run,
    snapshot: Arc<Box<dyn Snapshot>>,
    counters: Arc<Counters>,
    rate: Option<Arc<RateLimit>>,
    workers: Arc<Semaphore>,
    scans: Arc<Semaphore>,
}

/// One table on its way through.
struct Flow {
    table: TableInfo,
    ranges: Vec<ScanRange>,
    next_range: AtomicUsize,
    blocks_done: AtomicUsize,
    grow: Notify,
    /// A lane failed: the others need not go on.
    broken: AtomicBool,
}

impl Lanes {
    /// Lanes over an open snapshot.
    #[must_use]
    pub fn new(
        run: &Run,
        snapshot: Arc<Box<dyn Snapshot>>,
        counters: Arc<Counters>,
        rate: Option<Arc<RateLimit>>,
    ) -> Self {
        let workers = run.workers.get();
        let scans = if run.backend.capabilities().parallel_scan { workers } else { 1 };
        Self {
            run: run.clone(),
            snapshot,
            counters,
            rate,
            workers: Arc::new(Semaphore::new(workers)),
            scans: Arc::new(Semaphore::new(scans)),
        }
    }

    /// Waits for the first lane of the next table: call this for one table after the other, then run each
    /// in a task of its own.
    pub async fn admit(&self) -> Lane {
        let scan = Arc::clone(&self.scans).acquire_owned().await.expect("never closed");
        let worker = Arc::clone(&self.workers).acquire_owned().await.expect("never closed");
        Lane { scan: Some(scan), worker }
    }

    /// Streams one table. The writer has all its data files when this answers.
    ///
    /// # Errors
    /// The first error of any lane; then nothing of this table runs any more.
    pub async fn stream(&self, table: TableInfo, writer: &BackupWriter, first: Lane) -> Result<Written> {
        let lanes = self.run.workers.get();
        let parallel = self.run.backend.capabilities().parallel_scan;
        let parts = if parallel { lanes * RANGES_PER_LANE } else { 1 };
        let ranges = self.run.cancel.guard(self.snapshot.plan(&table, parts)).await?;
        let flow = Arc::new(Flow {
            table,
            ranges,
            next_range: AtomicUsize::new(0),
            blocks_done: AtomicUsize::new(0),
            grow: Notify::new(),
            broken: AtomicBool::new(false),
        });
        let (sink, source) = block_channel(2 * lanes + 2);
        let mut tasks = JoinSet::new();
        let mut total = Written::default();
        let mut failure = None;
        self.start(&mut tasks, &flow, first, sink.clone(), source.clone(), writer.data_file_writer());
        let mut started = 1;
        // The spare ends of the channel are for further lanes; without them the lanes would never see the end.
        let mut spare = Some((sink, source));
        loop {
            let may_grow = started < lanes && failure.is_none() && spare.is_some();
            tokio::select! {
                biased;
                ended = tasks.join_next() => {
                    match ended {
                        None => break,
                        // A scan ends when no range is left to take: further lanes would find nothing to scan.
                        Some(Ok(Ok(Ended::Scan))) => spare = None,
                        Some(Ok(Ok(Ended::Worker(written)))) => {
                            total.items += written.items;
                            total.line_bytes += written.line_bytes;
                            total.stored_bytes += written.stored_bytes;
                        }
                        Some(Ok(Err(error))) => {
                            flow.broken.store(true, Ordering::Relaxed);
                            spare = None;
                            failure.get_or_insert(error);
                        }
                        Some(Err(join)) => std::panic::resume_unwind(join.into_panic()),
                    }
                }
                lane = self.next_lane(&flow, parallel), if may_grow => {
                    if let Some((sink, source)) = &spare {
                        self.start(&mut tasks, &flow, lane, sink.clone(), source.clone(), writer.data_file_writer());
                        started += 1;
                    }
                }
                stop = self.run.cancel.stopped(), if failure.is_none() => {
                    flow.broken.store(true, Ordering::Relaxed);
                    spare = None;
                    failure = Some(stop.into());
                }
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(total),
        }
    }

    /// Waits until the table deserves another lane and there is room for one.
    async fn next_lane(&self, flow: &Flow, parallel: bool) -> Lane {
        while flow.blocks_done.load(Ordering::Relaxed) < BLOCKS_BEFORE_GROWTH {
            flow.grow.notified().await;
        }
        let worker = Arc::clone(&self.workers).acquire_owned().await.expect("never closed");
        let scan = if parallel { Arc::clone(&self.scans).try_acquire_owned().ok() } else { None };
        Lane { scan, worker }
    }

    fn start(
        &self,
        tasks: &mut JoinSet<Result<Ended>>,
        flow: &Arc<Flow>,
        lane: Lane,
        sink: BlockSink,
        source: BlockSource,
        writer: DataFileWriter,
    ) {
        let Lane { scan, worker } = lane;
        if let Some(permit) = scan {
            let (snapshot, flow) = (Arc::clone(&self.snapshot), Arc::clone(flow));
            tasks.spawn(async move { scan_ranges(&**snapshot, &flow, sink, permit).await });
        }
        let work = Work {
            flow: Arc::clone(flow),
            run: self.run.clone(),
            counters: Arc::clone(&self.counters),
            rate: self.rate.clone(),
            encoding: self.snapshot.encoding(),
        };
        tasks.spawn_blocking(move || {
            let result = work.run(&source, writer);
            drop(worker);
            result
        });
    }
}

/// Room for one lane. Without a scan it only helps to work off the blocks of the others.
pub struct Lane {
    scan: Option<OwnedSemaphorePermit>,
    worker: OwnedSemaphorePermit,
}

enum Ended {
    Scan,
    Worker(Written),
}

async fn scan_ranges(
    snapshot: &dyn Snapshot,
    flow: &Flow,
    sink: BlockSink,
    permit: OwnedSemaphorePermit,
) -> Result<Ended> {
    while let Some(range) = flow.ranges.get(flow.next_range.fetch_add(1, Ordering::Relaxed)) {
        if flow.broken.load(Ordering::Relaxed) {
            break;
        }
        snapshot.scan(&flow.table, range, &sink).await?;
    }
    drop(permit);
    Ok(Ended::Scan)
}

/// The work of one lane's thread.
struct Work {
    flow: Arc<Flow>,
    run: Run,
    counters: Arc<Counters>,
    rate: Option<Arc<RateLimit>>,
    encoding: ControlChars,
}

impl Work {
    fn run(&self, source: &BlockSource, mut writer: DataFileWriter) -> Result<Ended> {
        let definition = &self.flow.table.definition;
        let key = KeySpec::new(&definition.key_schema, &definition.attribute_definitions)
            .map_err(|e| Error::Failed(format!("table {}: {e}", definition.table_name)))?;
        let mut parser = ItemParser::new();
        while let Some(block) = source.next_blocking() {
            self.run.cancel.check()?;
            if self.flow.broken.load(Ordering::Relaxed) {
                return Ok(Ended::Worker(Written::default()));
            }
            if let Some(rate) = &self.rate {
                rate.pass(block.bytes.len(), || self.run.cancel.is_stopped());
            }
            for text in block.texts() {
                let item = parser.parse(text, self.encoding).map_err(|e| self.bad_item(text, &e.to_string()))?;
                check_key(&item, &key).map_err(|e| self.bad_item(text, &e))?;
                writer.push(&item).map_err(|e| match e {
                    archive::Error::Item(e) => self.bad_item(text, &e.to_string()),
                    other => other.into(),
                })?;
            }
            let items = u64::try_from(block.ends.len()).unwrap_or(u64::MAX);
            let bytes = u64::try_from(block.bytes.len()).unwrap_or(u64::MAX);
            self.counters.advance(items, bytes);
            self.run.observer.advance(items, bytes);
            source.recycle(block);
            self.flow.blocks_done.fetch_add(1, Ordering::Relaxed);
            self.flow.grow.notify_one();
        }
        Ok(Ended::Worker(writer.finish()?))
    }

    /// Names an item that the source holds and no backup may hold.
    fn bad_item(&self, text: &[u8], why: &str) -> Error {
        const SHOWN: usize = 120;
        let start = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]);
        Error::Failed(format!(
            "table {} holds an item that cannot be backed up: {why}; it begins with {start}",
            self.flow.table.definition.table_name
        ))
    }
}

/// The cheap half of the key rules: the key attributes are there with their types.
fn check_key(item: &Item<'_>, key: &KeySpec) -> std::result::Result<(), String> {
    for attribute in key.hash.iter().chain(&key.range) {
        let Some(value) = item.attr(&attribute.name) else {
            return Err(format!("key attribute {:?} is missing", attribute.name));
        };
        let matches = matches!(
            (value.ty, attribute.ty),
            (AttrType::S, ScalarType::S) | (AttrType::N, ScalarType::N) | (AttrType::B, ScalarType::B)
        );
        if !matches {
            return Err(format!("key attribute {:?} is not of type {}", attribute.name, attribute.ty.tag()));
        }
    }
    Ok(())
}
