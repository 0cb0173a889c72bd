//! The table of an in-catalog backup: a row of `backups`, and of `backup_definitions` where there is one.

use serde::Deserialize;
use serde_json::Value;

use super::RowError;
use super::json::{OnDemandColumn, distance, parse, parse_optional, row_error, sse_described};
use crate::domain::table::{
    AttributeDefinition, BillingMode, GlobalIndex, KeyElement, LocalIndex, OnDemandThroughput, Projection,
    SearchElement, SourceTable, Throughput, VectorAttribute, VectorIndex, VectorIndexStatus,
};
use crate::domain::timestamp::TimestampMs;

/// One row of `backups`, with its definition where there is one.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the columns are the names
pub struct BackupColumns {
    pub backup_arn: String,
    pub table_id: String,
    pub table_name: String,
    pub account_id: String,
    pub created_at: TimestampMs,
    pub key_schema: String,
    pub attribute_definitions: String,
    pub item_count: i64,
    pub backup_size_bytes: i64,
    /// `backups.vector_indexes`, which SQLite never has.
    pub vector_indexes: Option<String>,
    /// `backup_definitions.definition`.
    pub definition: Option<String>,
}

/// Rebuilds the table of an in-catalog backup, with notes on what its definition names and does not hold.
///
/// Without a definition row: keys and items only, provisioned 5/5 (PostgreSQL data layout, section 8.5).
/// The row holds no creation time of the table; the backup's stands in its place.
///
/// # Errors
/// A column that cannot be read, or a definition of an unknown `Version`.
pub fn backup_table(row: &BackupColumns) -> Result<(SourceTable, Vec<String>), RowError> {
    let name = &row.backup_arn;
    let mut notes = Vec::new();
    let key_schema: Vec<KeyElement> = parse("backups", name, "key_schema", &row.key_schema)?;
    let mut attribute_definitions: Vec<AttributeDefinition> =
        parse("backups", name, "attribute_definitions", &row.attribute_definitions)?;
    let table_arn = match row.backup_arn.split_once("/backup/") {
        Some((arn, _)) => arn.to_owned(),
        None => {
            notes.push(format!("the backup's ARN {name:?} does not contain its table's"));
            row.backup_arn.clone()
        }
    };
    let definition: Option<DefinitionColumn> =
        parse_optional("backup_definitions", name, "definition", row.definition.as_deref())?;
    let vectors: Option<VectorsColumn> =
        parse_optional("backups", name, "vector_indexes", row.vector_indexes.as_deref())?;
    for (table, column, version) in [
        ("backup_definitions", "definition", definition.as_ref().map(|d| d.version)),
        ("backups", "vector_indexes", vectors.as_ref().map(|v| v.version)),
    ] {
        if let Some(version) = version.filter(|&v| v != 1) {
            return Err(row_error(table, name, column, format!("Version is {version}, this build reads 1")));
        }
    }

    let mut vector_indexes = Vec::new();
    for vector in vectors.map(|v| v.vector_indexes).unwrap_or_default() {
        match vector.index(&table_arn) {
            Ok(index) => vector_indexes.push(index),
            Err(e) => notes.push(format!("vector index {:?} was left out: {e}", vector.index_name)),
        }
    }
    let definition = match definition {
        Some(definition) => definition,
        None => {
            attribute_definitions.retain(|d| key_schema.iter().any(|k| k.attribute_name == d.attribute_name));
            notes.push("no definition was kept: keys and items only, provisioned 5/5".into());
            DefinitionColumn::keys_only()
        }
    };
    for vector in &definition.vector_index_names {
        if !vector_indexes.iter().any(|v: &VectorIndex| &v.index_name == vector) {
            notes.push(format!("vector index {vector:?} was kept by name only"));
        }
    }
    let provisioned = definition.billing_mode == BillingMode::Provisioned;
    let mut global = definition.global_secondary_indexes;
    for index in global.iter_mut().filter(|_| !provisioned) {
        index.provisioned_throughput = None;
    }
    let source = SourceTable {
        table_name: row.table_name.clone(),
        table_id: row.table_id.clone(),
        table_arn,
        table_creation_date_time: row.created_at.epoch_seconds(),
        key_schema,
        attribute_definitions,
        billing_mode: definition.billing_mode,
        provisioned_throughput: definition.provisioned_throughput.filter(|_| provisioned),
        on_demand_throughput: definition.on_demand_throughput.map(OnDemandThroughput::from),
        table_class: definition.table_class,
        sse_specification: definition.sse_specification.as_ref().and_then(|v| sse_described(v, &mut notes)),
        global_secondary_indexes: Some(global).filter(|v| !v.is_empty()),
        local_secondary_indexes: Some(definition.local_secondary_indexes).filter(|v| !v.is_empty()),
        vector_indexes: Some(vector_indexes).filter(|v| !v.is_empty()),
        item_count: row.item_count,
        table_size_bytes: row.backup_size_bytes,
    };
    Ok((source, notes))
}

/// `backup_definitions.definition`, version 1.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DefinitionColumn {
    version: i64,
    billing_mode: BillingMode,
    #[serde(default)]
    provisioned_throughput: Option<Throughput>,
    #[serde(default)]
    global_secondary_indexes: Vec<GlobalIndex>,
    #[serde(default)]
    local_secondary_indexes: Vec<LocalIndex>,
    #[serde(default)]
    table_class: Option<String>,
    #[serde(default, rename = "SSESpecification")]
    sse_specification: Option<Value>,
    #[serde(default)]
    on_demand_throughput: Option<OnDemandColumn>,
    #[serde(default)]
    vector_index_names: Vec<String>,
}

impl DefinitionColumn {
    fn keys_only() -> Self {
        Self {
            version: 1,
            billing_mode: BillingMode::Provisioned,
            provisioned_throughput: Some(Throughput { read_capacity_units: 5, write_capacity_units: 5 }),
            global_secondary_indexes: Vec::new(),
            local_secondary_indexes: Vec::new(),
            table_class: None,
            sse_specification: None,
            on_demand_throughput: None,
            vector_index_names: Vec::new(),
        }
    }
}

/// `backups.vector_indexes`, version 1.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct VectorsColumn {
    version: i64,
    #[serde(default)]
    vector_indexes: Vec<VectorDefinition>,
}

/// A vector index as the definition of a backup keeps it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct VectorDefinition {
    index_name: String,
    dimensions: u32,
    distance_function: String,
    vector_attribute: VectorAttribute,
    #[serde(default)]
    search_schema: Option<Vec<SearchElement>>,
    #[serde(default)]
    projection: Option<Projection>,
}

impl VectorDefinition {
    fn index(&self, table_arn: &str) -> Result<VectorIndex, String> {
        Ok(VectorIndex {
            index_name: self.index_name.clone(),
            vector_attribute: self.vector_attribute.clone(),
            dimensions: self.dimensions,
            search_schema: self.search_schema.clone(),
            distance_function: distance(&self.distance_function)?,
            index_status: VectorIndexStatus::Active,
            backfilling: None,
            index_size_bytes: 0,
            item_count: 0,
            index_arn: format!("{table_arn}/index/{}", self.index_name),
            projection: self.projection.clone(),
        })
    }
}
