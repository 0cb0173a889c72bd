//! Role `jobs` on this backend: `extenddb_admin_jobs`, and who holds what.
//!
//! A job's holder keeps a lock file (see [`super::lock`]) for as long as it lives, so a dead one is known at
//! once, whatever its heartbeat says. Ages are taken on the host's clock, the only one there is: a heartbeat
//! from the future has a negative age, which counts as fresh.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use super::Sqlite;
use super::backup_rows::Claimed;
use super::claim;
use super::error::{damaged, driver};
use super::fence::epoch;
use super::rows::time;
use super::shape::has_table;
use crate::backend::jobs::{
    BackupKey, BackupMemory, BackupRow, BackupRowClaim, DeleteStart, JobClaim, JobFilter, NewBackupRow,
};
use crate::backend::{Error, ErrorKind, Jobs, Ledger as _, Result};
use crate::domain::claim::{WriteOutcome, Writer};
use crate::domain::job::{JobEvent, JobId, JobKind, JobRecord, JobStatus, NewJob};
use crate::domain::timestamp::TimestampMs;

/// Most jobs that one call lists.
const MAX_LISTED_JOBS: u32 = 4096;

#[async_trait::async_trait]
impl Jobs for Sqlite {
    async fn admit_job(&self, job: &NewJob) -> Result<JobRecord> {
        self.ensure_admin().await?;
        let job = job.clone();
        self.run(move |this| admit(&mut this.writer()?, &job)).await
    }

