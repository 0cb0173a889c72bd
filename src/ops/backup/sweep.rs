//! Ends dead backup attempts: each is failed and its prefix swept, never resumed.
//!
//! Source: backup operations, "Beside servers" and section 11, duty 6. The reads of a dead attempt were one snapshot,
//! which is gone. A commit record that is there and good means that the backup was complete: it stays, and its row
//! becomes AVAILABLE.

use crate::archive::list::read_record;
use crate::archive::{self, BackupPrefix};
use crate::backend;
use crate::backend::jobs::{BackupKey, BackupRowFields, JobClaim};
use crate::domain::arn::BackupArn;
use crate::domain::claim::WriteOutcome;
use crate::domain::finding::Category;
use crate::domain::job::{BackupStatus, JobRecord, JobStatus};
use crate::domain::manifest::Manifest;
use crate::ops::error::{Error, Result};
use crate::ops::settings::Run;
use crate::store::Store;

use super::request::BackupRequest;

/// What is under a prefix.
pub enum Found {
    /// A good commit record.
    Complete(Box<Manifest>),
    /// No commit record.
    Incomplete,
    /// A commit record that is refused: kept, and reported.
    Damaged(String),
}

/// Looks for the commit record.
///
/// # Errors
/// Store errors.
pub async fn look(store: &dyn Store, prefix: &BackupPrefix) -> archive::Result<Found> {
    Ok(match read_record(store, prefix).await? {
        Ok(manifest) => Found::Complete(Box::new(manifest)),
        Err(findings) => match findings.first() {
            Some(first) if first.category == Category::IncompleteBackup => Found::Incomplete,
            Some(first) => Found::Damaged(first.to_string()),
            None => Found::Incomplete,
        },
    })
}

/// Ends a dead job whose claim was just taken, as failed or cancelled: after this it is terminal and nothing of it
/// is left over but backups that turned out to be complete.
///
/// # Errors
/// `Fenced` when somebody else took it meanwhile; store and database errors, after which the job is still open
/// and the next run of the command tries again.
pub async fn end_dead(run: &Run, job: &JobRecord, claim: &dyn JobClaim, status: JobStatus) -> Result<()> {
    let mut kept = Vec::new();
    if let Some(request) = BackupRequest::of(job) {
        let opened = run.stores.open(&request.store).await?;
        for arn in request.backups() {
            if end_attempt(run, &*opened.store, &arn).await? {
                kept.push(arn.to_string());
            }
        }
    }
    let result = serde_json::json!({ "reason": "its process died", "kept": kept });
    match claim.finish(status, &result).await? {
        WriteOutcome::Matched | WriteOutcome::Unknown => Ok(()),
        WriteOutcome::NotMatched => Err(Error::Fenced(format!("job {} was taken over by another process", job.id))),
    }
}

/// Ends one attempt. Answers whether it turned out to be a complete backup.
async fn end_attempt(run: &Run, store: &dyn Store, arn: &BackupArn) -> Result<bool> {
    let prefix = BackupPrefix::of_arn(arn).map_err(Error::Failed)?;
    let key = row_key(arn);
    let row = match run.backend.take_over_backup_row(&key, run.settings.stale_after_ms()).await {
        Ok(row) => Some(row),
        Err(error)
            if matches!(
                error.kind(),
                backend::ErrorKind::NotFound | backend::ErrorKind::Unsupported | backend::ErrorKind::Conflict
            ) =>
        {
            None
        }
        Err(error) => return Err(error.into()),
    };
    let found = look(store, &prefix).await?;
    let (to, fields) = match &found {
        Found::Complete(manifest) => (BackupStatus::Available, super::claim::available_fields(manifest)),
        Found::Incomplete => (BackupStatus::Failed, failed_fields("its process died".to_owned())),
        Found::Damaged(why) => (BackupStatus::Failed, failed_fields(format!("damaged: {why}"))),
    };
    if let Some(row) = row {
        // A row that is past CREATING already needs nothing; its status is its owner's last word.
        let _ = row.set_status(BackupStatus::Creating, to, &fields).await?;
    }
    match found {
        Found::Complete(_) => Ok(true),
        Found::Damaged(why) => {
            run.observer.warn(&format!("{prefix} has a commit record that is refused and was kept: {why}"));
            Ok(false)
        }
        Found::Incomplete => {
            store.delete_prefix(prefix.key()).await?;
            Ok(false)
        }
    }
}

/// What a failed row says.
#[must_use]
pub fn failed_fields(reason: String) -> BackupRowFields {
    BackupRowFields { failure_reason: Some(reason), completed: true, ..BackupRowFields::default() }
}

/// Address of a backup's catalog row.
#[must_use]
pub fn row_key(arn: &BackupArn) -> BackupKey {
    BackupKey {
        account_id: arn.account_id().to_owned(),
        backup_id: arn.backup_id().to_owned(),
        backup_arn: arn.to_string(),
    }
}
