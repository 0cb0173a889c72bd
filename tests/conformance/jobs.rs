//! Jobs are durable, one writer works on each, and a writer that lost its claim writes nothing more.

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::backend::jobs::{BackupMemory, JobClaim, JobFilter};
use extenddb_admin::domain::claim::WriteOutcome;
use extenddb_admin::domain::job::{JobKind, JobProgress, JobStatus, NewJob};
use serde_json::json;

use crate::support::deployment::released;
use crate::support::seam::{Seam, admin_table, restore_job};
use crate::support::{Deployment, Kind, on_every_backend};

fn a_job(target: &str) -> NewJob {
    NewJob {
        kind: JobKind::Backup,
        target: target.into(),
        request: json!({"what": "ever", "to": target}),
        request_fingerprint: "f".repeat(64),
        idempotency_key: None,
        principal: "tester".into(),
    }
}

fn claim(seam: &Seam, target: &str) -> Box<dyn JobClaim> {
    let job = seam.wait(seam.backend.admit_job(&a_job(target))).unwrap();
    seam.wait(seam.backend.claim_job(&job.id, &seam.writer)).unwrap()
}

fn an_admitted_job_is_durable_in_every_shape(kind: Kind) {
    for shape in released(kind) {
        let deployment = Deployment::released(kind, shape);
        let seam = deployment.open();
        assert_eq!(seam.wait(seam.backend.open_jobs(None)).unwrap().len(), 0, "before our tables exist");
        let job = seam.wait(seam.backend.admit_job(&a_job("123456789012/T"))).unwrap();
        assert_eq!((job.status, job.attempt), (JobStatus::Queued, 0));
        drop(seam);
        let seam = deployment.open_read_only();
        let found = seam.wait(seam.backend.job(&job.id)).unwrap().unwrap();
        assert_eq!((found.target.as_str(), found.request), ("123456789012/T", a_job("123456789012/T").request));
        let version = deployment.catalog().one("SELECT value FROM settings WHERE key = 'catalog_version'");
        assert_eq!(version, shape.split('-').next().unwrap(), "the catalog's version is not ours to change");
    }
}

fn an_idempotency_key_answers_the_same_job_and_refuses_another_request(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let keyed = NewJob { idempotency_key: Some("k".into()), ..a_job("123456789012/T") };
    let first = seam.wait(seam.backend.admit_job(&keyed)).unwrap();
    assert_eq!(seam.wait(seam.backend.admit_job(&keyed)).unwrap().id, first.id);
    // Scoped by who asks and for what.
    for other in [
        NewJob { principal: "somebody".into(), ..keyed.clone() },
        NewJob { target: "123456789012/U".into(), ..keyed.clone() },
    ] {
        assert_ne!(seam.wait(seam.backend.admit_job(&other)).unwrap().id, first.id);
    }
    let changed = NewJob { request_fingerprint: "e".repeat(64), ..keyed };
    let error = seam.wait(seam.backend.admit_job(&changed)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
}

fn a_second_claim_is_refused_while_the_holder_lives(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let (one, two) = (deployment.open(), deployment.open());
    let held = claim(&one, "123456789012/T");
    let error = two.wait(two.backend.claim_job(held.job(), &two.writer)).err().expect("two writers on one job");
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains(&one.writer.0), "the refusal names the holder: {error}");
    assert_eq!(one.wait(held.heartbeat()).unwrap().outcome, WriteOutcome::Matched, "the holder is not disturbed");
}

fn a_dead_holders_job_is_claimed_under_a_higher_epoch(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let one = deployment.open();
    let held = claim(&one, "123456789012/T");
    let (id, epoch) = (held.job().clone(), held.fence().epoch);
    drop(held);
    drop(one);
    let two = deployment.open();
    let taken = two.wait(two.backend.claim_job(&id, &two.writer)).unwrap();
    assert!(taken.fence().epoch > epoch);
    assert_ne!(taken.fence().writer.0, String::new());
    let record = two.wait(two.backend.job(&id)).unwrap().unwrap();
    assert_eq!((record.status, record.attempt, record.writer), (JobStatus::Running, 2, Some(two.writer.clone())));
}

/// Behind, ahead, equal under another writer, gone: none of them writes, and none writes ever again.
fn a_lost_claim_is_refused_and_stays_refused(kind: Kind) {
    // Where the job's row and the fence may lie in two databases, the row itself carries the claim.
    let record = match kind {
        Kind::Sqlite => admin_table(kind, "fences"),
        Kind::Postgres => admin_table(kind, "jobs"),
    };
    let jobs = admin_table(kind, "jobs");
    for change in
        ["epoch = epoch + 1", "epoch = epoch - 1", "writer = 'somebody'", "epoch = epoch + 1, writer = 'somebody'", ""]
    {
        let deployment = Deployment::newest(kind);
        let seam = deployment.open();
        let held = claim(&seam, "123456789012/T");
        let progress = |items| JobProgress { items, ..JobProgress::default() };
        assert_eq!(seam.wait(held.progress(&progress(1))).unwrap(), WriteOutcome::Matched);
        let mut catalog = deployment.catalog();
        let before = catalog.rows(&format!("SELECT * FROM {jobs}"));
        catalog.exec(&format!("CREATE TABLE saved AS SELECT * FROM {record}"));
        match change {
            "" => catalog.exec(&format!("DELETE FROM {record}")),
            change => catalog.exec(&format!("UPDATE {record} SET {change}")),
        }
        let lost = WriteOutcome::NotMatched;
        assert_eq!(seam.wait(held.progress(&progress(2))).unwrap(), lost, "{change}");
        // The record comes back as it was; the loser stays out.
        catalog.exec(&format!("DELETE FROM {record}; INSERT INTO {record} SELECT * FROM saved"));
        assert_eq!(catalog.rows(&format!("SELECT * FROM {jobs}")), before, "{change}: the row was touched");
        assert_eq!(seam.wait(held.progress(&progress(2))).unwrap(), lost, "{change}: the refusal latches");
        assert_eq!(seam.wait(held.heartbeat()).unwrap().outcome, lost, "{change}");
        assert_eq!(seam.wait(held.remember(&json!({"x": 1}))).unwrap(), lost, "{change}");
        assert_eq!(seam.wait(held.finish(JobStatus::Succeeded, &json!({}))).unwrap(), lost, "{change}");
        assert_eq!(catalog.rows(&format!("SELECT * FROM {jobs}")), before, "{change}: the row was touched");
    }
}

