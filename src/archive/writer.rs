//! Writes a backup: data files from worker threads, then the manifests, the commit record last.
//!
//! Each worker owns a [`DataFileWriter`]: lines gather in a block, a full block becomes one gzip member, and
//! its bytes are hashed while they are hot. A file that is full is made durable in the background while the
//! worker fills the next one. Source: backup format, sections 1, 6 and 8.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use bytes::Bytes;
use libdeflater::{CompressionLvl, Compressor};
use md5::Md5;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::data_file::MAX_LINE_BYTES;
use super::error::{Error, Result};
use super::layout::{BackupPrefix, COMMIT_RECORD, FILES_MANIFEST, SUMMARY, data_file_key};
use crate::domain::arn::BackupArn;
use crate::domain::digest::TableDigest;
use crate::domain::export::{FileLine, StorePlace, Summary, files_to_bytes};
use crate::domain::item::{Item, ItemError};
use crate::domain::manifest::{self, DataFile, FORMAT_VERSION, Manifest, SnapshotMeta};
use crate::domain::table::SourceTable;
use crate::domain::timestamp::TimestampMs;
use crate::store::{self, Created, Key, ObjectWriter, Store};

/// Level of libdeflate: the lowest that compresses. Level 0, the library's "fastest", stores the bytes as they are;
/// higher levels gain 2 % of size for twice the time.
const COMPRESSION_LEVEL: i32 = 1;
/// Default size of a data file, in bytes of uncompressed lines.
pub const DEFAULT_TARGET_BYTES: u64 = 64 << 20;
/// Smallest size that may be asked for; a single line never exceeds it.
pub const MIN_TARGET_BYTES: u64 = 32 << 20;

/// A block is compressed once it holds this much.
const BLOCK_BYTES: usize = 1 << 20;

const LINE_START: &[u8] = b"{\"Item\":";
const LINE_END: &[u8] = b"}\n";

/// A backup being written. Workers get a [`DataFileWriter`] each.
pub struct BackupWriter {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    prefix: BackupPrefix,
    target_bytes: u64,
    runtime: Handle,
    files_begun: AtomicU32,
    /// A worker went away without finishing: its items are missing.
    abandoned: AtomicBool,
    done: Mutex<Done>,
}

#[derive(Default)]
struct Done {
    files: Vec<DoneFile>,
    digest: TableDigest,
    /// Files that are being made durable for workers that went away.
    orphans: Vec<JoinHandle<store::Result<()>>>,
}

struct DoneFile {
    number: u32,
    items: u64,
    bytes: u64,
    sha256: String,
    md5: [u8; 16],
}

/// What the commit record says beside the data files.
#[derive(Debug, Clone)]
pub struct BackupMeta {
    /// ARN of the backup; must name the writer's prefix.
    pub arn: BackupArn,
    /// Name given by the operator.
    pub name: String,
    /// When it was begun.
    pub created: TimestampMs,
    /// When the last data file was written.
    pub ended: TimestampMs,
    /// Backend the items come from.
    pub source_backend: String,
    /// How they were read.
    pub snapshot: SnapshotMeta,
    /// The table.
    pub source_table: SourceTable,
}

/// Answer of [`BackupWriter::seal`].
#[derive(Debug)]
pub enum SealOutcome {
    /// The commit record is there and is ours.
    Committed {
        /// The record as stored.
        manifest: Box<Manifest>,
        /// Digest of all items.
        digest: TableDigest,
    },
    /// Another writer committed this prefix first: it must not be touched.
    Exists,
}

