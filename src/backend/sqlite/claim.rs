//! The claim of a job: its lock file, its epoch, and the writes that show both.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::{Connection, ToSql, TransactionBehavior, params};

use super::Sqlite;
use super::error::{damaged, driver};
use super::fence;
use super::jobs::{find, now};
use super::lock::FileLock;
use super::shape::{has_column, has_table};
use crate::backend::jobs::{Beat, JobClaim};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, FenceToken, WriteOutcome, Writer};
use crate::domain::job::{JobEvent, JobId, JobKind, JobProgress, JobRecord, JobStatus, RETENTION_MS};
use crate::domain::timestamp::TimestampMs;

/// A heartbeat waits this long for the file's one write lock. After that a look at the fence must do: life is
/// proved by the lock file, and a batch of this job that holds the write lock beats when it commits.
const BEAT_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes the right to work on a job.
///
/// A restore takes the server's lock with it, for as long as the claim lives.
///
/// # Errors
/// `NotFound`; `Busy` while a holder lives; `Conflict` when the job has ended; `Damaged` for a counter at its end.
pub fn claim(db: &Sqlite, id: &JobId, writer: &Writer) -> Result<Claim> {
    let operation = "claim a job";
    let mut conn = db.writer()?;
    let missing = || Error::new(ErrorKind::NotFound, operation, "there is no such job").with("job", &id.0);
    let job = find(&conn, id)?.ok_or_else(missing)?;
    let lock = FileLock::try_take_own(db.job_lock_path(&job.id.0))?.map_err(|holder| {
        let writer = job.writer.as_ref().map_or_else(String::new, |w| format!(" as writer {w}"));
        let age = job.heartbeat_age_ms.map_or_else(String::new, |age| format!(", heartbeat {age} ms old"));
        Error::new(ErrorKind::Busy, operation, format!("{holder} holds it{writer}{age}")).with("job", &id.0)
    })?;
    let server = match job.kind {
        JobKind::Restore => Some(db.server_lock()?),
        JobKind::Backup => None,
    };

    let fail = |e| driver(operation, e).with("job", &id.0);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    // Read again: it may have been claimed and ended before the lock was ours.
    let job = find(&tx, id)?.ok_or_else(missing)?;
    let status = job
        .status
        .next(JobEvent::Claim)
        .map_err(|e| Error::new(ErrorKind::Conflict, operation, e.to_string()).with("job", &id.0))?;
    let key: String = tx
        .query_row("SELECT fence_key FROM extenddb_admin_jobs WHERE id = ?1", [&id.0], |row| row.get(0))
        .map_err(fail)?;
    let minted = highest_epoch(&tx, &job, &key)?
        .mint_above(Epoch::ZERO)
        .map_err(|e| damaged(operation, format!("{key} of extenddb_admin_fences"), e))?;
    let moved = tx
        .execute(
            "INSERT INTO extenddb_admin_fences AS old (fence_key, scope, epoch, writer, minted_at) \
             VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (fence_key) DO UPDATE SET epoch = excluded.epoch, \
             writer = excluded.writer, minted_at = excluded.minted_at WHERE old.epoch < excluded.epoch",
            params![key, job.kind.word(), minted.stored(), writer.0, now().to_string()],
        )
        .map_err(fail)?;
    let started = now().to_string();
    let taken = tx
        .execute(
            "UPDATE extenddb_admin_jobs SET status = ?2, attempt = attempt + 1, epoch = ?3, writer = ?4, \
             holder_pid = ?5, heartbeat_at = ?6, started_at = coalesce(started_at, ?6) \
             WHERE id = ?1 AND epoch < ?3 AND finished_at IS NULL",
            params![id.0, status.word(), minted.stored(), writer.0, std::process::id(), started],
        )
        .map_err(fail)?;
    if (moved, taken) != (1, 1) {
        return Err(Error::new(ErrorKind::Busy, operation, "its claim moved meanwhile: try again")
            .with("job", &id.0)
            .temporary());
    }
    tx.commit().map_err(fail)?;
    Ok(Claim {
        state: Arc::new(State {
            db: db.clone(),
            job: job.id,
            token: FenceToken { key, epoch: minted, writer: writer.clone() },
            beats: Mutex::new(None),
            writes: Mutex::new(Some(conn)),
        }),
        _lock: lock,
        _server: server,
    })
}

