//! A table described once, and written into a catalog and its data the way a server of the backend
//! writes it.
//!
//! Sources: the data layouts of PostgreSQL and SQLite. Key text, number-key text, netstrings and
//! projections are worked out here again on purpose, by the rules as written, and checked against
//! the contract's known answers in `tests/conformance`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::deployment::{ACCOUNT, Deployment};
use super::servers::Kind;
use super::sql::{Db, hex};

/// Name and type (`S`, `N`, `B`) of a key attribute.
pub type KeyAttribute = (&'static str, &'static str);

/// One secondary index.
#[derive(Debug, Clone)]
pub struct Index {
    pub name: &'static str,
    pub id: String,
    /// `GSI` or `LSI`.
    pub kind: &'static str,
    pub hash: Vec<KeyAttribute>,
    pub range: Vec<KeyAttribute>,
    pub projection: Value,
}

/// A table with its items, which are in canonical form: numbers normalised, sets sorted.
#[derive(Debug, Clone)]
pub struct Table {
    pub account: String,
    pub name: String,
    pub id: String,
    pub hash: KeyAttribute,
    pub range: Option<KeyAttribute>,
    pub indexes: Vec<Index>,
    /// Columns of `tables` beside identity, keys and status: `billing_mode`, `table_class`, ….
    /// Those that a version does not have are left out.
    pub columns: Map<String, Value>,
    pub tags: BTreeMap<&'static str, &'static str>,
    pub items: Vec<Value>,
}

/// What differs between the builds of one backend.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Text keys of PostgreSQL declare `COLLATE "C"`.
    pub collate_c: bool,
    /// Index tables have the reverse index.
    pub reverse_index: bool,
    /// U+0000 and U+0001 are escaped (PostgreSQL).
    pub escaped: bool,
    /// Physical tables are named by account and table (PostgreSQL 0.0.2 variant a).
    pub named_by_table: bool,
}

impl Layout {
    /// What builds of today write.
    pub const NEW: Self = Self { collate_c: true, reverse_index: true, escaped: false, named_by_table: false };
    /// What the first builds wrote.
    pub const OLD: Self = Self { collate_c: false, reverse_index: false, escaped: false, named_by_table: false };
}

impl Table {
    /// A table without indexes and items, on demand.
    pub fn new(name: &str, id: u32, hash: KeyAttribute, range: Option<KeyAttribute>) -> Self {
        let mut columns = Map::new();
        columns.insert("billing_mode".into(), json!("PAY_PER_REQUEST"));
        Self {
            account: ACCOUNT.into(),
            name: name.into(),
            id: uuid("7ab1e000", id),
            hash,
            range,
            indexes: Vec::new(),
            columns,
            tags: BTreeMap::new(),
            items: Vec::new(),
        }
    }

    /// Adds an index.
    pub fn index(
        mut self,
        kind: &'static str,
        name: &'static str,
        hash: &[KeyAttribute],
        range: &[KeyAttribute],
        projection: Value,
    ) -> Self {
        let number = u32::try_from(self.indexes.len()).unwrap();
        let id = uuid("1dec5000", u32::from_str_radix(&self.id[32..], 16).unwrap() * 16 + number);
        self.indexes.push(Index { name, id, kind, hash: hash.to_vec(), range: range.to_vec(), projection });
        self
    }

    /// Sets a column of `tables`.
    pub fn column(mut self, name: &str, value: Value) -> Self {
        self.columns.insert(name.into(), value);
        self
    }

    /// Adds items.
    pub fn items(mut self, items: impl IntoIterator<Item = Value>) -> Self {
        self.items.extend(items);
        self
    }

    /// Its ARN.
    pub fn arn(&self) -> String {
        format!("arn:aws:dynamodb:eu-west-1:{}:table/{}", self.account, self.name)
    }

    /// Key schema in the API's form.
    pub fn key_schema(&self) -> Value {
        key_schema(&[self.hash], self.range.as_slice())
    }

    /// Every key attribute's definition, in order of first use.
    pub fn attribute_definitions(&self) -> Value {
        let mut all = vec![self.hash];
        all.extend(self.range);
        all.extend(self.indexes.iter().flat_map(|i| i.hash.iter().chain(&i.range)));
        let mut seen = Vec::new();
        all.retain(|(name, _)| {
            !seen.contains(name) && {
                seen.push(name);
                true
            }
        });
        all.iter().map(|(name, ty)| json!({"AttributeName": name, "AttributeType": ty})).collect()
    }
}

