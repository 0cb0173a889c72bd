//! From nothing and from every released shape to the newest version, with every row kept.

use crate::support::deployment::{ACCOUNT, NEWEST, released};
use crate::support::digest::digest;
use crate::support::rows::Census;
use crate::support::{Deployment, Kind, on_every_backend, tables};
use crate::{assert_newest, setting, status, up};

/// What a migration is meant to change: the version, the ledger, and short-lived tokens.
const CHANGED: &[&str] = &["settings", "schema_history", "idempotency_tokens"];

fn an_empty_database_becomes_the_newest_version(kind: Kind) {
    let deployment = Deployment::empty(kind);
    assert_eq!(deployment.run(["check"]).code, Some(3));
    deployment.run(["migrate", "--yes"]).succeeds().says("no account and no administrator");
    assert_newest(&deployment);
    assert_eq!(setting(&deployment, "encryption_key"), "-");
    assert_eq!(setting(&deployment, "control_plane_delay_seconds"), "0.25");
    let id = setting(&deployment, "catalog_id");
    assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'), "catalog_id is a version-4 UUID: {id}");
    let again = up(&deployment);
    assert_eq!(again["applied"].as_array().unwrap().len(), 0);
    assert_eq!(again["version"], NEWEST);
    assert_eq!(again["fingerprint"].as_str().unwrap().len(), 64);
    assert_eq!(setting(&deployment, "catalog_id"), id, "it is written once");
}

fn every_released_catalog_comes_up_with_every_row(kind: Kind) {
    let mut fingerprints = Vec::new();
    for shape in released(kind) {
        let deployment = Deployment::released(kind, shape);
        deployment.add_rows_everywhere();
        let (catalog, data) =
            (Census::take(&mut deployment.catalog(), CHANGED), Census::take(&mut deployment.data(), CHANGED));
        if *shape != NEWEST {
            assert!(catalog.empty_tables().is_empty(), "{shape}: no row in {:?}", catalog.empty_tables());
        }
        let settings = deployment.catalog().rows("SELECT key, value FROM settings WHERE key <> 'catalog_version'");
        let ledger = deployment.catalog().rows("SELECT filename FROM schema_history");

        let report = up(&deployment);
        assert_eq!(report["version"], NEWEST, "{shape}");
        assert_newest(&deployment);
        catalog.assert_kept(&mut deployment.catalog());
        data.assert_kept(&mut deployment.data());
        let now = deployment.catalog().rows("SELECT key, value FROM settings");
        assert!(settings.iter().all(|row| now.contains(row)), "{shape}: settings changed");
        let now = deployment.catalog().rows("SELECT filename FROM schema_history");
        assert!(ledger.iter().all(|row| now.contains(row)), "{shape}: ledger rows are gone");
        fingerprints.push((*shape, report["fingerprint"].clone()));
    }
    // Whether a server's 0.0.4 numbers `backup_items` with AUTOINCREMENT is open: the fixture does not, we do, and
    // both stay as they were. Such a catalog is current (asserted above) with a fingerprint of its own.
    fingerprints.retain(|(shape, _)| kind != Kind::Sqlite || *shape < "0.0.4");
    assert!(fingerprints.iter().all(|f| f.1 == fingerprints[0].1), "paths end differently: {fingerprints:#?}");
}

fn tables_named_by_account_come_up_under_their_ids(kind: Kind) {
    if kind == Kind::Sqlite {
        return; // its tables were always named by id
    }
    for shape in ["0.0.2-a", "0.0.4-a"] {
        let deployment = Deployment::released(kind, shape);
        let tables = [tables::orders(), tables::nothing()];
        tables.iter().for_each(|table| deployment.add(table));
        assert!(deployment.data().tables().iter().any(|t| t.starts_with("_ddb_1")), "the fixture has old names");
        up(&deployment);
        assert_newest(&deployment);
        let left = deployment.data().tables();
        assert!(!left.iter().any(|t| t.starts_with(&format!("_ddb_{ACCOUNT}"))), "{left:?}");
        for table in &tables {
            let found = deployment.run(["table", "digest", &table.name, "-o", "json"]).succeeds().json();
            assert_eq!(found["digest"], digest(&table.items), "{shape} {}", table.name);
        }
        let reverse = "SELECT count(*) FROM pg_indexes WHERE indexname LIKE '\\_ddb\\_%\\_base\\_key\\_idx'";
        assert!(deployment.data().count(reverse) > 0, "the reverse indexes are built");
    }
}

