//! Migrations beyond doubt: one suite on every backend.
//!
//! A further backend joins by its line in `on_every_backend!` and its released shapes.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod bodies;
mod crash;
mod down;
mod dump;
mod guards;
mod released;
mod repair;
mod together;

use serde_json::Value;

use support::deployment::NEWEST;
use support::{Db, Deployment};

/// Runs `migrate up` to the newest version and answers its report.
#[track_caller]
fn up(deployment: &Deployment) -> Value {
    deployment.run(["migrate", "up", "--yes", "-o", "json"]).succeeds().json()
}

/// What `migrate status` says of one lineage.
#[track_caller]
fn status(deployment: &Deployment, lineage: &str) -> Value {
    let report = deployment.run(["migrate", "status", "-o", "json"]).succeeds().json();
    let lineages = report["lineages"].as_array().unwrap();
    lineages.iter().find(|l| l["lineage"] == lineage).unwrap_or(&Value::Null).clone()
}

/// Asserts that every lineage is at its newest version with nothing wrong.
#[track_caller]
fn assert_newest(deployment: &Deployment) {
    deployment.run(["check", "--expect", NEWEST]).succeeds();
    deployment.run(["check"]).succeeds();
    assert_eq!(status(deployment, "catalog")["state"], "current");
}

/// A table, its columns, its rows.
type Dumped = (String, Vec<String>, Vec<Vec<Option<String>>>);

/// Every table of the deployment with its columns and rows as text, to see that nothing was touched.
fn everything(deployment: &Deployment) -> Vec<Dumped> {
    let mut all = dump(&mut deployment.catalog());
    if deployment.data_url() != deployment.url() {
        all.extend(dump(&mut deployment.data()));
    }
    all
}

fn dump(db: &mut Db) -> Vec<Dumped> {
    let tables = db.tables();
    let dump_table = |table: String| {
        let columns = db.columns(&table);
        let quoted = table.split('.').map(|part| format!("\"{part}\"")).collect::<Vec<_>>().join(".");
        let mut rows = db.rows(&format!("SELECT * FROM {quoted}"));
        rows.sort();
        (table, columns, rows)
    };
    tables.into_iter().map(dump_table).collect()
}

/// The setting's value, or `-`.
fn setting(deployment: &Deployment, key: &str) -> String {
    let rows = deployment.catalog().rows(&format!("SELECT value FROM settings WHERE key = '{key}'"));
    rows.first().and_then(|r| r[0].clone()).unwrap_or_else(|| "-".to_owned())
}

/// Some numbers below `end`; every one of them when the nightly run asks for all.
fn some_of(end: usize, count: usize) -> Vec<usize> {
    if std::env::var_os("EXTENDDB_TEST_ALL").is_some() {
        return (0..end).collect();
    }
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    let seed = std::env::var("EXTENDDB_TEST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(u64::from(nanos));
    eprintln!("EXTENDDB_TEST_SEED={seed}");
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % end
    };
    (0..count).map(|_| next()).collect()
}
