//! The one catalog transaction that makes a restored table visible, and the rows it writes.
//!
//! Source: PostgreSQL data layout, section 8: the rows are those a server would have written.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::Postgres;
use super::error::{driver, outcome_unknown};
use super::fence::{self, Lock};
use super::layout::Layouts;
use super::loader::{name_is_free, read_progress};
use super::shape::Shape;
use super::stage::{forget, release};
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::catalog_row::{IndexTexts, TableTexts, index_texts, table_texts};
use crate::domain::claim::{FenceToken, WriteOutcome};

const PUBLISH: &str = "publish the table";

/// What the catalog knows of a table id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// A `CREATING` row.
    Registered,
    /// A row in any other state: it was published.
    Published,
}

/// Looks a table id up, and locks its row.
///
/// # Errors
/// Database errors.
pub async fn state_of(conn: &mut PgConnection, table_id: &str) -> Result<State> {
    let row = sqlx::query("SELECT table_status FROM tables WHERE table_id = $1")
        .bind(table_id)
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(PUBLISH, e))?;
    let status: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(PUBLISH, e))?;
    Ok(match status.as_deref() {
        None => State::Absent,
        Some("CREATING") => State::Registered,
        Some(_) => State::Published,
    })
}

/// Makes the table visible, conditioned on the fence and, at 0.0.5, on the record's generation.
///
/// The fence is held in the data database until the catalog has committed, so that nobody takes over in between.
///
/// # Errors
/// `Conflict` when the name was taken; `Fenced`.
pub async fn publish(pg: &Postgres, fence: &FenceToken, plan: &StagePlan) -> Result<WriteOutcome> {
    let mut catalog = pg.catalog_connection().await?;
    let mut data = pg.data_connection().await?;
    let shape = Shape::of_catalog(&mut catalog).await?;
    let rows = Rows::of(&shape, plan)?;
    let table_id = &plan.definition.table_id;
    let layouts = Layouts::of(plan, pg.style_now(&mut data).await?)?;
    let mut guard = data.begin().await.map_err(|e| driver(PUBLISH, e))?;
    fence::assert_held(&pg.held, &mut guard, fence, Lock::Share).await?;
    if state_of(&mut catalog, table_id).await? == State::Published {
        guard.rollback().await.map_err(|e| driver(PUBLISH, e))?;
        forget(pg, &mut data, fence, table_id).await?;
        release(pg, fence, table_id).await?;
        return Ok(WriteOutcome::Matched);
    }
    let progress = read_progress(&mut guard, fence, table_id).await?;
    let items: u64 = progress.files.iter().map(|f| f.items).sum();
    let items = i64::try_from(items).unwrap_or(i64::MAX);
    let size: i64 = sqlx::query("SELECT pg_relation_size($1::regclass)")
        .bind(layouts.base.physical.sql())
        .fetch_one(&mut *guard)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(PUBLISH, e))?;

    let mut tx = catalog.begin().await.map_err(|e| driver(PUBLISH, e))?;
    claim_is_ours(pg, &mut tx, fence).await?;
    let written = if shape.has_backup_index() {
        rows.activate(&mut tx, fence, items, size).await?
    } else {
        name_is_free(&mut tx, &shape, &plan.target, None).await?;
        rows.insert_table(&mut tx, "ACTIVE", items, size).await?;
        rows.insert_indexes(&mut tx, "ACTIVE").await?;
        if shape.has_table_restores() {
            rows.insert_registration(&mut tx).await?;
        }
        true
    };
    if !written {
        tx.rollback().await.map_err(|e| driver(PUBLISH, e))?;
        pg.held.refuse(&fence.key, "the restore's record in table_restores is no longer ours");
        return Ok(WriteOutcome::NotMatched);
    }
    let outcome = match tx.commit().await {
        Ok(()) => WriteOutcome::Matched,
        Err(e) if outcome_unknown(&e) => read_back(pg, table_id).await,
        Err(e) => return Err(driver(PUBLISH, e)),
    };
    // The guard ends with its session; that it could not be ended nicely changes nothing.
    let _ = guard.rollback().await;
    if outcome == WriteOutcome::Matched {
        forget(pg, &mut data, fence, table_id).await?;
        release(pg, fence, table_id).await?;
    }
    Ok(outcome)
}

/// After a lost connection: the table is there or it is not known whether it will be.
async fn read_back(pg: &Postgres, table_id: &str) -> WriteOutcome {
    let Ok(mut catalog) = pg.catalog_connection().await else { return WriteOutcome::Unknown };
    match state_of(&mut catalog, table_id).await {
        Ok(State::Published) => WriteOutcome::Matched,
        _ => WriteOutcome::Unknown,
    }
}

