//! Catalog rows and table definitions: the one mapping between the columns of `tables`, `indexes`,
//! `vector_indexes`, `backups` and `backup_definitions` and the commit record's `source_table`.
//!
//! Both SQL backends hold the same JSON shapes (PostgreSQL data layout, sections 8.1 to 8.5), one as
//! `jsonb`, one as text; they hand every JSON column over as text. Reading is lenient about members it
//! does not know and strict about what the definition needs; what was filled in or left out becomes a note.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::table::{
    AttributeDefinition, BillingMode, DistanceFunction, GlobalIndex, IndexInfo, IndexKind, KeyElement, KeyType,
    LocalIndex, OnDemandThroughput, Projection, ScalarType, SearchElement, SourceTable, SseSpecification, SseType,
    TableInfo, TableStatus, Throughput, VectorAttribute, VectorIndex, VectorIndexStatus,
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

/// The JSON columns of a new `tables` row, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the columns are the names
pub struct TableTexts {
    pub key_schema: String,
    pub attribute_definitions: String,
    pub billing_mode: &'static str,
    pub provisioned_throughput: Option<String>,
    pub on_demand_throughput: Option<String>,
    pub sse_specification: Option<String>,
}

/// A new `indexes` row; JSON columns as texts. `propagation_delay_ms` is null, the server's default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the columns are the names
pub struct IndexTexts {
    pub index_name: String,
    pub index_id: String,
    pub index_type: &'static str,
    pub key_schema: String,
    pub projection: String,
    pub provisioned_throughput: Option<String>,
}

/// What a server would have written into `tables` for this definition.
#[must_use]
pub fn table_texts(table: &SourceTable) -> TableTexts {
    let provisioned = table.billing_mode == BillingMode::Provisioned;
    TableTexts {
        key_schema: text(&table.key_schema),
        attribute_definitions: text(&table.attribute_definitions),
        billing_mode: match table.billing_mode {
            BillingMode::Provisioned => "PROVISIONED",
            BillingMode::PayPerRequest => "PAY_PER_REQUEST",
        },
        provisioned_throughput: table.provisioned_throughput.filter(|_| provisioned).map(|t| text(&t)),
        on_demand_throughput: table.on_demand_throughput.filter(|_| !provisioned).map(|t| {
            let limits = [
                ("MaxReadRequestUnits", t.max_read_request_units),
                ("MaxWriteRequestUnits", t.max_write_request_units),
            ];
            let set = limits.into_iter().filter_map(|(k, v)| Some((k.to_owned(), json!(v?))));
            Value::Object(set.collect()).to_string()
        }),
        sse_specification: table.sse_specification.as_ref().map(|sse| sse_request(sse).to_string()),
    }
}

/// What a server would have written into `indexes`: global ones, then local ones, in definition order,
/// which is the order of `index_ids`.
///
/// # Errors
/// When there are not as many ids as indexes.
pub fn index_texts(table: &SourceTable, index_ids: &[String]) -> Result<Vec<IndexTexts>, String> {
    let provisioned = table.billing_mode == BillingMode::Provisioned;
    let global = table.global_secondary_indexes.iter().flatten().map(|i| IndexTexts {
        index_name: i.index_name.clone(),
        index_id: String::new(),
        index_type: "GSI",
        key_schema: text(&i.key_schema),
        projection: text(&i.projection),
        provisioned_throughput: i.provisioned_throughput.filter(|_| provisioned).map(|t| {
            let (read, write) = (t.read_capacity_units, t.write_capacity_units);
            format!(r#"{{"ReadCapacityUnits":{read},"WriteCapacityUnits":{write},"NumberOfDecreasesToday":0}}"#)
        }),
    });
    let local = table.local_secondary_indexes.iter().flatten().map(|i| IndexTexts {
        index_name: i.index_name.clone(),
        index_id: String::new(),
        index_type: "LSI",
        key_schema: text(&i.key_schema),
        projection: text(&i.projection),
        provisioned_throughput: None,
    });
    let mut rows: Vec<IndexTexts> = global.chain(local).collect();
    if rows.len() != index_ids.len() {
        return Err(format!("{} indexes and {} index ids", rows.len(), index_ids.len()));
    }
    for (row, id) in rows.iter_mut().zip(index_ids) {
        row.index_id.clone_from(id);
    }
    Ok(rows)
}

impl TableColumns {
    fn name(&self) -> String {
        format!("{}/{}", self.account_id, self.table_name)
    }
}

/// `on_demand_throughput`; a member that is missing or null is unset.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OnDemandColumn {
    #[serde(default)]
    max_read_request_units: Option<i64>,
    #[serde(default)]
    max_write_request_units: Option<i64>,
}

