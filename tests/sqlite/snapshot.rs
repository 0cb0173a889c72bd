//! One read transaction over catalog and items, beside a writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use extenddb_admin::backend::ErrorKind;
use serde_json::json;

use super::ground::{OPTIONS, SHAPES, deployment, digest, items, key, open, open_url};
use crate::support::table::Table;
use crate::support::{digest as expected, tables};

#[tokio::test(flavor = "multi_thread")]
async fn every_fixture_is_read_as_it_was_written() {
    for shape in SHAPES {
        let deployment = deployment(shape);
        let all = tables::every_table();
        all.iter().for_each(|table| deployment.add(table));
        let backend = open(&deployment).await;
        let keys: Vec<_> = all.iter().map(|t| key(&t.name)).collect();
        let snapshot = backend.open_snapshot(&keys, &OPTIONS).await.unwrap();
        for (i, table) in all.iter().enumerate() {
            let read = items(&*snapshot, i).await;
            assert_eq!(digest(&read).to_string(), expected::digest(&table.items), "{} of {shape}", table.name);
            let definition = &snapshot.tables()[i].definition;
            assert_eq!(definition.table_id, table.id);
            assert_eq!(serde_json::to_value(&definition.key_schema).unwrap(), table.key_schema());
            assert_eq!(snapshot.tables()[i].notes, Vec::<String>::new(), "{} of {shape}", table.name);
        }
        snapshot.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_is_stable_beside_a_live_writer() {
    let deployment = deployment("0.0.4");
    let table = Table::new("Live", 9, ("id", "S"), None);
    let count = 3000;
    let item = |i: usize, v: &str| json!({"id": {"S": format!("{i:05}")}, "v": {"S": v}});
    let table = table.items((0..count).map(|i| item(i, "before")));
    deployment.add(&table);
    let other = Table::new("Other", 10, ("id", "S"), None).items([item(0, "before")]);
    deployment.add(&other);
    let backend = open(&deployment).await;
    let stop = Arc::new(AtomicBool::new(false));
    let snapshot = backend.open_snapshot(&[key("Live"), key("Other")], &OPTIONS).await.unwrap();

    let (path, stopped, id, other_id) =
        (deployment.sqlite_path(), Arc::clone(&stop), table.id.clone(), other.id.clone());
    let live = std::thread::spawn(move || {
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        let mut turns = 0;
        while !stopped.load(Ordering::Acquire) || turns < 3 {
            let key = format!("{:05}", turns % count);
            conn.execute_batch(&format!(
                "BEGIN IMMEDIATE; \
                 UPDATE \"_ddb_{id}\" SET item_data = replace(item_data, 'before', 'after') WHERE pk = '{key}'; \
                 DELETE FROM \"_ddb_{id}\" WHERE pk = '{:05}'; \
                 INSERT INTO \"_ddb_{id}\" (pk, item_data) VALUES ('new-{turns}', '{{\"id\":{{\"S\":\"new\"}}}}'); \
                 UPDATE \"_ddb_{other_id}\" SET item_data = '{{\"id\":{{\"S\":\"x\"}}}}'; \
                 UPDATE tables SET item_count = item_count + 1; COMMIT",
                count - 1 - turns % count
            ))
            .unwrap();
            turns += 1;
        }
        turns
    });
    for _ in 0..3 {
        let live_items = items(&*snapshot, 0).await;
        assert_eq!(digest(&live_items).to_string(), expected::digest(&table.items));
        let others = items(&*snapshot, 1).await;
        assert_eq!(digest(&others).to_string(), expected::digest(&other.items), "one instant for all tables");
    }
    stop.store(true, Ordering::Release);
    assert!(live.join().unwrap() >= 3);
    assert_eq!(digest(&items(&*snapshot, 0).await).to_string(), expected::digest(&table.items));
    assert_eq!(snapshot.tables()[0].definition.item_count, i64::try_from(count).unwrap());
    snapshot.close().await.unwrap();
    let later = backend.open_snapshot(&[key("Live")], &OPTIONS).await.unwrap();
    assert_ne!(digest(&items(&*later, 0).await).to_string(), expected::digest(&table.items));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_not_active_is_busy() {
    let deployment = deployment("0.0.4");
    deployment.add(&tables::nothing());
    let backend = open(&deployment).await;
    for status in ["CREATING", "DELETING", "UPDATING", "ODD"] {
        deployment.catalog().exec(&format!("UPDATE tables SET table_status = '{status}'"));
        let error = backend.open_snapshot(&[key("Nothing")], &OPTIONS).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(error.to_string().contains(status), "{error}");
    }
    let error = backend.open_snapshot(&[key("Absent")], &OPTIONS).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_whose_readers_left_ends_quietly() {
    let deployment = deployment("0.0.4");
    let big = "x".repeat(300_000);
    let table = Table::new("Big", 9, ("id", "S"), None)
        .items((0..40).map(|i| json!({"id": {"S": i.to_string()}, "v": {"S": big}})));
    deployment.add(&table);
    let backend = open(&deployment).await;
    let snapshot = backend.open_snapshot(&[key("Big")], &OPTIONS).await.unwrap();
    let (sink, source) = extenddb_admin::backend::snapshot::block_channel(2);
    let reader = std::thread::spawn(move || drop(source.next_blocking()));
    let range = &snapshot.plan(&snapshot.tables()[0], 1).await.unwrap()[0];
    let scanned = snapshot.scan(&snapshot.tables()[0], range, &sink).await.unwrap();
    assert!(scanned < 40, "{scanned} items were scanned for nobody");
    reader.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_opened_for_reading_refuses_every_write() {
    let deployment = deployment("0.0.4");
    deployment.add(&tables::orders());
    let before = super::ground::contents(&deployment);
    let backend = open_url(deployment.url(), "reader", true).await.unwrap();
    assert_eq!(backend.list_tables(None).await.unwrap().len(), 1);
    let error = backend.delete_legacy_backup("arn").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let error =
        backend.admit_job(&super::ground::job(extenddb_admin::domain::job::JobKind::Backup, "t")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert_eq!(super::ground::contents(&deployment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_the_definitions_forgot_are_read_from_the_rows() {
    let deployment = deployment("0.0.3");
    let table = tables::orders();
    deployment.add(&table);
    deployment.catalog().exec("UPDATE tables SET attribute_definitions = '[]'");
    let info = open(&deployment).await.table(&key("Orders")).await.unwrap();
    let mut found = serde_json::to_value(&info.definition.attribute_definitions).unwrap();
    let mut wanted = table.attribute_definitions();
    for list in [&mut found, &mut wanted] {
        list.as_array_mut().unwrap().sort_by_key(ToString::to_string);
    }
    assert_eq!(found, wanted);
    assert_eq!(info.notes.len(), wanted.as_array().unwrap().len(), "each is noted: {:?}", info.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_read_whole() {
    let deployment = deployment("0.0.4");
    deployment.add(&tables::blobs());
    deployment.add(&tables::orders());
    deployment.catalog().exec(
        "INSERT INTO vector_indexes (table_id, index_id, index_name, dimensions, distance_function, vector_attribute, \
         projection, index_status) SELECT table_id, 'v1', 'near', 3, 'COSINE', '{\"AttributeName\":\"emb\"}', \
         '{\"ProjectionType\":\"KEYS_ONLY\"}', 'ACTIVE' FROM tables WHERE table_name = 'Orders'; \
         INSERT INTO vector_indexes (table_id, index_id, index_name, dimensions, distance_function, vector_attribute, \
         projection, index_status) SELECT table_id, 'v2', 'far', 3, 'MANHATTAN', '{\"AttributeName\":\"emb\"}', \
         '{\"ProjectionType\":\"KEYS_ONLY\"}', 'ACTIVE' FROM tables WHERE table_name = 'Orders'",
    );
    let backend = open(&deployment).await;
    let blobs = backend.table(&key("Blobs")).await.unwrap();
    let blobs = serde_json::to_value(&blobs.definition).unwrap();
    assert_eq!(blobs["billing_mode"], "PROVISIONED");
    assert_eq!(blobs["provisioned_throughput"], json!({"ReadCapacityUnits": 50, "WriteCapacityUnits": 20}));
    assert_eq!(
        blobs["sse_specification"],
        json!({"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/k"})
    );
    assert_eq!(blobs["table_class"], "STANDARD_INFREQUENT_ACCESS");
    let info = backend.table(&key("Orders")).await.unwrap();
    let orders = serde_json::to_value(&info.definition).unwrap();
    assert_eq!(orders["on_demand_throughput"], json!({"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50}));
    assert_eq!(orders["global_secondary_indexes"].as_array().unwrap().len(), 3);
    assert_eq!(orders["local_secondary_indexes"][0]["IndexName"], "by_customer_total");
    assert_eq!(orders["vector_indexes"].as_array().unwrap().len(), 1, "what cannot be kept is left out");
    assert_eq!(orders["vector_indexes"][0]["IndexArn"], format!("{}/index/near", tables::orders().arn()));
    assert!(info.notes.iter().any(|n| n.contains("far") && n.contains("MANHATTAN")), "{:?}", info.notes);
    deployment.catalog().exec("UPDATE tables SET key_schema = 'nonsense' WHERE table_name = 'Orders'");
    let error = backend.table(&key("Orders")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("Orders") && error.to_string().contains("key_schema"), "{error}");
}