/// A fixed UUID of version 4.
fn uuid(first: &str, number: u32) -> String {
    format!("{first}-0000-4000-8000-{number:012x}")
}

fn key_schema(hash: &[KeyAttribute], range: &[KeyAttribute]) -> Value {
    let element = |kind: &str| {
        let kind = kind.to_owned();
        move |(name, _): &KeyAttribute| json!({"AttributeName": name, "KeyType": kind})
    };
    hash.iter().map(element("HASH")).chain(range.iter().map(element("RANGE"))).collect()
}

impl Deployment {
    /// Writes a table and its items, with the layout of the builds that made the deployment.
    pub fn add(&self, table: &Table) {
        self.add_as(table, self.layout);
    }

    /// Writes a table and its items.
    pub fn add_as(&self, table: &Table, layout: Layout) {
        let mut catalog = self.catalog();
        let (tables, indexes) = (catalog.columns("tables"), catalog.columns("indexes"));
        catalog.exec(&format!("BEGIN;\n{}COMMIT;", catalog_sql(self.kind, table, &tables, &indexes)));
        let mut data = self.data();
        let writer = Writer { kind: self.kind, layout, table };
        data.exec(&writer.create());
        writer.insert(&mut data);
    }

    /// Writes further items into a table that is there.
    pub fn put(&self, table: &Table, items: &[Value]) {
        let more = Table { items: items.to_vec(), ..table.clone() };
        Writer { kind: self.kind, layout: self.layout, table: &more }.insert(&mut self.data());
    }

    /// Writes an in-catalog backup of a table, as servers up to 0.0.4 made them.
    pub fn add_legacy_backup(&self, table: &Table, name: &str, backup_id: &str) -> String {
        let mut catalog = self.catalog();
        let arn = format!("{}/backup/{backup_id}", table.arn());
        let mut row = Map::new();
        for (column, value) in [
            ("backup_arn", json!(arn)),
            ("backup_name", json!(name)),
            ("table_id", json!(table.id)),
            ("table_name", json!(table.name)),
            ("account_id", json!(table.account)),
            ("backup_status", json!("AVAILABLE")),
            ("backup_type", json!("USER")),
            ("backup_size_bytes", json!(0)),
            ("item_count", json!(table.items.len())),
            ("key_schema", table.key_schema()),
            ("attribute_definitions", table.attribute_definitions()),
            ("billing_mode", table.columns["billing_mode"].clone()),
            ("created_at", json!("2026-06-02T08:00:00.250Z")),
        ] {
            row.insert(column.into(), value);
        }
        let mut sql = insert(self.kind, "backups", &row);
        for item in &table.items {
            let mut row = Map::new();
            row.insert("backup_arn".into(), json!(arn));
            row.insert("pk".into(), json!(key_text(table.hash.1, &item[table.hash.0])));
            row.insert("item_data".into(), item.clone());
            sql += &insert(self.kind, "backup_items", &row);
        }
        if !catalog.columns("backup_definitions").is_empty() {
            let mut row = Map::new();
            row.insert("backup_arn".into(), json!(arn));
            row.insert("definition".into(), definition(table));
            sql += &insert(self.kind, "backup_definitions", &row);
        }
        catalog.exec(&format!("BEGIN;\n{sql}COMMIT;"));
        arn
    }
}

/// `backup_definitions.definition`, version 1.
fn definition(table: &Table) -> Value {
    let indexes = |kind: &str| -> Value {
        let of = table.indexes.iter().filter(|i| i.kind == kind);
        of.map(|i| json!({"IndexName": i.name, "KeySchema": key_schema(&i.hash, &i.range), "Projection": i.projection}))
            .collect()
    };
    let mut definition = json!({
        "Version": 1,
        "BillingMode": table.columns["billing_mode"],
        "GlobalSecondaryIndexes": indexes("GSI"),
        "LocalSecondaryIndexes": indexes("LSI"),
        "VectorIndexNames": [],
    });
    if table.columns["billing_mode"] == "PROVISIONED" {
        definition["ProvisionedThroughput"] = table.columns["provisioned_throughput"].clone();
    }
    definition
}

