//! Rows of the server's own `backup_index`: claimed, beating, moved under their generation, deleted unless in use.

use extenddb_admin::backend::ErrorKind;
use extenddb_admin::backend::jobs::{BackupKey, BackupRowFields, DeleteStart, NewBackupRow};
use extenddb_admin::domain::claim::{Epoch, WriteOutcome};
use extenddb_admin::domain::job::BackupStatus::{self, Available, Creating, Deleted, Deleting, Failed};
use extenddb_admin::domain::store_ref::StoreRef;
use extenddb_admin::domain::timestamp::TimestampMs;

use crate::support::deployment::ACCOUNT;
use crate::support::{Deployment, Kind, on_every_backend};

/// Long enough that no heartbeat of a test is ever stale by itself.
const STALE_MS: i64 = 3_600_000;

fn row(number: u32) -> NewBackupRow {
    let id = format!("01780309230{number:03}-0a0b0c0d");
    NewBackupRow {
        key: BackupKey {
            account_id: ACCOUNT.into(),
            backup_arn: format!("arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/Orders/backup/{id}"),
            backup_id: id,
        },
        table_name: "Orders".into(),
        backup_name: "nightly".into(),
        store: StoreRef { kind: "filesystem".into(), root: "/store".into(), id: "one".into() },
        created_at: TimestampMs(1_780_309_230_123),
        source_table_json: r#"{"table_name":"Orders"}"#.into(),
    }
}

fn nothing() -> BackupRowFields {
    BackupRowFields::default()
}

fn a_claimed_row_beats_and_becomes_available(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let new = row(1);
    let claim = seam.wait(seam.backend.claim_backup_row(&new)).unwrap().0.expect("the catalog has backup_index");
    let listed = seam.wait(seam.backend.backup_rows(Some(ACCOUNT))).unwrap();
    assert_eq!((listed.len(), listed[0].status, &listed[0].key), (1, Creating, &new.key));
    assert_eq!((listed[0].created_at, &listed[0].store), (new.created_at, &new.store));
    assert!(listed[0].owner_generation > Epoch::ZERO && listed[0].completed_at.is_none());
    assert!(seam.wait(seam.backend.backup_rows(Some("000000000000"))).unwrap().is_empty());

    assert_eq!(seam.wait(claim.heartbeat()).unwrap(), WriteOutcome::Matched);
    let fields = BackupRowFields { size_bytes: Some(7), item_count: Some(3), completed: true, ..nothing() };
    assert_eq!(seam.wait(claim.set_status(Creating, Available, &fields)).unwrap(), WriteOutcome::Matched);
    let listed = seam.wait(seam.backend.backup_rows(None)).unwrap();
    assert_eq!((listed[0].status, listed[0].size_bytes, listed[0].item_count), (Available, Some(7), Some(3)));
    assert!(listed[0].completed_at.is_some());
    assert_eq!(listed[0].source_table_json.as_deref().map(|t| t.replace(' ', "")), Some(new.source_table_json));
    // From a state it is not in, nothing moves, and the refusal latches.
    assert_eq!(seam.wait(claim.set_status(Creating, Failed, &nothing())).unwrap(), WriteOutcome::NotMatched);
    assert_eq!(seam.wait(claim.heartbeat()).unwrap(), WriteOutcome::NotMatched);
}

fn a_second_claim_of_one_id_is_refused(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let held = seam.wait(seam.backend.claim_backup_row(&row(1))).unwrap().0;
    let other = deployment.open();
    let error = other.wait(other.backend.claim_backup_row(&row(1))).map(|_| ()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Busy | ErrorKind::Conflict), "{error}");
    drop(held);
    drop(seam);
    let error = other.wait(other.backend.claim_backup_row(&row(1))).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
}

fn a_row_is_taken_over_only_from_the_dead_and_fences_them(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let (one, two) = (deployment.open(), deployment.open());
    let key = row(1).key;
    let held = one.wait(one.backend.claim_backup_row(&row(1))).unwrap().0.unwrap();
    let error = two.wait(two.backend.take_over_backup_row(&key, STALE_MS)).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    let before = one.wait(one.backend.backup_rows(None)).unwrap()[0].owner_generation;
    drop(held);
    let missing = BackupKey { account_id: "000000000000".into(), ..key.clone() };
    let error = one.wait(one.backend.take_over_backup_row(&missing, STALE_MS)).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let taken = one.wait(one.backend.take_over_backup_row(&key, STALE_MS)).unwrap();
    assert!(one.wait(one.backend.backup_rows(None)).unwrap()[0].owner_generation > before);
    // Somebody else's number: neither a beat nor a move lands.
    deployment.catalog().exec("UPDATE backup_index SET owner_generation = owner_generation + 1");
    assert_eq!(one.wait(taken.set_status(Creating, Failed, &nothing())).unwrap(), WriteOutcome::NotMatched);
    deployment.catalog().exec("UPDATE backup_index SET owner_generation = owner_generation - 1");
    assert_eq!(one.wait(taken.heartbeat()).unwrap(), WriteOutcome::NotMatched, "the refusal latches");
    assert_eq!(one.wait(one.backend.backup_rows(None)).unwrap()[0].status, Creating);
}

