//! What a catalog says about tables and in-catalog backups, in every released shape.

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::domain::table::{BillingMode, IndexKind, ProjectionType, TableKey, TableStatus};
use serde_json::json;

use crate::support::deployment::{ACCOUNT, released};
use crate::support::{Deployment, Kind, digest, on_every_backend, seam, tables};

fn tables_are_listed_in_byte_order_with_their_definitions(kind: Kind) {
    for shape in released(kind) {
        let deployment = Deployment::released(kind, shape);
        let all = tables::every_table();
        all.iter().for_each(|table| deployment.add(table));
        let seam = deployment.open_read_only();
        let listed = seam.wait(seam.backend.list_tables(None)).unwrap();
        let names: Vec<_> = listed.iter().map(|t| t.definition.table_name.as_str()).collect();
        assert_eq!(names, ["Blobs", "Every.thing-1_x", "Large", "Ledger", "Nothing", "Orders"], "{shape}");
        for info in &listed {
            let fixture = all.iter().find(|t| t.name == info.definition.table_name).unwrap();
            assert_eq!(info.account_id, ACCOUNT);
            assert_eq!(info.status, TableStatus::Active);
            assert_eq!(info.definition.table_arn, fixture.arn());
            assert_eq!(info.definition.table_id, fixture.id);
            assert_eq!(serde_json::to_value(&info.definition.key_schema).unwrap(), fixture.key_schema());
            assert_eq!(
                serde_json::to_value(&info.definition.attribute_definitions).unwrap(),
                fixture.attribute_definitions()
            );
            assert!((info.definition.table_creation_date_time - 1_780_309_230.123).abs() < 0.0005);
            assert_eq!(info.named_by_table, deployment.layout.named_by_table, "{shape}");
        }
        let lacks_columns = shape.ends_with("-a") || shape.ends_with("-b");
        let blobs = &listed[0].definition;
        assert_eq!(blobs.billing_mode, BillingMode::Provisioned);
        assert_eq!(
            serde_json::to_value(blobs.provisioned_throughput).unwrap(),
            json!({"ReadCapacityUnits": 50, "WriteCapacityUnits": 20})
        );
        let class = (!lacks_columns).then_some("STANDARD_INFREQUENT_ACCESS");
        assert_eq!(blobs.table_class.as_deref(), class, "{shape}");
        let sse = blobs.sse_specification.as_ref().map(|s| s.status.as_str());
        assert_eq!(sse, (!lacks_columns).then_some("ENABLED"), "{shape}");
    }
}

