//! Makes the physical tables of a restore and registers its target where the catalog wants that; and takes
//! both away again.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::Postgres;
use super::error::driver;
use super::fence::{self, Lock};
use super::layout::{Layouts, TableLayout};
use super::loader::{exists, lock_text, name_is_free};
use super::lock::{RESTORE_SEED, take_session_lock};
use super::publish::{Rows, State, state_of};
use super::shape::Shape;
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::FenceToken;

const STAGE: &str = "stage the table";
const DISCARD: &str = "remove the staged table";
const RELEASE: &str = "release the restore lock";

/// Registers and makes. Converges: what a former attempt of this job made is taken over.
///
/// # Errors
/// `Fenced`, `Conflict`, `Unrepresentable`; `Busy` when another restore holds the name.
pub async fn stage(pg: &Postgres, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
    let mut catalog = pg.catalog_connection().await?;
    let mut data = pg.data_connection().await?;
    let shape = Shape::of_catalog(&mut catalog).await?;
    let rows = Rows::of(&shape, plan)?;
    let layouts = Layouts::of(plan, pg.style_now(&mut data).await?)?;
    let table_id = &plan.definition.table_id;

    if shape.has_table_restores() && !shape.has_backup_index() {
        hold_restore_lock(pg, plan).await?;
    }
    if shape.has_backup_index() {
        register(pg, &mut catalog, &shape, &rows, fence, plan).await?;
        pg.held.register(&fence.key, table_id);
    } else {
        name_is_free(&mut catalog, &shape, &plan.target, Some(table_id)).await?;
    }

    let mut tx = data.begin().await.map_err(|e| driver(STAGE, e))?;
    let owner = owner_of_data(&mut tx).await?;
    for table in layouts.all() {
        make(&mut tx, fence, table_id, table, owner.as_deref()).await?;
    }
    fence::assert_held(&pg.held, &mut tx, fence, Lock::Share).await?;
    tx.commit().await.map_err(|e| driver(STAGE, e))?;
    close(catalog, STAGE).await?;
    close(data, STAGE).await
}

/// Removes what is staged, its progress and its registration; a published table is left alone.
///
/// # Errors
/// `Fenced`.
pub async fn discard(pg: &Postgres, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
    let mut catalog = pg.catalog_connection().await?;
    let mut data = pg.data_connection().await?;
    let shape = Shape::of_catalog(&mut catalog).await?;
    let table_id = &plan.definition.table_id;
    fence::assert_held(&pg.held, &mut data, fence, Lock::None).await?;
    let state = state_of(&mut catalog, table_id).await?;
    if state == State::Published {
        forget(pg, &mut data, fence, table_id).await?;
        return release(pg, fence, table_id).await;
    }
    if state == State::Registered {
        // A record that is given up needs no heartbeat, and must not look lost to one.
        pg.held.unregister(&fence.key, table_id);
        fail_registration(pg, &mut catalog, &mut data, &shape, fence, table_id).await?;
    }
    drop_staged(pg, &mut data, fence, table_id).await?;
    if state == State::Registered {
        remove_registration(&mut catalog, table_id).await?;
    }
    release(pg, fence, table_id).await?;
    close(catalog, DISCARD).await?;
    close(data, DISCARD).await
}

/// Holds the lock without which a 0.0.4 server takes a restore's target for abandoned.
async fn hold_restore_lock(pg: &Postgres, plan: &StagePlan) -> Result<()> {
    const OPERATION: &str = "take the restore lock";
    let table_id = &plan.definition.table_id;
    if let Some(mut session) = pg.held.take_lock(table_id)
        && session.ping().await.is_ok()
    {
        pg.held.keep_lock(table_id, session);
        return Ok(());
    }
    let mut session = pg.catalog_connection().await?;
    let taken = take_session_lock(&mut session, &lock_text(&plan.target), RESTORE_SEED).await?;
    if !taken {
        return Err(Error::new(ErrorKind::Busy, OPERATION, "another restore into this name is at work")
            .with("table", &plan.target.table_name)
            .with("account", &plan.target.account_id));
    }
    pg.held.keep_lock(table_id, session);
    Ok(())
}

