//! The commit record of a backup: its members, its checksum and how it is read.
//!
//! Source: backup format, sections 3, 4 and 9 (steps 2 to 6).

use serde::{Deserialize, Serialize};

use super::arn::BackupArn;
use super::finding::Finding;
use super::table::SourceTable;

/// The one format version that this build reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Largest commit record that is read, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// How the items were read: mechanism and mark of the instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotMeta {
    /// `postgres_repeatable_read`, `sqlite_wal_read_txn`, …
    pub kind: String,
    /// Mark of the instant; may be empty.
    pub marker: String,
}

/// One data file as the commit record lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFile {
    /// Key relative to the prefix: `data/000001.json.gz`.
    pub key: String,
    /// Items in it.
    pub item_count: u64,
    /// SHA-256 of the stored (compressed) bytes, 64 lowercase hex digits.
    pub sha256: String,
    /// Size of the stored object.
    pub bytes: u64,
}

/// The commit record. The serde order is the canonical order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// 1.
    pub format_version: u32,
    /// ARN of the backup.
    pub backup_arn: String,
    /// Name given at creation.
    pub backup_name: String,
    /// Epoch seconds, rounded to milliseconds by our writer.
    pub backup_creation_date_time: f64,
    /// Sum of the data files' sizes.
    pub backup_size_bytes: i64,
    /// `postgres`, `sqlite`, …; readers accept any.
    pub source_backend: String,
    /// The writer, informative.
    pub source_extenddb_version: String,
    /// How the items were read.
    pub snapshot: SnapshotMeta,
    /// The table.
    pub source_table: SourceTable,
    /// Data files in the order in which they are applied.
    pub data_files: Vec<DataFile>,
    /// Checksum of the record; empty before [`Manifest::seal`].
    pub manifest_sha256: String,
}

impl Manifest {
    /// Reads a commit record through steps 2 to 6 of the reading order (without the other objects).
    ///
    /// `prefix` is `<account>/<table>/<id>` of the place it was read from.
    ///
    /// # Errors
    /// The findings that refuse it: never empty.
    pub fn read(bytes: &[u8], prefix: &str) -> Result<Self, Vec<Finding>> {
        let _ = (bytes, prefix);
        Err(Vec::new())
    }

    /// Sets the checksum and returns the bytes to store.
    pub fn seal(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Items over all data files.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.data_files.iter().map(|f| f.item_count).sum()
    }

    /// The parsed ARN.
    ///
    /// # Panics
    /// Never for a record from [`Manifest::read`], which checked it.
    #[must_use]
    pub fn arn(&self) -> BackupArn {
        self.backup_arn.parse().expect("the ARN was checked when the record was read")
    }

    /// What is unusual about a record that is good.
    #[must_use]
    pub fn warnings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
