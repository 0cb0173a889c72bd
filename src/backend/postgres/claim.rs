//! The claim of a job: a session lock that proves its holder alive, an epoch, and the writes that show both.
//!
//! Order of a claim: the session lock on the heartbeat's own connection, then the epoch in the data database,
//! then the job's row in the catalog. Order of an end: the epoch past every holder, the terminal row, the traces of
//! the load, the fence last.

use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::query::Query;
use sqlx::{Connection as _, Postgres as PgDatabase, Row as _};
use tokio::sync::Mutex;

use super::Postgres;
use super::error::{driver, outcome_unknown};
use super::fence::{self, epoch_of};
use super::job_rows::{Which, read};
use super::lock::{ADMIN_KEY, session_lock_holder, take_session_lock};
use super::shape::Shape;
use crate::backend::jobs::{Beat, JobClaim};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, FenceToken, WriteOutcome, Writer};
use crate::domain::job::{JobEvent, JobId, JobProgress, JobRecord, JobStatus, RETENTION_MS};

const CLAIM: &str = "claim a job";
const BEAT: &str = "renew a heartbeat";
const FINISH: &str = "end a job";

/// The claim of this process on a job. Dropping it ends the session, and so the proof of life; the job stays
/// unfinished.
pub struct Claim {
    pg: Postgres,
    job: JobId,
    token: FenceToken,
    /// Holds the session lock, and carries heartbeats alone.
    beats: Mutex<Option<Line>>,
    /// Carries everything else.
    writes: Mutex<Option<Line>>,
    has_job_columns: bool,
    /// The epoch past every holder was asked for: found recorded, it is ours.
    ending: AtomicBool,
}

/// Sessions in both databases: the job's row is in one, the fence in the other.
struct Line {
    catalog: PgConnection,
    data: PgConnection,
}

/// Takes the right to work on a job.
///
/// # Errors
/// `NotFound`; `Busy` while a holder lives, naming it; `Conflict` when the job has ended; `Damaged` for a counter at
/// its end.
pub async fn claim(pg: &Postgres, id: &JobId, writer: &Writer) -> Result<Claim> {
    let mut session = pg.catalog_connection().await?;
    let job = find(&mut session, id).await?;
    let key = fence_key(&mut session, id).await?;
    if !try_lock(&mut session, &key).await? {
        return Err(held_by_another(&mut session, &job, &key).await?);
    }
    // Read again: it may have been claimed and ended before the lock was ours.
    let job = find(&mut session, id).await?;
    let status = job
        .status
        .next(JobEvent::Claim)
        .map_err(|e| Error::new(ErrorKind::Conflict, CLAIM, e.to_string()).with("job", &id.0))?;

    let mut data = pg.data_connection().await?;
    let shape = Shape::of_catalog(&mut session).await?;
    let has_job_columns = shape.has("table_restores", "heartbeat_at");
    let mut floor = job.epoch;
    if has_job_columns {
        floor = floor.max(generation_of_targets(&mut session, &mut data, &key).await?);
    }
    let token = fence::mint(&mut data, job.kind.word(), &key, floor, writer).await?;
    let taken = sqlx::query(
        "UPDATE extenddb_admin.jobs SET status = $3, attempt = attempt + 1, epoch = $4, writer = $5, \
         holder_pid = pg_backend_pid(), heartbeat_at = now(), started_at = coalesce(started_at, now()) \
         WHERE id::text = $1 AND epoch = $2 AND finished_at IS NULL",
    )
    .bind(&id.0)
    .bind(job.epoch.stored())
    .bind(status.word())
    .bind(token.epoch.stored())
    .bind(&writer.0)
    .execute(&mut session)
    .await
    .map_err(|e| driver(CLAIM, e).with("job", &id.0))?;
    if taken.rows_affected() != 1 {
        return Err(Error::new(ErrorKind::Busy, CLAIM, "its claim moved meanwhile: run again")
            .with("job", &id.0)
            .temporary());
    }
    pg.held.readmit(&key);
    Ok(Claim {
        pg: pg.clone(),
        job: id.clone(),
        token,
        beats: Mutex::new(Some(Line { catalog: session, data })),
        writes: Mutex::new(None),
        has_job_columns,
        ending: AtomicBool::new(false),
    })
}

async fn find(conn: &mut PgConnection, id: &JobId) -> Result<JobRecord> {
    read(conn, Which::Id(id))
        .await?
        .pop()
        .ok_or_else(|| Error::new(ErrorKind::NotFound, CLAIM, "there is no such job").with("job", &id.0))
}