fn each_version_can_be_the_end_of_a_run(kind: Kind) {
    let deployment = Deployment::empty(kind);
    for version in ["0.0.2", "0.0.3", "0.0.4", "0.0.5"] {
        let report = deployment.run(["migrate", "up", "--to", version, "--yes", "-o", "json"]).succeeds().json();
        assert_eq!(report["version"], version);
        assert_eq!(setting(&deployment, "catalog_version"), version);
        deployment.run(["check", "--expect", version]).succeeds();
        let state = status(&deployment, "catalog")["state"].clone();
        assert_eq!(state, if version == NEWEST { "current" } else { "behind" });
    }
    deployment.run(["migrate", "up", "--to", "0.0.3", "--yes"]).exits(2);
    deployment.run(["migrate", "up", "--to", "0.0.9", "--yes"]).exits(2);
}

fn registrations_of_restores_are_filled_in(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut catalog = deployment.catalog();
    for (table, status) in [("Done", "ACTIVE"), ("Running", "CREATING")] {
        catalog.exec(&format!(
            "INSERT INTO tables (account_id, table_name, table_id, table_arn, table_status, key_schema, \
             attribute_definitions) VALUES ('{ACCOUNT}', '{table}', 'id-{table}', 'arn-{table}', '{status}', '[]', '[]'); \
             INSERT INTO table_restores (table_id, source_backup_arn) VALUES ('id-{table}', 'arn-backup')"
        ));
    }
    drop(catalog);
    up(&deployment);
    let rows = deployment.catalog().rows(
        "SELECT r.table_id, r.status, r.kind, r.owner_generation, r.completed_at = t.creation_date_time, \
         CAST(r.heartbeat_at AS text) LIKE '1970-01-01%' FROM table_restores r JOIN tables t ON t.table_id = r.table_id \
         ORDER BY 1",
    );
    let yes = if kind == Kind::Sqlite { "1" } else { "t" };
    let row = |values: [Option<&str>; 6]| values.map(|v| v.map(str::to_owned)).to_vec();
    let expected = [
        row([Some("id-Done"), Some("DONE"), Some("legacy"), Some("0"), Some(yes), Some(yes)]),
        row([Some("id-Running"), Some("RUNNING"), Some("legacy"), Some("0"), None, Some(yes)]),
    ];
    assert_eq!(rows, expected);
}

fn the_way_up_says_before_it_asks_that_the_servers_ledger_is_unknown(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let before = crate::everything(&deployment);
    deployment.run(["migrate"]).exits(2).says("ledger for 0.0.5 is not known");
    deployment.run(["migrate", "--no-input"]).exits(2);
    assert_eq!(crate::everything(&deployment), before);
}

fn an_interrupted_run_of_the_server_is_finished(kind: Kind) {
    if kind == Kind::Sqlite {
        return; // its server's ledger is empty: version and schema are one transaction
    }
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DELETE FROM schema_history WHERE filename = '003_backup_definitions.sql'");
    assert_eq!(status(&deployment, "catalog")["state"], "interrupted");
    up(&deployment);
    assert_newest(&deployment);
    let rows = deployment.catalog().count("SELECT count(*) FROM schema_history WHERE filename LIKE '003_backup%'");
    assert_eq!(rows, 1);
}

fn the_history_says_who_did_what(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.3");
    up(&deployment);
    let history = deployment.run(["migrate", "history", "-o", "json"]).succeeds().json();
    let entries = history["entries"].as_array().unwrap();
    let of_catalog: Vec<_> = entries.iter().filter(|e| e["lineage"] == "catalog").collect();
    assert_eq!(of_catalog.iter().map(|e| &e["version"]).collect::<Vec<_>>(), ["0.0.4", "0.0.5"]);
    for entry in of_catalog {
        assert!(entry["tool_version"].as_str().unwrap().starts_with("extenddb-admin "));
        assert!(entry["applied_by"].as_str().unwrap().contains('@'));
        assert_eq!(entry["body_digest"].as_str().unwrap().len(), 64);
        assert_ne!(entry["fingerprint_before"], entry["fingerprint_after"]);
        assert!(entry["finished_at"].is_string());
    }
}

on_every_backend!(
    an_empty_database_becomes_the_newest_version,
    every_released_catalog_comes_up_with_every_row,
    tables_named_by_account_come_up_under_their_ids,
    each_version_can_be_the_end_of_a_run,
    registrations_of_restores_are_filled_in,
    the_way_up_says_before_it_asks_that_the_servers_ledger_is_unknown,
    an_interrupted_run_of_the_server_is_finished,
    the_history_says_who_did_what,
);
