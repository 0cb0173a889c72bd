//! `backup restore`, and the jobs it records.

use serde_json::{Value, json};

use crate::support::deployment::ACCOUNT;
use crate::support::digest::digest;
use crate::support::table::Table;
use crate::support::{Deployment, Kind, on_every_backend, seam, tables};

on_every_backend! {
    every_table_comes_back_with_its_digest_and_indexes,
    a_restored_table_is_a_servers_own_at_0_0_5,
    a_target_that_exists_exits_7_and_nothing_is_written,
    a_damaged_backup_is_refused_before_anything_is_written,
    all_problems_of_a_request_are_told_at_once,
    all_tables_come_back_under_a_suffix,
    a_mapped_table_is_restored_from_its_newest_backup,
    a_legacy_backup_is_restored_and_its_spool_removed,
    the_same_idempotency_key_gives_the_same_job,
    a_detached_restore_is_run_later,
    a_queued_job_is_cancelled_and_pins_its_backup_until_then,
    another_request_for_the_same_target_conflicts,
    a_provisioned_table_needs_a_throughput,
    of_two_backups_the_good_one_is_restored_and_the_run_exits_3,
}

impl Deployment {
    fn digest_of(&self, table: &str) -> Value {
        self.run(["table", "digest", table, "-o", "json"]).succeeds().json()["digest"].clone()
    }

    /// Nothing of ours is under way or left over.
    fn is_clean(&self) {
        assert_eq!(self.open_jobs(), Vec::<Value>::new());
        for (name, what) in
            [("fences", "fence_key"), ("load_progress", "file_index"), ("staged_tables", "physical_name")]
        {
            let name = seam::admin_table(self.kind, name);
            assert_eq!(self.data().count(&format!("SELECT count({what}) FROM {name}")), 0, "{name}");
        }
        assert_eq!(std::fs::read_dir(self.dir().join("tmp")).unwrap().count(), 0, "the temporary folder is empty");
    }

    fn physical_tables(&self) -> Vec<String> {
        let mut tables: Vec<_> = self.data().tables().into_iter().filter(|t| t.starts_with("_ddb_")).collect();
        tables.sort();
        tables
    }
}

fn with(kind: Kind, shape: &str, tables: &[Table]) -> Deployment {
    let deployment = Deployment::released(kind, shape);
    for table in tables {
        deployment.add(table);
    }
    deployment
}

fn id(backup: &Value) -> &str {
    backup["id"].as_str().unwrap()
}

fn every_table_comes_back_with_its_digest_and_indexes(kind: Kind) {
    let all = tables::every_table();
    for shape in ["0.0.4", "0.0.2"] {
        let deployment = with(kind, shape, &all);
        for (number, table) in all.iter().enumerate() {
            let backup = deployment.back_up(&table.name);
            let name = format!("restored-{number}");
            let report = deployment.backup(&["restore", id(&backup), "--as", &name]).succeeds().json();
            assert_eq!(report["job"]["status"], "succeeded");
            assert_eq!(report["job"]["tables"], json!({"committed": 1, "triggered": 0, "skipped": 0, "failed": 0}));
            assert_eq!(deployment.digest_of(&name), json!(digest(&table.items)), "{} on {shape}", table.name);
            let described = deployment.run(["table", "describe", &name, "-o", "json"]).succeeds().json();
            let original = deployment.run(["table", "describe", &table.name, "-o", "json"]).succeeds().json();
            for member in [
                "key_schema",
                "attribute_definitions",
                "billing_mode",
                "provisioned_throughput",
                "on_demand_throughput",
                "table_class",
                "sse_specification",
                "global_secondary_indexes",
                "local_secondary_indexes",
            ] {
                let (new, old) = (&described["definition"][member], &original["definition"][member]);
                assert_eq!(new, old, "{member} of {} on {shape}", table.name);
            }
        }
        assert_eq!(deployment.physical_tables().len() % 2, 0, "as many restored as there were");
        deployment.is_clean();
    }
}

fn a_restored_table_is_a_servers_own_at_0_0_5(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.5", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    deployment.backup(&["restore", id(&backup), "--as", "Again"]).succeeds();
    let mut catalog = deployment.catalog();
    assert_eq!(catalog.one("SELECT table_status FROM tables WHERE table_name = 'Again'"), "ACTIVE");
    assert_eq!(catalog.one("SELECT status FROM table_restores"), "DONE");
    assert_eq!(catalog.one("SELECT kind FROM table_restores"), "manifest");
    assert_eq!(deployment.digest_of("Again"), backup["digest"]);
    deployment.is_clean();
}

