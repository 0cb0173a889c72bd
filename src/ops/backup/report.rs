//! What a creation reports: the backups that are there, and the tables that were not backed up.

use serde::Serialize;

use crate::domain::digest::TableDigest;
use crate::ops::cancel::Stop;
use crate::ops::error::Error;
use crate::ops::job::FailureView;

/// One snapshot as the report shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotReport {
    /// Kind.
    pub kind: String,
    /// Mark of the instant; tables of the same mark were read at one instant.
    pub marker: String,
    /// How many tables of this run share it.
    pub tables: usize,
}

/// A backup that is there.
#[derive(Debug, Clone, Serialize)]
pub struct CreatedBackup {
    /// Its id.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// Name of the table.
    pub table: String,
    /// Account of the table.
    pub account_id: String,
    /// Name of the store.
    pub store: String,
    /// `AVAILABLE`.
    pub status: &'static str,
    /// Name of the backup.
    pub name: String,
    /// Items in it.
    pub item_count: u64,
    /// Data files in it.
    pub data_file_count: usize,
    /// Compressed bytes.
    pub size_bytes: i64,
    /// Size of the table as the source reported it.
    pub table_size_bytes: i64,
    /// From the start of the run to the commit record.
    pub duration_ms: u64,
    /// Digest of the items; missing only where the answer to the commit record got lost.
    pub digest: Option<TableDigest>,
    /// How it was read.
    pub snapshot: SnapshotReport,
}

/// A table that was not backed up.
#[derive(Debug, Serialize)]
pub struct FailedTable {
    /// Name of the table.
    pub table: String,
    /// Stable word.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// The error, for the exit status.
    #[serde(skip)]
    pub error: Error,
}

impl FailedTable {
    /// A failure of a table.
    pub fn new(table: impl Into<String>, error: Error) -> Self {
        Self { table: table.into(), code: error.code(), message: error.to_string(), error }
    }

    /// As a job records it.
    #[must_use]
    pub fn view(&self) -> FailureView {
        FailureView { table: self.table.clone(), code: self.code.to_owned(), message: self.message.clone() }
    }
}

/// What came out.
#[derive(Debug, Default, Serialize)]
pub struct CreateReport {
    /// The job that did it; missing when nothing was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Backups that are there.
    pub backups: Vec<CreatedBackup>,
    /// Tables that were not backed up.
    pub failed: Vec<FailedTable>,
    /// Why the run stopped early: then what is not in `backups` was undone.
    #[serde(skip)]
    pub stopped: Option<Error>,
}

/// What a stop left, in words.
#[must_use]
pub fn explain(stop: Stop, report: &CreateReport) -> Error {
    let undone = report.failed.len();
    let stay = match report.backups.len() {
        0 => String::new(),
        n => format!("; {n} backups were complete before and stay"),
    };
    let what = match stop {
        Stop::Signal => "interrupted",
        Stop::CancelRequested => "cancelled on request",
        other => return other.into(),
    };
    match report.failed.iter().find(|failed| failed.message.contains("still there")) {
        None => Error::Interrupted(format!("{what}: what was begun of {undone} backups was undone{stay}")),
        Some(left) => Error::Interrupted(format!("{what}: not all could be undone ({}){stay}", left.message)),
    }
}
