//! The canonical schema of a SQLite file, through pragmas and `sqlite_schema`.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::Sqlite;
use super::connect::blocking;
use super::declaration::{self, TableDeclaration};
use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::expression::{self, Token};
use crate::domain::recorded::{self, Introspection, LedgerRow, Recorded};
use crate::domain::schema::{Check, Column, ForeignKey, Index, IndexColumn, Lineage, Table, Unique};

/// What the names of our own tables begin with.
const ADMIN_PREFIX: &str = "extenddb_admin_";
/// What the names of tables of items and of vectors begin with.
const PHYSICAL_PREFIXES: [&str; 2] = ["_ddb_", "_vidx_"];
/// Longest ledger that is read; a released one has none or a handful of rows.
const LEDGER_ROWS_MAX: u32 = 10_000;

const OPERATION: &str = "read the schema";

impl Sqlite {
    /// One lineage's schema, read in one read-only transaction. Empty where the file is not there yet.
    ///
    /// # Errors
    /// Database errors.
    pub async fn read_schema(&self, lineage: Lineage) -> Result<Introspection> {
        if !self.path.exists() {
            return Ok(Introspection::default());
        }
        let conn = self.reader()?;
        blocking(move || read_schema(&conn, lineage)).await
    }

    /// Versions, ledger and settings, read in one read-only transaction.
    ///
    /// # Errors
    /// Database errors.
    pub async fn read_recorded(&self) -> Result<Recorded> {
        if !self.path.exists() {
            return Ok(Recorded { one_database: true, ..Recorded::default() });
        }
        let conn = self.reader()?;
        blocking(move || read_recorded(&conn)).await
    }
}

/// Reads one lineage's part of the file, in the transaction that the connection is in or in one of its own.
///
/// # Errors
/// Database errors; `Damaged` for a file that is no database.
pub fn read_schema(conn: &Connection, lineage: Lineage) -> Result<Introspection> {
    in_one_read(conn, || {
        let mut out = Introspection::default();
        if lineage == Lineage::Data {
            return Ok(out);
        }
        let wanted = |table: &str| {
            !PHYSICAL_PREFIXES.iter().any(|p| table.starts_with(p))
                && !table.starts_with("sqlite_")
                && table.starts_with(ADMIN_PREFIX) == (lineage == Lineage::Admin)
        };
        for object in objects(conn)? {
            if !wanted(&object.table) {
                continue;
            }
            match object.kind.as_str() {
                "table" if expression::tokens(&object.sql).get(1).is_some_and(|t| t.is_word("virtual")) => {
                    out.extras.push(format!("virtual table {}", object.name));
                }
                "table" => {
                    let table = read_table(conn, &object)?;
                    out.schema.tables.insert(object.name, table);
                }
                "view" => out.extras.push(format!("view {}", object.name)),
                "trigger" => out.extras.push(format!("trigger {} on table {}", object.name, object.table)),
                _ => {} // indexes are read with their table
            }
        }
        out.extras.sort();
        Ok(out)
    })
}

/// Reads versions, ledger and settings.
///
/// # Errors
/// Database errors.
pub fn read_recorded(conn: &Connection) -> Result<Recorded> {
    in_one_read(conn, || {
        let mut out = Recorded { one_database: true, ..Recorded::default() };
        for object in objects(conn)? {
            if object.kind != "table" {
                continue;
            }
            let columns = column_names(conn, &object.name)?;
            let has = |wanted: &[&str]| wanted.iter().all(|w| columns.iter().any(|c| c == w));
            match object.name.as_str() {
                "settings" if has(&["key", "value"]) => read_settings(conn, &mut out)?,
                "schema_history" if has(&["filename", "applied_at"]) => read_ledger(conn, &mut out)?,
                name if recorded::FOREIGN_LEDGERS.contains(&name) => out.foreign_ledgers.push(name.to_owned()),
                _ => {}
            }
        }
        out.foreign_ledgers.sort();
        Ok(out)
    })
}

