//! Who else is at work in a database: sessions of the role that owns it, and the lock of a migration.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::connect::APPLICATION_NAME;
use super::error::driver;
use crate::backend::Result;

/// Class and object of the server's own migration lock: `EDB`, 1. Source: PostgreSQL ledgers, section 5.
const MIGRATION_LOCK: (i32, i32) = (0x0045_4442, 1);

/// Sessions in this database that look like a server at work, in words: those of the role that owns
/// ExtendDB's tables (ours excepted), and a holder of the migration lock.
///
/// # Errors
/// Database errors.
pub async fn live_servers(conn: &mut PgConnection, database: &str) -> Result<Vec<String>> {
    const OPERATION: &str = "look for live servers";
    let rows = sqlx::query(
        "SELECT a.pid, a.usename::text, COALESCE(a.application_name, ''), COALESCE(a.client_addr::text, 'local'), \
           EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted \
                   AND l.classid = $2::int4::oid AND l.objid = $3::int4::oid AND l.objsubid = 2) \
         FROM pg_stat_activity a WHERE a.datname = current_database() AND a.backend_type = 'client backend' \
         AND a.pid <> pg_backend_pid() AND a.application_name IS DISTINCT FROM $1 \
         AND (EXISTS (SELECT 1 FROM pg_class c WHERE c.relowner = a.usesysid AND c.relkind = 'r' \
                      AND c.relnamespace = 'public'::regnamespace \
                      AND c.relname IN ('settings', 'tables', 'stream_shards')) \
           OR EXISTS (SELECT 1 FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory' AND l.granted \
                      AND l.classid = $2::int4::oid AND l.objid = $3::int4::oid AND l.objsubid = 2)) \
         ORDER BY a.pid",
    )
    .bind(APPLICATION_NAME)
    .bind(MIGRATION_LOCK.0)
    .bind(MIGRATION_LOCK.1)
    .fetch_all(conn)
    .await
    .map_err(|e| driver(OPERATION, e))?;
    let mut seen = Vec::with_capacity(rows.len());
    for row in rows {
        let describe = || -> Result<String, sqlx::Error> {
            let (pid, role, name): (i32, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let (from, migrating): (String, bool) = (row.try_get(3)?, row.try_get(4)?);
            let name = if name.is_empty() { "without a name".to_owned() } else { format!("named {name:?}") };
            let lock = if migrating { ", holds the migration lock" } else { "" };
            Ok(format!("session {pid} of role {role} in the {database}, {name}, from {from}{lock}"))
        };
        seen.push(describe().map_err(|e| driver(OPERATION, e))?);
    }
    Ok(seen)
}

/// Whether two connections lead to one database of one server.
///
/// # Errors
/// Database errors.
pub async fn same_database(a: &mut PgConnection, b: &mut PgConnection) -> Result<bool> {
    Ok(identity(a).await? == identity(b).await?)
}

async fn identity(conn: &mut PgConnection) -> Result<(String, String)> {
    const OPERATION: &str = "tell databases apart";
    // The start time to the microsecond and the port stand for the server: the system identifier is not
    // readable for everyone.
    let row = sqlx::query(
        "SELECT current_database()::text, pg_postmaster_start_time()::text || ' ' || current_setting('port')",
    )
    .fetch_one(conn)
    .await
    .map_err(|e| driver(OPERATION, e))?;
    let read = || -> Result<_, sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
    read().map_err(|e| driver(OPERATION, e))
}
