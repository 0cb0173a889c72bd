//! Role `ledger` on this backend.

use std::path::Path;

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use super::error::driver;
use super::{Postgres, lock, operations, steps};
use crate::backend::ledger::{CopyReport, DumpReport, LiveSession, MigrationSession, Scratch, SessionOptions};
use crate::backend::{Error, ErrorKind, Ledger, Result};
use crate::domain::applied::Entry;
use crate::domain::migration::{Migration, Place, Step};
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;
use crate::migrations;

#[async_trait::async_trait]
impl Ledger for Postgres {
    async fn introspect(&self, lineage: Lineage) -> Result<Introspection> {
        self.read_schema(lineage).await
    }

    async fn recorded(&self) -> Result<Recorded> {
        self.read_recorded().await
    }

    fn lineages(&self) -> &'static [Lineage] {
        &[Lineage::Catalog, Lineage::Data, Lineage::Admin]
    }

    async fn ensure_admin(&self) -> Result<()> {
        let mut catalog = self.catalog_connection().await?;
        let mut data = self.data_connection().await?;
        for migration in migrations::of_lineage(Lineage::Admin) {
            let Some(body) = migration.body("postgres") else { continue };
            let on = |place: Place| body.steps.iter().filter(move |step| step.on == place);
            let in_catalog = make(&mut catalog, on(Place::Catalog)).await?;
            let in_data = make(&mut data, on(Place::Data)).await?;
            if in_catalog || in_data {
                record_admin(&mut catalog, migration, &body.digest(), &self.connector.options().writer.0).await?;
            }
        }
        close(catalog).await?;
        close(data).await
    }

    async fn history(&self) -> Result<Vec<Entry>> {
        let mut conn = self.catalog_connection().await?;
        let there = "SELECT to_regclass('extenddb_admin.migrations') IS NOT NULL";
        let entries = if steps::ask(&mut conn, there).await? { entries(&mut conn).await? } else { Vec::new() };
        close(conn).await?;
        Ok(entries)
    }

    async fn done(&self, asked: &[&Step]) -> Result<Vec<bool>> {
        let mut catalog = self.catalog_connection().await?;
        let mut data = self.data_connection().await?;
        for conn in [&mut catalog, &mut data] {
            conn.execute("BEGIN READ ONLY").await.map_err(|e| driver("look at migration steps", e))?;
        }
        let mut answers = Vec::with_capacity(asked.len());
        for step in asked {
            let done = match step.operation {
                Some(operation) => operations::is_done(operation, &mut catalog, &mut data).await?,
                None if step.on == Place::Data => steps::is_done(&mut data, step).await?,
                None => steps::is_done(&mut catalog, step).await?,
            };
            answers.push(done);
        }
        close(catalog).await?;
        close(data).await?;
        Ok(answers)
    }

    async fn table_size(&self, place: Place, table: &str) -> Result<Option<(u64, u64)>> {
        let operation = "estimate the size of a table";
        let mut conn = match place {
            Place::Catalog => self.catalog_connection().await?,
            Place::Data => self.data_connection().await?,
        };
        let row = sqlx::query(
            "SELECT greatest(reltuples, 0)::bigint, pg_total_relation_size(oid) FROM pg_class WHERE oid = to_regclass($1)",
        )
        .bind(table)
        .fetch_optional(&mut conn)
        .await
        .map_err(|e| driver(operation, e))?;
        close(conn).await?;
        let Some(row) = row else { return Ok(None) };
        let (rows, bytes): (i64, i64) =
            row.try_get(0).and_then(|rows| Ok((rows, row.try_get(1)?))).map_err(|e| driver(operation, e))?;
        Ok(u64::try_from(rows).ok().zip(u64::try_from(bytes).ok()))
    }

    async fn live_sessions(&self) -> Result<Vec<LiveSession>> {
        let mut conn = self.catalog_connection().await?;
        let data = self.data_connection().await?;
        let operation = "list connections";
        let mut own = data;
        let data_database: String = sqlx::query("SELECT current_database()::text")
            .fetch_one(&mut own)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(|e| driver(operation, e))?;
        close(own).await?;
        let sessions = lock::sessions(&mut conn, Some(&data_database)).await?;
        close(conn).await?;
        Ok(sessions.into_iter().map(|(description, is_server)| LiveSession { description, is_server }).collect())
    }

    async fn make_scratch(&self) -> Result<Scratch> {
        self.create_scratch().await
    }

    async fn drop_scratch(&self, scratch: &Scratch) -> Result<()> {
        self.remove_scratch(scratch).await
    }

    async fn dump_catalog(&self, folder: &Path, name: &str) -> Result<DumpReport> {
        self.write_dump(folder, name).await
    }

    async fn copy_for_rehearsal(&self, scratch: &Scratch, rows: u32) -> Result<CopyReport> {
        self.copy_into(scratch, rows).await
    }

    async fn migration_session(&self, options: &SessionOptions) -> Result<Box<dyn MigrationSession>> {
        Ok(Box::new(self.open_session(options).await?))
    }
}

