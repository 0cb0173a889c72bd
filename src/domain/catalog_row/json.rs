//! The JSON columns one by one, and how their faults are named.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{RowError, VectorColumns};
use crate::domain::table::{BillingMode, DistanceFunction, OnDemandThroughput, SseSpecification, SseType, VectorIndex};

/// `on_demand_throughput`; a member that is missing or null is unset.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct OnDemandColumn {
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

pub(super) fn vector_index(row: &VectorColumns, table_arn: &str) -> Result<VectorIndex, String> {
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
pub(super) fn distance(token: &str) -> Result<DistanceFunction, String> {
    let plain: String = token.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase();
    match plain.as_str() {
        "COSINE" => Ok(DistanceFunction::Cosine),
        "EUCLIDEAN" => Ok(DistanceFunction::Euclidean),
        "DOTPRODUCT" => Ok(DistanceFunction::DotProduct),
        _ => Err(format!("distance function {token:?} is not known")),
    }
}

pub(super) fn billing(word: &str) -> Option<BillingMode> {
    match word {
        "PROVISIONED" => Some(BillingMode::Provisioned),
        "PAY_PER_REQUEST" => Some(BillingMode::PayPerRequest),
        _ => None,
    }
}

/// The request object (`Enabled`, `SSEType`, `KMSMasterKeyId`) as the API describes it. A definition of a
/// backup may hold the described form (`Status`) already.
pub(super) fn sse_described(value: &Value, notes: &mut Vec<String>) -> Option<SseSpecification> {
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

pub(super) fn parse<T: DeserializeOwned>(
    table: &'static str,
    row: &str,
    column: &'static str,
    json: &str,
) -> Result<T, RowError> {
    serde_json::from_str(json).map_err(|e| row_error(table, row, column, e.to_string()))
}

/// A null column and the JSON text `null` are both nothing.
pub(super) fn parse_optional<T: DeserializeOwned>(
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

pub(super) fn row_error(table: &'static str, row: &str, column: &'static str, problem: String) -> RowError {
    RowError { table, row: row.to_owned(), column, problem }
}
