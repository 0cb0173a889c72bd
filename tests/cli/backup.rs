//! `backup create|list|describe|verify|delete|promote`.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::deployment::ACCOUNT;
use crate::support::digest::digest;
use crate::support::table::Table;
use crate::support::{Deployment, Kind, Run, on_every_backend, tables};

on_every_backend! {
    a_backup_passes_the_independent_verifier_and_has_the_items_digest,
    all_tables_of_one_run_share_one_snapshot,
    a_table_that_is_not_there_exits_6_and_leaves_nothing,
    a_table_that_is_not_active_is_refused_as_busy,
    a_region_that_no_arn_can_carry_is_refused_by_name,
    of_several_tables_the_good_ones_are_kept_and_the_run_exits_9,
    the_catalogs_row_goes_to_available_at_0_0_5,
    below_0_0_5_the_store_alone_knows_the_backup,
    a_deleted_backup_is_gone_from_store_and_list,
    an_interrupted_deletion_is_finished_by_the_same_command,
    a_prefix_that_nobody_here_owns_is_not_deleted,
    a_legacy_backup_is_listed_promoted_and_deleted,
    the_rows_of_many_backups_take_one_connection,
}

impl Deployment {
    /// Runs `backup …` with this deployment's store.
    pub fn backup(&self, args: &[&str]) -> Run {
        let mut all = vec!["backup"];
        all.extend(args);
        let store = self.store();
        all.extend(["--store", store.to_str().unwrap(), "-o", "json"]);
        self.run(all)
    }

    /// Backs one table up and returns its entry of the report.
    pub fn back_up(&self, table: &str) -> Value {
        self.backup(&["create", table]).succeeds().json()["backups"][0].clone()
    }

    /// The folder of a backup in the store.
    pub fn folder_of(&self, backup: &Value) -> std::path::PathBuf {
        let part = |name: &str| backup[name].as_str().unwrap().to_owned();
        self.store().join(part("account_id")).join(part("table")).join(part("id"))
    }

    /// Jobs that have not ended.
    pub fn open_jobs(&self) -> Vec<Value> {
        let jobs = self.run(["job", "list", "-o", "json"]).succeeds().json()["jobs"].as_array().unwrap().clone();
        let open = |job: &Value| !matches!(job["status"].as_str(), Some("succeeded" | "failed" | "cancelled"));
        jobs.into_iter().filter(open).collect()
    }
}