async fn fence_key(conn: &mut PgConnection, id: &JobId) -> Result<String> {
    sqlx::query("SELECT fence_key FROM extenddb_admin.jobs WHERE id::text = $1")
        .bind(&id.0)
        .fetch_one(conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(CLAIM, e))
}

/// Takes the session lock of a fence.
async fn try_lock(conn: &mut PgConnection, key: &str) -> Result<bool> {
    take_session_lock(conn, key, i64::from(ADMIN_KEY.0)).await
}

async fn held_by_another(conn: &mut PgConnection, job: &JobRecord, key: &str) -> Result<Error> {
    let session = session_lock_holder(conn, key, i64::from(ADMIN_KEY.0)).await?;
    let session = session.unwrap_or_else(|| "a session that has just left".to_owned());
    let writer = job.writer.as_ref().map_or_else(|| "a writer not recorded yet".to_owned(), |w| format!("writer {w}"));
    let age = job.heartbeat_age_ms.map_or_else(|| "no heartbeat yet".to_owned(), |ms| format!("heartbeat {ms} ms old"));
    Ok(Error::new(ErrorKind::Busy, CLAIM, format!("{writer} holds it ({session}), {age}")).with("job", &job.id.0))
}

/// The highest generation that the server's records of this job's targets carry.
async fn generation_of_targets(catalog: &mut PgConnection, data: &mut PgConnection, key: &str) -> Result<Epoch> {
    let ids: Vec<String> =
        sqlx::query("SELECT DISTINCT table_id FROM extenddb_admin.staged_tables WHERE fence_key = $1")
            .bind(key)
            .fetch_all(data)
            .await
            .and_then(|rows| rows.iter().map(|r| r.try_get(0)).collect())
            .map_err(|e| driver(CLAIM, e))?;
    let highest: Option<i64> = sqlx::query("SELECT max(owner_generation) FROM table_restores WHERE table_id = ANY($1)")
        .bind(&ids)
        .fetch_one(catalog)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(CLAIM, e))?;
    highest.map_or(Ok(Epoch::ZERO), |stored| epoch_of(stored, "table_restores", &ids.join(", ")))
}

#[async_trait::async_trait]
impl JobClaim for Claim {
    fn job(&self) -> &JobId {
        &self.job
    }

    fn fence(&self) -> &FenceToken {
        &self.token
    }

    async fn heartbeat(&self) -> Result<Beat> {
        let lost = Beat { outcome: WriteOutcome::NotMatched, cancel_requested: false };
        if self.is_refused() {
            return Ok(lost);
        }
        let mut kept = self.beats.lock().await;
        let mut line = match kept.take() {
            Some(line) => line,
            None => Line { catalog: self.again().await?, data: self.pg.data_connection().await? },
        };
        if !self.is_recorded(&mut line.data).await? {
            return Ok(lost);
        }
        let beat = self.beat(&mut line.catalog).await?;
        *kept = Some(line);
        Ok(beat.unwrap_or(lost))
    }

    async fn progress(&self, progress: &JobProgress) -> Result<WriteOutcome> {
        let text = serde_json::to_string(progress).expect("progress is plain data");
        self.set(
            "record a job's progress",
            "UPDATE extenddb_admin.jobs SET progress = $4 \
             WHERE id::text = $1 AND epoch = $2 AND writer = $3 AND finished_at IS NULL",
            text,
        )
        .await
    }

    async fn remember(&self, request: &serde_json::Value) -> Result<WriteOutcome> {
        self.set(
            "change a job's request",
            "UPDATE extenddb_admin.jobs SET request = $4 \
             WHERE id::text = $1 AND epoch = $2 AND writer = $3 AND finished_at IS NULL",
            request.to_string(),
        )
        .await
    }

