//! What a real server left on PostgreSQL, row by row, in databases of their own.

use serde_json::Value;

use super::deployment::Deployment;
use super::servers::Kind;
use super::table::{Layout, base64_bytes, bytes, insert_of, literal};

/// Account of the sample.
pub const ACCOUNT: &str = "565209665507";

/// Its tables, with the number of items in each, in byte order.
pub const TABLES: &[(&str, usize)] = &[("Blobs", 6), ("Orders", 16), ("Readings", 12), ("Sessions", 12)];

/// ARN of its in-catalog backup.
pub const LEGACY_BACKUP: &str = "arn:aws:dynamodb:us-east-1:565209665507:table/Orders/backup/1796073796883";

/// Contents of the sample.
pub fn sample() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/samples/postgres-0.0.2.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The items of one table of the sample, as values of their JSON.
pub fn items(table: &str) -> Vec<Value> {
    let sample = sample();
    let tables = &sample["catalog"]["tables"];
    let column = |name: &str| tables["columns"].as_array().unwrap().iter().position(|c| c == name).unwrap();
    let row = tables["rows"].as_array().unwrap().iter().find(|r| r[column("table_name")] == table).unwrap();
    let physical = &sample["data"][format!("_ddb_{}", row[column("table_id")].as_str().unwrap())];
    let rows = physical["rows"].as_array().unwrap();
    rows.iter().map(|row| row.as_array().unwrap().last().unwrap().clone()).collect()
}

impl Deployment {
    /// The sample, on its catalog of version 0.0.2 (variant b) and a data database of its own.
    pub fn sample() -> Self {
        let mut this = Self::released(Kind::Postgres, "0.0.2-b");
        this.layout = Layout::OLD;
        let sample = sample();
        let mut catalog = this.catalog();
        let url = catalog.rows("SELECT key, value FROM settings WHERE key LIKE 'data\\_database%'");
        let mut sql = String::from("DELETE FROM settings; DELETE FROM accounts; DELETE FROM schema_history;\n");
        // Parents first: the sample lists its tables by name.
        let order = ["accounts", "iam_users", "backups", "tables"];
        let tables = sample["catalog"].as_object().unwrap();
        let rest = tables.keys().map(String::as_str).filter(|t| !order.contains(t));
        for table in order.into_iter().chain(rest) {
            sql += &insert_rows(table, &names(&tables[table]["columns"]), &tables[table]["rows"]);
        }
        for row in url {
            let (key, value) = (row[0].as_ref().unwrap(), row[1].as_ref().unwrap());
            sql += &format!("UPDATE settings SET value = '{value}' WHERE key = '{key}';\n");
        }
        catalog.exec(&sql);

        let mut sql = String::new();
        let tables = sample["data"].as_object().unwrap();
        for (table, physical) in tables {
            if table.starts_with("_ddb_") {
                sql += &create(table, physical);
            }
        }
        let order = ["stream_shards"];
        let rest = tables.keys().map(String::as_str).filter(|t| !order.contains(t));
        for table in order.into_iter().chain(rest) {
            let columns = tables[table]["columns"].as_array().unwrap();
            let columns: Vec<_> = columns.iter().map(|c| c["name"].as_str().unwrap().to_owned()).collect();
            sql += &insert_rows(table, &columns, &tables[table]["rows"]);
        }
        this.data().exec(&sql);
        this
    }
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|n| n.as_str().unwrap().to_owned()).collect()
}

fn create(table: &str, physical: &Value) -> String {
    let columns = physical["columns"].as_array().unwrap().iter().map(|c| {
        let null = if c["nullable"] == true { "" } else { " NOT NULL" };
        format!("\"{}\" {}{null}", c["name"].as_str().unwrap(), c["type"].as_str().unwrap())
    });
    let mut sql = format!("CREATE TABLE \"{table}\" ({});\n", columns.collect::<Vec<_>>().join(", "));
    for index in physical["indexes"].as_array().unwrap() {
        let (name, on) = (index["name"].as_str().unwrap(), index["columns"].as_str().unwrap());
        sql += &match name.ends_with("_pkey") {
            true => format!("ALTER TABLE \"{table}\" ADD PRIMARY KEY {};\n", on.strip_prefix("btree ").unwrap()),
            false => format!("CREATE INDEX \"{name}\" ON \"{table}\" USING {on};\n"),
        };
    }
    sql
}

fn insert_rows(table: &str, columns: &[String], rows: &Value) -> String {
    let value = |v: &Value| {
        if let Some(number) = v.get("decimal").and_then(Value::as_str) {
            return number.to_owned();
        }
        match v.get("bytes").and_then(Value::as_str) {
            Some(base64) => bytes(Kind::Postgres, &base64_bytes(base64)),
            None => literal(Kind::Postgres, v),
        }
    };
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| insert_of(table, columns.iter().cloned().zip(row.as_array().unwrap().iter().map(value)))).collect()
}