fn a_number_that_breaks_its_rules_is_named(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    drop(seam.wait(seam.backend.claim_backup_row(&row(1))).unwrap().0);
    deployment.catalog().exec("UPDATE backup_index SET owner_generation = -4");
    let error = seam.wait(seam.backend.backup_rows(None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains("-4") && error.to_string().contains("backup_index"), "{error}");
    deployment.catalog().exec(&format!("UPDATE backup_index SET owner_generation = {}", i64::MAX));
    let error = seam.wait(seam.backend.take_over_backup_row(&row(1).key, 0)).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged, "a number at its end is not wrapped: {error}");
}

fn a_backup_in_use_is_not_deleted_and_a_free_one_is(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    let key = row(1).key;
    let start = || seam.wait(seam.backend.start_backup_delete(&key)).unwrap();
    assert_eq!(start(), DeleteStart::NoRow);
    let claim = seam.wait(seam.backend.claim_backup_row(&row(1))).unwrap().0.unwrap();
    assert_eq!(start(), DeleteStart::Status(Creating));
    seam.wait(claim.set_status(Creating, Available, &nothing())).unwrap();
    drop(claim);
    let mut catalog = deployment.catalog();
    let arn = &key.backup_arn;
    catalog.exec(&format!(
        "INSERT INTO tables (account_id, table_name, key_schema, attribute_definitions, table_status, table_arn, table_id) \
         VALUES ('{ACCOUNT}', 'Target', '[]', '[]', 'CREATING', 'arn', 'target'); \
         INSERT INTO table_restores (table_id, source_backup_arn, status, kind, owner_generation, heartbeat_at) \
         VALUES ('target', '{arn}', 'RUNNING', 'manifest', 1, '2026-06-01T00:00:00Z')"
    ));
    assert_eq!(start(), DeleteStart::InUse("Target".into()));
    catalog.exec("UPDATE table_restores SET status = 'DONE'");
    assert_eq!(start(), DeleteStart::Deleting);
    assert_eq!(start(), DeleteStart::Deleting, "a deletion may be begun again");
    assert_eq!(seam.wait(seam.backend.finish_backup_delete(&key)).unwrap(), WriteOutcome::Matched);
    assert_eq!(seam.wait(seam.backend.finish_backup_delete(&key)).unwrap(), WriteOutcome::NotMatched);
    assert_eq!(start(), DeleteStart::Status(Deleted));
    let _: BackupStatus = Deleting;
}

fn rows_are_listed_by_time_then_arn_in_byte_order(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let seam = deployment.open();
    for (id, created) in [("b", 2), ("Z", 2), ("a", 1), ("é", 2)] {
        let mut new = row(1);
        new.key.backup_id = id.into();
        new.key.backup_arn = format!("arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/Orders/backup/{id}");
        new.created_at = TimestampMs(created);
        drop(seam.wait(seam.backend.claim_backup_row(&new)).unwrap());
    }
    let rows = seam.wait(seam.backend.backup_rows(None)).unwrap();
    let ids: Vec<&str> = rows.iter().map(|r| r.key.backup_id.as_str()).collect();
    assert_eq!(ids, ["a", "Z", "b", "é"]);
}

fn an_older_catalog_has_no_rows_and_takes_none(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let seam = deployment.open();
    assert!(seam.wait(seam.backend.backup_rows(None)).unwrap().is_empty());
    assert!(seam.wait(seam.backend.claim_backup_row(&row(1))).unwrap().0.is_none());
    assert_eq!(seam.wait(seam.backend.start_backup_delete(&row(1).key)).unwrap(), DeleteStart::NoRow);
}

on_every_backend!(
    a_claimed_row_beats_and_becomes_available,
    a_second_claim_of_one_id_is_refused,
    a_row_is_taken_over_only_from_the_dead_and_fences_them,
    a_number_that_breaks_its_rules_is_named,
    a_backup_in_use_is_not_deleted_and_a_free_one_is,
    rows_are_listed_by_time_then_arn_in_byte_order,
    an_older_catalog_has_no_rows_and_takes_none,
);