impl Shared {
    fn done(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl BackupWriter {
    /// A writer for an empty prefix. Nothing is written yet. `target_bytes` is the most bytes of lines in a
    /// data file, at least [`MIN_TARGET_BYTES`]. Call it inside a tokio runtime: the workers' threads
    /// reach the store through that runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, prefix: BackupPrefix, target_bytes: u64) -> Self {
        let shared = Shared {
            store,
            prefix,
            target_bytes: target_bytes.max(MIN_TARGET_BYTES),
            runtime: Handle::current(),
            files_begun: AtomicU32::new(0),
            abandoned: AtomicBool::new(false),
            done: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A writer of data files for one worker thread (not for a task of the runtime: it blocks).
    #[must_use]
    pub fn data_file_writer(&self) -> DataFileWriter {
        DataFileWriter {
            shared: Arc::clone(&self.shared),
            compressor: Compressor::new(CompressionLvl::new(COMPRESSION_LEVEL).expect("libdeflate has levels 0 to 12")),
            block: Vec::new(),
            block_items: 0,
            packed: Vec::new(),
            open: None,
            finishing: None,
            digest: TableDigest::default(),
            written: Written::default(),
            finished: false,
        }
    }

    /// Writes the two export manifests, waits for `before_commit` (renew the heartbeat there), and
    /// creates the commit record. All data file writers must have finished. `E` is the caller's error.
    ///
    /// # Errors
    /// Store errors, after which the commit record may or may not be there: read it back; the error of
    /// `before_commit`, after which it is not; [`Error::Unfinished`] when a worker went away without finishing.
    pub async fn seal<E: From<Error>>(
        self,
        meta: BackupMeta,
        before_commit: impl Future<Output = Result<(), E>> + Send,
    ) -> Result<SealOutcome, E> {
        let Self { shared } = self;
        if shared.abandoned.load(Ordering::Acquire) {
            return Err(Error::Unfinished.into());
        }
        let Done { mut files, digest, .. } = std::mem::take(&mut *shared.done());
        files.sort_unstable_by_key(|f| f.number);
        let (bucket, prefix) = shared.store.bucket_and_prefix();
        let place = StorePlace { bucket, prefix };
        let mut record = commit_record(&meta, &files);
        let lines: Vec<FileLine> = files.iter().map(|f| file_line(f, &shared.prefix, &place)).collect();
        let summary = Summary::of(&record, meta.created, meta.ended, &place);
        let body = record.seal();
        let put = async |name, bytes: Vec<u8>| {
            put_object(&*shared.store, &shared.prefix.object(name), bytes).await.map_err(Error::from)
        };
        put(FILES_MANIFEST, files_to_bytes(&lines)).await?;
        put(SUMMARY, summary.to_bytes()).await?;
        before_commit.await?;
        let key = shared.prefix.object(COMMIT_RECORD);
        match shared.store.create(&key, Bytes::from(body)).await.map_err(Error::from)? {
            Created::Yes => Ok(SealOutcome::Committed { manifest: Box::new(record), digest }),
            Created::Exists => Ok(SealOutcome::Exists),
        }
    }

    /// Removes everything under the prefix. Only before [`BackupWriter::seal`] came to the commit record, and
    /// once no worker writes any more.
    ///
    /// # Errors
    /// Store errors.
    pub async fn abort(self) -> Result<u64> {
        let orphans = std::mem::take(&mut self.shared.done().orphans);
        for orphan in orphans {
            // Its outcome is of no interest; that it has ended is.
            let _ = orphan.await;
        }
        Ok(self.shared.store.delete_prefix(self.shared.prefix.key()).await?)
    }
}

fn commit_record(meta: &BackupMeta, files: &[DoneFile]) -> Manifest {
    let total: u64 = files.iter().map(|f| f.bytes).sum();
    let data_files = files.iter().map(|f| DataFile {
        key: data_file_key(f.number),
        item_count: f.items,
        sha256: f.sha256.clone(),
        bytes: f.bytes,
    });
    Manifest {
        format_version: FORMAT_VERSION,
        backup_arn: meta.arn.to_string(),
        backup_name: meta.name.clone(),
        backup_creation_date_time: meta.created.epoch_seconds(),
        backup_size_bytes: i64::try_from(total).unwrap_or(i64::MAX),
        source_backend: meta.source_backend.clone(),
        source_extenddb_version: concat!("extenddb-admin ", env!("CARGO_PKG_VERSION")).to_owned(),
        snapshot: meta.snapshot.clone(),
        source_table: meta.source_table.clone(),
        data_files: data_files.collect(),
        manifest_sha256: String::new(),
    }
}

fn file_line(file: &DoneFile, prefix: &BackupPrefix, place: &StorePlace) -> FileLine {
    FileLine {
        item_count: file.items,
        md5_checksum: base64::engine::general_purpose::STANDARD.encode(file.md5),
        etag: manifest::hex(&file.md5),
        data_file_s3_key: place.full_key(&format!("{prefix}/{}", data_file_key(file.number))),
    }
}

async fn put_object(store: &dyn Store, key: &Key, body: Vec<u8>) -> store::Result<()> {
    let mut writer = store.put(key).await?;
    match writer.write(Bytes::from(body)).await {
        Ok(()) => writer.finish().await,
        Err(e) => {
            // The first error is the one to tell.
            let _ = writer.abort().await;
            Err(e)
        }
    }
}

/// Writes data files of one worker: lines into blocks, blocks into gzip members, members into the store.
/// Dropping it without [`DataFileWriter::finish`] leaves the open file unwritten, and the backup cannot be sealed.
pub struct DataFileWriter {
    shared: Arc<Shared>,
    compressor: Compressor,
    block: Vec<u8>,
    block_items: u64,
    packed: Vec<u8>,
    open: Option<OpenFile>,
    finishing: Option<JoinHandle<store::Result<()>>>,
    digest: TableDigest,
    written: Written,
    finished: bool,
}

struct OpenFile {
    number: u32,
    object: Box<dyn ObjectWriter>,
    line_bytes: u64,
    items: u64,
    bytes: u64,
    sha256: Sha256,
    md5: Md5,
}

/// What one worker wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Items.
    pub items: u64,
    /// Bytes of lines.
    pub line_bytes: u64,
    /// Compressed bytes, as far as they went to the store.
    pub stored_bytes: u64,
}

impl DataFileWriter {
    /// Adds an item. Blocks while a block is compressed and stored.
    ///
    /// # Errors
    /// Store errors; an item whose line is longer than a reader accepts (4 MiB).
    pub fn push(&mut self, item: &Item<'_>) -> Result<()> {
        let canonical = item.canonical();
        let line_len = LINE_START.len() + canonical.len() + LINE_END.len();
        if line_len > MAX_LINE_BYTES {
            let what = format!("its line has {line_len} bytes, more than {MAX_LINE_BYTES}");
            return Err(Error::Item(ItemError::Invalid(what)));
        }
        let in_file = self.open.as_ref().map_or(0, |file| file.line_bytes) + as_u64(self.block.len());
        if in_file + as_u64(line_len) > self.shared.target_bytes {
            self.close_file()?;
        }
        self.block.extend_from_slice(LINE_START);
        self.block.extend_from_slice(canonical);
        self.block.extend_from_slice(LINE_END);
        self.digest.add(canonical);
        self.block_items += 1;
        self.written.items += 1;
        self.written.line_bytes += as_u64(line_len);
        if self.block.len() >= BLOCK_BYTES {
            self.flush_block()?;
        }
        Ok(())
    }

    /// What was written so far.
    #[must_use]
    pub fn written(&self) -> Written {
        self.written
    }

    /// Finishes the open file, makes all files durable and hands them to the [`BackupWriter`].
    ///
    /// # Errors
    /// Store errors.
    pub fn finish(mut self) -> Result<Written> {
        self.close_file()?;
        self.await_finishing()?;
        self.shared.done().digest.merge(&self.digest);
        self.finished = true;
        Ok(self.written)
    }

    /// Compresses the block into a gzip member of the open file.
    fn flush_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let bound = self.compressor.gzip_compress_bound(self.block.len());
        if self.packed.len() < bound {
            self.packed.resize(bound, 0);
        }
        let len =
            self.compressor.gzip_compress(&self.block, &mut self.packed).expect("the buffer holds the worst case");
        let member = &self.packed[..len];
        if self.open.is_none() {
            self.open = Some(self.open_file()?);
        }
        let file = self.open.as_mut().expect("just opened");
        file.sha256.update(member);
        file.md5.update(member);
        file.bytes += as_u64(len);
        file.line_bytes += as_u64(self.block.len());
        file.items += self.block_items;
        self.written.stored_bytes += as_u64(len);
        self.block.clear();
        self.block_items = 0;
        Ok(self.shared.runtime.block_on(file.object.write(Bytes::copy_from_slice(member)))?)
    }

    fn open_file(&self) -> Result<OpenFile> {
        let number = self.shared.files_begun.fetch_add(1, Ordering::Relaxed) + 1;
        let key = self.shared.prefix.data_file(&data_file_key(number)).expect("room for the name of a data file");
        let object = self.shared.runtime.block_on(self.shared.store.put(&key))?;
        Ok(OpenFile { number, object, line_bytes: 0, items: 0, bytes: 0, sha256: Sha256::new(), md5: Md5::new() })
    }

    /// Ends the open file; it becomes durable in the background.
    fn close_file(&mut self) -> Result<()> {
        self.flush_block()?;
        let Some(file) = self.open.take() else { return Ok(()) };
        self.await_finishing()?;
        let object = file.object;
        self.finishing = Some(self.shared.runtime.spawn(object.finish()));
        self.shared.done().files.push(DoneFile {
            number: file.number,
            items: file.items,
            bytes: file.bytes,
            sha256: manifest::hex(&file.sha256.finalize()),
            md5: file.md5.finalize().into(),
        });
        Ok(())
    }

    fn await_finishing(&mut self) -> Result<()> {
        let Some(task) = self.finishing.take() else { return Ok(()) };
        match self.shared.runtime.block_on(task) {
            Ok(done) => Ok(done?),
            Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
            // The runtime is going down.
            Err(_) => Err(Error::Stopped),
        }
    }
}

impl Drop for DataFileWriter {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        if self.written.items > 0 {
            self.shared.abandoned.store(true, Ordering::Release);
        }
        if let Some(task) = self.finishing.take() {
            self.shared.done().orphans.push(task);
        }
    }
}

fn as_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length fits in 64 bits")
}
