//! The migration session: one unpooled connection that holds the locks and does the catalog's work, and
//! one for the data database.
//!
//! Because the locks are session locks of the connection that also carries the catalog's transactions, a
//! cut connection loses both at once. Work in the data database asks the lock's session first.

use std::time::Duration;

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::error::driver;
use super::introspect::read_on;
use super::{Postgres, lock, operations, steps};
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::applied::{NewEntry, StepRun};
use crate::domain::migration::{Place, Step};
use crate::domain::recorded::Introspection;
use crate::domain::schema::Lineage;

/// A session under the migration lock.
pub struct Session {
    catalog: PgConnection,
    data: Option<PgConnection>,
    postgres: Postgres,
    options: SessionOptions,
    open: Option<Place>,
}

impl Postgres {
    /// Opens a session and takes the locks.
    ///
    /// # Errors
    /// As [`crate::backend::Ledger::migration_session`].
    pub(super) async fn open_session(&self, options: &SessionOptions) -> Result<Session> {
        let mut catalog = self.catalog_connection().await?;
        let mut second = self.catalog_connection().await?;
        lock::refuse_pooler(&mut catalog, &mut second).await?;
        second.close().await.map_err(|e| driver("close a connection", e))?;
        lock::take(&mut catalog, options.lock_deadline).await?;
        bound(&mut catalog, options).await?;
        Ok(Session { catalog, data: None, postgres: self.clone(), options: *options, open: None })
    }
}

/// Sets the limits of a statement.
async fn bound(conn: &mut PgConnection, options: &SessionOptions) -> Result<()> {
    let ms = |d: Duration| d.as_millis();
    let sql = format!(
        "SET lock_timeout = {}; SET statement_timeout = {}",
        ms(options.statement_lock_timeout),
        ms(options.statement_timeout)
    );
    execute(conn, &sql, "set the limits of a statement").await
}

async fn execute(conn: &mut PgConnection, sql: &str, operation: &'static str) -> Result<()> {
    conn.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(drop).map_err(|e| driver(operation, e))
}

impl Session {
    async fn connection(&mut self, place: Place) -> Result<&mut PgConnection> {
        match place {
            Place::Catalog => Ok(&mut self.catalog),
            Place::Data => {
                if self.data.is_none() {
                    let mut conn = self.postgres.data_connection().await?;
                    bound(&mut conn, &self.options).await?;
                    self.data = Some(conn);
                }
                Ok(self.data.as_mut().expect("it was connected above"))
            }
        }
    }

    fn misuse(what: &str) -> Error {
        Error::new(ErrorKind::Internal, "run a migration step", what)
    }
}

#[async_trait::async_trait]
impl MigrationSession for Session {
    async fn is_done(&mut self, step: &Step) -> Result<bool> {
        if let Some(operation) = step.operation {
            self.connection(Place::Data).await?;
            let data = self.data.as_mut().expect("it was connected above");
            return operations::is_done(operation, &mut self.catalog, data).await;
        }
        steps::is_done(self.connection(step.on).await?, step).await
    }

    async fn begin(&mut self, place: Place) -> Result<()> {
        if self.open.is_some() {
            return Err(Self::misuse("a transaction is open already"));
        }
        if place == Place::Data {
            lock::assert_held(&mut self.catalog).await?;
        }
        execute(self.connection(place).await?, "BEGIN", "begin a transaction").await?;
        self.open = Some(place);
        Ok(())
    }

    async fn run(&mut self, step: &Step) -> Result<()> {
        match self.open {
            Some(place) if place != step.on => {
                return Err(Self::misuse("the open transaction is in the other database"));
            }
            Some(_) if !step.transactional => return Err(Self::misuse("the step cannot share a transaction")),
            None => lock::assert_held(&mut self.catalog).await?,
            Some(_) => {}
        }
        if let Some(operation) = step.operation {
            self.connection(Place::Data).await?;
            let data = self.data.as_mut().expect("it was connected above");
            return operations::run(operation, &mut self.catalog, data)
                .await
                .map_err(|e| e.with("step", step.name.clone()));
        }
        let sql = step.sql.as_deref().unwrap_or_default();
        let conn = self.connection(step.on).await?;
        if !step.optional || !step.transactional {
            let outcome = steps::run_sql(conn, step, sql).await;
            return if step.optional { Ok(()) } else { outcome };
        }
        // A savepoint keeps the failure of an optional step from taking the transaction with it.
        execute(conn, "SAVEPOINT optional_step", "set a savepoint").await?;
        let end = match steps::run_sql(conn, step, sql).await {
            Ok(()) => "RELEASE SAVEPOINT optional_step",
            Err(_) => "ROLLBACK TO SAVEPOINT optional_step",
        };
        execute(conn, end, "end a savepoint").await
    }

