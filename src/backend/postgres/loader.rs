//! Role `loader` on this backend: what a target can hold, and the order of the phases.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Row as _};

use super::batch::Batch;
use super::catalog::accounts;
use super::error::driver;
use super::fence::{self, Lock};
use super::layout::{Layouts, Style};
use super::lock::{RESTORE_SEED, session_lock_holder};
use super::names::Physical;
use super::shape::Shape;
use super::{Postgres, build, encoding, publish, readback, stage};
use crate::backend::loader::{FileDone, LoadBatch, LoadProgress, Loader, StagePlan, TargetRules};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::arn::region_of;
use crate::domain::claim::{FenceToken, WriteOutcome};
use crate::domain::digest::TableDigest;
use crate::domain::item::ControlChars;
use crate::domain::table::TableKey;

const RULES: &str = "learn what the target can hold";
const CHECK: &str = "check the target";
/// PostgreSQL's numeric keeps every digit that DynamoDB allows.
const SORT_NUMBER_DIGITS: u32 = 38;
/// Data ledger row of the reverse indexes.
const REVERSE_INDEX_MIGRATION: &str = "003_gsi_base_key_index";

#[async_trait::async_trait]
impl Loader for Postgres {
    async fn target_rules(&self) -> Result<TargetRules> {
        let mut catalog = self.catalog_connection().await?;
        Shape::of_catalog(&mut catalog).await?;
        let mut data = self.data_connection().await?;
        let encoding = encoding::of_items(&mut data, Some(&mut catalog)).await?;
        let region = existing_region(&mut catalog).await?.or_else(|| self.connector.options().region.clone());
        Ok(TargetRules {
            encoding,
            nul_allowed: encoding == ControlChars::Escaped,
            sort_number_digits: SORT_NUMBER_DIGITS,
            // The exact form of a vector index's table was never seen, so none is made.
            vector_indexes: false,
            region,
        })
    }

    async fn check_target(&self, target: &TableKey) -> Result<()> {
        let mut conn = self.catalog_connection().await?;
        let shape = Shape::of_catalog(&mut conn).await?;
        if !accounts(&mut conn).await?.contains(&target.account_id) {
            return Err(Error::new(ErrorKind::NotFound, CHECK, "the deployment has no such account")
                .with("account", &target.account_id));
        }
        name_is_free(&mut conn, &shape, target, None).await?;
        lock_is_free(&mut conn, target).await
    }

    async fn stage(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        stage::stage(self, fence, plan).await
    }

    async fn load_progress(&self, fence: &FenceToken, plan: &StagePlan) -> Result<LoadProgress> {
        let mut data = self.data_connection().await?;
        read_progress(&mut data, fence, &plan.definition.table_id).await
    }

    async fn begin_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<Box<dyn LoadBatch>> {
        let mut data = self.data_connection().await?;
        fence::assert_held(&self.held, &mut data, fence, Lock::None).await?;
        let layouts = Layouts::of(plan, self.style_now(&mut data).await?)?;
        let encoding = encoding::of_items(&mut data, None).await?;
        let batch =
            Batch::begin(self.clone(), data, fence.clone(), plan.definition.table_id.clone(), layouts, encoding);
        Ok(Box::new(batch.await?))
    }

    async fn finish_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<u64> {
        build::finish(self, fence, plan).await
    }

    async fn staged_digest(&self, fence: &FenceToken, plan: &StagePlan) -> Result<TableDigest> {
        let mut data = self.data_connection().await?;
        fence::assert_held(&self.held, &mut data, fence, Lock::None).await?;
        let physical = Layouts::of(plan, self.style_now(&mut data).await?)?.base.physical;
        readback::digest(self, plan, physical).await
    }

    async fn publish(&self, fence: &FenceToken, plan: &StagePlan) -> Result<WriteOutcome> {
        publish::publish(self, fence, plan).await
    }

    async fn discard(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        stage::discard(self, fence, plan).await
    }
}

