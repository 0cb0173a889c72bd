//! The definition of a DynamoDB table, in the shape and member order of the commit record.
//!
//! Source: backup format, section 3 (`source_table`). The serde order of these structs
//! is the canonical order that the commit record's checksum covers: a member moved here
//! breaks every backup ever written.

use serde::{Deserialize, Serialize};

use super::item::AttrType;

/// Whether a key element partitions or sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyType {
    /// Partition key.
    Hash,
    /// Sort key.
    Range,
}

/// The three types a key attribute can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScalarType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl ScalarType {
    /// The type tag as it stands in DynamoDB JSON.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
        }
    }

    /// The same as a type of attribute values.
    #[must_use]
    pub fn attr_type(self) -> AttrType {
        match self {
            Self::S => AttrType::S,
            Self::N => AttrType::N,
            Self::B => AttrType::B,
        }
    }
}

/// One element of a key schema. HASH elements come before RANGE elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct KeyElement {
    /// Name of the attribute.
    pub attribute_name: String,
    /// Its role.
    pub key_type: KeyType,
}

/// The declared type of an attribute that is part of some key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AttributeDefinition {
    /// Name of the attribute.
    pub attribute_name: String,
    /// Its type.
    pub attribute_type: ScalarType,
}

/// Provisioned capacity, in units per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Throughput {
    /// Read capacity units.
    pub read_capacity_units: i64,
    /// Write capacity units.
    pub write_capacity_units: i64,
}

/// Limits of an on-demand table; both members are always written, `null` when unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct OnDemandThroughput {
    /// Most read request units per second.
    pub max_read_request_units: Option<i64>,
    /// Most write request units per second.
    pub max_write_request_units: Option<i64>,
}

/// How a table is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BillingMode {
    /// Capacity is provisioned.
    Provisioned,
    /// On demand.
    PayPerRequest,
}

/// Server-side encryption as described by the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SseSpecification {
    /// `ENABLED`, `DISABLED` and the like.
    #[serde(rename = "Status")]
    pub status: String,
    /// `AES256` or `KMS`.
    #[serde(rename = "SSEType", default, skip_serializing_if = "Option::is_none")]
    pub sse_type: Option<SseType>,
    /// ARN of the key.
    #[serde(rename = "KMSMasterKeyArn", default, skip_serializing_if = "Option::is_none")]
    pub kms_master_key_arn: Option<String>,
}

/// Kind of server-side encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SseType {
    /// Owned key.
    Aes256,
    /// KMS key.
    Kms,
}

/// Which attributes an index carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProjectionType {
    /// The whole item.
    All,
    /// The keys of table and index.
    KeysOnly,
    /// The keys and named attributes.
    Include,
}

/// Projection of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Projection {
    /// The kind.
    pub projection_type: ProjectionType,
    /// Extra attributes of an `INCLUDE` projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_key_attributes: Option<Vec<String>>,
}

/// A global secondary index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GlobalIndex {
    /// Name, unique in the table.
    pub index_name: String,
    /// Key schema; several HASH and RANGE elements are allowed.
    pub key_schema: Vec<KeyElement>,
    /// Projection.
    pub projection: Projection,
    /// Provisioned capacity, where the table is provisioned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned_throughput: Option<Throughput>,
}

/// A local secondary index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LocalIndex {
    /// Name, unique in the table.
    pub index_name: String,
    /// Key schema.
    pub key_schema: Vec<KeyElement>,
    /// Projection.
    pub projection: Projection,
}

/// The attribute that holds the vector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct VectorAttribute {
    /// Name of the attribute.
    pub attribute_name: String,
}

/// Role of an attribute in a vector index's search schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SearchElementType {
    /// Partitions the index.
    Hash,
    /// Filters inside a search.
    InlineFilter,
}

/// One element of a search schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SearchElement {
    /// Name of the attribute.
    pub attribute_name: String,
    /// Its role.
    pub search_schema_element_type: SearchElementType,
}

/// Distance of a vector index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DistanceFunction {
    /// Cosine.
    Cosine,
    /// Euclidean.
    Euclidean,
    /// Dot product.
    DotProduct,
}

