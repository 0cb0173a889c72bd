//! Catalog rows and table definitions: the one mapping between the columns of `tables`, `indexes`,
//! `vector_indexes`, `backups` and `backup_definitions` and the commit record's `source_table`.
//!
//! Both SQL backends hold the same JSON shapes (PostgreSQL data layout, sections 8.1 to 8.5), one as
//! `jsonb`, one as text; they hand every JSON column over as text. Reading is lenient about members it
//! does not know and strict about what the definition needs; what was filled in or left out becomes a note.
//! Tables are read here, in-catalog backups in `legacy`; `texts` writes.

mod json;
mod legacy;
mod texts;

use json::{OnDemandColumn, billing, parse, parse_optional, row_error, sse_described, vector_index};
pub use legacy::{BackupColumns, backup_table};
use serde_json::Value;
pub use texts::{IndexTexts, TableTexts, index_texts, table_texts};

use super::table::{
    AttributeDefinition, BillingMode, GlobalIndex, IndexInfo, IndexKind, KeyElement, KeyType, LocalIndex,
    OnDemandThroughput, ScalarType, SourceTable, TableInfo, TableStatus, Throughput,
};
use super::timestamp::TimestampMs;

/// One row of `tables`; JSON columns as text. Columns that an old catalog lacks are `None`.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the columns are the names
pub struct TableColumns {
    pub account_id: String,
    pub table_name: String,
    pub table_id: String,
    pub table_arn: String,
    pub table_status: String,
    pub creation_date_time: TimestampMs,
    pub key_schema: String,
    pub attribute_definitions: String,
    pub billing_mode: String,
    pub provisioned_throughput: Option<String>,
    pub on_demand_throughput: Option<String>,
    pub sse_specification: Option<String>,
    pub table_class: Option<String>,
    pub item_count: i64,
    pub table_size_bytes: i64,
}

/// One row of `indexes`.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the columns are the names
pub struct IndexColumns {
    pub index_name: String,
    /// Empty on catalogs without the column.
    pub index_id: String,
    pub index_type: String,
    pub key_schema: String,
    pub projection: String,
    pub index_status: String,
    pub provisioned_throughput: Option<String>,
}

/// One row of `vector_indexes`.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the columns are the names
pub struct VectorColumns {
    pub index_name: String,
    pub dimensions: i64,
    pub distance_function: String,
    pub vector_attribute: String,
    pub search_schema: Option<String>,
    pub projection: String,
    pub index_status: String,
    pub backfilling: Option<bool>,
}

/// A row that breaks its own rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row} of {table}: column {column}: {problem}")]
pub struct RowError {
    /// Catalog table.
    pub table: &'static str,
    /// Key of the row, for people.
    pub row: String,
    /// Column.
    pub column: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// A key attribute without a definition, and where its type can still be read.
///
/// Source: PostgreSQL data layout, sections 2.2 and 8.3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingKeyType {
    /// Name of the attribute.
    pub attribute: String,
    /// `None`: a key of the base table; else the index, by position in the rows given.
    pub index: Option<usize>,
    /// `None`: a HASH attribute, whose type only an item tells; else the position (from 0) among the
    /// RANGE attributes, whose type the physical sort column tells.
    pub sort_position: Option<usize>,
}

/// Finds key attributes that `attribute_definitions` forgot, each once. Usually none.
///
/// # Errors
/// A JSON column that cannot be read.
pub fn missing_key_types(table: &TableColumns, indexes: &[IndexColumns]) -> Result<Vec<MissingKeyType>, RowError> {
    let row = table.name();
    let known: Vec<AttributeDefinition> = parse("tables", &row, "attribute_definitions", &table.attribute_definitions)?;
    let base: Vec<KeyElement> = parse("tables", &row, "key_schema", &table.key_schema)?;
    let mut schemas = vec![(None, base)];
    for (i, index) in indexes.iter().enumerate() {
        schemas.push((Some(i), parse("indexes", &index.index_name, "key_schema", &index.key_schema)?));
    }
    let mut missing: Vec<MissingKeyType> = Vec::new();
    for (index, schema) in schemas {
        let mut sort = 0;
        for element in schema {
            let sort_position = match element.key_type {
                KeyType::Hash => None,
                KeyType::Range => {
                    sort += 1;
                    Some(sort - 1)
                }
            };
            let is_known = known.iter().any(|d| d.attribute_name == element.attribute_name);
            // A sort column tells more than a hash column, so it replaces an earlier find of the same name.
            match missing.iter_mut().find(|m| m.attribute == element.attribute_name) {
                _ if is_known => {}
                Some(found) if found.sort_position.is_none() && sort_position.is_some() => {
                    (found.index, found.sort_position) = (index, sort_position);
                }
                Some(_) => {}
                None => missing.push(MissingKeyType { attribute: element.attribute_name, index, sort_position }),
            }
        }
    }
    Ok(missing)
}

