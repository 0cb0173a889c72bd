//! The migration session: one connection under the server's own lock file.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::connect::blocking;
use super::error::driver;
use super::lock::FileLock;
use super::{Sqlite, steps};
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::applied::{NewEntry, StepRun};
use crate::domain::migration::{Place, Step};
use crate::domain::recorded::Introspection;
use crate::domain::schema::Lineage;

const POLL_EVERY: Duration = Duration::from_millis(100);

/// A session under the server's lock.
pub struct Session {
    conn: Arc<Mutex<Connection>>,
    options: SessionOptions,
    _lock: Arc<FileLock>,
}

impl Sqlite {
    /// Takes the lock and opens the file, making it if it is missing.
    ///
    /// # Errors
    /// As [`crate::backend::Ledger::migration_session`].
    pub(super) async fn open_session(&self, options: SessionOptions) -> Result<Session> {
        let end = Instant::now() + options.lock_deadline;
        let lock = loop {
            match self.server_lock() {
                Err(e) if e.kind() == ErrorKind::Busy && Instant::now() < end => tokio::time::sleep(POLL_EVERY).await,
                other => break other?,
            }
        };
        let conn = self.open_for_migration()?;
        Ok(Session { conn: Arc::new(Mutex::new(conn)), options, _lock: lock })
    }

    /// A writing connection; a new file gets the server's mode and journal.
    pub(super) fn open_for_migration(&self) -> Result<Connection> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path).is_ok();
        let conn = self.writer()?;
        if new {
            conn.pragma_update(None, "journal_mode", "WAL").map_err(|e| driver("set the journal mode", e))?;
        }
        conn.busy_timeout(Duration::from_secs(5)).map_err(|e| driver("set the busy timeout", e))?;
        Ok(conn)
    }
}

impl Session {
    /// Runs work on the connection, and ends it when it takes longer than a statement may.
    async fn with<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let conn = Arc::clone(&self.conn);
        let limit = self.options.statement_timeout;
        let interrupt = conn.lock().expect("no holder of this mutex panics").get_interrupt_handle();
        let job = blocking(move || work(&conn.lock().expect("no holder of this mutex panics")));
        tokio::pin!(job);
        tokio::select! {
            outcome = &mut job => outcome,
            () = tokio::time::sleep(limit) => {
                interrupt.interrupt();
                match job.await {
                    Ok(done) => Ok(done),
                    Err(_) => Err(Error::new(
                        ErrorKind::Timeout,
                        operation,
                        format!("it ran longer than {} ms and was ended", limit.as_millis()),
                    )),
                }
            }
        }
    }

    async fn batch(&self, operation: &'static str, sql: &'static str) -> Result<()> {
        self.with(operation, move |conn| conn.execute_batch(sql).map_err(|e| driver(operation, e))).await
    }
}

#[async_trait::async_trait]
impl MigrationSession for Session {
    async fn is_done(&mut self, step: &Step) -> Result<bool> {
        let step = step.clone();
        self.with("look at a migration step", move |conn| steps::is_done(conn, &step)).await
    }

    async fn begin(&mut self, _place: Place) -> Result<()> {
        self.batch("begin a transaction", "BEGIN IMMEDIATE").await
    }

    async fn run(&mut self, step: &Step) -> Result<()> {
        let step = step.clone();
        self.with("run a migration step", move |conn| {
            if step.operation.is_some() {
                return Err(Error::unsupported("run a migration step").with("step", step.name.clone()));
            }
            let outcome = steps::run_sql(conn, &step, step.sql.as_deref().unwrap_or_default());
            if step.optional { Ok(()) } else { outcome }
        })
        .await
    }

    async fn commit(&mut self) -> Result<()> {
        self.batch("commit a migration", "COMMIT").await
    }

    async fn rollback(&mut self) -> Result<()> {
        let operation = "roll a migration back";
        self.with(operation, move |conn| {
            if conn.is_autocommit() {
                return Ok(());
            }
            conn.execute_batch("ROLLBACK").map_err(|e| driver(operation, e))
        })
        .await
    }

    async fn introspect(&mut self, lineage: Lineage) -> Result<Introspection> {
        self.with("read the schema", move |conn| super::introspect::read_schema(conn, lineage)).await
    }

    async fn texts(&mut self, _place: Place, query: &str) -> Result<Vec<String>> {
        let query = query.to_owned();
        let operation = "ask before a migration";
        self.with(operation, move |conn| {
            let read = || -> rusqlite::Result<Vec<String>> {
                let mut statement = conn.prepare(&query)?;
                let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
                rows.filter_map(Result::transpose).collect()
            };
            read().map_err(|e| driver(operation, e))
        })
        .await
    }

    async fn record_start(&mut self, entry: &NewEntry) -> Result<i64> {
        let entry = entry.clone();
        let operation = "write the ledger";
        self.with(operation, move |conn| {
            conn.query_row(
                "INSERT INTO extenddb_admin_migrations \
                 (lineage, version, name, outcome, body_digest, fingerprint_before, tool_version, applied_by, note) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id",
                rusqlite::params![
                    entry.lineage.word(),
                    entry.version,
                    entry.name,
                    entry.outcome.word(),
                    entry.body_digest,
                    entry.fingerprint_before,
                    entry.tool_version,
                    entry.applied_by,
                    entry.note
                ],
                |row| row.get(0),
            )
            .map_err(|e| driver(operation, e))
        })
        .await
    }

    async fn record_finish(&mut self, id: i64, fingerprint_after: &str, steps: &[StepRun]) -> Result<()> {
        let steps = serde_json::to_string(steps).expect("names and numbers serialize");
        let fingerprint = fingerprint_after.to_owned();
        let operation = "write the ledger";
        self.with(operation, move |conn| {
            conn.execute(
                "UPDATE extenddb_admin_migrations SET finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), \
                 fingerprint_after = ?2, steps = ?3 WHERE id = ?1",
                rusqlite::params![id, fingerprint, steps],
            )
            .map(drop)
            .map_err(|e| driver(operation, e))
        })
        .await
    }

    async fn close(self: Box<Self>) -> Result<()> {
        // The connection closes before the lock is dropped: fields go in the order they are declared.
        Ok(())
    }
}