/// The rows of the catalog.
fn catalog_sql(kind: Kind, table: &Table, table_columns: &[String], index_columns: &[String]) -> String {
    let mut row = table.columns.clone();
    row.retain(|name, _| table_columns.contains(name));
    for (column, value) in [
        ("account_id", json!(table.account)),
        ("table_name", json!(table.name)),
        ("table_id", json!(table.id)),
        ("table_arn", json!(table.arn())),
        ("table_status", json!("ACTIVE")),
        ("key_schema", table.key_schema()),
        ("attribute_definitions", table.attribute_definitions()),
        ("creation_date_time", json!("2026-06-01T10:20:30.123Z")),
        ("item_count", json!(table.items.len())),
    ] {
        row.insert(column.into(), value);
    }
    let mut sql = insert(kind, "tables", &row);
    for index in &table.indexes {
        let mut row = Map::new();
        for (column, value) in [
            ("table_id", json!(table.id)),
            ("index_id", json!(index.id)),
            ("index_name", json!(index.name)),
            ("index_type", json!(index.kind)),
            ("key_schema", key_schema(&index.hash, &index.range)),
            ("projection", index.projection.clone()),
            ("index_status", json!("ACTIVE")),
        ] {
            if index_columns.iter().any(|c| c == column) {
                row.insert(column.into(), value);
            }
        }
        if index.kind == "GSI" && table.columns["billing_mode"] == "PROVISIONED" {
            let throughput = json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5, "NumberOfDecreasesToday": 0});
            row.insert("provisioned_throughput".into(), throughput);
        }
        sql += &insert(kind, "indexes", &row);
    }
    for (key, value) in &table.tags {
        let mut row = Map::new();
        row.insert("resource_arn".into(), json!(table.arn()));
        row.insert("tag_key".into(), json!(key));
        row.insert("tag_value".into(), json!(value));
        sql += &insert(kind, "tags", &row);
    }
    sql
}

/// An INSERT statement of one row of values.
pub fn insert(kind: Kind, table: &str, row: &Map<String, Value>) -> String {
    insert_of(table, row.iter().map(|(name, value)| (name.clone(), literal(kind, value))))
}

/// An INSERT statement of one row of literals.
pub fn insert_of(table: &str, row: impl IntoIterator<Item = (String, String)>) -> String {
    let (columns, values): (Vec<_>, Vec<_>) = row.into_iter().map(|(c, v)| (format!("\"{c}\""), v)).unzip();
    format!("INSERT INTO \"{table}\" ({}) VALUES ({});\n", columns.join(", "), values.join(", "))
}

/// A value as a literal; objects and arrays as JSON text.
pub fn literal(kind: Kind, value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Bool(b) => match kind {
            Kind::Sqlite => i32::from(*b).to_string(),
            Kind::Postgres => b.to_string(),
        },
        Value::Number(n) => n.to_string(),
        Value::String(s) => text(kind, s),
        Value::Array(_) | Value::Object(_) => text(kind, &value.to_string()),
    }
}