impl From<OnDemandColumn> for OnDemandThroughput {
    fn from(column: OnDemandColumn) -> Self {
        Self {
            max_read_request_units: column.max_read_request_units,
            max_write_request_units: column.max_write_request_units,
        }
    }
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

fn vector_index(row: &VectorColumns, table_arn: &str) -> Result<VectorIndex, String> {
    let column = |name: &str, e: serde_json::Error| format!("column {name}: {e}");
    Ok(VectorIndex {
        index_name: row.index_name.clone(),
        vector_attribute: serde_json::from_str(&row.vector_attribute).map_err(|e| column("vector_attribute", e))?,
        dimensions: u32::try_from(row.dimensions).map_err(|_| format!("dimensions is {}", row.dimensions))?,
        search_schema: match &row.search_schema {
            Some(text) => serde_json::from_str(text).map_err(|e| column("search_schema", e))?,
            None => None,
        },
        distance_function: distance(&row.distance_function)?,
        index_status: serde_json::from_value(json!(row.index_status)).map_err(|e| column("index_status", e))?,
        backfilling: row.backfilling,
        index_size_bytes: 0,
        item_count: 0,
        index_arn: format!("{table_arn}/index/{}", row.index_name),
        projection: serde_json::from_str(&row.projection).map_err(|e| column("projection", e))?,
    })
}

/// The spelling of the tokens other than `COSINE` is unknown upstream; case and separators are ignored.
fn distance(token: &str) -> Result<DistanceFunction, String> {
    let plain: String = token.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
    match plain.as_str() {
        "COSINE" => Ok(DistanceFunction::Cosine),
        "EUCLIDEAN" => Ok(DistanceFunction::Euclidean),
        "DOTPRODUCT" => Ok(DistanceFunction::DotProduct),
        _ => Err(format!("distance function {token:?} is not known")),
    }
}

fn billing(word: &str) -> Option<BillingMode> {
    match word {
        "PROVISIONED" => Some(BillingMode::Provisioned),
        "PAY_PER_REQUEST" => Some(BillingMode::PayPerRequest),
        _ => None,
    }
}

/// The request object (`Enabled`, `SSEType`, `KMSMasterKeyId`) as the API describes it. A definition of a
/// backup may hold the described form (`Status`) already.
fn sse_described(value: &Value, notes: &mut Vec<String>) -> Option<SseSpecification> {
    let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let sse_type = |notes: &mut Vec<String>| match field("SSEType").as_deref() {
        Some("KMS") => Some(SseType::Kms),
        Some("AES256") => Some(SseType::Aes256),
        Some(other) => {
            notes.push(format!("SSE type {other:?} is not known and was left out"));
            None
        }
        None => None,
    };
    if let Some(status) = field("Status") {
        let sse_type = sse_type(notes);
        return Some(SseSpecification { status, sse_type, kms_master_key_arn: field("KMSMasterKeyArn") });
    }
    match value.get("Enabled").and_then(Value::as_bool) {
        Some(true) => Some(SseSpecification {
            status: "ENABLED".into(),
            sse_type: sse_type(notes).or(Some(SseType::Kms)),
            kms_master_key_arn: field("KMSMasterKeyId"),
        }),
        Some(false) => Some(SseSpecification { status: "DISABLED".into(), sse_type: None, kms_master_key_arn: None }),
        None => {
            if !value.as_object().is_none_or(serde_json::Map::is_empty) {
                notes.push("the encryption settings are of an unknown form and were left out".into());
            }
            None
        }
    }
}

/// The described form turned back into the request object that the catalog stores.
fn sse_request(sse: &SseSpecification) -> Value {
    if !matches!(sse.status.as_str(), "ENABLED" | "ENABLING" | "UPDATING") {
        return json!({"Enabled": false});
    }
    let mut request = json!({"Enabled": true});
    if let Some(sse_type) = sse.sse_type {
        request["SSEType"] = json!(sse_type);
    }
    if let Some(key) = &sse.kms_master_key_arn {
        request["KMSMasterKeyId"] = json!(key);
    }
    request
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

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data with string keys always serializes")
}

fn parse<T: DeserializeOwned>(table: &'static str, row: &str, column: &'static str, json: &str) -> Result<T, RowError> {
    serde_json::from_str(json).map_err(|e| row_error(table, row, column, e.to_string()))
}

/// A null column and the JSON text `null` are both nothing.
fn parse_optional<T: DeserializeOwned>(
    table: &'static str,
    row: &str,
    column: &'static str,
    json: Option<&str>,
) -> Result<Option<T>, RowError> {
    match json {
        Some(json) => parse(table, row, column, json),
        None => Ok(None),
    }
}

fn row_error(table: &'static str, row: &str, column: &'static str, problem: String) -> RowError {
    RowError { table, row: row.to_owned(), column, problem }
}
