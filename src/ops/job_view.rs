//! A job as people and scripts see it: one form for every kind.

use serde::Serialize;
use serde_json::Value;

use super::restore::request::RestoreRequest;
use crate::domain::job::{JobKind, JobRecord, JobStatus};
use crate::domain::timestamp::TimestampMs;

/// Most failure details that a job keeps. Source: durable jobs.
pub const MAX_FAILURE_DETAILS: usize = 8;

/// A job.
#[derive(Debug, Clone, Serialize)]
pub struct JobView {
    /// Identity.
    pub id: String,
    /// What it does.
    pub kind: JobKind,
    /// State.
    pub status: JobStatus,
    /// Number of claims so far.
    pub attempt: u32,
    /// When it was admitted.
    pub created_at: TimestampMs,
    /// When it was first claimed.
    pub started_at: Option<TimestampMs>,
    /// When it ended.
    pub finished_at: Option<TimestampMs>,
    /// What it works on.
    pub target: String,
    /// Holder of the last claim.
    pub writer: Option<String>,
    /// Age of the last heartbeat on the database's clock; none once it has ended.
    pub heartbeat_age_ms: Option<i64>,
    /// How far it is.
    pub progress: ProgressView,
    /// Tables by outcome.
    pub tables: TableCounts,
    /// At most [`MAX_FAILURE_DETAILS`].
    pub failures: Vec<FailureView>,
    /// Failures beyond those shown.
    pub failure_details_omitted: usize,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ProgressView {
    /// Items written.
    pub items: u64,
    /// Data files finished.
    pub files_done: u64,
    /// Data files there are, once known.
    pub files_total: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// What it is doing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub phase: String,
}

/// Tables by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct TableCounts {
    /// Published, or backed up.
    pub committed: usize,
    /// Left to somebody else.
    pub triggered: usize,
    /// Left out on request.
    pub skipped: usize,
    /// Failed.
    pub failed: usize,
}

/// One table's failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct FailureView {
    /// Name of the table.
    pub table: String,
    /// Stable word.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// Result of a job as it is recorded: bounded, whatever happened.
///
/// # Panics
/// Never: it is plain data.
#[must_use]
pub fn result(tables: TableCounts, failures: &[FailureView]) -> Value {
    let shown = &failures[..failures.len().min(MAX_FAILURE_DETAILS)];
    serde_json::json!({
        "tables": tables,
        "failures": shown,
        "failure_details_omitted": failures.len() - shown.len(),
    })
}

impl JobView {
    /// What a record shows.
    #[must_use]
    pub fn of(job: &JobRecord) -> Self {
        let result = job.result.as_ref();
        let part = |name: &str| result.and_then(|r| r.get(name)).cloned();
        let tables = part("tables").and_then(|v| serde_json::from_value(v).ok()).unwrap_or_default();
        let failures: Vec<FailureView> =
            part("failures").and_then(|v| serde_json::from_value(v).ok()).unwrap_or_default();
        let omitted = part("failure_details_omitted").and_then(|v| v.as_u64()).unwrap_or(0);
        let progress = job.progress.clone();
        Self {
            id: job.id.to_string(),
            kind: job.kind,
            status: job.status,
            attempt: job.attempt,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            target: job.target.clone(),
            writer: job.writer.as_ref().map(ToString::to_string),
            heartbeat_age_ms: job.heartbeat_age_ms.filter(|_| !job.status.is_terminal()),
            progress: ProgressView {
                items: progress.items,
                files_done: progress.files_done,
                files_total: progress.files_total,
                bytes: progress.bytes,
                phase: progress.phase,
            },
            tables,
            failures,
            failure_details_omitted: usize::try_from(omitted).unwrap_or(usize::MAX),
        }
    }
}

/// Name of the store that a job works with, for whoever resumes it.
#[must_use]
pub fn store_name(job: &JobRecord) -> Option<String> {
    match job.kind {
        JobKind::Restore => RestoreRequest::of(job)?.store,
        JobKind::Backup => Some(super::backup::request::BackupRequest::of(job)?.store),
    }
}