/// Reads a backup with the contract's own verifier; panics with what it says.
pub fn independently_verified(folder: &std::path::Path) -> String {
    let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/check_backup.py");
    let output = Command::new("python3").arg(tool).arg(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", folder.display());
    text
}

fn with(kind: Kind, shape: &str, tables: &[Table]) -> Deployment {
    let deployment = Deployment::released(kind, shape);
    for table in tables {
        deployment.add(table);
    }
    deployment
}

fn a_backup_passes_the_independent_verifier_and_has_the_items_digest(kind: Kind) {
    let all = tables::every_table();
    let deployment = with(kind, "0.0.4", &all);
    for table in &all {
        let backup = deployment.back_up(&table.name);
        assert_eq!(backup["digest"], json!(digest(&table.items)), "{}", table.name);
        assert_eq!(backup["item_count"], json!(table.items.len()));
        assert_eq!((&backup["status"], &backup["account_id"]), (&json!("AVAILABLE"), &json!(ACCOUNT)));
        independently_verified(&deployment.folder_of(&backup));
    }
    assert!(deployment.open_jobs().is_empty());
}

fn all_tables_of_one_run_share_one_snapshot(kind: Kind) {
    let all = tables::every_table();
    let deployment = with(kind, "0.0.4", &all);
    let report = deployment.backup(&["create", "--all"]).succeeds().json();
    let backups = report["backups"].as_array().unwrap();
    assert_eq!(backups.len(), all.len());
    let marker = &backups[0]["snapshot"]["marker"];
    assert_ne!(marker, "");
    assert!(backups.iter().all(|b| b["snapshot"]["marker"] == *marker && b["snapshot"]["tables"] == json!(all.len())));
    for backup in backups {
        independently_verified(&deployment.folder_of(backup));
    }
    let described = deployment.backup(&["describe", backups[0]["arn"].as_str().unwrap()]).succeeds().json();
    assert_eq!(described["same_snapshot"].as_array().unwrap().len(), all.len() - 1);
    assert_eq!(described["digest"], backups[0]["digest"]);
}

fn a_table_that_is_not_there_exits_6_and_leaves_nothing(kind: Kind) {
    let deployment = with(kind, "0.0.4", &[tables::orders()]);
    let run = deployment.backup(&["create", "Nowhere"]).exits(6);
    assert_eq!(run.error()["error"]["code"], "NOT_FOUND");
    assert!(run.error()["error"]["message"].as_str().unwrap().contains("Nowhere"));
    assert_eq!(std::fs::read_dir(deployment.store()).unwrap().count(), 0);
}

fn a_table_that_is_not_active_is_refused_as_busy(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    deployment.catalog().exec("UPDATE tables SET table_status = 'UPDATING'");
    deployment.backup(&["create", &table.name]).exits(5).says("UPDATING");
    assert_eq!(std::fs::read_dir(deployment.store()).unwrap().count(), 0);
}

fn a_region_that_no_arn_can_carry_is_refused_by_name(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let arn = format!("arn:aws:dynamodb:Mars_1:{ACCOUNT}:table/{}", table.name);
    deployment.catalog().exec(&format!("UPDATE tables SET table_arn = '{arn}'"));
    deployment.backup(&["create", &table.name]).exits(2).says("Mars_1");
}

fn of_several_tables_the_good_ones_are_kept_and_the_run_exits_9(kind: Kind) {
    let deployment = with(kind, "0.0.4", &[tables::orders(), tables::ledger()]);
    let (good, bad) = (tables::orders().name, tables::ledger().name);
    deployment.catalog().exec(&format!("UPDATE tables SET table_status = 'CREATING' WHERE table_name = '{bad}'"));
    let report = deployment.backup(&["create", "--all"]).exits(9).json();
    assert_eq!(report["backups"][0]["table"], json!(good));
    assert_eq!((&report["failed"][0]["table"], &report["failed"][0]["code"]), (&json!(bad), &json!("BUSY")));
}

fn the_catalogs_row_goes_to_available_at_0_0_5(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.5", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let mut catalog = deployment.catalog();
    assert_eq!(catalog.one("SELECT status FROM backup_index"), "AVAILABLE");
    assert_eq!(json!(catalog.one("SELECT backup_arn FROM backup_index")), backup["arn"]);
    let listed = deployment.backup(&["list"]).succeeds().json();
    assert_eq!(listed["backups"][0]["source"], json!("both"));
    assert!(listed["backups"][0].get("disagreement").is_none(), "{listed}");
}

fn below_0_0_5_the_store_alone_knows_the_backup(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.2", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let listed = deployment.backup(&["list", "--table", &table.name]).succeeds().json();
    assert_eq!(listed["backups"][0]["arn"], backup["arn"]);
    assert_eq!(listed["backups"][0]["source"], json!("store"));
    assert!(
        deployment.backup(&["list", "--since", "2100-01-01T00:00:00Z"]).succeeds().json()["backups"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

fn a_deleted_backup_is_gone_from_store_and_list(kind: Kind) {
    for shape in ["0.0.4", "0.0.5"] {
        let table = tables::orders();
        let deployment = with(kind, shape, std::slice::from_ref(&table));
        let backup = deployment.back_up(&table.name);
        let id = backup["id"].as_str().unwrap();
        deployment.backup(&["delete", id]).exits(2).says("--yes");
        let report = deployment.backup(&["delete", id, "--yes"]).succeeds().json();
        assert_eq!(report["deleted"][0]["id"], json!(id));
        assert!(!deployment.folder_of(&backup).exists(), "{shape}");
        assert_eq!(deployment.backup(&["list"]).succeeds().json()["backups"], json!([]));
        deployment.backup(&["delete", id, "--yes"]).exits(6);
        if shape == "0.0.5" {
            let all = deployment.backup(&["list", "--status", "all"]).succeeds().json();
            assert_eq!(all["backups"][0]["status"], json!("DELETED"));
        }
    }
}

fn an_interrupted_deletion_is_finished_by_the_same_command(kind: Kind) {
    for shape in ["0.0.4", "0.0.5"] {
        let table = tables::orders();
        let deployment = with(kind, shape, std::slice::from_ref(&table));
        let backup = deployment.back_up(&table.name);
        // As a kill between the commit record and the rest leaves it.
        std::fs::remove_file(deployment.folder_of(&backup).join("extenddb-manifest.json")).unwrap();
        if shape == "0.0.5" {
            deployment.catalog().exec("UPDATE backup_index SET status = 'DELETING'");
        }
        let id = backup["id"].as_str().unwrap();
        deployment.backup(&["verify", id]).exits(3);
        deployment.backup(&["delete", id, "--yes"]).succeeds();
        assert!(!deployment.folder_of(&backup).exists(), "{shape}");
    }
}

fn a_prefix_that_nobody_here_owns_is_not_deleted(kind: Kind) {
    let table = tables::orders();
    let (owner, other) =
        (with(kind, "0.0.4", std::slice::from_ref(&table)), with(kind, "0.0.4", std::slice::from_ref(&table)));
    let backup = owner.back_up(&table.name);
    std::fs::remove_file(owner.folder_of(&backup).join("extenddb-manifest.json")).unwrap();
    let store = owner.store();
    let id = backup["id"].as_str().unwrap();
    let run = other.run(["backup", "delete", id, "--yes", "--store", store.to_str().unwrap()]);
    run.exits(6).says("no commit record");
    assert!(owner.folder_of(&backup).join("data").exists());
}

fn the_rows_of_many_backups_take_one_connection(kind: Kind) {
    let many: Vec<Table> = (0..40).map(|i| Table::new(&format!("Many-{i:02}"), 100 + i, ("pk", "S"), None)).collect();
    let deployment = with(kind, "0.0.5", &many);
    let report = deployment.backup(&["create", "--all", "--jobs", "2"]).succeeds().json();
    assert_eq!(report["backups"].as_array().unwrap().len(), many.len());
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM backup_index WHERE status = 'AVAILABLE'"), 40);
}

/// A server that holds the file: a backup goes beside it, and says that it wrote no row; a restore does not begin.
#[test]
fn beside_a_sqlite_server_a_backup_writes_no_row_and_a_restore_is_busy() {
    let table = tables::orders();
    let deployment = with(Kind::Sqlite, "0.0.5", std::slice::from_ref(&table));
    let lock = format!("{}.lock", deployment.sqlite_path().canonicalize().unwrap().display());
    let lock = std::fs::File::create(lock).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let run = deployment.backup(&["create", &table.name]).succeeds().says("no catalog row");
    let backup = run.json()["backups"][0].clone();
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM backup_index"), 0);
    deployment.backup(&["restore", backup["id"].as_str().unwrap(), "--as", "Again"]).exits(5);
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM tables"), 1);
    drop(lock);
    deployment.backup(&["restore", backup["id"].as_str().unwrap(), "--as", "Again"]).succeeds();
}

fn a_legacy_backup_is_listed_promoted_and_deleted(kind: Kind) {
    let table = tables::everything();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let arn = deployment.add_legacy_backup(&table, "old", "01780387200250-0a0b0c0d");
    let listed = deployment.backup(&["list"]).succeeds().json();
    assert_eq!((&listed["backups"][0]["arn"], &listed["backups"][0]["source"]), (&json!(arn), &json!("legacy")));
    let promoted = deployment.backup(&["promote", &arn]).succeeds().json()["backups"][0].clone();
    assert_eq!((&promoted["arn"], &promoted["name"]), (&json!(arn), &json!("old")));
    assert_eq!(promoted["digest"], json!(digest(&table.items)));
    independently_verified(&deployment.folder_of(&promoted));
    deployment.backup(&["promote", &arn]).exits(7);
    deployment.run(["backup", "delete", &arn, "--yes"]).succeeds();
    let listed = deployment.backup(&["list"]).succeeds().json();
    assert_eq!((listed["backups"].as_array().unwrap().len(), &listed["backups"][0]["source"]), (1, &json!("store")));
}