    async fn finish(&self, status: JobStatus, result: &serde_json::Value) -> Result<WriteOutcome> {
        if self.is_refused() {
            return Ok(WriteOutcome::NotMatched);
        }
        let mut catalog = self.pg.catalog_connection().await?;
        let mut data = self.pg.data_connection().await?;
        let recorded = find(&mut catalog, &self.job).await?;
        let next = self.token.epoch.mint_above(Epoch::ZERO).map_err(|e| self.damaged(e))?;
        if recorded.status == status && recorded.epoch == next && recorded.writer.as_ref() == Some(&self.token.writer) {
            // An earlier call ended it, and its answer was lost.
            let past = FenceToken { epoch: next, ..self.token.clone() };
            return self.after_end(&mut data, &past, status).await;
        }
        let to = recorded
            .status
            .end_as(status)
            .map_err(|e| Error::new(ErrorKind::Conflict, FINISH, e).with("job", &self.job.0))?;
        let Some(past) = self.mint_past(&mut data).await? else { return Ok(self.refuse("end")) };
        let ended = sqlx::query(
            "UPDATE extenddb_admin.jobs SET status = $4, epoch = $5, result = $6, finished_at = now(), holder_pid = NULL, \
             expires_at = now() + make_interval(secs => $7) \
             WHERE id::text = $1 AND epoch = $2 AND writer = $3 AND finished_at IS NULL",
        )
        .bind(&self.job.0)
        .bind(self.token.epoch.stored())
        .bind(&self.token.writer.0)
        .bind(to.word())
        .bind(past.epoch.stored())
        .bind(result.to_string())
        .bind(f64::from(i32::try_from(RETENTION_MS / 1000).unwrap_or(i32::MAX)))
        .execute(&mut catalog)
        .await;
        match ended {
            Ok(done) if done.rows_affected() == 1 => {}
            Ok(_) => return Ok(self.refuse("end")),
            Err(e) if outcome_unknown(&e) => return Ok(WriteOutcome::Unknown),
            Err(e) => return Err(driver(FINISH, e)),
        }
        self.after_end(&mut data, &past, to).await
    }
}

impl Claim {
    /// What follows the terminal row: traces and fence go, and whatever still shows the token is late.
    async fn after_end(&self, data: &mut PgConnection, past: &FenceToken, status: JobStatus) -> Result<WriteOutcome> {
        self.remove_traces(data, past, status).await?;
        self.pg.held.refuse(&self.token.key, "the job has ended");
        if let Some(line) = self.beats.lock().await.take() {
            line.catalog.close().await.map_err(|e| driver(FINISH, e))?;
            line.data.close().await.map_err(|e| driver(FINISH, e))?;
        }
        Ok(WriteOutcome::Matched)
    }

    fn damaged(&self, problem: String) -> Error {
        Error::new(ErrorKind::Damaged, FINISH, problem).with("fence", &self.token.key)
    }

