//! The physical tables of a new table: names, columns, keys and indexes as a server makes them.
//!
//! Source: SQLite data layout, sections 1, 2 and 6. Sort numbers are number-key text.

use super::shape::{physical_name, quoted};
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::index_row::IndexSpec;
use crate::domain::key::{KeyAttribute, KeySpec};
use crate::domain::table::ScalarType;

/// One physical table.
#[derive(Debug, Clone)]
pub struct PhysicalTable {
    /// Name, unquoted.
    pub name: String,
    /// Makes it, if absent.
    pub create: String,
    /// Inserts one row: the partition text, the declared sort columns, for an index the same of the base
    /// item, and the item.
    pub insert: String,
    /// Makes its indexes, each if absent; they are built once the rows are there.
    pub indexes: Vec<String>,
}

/// All physical tables of one table.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Key of the table.
    pub key: KeySpec,
    /// The base table.
    pub base: PhysicalTable,
    /// The secondary indexes in the order of [`IndexSpec::of_table`].
    pub indexes: Vec<(IndexSpec, PhysicalTable)>,
}

impl Layout {
    /// The layout of a plan. `reverse_indexes`: index tables get the index on the base key.
    ///
    /// # Errors
    /// `Unrepresentable` for what this backend does not hold: a table key of several parts, vector indexes.
    pub fn of_plan(plan: &StagePlan, reverse_indexes: bool) -> Result<Self> {
        let operation = "lay out the table";
        let refuse = |what: String| {
            Err(Error::new(ErrorKind::Unrepresentable, operation, what).with("table", &plan.target.table_name))
        };
        let table = &plan.definition;
        let key = match KeySpec::new(&table.key_schema, &table.attribute_definitions) {
            Ok(key) => key,
            Err(e) => return refuse(e),
        };
        if key.hash.len() > 1 || key.range.len() > 1 {
            return refuse("its key has more than one HASH or RANGE attribute".into());
        }
        if let Some(vector) = table.vector_indexes.iter().flatten().next() {
            return refuse(format!("vector index {:?} cannot be built here", vector.index_name));
        }
        let specs = match IndexSpec::of_table(table) {
            Ok(specs) if specs.len() == plan.index_ids.len() => specs,
            Ok(specs) => return refuse(format!("{} indexes and {} index ids", specs.len(), plan.index_ids.len())),
            Err(e) => return refuse(e),
        };
        let base = base_table(&table.table_id, &key);
        let indexes = specs
            .into_iter()
            .zip(&plan.index_ids)
            .map(|(spec, id)| {
                let physical = index_table(id, &spec.key, &key, reverse_indexes);
                (spec, physical)
            })
            .collect();
        Ok(Self { key, base, indexes })
    }

    /// Every physical table.
    pub fn tables(&self) -> impl Iterator<Item = &PhysicalTable> {
        std::iter::once(&self.base).chain(self.indexes.iter().map(|(_, table)| table))
    }
}

fn base_table(id: &str, key: &KeySpec) -> PhysicalTable {
    let name = physical_name(id);
    let declared = declared(&key.range, "");
    let mut columns = vec!["pk TEXT NOT NULL".to_owned()];
    columns.extend(typed_columns(&key.range, ""));
    columns.push("item_data TEXT NOT NULL".into());
    let primary = list([vec!["pk".into()], declared.clone()]);
    let inserted = list([vec!["pk".into()], declared, vec!["item_data".into()]]);
    PhysicalTable {
        create: create(&name, &columns, &primary),
        insert: insert(&name, &inserted),
        indexes: Vec::new(),
        name,
    }
}

fn index_table(id: &str, key: &KeySpec, base: &KeySpec, reverse_index: bool) -> PhysicalTable {
    let name = physical_name(id);
    let (own, of_base) = (declared(&key.range, ""), declared(&base.range, "base_"));
    let mut columns = vec!["pk TEXT NOT NULL".to_owned()];
    columns.extend(typed_columns(&key.range, ""));
    columns.push("base_pk TEXT NOT NULL".into());
    columns.extend(typed_columns(&base.range, "base_"));
    columns.push("item_data TEXT NOT NULL".into());
    let (pk, base_pk) = (vec!["pk".to_owned()], vec!["base_pk".to_owned()]);
    let primary = list([pk.clone(), base_pk.clone(), of_base.clone()]);
    let inserted = list([pk.clone(), own.clone(), base_pk.clone(), of_base.clone(), vec!["item_data".to_owned()]]);
    let index = |prefix: &str, columns: &str| {
        format!("CREATE INDEX IF NOT EXISTS {} ON {} ({columns})", quoted(&format!("{prefix}{id}")), quoted(&name))
    };
    let mut indexes = Vec::new();
    if !own.is_empty() {
        indexes.push(index("idx_order_", &list([pk, own, base_pk.clone(), of_base.clone()])));
    }
    if reverse_index {
        indexes.push(index("idx_base_key_", &list([base_pk, of_base])));
    }
    PhysicalTable { create: create(&name, &columns, &primary), insert: insert(&name, &inserted), indexes, name }
}

/// `sk_`, `sk2_`, `sk3_`, …
fn stem(prefix: &str, position: usize) -> String {
    match position {
        0 => format!("{prefix}sk_"),
        n => format!("{prefix}sk{}_", n + 1),
    }
}

/// All three typed columns of each position are made, whatever the declared type.
fn typed_columns(range: &[KeyAttribute], prefix: &str) -> Vec<String> {
    (0..range.len())
        .flat_map(|position| {
            let stem = stem(prefix, position);
            [format!("{stem}s TEXT"), format!("{stem}n TEXT"), format!("{stem}b BLOB")]
        })
        .collect()
}

/// The columns of the declared types, which are part of keys and the only ones filled.
fn declared(range: &[KeyAttribute], prefix: &str) -> Vec<String> {
    range
        .iter()
        .enumerate()
        .map(|(position, attribute)| {
            let stem = stem(prefix, position);
            match attribute.ty {
                ScalarType::S => stem + "s",
                ScalarType::N => stem + "n",
                ScalarType::B => stem + "b",
            }
        })
        .collect()
}

fn list<const N: usize>(parts: [Vec<String>; N]) -> String {
    parts.concat().join(", ")
}

fn create(name: &str, columns: &[String], primary_key: &str) -> String {
    format!("CREATE TABLE IF NOT EXISTS {} ({}, PRIMARY KEY ({primary_key}))", quoted(name), columns.join(", "))
}

fn insert(name: &str, columns: &str) -> String {
    let places = vec!["?"; columns.split(", ").count()].join(", ");
    format!("INSERT INTO {} ({columns}) VALUES ({places})", quoted(name))
}
