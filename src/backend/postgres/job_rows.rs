//! Rows of `extenddb_admin.jobs`, read and checked.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::error::driver;
use super::fence::epoch_of;
use super::tables::epoch_ms;
use crate::backend::jobs::JobFilter;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::Writer;
use crate::domain::job::{JobId, JobKind, JobRecord, JobStatus};
use crate::domain::timestamp::TimestampMs;

const READ: &str = "read the jobs";
const TABLE: &str = "extenddb_admin.jobs";
/// Most jobs that one call lists.
const MAX_LISTED_JOBS: i64 = 4096;

/// Which jobs to read.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// One.
    Id(&'a JobId),
    /// Those that have not ended, of one target or of all.
    Open(Option<&'a str>),
    /// The one of an idempotency key: principal, target, key.
    Key(&'a str, &'a str, &'a str),
    /// Those that a filter lets through, newest first.
    Filter(&'a JobFilter),
}

/// Jobs, oldest first unless a filter asks otherwise. Empty where our tables do not exist yet.
///
/// # Errors
/// `Damaged` names the row.
pub async fn read(conn: &mut PgConnection, which: Which<'_>) -> Result<Vec<JobRecord>> {
    if !admin_exists(conn).await? {
        return Ok(Vec::new());
    }
    let filter = match which {
        Which::Id(_) => "id::text = $1 AND $2::text IS NULL AND $3::text IS NULL",
        Which::Open(_) => {
            "finished_at IS NULL AND ($1::text IS NULL OR target = $1) AND $2::text IS NULL AND $3::text IS NULL"
        }
        Which::Key(..) => "principal = $1 AND target = $2 AND idempotency_key = $3",
        Which::Filter(_) => {
            "($1::text IS NULL OR status = ANY(string_to_array($1, ','))) AND ($2::text IS NULL OR kind = $2) \
             AND ($3::text IS NULL OR id < $3::text::bigint)"
        }
    };
    let statuses = match which {
        Which::Filter(filter) => filter.statuses.iter().map(|s| s.word()).collect::<Vec<_>>().join(","),
        _ => String::new(),
    };
    let (order, limit) = match which {
        Which::Filter(filter) => ("DESC", i64::from(filter.limit)),
        _ => ("ASC", MAX_LISTED_JOBS),
    };
    let values: [Option<&str>; 3] = match which {
        Which::Id(id) => [Some(&id.0), None, None],
        Which::Open(target) => [target, None, None],
        Which::Key(principal, target, key) => [Some(principal), Some(target), Some(key)],
        Which::Filter(filter) => {
            if filter.before.as_ref().is_some_and(|id| id.0.parse::<i64>().is_err()) {
                return Ok(Vec::new()); // no job has such an id
            }
            let statuses = Some(statuses.as_str()).filter(|s| !s.is_empty());
            [statuses, filter.kind.map(JobKind::word), filter.before.as_ref().map(|id| id.0.as_str())]
        }
    };
    let sql = format!(
        "SELECT id, kind, status, attempt, target, request, request_fingerprint, idempotency_key, principal, epoch, \
         writer, {age}, {created}, {started}, {finished}, progress, result \
         FROM {TABLE} WHERE {filter} ORDER BY id {order} LIMIT {limit}",
        age = epoch_ms("(clock_timestamp() - heartbeat_at)"),
        created = epoch_ms("created_at"),
        started = epoch_ms("started_at"),
        finished = epoch_ms("finished_at"),
    );
    let mut query = sqlx::query(AssertSqlSafe(sql));
    for value in values {
        query = query.bind(value);
    }
    let rows = query.fetch_all(conn).await.map_err(|e| driver(READ, e))?;
    rows.iter().map(record).collect()
}

/// Our tables are there.
///
/// # Errors
/// Database errors.
pub async fn admin_exists(conn: &mut PgConnection) -> Result<bool> {
    sqlx::query("SELECT to_regclass('extenddb_admin.jobs') IS NOT NULL")
        .fetch_one(conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(READ, e))
}

fn record(row: &PgRow) -> Result<JobRecord> {
    let id: i64 = row.try_get(0).map_err(|e| driver(READ, e))?;
    let bad = |column: &str, problem: String| {
        Error::new(ErrorKind::Damaged, READ, format!("{column}: {problem}")).with("row", format!("job {id} of {TABLE}"))
    };
    let fail = |e| driver(READ, e);
    let (kind, status): (String, String) = (row.try_get(1).map_err(fail)?, row.try_get(2).map_err(fail)?);
    let attempt: i32 = row.try_get(3).map_err(fail)?;
    let (request, progress): (String, String) = (row.try_get(5).map_err(fail)?, row.try_get(15).map_err(fail)?);
    let result: Option<String> = row.try_get(16).map_err(fail)?;
    let writer: Option<String> = row.try_get(10).map_err(fail)?;
    Ok(JobRecord {
        id: JobId(id.to_string()),
        kind: [JobKind::Backup, JobKind::Restore]
            .into_iter()
            .find(|k| k.word() == kind)
            .ok_or_else(|| bad("kind", format!("{kind:?} is no kind of job")))?,
        status: JobStatus::parse(&status).ok_or_else(|| bad("status", format!("{status:?} is no status")))?,
        attempt: u32::try_from(attempt).map_err(|_| bad("attempt", format!("{attempt} is negative")))?,
        target: row.try_get(4).map_err(fail)?,
        request: serde_json::from_str(&request).map_err(|e| bad("request", e.to_string()))?,
        request_fingerprint: row.try_get(6).map_err(fail)?,
        idempotency_key: row.try_get(7).map_err(fail)?,
        principal: row.try_get(8).map_err(fail)?,
        epoch: epoch_of(row.try_get(9).map_err(fail)?, TABLE, &id.to_string())?,
        writer: writer.map(Writer),
        heartbeat_age_ms: row.try_get(11).map_err(fail)?,
        created_at: TimestampMs(row.try_get(12).map_err(fail)?),
        started_at: row.try_get::<Option<i64>, _>(13).map_err(fail)?.map(TimestampMs),
        finished_at: row.try_get::<Option<i64>, _>(14).map_err(fail)?.map(TimestampMs),
        progress: serde_json::from_str(&progress).map_err(|e| bad("progress", e.to_string()))?,
        result: result.map(|t| serde_json::from_str(&t).map_err(|e| bad("result", e.to_string()))).transpose()?,
    })
}
