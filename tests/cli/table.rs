//! `table list|describe|digest`.

use crate::support::deployment::ACCOUNT;
use crate::support::{Deployment, Kind, digest, on_every_backend, tables};

fn list_shows_every_table_in_order(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    assert_eq!(deployment.run(["table", "list", "-o", "json"]).succeeds().json()["tables"], serde_json::json!([]));
    let all = tables::every_table();
    for table in &all {
        deployment.add(table);
    }
    let json = deployment.run(["table", "list", "-o", "json"]).succeeds().json();
    let names: Vec<_> = json["tables"].as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap()).collect();
    let mut expected: Vec<_> = all.iter().map(|t| t.name.as_str()).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let page = deployment.run(["table", "list"]).succeeds();
    assert_eq!(page.stdout.lines().count(), all.len() + 1, "{}", page.stdout);
    let other = deployment.run(["table", "list", "--account", "999999999999", "-o", "json"]).succeeds().json();
    assert_eq!(other["tables"], serde_json::json!([]));
}

fn describe_shows_keys_and_indexes(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.add(&tables::orders());
    let json = deployment.run(["table", "describe", "Orders", "-o", "json"]).succeeds().json();
    assert_eq!(json["account_id"], ACCOUNT);
    assert_eq!(json["definition"]["table_name"], "Orders");
    assert_eq!(json["definition"]["global_secondary_indexes"].as_array().unwrap().len(), 3);
    assert_eq!(json["secondary_indexes"].as_array().unwrap().len(), 4);
    let page = deployment.run(["table", "describe", "Orders"]).succeeds().stdout;
    assert!(page.contains("customer (S) / order (S)") && page.contains("by_customer_total"), "{page}");
}

fn a_table_that_is_not_there_exits_6(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    for verb in ["describe", "digest"] {
        deployment.run(["table", verb, "Nope"]).exits(6).says("Nope").says("table list");
    }
}

fn a_name_of_two_accounts_exits_2_and_lists_them(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let table = tables::nothing();
    deployment.add(&table);
    deployment.add_account("222222222222", "other");
    let mut other = table.clone();
    other.account = "222222222222".into();
    for id in std::iter::once(&mut other.id).chain(other.indexes.iter_mut().map(|index| &mut index.id)) {
        id.replace_range(..8, "a0b0c0d0");
    }
    deployment.add(&other);
    deployment.run(["table", "describe", &table.name]).exits(2).says(ACCOUNT).says("222222222222").says("--account");
    let args = ["table", "describe", &table.name, "--account", "222222222222", "-o", "json"];
    assert_eq!(deployment.run(args).succeeds().json()["account_id"], "222222222222");
}

fn the_digest_is_that_of_the_items(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    for table in tables::every_table() {
        deployment.add(&table);
        for jobs in ["1", "3"] {
            let json = deployment.run(["table", "digest", &table.name, "--jobs", jobs, "-o", "json"]).succeeds().json();
            assert_eq!(json["table"], table.name.as_str());
            assert_eq!(json["item_count"], table.items.len());
            assert_eq!(json["digest"], digest::digest(&table.items), "{}", table.name);
        }
    }
}

fn a_reading_command_leaves_no_trace(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.add(&tables::orders());
    let before = deployment.catalog().tables();
    deployment.run(["table", "digest", "Orders"]).succeeds();
    assert_eq!(deployment.catalog().tables(), before);
}

on_every_backend!(
    list_shows_every_table_in_order,
    describe_shows_keys_and_indexes,
    a_table_that_is_not_there_exits_6,
    a_name_of_two_accounts_exits_2_and_lists_them,
    the_digest_is_that_of_the_items,
    a_reading_command_leaves_no_trace,
);