/// Target `CREATING`, indexes `CREATING`, record `RUNNING` of kind `manifest`, in one transaction under the
/// backup row's lock. A record of a former attempt is taken over under this attempt's epoch.
async fn register(
    pg: &Postgres,
    catalog: &mut PgConnection,
    shape: &Shape,
    rows: &Rows<'_>,
    fence: &FenceToken,
    plan: &StagePlan,
) -> Result<()> {
    const OPERATION: &str = "register the restore";
    let table_id = &plan.definition.table_id;
    let mut tx = catalog.begin().await.map_err(|e| driver(OPERATION, e))?;
    if state_of(&mut tx, table_id).await? == State::Absent {
        hold_backup(&mut tx, shape, &plan.source_backup_arn).await?;
        name_is_free(&mut tx, shape, &plan.target, None).await?;
        rows.insert_table(&mut tx, "CREATING", 0, 0).await?;
        rows.insert_indexes(&mut tx, "CREATING").await?;
        rows.insert_running_restore(&mut tx, fence).await?;
    } else {
        let taken = sqlx::query(
            "UPDATE table_restores SET owner_generation = $2, heartbeat_at = now() \
             WHERE table_id = $1 AND status = 'RUNNING' AND owner_generation <= $2",
        )
        .bind(table_id)
        .bind(fence.epoch.stored())
        .execute(&mut *tx)
        .await
        .map_err(|e| driver(OPERATION, e))?;
        if taken.rows_affected() != 1 {
            let message =
                "the restore's record in table_restores is no longer ours: somebody failed it or took it over";
            let error = Error::new(ErrorKind::Fenced, OPERATION, message).with("table", &plan.target.table_name);
            pg.held.refuse(&fence.key, message);
            return Err(error);
        }
    }
    tx.commit().await.map_err(|e| driver(OPERATION, e))
}

/// Locks the backup's row, so that of a deletion and a restore one loses. A backup without a row (its store alone
/// knows it) needs none.
async fn hold_backup(conn: &mut PgConnection, shape: &Shape, backup_arn: &str) -> Result<()> {
    const OPERATION: &str = "hold the backup's row";
    for (table, sql) in [
        ("backup_index", "SELECT status FROM backup_index WHERE backup_arn = $1 FOR SHARE"),
        ("backups", "SELECT backup_status FROM backups WHERE backup_arn = $1 FOR SHARE"),
    ] {
        if !shape.has_table(table) {
            continue;
        }
        let row =
            sqlx::query(sql).bind(backup_arn).fetch_optional(&mut *conn).await.map_err(|e| driver(OPERATION, e))?;
        let status: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(OPERATION, e))?;
        if let Some(status) = status.filter(|s| s != "AVAILABLE") {
            let message = format!("the backup's status is {status}, expected AVAILABLE");
            return Err(Error::new(ErrorKind::NotFound, OPERATION, message).with("backup", backup_arn));
        }
    }
    Ok(())
}

/// The role that owns the server's own tables must own the new ones, or it could not serve them.
async fn owner_of_data(data: &mut PgConnection) -> Result<Option<String>> {
    let row = sqlx::query(
        "SELECT quote_ident(pg_get_userbyid(relowner)::text) FROM pg_class WHERE relnamespace = 'public'::regnamespace \
         AND relname IN ('stream_shards', 'stream_records', 'idempotency_tokens') \
         AND pg_get_userbyid(relowner) <> current_user ORDER BY relname DESC LIMIT 1",
    )
    .fetch_optional(data)
    .await
    .map_err(|e| driver(STAGE, e))?;
    row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(STAGE, e))
}

async fn make(
    data: &mut PgConnection,
    fence: &FenceToken,
    table_id: &str,
    table: &TableLayout,
    owner: Option<&str>,
) -> Result<()> {
    let recorded = sqlx::query(
        "INSERT INTO extenddb_admin.staged_tables (physical_name, fence_key, table_id) VALUES ($1, $2, $3) \
         ON CONFLICT (physical_name) DO NOTHING",
    )
    .bind(table.physical.name())
    .bind(&fence.key)
    .bind(table_id)
    .execute(&mut *data)
    .await
    .map_err(|e| driver(STAGE, e))?;
    if recorded.rows_affected() == 0 {
        let ours: bool = sqlx::query(
            "SELECT EXISTS (SELECT 1 FROM extenddb_admin.staged_tables \
             WHERE physical_name = $1 AND fence_key = $2 AND table_id = $3)",
        )
        .bind(table.physical.name())
        .bind(&fence.key)
        .bind(table_id)
        .fetch_one(&mut *data)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(STAGE, e))?;
        if ours && exists(data, &table.physical).await? {
            return Ok(());
        }
        if !ours {
            return Err(Error::new(ErrorKind::Conflict, STAGE, "another job has staged a table of this name")
                .with("physical table", table.physical.name()));
        }
    } else if exists(data, &table.physical).await? {
        return Err(Error::new(
            ErrorKind::Conflict,
            STAGE,
            "a physical table of this name is there and no job of ours made it",
        )
        .with("physical table", table.physical.name()));
    }
    run(data, table.create(), STAGE).await?;
    if let Some(owner) = owner {
        run(
            data,
            format!("ALTER TABLE {} OWNER TO {owner}", table.physical.sql()),
            "give the new table to the server's role",
        )
        .await?;
    }
    Ok(())
}

