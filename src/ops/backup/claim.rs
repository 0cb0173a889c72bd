//! The claims of a creation: its job, and a catalog row for each backup where the catalog keeps them.

use std::sync::Arc;

use super::plan::Attempt;
use super::sweep::{failed_fields, row_key};
use crate::backend::jobs::{BackupRowFields, NewBackupRow};
use crate::domain::claim::WriteOutcome;
use crate::domain::job::BackupStatus;
use crate::domain::manifest::Manifest;
use crate::domain::store_ref::StoreRef;
use crate::ops::error::{Error, Result};
use crate::ops::heart::{Heart, RowClaim};
use crate::ops::settings::Run;

/// Inserts the `CREATING` row of an attempt and keeps it alive. `None` where there is none to be had; the reason is
/// told once through `told`.
///
/// # Errors
/// `Conflict` when the row exists; database errors.
pub async fn claim_row(
    run: &Run,
    heart: &Heart,
    attempt: &Attempt,
    store: &StoreRef,
    told: &mut bool,
) -> Result<Option<RowClaim>> {
    let row = NewBackupRow {
        key: row_key(&attempt.arn),
        table_name: attempt.table.table_name.clone(),
        backup_name: attempt.name.clone(),
        store: store.clone(),
        created_at: attempt.created_at,
        source_table_json: source_table_json(&attempt.info.definition),
    };
    let (claim, reason) = run.backend.claim_backup_row(&row).await?;
    if let Some(reason) = reason
        && !std::mem::replace(told, true)
    {
        run.observer.warn(&format!("no catalog row was written: {reason}"));
    }
    let row = claim.map(|claim| RowClaim { name: format!("backup {}", attempt.arn), claim: Arc::from(claim) });
    if let Some(row) = &row {
        heart.add_row(row.clone());
    }
    Ok(row)
}

/// Moves a row to `AVAILABLE` once its commit record is there.
///
/// # Errors
/// `Fenced` when the claim was lost meanwhile: nothing is touched then.
pub async fn make_available(run: &Run, heart: &Heart, row: &RowClaim, manifest: &Manifest) -> Result<()> {
    heart.drop_row(&row.name);
    let fields = available_fields(manifest);
    let outcome = row.claim.set_status(BackupStatus::Creating, BackupStatus::Available, &fields).await?;
    if outcome == WriteOutcome::Unknown && landed(run, &manifest.backup_arn, BackupStatus::Available).await? {
        return Ok(());
    }
    heart.expect_matched(outcome, &row.name)
}

/// Moves a row to `FAILED`. Says nothing where the claim is lost: then the row is somebody else's.
pub async fn make_failed(run: &Run, heart: &Heart, row: &RowClaim, reason: &str) {
    heart.drop_row(&row.name);
    let fields = failed_fields(reason.to_owned());
    if let Err(error) = row.claim.set_status(BackupStatus::Creating, BackupStatus::Failed, &fields).await {
        run.observer.warn(&format!("{} stays CREATING in the catalog until it is reconciled: {error}", row.name));
    }
}

/// Reads back whether a write of unknown outcome landed.
async fn landed(run: &Run, arn: &str, status: BackupStatus) -> Result<bool> {
    let rows = run.backend.backup_rows(None).await?;
    Ok(rows.iter().any(|row| row.key.backup_arn == arn && row.status == status))
}

/// What an `AVAILABLE` row says.
#[must_use]
pub fn available_fields(manifest: &Manifest) -> BackupRowFields {
    BackupRowFields {
        size_bytes: Some(manifest.backup_size_bytes),
        item_count: Some(i64::try_from(manifest.item_count()).unwrap_or(i64::MAX)),
        completed: true,
        failure_reason: None,
        source_table_json: Some(source_table_json(&manifest.source_table)),
    }
}

fn source_table_json(table: &crate::domain::table::SourceTable) -> String {
    serde_json::to_string(table).expect("a table definition is plain data")
}

/// The store's identity as a row names it, or why the run must not write there.
///
/// # Errors
/// As [`crate::ops::settings::OpenStore::identity_for_writing`].
pub async fn store_identity(store: &crate::ops::settings::OpenStore) -> Result<StoreRef> {
    store.identity_for_writing().await.map_err(|error| match error {
        Error::Store(e) if e.kind == crate::store::ErrorKind::NotEmpty => Error::Usage(format!(
            "store {}: {e}; adopt it with `extenddb-admin store adopt` if it is meant",
            store.name
        )),
        other => other,
    })
}
