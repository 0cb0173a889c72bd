//! Reads the rows of `tables`, `indexes`, `vector_indexes` and `backups`, whatever columns the file has.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension as _, Params, Row};
use serde_json::Value;

use super::error::{damaged, damaged_row, driver};
use super::shape::{columns, has_table, key_columns, physical_name, quoted};
use crate::backend::catalog::LegacyBackup;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::catalog_row::{
    BackupColumns, IndexColumns, MissingKeyType, TableColumns, VectorColumns, backup_table, missing_key_types,
    sort_column_type, table_info,
};
use crate::domain::table::{AttributeDefinition, ScalarType, TableInfo, TableKey};
use crate::domain::timestamp::TimestampMs;

/// Rows looked at to find the type of a HASH attribute that has no definition.
const SAMPLED_ROWS: u32 = 1000;

/// `tables`, in `(account_id, table_name)` byte order.
///
/// # Errors
/// `NotInitialized` without a `tables` table; `Damaged` for rows that break their rules.
pub fn tables(conn: &Connection, account_id: Option<&str>) -> Result<Vec<TableInfo>> {
    let sql = table_select(conn, "?1 IS NULL OR account_id = ?1")? + " ORDER BY account_id, table_name";
    let rows = collect(conn, "list tables", &sql, [account_id], table_columns)?;
    rows.into_iter().map(|row| complete(conn, &row?)).collect()
}

/// One row of `tables`.
///
/// # Errors
/// As [`tables`].
pub fn table(conn: &Connection, key: &TableKey) -> Result<Option<TableInfo>> {
    let sql = table_select(conn, "account_id = ?1 AND table_name = ?2")?;
    let mut rows = collect(conn, "read a table", &sql, [&key.account_id, &key.table_name], table_columns)?;
    match rows.pop() {
        Some(row) => Ok(Some(complete(conn, &row?)?)),
        None => Ok(None),
    }
}

/// In-catalog backups, in `(created_at, backup_arn)` order.
///
/// # Errors
/// As [`tables`].
pub fn legacy_backups(conn: &Connection, account_id: Option<&str>) -> Result<Vec<LegacyBackup>> {
    let Some(sql) = backup_select(conn, "?1 IS NULL OR account_id = ?1")? else { return Ok(Vec::new()) };
    let rows = collect(conn, "list in-catalog backups", &sql, [account_id], legacy_backup)?;
    let mut backups = rows.into_iter().collect::<Result<Vec<_>>>()?;
    backups.sort_by(|a, b| (a.created_at, &a.backup_arn).cmp(&(b.created_at, &b.backup_arn)));
    Ok(backups)
}

/// One in-catalog backup.
///
/// # Errors
/// As [`tables`].
pub fn legacy_backup_of(conn: &Connection, backup_arn: &str) -> Result<Option<LegacyBackup>> {
    let Some(sql) = backup_select(conn, "b.backup_arn = ?1")? else { return Ok(None) };
    collect(conn, "read an in-catalog backup", &sql, [backup_arn], legacy_backup)?.pop().transpose()
}

/// Parses a stored time, naming the row if it is none.
///
/// # Errors
/// `Damaged`.
pub fn time(operation: &'static str, row: &str, column: &str, text: &str) -> Result<TimestampMs> {
    text.parse().map_err(|e| damaged(operation, row, format!("{column}: {e}")))
}