fn a_target_that_exists_exits_7_and_nothing_is_written(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let before = deployment.physical_tables();
    deployment.backup(&["restore", id(&backup), "--as", &table.name]).exits(7).says(&table.name);
    assert_eq!(deployment.physical_tables(), before);
    assert!(deployment.open_jobs().is_empty());
}

fn a_damaged_backup_is_refused_before_anything_is_written(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.5", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let file = deployment.folder_of(&backup).join("data/000001.json.gz");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let before = deployment.physical_tables();
    let verified = deployment.backup(&["verify", id(&backup)]).exits(3).json();
    assert_eq!(verified["backups"][0]["findings"][0]["category"], "data_file_checksum_mismatch");
    deployment.backup(&["restore", id(&backup), "--as", "Again"]).exits(3).says("data_file_checksum_mismatch");
    assert_eq!(deployment.physical_tables(), before);
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM tables"), 1);
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM table_restores"), 0);
    deployment.is_clean();
}

fn all_problems_of_a_request_are_told_at_once(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    std::fs::remove_file(deployment.folder_of(&backup).join("manifest-summary.json")).unwrap();
    let record = deployment.folder_of(&backup).join("extenddb-manifest.json");
    let text = std::fs::read_to_string(&record).unwrap().replace("\"HASH\"", "\"RANGE\"");
    std::fs::write(record, text).unwrap();
    let run = deployment.backup(&["restore", backup["arn"].as_str().unwrap(), "--as", &table.name]).exits(3);
    let message = run.error()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("exists") && message.contains("manifest_checksum_mismatch"), "{message}");
}

fn all_tables_come_back_under_a_suffix(kind: Kind) {
    let all = [tables::orders(), tables::ledger(), tables::nothing()];
    let deployment = with(kind, "0.0.4", &all);
    deployment.backup(&["create", "--all"]).succeeds();
    let report = deployment.backup(&["restore", "--all", "--suffix", "-restored"]).succeeds().json();
    assert_eq!(report["job"]["tables"]["committed"], 3);
    for table in &all {
        assert_eq!(deployment.digest_of(&format!("{}-restored", table.name)), json!(digest(&table.items)));
    }
    deployment.is_clean();
}

fn a_mapped_table_is_restored_from_its_newest_backup(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    deployment.back_up(&table.name);
    deployment.put(&table, &[json!({"customer": {"S": "new"}, "order": {"S": "o"}})]);
    let second = deployment.back_up(&table.name);
    let map = format!("{}=Mapped", table.name);
    deployment.backup(&["restore", "--map", &map]).succeeds();
    assert_eq!(deployment.digest_of("Mapped"), second["digest"]);
    deployment.backup(&["restore", "--map", "Nowhere=There"]).exits(6);
}

fn a_legacy_backup_is_restored_and_its_spool_removed(kind: Kind) {
    let table = tables::everything();
    for shape in ["0.0.3", "0.0.4", "0.0.5"] {
        let deployment = with(kind, shape, std::slice::from_ref(&table));
        let arn = deployment.add_legacy_backup(&table, "old", "01780387200250-0a0b0c0d");
        let restore = ["backup", "restore", &arn, "--as", "FromLegacy", "-o", "json"];
        deployment.run(restore).succeeds();
        assert_eq!(deployment.digest_of("FromLegacy"), json!(digest(&table.items)), "{shape}");
        deployment.is_clean();
    }
}

fn the_same_idempotency_key_gives_the_same_job(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let restore = |name: &str, mode: &[&str]| {
        let mut args = vec!["restore", id(&backup), "--as", name, "--idempotency-key", "k1"];
        args.extend(mode);
        deployment.backup(&args)
    };
    let first = restore("Once", &[]).succeeds().json();
    let second = restore("Once", &[]).succeeds().json();
    assert_eq!(first["job"]["id"], second["job"]["id"]);
    let other = restore("Once", &["--billing-mode", "provisioned", "--read-capacity", "1", "--write-capacity", "1"]);
    other.exits(7).says(first["job"]["id"].as_str().unwrap());
}