/// Makes what is missing, one at a time among all copies of this program; answers whether anything was.
async fn make<'a>(conn: &mut PgConnection, steps: impl Iterator<Item = &'a Step> + Clone) -> Result<bool> {
    let operation = "create the admin tables";
    let mut missing = false;
    for step in steps.clone() {
        missing |= !steps::is_done(conn, step).await?;
    }
    if !missing {
        return Ok(false);
    }
    let mut tx = conn.begin().await.map_err(|e| driver(operation, e))?;
    sqlx::query("SELECT pg_advisory_xact_lock($1, $2)")
        .bind(lock::ADMIN_KEY.0)
        .bind(ADMIN_TABLES)
        .execute(&mut *tx)
        .await
        .map_err(|e| driver(operation, e))?;
    for step in steps {
        if !steps::is_done(&mut tx, step).await? {
            steps::run_sql(&mut tx, step, step.sql.as_deref().unwrap_or_default()).await?;
        }
    }
    tx.commit().await.map_err(|e| driver(operation, e))?;
    Ok(true)
}

/// Second half of the key under which our own tables are made.
const ADMIN_TABLES: i32 = 2;

async fn record_admin(conn: &mut PgConnection, migration: &Migration, digest: &str, writer: &str) -> Result<()> {
    sqlx::query(
        "INSERT INTO extenddb_admin.migrations \
         (lineage, version, name, outcome, body_digest, tool_version, applied_by, finished_at) \
         VALUES ('admin', $1, $2, 'applied', $3, $4, $5, now())",
    )
    .bind(migration.version())
    .bind(&migration.name)
    .bind(digest)
    .bind(crate::domain::applied::TOOL_VERSION)
    .bind(writer)
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| driver("write the ledger", e))
}

async fn close(conn: PgConnection) -> Result<()> {
    conn.close().await.map_err(|e| driver("close a connection", e))
}

async fn entries(conn: &mut PgConnection) -> Result<Vec<Entry>> {
    let operation = "read the ledger";
    let ms = "(extract(epoch FROM {}) * 1000)::bigint";
    let (started, finished) = (ms.replace("{}", "started_at"), ms.replace("{}", "finished_at"));
    let query = format!(
        "SELECT id, lineage, version, name, outcome, body_digest, fingerprint_before, fingerprint_after, steps, \
         tool_version, applied_by, {started}, {finished}, note FROM extenddb_admin.migrations ORDER BY id"
    );
    let rows = sqlx::query(sqlx::AssertSqlSafe(query)).fetch_all(conn).await.map_err(|e| driver(operation, e))?;
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        let id: i64 = row.try_get(0).map_err(|e| driver(operation, e))?;
        let raw = read(&row).map_err(|e| driver(operation, e).with("row", id.to_string()))?;
        entries.push(raw.check(id).map_err(|e| {
            Error::new(ErrorKind::Damaged, operation, e).with("row", format!("extenddb_admin.migrations id {id}"))
        })?);
    }
    Ok(entries)
}

fn read(row: &sqlx::postgres::PgRow) -> std::result::Result<crate::domain::applied::Stored, sqlx::Error> {
    Ok(crate::domain::applied::Stored {
        lineage: row.try_get(1)?,
        version: row.try_get(2)?,
        name: row.try_get(3)?,
        outcome: row.try_get(4)?,
        body_digest: row.try_get(5)?,
        fingerprint_before: row.try_get(6)?,
        fingerprint_after: row.try_get(7)?,
        steps: row.try_get(8)?,
        tool_version: row.try_get(9)?,
        applied_by: row.try_get(10)?,
        started_at_ms: row.try_get(11)?,
        finished_at_ms: row.try_get(12)?,
        note: row.try_get(13)?,
    })
}