/// Runs `read` so that it sees one state of the file: in the transaction that is open, or in one of its own.
fn in_one_read<T>(conn: &Connection, read: impl FnOnce() -> Result<T>) -> Result<T> {
    if !conn.is_autocommit() {
        return read();
    }
    conn.execute_batch("BEGIN DEFERRED").map_err(|e| driver("begin to read", e))?;
    let result = read();
    let end = conn.execute_batch("ROLLBACK").map_err(|e| driver("end reading", e));
    let value = result?;
    end?;
    Ok(value)
}

struct Object {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

fn objects(conn: &Connection) -> Result<Vec<Object>> {
    rows(conn, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name", [], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    })
}

fn column_names(conn: &Connection, table: &str) -> Result<Vec<String>> {
    rows(conn, "SELECT name FROM pragma_table_xinfo(?1)", [table], |row| row.get(0))
}

fn read_table(conn: &Connection, object: &Object) -> Result<Table> {
    let declared = declaration::table(&expression::tokens(&object.sql));
    let mut table = Table::default();
    let mut key: Vec<(i64, String)> = Vec::new();
    let columns = rows(
        conn,
        "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)",
        [&object.name],
        |row| {
            let default: Option<String> = row.get(3)?;
            let column = Column {
                kind: normal_type(&row.get::<_, String>(1)?),
                nullable: row.get::<_, i64>(2)? == 0,
                default: default.map(|d| expression::normalise(&d)),
                ..Column::default()
            };
            Ok((row.get::<_, String>(0)?, column, row.get::<_, i64>(4)?))
        },
    )?;
    for (name, mut column, position) in columns {
        let lower = name.to_lowercase();
        column.collation = declared.collations.get(&lower).filter(|c| *c != "BINARY").cloned();
        column.generated = declared.generated.get(&lower).cloned();
        column.autoincrement = declared.autoincrement.as_ref().is_some_and(|c| c.to_lowercase() == lower);
        if position > 0 {
            key.push((position, name.clone()));
        }
        table.columns.insert(name, column);
    }
    key.sort();
    table.primary_key = key.into_iter().map(|(_, name)| name).collect();
    read_options(conn, object, &mut table)?;
    read_indexes(conn, object, &declared, &mut table)?;
    read_foreign_keys(conn, object, &declared, &mut table)?;
    for (name, condition) in &declared.checks {
        table.checks.insert(Check {
            columns: named_columns(condition, &table.columns),
            name: name.clone(),
            expression: expression::normalise_tokens(condition),
            not_valid: false,
        });
    }
    Ok(table)
}

fn read_options(conn: &Connection, object: &Object, table: &mut Table) -> Result<()> {
    let flags = rows(
        conn,
        "SELECT wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1",
        [&object.name],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
    )?;
    for (without_rowid, strict) in flags {
        if without_rowid != 0 {
            table.options.insert("without rowid".to_owned());
        }
        if strict != 0 {
            table.options.insert("strict".to_owned());
        }
    }
    Ok(())
}

fn read_indexes(conn: &Connection, object: &Object, declared: &TableDeclaration, table: &mut Table) -> Result<()> {
    let list = rows(
        conn,
        "SELECT l.name, l.\"unique\", l.origin, coalesce(s.sql, '') FROM pragma_index_list(?1) l \
         LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = l.name",
        [&object.name],
        |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, i64>(1)? != 0,
                row.get::<_, String>(2)?,
                row.get::<_, String>(3)?,
            ))
        },
    )?;
    for (name, unique, origin, sql) in list {
        let positions = rows(
            conn,
            "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno",
            [&name],
            |row| Ok((row.get::<_, Option<String>>(0)?, row.get::<_, i64>(1)? != 0, row.get::<_, Option<String>>(2)?)),
        )?;
        match origin.as_str() {
            "pk" => {}
            "u" => {
                let columns: Vec<String> = positions.into_iter().filter_map(|(name, ..)| name).collect();
                let lower: Vec<String> = columns.iter().map(|c| c.to_lowercase()).collect();
                let name = declared.unique_names.get(&lower).cloned();
                table.unique.insert(Unique { columns, name });
            }
            _ => {
                let text = declaration::index(&expression::tokens(&sql));
                let columns = positions.into_iter().enumerate().map(|(i, (column, desc, collation))| {
                    let own = column.as_ref().and_then(|c| table.columns.get(c)).and_then(|c| c.collation.clone());
                    let collation =
                        collation.map(|c| c.to_uppercase()).filter(|c| *c != own.unwrap_or("BINARY".into()));
                    let expression = || format!("({})", text.positions.get(i).cloned().unwrap_or_default());
                    IndexColumn { name: column.unwrap_or_else(expression), desc, collation, ..IndexColumn::default() }
                });
                let index = Index { columns: columns.collect(), unique, predicate: text.predicate, ..Index::default() };
                table.indexes.insert(name, index);
            }
        }
    }
    Ok(())
}

