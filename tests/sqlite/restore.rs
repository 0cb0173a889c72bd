//! Staging, loading, publishing and removing tables.

use std::collections::BTreeSet;
use std::io::BufRead as _;

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::backend::loader::StagePlan;
use extenddb_admin::domain::claim::{Epoch, FenceToken, WriteOutcome};
use extenddb_admin::domain::job::{JobKind, JobStatus};
use serde_json::json;

use super::ground::{
    OPTIONS, SHAPES, Shared, claimed, contents, deployment, digest, items, key, load, open, open_as, open_url, plan_of,
    writer,
};
use crate::support::deployment::ACCOUNT;
use crate::support::table::Table;
use crate::support::{Deployment, Kind, tables};

/// Columns, keys and secondary indexes of a physical table, with ids taken out.
fn shape(deployment: &Deployment, id: &str) -> BTreeSet<String> {
    let mut db = deployment.catalog();
    let mut all = BTreeSet::new();
    for row in db.rows(&format!("SELECT * FROM pragma_table_info('_ddb_{id}')")) {
        all.insert(format!("column {row:?}"));
    }
    for index in db.rows(&format!("SELECT name, \"unique\", origin, partial FROM pragma_index_list('_ddb_{id}')")) {
        let name = index[0].clone().unwrap();
        if name.starts_with("idx_ttl_") {
            continue;
        }
        let columns = db.rows(&format!("SELECT name FROM pragma_index_info('{name}') ORDER BY seqno"));
        all.insert(format!("index {} {:?} on {columns:?}", name.replace(id, "ID"), &index[1..]));
    }
    all
}

fn rows(deployment: &Deployment, id: &str) -> BTreeSet<String> {
    let rows = deployment.catalog().rows(&format!("SELECT * FROM \"_ddb_{id}\""));
    rows.iter().map(|row| format!("{row:?}")).collect()
}

/// A row of `tables` without what is new for a copy, or not restored.
fn catalog_row(deployment: &Deployment, name: &str) -> Vec<(String, Option<String>)> {
    let not_copied = [
        "table_name",
        "table_id",
        "table_arn",
        "creation_date_time",
        "table_size_bytes",
        "stream_specification",
        "stream_label",
        "ttl_attribute",
        "ttl_index_ready",
        "deletion_protection_enabled",
    ];
    let mut db = deployment.catalog();
    let columns = db.columns("tables");
    let row = db.rows(&format!("SELECT * FROM tables WHERE table_name = '{name}'")).remove(0);
    let json = |text: Option<String>| {
        text.map(|t| serde_json::from_str::<serde_json::Value>(&t).map_or(t.clone(), |v| v.to_string()))
    };
    columns.into_iter().zip(row.into_iter().map(json)).filter(|(c, _)| !not_copied.contains(&c.as_str())).collect()
}

