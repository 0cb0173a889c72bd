//! The migration locks: ExtendDB's own advisory lock and ours, both held by one session.
//!
//! ExtendDB's `migrate` takes its key at transaction level, waits for it and gives up after five minutes;
//! holding the same key at session level keeps it out for our whole run. The lock is polled, never waited
//! for in the database: a blocking wait holds a snapshot that deadlocks with concurrent index builds.
//!
//! Source: ledgers page of PostgreSQL, section 5.

use std::time::{Duration, Instant};

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::connect::APPLICATION_NAME;
use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};

/// ExtendDB's key: the letters `EDB`, and 1.
pub const EXTENDDB_KEY: (i32, i32) = (0x0045_4442, 1);
/// Ours: the letters `EDA`, and 1.
pub const ADMIN_KEY: (i32, i32) = (0x0045_4441, 1);
/// Seed of the server's restore and backup locks: the letters `EDR`.
pub const RESTORE_SEED: i64 = 0x0045_4452;

const POLL_EVERY: Duration = Duration::from_millis(100);
/// Times a pair of connections is compared in search of a proxy.
const POOLER_ROUNDS: usize = 3;

/// Takes both locks, or says who holds them.
pub async fn take(conn: &mut PgConnection, deadline: Duration) -> Result<()> {
    let end = Instant::now() + deadline;
    for key in [ADMIN_KEY, EXTENDDB_KEY] {
        while !try_take(conn, key).await? {
            if Instant::now() >= end {
                return Err(busy(conn, key, deadline).await?);
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }
    Ok(())
}

async fn try_take(conn: &mut PgConnection, key: (i32, i32)) -> Result<bool> {
    sqlx::query("SELECT pg_try_advisory_lock($1, $2)")
        .bind(key.0)
        .bind(key.1)
        .fetch_one(conn)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|e| driver("take the migration lock", e))
}

async fn busy(conn: &mut PgConnection, key: (i32, i32), waited: Duration) -> Result<Error> {
    let whose = if key == EXTENDDB_KEY { "ExtendDB's migration lock" } else { "the migration lock" };
    let holders = sqlx::query(
        "SELECT format('process %s (%s), user %s, client %s, connected for %s s', a.pid, \
                coalesce(nullif(a.application_name, ''), 'no application name'), a.usename, \
                coalesce(host(a.client_addr), 'local'), \
                coalesce(extract(epoch FROM clock_timestamp() - a.backend_start)::bigint::text, '?')) \
         FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.classid::bigint = $1 \
           AND l.objid::bigint = $2 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    .bind(i64::from(key.0))
    .bind(i64::from(key.1))
    .fetch_all(conn)
    .await
    .map_err(|e| driver("look for the holder of the migration lock", e))?;
    let holders: Vec<String> = holders.iter().filter_map(|row| row.try_get(0).ok()).collect();
    let holder = if holders.is_empty() { "somebody who has just left".to_owned() } else { holders.join("; ") };
    Ok(Error::new(
        ErrorKind::Busy,
        "take the migration lock",
        format!(
            "{whose} is held by {holder}; waited {} s: try again, or wait longer with --lock-timeout",
            waited.as_secs()
        ),
    )
    .temporary())
}

/// Proves that this session still holds both locks.
pub async fn assert_held(conn: &mut PgConnection) -> Result<()> {
    let operation = "hold the migration lock";
    let held: i64 = sqlx::query(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid() \
         AND objsubid = 2 AND objid = 1 AND classid::bigint IN ($1, $2)",
    )
    .bind(i64::from(ADMIN_KEY.0))
    .bind(i64::from(EXTENDDB_KEY.0))
    .fetch_one(conn)
    .await
    .and_then(|row| row.try_get(0))
    .map_err(|e| driver(operation, e))?;
    if held == 2 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Fenced, operation, "the session does not hold it any more: run the same command again"))
}

/// Refuses a proxy that gives each transaction another server connection: session locks do not survive it.
///
/// Two sessions of ours are compared: behind such a proxy the second is given the process of the first.
pub async fn refuse_pooler(first: &mut PgConnection, second: &mut PgConnection) -> Result<()> {
    let own = backend_pid(first).await?;
    for _ in 0..POOLER_ROUNDS {
        let other = backend_pid(second).await?;
        let again = backend_pid(first).await?;
        if other == own || again != own {
            return Err(Error::new(
                ErrorKind::Config,
                "take the migration lock",
                "a pooling proxy stands between this program and PostgreSQL (the server process changes between \
                 statements), so no lock would hold: connect to PostgreSQL directly",
            ));
        }
    }
    Ok(())
}

