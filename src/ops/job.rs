//! Views of recorded jobs: what `job list`, `job show` and every command that ran a job print.

pub mod control;

use serde::{Deserialize, Serialize};

pub use crate::backend::jobs::JobFilter;

use super::{Error, Result};
use crate::backend::Backend;
use crate::domain::job::{JobId, JobKind, JobRecord, JobStatus};
use crate::domain::timestamp::TimestampMs;

/// Most failure details that a job keeps. Source: durable jobs.
pub const MAX_FAILURE_DETAILS: usize = 8;

/// Most jobs of one list.
pub const MAX_LISTED: u32 = 4096;

/// One job as scripts read it. Source: the command surface, `job show`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JobView {
    /// Identity, opaque.
    pub id: JobId,
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
    /// Who asked.
    pub principal: String,
    /// Who works on it, once somebody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// Age of the last heartbeat on the database's clock, while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat_age_ms: Option<i64>,
    /// How far it is.
    pub progress: ProgressView,
    /// What became of its tables.
    pub tables: TableCounts,
    /// At most eight of the failures.
    pub failures: Vec<FailureView>,
    /// How many more there were.
    pub failure_details_omitted: u64,
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
    /// Compressed bytes moved.
    pub bytes: u64,
    /// The durable point it has reached, in the operation's own word.
    pub phase: String,
}

/// What became of the tables of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableCounts {
    /// Published.
    pub committed: u64,
    /// Admitted and not ended.
    pub triggered: u64,
    /// Left out.
    pub skipped: u64,
    /// Ended without success.
    pub failed: u64,
}

/// One failure of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureView {
    /// Table.
    pub table: String,
    /// Stable upper-case word.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// The result of a job as it is recorded: bounded, whatever happened.
///
/// # Panics
/// Never: it is plain data.
#[must_use]
pub fn result(tables: TableCounts, failures: &[FailureView]) -> serde_json::Value {
    let shown = &failures[..failures.len().min(MAX_FAILURE_DETAILS)];
    let omitted = u64::try_from(failures.len() - shown.len()).unwrap_or(u64::MAX);
    let result = ResultPart { tables, failures: shown.to_vec(), failure_details_omitted: omitted };
    serde_json::to_value(result).expect("plain data")
}

/// The part of a recorded result that every job shares.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ResultPart {
    tables: TableCounts,
    failures: Vec<FailureView>,
    failure_details_omitted: u64,
}

impl From<&JobRecord> for JobView {
    fn from(job: &JobRecord) -> Self {
        // A result of another shape shows as nothing rather than as an error: the job itself is good.
        let result = job.result.clone().and_then(|r| serde_json::from_value::<ResultPart>(r).ok()).unwrap_or_default();
        let p = &job.progress;
        Self {
            id: job.id.clone(),
            kind: job.kind,
            status: job.status,
            attempt: job.attempt,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            target: job.target.clone(),
            principal: job.principal.clone(),
            writer: job.writer.as_ref().map(|w| w.0.clone()),
            heartbeat_age_ms: job.heartbeat_age_ms.filter(|_| !job.status.is_terminal()),
            progress: ProgressView {
                items: p.items,
                files_done: p.files_done,
                files_total: p.files_total,
                bytes: p.bytes,
                phase: p.phase.clone(),
            },
            tables: result.tables,
            failures: result.failures,
            failure_details_omitted: result.failure_details_omitted,
        }
    }
}

/// Report on one job.
#[derive(Debug, Clone, Serialize)]
pub struct JobReport {
    /// The job.
    pub job: JobView,
}

/// Report of [`list`].
#[derive(Debug, Serialize)]
pub struct JobList {
    /// Newest first.
    pub jobs: Vec<JobView>,
    /// There are more; `next` is the id to go on from.
    pub truncated: bool,
    /// Id of the last job listed, when there are more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<JobId>,
}

/// Lists jobs, newest first. Says when there are more than asked for.
///
/// # Errors
/// `Usage` for a limit out of bounds; database errors.
pub async fn list(backend: &dyn Backend, filter: &JobFilter) -> Result<JobList> {
    if !(1..MAX_LISTED).contains(&filter.limit) {
        return Err(Error::Usage(format!("limit {} is out of bounds: from 1 to {}", filter.limit, MAX_LISTED - 1)));
    }
    let mut jobs = backend.list_jobs(&JobFilter { limit: filter.limit + 1, ..filter.clone() }).await?;
    let limit = usize::try_from(filter.limit).unwrap_or(usize::MAX);
    let truncated = jobs.len() > limit;
    jobs.truncate(limit);
    let next = jobs.last().filter(|_| truncated).map(|job| job.id.clone());
    Ok(JobList { jobs: jobs.iter().map(JobView::from).collect(), truncated, next })
}

/// One job.
///
/// # Errors
/// `NotFound` names the id.
pub async fn show(backend: &dyn Backend, id: &JobId) -> Result<JobReport> {
    match backend.job(id).await? {
        Some(job) => Ok(JobReport { job: JobView::from(&job) }),
        None => Err(Error::NotFound(format!("there is no job {id}: `extenddb-admin job list` shows those there are"))),
    }
}