fn collect<T>(
    conn: &Connection,
    operation: &'static str,
    sql: &str,
    params: impl Params,
    read: fn(&Row<'_>) -> rusqlite::Result<Result<T>>,
) -> Result<Vec<Result<T>>> {
    let fail = |e| driver(operation, e);
    let mut statement = conn.prepare_cached(sql).map_err(fail)?;
    let rows = statement.query_map(params, read).map_err(fail)?;
    rows.collect::<rusqlite::Result<_>>().map_err(fail)
}

/// The columns, with null for what an old file lacks.
fn select_list(there: &[String], wanted: &[&str]) -> String {
    let pick = |name: &&str| {
        if there.iter().any(|c| c == name) { (*name).to_owned() } else { format!("NULL AS {name}") }
    };
    wanted.iter().map(pick).collect::<Vec<_>>().join(", ")
}

const TABLE_COLUMNS: &[&str] = &[
    "account_id",
    "table_name",
    "table_id",
    "table_arn",
    "table_status",
    "creation_date_time",
    "key_schema",
    "attribute_definitions",
    "billing_mode",
    "provisioned_throughput",
    "on_demand_throughput",
    "sse_specification",
    "table_class",
    "item_count",
    "table_size_bytes",
];

fn table_select(conn: &Connection, condition: &str) -> Result<String> {
    let there = columns(conn, "tables")?;
    if there.is_empty() {
        return Err(Error::new(ErrorKind::NotInitialized, "read the catalog", "there is no table named tables"));
    }
    Ok(format!("SELECT {} FROM tables WHERE ({condition})", select_list(&there, TABLE_COLUMNS)))
}

fn table_columns(row: &Row<'_>) -> rusqlite::Result<Result<TableColumns>> {
    let created: String = row.get("creation_date_time")?;
    let mut columns = TableColumns {
        account_id: row.get("account_id")?,
        table_name: row.get("table_name")?,
        table_id: row.get("table_id")?,
        table_arn: row.get("table_arn")?,
        table_status: row.get("table_status")?,
        creation_date_time: TimestampMs(0),
        key_schema: row.get("key_schema")?,
        attribute_definitions: row.get("attribute_definitions")?,
        billing_mode: row.get("billing_mode")?,
        provisioned_throughput: row.get("provisioned_throughput")?,
        on_demand_throughput: row.get("on_demand_throughput")?,
        sse_specification: row.get("sse_specification")?,
        table_class: row.get("table_class")?,
        item_count: row.get("item_count")?,
        table_size_bytes: row.get("table_size_bytes")?,
    };
    let name = format!("{}/{} of tables", columns.account_id, columns.table_name);
    Ok(time("read a table", &name, "creation_date_time", &created).map(|at| {
        columns.creation_date_time = at;
        columns
    }))
}

/// Adds the indexes and whatever types the definitions lack.
fn complete(conn: &Connection, row: &TableColumns) -> Result<TableInfo> {
    let operation = "read a table's indexes";
    let there = columns(conn, "indexes")?;
    let wanted =
        &["index_name", "index_id", "index_type", "key_schema", "projection", "index_status", "provisioned_throughput"];
    let sql = format!("SELECT {} FROM indexes WHERE table_id = ?1 ORDER BY index_name", select_list(&there, wanted));
    let indexes = collect(conn, operation, &sql, [&row.table_id], |row| {
        Ok(Ok(IndexColumns {
            index_name: row.get("index_name")?,
            index_id: row.get::<_, Option<String>>("index_id")?.unwrap_or_default(),
            index_type: row.get("index_type")?,
            key_schema: row.get("key_schema")?,
            projection: row.get("projection")?,
            index_status: row.get("index_status")?,
            provisioned_throughput: row.get("provisioned_throughput")?,
        }))
    })?;
    let indexes = indexes.into_iter().collect::<Result<Vec<_>>>()?;
    let vectors = if has_table(conn, "vector_indexes")? {
        let sql = "SELECT index_name, dimensions, distance_function, vector_attribute, search_schema, projection, \
                   index_status, backfilling FROM vector_indexes WHERE table_id = ?1 ORDER BY index_name";
        let rows = collect(conn, operation, sql, [&row.table_id], |row| {
            Ok(Ok(VectorColumns {
                index_name: row.get("index_name")?,
                dimensions: row.get("dimensions")?,
                distance_function: row.get("distance_function")?,
                vector_attribute: row.get("vector_attribute")?,
                search_schema: row.get("search_schema")?,
                projection: row.get("projection")?,
                index_status: row.get("index_status")?,
                backfilling: row.get("backfilling")?,
            }))
        })?;
        rows.into_iter().collect::<Result<Vec<_>>>()?
    } else {
        Vec::new()
    };
    let bad = |e| damaged_row(operation, &e);
    let mut found = Vec::new();
    for missing in missing_key_types(row, &indexes).map_err(bad)? {
        if let Some(attribute_type) = find_type(conn, row, &indexes, &missing)? {
            found.push(AttributeDefinition { attribute_name: missing.attribute, attribute_type });
        }
    }
    table_info(row, &indexes, &vectors, &found, false).map_err(bad)
}

/// Reads the type of a key attribute from the physical sort column, or for a HASH from an item.
fn find_type(
    conn: &Connection,
    row: &TableColumns,
    indexes: &[IndexColumns],
    missing: &MissingKeyType,
) -> Result<Option<ScalarType>> {
    let id = missing.index.map_or(&row.table_id, |i| &indexes[i].index_id);
    let physical = physical_name(id);
    if !has_table(conn, &physical)? {
        return Ok(None);
    }
    let fail = |e| driver("read a stored row", e);
    if let Some(position) = missing.sort_position {
        let sort = match missing.index {
            None => key_columns(conn, &physical)?.into_iter().filter(|c| c.starts_with("sk")).nth(position),
            // The sort column of an index is no part of its primary key, but of its ordering index.
            Some(_) => conn
                .prepare("SELECT name FROM pragma_index_info(?1) WHERE name LIKE 'sk%' ORDER BY seqno")
                .and_then(|mut s| {
                    let names = s.query_map([format!("idx_order_{id}")], |r| r.get(0))?;
                    names.collect::<rusqlite::Result<Vec<String>>>()
                })
                .map_err(fail)?
                .into_iter()
                .nth(position),
        };
        return Ok(sort.as_deref().and_then(sort_column_type));
    }
    let sql = format!("SELECT item_data FROM {} LIMIT {SAMPLED_ROWS}", quoted(&physical));
    let mut statement = conn.prepare(&sql).map_err(fail)?;
    let mut rows = statement.query([]).map_err(fail)?;
    while let Some(row) = rows.next().map_err(fail)? {
        let text: String = row.get(0).map_err(fail)?;
        let Ok(item) = serde_json::from_str::<Value>(&text) else { continue };
        let tag = item.get(&missing.attribute).and_then(Value::as_object).and_then(|v| v.keys().next());
        let known = [ScalarType::S, ScalarType::N, ScalarType::B];
        if let Some(ty) = known.into_iter().find(|t| tag.is_some_and(|tag| tag == t.tag())) {
            return Ok(Some(ty));
        }
    }
    Ok(None)
}

fn backup_select(conn: &Connection, condition: &str) -> Result<Option<String>> {
    if !has_table(conn, "backups")? {
        return Ok(None);
    }
    let (definition, join) = if has_table(conn, "backup_definitions")? {
        ("d.definition", "LEFT JOIN backup_definitions d ON d.backup_arn = b.backup_arn")
    } else {
        ("NULL", "")
    };
    Ok(Some(format!(
        "SELECT b.backup_arn, b.backup_name, b.table_id, b.table_name, b.account_id, b.backup_status, \
         b.backup_size_bytes, b.item_count, b.key_schema, b.attribute_definitions, b.created_at, \
         {definition} AS definition FROM backups b {join} WHERE ({condition})"
    )))
}

fn legacy_backup(row: &Row<'_>) -> rusqlite::Result<Result<LegacyBackup>> {
    fn text<T: FromSql>(row: &Row<'_>, name: &str) -> rusqlite::Result<T> {
        row.get(name)
    }
    let operation = "read an in-catalog backup";
    let created: String = text(row, "created_at")?;
    let mut columns = BackupColumns {
        backup_arn: text(row, "backup_arn")?,
        table_id: text(row, "table_id")?,
        table_name: text(row, "table_name")?,
        account_id: text(row, "account_id")?,
        created_at: TimestampMs(0),
        key_schema: text(row, "key_schema")?,
        attribute_definitions: text(row, "attribute_definitions")?,
        item_count: text(row, "item_count")?,
        backup_size_bytes: text(row, "backup_size_bytes")?,
        vector_indexes: None,
        definition: text(row, "definition")?,
    };
    let (backup_name, status): (String, String) = (text(row, "backup_name")?, text(row, "backup_status")?);
    Ok((|| {
        columns.created_at = time(operation, &format!("{} of backups", columns.backup_arn), "created_at", &created)?;
        let (table, notes) = backup_table(&columns).map_err(|e| damaged_row(operation, &e))?;
        Ok(LegacyBackup {
            backup_arn: columns.backup_arn,
            backup_name,
            account_id: columns.account_id,
            status,
            created_at: columns.created_at,
            item_count: columns.item_count,
            size_bytes: columns.backup_size_bytes,
            table,
            notes,
        })
    })())
}

/// A setting's value.
///
/// # Errors
/// Database errors.
pub fn setting(conn: &Connection, key: &str) -> Result<Option<String>> {
    conn.query_row("SELECT value FROM settings WHERE key = ?1", [key], |row| row.get(0))
        .optional()
        .map(Option::flatten)
        .map_err(|e| driver("read a setting", e).with("setting", key))
}
