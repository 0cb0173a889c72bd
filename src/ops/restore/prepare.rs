//! The new table's definition: what is kept of the backup's, what the operator overrides, fresh ids.
//!
//! Source: backup operations, section 8, check 1 and the notes below the table.

use super::request::{Overrides, RestoreRequest};
use crate::backend::loader::StagePlan;
use crate::domain::arn::BackupArn;
use crate::domain::index_row::IndexSpec;
use crate::domain::store_ref::StoreRef;
use crate::domain::table::{BillingMode, SourceTable, TableKey};
use crate::domain::timestamp::TimestampMs;

/// Checks the name of a table to be made.
///
/// # Errors
/// Names the rule.
pub fn check_target_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !(3..=255).contains(&name.len()) || !name.chars().all(plain) {
        return Err(format!("table name {name:?}: expected 3 to 255 of A-Z a-z 0-9 _ . -"));
    }
    if name.bytes().all(|b| b == b'.') {
        return Err(format!("table name {name:?} is made of dots only, which no backup ARN can carry"));
    }
    Ok(())
}

/// Checks the overrides against each other.
///
/// # Errors
/// Names the rule.
pub fn check_overrides(overrides: &Overrides) -> Result<(), String> {
    match (overrides.billing_mode, overrides.throughput) {
        (Some(BillingMode::Provisioned), None) => {
            Err("billing mode PROVISIONED needs --read-capacity and --write-capacity".into())
        }
        (Some(BillingMode::PayPerRequest), Some(_)) => {
            Err("a throughput cannot be given with billing mode PAY_PER_REQUEST".into())
        }
        (_, Some(t)) if t.read_capacity_units < 1 || t.write_capacity_units < 1 => {
            Err("capacity units must be at least 1".into())
        }
        _ => Ok(()),
    }
}

/// Billing, capacity and limits of the new table.
///
/// # Errors
/// Names the global index that would have no throughput; a throughput for an on-demand table.
pub fn apply_overrides(source: &SourceTable, overrides: &Overrides) -> Result<SourceTable, String> {
    check_overrides(overrides)?;
    let mut table = source.clone();
    let mode = overrides.billing_mode.unwrap_or(source.billing_mode);
    table.billing_mode = mode;
    match mode {
        BillingMode::PayPerRequest => {
            if overrides.throughput.is_some() {
                return Err(format!(
                    "table {:?} is on demand: a throughput needs --billing-mode provisioned",
                    source.table_name
                ));
            }
            table.provisioned_throughput = None;
            for index in table.global_secondary_indexes.iter_mut().flatten() {
                index.provisioned_throughput = None;
            }
        }
        BillingMode::Provisioned => {
            table.on_demand_throughput = None;
            if let Some(throughput) = overrides.throughput {
                table.provisioned_throughput = Some(throughput);
            }
            if table.provisioned_throughput.is_none() {
                return Err(format!("table {:?} would be provisioned without a throughput", source.table_name));
            }
            if let Some(index) =
                table.global_secondary_indexes.iter().flatten().find(|index| index.provisioned_throughput.is_none())
            {
                return Err(format!(
                    "global index {:?} has no throughput and the table would be provisioned",
                    index.index_name
                ));
            }
        }
    }
    Ok(table)
}

/// The plan of one table, the same on every attempt.
///
/// `region` is the deployment's, else the backup's stands. `created` is the time of admission, so that it stays too.
///
/// # Errors
/// What is wrong with definition or overrides.
pub fn plan(
    request: &RestoreRequest,
    ordinal: usize,
    source: &SourceTable,
    arn: &BackupArn,
    region: Option<&str>,
    created: TimestampMs,
    store: Option<StoreRef>,
) -> Result<StagePlan, String> {
    let wanted = &request.tables[ordinal];
    let target: TableKey = wanted.target.key();
    let mut definition = apply_overrides(source, &request.overrides)?;
    let region = region.unwrap_or(arn.region());
    definition.table_name.clone_from(&target.table_name);
    definition.table_id = request.new_id(ordinal, None);
    definition.table_arn = format!("arn:aws:dynamodb:{region}:{}:table/{}", target.account_id, target.table_name);
    definition.table_creation_date_time = created.epoch_seconds();
    definition.item_count = 0;
    definition.table_size_bytes = 0;
    let indexes = IndexSpec::of_table(&definition)?.len();
    let index_ids = (0..indexes).map(|i| request.new_id(ordinal, Some(i))).collect();
    Ok(StagePlan { target, definition, index_ids, source_backup_arn: wanted.backup_arn.clone(), store })
}