fn index_rows(deployment: &Deployment, name: &str) -> BTreeSet<String> {
    let rows = deployment.catalog().rows(&format!(
        "SELECT index_name, index_type, json(key_schema), json(projection), index_status, provisioned_throughput, \
         propagation_delay_ms FROM indexes WHERE table_id = (SELECT table_id FROM tables WHERE table_name = '{name}')"
    ));
    let sorted = |text: &Option<String>| {
        text.as_ref().map(|t| serde_json::from_str::<serde_json::Value>(t).map_or(t.clone(), |v| v.to_string()))
    };
    rows.iter().map(|row| format!("{:?}", row.iter().map(sorted).collect::<Vec<_>>())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_table_is_row_for_row_what_a_server_would_have_made() {
    for shape_name in SHAPES {
        let deployment = deployment(shape_name);
        let all = tables::every_table();
        all.iter().for_each(|table| deployment.add(table));
        let backend = open(&deployment).await;
        for (number, table) in (1..).zip(&all) {
            let copy = format!("{}-copy", table.name);
            let info = backend.table(&key(&table.name)).await.unwrap();
            let mut plan = plan_of(&info, &copy, number);
            if *shape_name == "0.0.2" && deployment.catalog().columns("tables").iter().all(|c| c != "table_class") {
                plan.definition.table_class = None;
            }
            let snapshot = backend.open_snapshot(&[key(&table.name)], &OPTIONS).await.unwrap();
            let texts = items(&*snapshot, 0).await;
            snapshot.close().await.unwrap();
            let claim = claimed(&backend, JobKind::Restore, &copy).await;
            backend.check_target(&plan.target).await.unwrap();
            backend.stage(claim.fence(), &plan).await.unwrap();
            for (file, part) in (0..).zip(texts.chunks(100)) {
                load(&backend, claim.fence(), &plan, file, part).await.unwrap();
            }
            assert_eq!(backend.finish_load(claim.fence(), &plan).await.unwrap(), texts.len() as u64);
            assert_eq!(backend.staged_digest(claim.fence(), &plan).await.unwrap(), digest(&texts));
            assert_eq!(backend.publish(claim.fence(), &plan).await.unwrap(), WriteOutcome::Matched);
            assert_eq!(claim.finish(JobStatus::Succeeded, &json!({})).await.unwrap(), WriteOutcome::Matched);

            let what = format!("{} of {shape_name}", table.name);
            assert_eq!(shape(&deployment, &plan.definition.table_id), shape(&deployment, &table.id), "{what}");
            assert_eq!(rows(&deployment, &plan.definition.table_id), rows(&deployment, &table.id), "{what}");
            for (index, id) in info.indexes.iter().zip(index_ids_by_name(&info, &plan)) {
                let of = format!("index {} of {what}", index.index_name);
                assert_eq!(shape(&deployment, &id), shape(&deployment, &index.index_id), "{of}");
                assert_eq!(rows(&deployment, &id), rows(&deployment, &index.index_id), "{of}");
            }
            assert_eq!(catalog_row(&deployment, &copy), catalog_row(&deployment, &table.name), "{what}");
            assert_eq!(index_rows(&deployment, &copy), index_rows(&deployment, &table.name), "{what}");
            let mut db = deployment.catalog();
            assert_eq!(
                db.rows(&format!(
                    "SELECT stream_specification, stream_label, ttl_attribute, ttl_index_ready, \
                     deletion_protection_enabled, status_transition_at FROM tables WHERE table_name = '{copy}'"
                ))[0],
                [None, None, None, Some("0".into()), Some("0".into()), None],
                "streams, TTL and protection are off: {what}"
            );
            let size: i64 = texts.iter().map(|t| i64::try_from(t.len()).unwrap()).sum();
            let stored = db.count(&format!("SELECT table_size_bytes FROM tables WHERE table_name = '{copy}'"));
            assert_eq!(stored, size, "{what}");
        }
        let mut db = deployment.catalog();
        for table in ["staged_tables", "load_progress", "fences"] {
            assert_eq!(db.count(&format!("SELECT count(*) FROM extenddb_admin_{table}")), 0, "{table}: {shape_name}");
        }
        if *shape_name == "0.0.5" {
            let records = db.rows("SELECT DISTINCT status, kind, store_kind, store_root, store_id FROM table_restores");
            assert_eq!(
                records,
                [["DONE", "manifest", "filesystem", "/backups", "store-1"].map(|v| Some(v.to_owned())).to_vec()]
            );
            let loaded = db.rows(
                "SELECT t.table_name, r.file_index, r.items_applied FROM table_restores r JOIN tables t USING (table_id) \
                 WHERE t.table_name = 'Orders-copy'",
            );
            assert_eq!(loaded[0], ["Orders-copy", "3", "300"].map(|v| Some(v.to_owned())).to_vec());
        }
        let leftovers: Vec<_> = std::fs::read_dir(deployment.dir())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.contains("extenddb-admin"))
            .collect();
        assert_eq!(leftovers, Vec::<String>::new(), "lock files of ended jobs are gone");
    }
}

fn index_ids_by_name(info: &extenddb_admin::domain::table::TableInfo, plan: &StagePlan) -> Vec<String> {
    let global = plan.definition.global_secondary_indexes.iter().flatten().map(|i| &i.index_name);
    let local = plan.definition.local_secondary_indexes.iter().flatten().map(|i| &i.index_name);
    let names: Vec<_> = global.chain(local).collect();
    info.indexes
        .iter()
        .map(|i| plan.index_ids[names.iter().position(|n| **n == i.index_name).unwrap()].clone())
        .collect()
}

/// A deployment with a small table, its claimed restore, and the items in files.
struct Ready {
    deployment: Deployment,
    backend: Shared,
    claim: Box<dyn extenddb_admin::backend::jobs::JobClaim>,
    plan: StagePlan,
    files: Vec<Vec<Vec<u8>>>,
}

async fn ready(shape: &str) -> Ready {
    let deployment = deployment(shape);
    deployment.add(&tables::orders());
    let backend = open(&deployment).await;
    let info = backend.table(&key("Orders")).await.unwrap();
    let plan = plan_of(&info, "Copy", 1);
    let snapshot = backend.open_snapshot(&[key("Orders")], &OPTIONS).await.unwrap();
    let files = items(&*snapshot, 0).await.chunks(100).map(<[Vec<u8>]>::to_vec).collect();
    let claim = claimed(&backend, JobKind::Restore, "Copy").await;
    Ready { deployment, backend, claim, plan, files }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_a_table_before_it_is_published() {
    for shape in SHAPES {
        let r = ready(shape).await;
        r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
        load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap();
        let mut db = r.deployment.catalog();
        let named = db.rows("SELECT table_status, status_transition_at FROM tables WHERE table_name = 'Copy'");
        if *shape == "0.0.5" {
            assert_eq!(named, [vec![Some("CREATING".to_owned()), None]]);
            assert_eq!(
                db.rows("SELECT status, kind, file_index, items_applied, owner_generation FROM table_restores")[0],
                ["RUNNING", "manifest", "1", "100", "1"].map(|v| Some(v.to_owned())).to_vec()
            );
        } else {
            assert!(named.is_empty(), "{shape}: a server removes rows that it did not make");
            assert_eq!(db.count("SELECT count(*) FROM indexes WHERE index_id LIKE 'bbbbbbbb%'"), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_may_be_repeated() {
    for shape in SHAPES {
        let r = ready(shape).await;
        for _ in 0..2 {
            r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
        }
        for (file, part) in (0..).zip(&r.files) {
            load(&r.backend, r.claim.fence(), &r.plan, file, part).await.unwrap();
        }
        let error = load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "a file is applied once: {error}");
        for _ in 0..2 {
            assert_eq!(r.backend.finish_load(r.claim.fence(), &r.plan).await.unwrap(), 300);
        }
        for _ in 0..2 {
            assert_eq!(r.backend.publish(r.claim.fence(), &r.plan).await.unwrap(), WriteOutcome::Matched);
        }
        let published = contents(&r.deployment);
        r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
        r.backend.discard(r.claim.fence(), &r.plan).await.unwrap();
        assert_eq!(contents(&r.deployment), published, "a published table is left alone: {shape}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discarded_table_leaves_nothing() {
    for shape in SHAPES {
        let r = ready(shape).await;
        let before = contents(&r.deployment);
        for loaded in [0, 2] {
            r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
            for (file, part) in (0..).zip(&r.files[..loaded]) {
                load(&r.backend, r.claim.fence(), &r.plan, file, part).await.unwrap();
            }
            for _ in 0..2 {
                r.backend.discard(r.claim.fence(), &r.plan).await.unwrap();
            }
            assert_eq!(contents(&r.deployment), before, "{shape}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_taken_meanwhile_is_a_conflict() {
    let r = ready("0.0.4").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap();
    r.backend.finish_load(r.claim.fence(), &r.plan).await.unwrap();
    r.deployment.add(&Table::new("Copy", 77, ("id", "S"), None));
    let error = r.backend.publish(r.claim.fence(), &r.plan).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("Copy"), "{error}");
    let error = r.backend.check_target(&r.plan.target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let elsewhere = extenddb_admin::domain::table::TableKey { account_id: "000000000009".into(), ..key("Else") };
    assert_eq!(r.backend.check_target(&elsewhere).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_target_of_a_running_restore_is_busy_for_others_only() {
    let r = ready("0.0.5").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    r.backend.check_target(&r.plan.target).await.unwrap();
    let other = open_as(&r.deployment, "two").await;
    let error = other.check_target(&r.plan.target).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains(&r.plan.source_backup_arn), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_items_of_one_key_are_a_conflict_and_leave_nothing() {
    let r = ready("0.0.4").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    let before = contents(&r.deployment);
    let twice = [r.files[0].clone(), r.files[0][..1].to_vec()].concat();
    let error = load(&r.backend, r.claim.fence(), &r.plan, 0, &twice).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.to_string().contains("same key"), "{error}");
    assert_eq!(contents(&r.deployment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_dropped_leaves_nothing() {
    let r = ready("0.0.4").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    let before = contents(&r.deployment);
    let mut batch = r.backend.begin_load(r.claim.fence(), &r.plan).await.unwrap();
    let mut parser = extenddb_admin::domain::item::ItemParser::new();
    for text in &r.files[0] {
        batch.push(&parser.parse(text, Default::default()).unwrap()).unwrap();
    }
    batch.flush().await.unwrap();
    drop(batch);
    load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap();
    r.backend.discard(r.claim.fence(), &r.plan).await.unwrap();
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    assert_eq!(contents(&r.deployment).len(), before.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_the_right_to_it_is_refused_and_leaves_nothing() {
    for shape in ["0.0.4", "0.0.5"] {
        let r = ready(shape).await;
        r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
        load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap();
        let before = contents(&r.deployment);
        let good = r.claim.fence();
        let bad = [
            ("no record", FenceToken { key: "restore:none".into(), ..good.clone() }),
            ("behind", FenceToken { epoch: Epoch::ZERO, ..good.clone() }),
            ("ahead", FenceToken { epoch: good.epoch.mint_above(Epoch::ZERO).unwrap(), ..good.clone() }),
            ("another writer of the same number", FenceToken { writer: writer("two"), ..good.clone() }),
        ];
        for (what, token) in bad {
            let fenced = |error: extenddb_admin::backend::Error| {
                assert_eq!(error.kind(), ErrorKind::Fenced, "{what} of {shape}: {error}");
                assert!(error.to_string().contains(&token.writer.0), "{what}: {error}");
            };
            fenced(load(&r.backend, &token, &r.plan, 1, &r.files[1]).await.unwrap_err());
            fenced(r.backend.stage(&token, &r.plan).await.unwrap_err());
            fenced(r.backend.finish_load(&token, &r.plan).await.unwrap_err());
            fenced(r.backend.publish(&token, &r.plan).await.unwrap_err());
            fenced(r.backend.discard(&token, &r.plan).await.unwrap_err());
            assert_eq!(contents(&r.deployment), before, "{what} of {shape}");
        }
        load(&r.backend, good, &r.plan, 1, &r.files[1]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_final_even_if_the_record_comes_back() {
    let r = ready("0.0.4").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    let mut db = r.deployment.catalog();
    db.exec("UPDATE extenddb_admin_fences SET epoch = epoch + 1");
    let error = load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced);
    assert!(error.to_string().contains("epoch 1") && error.to_string().contains("epoch 2"), "{error}");
    db.exec("UPDATE extenddb_admin_fences SET epoch = epoch - 1");
    let error = load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
    assert_eq!(r.claim.heartbeat().await.unwrap().outcome, WriteOutcome::NotMatched);
    assert_eq!(r.claim.finish(JobStatus::Succeeded, &json!({})).await.unwrap(), WriteOutcome::NotMatched);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_a_server_failed_stops_the_load() {
    let r = ready("0.0.5").await;
    r.backend.stage(r.claim.fence(), &r.plan).await.unwrap();
    let before = contents(&r.deployment);
    r.deployment.catalog().exec("UPDATE table_restores SET status = 'FAILED'");
    let error = load(&r.backend, r.claim.fence(), &r.plan, 0, &r.files[0]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
    r.deployment.catalog().exec("UPDATE table_restores SET status = 'RUNNING'");
    assert_eq!(contents(&r.deployment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_being_deleted_is_not_restored() {
    let r = ready("0.0.5").await;
    r.deployment.catalog().exec(&format!(
        "INSERT INTO backup_index (account_id, backup_id, table_name, backup_arn, backup_name, status, store_kind, \
         store_root, owner_generation, heartbeat_at, created_at) VALUES ('{ACCOUNT}', 'b', 'Orders', '{}', 'n', \
         'DELETING', 'filesystem', '/backups', 1, '2026-06-01T10:20:30.123Z', '2026-06-01T10:20:30.123Z')",
        r.plan.source_backup_arn
    ));
    let before = contents(&r.deployment);
    let error = r.backend.stage(r.claim.fence(), &r.plan).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(contents(&r.deployment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_held_is_refused_before_anything_is_made() {
    let r = ready("0.0.4").await;
    let before = contents(&r.deployment);
    let mut plan = r.plan.clone();
    plan.definition.vector_indexes = Some(vec![
        serde_json::from_value(json!({"IndexName": "near", "VectorAttribute": {"AttributeName": "e"}, "Dimensions": 3,
            "DistanceFunction": "COSINE", "IndexStatus": "ACTIVE", "IndexSizeBytes": 0, "ItemCount": 0, "IndexArn": "a"}))
        .unwrap(),
    ]);
    let error = r.backend.stage(r.claim.fence(), &plan).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("near"), "{error}");
    let mut plan = r.plan.clone();
    plan.definition.key_schema = serde_json::from_value(json!([
        {"AttributeName": "customer", "KeyType": "HASH"}, {"AttributeName": "status", "KeyType": "HASH"}]))
    .unwrap();
    assert_eq!(r.backend.stage(r.claim.fence(), &plan).await.unwrap_err().kind(), ErrorKind::Unrepresentable);
    r.deployment.catalog().exec("ALTER TABLE tables DROP COLUMN on_demand_throughput");
    let error = r.backend.stage(r.claim.fence(), &r.plan).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("on_demand_throughput"), "{error}");
    r.deployment.catalog().exec("ALTER TABLE tables ADD COLUMN on_demand_throughput TEXT");
    assert_eq!(contents(&r.deployment).len(), before.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn text_with_nul_comes_back_as_it_went_in() {
    let deployment = deployment("0.0.4");
    let nul = |s: &str| s.replace('.', "\0");
    let table = Table::new("Nul", 9, ("id", "S"), Some(("at", "S")))
        .index("GSI", "by_k", &[("k", "S")], &[("at", "S")], json!({"ProjectionType": "ALL"}))
        .items([
            json!({"id": {"S": nul("a.b")}, "at": {"S": nul(".")}, "k": {"S": nul(".k.")}, "v": {"S": nul("..")}}),
            json!({"id": {"S": nul("a.c")}, "at": {"S": "\u{1}"}, "k": {"S": "\u{1}"}, nul("n."): {"M": {nul("."): {"S": ""}}}}),
            // Equal up to the U+0000: two keys all the same.
            json!({"id": {"S": "a"}, "at": {"S": nul("x.1")}}),
            json!({"id": {"S": "a"}, "at": {"S": nul("x.2")}}),
        ]);
    deployment.add(&table);
    let backend = open(&deployment).await;
    assert!(backend.target_rules().await.unwrap().nul_allowed);
    let info = backend.table(&key("Nul")).await.unwrap();
    let plan = plan_of(&info, "Copy", 1);
    let snapshot = backend.open_snapshot(&[key("Nul")], &OPTIONS).await.unwrap();
    let texts = items(&*snapshot, 0).await;
    assert_eq!(digest(&texts).to_string(), crate::support::digest::digest(&table.items));
    let claim = claimed(&backend, JobKind::Restore, "Copy").await;
    backend.stage(claim.fence(), &plan).await.unwrap();
    load(&backend, claim.fence(), &plan, 0, &texts).await.unwrap();
    assert_eq!(backend.finish_load(claim.fence(), &plan).await.unwrap(), 4);
    backend.publish(claim.fence(), &plan).await.unwrap();
    assert_eq!(rows(&deployment, &plan.definition.table_id), rows(&deployment, &table.id));
    assert_eq!(rows(&deployment, &plan.index_ids[0]), rows(&deployment, &table.indexes[0].id));
    let mut db = deployment.catalog();
    assert_eq!(
        db.one(&format!(
            "SELECT hex(CAST(sk_s AS BLOB)) FROM \"_ddb_{}\" WHERE pk = 'a' ORDER BY sk_s LIMIT 1",
            plan.definition.table_id
        )),
        "780031"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reverse_indexes_are_made_as_the_deployment_has_them() {
    let mut deployment = Deployment::released(Kind::Sqlite, "0.0.4");
    deployment.layout.reverse_index = false;
    deployment.add(&tables::orders());
    let backend = open(&deployment).await;
    let info = backend.table(&key("Orders")).await.unwrap();
    let plan = plan_of(&info, "Copy", 1);
    let claim = claimed(&backend, JobKind::Restore, "Copy").await;
    backend.stage(claim.fence(), &plan).await.unwrap();
    backend.finish_load(claim.fence(), &plan).await.unwrap();
    let index = deployment.catalog().count("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'idx_base_key_%'");
    assert_eq!(index, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_table_gets_the_region_of_the_existing_ones() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    assert_eq!(backend.target_rules().await.unwrap().region.as_deref(), Some("xx-test-1"), "the configuration's");
    deployment.add(&tables::nothing());
    assert_eq!(backend.target_rules().await.unwrap().region.as_deref(), Some("eu-west-1"));
}

/// Loads files one after the other, telling each, until it is killed. Run by the next test in a process of its own.
#[tokio::test(flavor = "multi_thread")]
async fn loads_until_killed() {
    let Ok(url) = std::env::var("LOADS_UNTIL_KILLED") else { return };
    let backend = open_url(url, "one", false).await.unwrap();
    let info = backend.table(&key("Orders")).await.unwrap();
    let plan = plan_of(&info, "Copy", 1);
    let snapshot = backend.open_snapshot(&[key("Orders")], &OPTIONS).await.unwrap();
    let texts = items(&*snapshot, 0).await;
    snapshot.close().await.unwrap();
    let claim = claimed(&backend, JobKind::Restore, "Copy").await;
    backend.stage(claim.fence(), &plan).await.unwrap();
    for (file, part) in (0..).zip(texts.chunks(100)) {
        load(&backend, claim.fence(), &plan, file, part).await.unwrap();
        println!("\nloaded {file} of {}", claim.job());
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_between_files_is_resumed_and_every_item_is_there_once() {
    for shape in ["0.0.4", "0.0.5"] {
        let deployment = deployment(shape);
        deployment.add(&tables::orders());
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["restore::loads_until_killed", "--exact", "--nocapture"])
            .env("LOADS_UNTIL_KILLED", deployment.url())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.map(Result::unwrap).find(|l| l.starts_with("loaded 1 of ")).expect("two files were loaded");
        let id = extenddb_admin::domain::job::JobId(line.rsplit(' ').next().unwrap().to_owned());

        // Alive: the job and the file are its.
        let backend = open_as(&deployment, "two").await;
        let error = backend.claim_job(&id, &writer("two")).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(error.to_string().contains(&format!("process {}", child.id())), "{error}");
        let error = backend.check_target(&key("Free")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "its restore holds the server's lock: {error}");
        child.kill().unwrap();
        child.wait().unwrap();

        let info = backend.table(&key("Orders")).await.unwrap();
        let plan = plan_of(&info, "Copy", 1);
        let claim = backend.claim_job(&id, &writer("two")).await.unwrap();
        assert_eq!(claim.fence().epoch.to_string(), "2");
        let record = backend.job(&id).await.unwrap().unwrap();
        assert_eq!((record.attempt, record.status), (2, JobStatus::Running));
        backend.stage(claim.fence(), &plan).await.unwrap();
        let done = backend.load_progress(claim.fence(), &plan).await.unwrap().files;
        assert!(done.len() >= 2, "{done:?}");
        let snapshot = backend.open_snapshot(&[key("Orders")], &OPTIONS).await.unwrap();
        let texts = items(&*snapshot, 0).await;
        for (file, part) in (0..).zip(texts.chunks(100)).filter(|(f, _)| done.iter().all(|d| d.file_index != *f)) {
            load(&backend, claim.fence(), &plan, file, part).await.unwrap();
        }
        assert_eq!(backend.finish_load(claim.fence(), &plan).await.unwrap(), 300);
        assert_eq!(backend.staged_digest(claim.fence(), &plan).await.unwrap(), digest(&texts));
        assert_eq!(backend.publish(claim.fence(), &plan).await.unwrap(), WriteOutcome::Matched);
        assert_eq!(rows(&deployment, &plan.definition.table_id), rows(&deployment, &tables::orders().id));
    }
}