/// The job's row in the catalog carries the same epoch and writer as the fence, and stays so until the commit.
async fn claim_is_ours(pg: &Postgres, catalog: &mut PgConnection, fence: &FenceToken) -> Result<()> {
    let row = sqlx::query("SELECT epoch, writer FROM extenddb_admin.jobs WHERE fence_key = $1 FOR SHARE")
        .bind(&fence.key)
        .fetch_optional(catalog)
        .await
        .map_err(|e| driver(PUBLISH, e))?;
    let found = row
        .map(|r| -> Result<(i64, Option<String>), sqlx::Error> { Ok((r.try_get(0)?, r.try_get(1)?)) })
        .transpose()
        .map_err(|e| driver(PUBLISH, e))?;
    if found == Some((fence.epoch.stored(), Some(fence.writer.0.clone()))) {
        return Ok(());
    }
    let found = match found {
        None => None,
        Some((epoch, writer)) => Some(fence::Recorded {
            epoch: fence::epoch_of(epoch, "extenddb_admin.jobs", &fence.key)?,
            writer: crate::domain::claim::Writer(writer.unwrap_or_default()),
        }),
    };
    let error = fence::refused(fence, found.as_ref());
    pg.held.refuse(&fence.key, error.message());
    Err(error)
}

/// The catalog's rows about one table to be made.
pub struct Rows<'p> {
    plan: &'p StagePlan,
    shape: Shape,
    table: TableTexts,
    indexes: Vec<IndexTexts>,
}

impl<'p> Rows<'p> {
    /// Works them out.
    ///
    /// # Errors
    /// `Unrepresentable` for what this catalog has no column for.
    pub fn of(shape: &Shape, plan: &'p StagePlan) -> Result<Self> {
        let table = &plan.definition;
        let unfit =
            |message: String| Error::new(ErrorKind::Unrepresentable, PUBLISH, message).with("table", &table.table_name);
        let texts = table_texts(table);
        for (column, wanted) in [
            ("table_class", table.table_class.is_some()),
            ("sse_specification", texts.sse_specification.is_some()),
            ("on_demand_throughput", texts.on_demand_throughput.is_some()),
        ] {
            if wanted && !shape.has("tables", column) {
                let message = format!("this catalog's table tables has no column {column}: run migrate repair");
                return Err(unfit(message));
            }
        }
        if table.vector_indexes.is_some() {
            return Err(unfit("vector indexes cannot be built".to_owned()));
        }
        let indexes = index_texts(table, &plan.index_ids).map_err(unfit)?;
        Ok(Self { plan, shape: shape.clone(), table: texts, indexes })
    }

    /// The row of `tables`: streams, TTL and deletion protection off, no pending transition.
    pub async fn insert_table(&self, conn: &mut PgConnection, status: &str, items: i64, size: i64) -> Result<()> {
        let mut columns = String::new();
        let mut values = String::new();
        for (name, parameter) in [
            ("table_class", "$13"),
            ("sse_specification", "$14::text::jsonb"),
            ("on_demand_throughput", "$15::text::jsonb"),
        ] {
            if self.shape.has("tables", name) {
                columns.push_str(&format!(", {name}"));
                values.push_str(&format!(", {parameter}"));
            }
        }
        // Parameters that this catalog has no column for must occur somewhere.
        let sql = format!(
            "INSERT INTO tables (account_id, table_name, key_schema, attribute_definitions, billing_mode, \
             provisioned_throughput, stream_specification, table_status, creation_date_time, table_size_bytes, item_count, \
             table_arn, table_id, ttl_attribute, deletion_protection_enabled, status_transition_at, stream_label, \
             ttl_index_ready{columns}) \
             SELECT $1, $2, $3::text::jsonb, $4::text::jsonb, $5, $6::text::jsonb, NULL, $7, now(), $8, $9, $10, $11, NULL, \
             false, NULL, NULL, false{values} \
             WHERE $12::bool AND ($13::text IS NULL OR true) AND ($14::text IS NULL OR true) AND ($15::text IS NULL OR true)"
        );
        let (table, texts) = (&self.plan.definition, &self.table);
        sqlx::query(AssertSqlSafe(sql))
            .bind(&self.plan.target.account_id)
            .bind(&self.plan.target.table_name)
            .bind(&texts.key_schema)
            .bind(&texts.attribute_definitions)
            .bind(texts.billing_mode)
            .bind(&texts.provisioned_throughput)
            .bind(status)
            .bind(size)
            .bind(items)
            .bind(&table.table_arn)
            .bind(&table.table_id)
            .bind(true)
            .bind(&table.table_class)
            .bind(&texts.sse_specification)
            .bind(&texts.on_demand_throughput)
            .execute(conn)
            .await
            .map(drop)
            .map_err(|e| self.insert_error(e))
    }