impl Postgres {
    /// How this deployment's physical tables look: as its newest tables and its data ledger have it; in an empty
    /// one with collation and reverse indexes.
    ///
    /// # Errors
    /// Database errors.
    pub(super) async fn style(&self, catalog: &mut PgConnection, data: &mut PgConnection) -> Result<Style> {
        let shape = Shape::of_catalog(catalog).await?;
        let named_by_table = shape.named_by_table();
        let newest = newest_table(catalog, named_by_table).await?;
        let collate_c = match &newest {
            Some(physical) => has_collation_c(data, physical).await?.unwrap_or(true),
            None => true,
        };
        let reverse_index = if encoding::ledger_has(data, REVERSE_INDEX_MIGRATION).await? {
            true
        } else {
            match newest_index(catalog, named_by_table).await? {
                Some(physical) => exists(data, &physical.reverse_index()).await?,
                // Builds without the collation had no reverse index either.
                None => collate_c,
            }
        };
        Ok(Style { collate_c, reverse_index, named_by_table })
    }

    /// [`Postgres::style`], asked once per process.
    ///
    /// # Errors
    /// Database errors.
    pub(super) async fn style_now(&self, data: &mut PgConnection) -> Result<Style> {
        if let Some(style) = self.held.style() {
            return Ok(style);
        }
        let mut catalog = self.catalog_connection().await?;
        let style = self.style(&mut catalog, data).await?;
        catalog.close().await.map_err(|e| driver(RULES, e))?;
        self.held.keep_style(style);
        Ok(style)
    }
}

/// Refuses a name that a table has, other than the one with our own id.
///
/// # Errors
/// `Conflict`; `Busy` for the target of a restore, naming its backup.
pub async fn name_is_free(
    conn: &mut PgConnection,
    shape: &Shape,
    target: &TableKey,
    own_id: Option<&str>,
) -> Result<()> {
    let sql = if shape.has_table_restores() {
        "SELECT t.table_id, t.table_status, r.source_backup_arn FROM tables t \
         LEFT JOIN table_restores r ON r.table_id = t.table_id WHERE t.account_id = $1 AND t.table_name = $2"
    } else {
        "SELECT table_id, table_status, NULL::text FROM tables WHERE account_id = $1 AND table_name = $2"
    };
    let row = sqlx::query(sql)
        .bind(&target.account_id)
        .bind(&target.table_name)
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(CHECK, e))?;
    let Some(row) = row else { return Ok(()) };
    let read = || -> Result<(String, String, Option<String>), sqlx::Error> {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    };
    let (id, status, source) = read().map_err(|e| driver(CHECK, e))?;
    if own_id == Some(id.as_str()) {
        return Ok(());
    }
    let error = match source {
        Some(source) if status == "CREATING" => {
            Error::new(ErrorKind::Busy, CHECK, format!("a restore of {source} is making this table"))
        }
        _ => Error::new(ErrorKind::Conflict, CHECK, format!("a table of this name exists, its status is {status}")),
    };
    Err(error.with("table", &target.table_name).with("account", &target.account_id))
}

/// A server below 0.0.5 that restores into this name holds an advisory lock: looked at without waiting.
async fn lock_is_free(conn: &mut PgConnection, target: &TableKey) -> Result<()> {
    match session_lock_holder(conn, &lock_text(target), RESTORE_SEED).await? {
        None => Ok(()),
        Some(holder) => {
            let message = format!("a restore into this name is at work: {holder} holds its lock");
            Err(Error::new(ErrorKind::Busy, CHECK, message)
                .with("table", &target.table_name)
                .with("account", &target.account_id))
        }
    }
}

/// What the server's restore lock is taken over.
pub fn lock_text(target: &TableKey) -> String {
    format!("{}/{}", target.account_id, target.table_name)
}

