//! The reverse index of every index table, built without keeping writers away.
//!
//! Source: data page of PostgreSQL, section 5; data migration `003_gsi_base_key_index`.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use super::error::driver;
use super::steps::identifier;
use crate::backend::Result;

/// Index tables (they have a column `base_pk`) without a usable reverse index: the table, its primary key
/// without the leading `pk`, and whether an unusable index of the name is in the way.
const MISSING: &str = "SELECT c.relname::text, \
       (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.position) \
        FROM pg_index p, unnest(p.indkey) WITH ORDINALITY k(attnum, position) \
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum \
        WHERE p.indrelid = c.oid AND p.indisprimary AND a.attname LIKE 'base\\_%'), \
       r.indexrelid IS NOT NULL \
     FROM pg_class c LEFT JOIN (pg_index r JOIN pg_class n ON n.oid = r.indexrelid) \
       ON r.indrelid = c.oid AND n.relname = c.relname || '_base_key_idx' \
     WHERE c.relkind = 'r' AND c.relname LIKE '\\_ddb\\_%' AND c.relnamespace = 'public'::regnamespace \
       AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'base_pk' AND NOT a.attisdropped) \
       AND NOT coalesce(r.indisvalid, false) ORDER BY 1";

const OPERATION: &str = "build the reverse index";

/// Whether every index table has its reverse index.
pub async fn is_done(data: &mut PgConnection) -> Result<bool> {
    Ok(missing(data).await?.is_empty())
}

/// Builds those that are missing, one after another. One that an interrupted build left unusable is
/// dropped first. Not bound by the statement limit: the time depends on the table.
pub async fn build_missing(data: &mut PgConnection) -> Result<()> {
    let limit: String = sqlx::query("SHOW statement_timeout")
        .fetch_one(&mut *data)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|e| driver(OPERATION, e))?;
    run(data, "SET statement_timeout = 0").await?;
    let mut outcome = Ok(());
    for (table, columns, unusable) in missing(data).await? {
        let index = identifier(&format!("{table}_base_key_idx"));
        if unusable {
            outcome = run(data, &format!("DROP INDEX CONCURRENTLY IF EXISTS {index}")).await;
        }
        if outcome.is_ok() {
            let table = identifier(&table);
            outcome = run(data, &format!("CREATE INDEX CONCURRENTLY {index} ON {table} ({columns})")).await;
        }
        if outcome.is_err() {
            break;
        }
    }
    run(data, &format!("SET statement_timeout = '{limit}'")).await.and(outcome)
}

async fn missing(data: &mut PgConnection) -> Result<Vec<(String, String, bool)>> {
    let rows = sqlx::query(MISSING).fetch_all(data).await.map_err(|e| driver(OPERATION, e))?;
    let read = |row: &sqlx::postgres::PgRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    rows.iter().map(read).collect::<std::result::Result<_, sqlx::Error>>().map_err(|e| driver(OPERATION, e))
}

async fn run(data: &mut PgConnection, sql: &str) -> Result<()> {
    data.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(drop).map_err(|e| driver(OPERATION, e))
}