    /// The fence in the data database is still ours; a refusal latches. A takeover mints there first, so this is
    /// where it is noticed first; the write in the catalog is conditioned on the job's row besides.
    async fn is_recorded(&self, data: &mut PgConnection) -> Result<bool> {
        match fence::assert_held(&self.pg.held, data, &self.token, fence::Lock::None).await {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::Fenced => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn is_refused(&self) -> bool {
        self.pg.held.refusal(&self.token.key).is_some()
    }

    /// Latches: after this no call of this claim asks the database again.
    fn refuse(&self, what: &str) -> WriteOutcome {
        let message = format!(
            "the claim is lost: epoch {} of writer {} could not {what} job {} any more",
            self.token.epoch, self.token.writer, self.job
        );
        self.pg.held.refuse(&self.token.key, &message);
        WriteOutcome::NotMatched
    }

    /// A new heartbeat session, after the old one broke. With it the proof of life was lost, so the lock is taken
    /// again: whoever took it meanwhile has minted past us, which the next beat notices.
    async fn again(&self) -> Result<PgConnection> {
        let mut session = self.pg.catalog_connection().await?;
        if try_lock(&mut session, &self.token.key).await? {
            return Ok(session);
        }
        let job = find(&mut session, &self.job).await?;
        if job.epoch != self.token.epoch || job.writer.as_ref() != Some(&self.token.writer) {
            return Ok(session);
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            BEAT,
            "the heartbeat's session broke, and the database still holds its lock: trying again at the next beat",
        )
        .with("job", &self.job.0)
        .temporary())
    }

    /// Nothing when the claim is lost.
    async fn beat(&self, session: &mut PgConnection) -> Result<Option<Beat>> {
        let row = sqlx::query(
            "UPDATE extenddb_admin.jobs SET heartbeat_at = clock_timestamp(), holder_pid = pg_backend_pid() \
             WHERE id::text = $1 AND epoch = $2 AND writer = $3 AND finished_at IS NULL \
             RETURNING cancel_requested OR status = 'cancelling'",
        )
        .bind(&self.job.0)
        .bind(self.token.epoch.stored())
        .bind(&self.token.writer.0)
        .fetch_optional(&mut *session)
        .await
        .map_err(|e| driver(BEAT, e))?;
        let Some(row) = row else {
            self.refuse("renew the heartbeat of");
            return Ok(None);
        };
        let cancel_requested = row.try_get(0).map_err(|e| driver(BEAT, e))?;
        if self.has_job_columns && !self.beat_targets(session).await? {
            self.refuse("renew the restore record of");
            return Ok(None);
        }
        Ok(Some(Beat { outcome: WriteOutcome::Matched, cancel_requested }))
    }

    /// The records of this job's targets that a server sees. False when one of them is no longer ours.
    async fn beat_targets(&self, session: &mut PgConnection) -> Result<bool> {
        let ids = self.pg.held.registered(&self.token.key);
        if ids.is_empty() {
            return Ok(true);
        }
        let fail = |e| driver(BEAT, e);
        sqlx::query(
            "UPDATE table_restores SET heartbeat_at = clock_timestamp() \
             WHERE table_id = ANY($1) AND status = 'RUNNING' AND owner_generation = $2",
        )
        .bind(&ids)
        .bind(self.token.epoch.stored())
        .execute(&mut *session)
        .await
        .map_err(fail)?;
        // One that was published a moment ago is DONE, and still ours.
        let ours: i64 = sqlx::query(
            "SELECT count(*) FROM table_restores \
             WHERE table_id = ANY($1) AND owner_generation = $2 AND status IN ('RUNNING', 'DONE')",
        )
        .bind(&ids)
        .bind(self.token.epoch.stored())
        .fetch_one(session)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(fail)?;
        // One that was given up meanwhile is out of the list before its record changes.
        let still = self.pg.held.registered(&self.token.key);
        let expected = ids.iter().filter(|id| still.contains(id)).count();
        Ok(usize::try_from(ours).is_ok_and(|ours| ours >= expected))
    }

    /// Runs an update conditioned on the claim.
    async fn set(&self, operation: &'static str, sql: &'static str, value: String) -> Result<WriteOutcome> {
        if self.is_refused() {
            return Ok(WriteOutcome::NotMatched);
        }
        let query: Query<'_, PgDatabase, PgArguments> =
            sqlx::query(sql).bind(&self.job.0).bind(self.token.epoch.stored()).bind(&self.token.writer.0).bind(value);
        let mut kept = self.writes.lock().await;
        let mut line = match kept.take() {
            Some(line) => line,
            None => Line { catalog: self.pg.catalog_connection().await?, data: self.pg.data_connection().await? },
        };
        if !self.is_recorded(&mut line.data).await? {
            return Ok(WriteOutcome::NotMatched);
        }
        match query.execute(&mut line.catalog).await {
            Ok(done) => {
                *kept = Some(line);
                Ok(if done.rows_affected() == 1 { WriteOutcome::Matched } else { self.refuse("write") })
            }
            Err(e) if outcome_unknown(&e) => Ok(WriteOutcome::Unknown),
            Err(e) => Err(driver(operation, e)),
        }
    }

    /// Mints past every holder; nothing when the fence is no longer ours. A repeated end finds its own minting.
    async fn mint_past(&self, data: &mut PgConnection) -> Result<Option<FenceToken>> {
        let next = self.token.epoch.mint_above(Epoch::ZERO).map_err(|e| self.damaged(e))?;
        let past = FenceToken { epoch: next, ..self.token.clone() };
        match fence::read(data, &self.token.key, fence::Lock::None).await? {
            Some(found) if found.writer != self.token.writer => Ok(None),
            Some(found) if found.epoch == next && self.ending.load(Ordering::Acquire) => Ok(Some(past)),
            Some(found) if found.epoch == self.token.epoch => {
                self.ending.store(true, Ordering::Release);
                let moved = sqlx::query(
                    "UPDATE extenddb_admin.fences SET epoch = $2, minted_at = now() \
                     WHERE fence_key = $1 AND epoch = $3 AND writer = $4",
                )
                .bind(&self.token.key)
                .bind(next.stored())
                .bind(self.token.epoch.stored())
                .bind(&self.token.writer.0)
                .execute(data)
                .await
                .map_err(|e| driver(FINISH, e))?;
                Ok((moved.rows_affected() == 1).then_some(past))
            }
            _ => Ok(None),
        }
    }

    /// Progress, the record of staged tables (kept where they may still be there), and the fence last.
    async fn remove_traces(&self, data: &mut PgConnection, past: &FenceToken, status: JobStatus) -> Result<()> {
        let mut tx = data.begin().await.map_err(|e| driver(FINISH, e))?;
        let staged = if status == JobStatus::Succeeded {
            "DELETE FROM extenddb_admin.staged_tables WHERE fence_key = $1"
        } else {
            "DELETE FROM extenddb_admin.staged_tables WHERE fence_key = $1 \
             AND to_regclass('public.' || quote_ident(physical_name)) IS NULL"
        };
        for sql in ["DELETE FROM extenddb_admin.load_progress WHERE fence_key = $1", staged] {
            sqlx::query(sql).bind(&past.key).execute(&mut *tx).await.map_err(|e| driver(FINISH, e))?;
        }
        fence::remove(&mut tx, past).await?;
        tx.commit().await.map_err(|e| driver(FINISH, e))
    }
}