/// The highest number that any holder of this job can have: the job's, the fence's, and that of the records
/// that a server sees.
fn highest_epoch(conn: &Connection, job: &JobRecord, key: &str) -> Result<Epoch> {
    let mut top = job.epoch;
    if let Some((epoch, _)) = fence::read(conn, key)? {
        top = top.max(epoch);
    }
    if has_table(conn, "table_restores")? && has_column(conn, "table_restores", "owner_generation")? {
        let stored: Option<i64> = conn
            .query_row(
                "SELECT max(owner_generation) FROM table_restores WHERE table_id IN \
                 (SELECT table_id FROM extenddb_admin_staged_tables WHERE fence_key = ?1)",
                [key],
                |row| row.get(0),
            )
            .map_err(|e| driver("read the generation of a restore", e))?;
        if let Some(stored) = stored {
            top = top.max(fence::epoch("claim a job", &format!("a target of {key} in table_restores"), stored)?);
        }
    }
    Ok(top)
}

/// The claim of this process on a job. Dropping it lets the job go, unfinished.
pub struct Claim {
    state: Arc<State>,
    _lock: FileLock,
    _server: Option<Arc<FileLock>>,
}

struct State {
    db: Sqlite,
    job: JobId,
    token: FenceToken,
    /// Of the heartbeats alone, so that no other write stands before one.
    beats: Mutex<Option<Connection>>,
    writes: Mutex<Option<Connection>>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.state.db.release_restores(&self.state.token.key);
    }
}

#[async_trait::async_trait]
impl JobClaim for Claim {
    fn job(&self) -> &JobId {
        &self.state.job
    }

    fn fence(&self) -> &FenceToken {
        &self.state.token
    }

    async fn heartbeat(&self) -> Result<Beat> {
        self.state.run(State::beat).await
    }

    async fn progress(&self, progress: &JobProgress) -> Result<WriteOutcome> {
        let text = serde_json::to_string(progress).expect("progress is plain data");
        self.state.run(move |state| state.set("record a job's progress", "progress = ?2", &[&text])).await
    }

    async fn remember(&self, request: &serde_json::Value) -> Result<WriteOutcome> {
        let text = request.to_string();
        self.state.run(move |state| state.set("change a job's request", "request = ?2", &[&text])).await
    }

    async fn finish(&self, status: JobStatus, result: &serde_json::Value) -> Result<WriteOutcome> {
        let result = result.to_string();
        self.state.run(move |state| state.finish(status, &result)).await
    }
}