fn text(kind: Kind, text: &str) -> String {
    if kind == Kind::Sqlite && text.contains('\0') {
        return format!("CAST(X'{}' AS TEXT)", hex(text.as_bytes()));
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// Bytes as a literal.
pub fn bytes(kind: Kind, bytes: &[u8]) -> String {
    match kind {
        Kind::Sqlite => format!("X'{}'", hex(bytes)),
        Kind::Postgres => format!("'\\x{}'", hex(bytes)),
    }
}

/// Writes the physical tables of one table.
struct Writer<'a> {
    kind: Kind,
    layout: Layout,
    table: &'a Table,
}

impl Writer<'_> {
    fn base_name(&self) -> String {
        match self.layout.named_by_table {
            true => format!("_ddb_{}_{}", self.table.account, self.table.name),
            false => format!("_ddb_{}", self.table.id),
        }
    }

    fn index_name(&self, index: &Index) -> String {
        match self.layout.named_by_table {
            true => format!("{}__gsi__{}", self.base_name(), index.name),
            false => format!("_ddb_{}", index.id),
        }
    }

    fn collation(&self) -> &'static str {
        if self.kind == Kind::Postgres && self.layout.collate_c { " COLLATE \"C\"" } else { "" }
    }

    /// The three typed columns of each sort position. The declared one of a base key is NOT NULL on
    /// PostgreSQL, being part of the primary key.
    fn sort_columns(&self, prefix: &str, positions: usize) -> String {
        let (number, binary) = match self.kind {
            Kind::Sqlite => ("TEXT", "BLOB"),
            Kind::Postgres => ("numeric", "bytea"),
        };
        let mut sql = String::new();
        for position in 1..=positions {
            let n = if position == 1 { String::new() } else { position.to_string() };
            let c = self.collation();
            write!(sql, ", {prefix}sk{n}_s TEXT{c}, {prefix}sk{n}_n {number}, {prefix}sk{n}_b {binary}").unwrap();
        }
        sql
    }

    fn create(&self) -> String {
        let json = if self.kind == Kind::Sqlite { "TEXT" } else { "jsonb" };
        let c = self.collation();
        let base = self.base_name();
        let base_sorts = self.table.range.as_slice();
        let mut sql = format!(
            "CREATE TABLE \"{base}\" (pk TEXT{c} NOT NULL{}, item_data {json} NOT NULL, PRIMARY KEY (pk{}));\n",
            self.sort_columns("", base_sorts.len()),
            declared("", base_sorts)
        );
        for index in &self.table.indexes {
            let name = self.index_name(index);
            let base_key = format!("base_pk{}", declared("base_", base_sorts));
            writeln!(
                sql,
                "CREATE TABLE \"{name}\" (pk TEXT{c} NOT NULL{}, base_pk TEXT{c} NOT NULL{}, item_data {json} NOT NULL, PRIMARY KEY (pk, {base_key}));",
                self.sort_columns("", index.range.len()),
                self.sort_columns("base_", base_sorts.len()),
            )
            .unwrap();
            if !index.range.is_empty() {
                let own = if self.kind == Kind::Sqlite { format!("\"idx_order_{}\"", index.id) } else { String::new() };
                writeln!(sql, "CREATE INDEX {own} ON \"{name}\" (pk{}, {base_key});", declared("", &index.range))
                    .unwrap();
            }
            if self.layout.reverse_index {
                let own = match self.kind {
                    Kind::Sqlite => format!("idx_base_key_{}", index.id),
                    Kind::Postgres => format!("{name}_base_key_idx"),
                };
                writeln!(sql, "CREATE INDEX \"{own}\" ON \"{name}\" ({base_key});").unwrap();
            }
        }
        if let Some(attribute) = self.table.columns.get("ttl_attribute").and_then(Value::as_str) {
            match self.kind {
                Kind::Sqlite => writeln!(
                    sql,
                    "CREATE INDEX \"idx_ttl_{}\" ON \"{base}\" (CAST(json_extract(item_data, '$.{attribute}.N') AS INTEGER)) \
                     WHERE json_extract(item_data, '$.{attribute}.N') IS NOT NULL;",
                    self.table.id
                ),
                Kind::Postgres => writeln!(
                    sql,
                    "CREATE INDEX \"idx_ttl_{base}\" ON \"{base}\" (((item_data -> '{attribute}' ->> 'N')::bigint)) \
                     WHERE (item_data -> '{attribute}' ->> 'N') IS NOT NULL;"
                ),
            }
            .unwrap();
        }
        sql
    }

    fn insert(&self, data: &mut Db) {
        let mut sql = String::from("BEGIN;\n");
        for item in &self.table.items {
            let base_key = self.key(&[self.table.hash], self.table.range.as_slice(), item);
            let base_key = base_key.expect("a fixture's item has its key");
            self.insert_row(&mut sql, &self.base_name(), &[("", &base_key)], item);
            for index in &self.table.indexes {
                let Some(key) = self.key(&index.hash, &index.range, item) else { continue };
                let projected = self.projected(index, item);
                self.insert_row(&mut sql, &self.index_name(index), &[("", &key), ("base_", &base_key)], &projected);
            }
            if sql.len() > 4 << 20 {
                data.exec(&sql);
                sql.clear();
            }
        }
        data.exec(&(sql + "COMMIT;"));
    }

    fn insert_row(&self, sql: &mut String, name: &str, keys: &[(&str, &Key)], item: &Value) {
        let mut columns = String::new();
        let mut values = String::new();
        for (prefix, key) in keys {
            write!(columns, "{prefix}pk, ").unwrap();
            write!(values, "{}, ", text(self.kind, &key.pk)).unwrap();
            for (column, value) in &key.sort {
                write!(columns, "{prefix}{column}, ").unwrap();
                write!(values, "{value}, ").unwrap();
            }
        }
        let item = if self.layout.escaped { escape_json(item) } else { item.clone() };
        writeln!(sql, "INSERT INTO \"{name}\" ({columns}item_data) VALUES ({values}{});", literal(self.kind, &item))
            .unwrap();
    }

    /// The stored key, or none when an attribute is absent or of another type.
    fn key(&self, hash: &[KeyAttribute], range: &[KeyAttribute], item: &Value) -> Option<Key> {
        let mut parts = Vec::new();
        for (name, ty) in hash {
            parts.push(self.escaped(&key_text(ty, item.get(name).filter(|v| v.get(ty).is_some())?)));
        }
        let pk = match parts.as_slice() {
            [one] => one.clone(),
            several => several.iter().map(|part| format!("{}:{part},", part.len())).collect(),
        };
        let mut sort = Vec::new();
        for (position, (name, ty)) in range.iter().enumerate() {
            let value = item.get(name)?.get(ty)?.as_str().unwrap();
            let literal = match (*ty, self.kind) {
                ("S", _) => text(self.kind, &self.escaped(value)),
                ("N", Kind::Sqlite) => text(self.kind, &number_key(value)),
                ("N", Kind::Postgres) => value.to_owned(),
                ("B", _) => bytes(self.kind, &base64_bytes(value)),
                _ => unreachable!("key attributes are S, N or B"),
            };
            sort.push((column(position, ty), literal));
        }
        Some(Key { pk, sort })
    }

    fn escaped(&self, text: &str) -> String {
        if self.layout.escaped { escape(text) } else { text.to_owned() }
    }

    fn projected(&self, index: &Index, item: &Value) -> Value {
        let mut names: Vec<&str> = vec![self.table.hash.0];
        names.extend(self.table.range.iter().chain(&index.hash).chain(&index.range).map(|(name, _)| *name));
        match index.projection["ProjectionType"].as_str().unwrap() {
            "ALL" => return item.clone(),
            "INCLUDE" => names
                .extend(index.projection["NonKeyAttributes"].as_array().unwrap().iter().map(|n| n.as_str().unwrap())),
            _ => {}
        }
        let kept = item.as_object().unwrap().iter().filter(|(name, _)| names.contains(&name.as_str()));
        Value::Object(kept.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

struct Key {
    pk: String,
    /// Column and literal.
    sort: Vec<(String, String)>,
}

fn column(position: usize, ty: &str) -> String {
    let n = if position == 0 { String::new() } else { (position + 1).to_string() };
    format!("sk{n}_{}", ty.to_lowercase())
}

/// The declared sort columns, each with a comma before it.
fn declared(prefix: &str, sorts: &[KeyAttribute]) -> String {
    sorts.iter().enumerate().map(|(i, (_, ty))| format!(", {prefix}{}", column(i, ty))).collect()
}

/// Key text of one HASH attribute, whose number is normalised and whose binary is base64 already.
pub fn key_text(ty: &str, value: &Value) -> String {
    value[ty].as_str().unwrap().to_owned()
}

/// Number-key text of a normalised decimal (SQLite data layout, section 4).
pub fn number_key(text: &str) -> String {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (integer, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let exponent = match integer {
        "0" => -i32::try_from(fraction.len() - fraction.trim_start_matches('0').len()).unwrap(),
        _ => i32::try_from(integer.len()).unwrap(),
    };
    let digits = format!("{integer}{fraction}");
    let digits = digits.trim_start_matches('0').trim_end_matches('0');
    match (digits.is_empty(), negative) {
        (true, _) => "1".into(),
        (false, false) => format!("2{:06}{digits}", 100_000 + exponent),
        (false, true) => {
            let mirrored: String = digits.bytes().map(|d| char::from(b'9' - d + b'0')).collect();
            format!("0{:06}{mirrored}:", 100_000 - exponent)
        }
    }
}

/// Standard base64 to bytes.
pub fn base64_bytes(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

fn escape(text: &str) -> String {
    text.replace('\u{1}', "\u{1}\u{2}").replace('\0', "\u{1}\u{1}")
}

fn escape_json(value: &Value) -> Value {
    match value {
        Value::String(s) => Value::String(escape(s)),
        Value::Array(list) => list.iter().map(escape_json).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (escape(k), escape_json(v))).collect()),
        other => other.clone(),
    }
}