fn indexes_are_described_with_their_keys_and_projections(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let orders = tables::orders();
    deployment.add(&orders);
    let seam = deployment.open_read_only();
    let info = seam.wait(seam.backend.table(&seam::key(&orders))).unwrap();
    let indexes: Vec<_> = info.indexes.iter().map(|i| (i.index_name.as_str(), i.kind, i.status.as_str())).collect();
    let expected = [
        ("by_customer_total", IndexKind::Lsi),
        ("by_place", IndexKind::Gsi),
        ("by_status", IndexKind::Gsi),
        ("by_total", IndexKind::Gsi),
    ];
    assert_eq!(indexes, expected.map(|(name, kind)| (name, kind, "ACTIVE")));
    for index in &info.indexes {
        assert_eq!(index.index_id, orders.indexes.iter().find(|i| i.name == index.index_name).unwrap().id);
    }
    let global = info.definition.global_secondary_indexes.unwrap();
    let place = global.iter().find(|i| i.index_name == "by_place").unwrap();
    let names: Vec<_> = place.key_schema.iter().map(|k| k.attribute_name.as_str()).collect();
    assert_eq!(names, ["country", "zip", "order", "total"]);
    let local = info.definition.local_secondary_indexes.unwrap();
    assert_eq!(local[0].projection.projection_type, ProjectionType::Include);
    assert_eq!(local[0].projection.non_key_attributes.as_deref(), Some(&["note".to_owned()][..]));
    assert_eq!(
        serde_json::to_value(info.definition.on_demand_throughput).unwrap(),
        json!({"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50})
    );
}

fn a_table_that_is_not_there_is_not_found_by_name(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open_read_only();
    let key = TableKey { account_id: ACCOUNT.into(), table_name: "Absent".into() };
    let error = seam.wait(seam.backend.table(&key)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("Absent"), "{error}");
}

fn an_account_sees_its_own_tables_only(kind: Kind) {
    let deployment = Deployment::newest(kind);
    deployment.add_rows_everywhere();
    deployment.add(&tables::orders());
    let seam = deployment.open_read_only();
    let list = |account: Option<&str>| -> Vec<(String, String)> {
        let listed = seam.wait(seam.backend.list_tables(account)).unwrap();
        listed.into_iter().map(|t| (t.account_id, t.definition.table_name)).collect()
    };
    let (ours, theirs) = ((ACCOUNT.to_owned(), "Orders".to_owned()), ("999999999999".to_owned(), "Orders".to_owned()));
    assert_eq!(list(None), [ours.clone(), theirs.clone()]);
    assert_eq!(list(Some(ACCOUNT)), [ours]);
    assert_eq!(list(Some("999999999999")), [theirs]);
    assert_eq!(list(Some("000000000000")), []);
}

fn a_catalog_without_settings_is_not_initialised(kind: Kind) {
    let deployment = Deployment::empty(kind);
    deployment.catalog().exec("CREATE TABLE something (x INTEGER)");
    let seam = deployment.open_read_only();
    let error = seam.wait(seam.backend.catalog_info()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInitialized, "{error}");
}

fn in_catalog_backups_are_listed_and_read_whole(kind: Kind) {
    for shape in released(kind) {
        let deployment = Deployment::released(kind, shape);
        let orders = tables::orders();
        deployment.add(&orders);
        let arn = deployment.add_legacy_backup(&orders, "before-upgrade", "1796073796883-0a0b0c0d");
        let seam = deployment.open_read_only();
        let listed = seam.wait(seam.backend.legacy_backups(None)).unwrap();
        assert_eq!(listed.len(), 1, "{shape}");
        let backup = &listed[0];
        assert_eq!(
            (backup.backup_arn.as_str(), backup.backup_name.as_str(), backup.status.as_str()),
            (arn.as_str(), "before-upgrade", "AVAILABLE")
        );
        assert_eq!(backup.item_count, 300);
        // What a definition adds: without one the indexes are not known.
        let has_definition = !deployment.catalog().columns("backup_definitions").is_empty();
        let indexes = backup.table.global_secondary_indexes.as_ref().map_or(0, Vec::len);
        assert_eq!(indexes, if has_definition { 3 } else { 0 }, "{shape}");

        let snapshot = seam.wait(seam.backend.open_legacy_backup(&arn)).unwrap();
        let table = snapshot.tables()[0].clone();
        assert_eq!(seam.digest(&*snapshot, &table, 3), digest::digest(&orders.items), "{shape}");
        seam.wait(snapshot.close()).unwrap();
    }
}

fn a_deleted_in_catalog_backup_leaves_a_tombstone_without_items(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let orders = tables::orders();
    deployment.add(&orders);
    let arn = deployment.add_legacy_backup(&orders, "before-upgrade", "1796073796883-0a0b0c0d");
    let other = deployment.add_legacy_backup(&orders, "kept", "1796073796884-0a0b0c0d");
    let seam = deployment.open();
    seam.wait(seam.backend.delete_legacy_backup(&arn)).unwrap();
    let mut catalog = deployment.catalog();
    let rows = catalog.rows("SELECT backup_arn, backup_status FROM backups ORDER BY backup_name");
    let expected = [[arn.as_str(), "DELETED"], [other.as_str(), "AVAILABLE"]];
    assert_eq!(rows, expected.map(|row| row.map(|v| Some(v.to_owned())).to_vec()));
    assert_eq!(catalog.count(&format!("SELECT count(*) FROM backup_items WHERE backup_arn = '{arn}'")), 0);
    assert_eq!(catalog.count("SELECT count(*) FROM backup_items"), 300);
    let again = seam.wait(seam.backend.delete_legacy_backup(&arn)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound);
}

on_every_backend!(
    tables_are_listed_in_byte_order_with_their_definitions,
    indexes_are_described_with_their_keys_and_projections,
    a_table_that_is_not_there_is_not_found_by_name,
    an_account_sees_its_own_tables_only,
    a_catalog_without_settings_is_not_initialised,
    in_catalog_backups_are_listed_and_read_whole,
    a_deleted_in_catalog_backup_leaves_a_tombstone_without_items,
);