impl State {
    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let this = Arc::clone(self);
        super::connect::blocking(move || work(&this)).await
    }

    fn beat(&self) -> Result<Beat> {
        let operation = "renew a heartbeat";
        let beat = self.claimed(&self.beats, operation, Some(BEAT_TIMEOUT), |tx| {
            let fail = |e| driver(operation, e).with("job", &self.job.0);
            let at = now().to_string();
            let cancel_requested = tx
                .query_row(
                    "UPDATE extenddb_admin_jobs SET heartbeat_at = ?2 WHERE id = ?1 \
                     RETURNING cancel_requested OR status = 'cancelling'",
                    params![self.job.0, at],
                    |row| row.get(0),
                )
                .map_err(fail)?;
            beat_targets(tx, &self.token, &at)?;
            Ok(cancel_requested)
        });
        match beat {
            Ok(Some(cancel_requested)) => Ok(Beat { outcome: WriteOutcome::Matched, cancel_requested }),
            Ok(None) => Ok(Beat { outcome: WriteOutcome::NotMatched, cancel_requested: false }),
            Err(e) if e.kind() == ErrorKind::Busy => self.look(operation),
            Err(e) => Err(e),
        }
    }

    /// Reads what a beat would have written under: reading waits for nobody.
    fn look(&self, operation: &'static str) -> Result<Beat> {
        let conn = self.db.read_transaction()?;
        match self.db.refusals.check(&conn, operation, &self.token) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Fenced => {
                return Ok(Beat { outcome: WriteOutcome::NotMatched, cancel_requested: false });
            }
            Err(e) => return Err(e),
        }
        let cancel_requested = conn
            .query_row(
                "SELECT cancel_requested OR status = 'cancelling' FROM extenddb_admin_jobs WHERE id = ?1",
                [&self.job.0],
                |row| row.get(0),
            )
            .map_err(|e| driver(operation, e).with("job", &self.job.0))?;
        Ok(Beat { outcome: WriteOutcome::Matched, cancel_requested })
    }

    fn set(&self, operation: &'static str, assignment: &str, values: &[&dyn ToSql]) -> Result<WriteOutcome> {
        let done = self.claimed(&self.writes, operation, None, |tx| {
            let mut all: Vec<&dyn ToSql> = vec![&self.job.0];
            all.extend(values);
            tx.execute(&format!("UPDATE extenddb_admin_jobs SET {assignment} WHERE id = ?1"), &*all)
                .map_err(|e| driver(operation, e).with("job", &self.job.0))
        })?;
        Ok(outcome(done.is_some()))
    }

    /// The fence goes last, and in the same transaction.
    fn finish(&self, status: JobStatus, result: &str) -> Result<WriteOutcome> {
        let operation = "end a job";
        let fail = |e| driver(operation, e).with("job", &self.job.0);
        let done = self.claimed(&self.writes, operation, None, |tx| {
            let word: String = tx
                .query_row("SELECT status FROM extenddb_admin_jobs WHERE id = ?1", [&self.job.0], |row| row.get(0))
                .map_err(fail)?;
            let from = JobStatus::parse(&word).ok_or_else(|| {
                damaged(operation, format!("{} of extenddb_admin_jobs", self.job), format!("status: {word:?}"))
            })?;
            let illegal = |e: String| Error::new(ErrorKind::Conflict, operation, e).with("job", &self.job.0);
            let to = from.end_as(status).map_err(illegal)?;
            let past = self
                .token
                .epoch
                .mint_above(Epoch::ZERO)
                .map_err(|e| damaged(operation, format!("{} of extenddb_admin_fences", self.token.key), e))?;
            let at = now();
            tx.execute(
                "UPDATE extenddb_admin_jobs SET status = ?2, epoch = ?3, result = ?4, finished_at = ?5, \
                 expires_at = ?6, holder_pid = NULL WHERE id = ?1",
                params![
                    self.job.0,
                    to.word(),
                    past.stored(),
                    result,
                    at.to_string(),
                    TimestampMs(at.0.saturating_add(RETENTION_MS)).to_string(),
                ],
            )
            .map_err(fail)?;
            // What may still be staged stays on record, for whoever removes it.
            let staged = "DELETE FROM extenddb_admin_staged_tables WHERE fence_key = ?1 AND (?2 OR NOT EXISTS \
                          (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = physical_name))";
            tx.execute(staged, params![self.token.key, to == JobStatus::Succeeded]).map_err(fail)?;
            for table in ["extenddb_admin_load_progress", "extenddb_admin_fences"] {
                tx.execute(&format!("DELETE FROM {table} WHERE fence_key = ?1"), [&self.token.key]).map_err(fail)?;
            }
            Ok(())
        })?;
        if done.is_some() {
            // Whatever still shows the token is late.
            self.db.refusals.latch(&self.token);
        }
        Ok(outcome(done.is_some()))
    }

    /// Runs a write in an IMMEDIATE transaction that asserts the claim; `None` when the claim is lost.
    fn claimed<T>(
        &self,
        line: &Mutex<Option<Connection>>,
        operation: &'static str,
        timeout: Option<Duration>,
        write: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.db.refusals.has(&self.token) {
            return Ok(None);
        }
        let fail = |e| driver(operation, e).with("job", &self.job.0);
        let mut line = line.lock().expect("no write on a claim panics");
        let conn = match &mut *line {
            Some(conn) => conn,
            none => {
                let conn = self.db.writer()?;
                if let Some(timeout) = timeout {
                    conn.busy_timeout(timeout).map_err(fail)?;
                }
                none.insert(conn)
            }
        };
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        match self.db.refusals.check(&tx, operation, &self.token) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Fenced => return Ok(None),
            Err(e) => return Err(e),
        }
        let value = write(&tx)?;
        tx.commit().map_err(fail)?;
        Ok(Some(value))
    }
}

/// Renews the heartbeats of the restore records that this fence writes, where the catalog has them.
///
/// # Errors
/// Database errors.
pub fn beat_targets(conn: &Connection, token: &FenceToken, at: &str) -> Result<()> {
    if !has_table(conn, "table_restores")? || !has_column(conn, "table_restores", "heartbeat_at")? {
        return Ok(());
    }
    conn.prepare_cached(
        "UPDATE table_restores SET heartbeat_at = ?3 WHERE status = 'RUNNING' AND owner_generation = ?2 AND table_id IN \
         (SELECT table_id FROM extenddb_admin_staged_tables WHERE fence_key = ?1)",
    )
    .and_then(|mut s| s.execute(params![token.key, token.epoch.stored(), at]))
    .map(|_| ())
    .map_err(|e| driver("renew the heartbeat of a restore", e))
}

/// Renews a job's own heartbeat inside another write of its holder.
///
/// # Errors
/// Database errors.
pub fn beat_job(conn: &Connection, token: &FenceToken, at: &str) -> Result<()> {
    conn.prepare_cached("UPDATE extenddb_admin_jobs SET heartbeat_at = ?3 WHERE fence_key = ?1 AND epoch = ?2")
        .and_then(|mut s| s.execute(params![token.key, token.epoch.stored(), at]))
        .map(|_| ())
        .map_err(|e| driver("renew a heartbeat", e))
}

fn outcome(matched: bool) -> WriteOutcome {
    if matched { WriteOutcome::Matched } else { WriteOutcome::NotMatched }
}
