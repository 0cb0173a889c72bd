//! Writes a backup: data files from worker threads, then the manifests, the commit record last.

use std::future::Future;
use std::sync::Arc;

use super::error::{Error, Result};
use super::layout::BackupPrefix;
use crate::domain::arn::BackupArn;
use crate::domain::digest::TableDigest;
use crate::domain::item::Item;
use crate::domain::manifest::{Manifest, SnapshotMeta};
use crate::domain::table::SourceTable;
use crate::domain::timestamp::TimestampMs;
use crate::store::Store;

/// Default size of a data file, in bytes of uncompressed lines.
pub const DEFAULT_TARGET_BYTES: u64 = 64 << 20;
/// Smallest size that may be asked for; a single line never exceeds it.
pub const MIN_TARGET_BYTES: u64 = 32 << 20;

/// A backup being written. Share it with `Arc` or references; workers get a [`DataFileWriter`] each.
pub struct BackupWriter {
    store: Arc<dyn Store>,
    prefix: BackupPrefix,
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

impl BackupWriter {
    /// A writer for an empty prefix. Nothing is written yet. `target_bytes` is the most bytes of lines in a
    /// data file, at least [`MIN_TARGET_BYTES`]. Call it inside a tokio runtime: the workers' threads
    /// reach the store through that runtime.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, prefix: BackupPrefix, target_bytes: u64) -> Self {
        let _ = target_bytes;
        Self { store, prefix }
    }

    /// A writer of data files for one worker thread (not for a task of the runtime: it blocks).
    #[must_use]
    pub fn data_file_writer(&self) -> DataFileWriter {
        DataFileWriter {}
    }

    /// Writes the two export manifests, waits for `before_commit` (renew the heartbeat there), and
    /// creates the commit record. All data file writers must have finished. `E` is the caller's error.
    ///
    /// # Errors
    /// Store errors, after which the commit record may or may not be there: read it back; the error of
    /// `before_commit`, after which it is not.
    pub async fn seal<E: From<Error>>(
        self,
        meta: BackupMeta,
        before_commit: impl Future<Output = Result<(), E>> + Send,
    ) -> Result<SealOutcome, E> {
        let _ = meta;
        before_commit.await?;
        Ok(SealOutcome::Exists)
    }

    /// Removes everything under the prefix. Only before [`BackupWriter::seal`] came to the commit record.
    ///
    /// # Errors
    /// Store errors.
    pub async fn abort(self) -> Result<u64> {
        Ok(self.store.delete_prefix(self.prefix.key()).await?)
    }
}

/// Writes data files of one worker: lines into blocks, blocks into gzip members, members into the store.
/// Dropping it without [`DataFileWriter::finish`] leaves the open file unwritten.
pub struct DataFileWriter {}

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
        let _ = item;
        Ok(())
    }

    /// What was written so far.
    #[must_use]
    pub fn written(&self) -> Written {
        Written::default()
    }

    /// Finishes the open file, makes all files durable and hands them to the [`BackupWriter`].
    ///
    /// # Errors
    /// Store errors.
    pub fn finish(self) -> Result<Written> {
        Ok(Written::default())
    }
}