    async fn commit(&mut self) -> Result<()> {
        let place = self.open.ok_or_else(|| Self::misuse("no transaction is open"))?;
        if place == Place::Data {
            lock::assert_held(&mut self.catalog).await?;
        }
        self.open = None;
        execute(self.connection(place).await?, "COMMIT", "commit a migration").await
    }

    async fn rollback(&mut self) -> Result<()> {
        let Some(place) = self.open.take() else { return Ok(()) };
        execute(self.connection(place).await?, "ROLLBACK", "roll a migration back").await
    }

    async fn introspect(&mut self, lineage: Lineage) -> Result<Introspection> {
        let place = if lineage == Lineage::Data { Place::Data } else { Place::Catalog };
        let alone = self.open.is_none();
        let conn = self.connection(place).await?;
        if alone {
            execute(conn, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "read the schema").await?;
        }
        let mut found = read_on(conn, lineage).await?;
        if alone {
            execute(conn, "ROLLBACK", "read the schema").await?;
        }
        if lineage == Lineage::Admin {
            let data = self.connection(Place::Data).await?;
            found.schema.tables.extend(read_on(data, lineage).await?.schema.tables);
        }
        Ok(found)
    }

    async fn texts(&mut self, place: Place, query: &str) -> Result<Vec<String>> {
        let operation = "ask before a migration";
        let rows = sqlx::raw_sql(AssertSqlSafe(query.to_owned()))
            .fetch_all(self.connection(place).await?)
            .await
            .map_err(|e| driver(operation, e))?;
        let mut texts = Vec::new();
        for row in rows {
            texts.extend(row.try_get::<Option<String>, _>(0).map_err(|e| driver(operation, e))?);
        }
        Ok(texts)
    }

    async fn record_start(&mut self, entry: &NewEntry) -> Result<i64> {
        let operation = "write the ledger";
        sqlx::query(
            "INSERT INTO extenddb_admin.migrations \
             (lineage, version, name, outcome, body_digest, fingerprint_before, tool_version, applied_by, note) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id",
        )
        .bind(entry.lineage.word())
        .bind(&entry.version)
        .bind(&entry.name)
        .bind(entry.outcome.word())
        .bind(&entry.body_digest)
        .bind(&entry.fingerprint_before)
        .bind(&entry.tool_version)
        .bind(&entry.applied_by)
        .bind(&entry.note)
        .fetch_one(&mut self.catalog)
        .await
        .and_then(|row| row.try_get(0))
        .map_err(|e| driver(operation, e))
    }

    async fn record_finish(&mut self, id: i64, fingerprint_after: &str, steps: &[StepRun]) -> Result<()> {
        let steps = serde_json::to_string(steps).expect("names and numbers serialize");
        sqlx::query(
            "UPDATE extenddb_admin.migrations \
             SET finished_at = clock_timestamp(), fingerprint_after = $2, steps = $3 WHERE id = $1",
        )
        .bind(id)
        .bind(fingerprint_after)
        .bind(steps)
        .execute(&mut self.catalog)
        .await
        .map(drop)
        .map_err(|e| driver("write the ledger", e))
    }

    async fn close(self: Box<Self>) -> Result<()> {
        let Self { catalog, data, .. } = *self;
        if let Some(data) = data {
            data.close().await.map_err(|e| driver("close a connection", e))?;
        }
        // Closing the session gives its locks back.
        catalog.close().await.map_err(|e| driver("close a connection", e))
    }
}