    fn insert_error(&self, error: sqlx::Error) -> Error {
        let code = error.as_database_error().and_then(|d| d.code()).map(std::borrow::Cow::into_owned);
        let target = &self.plan.target;
        let error = match code.as_deref() {
            Some("23505") => Error::new(ErrorKind::Conflict, PUBLISH, "the name was taken meanwhile"),
            Some("23503") => Error::new(ErrorKind::NotFound, PUBLISH, "the account is no longer there"),
            _ => driver(PUBLISH, error),
        };
        error.with("table", &target.table_name).with("account", &target.account_id)
    }

    /// The rows of `indexes`; propagation as the server's default.
    pub async fn insert_indexes(&self, conn: &mut PgConnection, status: &str) -> Result<()> {
        let with_id = self.shape.has("indexes", "index_id");
        let sql = if with_id {
            "INSERT INTO indexes (table_id, index_name, index_type, key_schema, projection, index_status, \
             provisioned_throughput, index_id) VALUES ($1, $2, $3, $4::text::jsonb, $5::text::jsonb, $6, $7::text::jsonb, $8)"
        } else {
            "INSERT INTO indexes (table_id, index_name, index_type, key_schema, projection, index_status, \
             provisioned_throughput) VALUES ($1, $2, $3, $4::text::jsonb, $5::text::jsonb, $6, $7::text::jsonb)"
        };
        for index in &self.indexes {
            let mut query = sqlx::query(sql)
                .bind(&self.plan.definition.table_id)
                .bind(&index.index_name)
                .bind(index.index_type)
                .bind(&index.key_schema)
                .bind(&index.projection)
                .bind(status)
                .bind(&index.provisioned_throughput);
            if with_id {
                query = query.bind(&index.index_id);
            }
            query.execute(&mut *conn).await.map_err(|e| driver(PUBLISH, e).with("index", &index.index_name))?;
        }
        Ok(())
    }

    /// The registration of 0.0.4: where the table came from.
    pub async fn insert_registration(&self, conn: &mut PgConnection) -> Result<()> {
        sqlx::query("INSERT INTO table_restores (table_id, source_backup_arn) VALUES ($1, $2)")
            .bind(&self.plan.definition.table_id)
            .bind(&self.plan.source_backup_arn)
            .execute(conn)
            .await
            .map(drop)
            .map_err(|e| driver(PUBLISH, e))
    }

    /// The record of 0.0.5: `RUNNING`, kind `manifest` also when the source is an in-catalog backup, for a server
    /// fails dead `legacy` records.
    pub async fn insert_running_restore(&self, conn: &mut PgConnection, fence: &FenceToken) -> Result<()> {
        let store = self.plan.store.as_ref();
        sqlx::query(
            "INSERT INTO table_restores (table_id, source_backup_arn, restore_date_time, status, kind, store_kind, \
             store_root, store_id, owner_generation, heartbeat_at, file_index, items_applied) \
             VALUES ($1, $2, now(), 'RUNNING', 'manifest', $3, $4, $5, $6, now(), 0, 0)",
        )
        .bind(&self.plan.definition.table_id)
        .bind(&self.plan.source_backup_arn)
        .bind(store.map(|s| &s.kind))
        .bind(store.map(|s| &s.root))
        .bind(store.map(|s| &s.id).filter(|id| !id.is_empty()))
        .bind(fence.epoch.stored())
        .execute(conn)
        .await
        .map(drop)
        .map_err(|e| driver("register the restore", e))
    }

    /// `ACTIVE` and `DONE` together (0.0.5). False when either is no longer ours to change.
    async fn activate(&self, conn: &mut PgConnection, fence: &FenceToken, items: i64, size: i64) -> Result<bool> {
        let table_id = &self.plan.definition.table_id;
        let done = sqlx::query(
            "UPDATE table_restores SET status = 'DONE', completed_at = now(), heartbeat_at = now(), items_applied = $3 \
             WHERE table_id = $1 AND status = 'RUNNING' AND owner_generation = $2",
        )
        .bind(table_id)
        .bind(fence.epoch.stored())
        .bind(items)
        .execute(&mut *conn)
        .await
        .map_err(|e| driver(PUBLISH, e))?;
        let active = sqlx::query(
            "UPDATE tables SET table_status = 'ACTIVE', status_transition_at = NULL, item_count = $2, \
             table_size_bytes = $3 WHERE table_id = $1 AND table_status = 'CREATING'",
        )
        .bind(table_id)
        .bind(items)
        .bind(size)
        .execute(&mut *conn)
        .await
        .map_err(|e| driver(PUBLISH, e))?;
        sqlx::query("UPDATE indexes SET index_status = 'ACTIVE' WHERE table_id = $1 AND index_status = 'CREATING'")
            .bind(table_id)
            .execute(conn)
            .await
            .map_err(|e| driver(PUBLISH, e))?;
        Ok(done.rows_affected() == 1 && active.rows_affected() == 1)
    }
}
