//! Role: durable jobs, claims with fences, and the catalog's own backup rows.

use super::error::{Error, Result};
use crate::domain::claim::{Epoch, FenceToken, WriteOutcome, Writer};
use crate::domain::job::{BackupStatus, JobId, JobKind, JobProgress, JobRecord, JobStatus, NewJob};
use crate::domain::store_ref::StoreRef;
use crate::domain::timestamp::TimestampMs;

/// The right to work on one job, held by this process.
///
/// Heartbeats travel on a connection of their own. Once an answer is `NotMatched` the claim is lost for
/// good: every later call answers the same without asking the database.
#[async_trait::async_trait]
pub trait JobClaim: Send + Sync {
    /// The job.
    fn job(&self) -> &JobId;

    /// What writes must show.
    fn fence(&self) -> &FenceToken;

    /// Renews the heartbeat on the database's clock and sees whether a stop was asked for.
    ///
    /// # Errors
    /// Database errors; the claim may still be held.
    async fn heartbeat(&self) -> Result<Beat>;

    /// Records progress, conditioned on the claim.
    ///
    /// # Errors
    /// Database errors.
    async fn progress(&self, progress: &JobProgress) -> Result<WriteOutcome>;

    /// Changes the stored request: what the run has decided and a resumed run must not decide again
    /// (the new table's id, the commit record's checksum). Conditioned on the claim.
    ///
    /// # Errors
    /// Database errors.
    async fn remember(&self, request: &serde_json::Value) -> Result<WriteOutcome>;

    /// Ends the job: mints the claim past every holder, writes the terminal state and the result, and removes
    /// the fence last.
    ///
    /// # Errors
    /// Database errors.
    async fn finish(&self, status: JobStatus, result: &serde_json::Value) -> Result<WriteOutcome>;
}

/// Answer of a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beat {
    /// Whether the claim still holds.
    pub outcome: WriteOutcome,
    /// Somebody asked the job to stop.
    pub cancel_requested: bool,
}

/// Address of a `backup_index` row; never a bare id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupKey {
    /// Account.
    pub account_id: String,
    /// Id.
    pub backup_id: String,
    /// ARN.
    pub backup_arn: String,
}

/// A `backup_index` row to be claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewBackupRow {
    /// Address.
    pub key: BackupKey,
    /// Table backed up.
    pub table_name: String,
    /// Name of the backup.
    pub backup_name: String,
    /// Store it goes to.
    pub store: StoreRef,
    /// When the backup was begun.
    pub created_at: TimestampMs,
    /// The commit record's `source_table`, as JSON.
    pub source_table_json: String,
}

/// A `backup_index` row.
#[derive(Debug, Clone, PartialEq)]
pub struct BackupRow {
    /// Address.
    pub key: BackupKey,
    /// Table backed up.
    pub table_name: String,
    /// Name of the backup.
    pub backup_name: String,
    /// State.
    pub status: BackupStatus,
    /// Store it lies in.
    pub store: StoreRef,
    /// Claim number.
    pub owner_generation: Epoch,
    /// Age of the heartbeat on the database's clock.
    pub heartbeat_age_ms: i64,
    /// Compressed size.
    pub size_bytes: Option<i64>,
    /// Items.
    pub item_count: Option<i64>,
    /// When it was begun.
    pub created_at: TimestampMs,
    /// When it was completed.
    pub completed_at: Option<TimestampMs>,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// The commit record's `source_table`, as JSON.
    pub source_table_json: Option<String>,
}

/// What a status write sets beside the status.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BackupRowFields {
    /// Compressed size.
    pub size_bytes: Option<i64>,
    /// Items.
    pub item_count: Option<i64>,
    /// Set `completed_at` to the database's now.
    pub completed: bool,
    /// Why it failed.
    pub failure_reason: Option<String>,
    /// The commit record's `source_table`, as JSON.
    pub source_table_json: Option<String>,
}

/// A claim on a `backup_index` row.
#[async_trait::async_trait]
pub trait BackupRowClaim: Send + Sync {
    /// Renews the row's heartbeat on the database's clock, on a connection of its own.
    ///
    /// # Errors
    /// Database errors.
    async fn heartbeat(&self) -> Result<WriteOutcome>;

    /// Moves the row, conditioned on the claim and on `from`.
    ///
    /// # Errors
    /// Database errors.
    async fn set_status(&self, from: BackupStatus, to: BackupStatus, fields: &BackupRowFields) -> Result<WriteOutcome>;
}

/// Answer of the start of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeleteStart {
    /// The row is `DELETING` now, or was already: go on with the objects.
    Deleting,
    /// A running restore uses the backup; its target's name.
    InUse(String),
    /// The row is in another state.
    Status(BackupStatus),
    /// There is no such row.
    NoRow,
}

/// What we know of one backup beside its commit record: kept in the admin lineage, never in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupMemory {
    /// Identity of the store; empty for a store without one.
    pub store_id: String,
    /// ARN; with the store's identity the address of this record.
    pub backup_arn: String,
    /// The commit record's checksum at that time; a record of another checksum is void.
    pub manifest_sha256: String,
    /// Digest of the items, `<count>:<hex>`.
    pub digest: Option<String>,
    /// When it was last verified, on the database's clock (ignored on writing, where `verified_ok` decides).
    pub verified_at: Option<TimestampMs>,
    /// What that verification said; `None` when there was none.
    pub verified_ok: Option<bool>,
    /// That verification parsed every item.
    pub verified_deep: bool,
}

