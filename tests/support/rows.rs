//! Rows in every table of a catalog, and proof that they were kept.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::deployment::Deployment;
use super::sql::{Db, Row};
use super::table::{bytes, insert_of, literal};

impl Deployment {
    /// Puts at least one row into every table that the catalog has (`seq_counters` and `schema_history`
    /// have theirs).
    pub fn add_rows_everywhere(&self) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/catalogs/rows.json");
        let rows: Vec<(String, Map<String, Value>)> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut catalog = self.catalog();
        for (table, mut row) in rows {
            let columns = catalog.columns(&table);
            if columns.is_empty() {
                continue;
            }
            row.retain(|name, _| columns.contains(name));
            let value = |v: &Value| match v.get("bytes").and_then(Value::as_str) {
                Some(base64) => bytes(self.kind, &super::table::base64_bytes(base64)),
                None => literal(self.kind, v),
            };
            catalog.exec(&insert_of(&table, row.iter().map(|(name, v)| (name.clone(), value(v)))));
        }
    }
}

/// What every table held, column by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census(BTreeMap<String, (Vec<String>, Vec<Row>)>);

impl Census {
    /// Counts every row of every table of a database but the ones named.
    pub fn take(db: &mut Db, but: &[&str]) -> Self {
        let mut tables = BTreeMap::new();
        for table in db.tables().into_iter().filter(|t| !t.contains('.') && !but.contains(&t.as_str())) {
            let columns = db.columns(&table);
            let rows = rows_of(db, &table, &columns);
            tables.insert(table, (columns, rows));
        }
        Self(tables)
    }

    /// Tables without a row.
    pub fn empty_tables(&self) -> Vec<&str> {
        self.0.iter().filter(|(_, (_, rows))| rows.is_empty()).map(|(name, _)| name.as_str()).collect()
    }

    /// Asserts that the database still holds all of it, in the same columns. It may have gained tables and
    /// columns; rows are compared as a set.
    #[track_caller]
    pub fn assert_kept(&self, db: &mut Db) {
        for (table, (columns, before)) in &self.0 {
            let now = db.columns(table);
            let gone: Vec<_> = columns.iter().filter(|c| !now.contains(c)).collect();
            assert!(gone.is_empty(), "{table} has lost {gone:?}");
            let after = rows_of(db, table, columns);
            assert!(*before == after, "rows of {table} changed\n--- before\n{before:#?}\n--- after\n{after:#?}");
        }
    }
}

fn rows_of(db: &mut Db, table: &str, columns: &[String]) -> Vec<Row> {
    let list: Vec<_> = columns.iter().map(|c| format!("\"{c}\"")).collect();
    let mut rows = db.rows(&format!("SELECT {} FROM \"{table}\"", list.join(", ")));
    rows.sort();
    rows
}