    async fn job_by_key(&self, principal: &str, target: &str, key: &str) -> Result<Option<JobRecord>> {
        let (principal, target, key) = (principal.to_owned(), target.to_owned(), key.to_owned());
        self.run(move |this| {
            let condition = "principal = ?1 AND target = ?2 AND idempotency_key = ?3";
            Ok(select(&this.reader()?, condition, params![principal, target, key])?.into_iter().next())
        })
        .await
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRecord>> {
        let id = id.clone();
        self.run(move |this| find(&this.reader()?, &id)).await
    }

    async fn open_jobs(&self, target: Option<&str>) -> Result<Vec<JobRecord>> {
        let target = target.map(str::to_owned);
        self.run(move |this| {
            let condition = "finished_at IS NULL AND (?1 IS NULL OR target = ?1) ORDER BY id LIMIT ?2";
            select(&this.reader()?, condition, params![target, MAX_LISTED_JOBS])
        })
        .await
    }

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>> {
        let before = match filter.before.as_ref().map(|id| id.0.parse::<i64>()) {
            Some(Err(_)) => return Ok(Vec::new()), // no job has such an id
            before => before.and_then(std::result::Result::ok),
        };
        let statuses = filter.statuses.iter().map(|s| s.word()).collect::<Vec<_>>().join(",");
        let (kind, limit) = (filter.kind.map(JobKind::word), filter.limit);
        self.run(move |this| {
            let condition = "(?1 = '' OR instr(',' || ?1 || ',', ',' || status || ',') > 0) \
                AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4";
            select(&this.reader()?, condition, params![statuses, kind, before, limit])
        })
        .await
    }

    async fn request_cancel(&self, id: &JobId) -> Result<JobRecord> {
        let id = id.clone();
        self.run(move |this| request_cancel(&mut this.writer()?, &id)).await
    }

    async fn claim_job(&self, id: &JobId, writer: &Writer) -> Result<Box<dyn JobClaim>> {
        let (id, writer) = (id.clone(), writer.clone());
        Ok(Box::new(self.run(move |this| claim::claim(this, &id, &writer)).await?))
    }

    async fn claim_backup_row(&self, row: &NewBackupRow) -> Result<(Option<Box<dyn BackupRowClaim>>, Option<String>)> {
        let row = row.clone();
        Ok(match self.run(move |this| this.claim_row(&row)).await? {
            Claimed::Row(claim) => (Some(Box::new(claim)), None),
            Claimed::NoRows => (None, None),
            Claimed::NotNow(reason) => (None, Some(reason)),
        })
    }

    async fn take_over_backup_row(&self, key: &BackupKey, stale_after_ms: i64) -> Result<Box<dyn BackupRowClaim>> {
        let key = key.clone();
        Ok(Box::new(self.run(move |this| this.take_over_row(&key, stale_after_ms)).await?))
    }

    async fn backup_rows(&self, account_id: Option<&str>) -> Result<Vec<BackupRow>> {
        let account_id = account_id.map(str::to_owned);
        self.run(move |this| this.rows_of(account_id.as_deref())).await
    }

    async fn start_backup_delete(&self, key: &BackupKey) -> Result<DeleteStart> {
        let key = key.clone();
        self.run(move |this| this.start_delete(&key)).await
    }

    async fn finish_backup_delete(&self, key: &BackupKey) -> Result<WriteOutcome> {
        let key = key.clone();
        self.run(move |this| this.finish_delete(&key)).await
    }

    async fn remember_backup(&self, memory: &BackupMemory) -> Result<()> {
        self.ensure_admin().await?;
        let memory = memory.clone();
        self.run(move |this| remember(&this.writer()?, &memory)).await
    }

    async fn recall_backup(&self, store_id: &str, backup_arn: &str) -> Result<Option<BackupMemory>> {
        let (store_id, backup_arn) = (store_id.to_owned(), backup_arn.to_owned());
        self.run(move |this| recall(&this.reader()?, &store_id, &backup_arn)).await
    }
}

fn request_cancel(conn: &mut Connection, id: &JobId) -> Result<JobRecord> {
    let operation = "cancel a job";
    let fail = |e| driver(operation, e).with("job", &id.0);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let job = match has_table(&tx, "extenddb_admin_jobs")? {
        true => find(&tx, id)?,
        false => None,
    };
    let job =
        job.ok_or_else(|| Error::new(ErrorKind::NotFound, operation, "there is no such job").with("job", &id.0))?;
    let status = job
        .status
        .next(JobEvent::RequestCancel)
        .map_err(|e| Error::new(ErrorKind::Conflict, operation, format!("it has ended: {e}")).with("job", &id.0))?;
    let ended = status.is_terminal().then(|| now().to_string());
    tx.execute(
        "UPDATE extenddb_admin_jobs SET cancel_requested = 1, status = ?2, finished_at = ?3 WHERE id = ?1",
        params![id.0, status.word(), ended],
    )
    .map_err(fail)?;
    let job = find(&tx, id)?.ok_or_else(|| damaged(operation, id.0.clone(), "it is gone"))?;
    tx.commit().map_err(fail)?;
    Ok(job)
}

/// The host's clock.
#[must_use]
pub fn now() -> TimestampMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn admit(conn: &mut Connection, job: &NewJob) -> Result<JobRecord> {
    let operation = "record a job";
    let fail = |e| driver(operation, e);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    if let Some(key) = &job.idempotency_key {
        let known = select(
            &tx,
            "principal = ?1 AND target = ?2 AND idempotency_key = ?3",
            params![job.principal, job.target, key],
        )?;
        if let Some(known) = known.into_iter().next() {
            if known.request_fingerprint == job.request_fingerprint {
                return Ok(known);
            }
            return Err(Error::new(
                ErrorKind::Conflict,
                operation,
                format!(
                    "the idempotency key was used by job {} for another request ({} then, {} now)",
                    known.id, known.request_fingerprint, job.request_fingerprint
                ),
            )
            .with("key", key));
        }
    }
    // The fence's key holds the id, which is known only after the insert, and something that no other file's job
    // of the same id has.
    let id: i64 = tx
        .query_row(
            "INSERT INTO extenddb_admin_jobs (kind, target, principal, idempotency_key, request, request_fingerprint, \
             status, fence_key, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, hex(randomblob(16)), ?8) RETURNING id",
            params![
                job.kind.word(),
                job.target,
                job.principal,
                job.idempotency_key,
                job.request.to_string(),
                job.request_fingerprint,
                JobStatus::Queued.word(),
                now().to_string(),
            ],
            |row| row.get(0),
        )
        .map_err(fail)?;
    tx.execute(
        "UPDATE extenddb_admin_jobs SET fence_key = kind || ':' || id || ':' || lower(fence_key) WHERE id = ?1",
        [id],
    )
    .map_err(fail)?;
    let record = select(&tx, "id = ?1", [id])?.pop().expect("the row was inserted in this transaction");
    tx.commit().map_err(fail)?;
    Ok(record)
}

/// One job; `None` also for an id that no job can have.
///
/// # Errors
/// `Damaged` for a row that breaks its rules.
pub fn find(conn: &Connection, id: &JobId) -> Result<Option<JobRecord>> {
    match id.0.parse::<i64>() {
        Ok(number) => Ok(select(conn, "id = ?1", [number])?.pop()),
        Err(_) => Ok(None),
    }
}

fn select(conn: &Connection, condition: &str, params: impl rusqlite::Params) -> Result<Vec<JobRecord>> {
    let fail = |e| driver("read jobs", e);
    if !has_table(conn, "extenddb_admin_jobs")? {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT id, kind, target, principal, idempotency_key, request, request_fingerprint, status, attempt, epoch, \
         writer, heartbeat_at, progress, result, created_at, started_at, finished_at \
         FROM extenddb_admin_jobs WHERE {condition}"
    );
    let mut statement = conn.prepare_cached(&sql).map_err(fail)?;
    let mut rows = statement.query(params).map_err(fail)?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next().map_err(fail)? {
        jobs.push(record(row)?);
    }
    Ok(jobs)
}

fn record(row: &Row<'_>) -> Result<JobRecord> {
    let operation = "read a job";
    let fail = |e| driver(operation, e);
    let text = |column: &str| row.get::<_, String>(column).map_err(fail);
    let optional = |column: &str| row.get::<_, Option<String>>(column).map_err(fail);
    let id: i64 = row.get("id").map_err(fail)?;
    let name = format!("{id} of extenddb_admin_jobs");
    let bad = |column: &str, problem: String| damaged(operation, &name, format!("{column}: {problem}"));
    let at = |column: &str| -> Result<Option<TimestampMs>> {
        optional(column)?.map(|t| time(operation, &name, column, &t)).transpose()
    };
    let (kind, status) = (text("kind")?, text("status")?);
    let attempt: i64 = row.get("attempt").map_err(fail)?;
    let json = |column: &str, text: &str| {
        serde_json::from_str::<serde_json::Value>(text).map_err(|e| bad(column, e.to_string()))
    };
    Ok(JobRecord {
        id: JobId(id.to_string()),
        kind: [JobKind::Backup, JobKind::Restore]
            .into_iter()
            .find(|k| k.word() == kind)
            .ok_or_else(|| bad("kind", format!("{kind:?} is no kind of job")))?,
        status: JobStatus::parse(&status).ok_or_else(|| bad("status", format!("{status:?} is no status")))?,
        attempt: u32::try_from(attempt).map_err(|_| bad("attempt", format!("{attempt} is out of range")))?,
        target: text("target")?,
        request: json("request", &text("request")?)?,
        request_fingerprint: text("request_fingerprint")?,
        idempotency_key: optional("idempotency_key")?,
        principal: text("principal")?,
        epoch: epoch(operation, &name, row.get("epoch").map_err(fail)?)?,
        writer: optional("writer")?.map(Writer),
        heartbeat_age_ms: at("heartbeat_at")?.map(|beat| now().0.saturating_sub(beat.0)),
        created_at: at("created_at")?.ok_or_else(|| bad("created_at", "is null".into()))?,
        started_at: at("started_at")?,
        finished_at: at("finished_at")?,
        progress: serde_json::from_str(&text("progress")?).map_err(|e| bad("progress", e.to_string()))?,
        result: optional("result")?.map(|text| json("result", &text)).transpose()?,
    })
}

fn remember(conn: &Connection, memory: &BackupMemory) -> Result<()> {
    let verified_at = memory.verified_ok.map(|_| now().to_string());
    // Of another checksum, what was known is void; of the same, what is missing now stays.
    conn.execute(
        "INSERT INTO extenddb_admin_backup_memory AS old \
         (store_id, backup_arn, manifest_sha256, digest, verified_at, verified_ok, verified_deep, recorded_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (store_id, backup_arn) DO UPDATE SET \
         digest = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
           THEN coalesce(excluded.digest, old.digest) ELSE excluded.digest END, \
         verified_deep = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 AND excluded.verified_ok IS NULL \
           THEN old.verified_deep ELSE excluded.verified_deep END, \
         verified_at = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
           THEN coalesce(excluded.verified_at, old.verified_at) ELSE excluded.verified_at END, \
         verified_ok = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
           THEN coalesce(excluded.verified_ok, old.verified_ok) ELSE excluded.verified_ok END, \
         manifest_sha256 = excluded.manifest_sha256, recorded_at = excluded.recorded_at",
        params![
            memory.store_id,
            memory.backup_arn,
            memory.manifest_sha256,
            memory.digest,
            verified_at,
            memory.verified_ok,
            memory.verified_deep,
            now().to_string(),
        ],
    )
    .map(|_| ())
    .map_err(|e| driver("remember a backup", e).with("backup", &memory.backup_arn))
}

fn recall(conn: &Connection, store_id: &str, backup_arn: &str) -> Result<Option<BackupMemory>> {
    let operation = "recall a backup";
    if !has_table(conn, "extenddb_admin_backup_memory")? {
        return Ok(None);
    }
    let found = conn
        .query_row(
            "SELECT manifest_sha256, digest, verified_at, verified_ok, verified_deep \
             FROM extenddb_admin_backup_memory WHERE store_id = ?1 AND backup_arn = ?2",
            [store_id, backup_arn],
            |row| {
                let memory = BackupMemory {
                    store_id: store_id.to_owned(),
                    backup_arn: backup_arn.to_owned(),
                    manifest_sha256: row.get(0)?,
                    digest: row.get(1)?,
                    verified_at: None,
                    verified_ok: row.get(3)?,
                    verified_deep: row.get(4)?,
                };
                Ok((memory, row.get::<_, Option<String>>(2)?))
            },
        )
        .optional()
        .map_err(|e| driver(operation, e).with("backup", backup_arn))?;
    let Some((mut memory, verified_at)) = found else { return Ok(None) };
    let name = format!("{backup_arn} of extenddb_admin_backup_memory");
    memory.verified_at = verified_at.map(|t| time(operation, &name, "verified_at", &t)).transpose()?;
    Ok(Some(memory))
}
