//! Role `ledger` on this backend.

use std::path::Path;

use rusqlite::Connection;

use super::connect::blocking;
use super::error::driver;
use super::{Sqlite, dump, steps};
use crate::backend::ledger::{CopyReport, DumpReport, LiveSession, MigrationSession, Scratch, SessionOptions};
use crate::backend::{Error, ErrorKind, Ledger, Result};
use crate::domain::applied::{Entry, Stored, TOOL_VERSION};
use crate::domain::migration::{Migration, Place, Step};
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;
use crate::domain::timestamp::TimestampMs;
use crate::migrations;

#[async_trait::async_trait]
impl Ledger for Sqlite {
    async fn introspect(&self, lineage: Lineage) -> Result<Introspection> {
        self.read_schema(lineage).await
    }

    async fn recorded(&self) -> Result<Recorded> {
        self.read_recorded().await
    }

    async fn ensure_admin(&self) -> Result<()> {
        let conn = self.writer()?;
        let writer = self.options.writer.0.clone();
        blocking(move || {
            for migration in migrations::of_lineage(Lineage::Admin) {
                make(&conn, migration, &writer)?;
            }
            Ok(())
        })
        .await
    }

    async fn history(&self) -> Result<Vec<Entry>> {
        let Some(conn) = self.reader_if_there()? else { return Ok(Vec::new()) };
        blocking(move || entries(&conn)).await
    }

    async fn done(&self, asked: &[&Step]) -> Result<Vec<bool>> {
        let Some(conn) = self.reader_if_there()? else { return Ok(vec![false; asked.len()]) };
        let asked: Vec<Step> = asked.iter().map(|step| (*step).clone()).collect();
        blocking(move || {
            conn.execute_batch("BEGIN").map_err(|e| driver("look at migration steps", e))?;
            asked.iter().map(|step| steps::is_done(&conn, step)).collect()
        })
        .await
    }

    async fn table_size(&self, _place: Place, table: &str) -> Result<Option<(u64, u64)>> {
        let Some(conn) = self.reader_if_there()? else { return Ok(None) };
        let quoted = format!("\"{}\"", table.replace('"', "\"\""));
        blocking(move || {
            // The last rowid bounds the rows from above without reading them; bytes are not known so cheaply.
            let rows: rusqlite::Result<Option<i64>> =
                conn.query_row(&format!("SELECT max(rowid) FROM {quoted}"), [], |row| row.get(0));
            Ok(rows.ok().map(|rows| (u64::try_from(rows.unwrap_or(0)).unwrap_or(0), 0)))
        })
        .await
    }

    async fn live_sessions(&self) -> Result<Vec<LiveSession>> {
        let mut sessions: Vec<LiveSession> = self
            .foreign_writers()
            .into_iter()
            .map(|holder| LiveSession {
                description: format!("{holder} has the database open for writing"),
                is_server: holder.is_server(),
            })
            .collect();
        if let Some(holder) = self.server_lock_holder() {
            sessions.push(LiveSession { description: format!("{holder} holds the server's lock"), is_server: true });
        }
        sessions.sort_by_key(|s| !s.is_server);
        Ok(sessions)
    }

    async fn make_scratch(&self) -> Result<Scratch> {
        self.create_scratch()
    }

    async fn drop_scratch(&self, scratch: &Scratch) -> Result<()> {
        self.remove_scratch(scratch)
    }

    async fn dump_catalog(&self, folder: &Path, name: &str) -> Result<DumpReport> {
        // Copying is refused on a connection that may only read, though it writes nothing here.
        let (conn, path) = (self.writer()?, folder.join(format!("{name}.sqlite")));
        blocking(move || dump::write(&conn, &path)).await
    }

    async fn copy_for_rehearsal(&self, scratch: &Scratch, rows: u32) -> Result<CopyReport> {
        let (from, into) = (self.reader()?, Self::open(scratch.options.clone())?.open_for_migration()?);
        blocking(move || dump::copy(&from, &into, rows)).await
    }

    async fn migration_session(&self, options: &SessionOptions) -> Result<Box<dyn MigrationSession>> {
        Ok(Box::new(self.open_session(*options).await?))
    }
}

/// Makes what is missing in one transaction, and records it.
fn make(conn: &Connection, migration: &Migration, writer: &str) -> Result<()> {
    let operation = "create the admin tables";
    let Some(body) = migration.body("sqlite") else { return Ok(()) };
    let mut missing = false;
    for step in &body.steps {
        missing |= !steps::is_done(conn, step)?;
    }
    if !missing {
        return Ok(());
    }
    let fail = |e| driver(operation, e);
    let tx = rusqlite::Transaction::new_unchecked(conn, rusqlite::TransactionBehavior::Immediate).map_err(fail)?;
    for step in &body.steps {
        if !steps::is_done(&tx, step)? {
            steps::run_sql(&tx, step, step.sql.as_deref().unwrap_or_default())?;
        }
    }
    tx.execute(
        "INSERT INTO extenddb_admin_migrations \
         (lineage, version, name, outcome, body_digest, tool_version, applied_by, finished_at) \
         VALUES ('admin', ?1, ?2, 'applied', ?3, ?4, ?5, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
        [migration.version(), &migration.name, &body.digest(), TOOL_VERSION, writer],
    )
    .map_err(fail)?;
    tx.commit().map_err(fail)
}

impl Sqlite {
    fn reader_if_there(&self) -> Result<Option<Connection>> {
        if self.path.exists() { self.reader().map(Some) } else { Ok(None) }
    }
}

fn entries(conn: &Connection) -> Result<Vec<Entry>> {
    let operation = "read the ledger";
    let there: bool = conn
        .query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'extenddb_admin_migrations')", [], |row| {
            row.get(0)
        })
        .map_err(|e| driver(operation, e))?;
    if !there {
        return Ok(Vec::new());
    }
    let mut statement = conn
        .prepare(
            "SELECT id, lineage, version, name, outcome, body_digest, fingerprint_before, fingerprint_after, steps, \
             tool_version, applied_by, started_at, finished_at, note FROM extenddb_admin_migrations ORDER BY id",
        )
        .map_err(|e| driver(operation, e))?;
    let mut rows = statement.query([]).map_err(|e| driver(operation, e))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(|e| driver(operation, e))? {
        let id: i64 = row.get(0).map_err(|e| driver(operation, e))?;
        let damaged = |what: String| {
            Error::new(ErrorKind::Damaged, operation, what).with("row", format!("extenddb_admin_migrations id {id}"))
        };
        let ms = |text: String| text.parse::<TimestampMs>().map(|t| t.0).map_err(damaged);
        let (started, finished): (String, Option<String>) =
            row.get(11).and_then(|s| Ok((s, row.get(12)?))).map_err(|e| damaged(e.to_string()))?;
        let (started_at_ms, finished_at_ms) = (ms(started)?, finished.map(ms).transpose()?);
        let stored = read(row, started_at_ms, finished_at_ms).map_err(|e| damaged(e.to_string()))?;
        entries.push(stored.check(id).map_err(damaged)?);
    }
    Ok(entries)
}

fn read(row: &rusqlite::Row<'_>, started_at_ms: i64, finished_at_ms: Option<i64>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        lineage: row.get(1)?,
        version: row.get(2)?,
        name: row.get(3)?,
        outcome: row.get(4)?,
        body_digest: row.get(5)?,
        fingerprint_before: row.get(6)?,
        fingerprint_after: row.get(7)?,
        steps: row.get(8)?,
        tool_version: row.get(9)?,
        applied_by: row.get(10)?,
        started_at_ms,
        finished_at_ms,
        note: row.get(13)?,
    })
}
