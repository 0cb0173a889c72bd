//! Asking and running migration steps on one connection.

use rusqlite::{Connection, OptionalExtension as _};

use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::migration::{CatalogVersion, Condition, Step};

/// Whether every condition of a step holds. Asked in order; the first that does not ends it, so a query
/// may rely on the tables of the conditions before it.
pub fn is_done(conn: &Connection, step: &Step) -> Result<bool> {
    for condition in &step.done_when {
        if !holds(conn, condition).map_err(|e| e.with("step", step.name.clone()))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs the statements of a step.
pub fn run_sql(conn: &Connection, step: &Step, sql: &str) -> Result<()> {
    conn.execute_batch(sql).map_err(|e| driver("run a migration step", e).with("step", step.name.clone()))
}

fn holds(conn: &Connection, condition: &Condition) -> Result<bool> {
    let object = |kind: &str, name: &str| {
        ask(conn, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = ?1 AND name = ?2)", &[kind, name])
    };
    match condition {
        Condition::Table(name) => object("table", name),
        Condition::NoTable(name) => object("table", name).map(|there| !there),
        Condition::Index(name) => object("index", name),
        Condition::NoIndex(name) => object("index", name).map(|there| !there),
        Condition::Column { table, column, not_null } => column_is_there(conn, table, column, *not_null),
        Condition::NoColumn { table, column } => column_is_there(conn, table, column, false).map(|there| !there),
        Condition::Constraint { table, constraint } => ask(
            conn,
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 AND instr(sql, ?2) > 0)",
            &[table, constraint],
        ),
        Condition::Sequence(_) => Ok(false),
        Condition::Version(version) => at_least(conn, *version),
        Condition::Query(query) => ask(conn, query, &[]),
    }
}

fn column_is_there(conn: &Connection, table: &str, column: &str, not_null: bool) -> Result<bool> {
    let and = if not_null { " AND \"notnull\" = 1" } else { "" };
    let query = format!("SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2{and})");
    ask(conn, &query, &[table, column])
}

fn ask(conn: &Connection, query: &str, parameters: &[&str]) -> Result<bool> {
    conn.query_row(query, rusqlite::params_from_iter(parameters), |row| row.get::<_, Option<i64>>(0))
        .optional()
        .map(|answer| answer.flatten().is_some_and(|n| n != 0))
        .map_err(|e| driver("look at a migration step", e))
}

fn at_least(conn: &Connection, version: CatalogVersion) -> Result<bool> {
    if !holds(conn, &Condition::Table("settings".into()))? {
        return Ok(false);
    }
    let operation = "read settings.catalog_version";
    let text: Option<String> = conn
        .query_row("SELECT value FROM settings WHERE key = 'catalog_version'", [], |row| row.get(0))
        .optional()
        .map_err(|e| driver(operation, e))?;
    let Some(text) = text else { return Ok(false) };
    let recorded: CatalogVersion = text.parse().map_err(|e: String| Error::new(ErrorKind::Damaged, operation, e))?;
    Ok(recorded >= version)
}
