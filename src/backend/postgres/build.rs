//! Primary keys and indexes over what was loaded, and the count.

use futures_util::future::try_join_all;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::Postgres;
use super::error::driver;
use super::fence::{self, Lock};
use super::layout::{Layouts, TableLayout};
use super::snapshot::lift_timeouts;
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::FenceToken;

const BUILD: &str = "build the keys and indexes";
/// Memory of one index build, in MiB, unless the server gives more.
const BUILD_MEMORY_MIB: i64 = 128;
/// Physical tables worked on at once. The server's own parallel workers come on top.
const TABLES_AT_ONCE: usize = 2;

/// Builds what is missing and counts the items. Converges.
///
/// # Errors
/// `Conflict` when two items share a key; `Fenced`.
pub async fn finish(pg: &Postgres, fence: &FenceToken, plan: &StagePlan) -> Result<u64> {
    let mut data = pg.data_connection().await?;
    fence::assert_held(&pg.held, &mut data, fence, Lock::None).await?;
    let layouts = Layouts::of(plan, pg.style_now(&mut data).await?)?;
    let queue = std::sync::Mutex::new(layouts.all());
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    let lanes = (0..TABLES_AT_ONCE).map(|_| async {
        let Some(mut table) = next() else { return Ok(()) };
        let mut session = pg.data_connection().await?;
        prepare(&mut session).await?;
        loop {
            build(pg, &mut session, fence, table).await?;
            match next() {
                Some(another) => table = another,
                None => break,
            }
        }
        session.close().await.map_err(|e| driver(BUILD, e))
    });
    try_join_all(lanes).await?;
    lift_timeouts(&mut data).await?;
    let count = count(&mut data, &layouts.base).await?;
    data.close().await.map_err(|e| driver(BUILD, e))?;
    Ok(count)
}

async fn prepare(session: &mut PgConnection) -> Result<()> {
    lift_timeouts(session).await?;
    let sql = format!(
        "SELECT set_config('maintenance_work_mem', greatest(setting::bigint, {BUILD_MEMORY_MIB} * 1024)::text || 'kB', false) \
         FROM pg_settings WHERE name = 'maintenance_work_mem'"
    );
    session.execute(AssertSqlSafe(sql)).await.map(drop).map_err(|e| driver(BUILD, e))
}

async fn build(pg: &Postgres, session: &mut PgConnection, fence: &FenceToken, table: &TableLayout) -> Result<()> {
    if !has_primary_key(session, table).await? {
        statement(pg, session, fence, &table.add_primary_key()).await.map_err(|e| {
            if e.kind() == ErrorKind::Conflict {
                return Error::new(ErrorKind::Conflict, BUILD, format!("two items share a key: {}", e.message()))
                    .with("physical table", table.physical.name());
            }
            e
        })?;
    }
    for (sql, columns) in table.create_indexes() {
        if !has_index(session, table, columns).await? {
            statement(pg, session, fence, &sql).await?;
        }
    }
    let analyze = format!("ANALYZE {}", table.physical.sql());
    session.execute(AssertSqlSafe(analyze)).await.map(drop).map_err(|e| driver(BUILD, e))
}

/// One statement and the assertion of the fence in one transaction; the assertion comes last, so that the row is
/// not held while an index is built.
async fn statement(pg: &Postgres, session: &mut PgConnection, fence: &FenceToken, sql: &str) -> Result<()> {
    let mut tx = session.begin().await.map_err(|e| driver(BUILD, e))?;
    tx.execute(AssertSqlSafe(sql.to_owned())).await.map_err(|e| driver(BUILD, e))?;
    fence::assert_held(&pg.held, &mut tx, fence, Lock::Share).await?;
    tx.commit().await.map_err(|e| driver(BUILD, e))
}

async fn has_primary_key(session: &mut PgConnection, table: &TableLayout) -> Result<bool> {
    sqlx::query(
        "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = to_regclass($1) AND indisprimary AND indisvalid)",
    )
    .bind(table.physical.sql())
    .fetch_one(session)
    .await
    .and_then(|r| r.try_get(0))
    .map_err(|e| driver(BUILD, e))
}

/// Whether an index other than the primary key covers exactly these columns in this order.
async fn has_index(session: &mut PgConnection, table: &TableLayout, columns: &[String]) -> Result<bool> {
    sqlx::query(
        "SELECT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = to_regclass($1) AND NOT i.indisprimary \
         AND i.indisvalid AND i.indpred IS NULL AND $2::text[] = ARRAY(SELECT a.attname::text \
           FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, ord) \
           JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.ord))",
    )
    .bind(table.physical.sql())
    .bind(columns)
    .fetch_one(session)
    .await
    .and_then(|r| r.try_get(0))
    .map_err(|e| driver(BUILD, e))
}

async fn count(data: &mut PgConnection, table: &TableLayout) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {}", table.physical.sql());
    let items: i64 = sqlx::query(AssertSqlSafe(sql))
        .fetch_one(data)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver("count the loaded items", e))?;
    Ok(u64::try_from(items).unwrap_or_default())
}