/// Joins the rows of one table into its definition. `found` holds types for what [`missing_key_types`]
/// named, as far as the backend could read them from the physical tables or from an item.
///
/// An index that is being deleted is left out. Under on-demand billing no throughput is kept.
///
/// # Errors
/// A column that cannot be read.
pub fn table_info(
    table: &TableColumns,
    indexes: &[IndexColumns],
    vectors: &[VectorColumns],
    found: &[AttributeDefinition],
    named_by_table: bool,
) -> Result<TableInfo, RowError> {
    let row = table.name();
    let mut notes = Vec::new();
    let billing_mode = billing(&table.billing_mode).ok_or_else(|| {
        row_error("tables", &row, "billing_mode", format!("{:?} is no billing mode", table.billing_mode))
    })?;
    let mut attribute_definitions: Vec<AttributeDefinition> =
        parse("tables", &row, "attribute_definitions", &table.attribute_definitions)?;
    for missing in missing_key_types(table, indexes)? {
        match found.iter().find(|d| d.attribute_name == missing.attribute) {
            Some(definition) => {
                notes.push(format!(
                    "attribute_definitions lacks {:?}; its type {} was read from the stored rows",
                    missing.attribute,
                    definition.attribute_type.tag()
                ));
                attribute_definitions.push(definition.clone());
            }
            None => {
                notes.push(format!("attribute_definitions lacks {:?} and no row tells its type", missing.attribute))
            }
        }
    }

    let mut global = Vec::new();
    let mut local = Vec::new();
    let mut infos = Vec::new();
    for index in indexes {
        let name = &index.index_name;
        let kind = match index.index_type.as_str() {
            "GSI" => IndexKind::Gsi,
            "LSI" => IndexKind::Lsi,
            other => return Err(row_error("indexes", name, "index_type", format!("{other:?} is neither GSI nor LSI"))),
        };
        infos.push(IndexInfo {
            index_name: name.clone(),
            index_id: index.index_id.clone(),
            kind,
            status: index.index_status.clone(),
        });
        if index.index_status == "DELETING" {
            notes.push(format!("index {name:?} is being deleted and was left out"));
            continue;
        }
        let key_schema = parse("indexes", name, "key_schema", &index.key_schema)?;
        let projection = parse("indexes", name, "projection", &index.projection)?;
        match kind {
            IndexKind::Gsi => {
                let throughput: Option<Throughput> =
                    parse_optional("indexes", name, "provisioned_throughput", index.provisioned_throughput.as_deref())?;
                global.push(GlobalIndex {
                    index_name: name.clone(),
                    key_schema,
                    projection,
                    provisioned_throughput: throughput.filter(|_| billing_mode == BillingMode::Provisioned),
                });
            }
            IndexKind::Lsi => local.push(LocalIndex { index_name: name.clone(), key_schema, projection }),
        }
    }
    infos.sort_by(|a, b| a.index_name.cmp(&b.index_name));
    global.sort_by(|a, b| a.index_name.cmp(&b.index_name));
    local.sort_by(|a, b| a.index_name.cmp(&b.index_name));

    let mut vector_indexes = Vec::new();
    for vector in vectors.iter().filter(|v| v.index_status != "DELETING") {
        match vector_index(vector, &table.table_arn) {
            Ok(index) => vector_indexes.push(index),
            Err(e) => notes.push(format!("vector index {:?} was left out: {e}", vector.index_name)),
        }
    }
    vector_indexes.sort_by(|a, b| a.index_name.cmp(&b.index_name));

    let throughput: Option<Throughput> =
        parse_optional("tables", &row, "provisioned_throughput", table.provisioned_throughput.as_deref())?;
    let on_demand = parse_optional::<OnDemandColumn>(
        "tables",
        &row,
        "on_demand_throughput",
        table.on_demand_throughput.as_deref(),
    )?;
    let sse = parse_optional::<Value>("tables", &row, "sse_specification", table.sse_specification.as_deref())?;
    Ok(TableInfo {
        account_id: table.account_id.clone(),
        status: TableStatus::parse(&table.table_status),
        definition: SourceTable {
            table_name: table.table_name.clone(),
            table_id: table.table_id.clone(),
            table_arn: table.table_arn.clone(),
            table_creation_date_time: table.creation_date_time.epoch_seconds(),
            key_schema: parse("tables", &row, "key_schema", &table.key_schema)?,
            attribute_definitions,
            billing_mode,
            provisioned_throughput: throughput.filter(|_| billing_mode == BillingMode::Provisioned),
            on_demand_throughput: on_demand.map(OnDemandThroughput::from),
            table_class: table.table_class.clone(),
            sse_specification: sse.as_ref().and_then(|value| sse_described(value, &mut notes)),
            global_secondary_indexes: Some(global).filter(|v| !v.is_empty()),
            local_secondary_indexes: Some(local).filter(|v| !v.is_empty()),
            vector_indexes: Some(vector_indexes).filter(|v| !v.is_empty()),
            item_count: table.item_count,
            table_size_bytes: table.table_size_bytes,
        },
        indexes: infos,
        named_by_table,
        notes,
    })
}

impl TableColumns {
    fn name(&self) -> String {
        format!("{}/{}", self.account_id, self.table_name)
    }
}

/// The type that the name of a physical sort column tells: `sk_s`, `sk2_n`, `base_sk_b`.
#[must_use]
pub fn sort_column_type(column: &str) -> Option<ScalarType> {
    match column.rsplit_once('_')?.1 {
        "s" => Some(ScalarType::S),
        "n" => Some(ScalarType::N),
        "b" => Some(ScalarType::B),
        _ => None,
    }
}
