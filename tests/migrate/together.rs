//! Two at once, and the server's own lock.

use std::process::Stdio;

use crate::support::run::{describe, finish};
use crate::support::{Deployment, Kind, on_every_backend};
use crate::{assert_newest, everything};

/// Pairs that run at once; the nightly run may ask for more.
fn pairs() -> usize {
    std::env::var("EXTENDDB_TEST_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3)
}

fn two_at_once_end_as_one(kind: Kind) {
    for _ in 0..pairs() {
        let deployment = Deployment::released(kind, "0.0.3");
        let start = |wait: &str| {
            let mut command = deployment.command(["migrate", "--yes", "-o", "json", "--lock-timeout", wait]);
            command.stdin(Stdio::null());
            (command.spawn().unwrap(), describe(&command))
        };
        let (one, two) = (start("60s"), start("60s"));
        let runs = [finish(one.0, one.1).succeeds(), finish(two.0, two.1).succeeds()];
        let applied: usize = runs
            .iter()
            .map(|r| r.json()["applied"].as_array().unwrap().iter().filter(|a| a["lineage"] == "catalog").count())
            .sum();
        assert_eq!(applied, 2, "each version is applied by one of them");
        assert_newest(&deployment);
    }
}

fn a_held_lock_is_named_and_nothing_is_touched(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let before = everything(&deployment);
    match kind {
        Kind::Sqlite => {
            let lock = std::fs::File::create(deployment.dir().join("extenddb.sqlite.lock")).unwrap();
            lock.lock().unwrap();
            deployment.run(["migrate", "--yes", "--lock-timeout", "300ms"]).exits(5).says("process");
            drop(lock);
        }
        Kind::Postgres => {
            let mut server = deployment.catalog();
            server.exec("BEGIN; SELECT pg_advisory_xact_lock(4539458, 1)"); // as the server's own migrate
            deployment.run(["migrate", "--yes", "--allow-live", "--lock-timeout", "300ms"]).exits(5).says("a test");
            drop(server);
        }
    }
    assert_eq!(everything(&deployment), before);
    deployment.run(["migrate", "--yes"]).succeeds();
}

on_every_backend!(two_at_once_end_as_one, a_held_lock_is_named_and_nothing_is_touched);