fn a_detached_restore_is_run_later(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let admitted = deployment.backup(&["restore", id(&backup), "--as", "Later", "--detach"]).succeeds().json();
    assert_eq!(admitted["job"]["status"], "queued");
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM tables"), 1);
    deployment.run(["job", "run", "--until-empty"]).succeeds();
    let shown =
        deployment.run(["job", "show", admitted["job"]["id"].as_str().unwrap(), "-o", "json"]).succeeds().json();
    assert_eq!(shown["job"]["status"], "succeeded");
    assert_eq!(deployment.digest_of("Later"), backup["digest"]);
    deployment.is_clean();
}

fn a_queued_job_is_cancelled_and_pins_its_backup_until_then(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let admitted = deployment.backup(&["restore", id(&backup), "--as", "Later", "--detach"]).succeeds().json();
    let job = admitted["job"]["id"].as_str().unwrap();
    deployment.backup(&["delete", id(&backup), "--yes"]).exits(5).says(&format!("job {job}"));
    let cancelled = deployment.run(["job", "cancel", job, "-o", "json"]).succeeds().json();
    assert_eq!(cancelled["job"]["status"], "cancelled");
    deployment.run(["job", "cancel", job]).exits(7);
    deployment.run(["job", "resume", job]).exits(7);
    deployment.backup(&["delete", id(&backup), "--yes"]).succeeds();
    deployment.is_clean();
}

fn another_request_for_the_same_target_conflicts(kind: Kind) {
    let table = tables::orders();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let (first, second) = (deployment.back_up(&table.name), deployment.back_up(&table.name));
    let admitted = deployment.backup(&["restore", id(&first), "--as", "Mine", "--detach"]).succeeds().json();
    let job = admitted["job"]["id"].as_str().unwrap();
    deployment.backup(&["restore", id(&second), "--as", "Mine"]).exits(7).says(&format!("job {job}"));
    // The same request takes the queued job up.
    let run = deployment.backup(&["restore", id(&first), "--as", "Mine"]).succeeds().json();
    assert_eq!(run["job"]["id"], json!(job));
    assert_eq!(deployment.digest_of("Mine"), first["digest"]);
}

fn a_provisioned_table_needs_a_throughput(kind: Kind) {
    let table = tables::ledger();
    let deployment = with(kind, "0.0.4", std::slice::from_ref(&table));
    let backup = deployment.back_up(&table.name);
    let restore = |mode: &[&str]| {
        let mut args = vec!["restore", id(&backup), "--as", "Mode"];
        args.extend(mode);
        deployment.backup(&args)
    };
    restore(&["--billing-mode", "provisioned"]).exits(2).says("--read-capacity");
    restore(&["--billing-mode", "pay-per-request", "--read-capacity", "1", "--write-capacity", "1"]).exits(2);
    restore(&["--billing-mode", "pay-per-request"]).succeeds();
    let described = deployment.run(["table", "describe", "Mode", "-o", "json"]).succeeds().json();
    assert_eq!(described["definition"]["billing_mode"], "PAY_PER_REQUEST");
    assert!(described["definition"].get("provisioned_throughput").is_none_or(Value::is_null), "{described}");
}

fn of_two_backups_the_good_one_is_restored_and_the_run_exits_3(kind: Kind) {
    let (good, bad) = (tables::orders(), tables::ledger());
    let deployment = with(kind, "0.0.4", &[good.clone(), bad.clone()]);
    let (first, second) = (deployment.back_up(&good.name), deployment.back_up(&bad.name));
    let file = deployment.folder_of(&second).join("data/000001.json.gz");
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let run = deployment.backup(&["restore", id(&first), id(&second), "--suffix", "-2"]).exits(3);
    let report = run.json();
    assert_eq!(report["job"]["tables"], json!({"committed": 1, "triggered": 0, "skipped": 0, "failed": 1}));
    assert_eq!(report["job"]["failures"][0]["table"], json!(format!("{}-2", bad.name)));
    assert_eq!(deployment.digest_of(&format!("{}-2", good.name)), first["digest"]);
    assert_eq!(deployment.catalog().count(&format!("SELECT count(*) FROM tables WHERE account_id = '{ACCOUNT}'")), 3);
    deployment.is_clean();
}
