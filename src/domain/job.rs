//! Jobs and the state machines of jobs, backups and restores.
//!
//! Source: backup operations, sections 2 and 3, for ExtendDB's rows; our own job states are
//! those of the command surface. Each machine has one total function from state and event to
//! state; adapters only do the compare-and-set.

use serde::{Deserialize, Serialize};

use super::claim::{Epoch, Writer};
use super::timestamp::TimestampMs;

/// Identity of a job: decimal digits, opaque to everyone but the database that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub String);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How long an ended job is kept. Nothing removes it before.
pub const RETENTION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// Writes a backup into a store.
    Backup,
    /// Makes a table from a backup.
    Restore,
}

impl JobKind {
    /// The stored word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Restore => "restore",
        }
    }
}

/// State of a job of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobStatus {
    /// Admitted, nobody works on it.
    Queued,
    /// Claimed.
    Running,
    /// Asked to stop; its holder has not answered yet.
    Cancelling,
    /// Done.
    Succeeded,
    /// Ended without success; what it left is removed.
    Failed,
    /// Ended on request.
    Cancelled,
}

/// What can happen to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEvent {
    /// A writer claims it.
    Claim,
    /// Its holder was found dead and fenced.
    Requeue,
    /// Somebody asks it to stop.
    RequestCancel,
    /// Its holder finished the work.
    Succeed,
    /// Its holder gave up.
    Fail,
    /// Its holder honoured the request to stop.
    Cancel,
}

/// A move that the state machine does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {from} {what} cannot {event}")]
pub struct IllegalTransition {
    /// `job`, `backup` or `restore`.
    pub what: &'static str,
    /// State it is in.
    pub from: &'static str,
    /// What was asked of it.
    pub event: &'static str,
}

impl JobStatus {
    /// The stored word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a stored word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Queued, Self::Running, Self::Cancelling, Self::Succeeded, Self::Failed, Self::Cancelled]
            .into_iter()
            .find(|s| s.word() == word)
    }

    /// Nothing more happens to it.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The state in which a job ends when its holder says so. One that stops by itself asks and honours at once.
    ///
    /// # Errors
    /// When `to` is no end, or not one from here.
    pub fn end_as(self, to: Self) -> Result<Self, String> {
        let illegal = |e: IllegalTransition| e.to_string();
        match to {
            Self::Succeeded => self.next(JobEvent::Succeed).map_err(illegal),
            Self::Failed => self.next(JobEvent::Fail).map_err(illegal),
            Self::Cancelled => {
                self.next(JobEvent::RequestCancel).and_then(|asked| asked.next(JobEvent::Cancel)).map_err(illegal)
            }
            other => Err(format!("{} is not an end", other.word())),
        }
    }

    /// The state after an event.
    ///
    /// # Errors
    /// [`IllegalTransition`] where there is no such move.
    pub fn next(self, event: JobEvent) -> Result<Self, IllegalTransition> {
        use JobEvent as E;
        Ok(match (self, event) {
            (Self::Queued, E::Claim) | (Self::Running, E::Claim) => Self::Running,
            (Self::Cancelling, E::Claim) | (Self::Running | Self::Cancelling, E::RequestCancel) => Self::Cancelling,
            (Self::Running, E::Requeue) => Self::Queued,
            (Self::Running | Self::Cancelling, E::Succeed) => Self::Succeeded,
            (Self::Queued | Self::Running | Self::Cancelling, E::Fail) => Self::Failed,
            (Self::Queued, E::RequestCancel) | (Self::Cancelling, E::Cancel) => Self::Cancelled,
            (from, event) => {
                let event = match event {
                    E::Claim => "be claimed",
                    E::Requeue => "be queued again",
                    E::RequestCancel => "be asked to stop",
                    E::Succeed => "succeed",
                    E::Fail => "fail",
                    E::Cancel => "be cancelled",
                };
                return Err(IllegalTransition { what: "job", from: from.word(), event });
            }
        })
    }
}

/// State of a `backup_index` row. Source: backup operations, section 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum BackupStatus {
    /// Being written.
    Creating,
    /// Its commit record is durable.
    Available,
    /// Being removed.
    Deleting,
    /// Removed; the row is a tombstone.
    Deleted,
    /// Given up.
    Failed,
}

impl BackupStatus {
    /// The stored word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Available => "AVAILABLE",
            Self::Deleting => "DELETING",
            Self::Deleted => "DELETED",
            Self::Failed => "FAILED",
        }
    }

    /// Reads a stored word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Creating, Self::Available, Self::Deleting, Self::Deleted, Self::Failed]
            .into_iter()
            .find(|s| s.word() == word)
    }

    /// Whether a row may go from here to `to`.
    ///
    /// # Errors
    /// [`IllegalTransition`] where the contract has no such move.
    pub fn may_become(self, to: Self) -> Result<(), IllegalTransition> {
        match (self, to) {
            (Self::Creating, Self::Available | Self::Failed)
            | (Self::Available, Self::Deleting | Self::Deleted)
            | (Self::Deleting, Self::Deleted) => Ok(()),
            (from, to) => Err(IllegalTransition { what: "backup", from: from.word(), event: to.word() }),
        }
    }
}

/// State of a restore record. Source: backup operations, section 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RestoreStatus {
    /// Items are being applied.
    Running,
    /// The target is active.
    Done,
    /// Given up; the target is removed after this is written.
    Failed,
}

impl RestoreStatus {
    /// The stored word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "RUNNING",
            Self::Done => "DONE",
            Self::Failed => "FAILED",
        }
    }
}

/// A job to be admitted.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// What it does.
    pub kind: JobKind,
    /// What it works on, for example `000000000000/Orders`; the scope of an idempotency key.
    pub target: String,
    /// The whole request, enough to run the job again in another process. No secrets.
    pub request: serde_json::Value,
    /// SHA-256 in hex of the request in canonical form.
    pub request_fingerprint: String,
    /// The caller's key, if any.
    pub idempotency_key: Option<String>,
    /// Who asks: the operating system's user, unless the configuration names one.
    pub principal: String,
}

/// A job as recorded.
#[derive(Debug, Clone)]
pub struct JobRecord {
    /// Identity.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// State.
    pub status: JobStatus,
    /// Number of claims so far.
    pub attempt: u32,
    /// What it works on.
    pub target: String,
    /// The whole request.
    pub request: serde_json::Value,
    /// Fingerprint of the request.
    pub request_fingerprint: String,
    /// The caller's key.
    pub idempotency_key: Option<String>,
    /// Who asked.
    pub principal: String,
    /// Epoch of the last claim; zero before the first.
    pub epoch: Epoch,
    /// Holder of the last claim.
    pub writer: Option<Writer>,
    /// Age of the last heartbeat on the database's clock.
    pub heartbeat_age_ms: Option<i64>,
    /// When it was admitted.
    pub created_at: TimestampMs,
    /// When it was first claimed.
    pub started_at: Option<TimestampMs>,
    /// When it ended.
    pub finished_at: Option<TimestampMs>,
    /// Bounded progress, see [`JobProgress`].
    pub progress: JobProgress,
    /// What came out, once terminal.
    pub result: Option<serde_json::Value>,
}

/// Bounded progress of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobProgress {
    /// Items written.
    pub items: u64,
    /// Data files finished.
    pub files_done: u64,
    /// Data files there are, once known.
    pub files_total: u64,
    /// Compressed bytes moved.
    pub bytes: u64,
    /// The durable point of the job's own phases; meaning belongs to the operation.
    pub phase: String,
}