async fn backend_pid(conn: &mut PgConnection) -> Result<i32> {
    sqlx::raw_sql("SELECT pg_backend_pid()")
        .fetch_one(conn)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|e| driver("look for a pooling proxy", e))
}

/// Sessions of others in the catalog and the data database: `(description, is a server)`, servers first.
///
/// A server is a session of the role that owns the catalog's tables, or one that holds a lock of the
/// ledgers page: a restore's, a backup claim's, the migration's. Copies of this program are left out: their jobs
/// are seen by their heartbeats.
pub async fn sessions(conn: &mut PgConnection, data_database: Option<&str>) -> Result<Vec<(String, bool)>> {
    let operation = "list connections";
    let claims = claims_query(conn).await?;
    let query = format!(
        "WITH holders AS (\
           SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.granted \
             AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
             AND ((l.objsubid = 2 AND l.classid::bigint = $1 AND l.objid = 1) \
               OR (l.objsubid = 1 AND (l.classid::bigint << 32 | l.objid::bigint) IN ({claims}))))\
         SELECT format('process %s (%s), user %s, client %s, database %s, connected for %s s', a.pid, \
                  coalesce(nullif(a.application_name, ''), 'no application name'), a.usename, \
                  coalesce(host(a.client_addr), 'local'), a.datname, \
                  coalesce(extract(epoch FROM clock_timestamp() - a.backend_start)::bigint::text, '?')), \
                (a.pid IN (SELECT pid FROM holders) OR a.usesysid IS NOT DISTINCT FROM \
                  (SELECT relowner FROM pg_class WHERE oid = to_regclass('settings'))) \
         FROM pg_stat_activity a \
         WHERE a.backend_type = 'client backend' AND a.application_name <> $2 \
           AND a.datname IN (current_database(), $3) ORDER BY 2 DESC, a.pid"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(query))
        .bind(i64::from(EXTENDDB_KEY.0))
        .bind(APPLICATION_NAME)
        .bind(data_database)
        .fetch_all(conn)
        .await
        .map_err(|e| driver(operation, e))?;
    let mut sessions = Vec::new();
    for row in rows {
        let pair = row.try_get(0).and_then(|text| Ok((text, row.try_get(1)?))).map_err(|e| driver(operation, e))?;
        sessions.push(pair);
    }
    Ok(sessions)
}

/// The keys of every lock that a restore or a backup of this catalog could hold, as a subquery.
async fn claims_query(conn: &mut PgConnection) -> Result<String> {
    let mut parts = Vec::new();
    for (table, key) in [("tables", "account_id || '/' || table_name"), ("backup_index", "'backup:' || backup_id")] {
        let there = format!("SELECT to_regclass('{table}') IS NOT NULL");
        if super::steps::ask(conn, &there).await? {
            parts.push(format!("SELECT hashtextextended({key}, {RESTORE_SEED}) FROM {table}"));
        }
    }
    if parts.is_empty() { Ok("SELECT NULL::bigint".to_owned()) } else { Ok(parts.join(" UNION ALL ")) }
}

/// How long a session lock is asked for again: one whose holder has just died is free a moment later.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the session lock over a text, asking for a moment and never waiting in the database.
///
/// # Errors
/// Database errors.
pub async fn take_session_lock(conn: &mut PgConnection, text: &str, seed: i64) -> Result<bool> {
    let end = Instant::now() + PATIENCE;
    loop {
        let taken = sqlx::query("SELECT pg_try_advisory_lock(hashtextextended($1, $2))")
            .bind(text)
            .bind(seed)
            .fetch_one(&mut *conn)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(|e| driver("take a session lock", e))?;
        if taken || Instant::now() >= end {
            return Ok(taken);
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Who holds the session lock over a text, for people.
///
/// # Errors
/// Database errors.
pub async fn session_lock_holder(conn: &mut PgConnection, text: &str, seed: i64) -> Result<Option<String>> {
    let operation = "look for the holder of a session lock";
    let row = sqlx::query(
        "SELECT format('database session %s (%s) from %s', l.pid, \
                coalesce(nullif(a.application_name, ''), 'no application name'), coalesce(host(a.client_addr), 'local')) \
         FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid) \
         WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
           AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
           AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($1, $2) LIMIT 1",
    )
    .bind(text)
    .bind(seed)
    .fetch_optional(conn)
    .await
    .map_err(|e| driver(operation, e))?;
    row.map(|row| row.try_get(0)).transpose().map_err(|e| driver(operation, e))
}
