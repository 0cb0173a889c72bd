//! Killed or cut off anywhere, and run again: the same end, the same rows.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use extenddb_admin::backend::ledger::{MigrationSession, SessionOptions};
use extenddb_admin::backend::{Error, ErrorKind, Result};
use extenddb_admin::domain::applied::{NewEntry, StepRun};
use extenddb_admin::domain::migration::{Place, Step};
use extenddb_admin::domain::recorded::Introspection;
use extenddb_admin::domain::schema::Lineage;
use extenddb_admin::ops::cancel::Cancel;
use extenddb_admin::ops::migrate::apply::Run;
use extenddb_admin::ops::migrate::up::{UpOptions, UpReport, up_in};
use extenddb_admin::ops::observer::Silent;

use crate::support::rows::Census;
use crate::support::{Deployment, Kind, on_every_backend};
use crate::{assert_newest, status, up};

/// A session that is cut off before its n-th call that could change something.
struct Cut {
    inner: Option<Box<dyn MigrationSession>>,
    left: Arc<AtomicUsize>,
}

impl Cut {
    /// The session, unless this is the call before which the connection breaks.
    fn next(&mut self) -> Result<&mut Box<dyn MigrationSession>> {
        if self.left.load(Ordering::Relaxed) == 0 {
            self.inner = None; // closed without a word: open transactions and locks go with it
        } else {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        self.still()
    }

    fn still(&mut self) -> Result<&mut Box<dyn MigrationSession>> {
        self.inner.as_mut().ok_or_else(|| Error::new(ErrorKind::Unavailable, "test", "cut off"))
    }
}

#[async_trait::async_trait]
impl MigrationSession for Cut {
    async fn is_done(&mut self, step: &Step) -> Result<bool> {
        self.still()?.is_done(step).await
    }
    async fn begin(&mut self, place: Place) -> Result<()> {
        self.next()?.begin(place).await
    }
    async fn run(&mut self, step: &Step) -> Result<()> {
        self.next()?.run(step).await
    }
    async fn commit(&mut self) -> Result<()> {
        self.next()?.commit().await
    }
    async fn rollback(&mut self) -> Result<()> {
        self.still()?.rollback().await
    }
    async fn introspect(&mut self, lineage: Lineage) -> Result<Introspection> {
        self.still()?.introspect(lineage).await
    }
    async fn texts(&mut self, place: Place, query: &str) -> Result<Vec<String>> {
        self.still()?.texts(place, query).await
    }
    async fn record_start(&mut self, entry: &NewEntry) -> Result<i64> {
        self.next()?.record_start(entry).await
    }
    async fn record_finish(&mut self, id: i64, fingerprint_after: &str, steps: &[StepRun]) -> Result<()> {
        self.next()?.record_finish(id, fingerprint_after, steps).await
    }
    async fn close(self: Box<Self>) -> Result<()> {
        match self.inner {
            Some(inner) => inner.close().await,
            None => Ok(()),
        }
    }
}

/// `migrate up`, cut off before the call with this number; the report when it came to its end first.
fn up_cut_off(deployment: &Deployment, calls: usize) -> Option<UpReport> {
    let seam = deployment.open();
    let left = Arc::new(AtomicUsize::new(calls));
    let cancel = Cancel::new();
    let run = Run { backend: &*seam.backend, applied_by: "test@test", observer: &Silent, cancel: &cancel };
    let outcome = seam.wait(async {
        let inner = Some(seam.backend.migration_session(&SessionOptions::default()).await.unwrap());
        up_in(&run, &UpOptions::default(), Box::new(Cut { inner, left: left.clone() })).await
    });
    match outcome {
        Ok(report) => Some(report),
        Err(e) => {
            assert!(e.to_string().contains("cut off"), "{e}");
            None
        }
    }
}

/// Shapes whose every boundary is cut in each run, and those of which only some are.
const OLDER: &[&str] = &["0.0.2", "0.0.3"];

fn cut_off_before_every_call_the_newest_version_comes_to_the_same_end(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.add_rows_everywhere();
    let before = status(&deployment, "catalog")["fingerprint"].clone();
    let rows = Census::take(&mut deployment.catalog(), &["settings", "schema_history"]);
    let mut calls = 0;
    let report = loop {
        if let Some(report) = up_cut_off(&deployment, calls) {
            break report;
        }
        // One transaction: before its commit nothing of it is to be seen.
        assert_eq!(status(&deployment, "catalog")["fingerprint"], before, "after {calls} calls");
        calls += 1;
        assert!(calls < 100, "it never came to its end");
    };
    assert!(calls > 5, "it was cut {calls} times");
    assert_eq!(report.version, "0.0.5");
    assert_newest(&deployment);
    rows.assert_kept(&mut deployment.catalog());
    assert_eq!(up(&deployment)["fingerprint"], report.fingerprint);
}

fn cut_off_somewhere_older_catalogs_come_to_the_same_end(kind: Kind) {
    let shapes: Vec<&str> = if kind == Kind::Postgres { [&["0.0.2-a"], OLDER].concat() } else { OLDER.to_vec() };
    for shape in shapes {
        for calls in crate::some_of(40, 5) {
            let deployment = Deployment::released(kind, shape);
            deployment.add_rows_everywhere();
            let rows = Census::take(&mut deployment.catalog(), &["settings", "schema_history", "idempotency_tokens"]);
            up_cut_off(&deployment, calls);
            up(&deployment);
            assert_newest(&deployment);
            rows.assert_kept(&mut deployment.catalog());
        }
    }
}

fn killed_while_it_works_it_is_finished_by_the_same_command(kind: Kind) {
    for steps in crate::some_of(30, 3) {
        let deployment = Deployment::released(kind, "0.0.2");
        deployment.add_rows_everywhere();
        let rows = Census::take(&mut deployment.catalog(), &["settings", "schema_history", "idempotency_tokens"]);
        let mut command = deployment.command(["migrate", "--yes", "--progress", "json"]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        for _ in 0..=steps {
            if lines.next().is_none() {
                break;
            }
        }
        let _ = Command::new("kill").args(["-KILL", &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        up(&deployment);
        assert_newest(&deployment);
        rows.assert_kept(&mut deployment.catalog());
    }
}

on_every_backend!(
    cut_off_before_every_call_the_newest_version_comes_to_the_same_end,
    cut_off_somewhere_older_catalogs_come_to_the_same_end,
    killed_while_it_works_it_is_finished_by_the_same_command,
);