fn read_foreign_keys(conn: &Connection, object: &Object, declared: &TableDeclaration, table: &mut Table) -> Result<()> {
    let list = rows(
        conn,
        "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
        [&object.name],
        |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, Option<String>>(3)?,
                row.get::<_, String>(4)?.to_lowercase(),
                row.get::<_, String>(5)?.to_lowercase(),
            ))
        },
    )?;
    let mut keys: BTreeMap<i64, ForeignKey> = BTreeMap::new();
    for (id, references, from, to, on_delete, on_update) in list {
        let key = keys.entry(id).or_insert_with(|| ForeignKey {
            columns: Vec::new(),
            references,
            referenced_columns: Vec::new(),
            on_delete,
            on_update,
            name: None,
            deferred: false,
            not_valid: false,
        });
        key.columns.push(from);
        key.referenced_columns.extend(to);
    }
    for (_, mut key) in keys {
        if key.referenced_columns.is_empty() {
            key.referenced_columns = rows(
                conn,
                "SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 ORDER BY pk",
                [&key.references],
                |row| row.get(0),
            )?;
        }
        let lower: Vec<String> = key.columns.iter().map(|c| c.to_lowercase()).collect();
        key.name = declared.foreign_key_names.get(&lower).cloned();
        key.deferred = declared.deferred.contains(&lower);
        table.foreign_keys.insert(key);
    }
    Ok(())
}

fn read_settings(conn: &Connection, out: &mut Recorded) -> Result<()> {
    for key in recorded::READ_SETTINGS {
        let values =
            rows(conn, "SELECT value FROM settings WHERE key = ?1 LIMIT 1000", [key], |row| Ok(text(row.get_ref(0)?)))?;
        if !values.is_empty() {
            out.settings.insert(key.to_owned(), values);
        }
    }
    let nameless = rows(conn, "SELECT count(*) FROM settings WHERE key IS NULL", [], |row| row.get::<_, i64>(0))?;
    out.nameless_settings = nameless.first().copied().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Ok(())
}

fn read_ledger(conn: &Connection, out: &mut Recorded) -> Result<()> {
    out.ledger = rows(
        conn,
        "SELECT filename, applied_at FROM schema_history ORDER BY filename, applied_at LIMIT ?1",
        [LEDGER_ROWS_MAX],
        |row| Ok(LedgerRow { filename: text(row.get_ref(0)?), applied_at: text(row.get_ref(1)?) }),
    )?;
    Ok(())
}

/// Columns of the table that a condition speaks of, sorted.
fn named_columns(condition: &[Token], columns: &BTreeMap<String, Column>) -> Vec<String> {
    let names: BTreeSet<&str> = condition.iter().filter_map(Token::name).collect();
    let spoken_of = |column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
    columns.keys().filter(|column| spoken_of(column)).cloned().collect()
}

/// A declared type: upper case, single blanks.
fn normal_type(declared: &str) -> String {
    declared.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase()
}

/// Any stored value as text; `None` for null only.
fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(i) => Some(i.to_string()),
        ValueRef::Real(r) => Some(r.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn rows<T>(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare(sql).map_err(|e| driver(OPERATION, e))?;
    let rows = statement.query_map(params, read).map_err(|e| driver(OPERATION, e))?;
    rows.collect::<rusqlite::Result<_>>().map_err(|e| match e {
        rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::FromSqlConversionFailure(..) => {
            Error::new(ErrorKind::Damaged, OPERATION, e.to_string())
        }
        e => driver(OPERATION, e),
    })
}
