//! Bringing a drifted catalog back, and taking over one that somebody else migrated.

use crate::support::rows::Census;
use crate::support::{Deployment, Kind, on_every_backend};
use crate::{everything, status, up};

fn missing_indexes_and_columns_are_put_back(kind: Kind) {
    for shape in ["0.0.3", "0.0.5"] {
        let deployment = Deployment::released(kind, shape);
        deployment.add_rows_everywhere();
        let golden = status(&deployment, "catalog")["fingerprint"].clone();
        deployment.catalog().exec("DROP INDEX idx_backups_table; ALTER TABLE tables DROP COLUMN stream_label");
        deployment.catalog().exec("DROP TABLE metrics");
        let rows = Census::take(&mut deployment.catalog(), &["schema_history", "extenddb_admin_migrations"]);
        deployment.run(["migrate", "verify"]).exits(3);
        let plan = deployment.run(["migrate", "repair", "--dry-run", "-o", "json"]).succeeds().json();
        let objects: Vec<_> = plan["steps"].as_array().unwrap().iter().map(|s| s["object"].clone()).collect();
        assert!(objects.iter().any(|o| o == "column tables.stream_label"), "{plan}");
        deployment.run(["migrate", "repair", "--yes"]).succeeds();
        assert_eq!(status(&deployment, "catalog")["fingerprint"], golden, "{shape}");
        deployment.run(["migrate", "verify"]).succeeds();
        rows.assert_kept(&mut deployment.catalog());
        let again = deployment.run(["migrate", "repair", "--yes", "-o", "json"]).succeeds().json();
        assert_eq!(again["repaired"].as_array().unwrap().len(), 0);
    }
}

fn what_could_lose_data_is_refused_by_name(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DROP INDEX idx_backups_table; DROP TABLE iam_role_tags");
    let before = everything(&deployment);
    deployment.run(["migrate", "repair", "--yes"]).exits(3).says("iam_role_tags");
    assert_eq!(everything(&deployment), before);
}

fn a_released_catalog_is_adopted_and_a_variant_is_not(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let report = deployment.run(["migrate", "adopt", "-o", "json"]).succeeds().json();
    let of_catalog = report["adopted"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|a| a["lineage"] == "catalog")
        .map(|a| a["version"].clone());
    assert_eq!(of_catalog.collect::<Vec<_>>(), ["0.0.2", "0.0.3", "0.0.4"]);
    let again = deployment.run(["migrate", "adopt", "-o", "json"]).succeeds().json();
    assert_eq!(again["adopted"].as_array().unwrap().len(), 0);
    up(&deployment);
    crate::assert_newest(&deployment);
    if kind == Kind::Postgres {
        let variant = Deployment::released(kind, "0.0.4-b");
        let before = everything(&variant);
        variant.run(["migrate", "adopt"]).exits(3).says("variant");
        assert_eq!(everything(&variant), before);
    }
    Deployment::empty(kind).run(["migrate", "adopt"]).exits(4);
}

on_every_backend!(
    missing_indexes_and_columns_are_put_back,
    what_could_lose_data_is_refused_by_name,
    a_released_catalog_is_adopted_and_a_variant_is_not,
);
