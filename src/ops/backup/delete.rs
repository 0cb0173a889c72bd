//! Deletes backups: in-use check, `DELETING`, commit record first, the prefix, `DELETED`.
//!
//! Source: backup operations, section 7. Below catalog 0.0.5 there is no row: then the store alone is worked on.

use serde::Serialize;

use super::resolve::Resolved;
use super::sweep::{Found, look, row_key};
use crate::archive::BackupPrefix;
use crate::archive::layout::COMMIT_RECORD;
use crate::backend::Backend;
use crate::backend::jobs::{BackupKey, DeleteStart};
use crate::domain::arn::{BackupArn, region_of};
use crate::domain::claim::WriteOutcome;
use crate::domain::job::{BackupStatus, JobKind};
use crate::ops::error::{Error, Result};
use crate::ops::restore::request::RestoreRequest;
use crate::ops::settings::OpenStore;

/// One deletion.
#[derive(Debug, Serialize)]
pub struct Deleted {
    /// Id.
    pub id: String,
    /// ARN; the prefix where no ARN is known.
    pub arn: String,
    /// Objects removed; `null` for a legacy backup.
    pub objects: Option<u64>,
}

/// Deletes one resolved backup.
///
/// # Errors
/// `Busy` when a restore uses it or it is being written, naming who; `NotFound` when it is gone already;
/// store and database errors, after which the same call goes on where this one stopped.
pub async fn delete(backend: Option<&dyn Backend>, store: Option<&OpenStore>, resolved: &Resolved) -> Result<Deleted> {
    let shown = resolved.shown();
    if let Some(backend) = backend {
        refuse_pinned(backend, resolved).await?;
        if let Some(legacy) = &resolved.legacy {
            backend.delete_legacy_backup(&legacy.backup_arn).await?;
            let id = super::resolve::id_of(&legacy.backup_arn).unwrap_or(&legacy.backup_arn).to_owned();
            return Ok(Deleted { id, arn: legacy.backup_arn.clone(), objects: None });
        }
    }
    let prefix = resolved.prefix.as_ref().ok_or_else(|| Error::NotFound(format!("backup {shown} is in no store")))?;
    let row = row_of(store, prefix, resolved).await?;
    if let (Some(backend), Some(key)) = (backend, &row) {
        match backend.start_backup_delete(key).await? {
            DeleteStart::Deleting | DeleteStart::NoRow => {}
            DeleteStart::InUse(table) => {
                return Err(Error::Busy(format!(
                    "backup {shown} is in use: table {table} is being restored from it; delete it once that has ended"
                )));
            }
            DeleteStart::Status(BackupStatus::Creating) => {
                return Err(Error::Busy(format!(
                    "backup {shown} is being written; delete it once that has ended (`extenddb-admin job list`)"
                )));
            }
            DeleteStart::Status(status) => {
                // What a failed or deleted row left in the store is for the reconciler.
                return Err(Error::NotFound(format!("backup {shown} is {}", status.word())));
            }
        }
    }
    let store = store.ok_or_else(|| Error::Usage(format!("backup {shown} lies in a store: name it with --store")))?;
    let record = matches!(look(&*store.store, prefix).await?, Found::Complete(_) | Found::Damaged(_));
    if row.is_none() && !record && !deletion_began(backend, store, prefix).await? {
        return Err(Error::NotFound(format!(
            "{prefix} has no commit record, so it is no backup: its writer or `extenddb-admin reconcile` removes it, \
             or `extenddb-admin backup purge` does"
        )));
    }
    // The commit record goes first: an interruption leaves an incomplete backup, never a damaged one.
    store.store.delete(&prefix.object(COMMIT_RECORD)).await?;
    let objects = store.store.delete_prefix(prefix.key()).await? + u64::from(record);
    if let (Some(backend), Some(key)) = (backend, &row)
        && backend.finish_backup_delete(key).await? == WriteOutcome::NotMatched
    {
        let now = backend.backup_rows(Some(&key.account_id)).await?;
        let gone = now.iter().find(|r| r.key == *key).is_none_or(|r| r.status == BackupStatus::Deleted);
        if !gone {
            return Err(Error::Failed(format!(
                "backup {shown} is removed from the store, its row was changed by somebody else meanwhile"
            )));
        }
    }
    Ok(Deleted { id: prefix.backup_id().to_owned(), arn: shown, objects: Some(objects) })
}

/// Whether a prefix without commit record is what an interrupted deletion left: our own records know the backup, which
/// they do only of one that was complete.
async fn deletion_began(backend: Option<&dyn Backend>, store: &OpenStore, prefix: &BackupPrefix) -> Result<bool> {
    let Some(backend) = backend else { return Ok(false) };
    let store_id = store.id_for_reading().await;
    let mut regions: Vec<String> = backend.target_rules().await?.region.into_iter().collect();
    regions.extend(
        backend.list_tables(None).await?.iter().filter_map(|t| region_of(&t.definition.table_arn)).map(str::to_owned),
    );
    regions.sort_unstable();
    regions.dedup();
    for region in regions {
        // The prefix does not tell the region, which the record's address has.
        let Ok(arn) = BackupArn::new(&region, prefix.account_id(), prefix.table_name(), prefix.backup_id()) else {
            continue;
        };
        if backend.recall_backup(&store_id, &arn.to_string()).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses a backup that an open restore job names, whether its holder lives or not: a dead one can be resumed.
async fn refuse_pinned(backend: &dyn Backend, resolved: &Resolved) -> Result<()> {
    for job in backend.open_jobs(None).await? {
        if job.kind != JobKind::Restore {
            continue;
        }
        let Some(request) = RestoreRequest::of(&job) else { continue };
        let pinned = request.tables.iter().find(|table| {
            let legacy = resolved.legacy.as_ref().is_some_and(|l| l.backup_arn == table.backup_arn);
            let stored = || {
                let arn = table.backup_arn.parse().ok()?;
                Some(BackupPrefix::of_arn(&arn).ok()? == *resolved.prefix.as_ref()?)
            };
            if table.legacy { legacy } else { resolved.legacy.is_none() && stored() == Some(true) }
        });
        if let Some(table) = pinned {
            return Err(Error::Busy(format!(
                "backup {} is in use: job {} restores table {} from it; wait for the job, resume it or cancel it first",
                resolved.shown(),
                job.id,
                table.target.table_name
            )));
        }
    }
    Ok(())
}

/// Address of the catalog row, if there is one of this store.
async fn row_of(store: Option<&OpenStore>, prefix: &BackupPrefix, resolved: &Resolved) -> Result<Option<BackupKey>> {
    if let Some(row) = &resolved.row {
        return Ok(Some(row.key.clone()));
    }
    let Some(store) = store else { return Ok(None) };
    // A row may have been written since; its address needs the ARN, which only the commit record has.
    Ok(match look(&*store.store, prefix).await? {
        Found::Complete(manifest) => Some(row_key(&manifest.arn())),
        Found::Incomplete | Found::Damaged(_) => None,
    })
}
