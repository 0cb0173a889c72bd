//! A dump of the file that is known to restore, and a copy of its shape for a rehearsal.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::error::driver;
use super::introspect::read_schema;
use crate::backend::ledger::{CopyReport, DumpReport};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::schema::Lineage;
use crate::domain::secret_columns::{is_secret_setting, masked};

const OPERATION: &str = "write a dump";
const COPY: &str = "copy rows for a rehearsal";
/// Tables of items; a rehearsal does without them.
const PHYSICAL: [&str; 2] = ["_ddb_", "_vidx_"];

/// Writes a whole copy of the file, log included, and compares it table by table.
pub fn write(conn: &Connection, path: &Path) -> Result<DumpReport> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let fail = |e| driver(OPERATION, e).with("path", path.display().to_string());
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|e| {
        Error::new(ErrorKind::Conflict, OPERATION, e.to_string()).with("path", path.display().to_string())
    })?;
    // One read transaction: the copy and the numbers are of one moment.
    let text = path.display().to_string();
    conn.execute("VACUUM INTO ?1", [&text]).map_err(fail)?;
    std::fs::File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|e| Error::new(ErrorKind::Unavailable, OPERATION, e.to_string()).with("path", text.clone()))?;
    let copy = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fail)?;
    let sound: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(fail)?;
    let same = read_schema(conn, Lineage::Catalog)?.schema == read_schema(&copy, Lineage::Catalog)?.schema;
    let (before, after) = (rows(conn)?, rows(&copy)?);
    if sound != "ok" || !same || before != after {
        return Err(
            Error::new(ErrorKind::Damaged, OPERATION, "the copy is not the same as the file").with("path", text)
        );
    }
    Ok(DumpReport { path: text, rows: after.iter().map(|(_, n)| n).sum() })
}

fn rows(conn: &Connection) -> Result<Vec<(String, u64)>> {
    let mut all = Vec::new();
    for (name, _) in tables(conn)? {
        let query = format!("SELECT count(*) FROM {}", quote(&name));
        let count: i64 = conn.query_row(&query, [], |row| row.get(0)).map_err(|e| driver(OPERATION, e))?;
        all.push((name, u64::try_from(count).unwrap_or(0)));
    }
    Ok(all)
}

/// Names and declarations of the tables, in byte order.
fn tables(conn: &Connection) -> Result<Vec<(String, String)>> {
    let read = || -> rusqlite::Result<Vec<(String, String)>> {
        let mut statement = conn.prepare(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             AND sql IS NOT NULL ORDER BY name",
        )?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    read().map_err(|e| driver(OPERATION, e))
}

/// Copies declarations and a sample of rows, secrets masked.
pub fn copy(from: &Connection, into: &Connection, limit: u32) -> Result<CopyReport> {
    let fail = |e| driver(COPY, e);
    into.pragma_update(None, "foreign_keys", false).map_err(fail)?;
    from.execute_batch("BEGIN").map_err(fail)?;
    into.execute_batch("BEGIN IMMEDIATE").map_err(fail)?;
    let mut report = CopyReport { data_is_catalog: true, ..CopyReport::default() };
    for (name, sql) in tables(from)? {
        if PHYSICAL.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        into.execute_batch(&sql).map_err(fail)?;
        report.tables += 1;
        report.rows += copy_table(from, into, &name, limit)?;
    }
    let physical = PHYSICAL.map(|prefix| format!("AND substr(tbl_name, 1, {}) <> '{prefix}'", prefix.len())).join(" ");
    let query = format!("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL {physical}");
    let mut statement = from.prepare(&query).map_err(fail)?;
    let indexes = statement.query_map([], |row| row.get::<_, String>(0)).map_err(fail)?;
    for index in indexes {
        into.execute_batch(&index.map_err(fail)?).map_err(fail)?;
    }
    into.execute_batch("COMMIT").map_err(fail)?;
    from.execute_batch("ROLLBACK").map_err(fail)?;
    Ok(report)
}

fn copy_table(from: &Connection, into: &Connection, name: &str, limit: u32) -> Result<u64> {
    let fail = |e| driver(COPY, e).with("table", name);
    let limited = match name {
        "settings" | "schema_history" | "extenddb_admin_migrations" => String::new(),
        _ => format!(" LIMIT {limit}"),
    };
    let mut statement = from.prepare(&format!("SELECT * FROM {}{limited}", quote(name))).map_err(fail)?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let marks = vec!["?"; columns.len()].join(", ");
    let mut insert = into.prepare(&format!("INSERT INTO {} VALUES ({marks})", quote(name))).map_err(fail)?;
    let mut rows = statement.query([]).map_err(fail)?;
    let mut copied = 0;
    while let Some(row) = rows.next().map_err(fail)? {
        let mut values = Vec::with_capacity(columns.len());
        for (i, column) in columns.iter().enumerate() {
            let value: Value = row.get(i).map_err(fail)?;
            values.push(match masked(column, copied) {
                Some(mask) if value != Value::Null => Value::Text(mask),
                _ => value,
            });
        }
        let is_secret = |v: &Value| matches!(v, Value::Text(key) if is_secret_setting(key));
        if name == "settings" && values.first().is_some_and(is_secret) {
            continue;
        }
        insert.execute(rusqlite::params_from_iter(values)).map_err(fail)?;
        copied += 1;
    }
    Ok(copied)
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
