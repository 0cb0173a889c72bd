//! Backups and restores killed with SIGKILL at any moment, then run again: done once, nothing left over.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::digest::digest;
use support::table::Table;
use support::{Deployment, Kind, on_every_backend};

on_every_backend! {
    a_killed_backup_is_swept_by_the_same_command_and_taken_anew,
    a_killed_restore_is_finished_by_the_same_command,
    an_interrupted_backup_is_undone_and_says_so,
    an_interrupted_restore_says_how_to_resume_it,
}

/// Kills for each deployment; the nightly run may ask for more.
fn rounds() -> u64 {
    std::env::var("EXTENDDB_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

/// A number that differs from run to run and is printed, so that a failure can be told.
fn seed() -> u64 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();
    std::env::var("EXTENDDB_TEST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(u64::from(nanos))
}

/// The next number of a sequence (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn table() -> Table {
    let mut table = Table::new("Busy", 77, ("pk", "S"), Some(("sk", "N")));
    table = table.items((0..6000).map(|i| {
        json!({
            "pk": {"S": format!("p{}", i % 100)}, "sk": {"N": i.to_string()}, "g": {"S": format!("g{}", i % 7)},
            "text": {"S": format!("{i:0>400}")},
        })
    }));
    table.index("GSI", "ByG", &[("g", "S")], &[("sk", "N")], json!({"ProjectionType": "ALL"}))
}

fn signal(child: &std::process::Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn args(deployment: &Deployment, args: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = std::iter::once("backup").chain(args.iter().copied()).map(str::to_owned).collect();
    all.extend(["--store".to_owned(), deployment.store().display().to_string(), "-o".to_owned(), "json".to_owned()]);
    all
}

fn open_jobs(deployment: &Deployment) -> Vec<Value> {
    let jobs = deployment.run(["job", "list", "-o", "json"]).succeeds().json()["jobs"].as_array().unwrap().clone();
    let open = |job: &Value| !matches!(job["status"].as_str(), Some("succeeded" | "failed" | "cancelled"));
    jobs.into_iter().filter(open).collect()
}

/// Every file below a folder, relative to it.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            found.extend(files(&path).into_iter().map(|f| format!("{name}/{f}")));
        } else {
            found.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    found
}

/// Physical tables of the data database that no test made.
fn physical_tables(deployment: &Deployment) -> Vec<String> {
    let mut tables: Vec<String> =
        deployment.data().tables().into_iter().filter(|name| name.starts_with("_ddb_")).collect();
    tables.sort();
    tables
}

fn nothing_is_left_over(deployment: &Deployment) {
    assert_eq!(open_jobs(deployment), Vec::<Value>::new());
    let temporary: Vec<_> = files(&deployment.store()).into_iter().filter(|f| f.contains(".tmp")).collect();
    assert!(temporary.is_empty(), "{temporary:?}");
    let spooled = files(&deployment.dir().join("tmp"));
    assert!(spooled.is_empty(), "{spooled:?}");
    for (name, what) in [("fences", "fence_key"), ("load_progress", "file_index"), ("staged_tables", "physical_name")] {
        let name = support::seam::admin_table(deployment.kind, name);
        assert_eq!(deployment.data().count(&format!("SELECT count({what}) FROM {name}")), 0, "{name}");
    }
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM tables WHERE table_status <> 'ACTIVE'"), 0);
}

fn a_killed_backup_is_swept_by_the_same_command_and_taken_anew(kind: Kind) {
    let mut state = seed();
    eprintln!("seed {state}");
    let table = table();
    for shape in ["0.0.4", "0.0.5"] {
        let deployment = Deployment::released(kind, shape);
        deployment.add(&table);
        for round in 0..rounds() / 2 {
            let mut child = deployment
                .command(args(&deployment, &["create", &table.name, "--rate-limit", "2MiB/s"]))
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(next(&mut state) % 1500));
            child.kill().unwrap();
            child.wait().unwrap();
            let run = deployment.run(args(&deployment, &["create", &table.name])).succeeds();
            assert_eq!(run.json()["backups"][0]["digest"], json!(digest(&table.items)), "round {round}");
            assert_eq!(open_jobs(&deployment), Vec::<Value>::new(), "round {round}");
            let left = files(&deployment.store());
            // Each prefix that has anything has everything: a kill after the commit record leaves a backup.
            let prefix =
                |file: &String| file.rsplitn(2, "/data/").last().unwrap().rsplit_once('/').map(|(p, _)| p.to_owned());
            let committed: Vec<_> = left.iter().filter(|f| f.ends_with("extenddb-manifest.json")).collect();
            assert!(!committed.is_empty() && left.iter().all(|f| !f.contains(".tmp")), "{left:?}");
            for file in left.iter().filter(|f| f.contains('/') && !f.contains("/data/")) {
                let dir = prefix(file).unwrap();
                assert!(committed.iter().any(|c| c.starts_with(&dir)), "{file} has no commit record: {left:?}");
            }
            if shape == "0.0.5" {
                let creating = "SELECT count(*) FROM backup_index WHERE status = 'CREATING'";
                assert_eq!(deployment.catalog().count(creating), 0, "round {round}");
            }
        }
    }
}