/// The record becomes `FAILED` before anything of the target is removed, conditioned on our generation.
async fn fail_registration(
    pg: &Postgres,
    catalog: &mut PgConnection,
    data: &mut PgConnection,
    shape: &Shape,
    fence: &FenceToken,
    table_id: &str,
) -> Result<()> {
    if !shape.has("table_restores", "status") {
        return Ok(());
    }
    let failed = sqlx::query(
        "UPDATE table_restores SET status = 'FAILED', failure_reason = COALESCE(failure_reason, 'given up'), \
         completed_at = now() WHERE table_id = $1 AND (status = 'RUNNING' AND owner_generation <= $2 \
         OR status = 'FAILED')",
    )
    .bind(table_id)
    .bind(fence.epoch.stored())
    .execute(catalog)
    .await
    .map_err(|e| driver(DISCARD, e))?;
    if failed.rows_affected() == 1 {
        return Ok(());
    }
    // Somebody else's generation: the fence says whether it is ours to wonder about.
    fence::assert_held(&pg.held, data, fence, Lock::None).await?;
    let message = "the restore's record in table_restores belongs to another generation";
    pg.held.refuse(&fence.key, message);
    Err(Error::new(ErrorKind::Fenced, DISCARD, message).with("table id", table_id))
}

/// Takes a published table's physical tables and progress off the record: nobody may take them for staged any more.
///
/// # Errors
/// `Fenced`; database errors.
pub async fn forget(pg: &Postgres, data: &mut PgConnection, fence: &FenceToken, table_id: &str) -> Result<()> {
    const OPERATION: &str = "forget what was staged";
    let mut tx = data.begin().await.map_err(|e| driver(OPERATION, e))?;
    fence::assert_held(&pg.held, &mut tx, fence, Lock::Share).await?;
    for sql in [
        "DELETE FROM extenddb_admin.staged_tables WHERE fence_key = $1 AND table_id = $2",
        "DELETE FROM extenddb_admin.load_progress WHERE fence_key = $1 AND table_id = $2",
    ] {
        sqlx::query(sql).bind(&fence.key).bind(table_id).execute(&mut *tx).await.map_err(|e| driver(OPERATION, e))?;
    }
    tx.commit().await.map_err(|e| driver(OPERATION, e))
}

/// Drops the physical tables that this job recorded for this table, and forgets its progress.
async fn drop_staged(pg: &Postgres, data: &mut PgConnection, fence: &FenceToken, table_id: &str) -> Result<()> {
    let mut tx = data.begin().await.map_err(|e| driver(DISCARD, e))?;
    fence::assert_held(&pg.held, &mut tx, fence, Lock::Share).await?;
    let names: Vec<String> = sqlx::query(
        "DELETE FROM extenddb_admin.staged_tables WHERE fence_key = $1 AND table_id = $2 \
         RETURNING quote_ident(physical_name)",
    )
    .bind(&fence.key)
    .bind(table_id)
    .fetch_all(&mut *tx)
    .await
    .and_then(|rows| rows.iter().map(|r| r.try_get(0)).collect())
    .map_err(|e| driver(DISCARD, e))?;
    for name in names {
        run(&mut tx, format!("DROP TABLE IF EXISTS public.{name}"), DISCARD).await?;
    }
    sqlx::query("DELETE FROM extenddb_admin.load_progress WHERE fence_key = $1 AND table_id = $2")
        .bind(&fence.key)
        .bind(table_id)
        .execute(&mut *tx)
        .await
        .map_err(|e| driver(DISCARD, e))?;
    tx.commit().await.map_err(|e| driver(DISCARD, e))
}

/// Indexes and record go with the row; only a `CREATING` table of this id.
async fn remove_registration(catalog: &mut PgConnection, table_id: &str) -> Result<()> {
    sqlx::query("DELETE FROM tables WHERE table_id = $1 AND table_status = 'CREATING'")
        .bind(table_id)
        .execute(catalog)
        .await
        .map(drop)
        .map_err(|e| driver(DISCARD, e))
}

/// Lets go of what this process holds for the table.
///
/// # Errors
/// Database errors.
pub async fn release(pg: &Postgres, fence: &FenceToken, table_id: &str) -> Result<()> {
    pg.held.unregister(&fence.key, table_id);
    match pg.held.take_lock(table_id) {
        Some(mut session) => {
            // Asked for, since a session that is closed keeps its locks for a moment.
            run(&mut session, "SELECT pg_advisory_unlock_all()".to_owned(), RELEASE).await?;
            close(session, RELEASE).await
        }
        None => Ok(()),
    }
}

async fn run(conn: &mut PgConnection, sql: String, operation: &'static str) -> Result<()> {
    conn.execute(AssertSqlSafe(sql)).await.map(drop).map_err(|e| driver(operation, e))
}

async fn close(conn: PgConnection, operation: &'static str) -> Result<()> {
    conn.close().await.map_err(|e| driver(operation, e))
}
