//! Role `ledger` on this backend.

use sqlx::postgres::PgConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use super::error::driver;
use super::{Postgres, lock, operations, steps};
use crate::backend::ledger::{LiveSession, MigrationSession, Scratch, SessionOptions};
use crate::backend::{Error, ErrorKind, Ledger, Result};
use crate::domain::applied::Entry;
use crate::domain::migration::{Place, Step};
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
            for step in &body.steps {
                let conn = if step.on == Place::Data { &mut data } else { &mut catalog };
                if !steps::is_done(conn, step).await? {
                    steps::run_sql(conn, step, step.sql.as_deref().unwrap_or_default()).await?;
                }
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

    async fn migration_session(&self, options: &SessionOptions) -> Result<Box<dyn MigrationSession>> {
        Ok(Box::new(self.open_session(options).await?))
    }
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