fn a_finished_job_leaves_no_fence_and_cannot_be_claimed(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let held = claim(&seam, "123456789012/T");
    let id = held.job().clone();
    assert_eq!(seam.wait(held.finish(JobStatus::Succeeded, &json!({"fine": true}))).unwrap(), WriteOutcome::Matched);
    drop(held);
    let record = seam.wait(seam.backend.job(&id)).unwrap().unwrap();
    assert_eq!((record.status, record.result), (JobStatus::Succeeded, Some(json!({"fine": true}))));
    assert!(record.finished_at.is_some());
    assert_eq!(deployment.data().count(&format!("SELECT count(*) FROM {}", admin_table(kind, "fences"))), 0);
    let error = seam.wait(seam.backend.claim_job(&id, &seam.writer)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(seam.wait(seam.backend.open_jobs(None)).unwrap().len(), 0);
}

fn jobs_are_listed_by_state_and_kind_newest_first(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let first = seam.wait(seam.backend.admit_job(&a_job("123456789012/A"))).unwrap().id;
    let second = seam.wait(seam.backend.admit_job(&restore_job("123456789012/B"))).unwrap().id;
    let third = claim(&seam, "123456789012/C");
    let list = |filter: JobFilter| -> Vec<String> {
        seam.wait(seam.backend.list_jobs(&filter)).unwrap().into_iter().map(|j| j.id.0).collect()
    };
    let all = JobFilter { limit: 10, ..JobFilter::default() };
    assert_eq!(list(all.clone()), [third.job().0.clone(), second.0.clone(), first.0.clone()]);
    assert_eq!(
        list(JobFilter { limit: 1, before: Some(second.clone()), ..all.clone() }),
        std::slice::from_ref(&first.0)
    );
    assert_eq!(list(JobFilter { kind: Some(JobKind::Restore), ..all.clone() }), [second.0]);
    assert_eq!(list(JobFilter { statuses: vec![JobStatus::Running], ..all }), [third.job().0.clone()]);
}

/// A number that breaks its rules is named, never wrapped.
fn a_worn_job_row_is_an_error_that_names_it(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let id = seam.wait(seam.backend.admit_job(&a_job("123456789012/T"))).unwrap().id;
    let jobs = admin_table(kind, "jobs");
    for damage in ["epoch = -1", "attempt = -5", "status = 'walking'"] {
        if deployment.catalog().try_exec(&format!("UPDATE {jobs} SET {damage}")).is_err() {
            continue; // the table refuses it already
        }
        let error = seam.wait(seam.backend.job(&id)).expect_err(damage);
        assert_eq!(error.kind(), ErrorKind::Damaged, "{damage}: {error}");
        assert!(error.to_string().contains("jobs") && error.to_string().contains(&id.0), "{damage}: {error}");
        deployment.catalog().exec(&format!("UPDATE {jobs} SET epoch = 0, attempt = 0, status = 'queued'"));
    }
}

fn what_is_known_of_a_backup_is_kept_for_its_checksum(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    assert_eq!(seam.wait(seam.backend.recall_backup("store", "arn")).unwrap(), None);
    let known = BackupMemory {
        store_id: "store".into(),
        backup_arn: "arn".into(),
        manifest_sha256: "a".repeat(64),
        digest: Some(format!("0:{}", "0".repeat(64))),
        verified_at: None,
        verified_ok: None,
        verified_deep: false,
    };
    seam.wait(seam.backend.remember_backup(&known)).unwrap();
    let verified = BackupMemory { digest: None, verified_ok: Some(true), verified_deep: true, ..known.clone() };
    seam.wait(seam.backend.remember_backup(&verified)).unwrap();
    let found = seam.wait(seam.backend.recall_backup("store", "arn")).unwrap().unwrap();
    assert_eq!((&found.digest, found.verified_ok, found.verified_deep), (&known.digest, Some(true), true));
    assert!(found.verified_at.is_some());
    // Another checksum: what was known is void.
    let other = BackupMemory { digest: None, manifest_sha256: "b".repeat(64), ..known };
    seam.wait(seam.backend.remember_backup(&other)).unwrap();
    let found = seam.wait(seam.backend.recall_backup("store", "arn")).unwrap().unwrap();
    assert_eq!((found.digest, found.verified_ok), (None, None));
}

on_every_backend!(
    an_admitted_job_is_durable_in_every_shape,
    an_idempotency_key_answers_the_same_job_and_refuses_another_request,
    a_second_claim_is_refused_while_the_holder_lives,
    a_dead_holders_job_is_claimed_under_a_higher_epoch,
    a_lost_claim_is_refused_and_stays_refused,
    a_finished_job_leaves_no_fence_and_cannot_be_claimed,
    jobs_are_listed_by_state_and_kind_newest_first,
    a_worn_job_row_is_an_error_that_names_it,
    what_is_known_of_a_backup_is_kept_for_its_checksum,
);
