//! What a server would have written into the catalog for a definition.

use serde_json::{Value, json};

use crate::domain::table::{BillingMode, SourceTable, SseSpecification};

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

fn text<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data with string keys always serializes")
}

#[cfg(test)]
mod tests {
    use super::super::{IndexColumns, TableColumns, table_info};
    use super::*;
    use crate::domain::timestamp::TimestampMs;

    fn columns(texts: &TableTexts) -> TableColumns {
        TableColumns {
            account_id: "123456789012".into(),
            table_name: "T".into(),
            table_id: "id".into(),
            table_arn: "arn".into(),
            table_status: "ACTIVE".into(),
            creation_date_time: TimestampMs(1),
            key_schema: texts.key_schema.clone(),
            attribute_definitions: texts.attribute_definitions.clone(),
            billing_mode: texts.billing_mode.into(),
            provisioned_throughput: texts.provisioned_throughput.clone(),
            on_demand_throughput: texts.on_demand_throughput.clone(),
            sse_specification: texts.sse_specification.clone(),
            table_class: None,
            item_count: 0,
            table_size_bytes: 0,
        }
    }

    fn table(more: &Value) -> SourceTable {
        let mut table = json!({
            "table_name": "T", "table_id": "id", "table_arn": "arn", "table_creation_date_time": 0.001,
            "key_schema": [{"AttributeName": "a", "KeyType": "HASH"}],
            "attribute_definitions": [
                {"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "N"}],
            "billing_mode": "PROVISIONED", "item_count": 0, "table_size_bytes": 0,
            "global_secondary_indexes": [{"IndexName": "g", "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["c"]}}],
            "local_secondary_indexes": [{"IndexName": "l", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"},
                {"AttributeName": "b", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}],
        });
        for (name, value) in more.as_object().expect("an object") {
            table[name] = value.clone();
        }
        serde_json::from_value(table).expect("a table")
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_definition() {
        let cases = [
            json!({"provisioned_throughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
                "sse_specification": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "key"}}),
            json!({"provisioned_throughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
                "sse_specification": {"Status": "DISABLED"}}),
            json!({"billing_mode": "PAY_PER_REQUEST",
                "on_demand_throughput": {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": null}}),
        ];
        for case in cases {
            let table = table(&case);
            let texts = table_texts(&table);
            let ids = ["g-id".to_owned(), "l-id".to_owned()];
            let indexes: Vec<IndexColumns> = index_texts(&table, &ids)
                .expect("an id for each index")
                .into_iter()
                .map(|i| IndexColumns {
                    index_name: i.index_name,
                    index_id: i.index_id,
                    index_type: i.index_type.into(),
                    key_schema: i.key_schema,
                    projection: i.projection,
                    index_status: "ACTIVE".into(),
                    provisioned_throughput: i.provisioned_throughput,
                })
                .collect();
            let read = table_info(&columns(&texts), &indexes, &[], &[], false).expect("good rows");
            assert_eq!(read.definition, table);
            assert_eq!(read.notes, Vec::<String>::new());
        }
    }

    #[test]
    fn a_row_that_breaks_its_rules_is_named() {
        let good = columns(&table_texts(&table(&json!({}))));
        let odd = TableColumns { billing_mode: "FREE".into(), ..good.clone() };
        let error = table_info(&odd, &[], &[], &[], false).expect_err("no such mode");
        assert_eq!((error.table, error.column, &*error.row), ("tables", "billing_mode", "123456789012/T"));
        let odd = TableColumns { provisioned_throughput: Some("{".into()), ..good };
        let error = table_info(&odd, &[], &[], &[], false).expect_err("no JSON");
        assert_eq!(error.column, "provisioned_throughput");
    }

    #[test]
    fn an_index_without_an_id_is_refused() {
        assert!(index_texts(&table(&json!({})), &["only one".to_owned()]).is_err());
    }
}
