//! The way back from the newest version.

use crate::support::rows::Census;
use crate::support::{Deployment, Kind, on_every_backend};
use crate::{everything, setting, status, up};

/// A row of the backup index.
fn backup_row(kind: Kind, id: &str, status: &str, root: &str) -> String {
    let time = match kind {
        Kind::Sqlite => "'2026-06-01T10:20:30.000Z'",
        Kind::Postgres => "now()",
    };
    format!(
        "INSERT INTO backup_index (account_id, backup_id, table_name, backup_arn, backup_name, status, store_kind, \
         store_root, owner_generation, heartbeat_at, created_at) VALUES ('123456789012', '{id}', 'Orders', \
         'arn:aws:dynamodb:us-east-1:123456789012:table/Orders/backup/{id}', 'b', '{status}', 'filesystem', '{root}', 1, \
         {time}, {time})"
    )
}

fn down_gives_back_the_exact_earlier_schema_with_every_row(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.add_rows_everywhere();
    deployment.catalog().exec("UPDATE tables SET table_status = 'ACTIVE'"); // no restore is running
    let before = status(&deployment, "catalog")["fingerprint"].clone();
    let rows = Census::take(&mut deployment.catalog(), &[]);
    up(&deployment);
    let report = deployment.run(["migrate", "down", "--yes", "-o", "json"]).succeeds().json();
    assert_eq!((&report["from"], &report["version"]), (&"0.0.5".into(), &"0.0.4".into()));
    assert_eq!(report["fingerprint"], before);
    assert_eq!(status(&deployment, "catalog")["fingerprint"], before);
    assert_eq!(setting(&deployment, "catalog_id"), "-");
    rows.assert_kept(&mut deployment.catalog());
    up(&deployment);
    crate::assert_newest(&deployment);
}

fn down_is_refused_while_something_runs(kind: Kind) {
    let deployment = Deployment::newest(kind);
    for status in ["CREATING", "DELETING"] {
        deployment.catalog().exec(&backup_row(kind, "01767229200123-0a0b0c01", status, "/nowhere"));
        let before = everything(&deployment);
        deployment.run(["migrate", "down", "--yes"]).exits(5).says("01767229200123-0a0b0c01");
        assert_eq!(everything(&deployment), before);
        deployment.catalog().exec("DELETE FROM backup_index");
    }
}

fn down_is_refused_for_a_backup_that_only_the_catalog_knows(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let empty = deployment.dir().join("elsewhere");
    std::fs::create_dir(&empty).unwrap();
    deployment.catalog().exec(&backup_row(kind, "01767229200123-0a0b0c01", "AVAILABLE", &empty.display().to_string()));
    let before = everything(&deployment);
    deployment.run(["migrate", "down", "--yes"]).exits(5).says("01767229200123-0a0b0c01");
    assert_eq!(everything(&deployment), before);
}

fn down_lists_what_is_lost_before_it_asks(kind: Kind) {
    let deployment = Deployment::newest(kind);
    deployment.catalog().exec(&backup_row(kind, "01767229200123-0a0b0c01", "DELETED", "/nowhere"));
    deployment.catalog().exec(&backup_row(kind, "01767229200123-0a0b0c02", "FAILED", "/nowhere"));
    let run = deployment.run(["migrate", "down", "--no-input"]).exits(2);
    assert!(run.stderr.contains("0a0b0c01") && run.stderr.contains("0a0b0c02"), "{}", run.stderr);
    deployment.run(["migrate", "down", "--yes"]).succeeds();
}

fn there_is_no_way_back_further_than_that(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let before = everything(&deployment);
    deployment.run(["migrate", "down", "--yes"]).exits(4).says("no way back from 0.0.4");
    assert_eq!(everything(&deployment), before);
}

on_every_backend!(
    down_gives_back_the_exact_earlier_schema_with_every_row,
    down_is_refused_while_something_runs,
    down_is_refused_for_a_backup_that_only_the_catalog_knows,
    down_lists_what_is_lost_before_it_asks,
    there_is_no_way_back_further_than_that,
);