/// What is enough to remove a staged table whose backup can no longer be read: its names and ids, no definition.
#[must_use]
pub fn removal_plan(request: &RestoreRequest, ordinal: usize) -> StagePlan {
    let wanted = &request.tables[ordinal];
    let indexes = request.decided.as_ref().and_then(|d| d.indexes.get(ordinal)).copied().unwrap_or(0);
    StagePlan {
        target: wanted.target.key(),
        definition: SourceTable {
            table_name: wanted.target.table_name.clone(),
            table_id: request.new_id(ordinal, None),
            table_arn: String::new(),
            table_creation_date_time: 0.0,
            key_schema: Vec::new(),
            attribute_definitions: Vec::new(),
            billing_mode: BillingMode::PayPerRequest,
            provisioned_throughput: None,
            on_demand_throughput: None,
            table_class: None,
            sse_specification: None,
            global_secondary_indexes: None,
            local_secondary_indexes: None,
            vector_indexes: None,
            item_count: 0,
            table_size_bytes: 0,
        },
        index_ids: (0..indexes).map(|i| request.new_id(ordinal, Some(i))).collect(),
        source_backup_arn: wanted.backup_arn.clone(),
        store: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::table::{GlobalIndex, KeyElement, KeyType, Projection, ProjectionType, Throughput};

    const UNITS: Throughput = Throughput { read_capacity_units: 5, write_capacity_units: 6 };

    fn table(mode: BillingMode, index_throughput: Option<Throughput>) -> SourceTable {
        let key = vec![KeyElement { attribute_name: "k".into(), key_type: KeyType::Hash }];
        SourceTable {
            table_name: "T".into(),
            table_id: "i".into(),
            table_arn: "a".into(),
            table_creation_date_time: 0.0,
            key_schema: key.clone(),
            attribute_definitions: Vec::new(),
            billing_mode: mode,
            provisioned_throughput: Some(UNITS),
            on_demand_throughput: None,
            table_class: None,
            sse_specification: None,
            global_secondary_indexes: Some(vec![GlobalIndex {
                index_name: "G".into(),
                key_schema: key,
                projection: Projection { projection_type: ProjectionType::All, non_key_attributes: None },
                provisioned_throughput: index_throughput,
            }]),
            local_secondary_indexes: None,
            vector_indexes: None,
            item_count: 0,
            table_size_bytes: 0,
        }
    }

    #[test]
    fn on_demand_tables_keep_no_throughput() {
        let made = apply_overrides(&table(BillingMode::PayPerRequest, Some(UNITS)), &Overrides::default());
        let made = made.expect("allowed");
        assert_eq!(made.provisioned_throughput, None);
        assert_eq!(made.global_secondary_indexes.expect("kept")[0].provisioned_throughput, None);
    }

    #[test]
    fn provisioned_needs_a_throughput_for_every_global_index() {
        let overrides = Overrides { billing_mode: Some(BillingMode::Provisioned), throughput: Some(UNITS) };
        let refused = apply_overrides(&table(BillingMode::PayPerRequest, None), &overrides).expect_err("refused");
        assert!(refused.contains("\"G\""), "{refused}");
        assert!(apply_overrides(&table(BillingMode::PayPerRequest, Some(UNITS)), &overrides).is_ok());
    }

    #[test]
    fn overrides_that_contradict_each_other_are_refused() {
        let provisioned = Overrides { billing_mode: Some(BillingMode::Provisioned), throughput: None };
        assert!(check_overrides(&provisioned).is_err());
        let on_demand = Overrides { billing_mode: Some(BillingMode::PayPerRequest), throughput: Some(UNITS) };
        assert!(check_overrides(&on_demand).is_err());
        let alone = Overrides { billing_mode: None, throughput: Some(UNITS) };
        assert!(apply_overrides(&table(BillingMode::PayPerRequest, None), &alone).is_err());
        assert!(apply_overrides(&table(BillingMode::Provisioned, Some(UNITS)), &alone).is_ok());
    }

    #[test]
    fn names_are_checked() {
        for good in ["abc", "a.b-c_D9", &"x".repeat(255)] {
            assert!(check_target_name(good).is_ok(), "{good}");
        }
        for bad in ["ab", "...", "a b c", "äbc", &"x".repeat(256)] {
            assert!(check_target_name(bad).is_err(), "{bad}");
        }
    }
}