/// State of a vector index; any other word reads, and is written again, as `UNKNOWN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum VectorIndexStatus {
    /// Being made.
    Creating,
    /// Being changed.
    Updating,
    /// Being removed.
    Deleting,
    /// In service.
    Active,
    /// A word this build does not know.
    #[serde(other)]
    Unknown,
}

/// A vector index, in the member order of the commit record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct VectorIndex {
    /// Name, unique in the table.
    pub index_name: String,
    /// The attribute that holds the vector.
    pub vector_attribute: VectorAttribute,
    /// Number of dimensions.
    pub dimensions: u32,
    /// Search schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_schema: Option<Vec<SearchElement>>,
    /// Distance.
    pub distance_function: DistanceFunction,
    /// State.
    pub index_status: VectorIndexStatus,
    /// Whether a backfill is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfilling: Option<bool>,
    /// Reported size.
    pub index_size_bytes: i64,
    /// Reported count.
    pub item_count: i64,
    /// ARN.
    pub index_arn: String,
    /// Projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
}

/// A table as a backup describes it.
///
/// Times are epoch seconds rounded to milliseconds; counts and sizes are what the
/// source reported, not what was stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceTable {
    /// Name.
    pub table_name: String,
    /// Physical identity.
    pub table_id: String,
    /// ARN.
    pub table_arn: String,
    /// Creation time, epoch seconds.
    pub table_creation_date_time: f64,
    /// Key schema, HASH first.
    pub key_schema: Vec<KeyElement>,
    /// Types of all key attributes of table and indexes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Billing mode.
    pub billing_mode: BillingMode,
    /// Provisioned capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned_throughput: Option<Throughput>,
    /// On-demand limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand_throughput: Option<OnDemandThroughput>,
    /// Table class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_class: Option<String>,
    /// Encryption as described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse_specification: Option<SseSpecification>,
    /// Global secondary indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_secondary_indexes: Option<Vec<GlobalIndex>>,
    /// Local secondary indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_secondary_indexes: Option<Vec<LocalIndex>>,
    /// Vector indexes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_indexes: Option<Vec<VectorIndex>>,
    /// Item count as the source reported it.
    pub item_count: i64,
    /// Size as the source reported it.
    pub table_size_bytes: i64,
}

/// Addresses a table inside a deployment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct TableKey {
    /// Account, 12 digits.
    pub account_id: String,
    /// Name.
    pub table_name: String,
}

/// `tables.table_status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TableStatus {
    /// Being made, or the target of a restore.
    Creating,
    /// In service.
    Active,
    /// Being changed.
    Updating,
    /// Being removed.
    Deleting,
    /// A word this build does not know.
    Other(String),
}

impl TableStatus {
    /// Reads the catalog's word.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "CREATING" => Self::Creating,
            "ACTIVE" => Self::Active,
            "UPDATING" => Self::Updating,
            "DELETING" => Self::Deleting,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The catalog's word.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::Creating => "CREATING",
            Self::Active => "ACTIVE",
            Self::Updating => "UPDATING",
            Self::Deleting => "DELETING",
            Self::Other(word) => word,
        }
    }
}

/// Global or local.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum IndexKind {
    /// Global secondary index.
    Gsi,
    /// Local secondary index.
    Lsi,
}

/// The physical side of one secondary index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexInfo {
    /// Name.
    pub index_name: String,
    /// Identity that names the physical storage; empty on catalogs that have none.
    pub index_id: String,
    /// Global or local.
    pub kind: IndexKind,
    /// `indexes.index_status`.
    pub status: String,
}

/// A table as the live catalog describes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableInfo {
    /// Account that owns it.
    pub account_id: String,
    /// State.
    pub status: TableStatus,
    /// Definition in the commit record's form.
    pub definition: SourceTable,
    /// Secondary indexes, by name in byte order.
    pub indexes: Vec<IndexInfo>,
    /// True when the physical storage is named by account and table, as the oldest releases did.
    pub named_by_table: bool,
    /// What was repaired or could not be kept while reading the definition.
    pub notes: Vec<String>,
}

impl TableInfo {
    /// Address of the table.
    #[must_use]
    pub fn key(&self) -> TableKey {
        TableKey { account_id: self.account_id.clone(), table_name: self.definition.table_name.clone() }
    }
}
