//! What tables and columns a file has: every role judges by this and never by a version number.

use rusqlite::{Connection, OptionalExtension as _};

use super::error::driver;
use crate::backend::Result;

/// Quotes an identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Name of the physical table of a base table or index.
pub fn physical_name(id: &str) -> String {
    format!("_ddb_{id}")
}

/// The columns of a table, in order; empty where there is no such table.
///
/// # Errors
/// Database errors.
pub fn columns(conn: &Connection, table: &str) -> Result<Vec<String>> {
    let fail = |e| driver("read the columns of a table", e);
    let mut statement = conn.prepare_cached("SELECT name FROM pragma_table_info(?1) ORDER BY cid").map_err(fail)?;
    let names = statement.query_map([table], |row| row.get(0)).map_err(fail)?;
    names.collect::<rusqlite::Result<_>>().map_err(fail)
}

/// The columns of a table's primary key, in key order.
///
/// # Errors
/// Database errors.
pub fn key_columns(conn: &Connection, table: &str) -> Result<Vec<String>> {
    let fail = |e| driver("read the primary key of a table", e);
    let mut statement =
        conn.prepare_cached("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk").map_err(fail)?;
    let names = statement.query_map([table], |row| row.get(0)).map_err(fail)?;
    names.collect::<rusqlite::Result<_>>().map_err(fail)
}

/// Whether a table is there.
///
/// # Errors
/// Database errors.
pub fn has_table(conn: &Connection, table: &str) -> Result<bool> {
    conn.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")
        .and_then(|mut s| s.query_row([table], |_| Ok(())).optional())
        .map(|found| found.is_some())
        .map_err(|e| driver("look for a table", e))
}

/// Whether a table has a column.
///
/// # Errors
/// Database errors.
pub fn has_column(conn: &Connection, table: &str, column: &str) -> Result<bool> {
    Ok(columns(conn, table)?.iter().any(|c| c == column))
}
