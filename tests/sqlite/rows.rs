//! ExtendDB's own rows of backups, at 0.0.5.

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::backend::jobs::{BackupKey, BackupRowFields, DeleteStart, NewBackupRow};
use extenddb_admin::domain::claim::WriteOutcome;
use extenddb_admin::domain::job::BackupStatus;
use extenddb_admin::domain::store_ref::StoreRef;
use extenddb_admin::domain::timestamp::TimestampMs;

use super::claims::as_a_server;
use super::ground::{contents, deployment, open};
use crate::support::deployment::ACCOUNT;

fn address(id: &str) -> BackupKey {
    BackupKey {
        account_id: ACCOUNT.into(),
        backup_id: id.into(),
        backup_arn: format!("arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/Orders/backup/{id}"),
    }
}

fn new_row(id: &str, created_at: i64) -> NewBackupRow {
    NewBackupRow {
        key: address(id),
        table_name: "Orders".into(),
        backup_name: format!("name-{id}"),
        store: StoreRef { kind: "filesystem".into(), root: "/backups".into(), id: "store-1".into() },
        created_at: TimestampMs(created_at),
        source_table_json: "{}".into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_goes_through_its_states_under_its_claim() {
    let deployment = deployment("0.0.5");
    let backend = open(&deployment).await;
    let (claim, reason) = backend.claim_backup_row(&new_row("b1", 2000)).await.unwrap();
    let claim = claim.unwrap();
    assert_eq!(reason, None);
    assert_eq!(backend.claim_backup_row(&new_row("b1", 2000)).await.err().unwrap().kind(), ErrorKind::Busy);
    assert_eq!(claim.heartbeat().await.unwrap(), WriteOutcome::Matched);
    let row = backend.backup_rows(None).await.unwrap().remove(0);
    assert_eq!((row.status, row.owner_generation.to_string()), (BackupStatus::Creating, "1".into()));
    assert_eq!(row.store, new_row("b1", 0).store);
    assert!((0..60_000).contains(&row.heartbeat_age_ms));
    let fields = BackupRowFields {
        size_bytes: Some(10),
        item_count: Some(3),
        completed: true,
        failure_reason: None,
        source_table_json: Some("{\"t\":1}".into()),
    };
    let set = claim.set_status(BackupStatus::Creating, BackupStatus::Available, &fields).await.unwrap();
    assert_eq!(set, WriteOutcome::Matched);
    let row = backend.backup_rows(Some(ACCOUNT)).await.unwrap().remove(0);
    assert_eq!((row.status, row.size_bytes, row.item_count), (BackupStatus::Available, Some(10), Some(3)));
    assert!(row.completed_at.is_some());
    assert!(backend.backup_rows(Some("000000000009")).await.unwrap().is_empty());
    let again = claim.set_status(BackupStatus::Creating, BackupStatus::Failed, &fields).await.unwrap();
    assert_eq!(again, WriteOutcome::NotMatched, "it is past CREATING");
    assert_eq!(claim.heartbeat().await.unwrap(), WriteOutcome::NotMatched, "a refusal is final");
    drop(claim);
    assert_eq!(backend.claim_backup_row(&new_row("b1", 2000)).await.err().unwrap().kind(), ErrorKind::Conflict);
    let earlier = backend.claim_backup_row(&new_row("b0", 1000)).await.unwrap();
    let ids: Vec<_> = backend.backup_rows(None).await.unwrap().into_iter().map(|r| r.key.backup_id).collect();
    assert_eq!(ids, ["b0", "b1"], "by time");
    drop(earlier);
    assert_eq!(
        deployment.catalog().one("SELECT store_key_prefix FROM backup_index WHERE backup_id = 'b0'"),
        format!("{ACCOUNT}/Orders/b0/")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_row_is_written_where_none_may_be() {
    let old = deployment("0.0.4");
    let backend = open(&old).await;
    let (claim, reason) = backend.claim_backup_row(&new_row("b1", 0)).await.unwrap();
    assert!(claim.is_none() && reason.is_none(), "an older catalog has no rows, which needs no warning");
    assert!(backend.backup_rows(None).await.unwrap().is_empty());
    assert_eq!(backend.start_backup_delete(&address("b1")).await.unwrap(), DeleteStart::NoRow);
    assert_eq!(backend.finish_backup_delete(&address("b1")).await.unwrap(), WriteOutcome::NotMatched);
    assert_eq!(backend.take_over_backup_row(&address("b1"), 0).await.err().unwrap().kind(), ErrorKind::NotFound);

    let deployment = deployment("0.0.5");
    let backend = open(&deployment).await;
    let _server = as_a_server(&deployment);
    let before = contents(&deployment);
    let (claim, reason) = backend.claim_backup_row(&new_row("b1", 0)).await.unwrap();
    assert!(claim.is_none());
    assert!(reason.unwrap().contains(&format!("process {}", std::process::id())));
    assert_eq!(
        backend.take_over_backup_row(&address("b1"), 0).await.err().unwrap().kind(),
        ErrorKind::NotFound,
        "a row that is not there is not there beside a server too"
    );
    assert_eq!(contents(&deployment), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_taken_over_from_the_dead_only() {
    let deployment = deployment("0.0.5");
    let backend = open(&deployment).await;
    let (claim, _) = backend.claim_backup_row(&new_row("b1", 0)).await.unwrap();
    let first = claim.unwrap();
    let error = backend.take_over_backup_row(&address("b1"), 300_000).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    // Its process is gone, its claim comes back late.
    let mut db = deployment.catalog();
    db.exec("UPDATE backup_index SET owner_generation = 7");
    drop(first);
    let second = backend.take_over_backup_row(&address("b1"), 300_000).await.unwrap();
    assert_eq!(db.one("SELECT owner_generation FROM backup_index"), "8");
    let failed = BackupRowFields { failure_reason: Some("died".into()), completed: true, ..Default::default() };
    assert_eq!(
        second.set_status(BackupStatus::Creating, BackupStatus::Failed, &failed).await.unwrap(),
        WriteOutcome::Matched
    );
    drop(second);
    assert_eq!(
        backend.take_over_backup_row(&address("b1"), 0).await.err().unwrap().kind(),
        ErrorKind::Conflict,
        "a final row has no claim"
    );
    db.exec("UPDATE backup_index SET status = 'CREATING', owner_generation = -1");
    let error = backend.take_over_backup_row(&address("b1"), 0).await.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("-1") && error.to_string().contains("b1"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_holder_of_a_row_is_refused() {
    let deployment = deployment("0.0.5");
    let backend = open(&deployment).await;
    let (claim, _) = backend.claim_backup_row(&new_row("b1", 0)).await.unwrap();
    let claim = claim.unwrap();
    let mut db = deployment.catalog();
    db.exec("UPDATE backup_index SET owner_generation = owner_generation + 1");
    let before = db.rows("SELECT * FROM backup_index");
    assert_eq!(claim.heartbeat().await.unwrap(), WriteOutcome::NotMatched);
    db.exec("UPDATE backup_index SET owner_generation = owner_generation - 1");
    let fields = BackupRowFields::default();
    let set = claim.set_status(BackupStatus::Creating, BackupStatus::Available, &fields).await.unwrap();
    assert_eq!(set, WriteOutcome::NotMatched, "a refusal is final");
    db.exec("UPDATE backup_index SET owner_generation = owner_generation + 1");
    assert_eq!(db.rows("SELECT * FROM backup_index"), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_deletion_and_a_restore_one_loses() {
    let deployment = deployment("0.0.5");
    deployment.add(&crate::support::tables::nothing());
    let backend = open(&deployment).await;
    drop(backend.claim_backup_row(&new_row("b1", 0)).await.unwrap());
    let mut db = deployment.catalog();
    assert_eq!(backend.start_backup_delete(&address("b1")).await.unwrap(), DeleteStart::Status(BackupStatus::Creating));
    db.exec("UPDATE backup_index SET status = 'AVAILABLE'");
    db.exec(&format!(
        "INSERT INTO table_restores (table_id, source_backup_arn, status, kind) \
         SELECT table_id, '{}', 'RUNNING', 'manifest' FROM tables",
        address("b1").backup_arn
    ));
    assert_eq!(backend.start_backup_delete(&address("b1")).await.unwrap(), DeleteStart::InUse("Nothing".into()));
    assert_eq!(db.one("SELECT status FROM backup_index"), "AVAILABLE");
    db.exec("UPDATE table_restores SET status = 'DONE'");
    for _ in 0..2 {
        assert_eq!(backend.start_backup_delete(&address("b1")).await.unwrap(), DeleteStart::Deleting);
    }
    assert_eq!(backend.finish_backup_delete(&address("b1")).await.unwrap(), WriteOutcome::Matched);
    assert_eq!(backend.finish_backup_delete(&address("b1")).await.unwrap(), WriteOutcome::NotMatched);
    assert_eq!(db.one("SELECT status FROM backup_index WHERE completed_at IS NOT NULL"), "DELETED");
    assert_eq!(backend.start_backup_delete(&address("b1")).await.unwrap(), DeleteStart::Status(BackupStatus::Deleted));
    let elsewhere = BackupKey { account_id: "000000000009".into(), ..address("b1") };
    assert_eq!(backend.start_backup_delete(&elsewhere).await.unwrap(), DeleteStart::NoRow, "never by a bare id");
}