/// The data files that are wholly applied, by index.
///
/// # Errors
/// `Damaged` for counts that break their rules.
pub async fn read_progress(data: &mut PgConnection, fence: &FenceToken, table_id: &str) -> Result<LoadProgress> {
    const OPERATION: &str = "read the progress of a load";
    let rows = sqlx::query(
        "SELECT file_index, items, digest FROM extenddb_admin.load_progress \
         WHERE fence_key = $1 AND table_id = $2 ORDER BY file_index",
    )
    .bind(&fence.key)
    .bind(table_id)
    .fetch_all(data)
    .await
    .map_err(|e| driver(OPERATION, e))?;
    let mut files = Vec::with_capacity(rows.len());
    for row in rows {
        let read =
            || -> Result<(i32, i64, String), sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)) };
        let (file_index, items, digest) = read().map_err(|e| driver(OPERATION, e))?;
        let negative = |what: &str| {
            Error::new(ErrorKind::Damaged, OPERATION, format!("{what} is negative"))
                .with("row", format!("extenddb_admin.load_progress {}, file {file_index}", fence.key))
        };
        files.push(FileDone {
            file_index: u32::try_from(file_index).map_err(|_| negative("file_index"))?,
            items: u64::try_from(items).map_err(|_| negative("items"))?,
            digest,
        });
    }
    Ok(LoadProgress { files })
}

async fn existing_region(catalog: &mut PgConnection) -> Result<Option<String>> {
    let row = sqlx::query(
        "SELECT table_arn FROM tables WHERE table_status = 'ACTIVE' ORDER BY creation_date_time DESC, table_id LIMIT 1",
    )
    .fetch_optional(catalog)
    .await
    .map_err(|e| driver(RULES, e))?;
    let arn: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(RULES, e))?;
    Ok(arn.as_deref().and_then(region_of).map(str::to_owned))
}

async fn newest_table(catalog: &mut PgConnection, named_by_table: bool) -> Result<Option<Physical>> {
    let row = sqlx::query(
        "SELECT account_id, table_name, table_id FROM tables WHERE table_status = 'ACTIVE' \
         ORDER BY creation_date_time DESC, table_id LIMIT 1",
    )
    .fetch_optional(catalog)
    .await
    .map_err(|e| driver(RULES, e))?;
    let Some(row) = row else { return Ok(None) };
    let read =
        || -> Result<(String, String, String), sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)) };
    let (account, name, id) = read().map_err(|e| driver(RULES, e))?;
    Ok(Some(if named_by_table { Physical::by_table(&account, &name) } else { Physical::of_id(&id) }))
}

async fn newest_index(catalog: &mut PgConnection, named_by_table: bool) -> Result<Option<Physical>> {
    let id = if named_by_table { "NULL::text" } else { "i.index_id" };
    let sql = format!(
        "SELECT t.account_id, t.table_name, i.index_name, {id} FROM indexes i JOIN tables t ON t.table_id = i.table_id \
         WHERE t.table_status = 'ACTIVE' AND i.index_status = 'ACTIVE' \
         ORDER BY t.creation_date_time DESC, t.table_id, i.index_name COLLATE \"C\" LIMIT 1"
    );
    let row = sqlx::query(AssertSqlSafe(sql)).fetch_optional(catalog).await.map_err(|e| driver(RULES, e))?;
    let Some(row) = row else { return Ok(None) };
    let read = || -> Result<(String, String, String, Option<String>), sqlx::Error> {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?))
    };
    let (account, table, index, id) = read().map_err(|e| driver(RULES, e))?;
    Ok(Some(id.map_or_else(|| Physical::index_by_table(&account, &table, &index), |id| Physical::of_id(&id))))
}

/// Whether the partition key column declares collation C; nothing where the table is not there.
async fn has_collation_c(data: &mut PgConnection, physical: &Physical) -> Result<Option<bool>> {
    let row = sqlx::query(
        "SELECT c.collname = 'C' FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation \
         WHERE a.attrelid = to_regclass($1) AND a.attname = 'pk'",
    )
    .bind(physical.sql())
    .fetch_optional(data)
    .await
    .map_err(|e| driver(RULES, e))?;
    row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(RULES, e))
}

/// Whether a relation is there.
///
/// # Errors
/// Database errors.
pub async fn exists(conn: &mut PgConnection, physical: &Physical) -> Result<bool> {
    sqlx::query("SELECT to_regclass($1) IS NOT NULL")
        .bind(physical.sql())
        .fetch_one(conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(RULES, e))
}
