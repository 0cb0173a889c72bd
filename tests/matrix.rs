//! Restore of every source into every target: the same items give the same digest, and what a target cannot hold is
//! refused before anything is written.

#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};

use support::digest::digest;
use support::table::Table;
use support::{Deployment, Kind, Run, on_every_backend, tables};

on_every_backend! {
    every_table_of_every_other_backend_comes_back_the_same,
    a_table_goes_there_and_back_again,
}

const KINDS: [Kind; 2] = [Kind::Sqlite, Kind::Postgres];

/// Runs `backup …` on a deployment with somebody else's store.
fn backup(deployment: &Deployment, store: &Deployment, args: &[&str]) -> Run {
    let folder = store.store();
    let mut all = vec!["backup"];
    all.extend(args);
    all.extend(["--store", folder.to_str().unwrap(), "-o", "json"]);
    deployment.run(all)
}

fn digest_of(deployment: &Deployment, table: &str) -> Value {
    deployment.run(["table", "digest", table, "-o", "json"]).succeeds().json()["digest"].clone()
}

fn every_table_of_every_other_backend_comes_back_the_same(target: Kind) {
    let all = tables::every_table();
    let to = Deployment::released(target, "0.0.4");
    for source in KINDS.into_iter().filter(|kind| kind.reachable()) {
        let from = Deployment::released(source, "0.0.3");
        for table in &all {
            from.add(table);
        }
        backup(&from, &from, &["create", "--all"]).succeeds();
        let suffix = format!("-{}", source.name());
        let report = backup(&to, &from, &["restore", "--all", "--suffix", &suffix]).succeeds().json();
        assert_eq!(report["job"]["tables"]["committed"], json!(all.len()));
        for table in &all {
            assert_eq!(
                digest_of(&to, &format!("{}{suffix}", table.name)),
                json!(digest(&table.items)),
                "{}",
                table.name
            );
        }
    }
}

fn a_table_goes_there_and_back_again(target: Kind) {
    let table = tables::everything();
    for source in KINDS.into_iter().filter(|kind| kind.reachable() && *kind != target) {
        let (home, abroad) = (Deployment::released(source, "0.0.4"), Deployment::released(target, "0.0.4"));
        home.add(&table);
        let out = backup(&home, &home, &["create", &table.name]).succeeds().json()["backups"][0].clone();
        backup(&abroad, &home, &["restore", out["id"].as_str().unwrap(), "--as", "Abroad"]).succeeds();
        let back = backup(&abroad, &home, &["create", "Abroad"]).succeeds().json()["backups"][0].clone();
        assert_eq!(back["digest"], out["digest"]);
        backup(&home, &home, &["restore", back["id"].as_str().unwrap(), "--as", "Home"]).succeeds();
        assert_eq!(digest_of(&home, "Home"), json!(digest(&table.items)));
    }
}

/// U+0000 is fine on SQLite; PostgreSQL holds it only where the data are escaped.
#[test]
fn u0000_is_refused_by_a_postgresql_target_that_does_not_escape_naming_the_item() {
    if !Kind::Postgres.reachable() {
        return;
    }
    let table = Table::new("Nul", 9, ("pk", "S"), None).items([
        json!({"pk": {"S": "fine"}, "s": {"S": "text"}}),
        json!({"pk": {"S": "the one"}, "s": {"S": "a\u{0}b"}}),
    ]);
    let home = Deployment::released(Kind::Sqlite, "0.0.4");
    home.add(&table);
    let made = backup(&home, &home, &["create", &table.name]).succeeds().json()["backups"][0].clone();
    let id = made["id"].as_str().unwrap();
    let abroad = Deployment::released(Kind::Postgres, "0.0.4");
    let before = abroad.data().tables();
    let run = backup(&abroad, &home, &["restore", id, "--as", "Abroad"]).exits(3);
    let message = run.error()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("U+0000") && message.contains("the one"), "{message}");
    assert_eq!(run.error()["error"]["code"], "TARGET_CANNOT_REPRESENT");
    let after: Vec<_> = abroad.data().tables().into_iter().filter(|t| !t.contains("admin")).collect();
    assert_eq!(after, before.into_iter().filter(|t| !t.contains("admin")).collect::<Vec<_>>());
    assert_eq!(abroad.catalog().count("SELECT count(*) FROM tables"), 0);
    // At home it comes back as it was.
    backup(&home, &home, &["restore", id, "--as", "Home"]).succeeds();
    assert_eq!(digest_of(&home, "Home"), json!(digest(&table.items)));
}