/// Which jobs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only these states; empty means all.
    pub statuses: Vec<JobStatus>,
    /// Only this kind.
    pub kind: Option<JobKind>,
    /// Only jobs older than this one: the last of the page before.
    pub before: Option<JobId>,
    /// At most that many, 1 to 4096.
    pub limit: u32,
}

/// Records jobs, claims and backup rows.
#[async_trait::async_trait]
pub trait Jobs: Send + Sync {
    /// Records a job, durably, before anything else happens. With an idempotency key that is known for
    /// this principal and target, answers the recorded job of the same request.
    ///
    /// # Errors
    /// `Conflict` when the key was used with another request, naming both.
    async fn admit_job(&self, job: &NewJob) -> Result<JobRecord> {
        let _ = job;
        Err(Error::unsupported("record jobs"))
    }

    /// The job that a caller's key names, for this principal and target, whatever its request and state.
    /// `None` also where the admin lineage does not exist.
    ///
    /// # Errors
    /// `Damaged` for a row that breaks its rules.
    async fn job_by_key(&self, principal: &str, target: &str, key: &str) -> Result<Option<JobRecord>> {
        let _ = (principal, target, key);
        Err(Error::unsupported("read jobs"))
    }

    /// One job.
    ///
    /// # Errors
    /// `Damaged` for a row that breaks its rules.
    async fn job(&self, id: &JobId) -> Result<Option<JobRecord>> {
        let _ = id;
        Err(Error::unsupported("read jobs"))
    }

    /// Jobs that have not ended, for one target or for all, oldest first; at most 4096.
    /// Empty where the admin lineage does not exist yet.
    ///
    /// # Errors
    /// `Damaged` for a row that breaks its rules.
    async fn open_jobs(&self, target: Option<&str>) -> Result<Vec<JobRecord>> {
        let _ = target;
        Err(Error::unsupported("read jobs"))
    }

    /// Jobs that a filter lets through, newest first (by id).
    /// Empty where the admin lineage does not exist yet.
    ///
    /// # Errors
    /// `Damaged` for a row that breaks its rules.
    async fn list_jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>> {
        let _ = filter;
        Err(Error::unsupported("list jobs"))
    }

    /// Asks a job to stop: a queued one is cancelled at once, a running one when its holder notices, or whoever
    /// claims it after that. Answers the record as it is then.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` when it has ended.
    async fn request_cancel(&self, id: &JobId) -> Result<JobRecord> {
        let _ = id;
        Err(Error::unsupported("cancel jobs"))
    }

    /// Takes the right to work on a job: proves the last holder dead (its session or file lock is free),
    /// mints its epoch past every holder, counts an attempt.
    ///
    /// # Errors
    /// `Busy` while a holder lives, naming it and the age of its heartbeat; `Conflict` when the job has ended.
    async fn claim_job(&self, id: &JobId, writer: &Writer) -> Result<Box<dyn JobClaim>> {
        let _ = (id, writer);
        Err(Error::unsupported("claim jobs"))
    }

    /// Inserts a `CREATING` row under a fresh generation and holds its claim.
    /// `None` where the catalog has no `backup_index`, or the row may not be written now (a SQLite server
    /// holds its lock); the second element says why.
    ///
    /// # Errors
    /// `Conflict` when the row exists.
    async fn claim_backup_row(&self, row: &NewBackupRow) -> Result<(Option<Box<dyn BackupRowClaim>>, Option<String>)> {
        let _ = row;
        Err(Error::unsupported("write backup rows"))
    }

    /// Takes over the claim of an existing row under a fresh generation, for a row whose holder is dead.
    ///
    /// # Errors
    /// `Busy` while its heartbeat is younger than `stale_after_ms` and its holder lives; `NotFound`.
    async fn take_over_backup_row(&self, key: &BackupKey, stale_after_ms: i64) -> Result<Box<dyn BackupRowClaim>> {
        let _ = (key, stale_after_ms);
        Err(Error::unsupported("write backup rows"))
    }

    /// Rows, of one account or of all, ordered by `(created_at, backup_arn)` in byte order.
    /// Empty where the catalog has no `backup_index`.
    ///
    /// # Errors
    /// `Damaged` for a row that breaks its rules.
    async fn backup_rows(&self, account_id: Option<&str>) -> Result<Vec<BackupRow>> {
        let _ = account_id;
        Err(Error::unsupported("read backup rows"))
    }

    /// In-use check and the move to `DELETING` in one transaction under the row's lock.
    ///
    /// # Errors
    /// Database errors.
    async fn start_backup_delete(&self, key: &BackupKey) -> Result<DeleteStart> {
        let _ = key;
        Err(Error::unsupported("write backup rows"))
    }

    /// `DELETING` to `DELETED`.
    ///
    /// # Errors
    /// Database errors.
    async fn finish_backup_delete(&self, key: &BackupKey) -> Result<WriteOutcome> {
        let _ = key;
        Err(Error::unsupported("write backup rows"))
    }

    /// Keeps what is known of a backup, replacing what was known of the same store and ARN; a missing digest or
    /// verification leaves the older one of the same checksum. A `verified_ok` sets `verified_at` to the
    /// database's now. Makes the admin lineage where it is missing.
    ///
    /// # Errors
    /// Database errors.
    async fn remember_backup(&self, memory: &BackupMemory) -> Result<()> {
        let _ = memory;
        Err(Error::unsupported("remember backups"))
    }

    /// What is known of a backup. `None` also where the admin lineage does not exist.
    ///
    /// # Errors
    /// Database errors.
    async fn recall_backup(&self, store_id: &str, backup_arn: &str) -> Result<Option<BackupMemory>> {
        let _ = (store_id, backup_arn);
        Err(Error::unsupported("remember backups"))
    }
}