fn a_killed_restore_is_finished_by_the_same_command(kind: Kind) {
    let mut state = seed();
    eprintln!("seed {state}");
    let table = table();
    for shape in ["0.0.4", "0.0.5"] {
        let deployment = Deployment::released(kind, shape);
        deployment.add(&table);
        let backup = deployment.run(args(&deployment, &["create", &table.name, "--jobs", "4"])).succeeds().json();
        let id = backup["backups"][0]["id"].as_str().unwrap().to_owned();
        // How long a whole run takes here, so that kills fall into all of it.
        let begun = Instant::now();
        deployment.run(args(&deployment, &["restore", &id, "--as", "First"])).succeeds();
        let whole = u64::try_from(begun.elapsed().as_millis()).unwrap();
        for round in 0..rounds() / 2 {
            let before = physical_tables(&deployment).len();
            let name = format!("Restored-{round}");
            let restore = args(&deployment, &["restore", &id, "--as", &name]);
            // Killed twice, so that a resumed run is killed as well.
            for _ in 0..2 {
                let mut child = deployment.command(restore.clone()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(next(&mut state) % (whole + 1)));
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let last = deployment.run(restore.clone());
            // A run that was killed after its very end has nothing left to resume: the table is there.
            if last.code == Some(7) {
                assert!(last.stderr.contains(&name), "{last:?}");
            } else {
                assert_eq!(last.succeeds().json()["job"]["status"], "succeeded", "round {round}");
            }
            let digested = deployment.run(["table", "digest", &name, "-o", "json"]).succeeds().json();
            assert_eq!(digested["digest"], json!(digest(&table.items)), "round {round}");
            assert_eq!(physical_tables(&deployment).len(), before + 2, "round {round}: one table and one index");
            nothing_is_left_over(&deployment);
        }
    }
}

fn an_interrupted_backup_is_undone_and_says_so(kind: Kind) {
    let table = table();
    let deployment = Deployment::newest(kind);
    deployment.add(&table);
    let mut command = deployment.command(args(&deployment, &["create", &table.name, "--rate-limit", "500KiB/s"]));
    command.args(["--progress", "json"]);
    let child = command.spawn().unwrap();
    wait_for(|| files(&deployment.store()).iter().any(|f| f.contains("data/")));
    signal(&child, "-INT");
    let run = support::run::finish(child, support::run::describe(&command));
    let run = run.exits(130);
    assert_eq!(run.error()["error"]["code"], "INTERRUPTED");
    assert_eq!(files(&deployment.store()), ["extenddb-store.json"]);
    assert_eq!(deployment.catalog().one("SELECT status FROM backup_index"), "FAILED");
    assert_eq!(open_jobs(&deployment), Vec::<Value>::new());
}

fn an_interrupted_restore_says_how_to_resume_it(kind: Kind) {
    let table = table();
    let deployment = Deployment::newest(kind);
    deployment.add(&table);
    let backup = deployment.run(args(&deployment, &["create", &table.name])).succeeds().json();
    let id = backup["backups"][0]["id"].as_str().unwrap().to_owned();
    let restore = args(&deployment, &["restore", &id, "--as", "Again"]);
    let child = deployment.command(restore.clone()).spawn().unwrap();
    let staged = support::seam::admin_table(kind, "staged_tables");
    let exists = |d: &Deployment| d.data().try_exec(&format!("SELECT 1 FROM {staged}")).is_ok();
    wait_for(|| exists(&deployment) && deployment.data().count(&format!("SELECT count(*) FROM {staged}")) > 0);
    signal(&child, "-INT");
    let run = support::run::finish(child, "restore".into());
    if run.code == Some(130) {
        let message = run.error()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains("can be resumed by the same command"), "{message}");
        deployment.run(restore).succeeds();
    } else {
        // It was past the point where it can be stopped.
        run.succeeds();
    }
    let digested = deployment.run(["table", "digest", "Again", "-o", "json"]).succeeds().json();
    assert_eq!(digested["digest"], json!(digest(&table.items)));
    nothing_is_left_over(&deployment);
}

fn wait_for(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it did not come to that within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}
