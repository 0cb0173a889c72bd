//! What a real server left goes through the whole of it: listed and backed up as it is, upgraded,
//! backed up again, verified, restored beside itself and on another backend.

use serde_json::{Value, json};

use crate::support::digest::digest;
use crate::support::rows::Census;
use crate::support::sample::{ACCOUNT, LEGACY_BACKUP, TABLES, items};
use crate::support::{Deployment, Kind, Run};

fn backup(deployment: &Deployment, of: &Deployment, args: &[&str]) -> Run {
    let mut all = vec!["backup"];
    all.extend(args);
    let store = of.store().display().to_string();
    all.extend(["--store", &store, "-o", "json", "--yes"]);
    deployment.run(all)
}

fn digest_of(deployment: &Deployment, table: &str) -> Value {
    deployment.run(["table", "digest", table, "-o", "json"]).succeeds().json()["digest"].clone()
}

/// Rows of the catalog that a backup or a restore may add to.
const OURS: &[&str] = &["settings", "schema_history", "backup_index", "table_restores", "tables", "indexes"];

#[test]
fn a_real_deployment_is_upgraded_backed_up_and_restored() {
    if !Kind::Postgres.reachable() {
        return;
    }
    let deployment = Deployment::sample();
    let expected = |table: &str| json!(digest(&items(table)));

    // As it is: recognised with its variant, listed, readable.
    let status = deployment.run(["migrate", "status", "-o", "json"]).succeeds().json();
    let catalog = &status["lineages"][0];
    assert_eq!((&catalog["recorded_version"], &catalog["state"]), (&json!("0.0.2"), &json!("behind")), "{catalog:#}");
    let listed = deployment.run(["table", "list", "-o", "json"]).succeeds().json();
    let names: Vec<_> = listed["tables"].as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap()).collect();
    assert_eq!(names, TABLES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (table, _) in TABLES {
        assert_eq!(digest_of(&deployment, table), expected(table), "{table} before the upgrade");
    }
    let first = backup(&deployment, &deployment, &["create", "--all"]).succeeds().json();
    assert_eq!(first["backups"].as_array().unwrap().len(), TABLES.len());

    // Upgraded: every row kept.
    let census = Census::take(&mut deployment.catalog(), OURS);
    let data = Census::take(&mut deployment.data(), &["idempotency_tokens"]);
    deployment.run(["migrate", "up", "--yes"]).succeeds();
    census.assert_kept(&mut deployment.catalog());
    data.assert_kept(&mut deployment.data());
    deployment.run(["check"]).succeeds();

    // Backed up again: the same digests.
    let second = backup(&deployment, &deployment, &["create", "--all"]).succeeds().json();
    for (old, new) in first["backups"].as_array().unwrap().iter().zip(second["backups"].as_array().unwrap()) {
        assert_eq!(old["digest"], new["digest"]);
        assert_eq!(new["digest"], expected(new["table"].as_str().unwrap()));
        assert_eq!(new["account_id"], ACCOUNT);
    }
    let verified = backup(&deployment, &deployment, &["verify", "--all", "--deep"]).succeeds().json();
    assert_eq!(verified["backups"].as_array().unwrap().len(), 2 * TABLES.len());

    // The server's own backup is seen beside ours, and can be brought out.
    let list = backup(&deployment, &deployment, &["list"]).succeeds().json();
    let legacy: Vec<_> = list["backups"].as_array().unwrap().iter().filter(|b| b["source"] == "legacy").collect();
    assert_eq!(legacy.len(), 1);
    assert_eq!((&legacy[0]["arn"], &legacy[0]["item_count"]), (&json!(LEGACY_BACKUP), &json!(16)));
    let promoted = backup(&deployment, &deployment, &["promote", LEGACY_BACKUP]).succeeds().json();
    assert_eq!(promoted["backups"][0]["digest"], expected("Orders"));

    // Restored beside itself, and on SQLite.
    backup(&deployment, &deployment, &["restore", LEGACY_BACKUP, "--as", "Orders-legacy"]).succeeds();
    assert_eq!(digest_of(&deployment, "Orders-legacy"), expected("Orders"));
    let other = Deployment::newest(Kind::Sqlite);
    other.add_account(ACCOUNT, "sample");
    for new in second["backups"].as_array().unwrap() {
        let (id, table) = (new["arn"].as_str().unwrap(), new["table"].as_str().unwrap());
        let name = format!("{table}-restored");
        backup(&deployment, &deployment, &["restore", id, "--as", &name]).succeeds();
        assert_eq!(digest_of(&deployment, &name), expected(table));
        backup(&other, &deployment, &["restore", id, "--as", table]).succeeds();
        assert_eq!(digest_of(&other, table), expected(table), "{table} on SQLite");
    }

    // The index tables that the server filled and the ones that we filled hold the same.
    let mut catalog = deployment.catalog();
    let ids = catalog.rows(
        "SELECT old.index_id, new.index_id FROM indexes old JOIN tables o USING (table_id) \
         JOIN tables r ON r.table_name = o.table_name || '-restored' \
         JOIN indexes new ON new.table_id = r.table_id AND new.index_name = old.index_name",
    );
    assert_eq!(ids.len(), 3);
    for pair in ids {
        let rows = |id: &Option<String>| {
            let mut rows = deployment.data().rows(&format!("SELECT * FROM \"_ddb_{}\"", id.as_ref().unwrap()));
            rows.sort();
            rows
        };
        assert_eq!(rows(&pair[1]), rows(&pair[0]));
    }
}
