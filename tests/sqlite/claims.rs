//! Jobs, claims and heartbeats.

use std::time::{Duration, Instant};

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::backend::jobs::BackupMemory;
use extenddb_admin::domain::claim::WriteOutcome;
use extenddb_admin::domain::job::{JobId, JobKind, JobProgress, JobStatus, NewJob};
use serde_json::json;

use super::ground::{claimed, deployment, job, key, open, open_as, writer};

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_recorded_before_anything_else() {
    let deployment = deployment("0.0.2");
    let backend = open(&deployment).await;
    assert!(backend.open_jobs(None).await.unwrap().is_empty(), "nothing is made by looking");
    assert!(backend.job(&JobId("1".into())).await.unwrap().is_none());
    assert!(!deployment.catalog().tables().iter().any(|t| t.starts_with("extenddb_admin")));
    let first = backend.admit_job(&job(JobKind::Backup, "a")).await.unwrap();
    let second = backend.admit_job(&job(JobKind::Restore, "b")).await.unwrap();
    assert_eq!((first.status, first.attempt, first.heartbeat_age_ms), (JobStatus::Queued, 0, None));
    assert_eq!(first.request, json!({"of": "a"}));
    let open_jobs: Vec<_> = backend.open_jobs(None).await.unwrap().into_iter().map(|j| j.id).collect();
    assert_eq!(open_jobs, [first.id.clone(), second.id.clone()], "oldest first");
    assert_eq!(backend.open_jobs(Some("b")).await.unwrap()[0].id, second.id);
    assert!(backend.job(&JobId("x".into())).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_gives_the_same_job_to_the_same_request_only() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let keyed = NewJob { idempotency_key: Some("k".into()), ..job(JobKind::Restore, "a") };
    let first = backend.admit_job(&keyed).await.unwrap();
    assert_eq!(backend.admit_job(&keyed).await.unwrap().id, first.id);
    let other = NewJob { request_fingerprint: "f2".into(), ..keyed.clone() };
    let error = backend.admit_job(&other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    for part in [&*first.id.0, "f1", "f2", "k"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let elsewhere = [
        NewJob { target: "b".into(), ..keyed.clone() },
        NewJob { principal: "another".into(), ..keyed.clone() },
        NewJob { idempotency_key: None, ..keyed },
    ];
    for job in elsewhere {
        assert_ne!(backend.admit_job(&job).await.unwrap().id, first.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_claim_is_busy_while_the_first_lives() {
    let deployment = deployment("0.0.4");
    let (backend, other) = (open(&deployment).await, open_as(&deployment, "two").await);
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    let id = claim.job().clone();
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::Matched);
    let error = other.claim_job(&id, &writer("two")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Busy);
    for part in ["one@test", &format!("process {}", std::process::id()), "heartbeat"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let late = claim.fence().clone();
    drop(claim);
    let second = other.claim_job(&id, &writer("two")).await.unwrap();
    assert!(second.fence().epoch > late.epoch);
    let record = other.job(&id).await.unwrap().unwrap();
    assert_eq!((record.attempt, record.epoch, record.writer), (2, second.fence().epoch, Some(writer("two"))));
    assert_eq!(second.finish(JobStatus::Failed, &json!({"reason": "x"})).await.unwrap(), WriteOutcome::Matched);
    drop(second);
    let error = other.claim_job(&id, &writer("two")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Conflict, "an ended job is not claimed: {error}");
    let error = other.claim_job(&JobId("77".into()), &writer("two")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_holder_whose_claim_moved_writes_nothing_more() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    let id = claim.job().clone();
    let mut db = deployment.catalog();
    db.exec("UPDATE extenddb_admin_fences SET epoch = 5; UPDATE extenddb_admin_jobs SET epoch = 5");
    let before = db.rows("SELECT * FROM extenddb_admin_jobs");
    let progress = JobProgress { items: 7, ..JobProgress::default() };
    assert_eq!(claim.progress(&progress).await.unwrap(), WriteOutcome::NotMatched);
    db.exec("UPDATE extenddb_admin_fences SET epoch = 1");
    assert_eq!(claim.remember(&json!({"new": 1})).await.unwrap(), WriteOutcome::NotMatched, "the refusal stays");
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::NotMatched);
    assert_eq!(claim.finish(JobStatus::Succeeded, &json!({})).await.unwrap(), WriteOutcome::NotMatched);
    assert_eq!(db.rows("SELECT * FROM extenddb_admin_jobs"), before);
    drop(claim);
    let next = backend.claim_job(&id, &writer("one")).await.unwrap();
    assert_eq!(next.fence().epoch.to_string(), "6", "past every number that was seen");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_keeps_what_its_holder_records() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    let progress = JobProgress { items: 7, files_done: 1, files_total: 3, bytes: 9, phase: "load".into() };
    assert_eq!(claim.progress(&progress).await.unwrap(), WriteOutcome::Matched);
    assert_eq!(claim.remember(&json!({"table_id": "x"})).await.unwrap(), WriteOutcome::Matched);
    deployment.catalog().exec("UPDATE extenddb_admin_jobs SET cancel_requested = 1");
    assert!(claim.heartbeat().await.unwrap().cancel_requested);
    let record = backend.job(claim.job()).await.unwrap().unwrap();
    assert_eq!((&record.progress, &record.request), (&progress, &json!({"table_id": "x"})));
    assert!(record.started_at.is_some() && record.finished_at.is_none());
    assert_eq!(claim.finish(JobStatus::Cancelled, &json!({"kept": []})).await.unwrap(), WriteOutcome::Matched);
    let record = backend.job(claim.job()).await.unwrap().unwrap();
    assert_eq!((record.status, record.result), (JobStatus::Cancelled, Some(json!({"kept": []}))));
    assert!(record.finished_at.is_some());
    assert!(backend.open_jobs(None).await.unwrap().is_empty());
    assert!(record.epoch > claim.fence().epoch, "minted past the holder");
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM extenddb_admin_fences"), 0);
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::NotMatched);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_that_is_negative_or_at_its_end_is_named() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let record = backend.admit_job(&job(JobKind::Backup, "a")).await.unwrap();
    let mut db = deployment.catalog();
    db.exec("UPDATE extenddb_admin_jobs SET epoch = -4");
    for error in [
        backend.job(&record.id).await.err().unwrap(),
        backend.claim_job(&record.id, &writer("one")).await.err().unwrap(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(error.to_string().contains("-4") && error.to_string().contains("1 of extenddb_admin_jobs"), "{error}");
    }
    db.exec(&format!("UPDATE extenddb_admin_jobs SET epoch = {}", i64::MAX));
    let error = backend.claim_job(&record.id, &writer("one")).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains(&i64::MAX.to_string()), "{error}");
    assert_eq!(db.count("SELECT attempt FROM extenddb_admin_jobs"), 0);
    db.exec("UPDATE extenddb_admin_jobs SET epoch = 1.5");
    assert_eq!(backend.job(&record.id).await.unwrap_err().kind(), ErrorKind::Damaged);
    db.exec("UPDATE extenddb_admin_jobs SET epoch = 1, status = 'odd'");
    assert_eq!(backend.open_jobs(None).await.unwrap_err().kind(), ErrorKind::Damaged);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_from_the_future_counts_as_fresh_and_shows() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    deployment.catalog().exec("UPDATE extenddb_admin_jobs SET heartbeat_at = '2999-01-01T00:00:00.000Z'");
    let record = backend.job(claim.job()).await.unwrap().unwrap();
    assert!(record.heartbeat_age_ms.unwrap() < 0, "{:?}", record.heartbeat_age_ms);
}

/// Waits for real: nothing else shows that a beat does not hang on a batch.
#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_is_not_lost_to_a_long_batch() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    let mut db = deployment.catalog();
    db.exec("BEGIN IMMEDIATE");
    let began = Instant::now();
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::Matched);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    db.exec("UPDATE extenddb_admin_fences SET epoch = 9; COMMIT; BEGIN IMMEDIATE");
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::NotMatched, "the look at the fence counts");
    db.exec("ROLLBACK");
}

/// What a server does, or another run of ours: the lock is exclusive and never waited for.
pub fn as_a_server(deployment: &crate::support::Deployment) -> std::fs::File {
    let mut path = deployment.sqlite_path().into_os_string();
    path.push(".lock");
    let file = std::fs::File::create(path).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_server_short_writes_of_ours_run_and_restores_are_busy() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let server = as_a_server(&deployment);
    let claim = claimed(&backend, JobKind::Backup, "a").await;
    assert_eq!(claim.heartbeat().await.unwrap().outcome, WriteOutcome::Matched);
    let restore = backend.admit_job(&job(JobKind::Restore, "b")).await.unwrap();
    let busy = [
        backend.claim_job(&restore.id, &writer("one")).await.err().unwrap(),
        backend.check_target(&key("b")).await.unwrap_err(),
        backend.delete_legacy_backup("arn").await.unwrap_err(),
    ];
    for error in busy {
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    }
    assert_eq!(deployment.catalog().count("SELECT count(*) FROM extenddb_admin_fences"), 1);
    drop(server);
    let first = backend.claim_job(&restore.id, &writer("one")).await.unwrap();
    let file = std::fs::File::open(format!("{}.lock", deployment.sqlite_path().display())).unwrap();
    let lock = || rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
    assert!(lock().is_err(), "a restore keeps servers out for the whole run");
    drop(first);
    lock().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_of_a_backup_is_kept_by_checksum() {
    let deployment = deployment("0.0.4");
    let backend = open(&deployment).await;
    let memory = |sum: &str| BackupMemory {
        store_id: "s".into(),
        backup_arn: "arn".into(),
        manifest_sha256: sum.into(),
        digest: None,
        verified_at: None,
        verified_ok: None,
        verified_deep: false,
    };
    assert_eq!(backend.recall_backup("s", "arn").await.unwrap(), None);
    backend.remember_backup(&BackupMemory { digest: Some("1:aa".into()), ..memory("x") }).await.unwrap();
    backend
        .remember_backup(&BackupMemory { verified_ok: Some(true), verified_deep: true, ..memory("x") })
        .await
        .unwrap();
    backend.remember_backup(&memory("x")).await.unwrap();
    let known = backend.recall_backup("s", "arn").await.unwrap().unwrap();
    assert_eq!((known.digest.as_deref(), known.verified_ok, known.verified_deep), (Some("1:aa"), Some(true), true));
    assert!(known.verified_at.is_some());
    backend.remember_backup(&memory("y")).await.unwrap();
    let known = backend.recall_backup("s", "arn").await.unwrap().unwrap();
    assert_eq!(known, memory("y"), "of another checksum nothing is known");
}
