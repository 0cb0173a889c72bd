//! One backup in full: its commit record, its row, what is remembered of it, and who shares its snapshot.

use serde::Serialize;

use super::list::{Entry, ListOptions, StatusFilter, list};
use super::resolve::{Places, Resolved};
use crate::archive::BackupPrefix;
use crate::archive::list::read_record;
use crate::domain::arn::id_timestamp;
use crate::domain::finding::Finding;
use crate::domain::manifest::{Manifest, SnapshotMeta};
use crate::domain::table::SourceTable;
use crate::domain::timestamp::TimestampMs;
use crate::ops::error::{Error, Result};
use crate::store::Store;

/// A backup in full.
#[derive(Debug, Serialize)]
pub struct Description {
    /// What the list shows of it.
    #[serde(flatten)]
    pub entry: Entry,
    /// The table it was made from.
    pub source_table: Option<SourceTable>,
    /// Backend that the items come from.
    pub source_backend: Option<String>,
    /// How they were read.
    pub snapshot: Option<SnapshotMeta>,
    /// Other backups of the same instant, by ARN in byte order.
    pub same_snapshot: Vec<String>,
    /// Number of data files.
    pub data_file_count: Option<usize>,
    /// The commit record's checksum.
    pub manifest_sha256: Option<String>,
    /// Digest of the items, if it is remembered for this commit record.
    pub digest: Option<String>,
    /// When it was last verified.
    pub verified_at: Option<TimestampMs>,
    /// What that verification said.
    pub verified_ok: Option<bool>,
    /// Whether that verification parsed every item.
    pub verified_deep: Option<bool>,
    /// Why it failed, from its row.
    pub failure_reason: Option<String>,
    /// What a legacy backup's definition names and does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why the commit record is refused, or what is unusual about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Describes a resolved backup.
///
/// # Errors
/// Store and database errors; `NotFound` when it went away meanwhile.
pub async fn describe(places: Places<'_>, resolved: &Resolved) -> Result<Description> {
    let mut description = Description {
        entry: entry(places, resolved).await?,
        source_table: None,
        source_backend: None,
        snapshot: None,
        same_snapshot: Vec::new(),
        data_file_count: None,
        manifest_sha256: None,
        digest: None,
        verified_at: None,
        verified_ok: None,
        verified_deep: None,
        failure_reason: resolved.row.as_ref().and_then(|row| row.failure_reason.clone()),
        notes: Vec::new(),
        findings: Vec::new(),
    };
    if let Some(legacy) = &resolved.legacy {
        description.source_table = Some(legacy.table.clone());
        description.notes.clone_from(&legacy.notes);
    }
    if let (Some(store), Some(prefix), true) = (places.store, &resolved.prefix, resolved.in_store) {
        match read_record(&*store.store, prefix).await? {
            Ok(manifest) => {
                description.same_snapshot = same_snapshot(&*store.store, prefix, &manifest).await?;
                recall(places, &manifest, &mut description).await?;
                description.findings = manifest.warnings();
                description.source_backend = Some(manifest.source_backend);
                description.data_file_count = Some(manifest.data_files.len());
                description.manifest_sha256 = Some(manifest.manifest_sha256);
                description.snapshot = Some(manifest.snapshot);
                description.source_table = Some(manifest.source_table);
            }
            Err(findings) => description.findings = findings,
        }
    }
    Ok(description)
}

async fn entry(places: Places<'_>, resolved: &Resolved) -> Result<Entry> {
    let (account, table, id) = match (&resolved.prefix, &resolved.legacy) {
        (Some(prefix), _) => (prefix.account_id(), prefix.table_name(), Some(prefix.backup_id())),
        (None, Some(legacy)) => (legacy.account_id.as_str(), legacy.table.table_name.as_str(), None),
        (None, None) => return Err(Error::NotFound("the backup is gone".into())),
    };
    let options = ListOptions { table: Some(table.to_owned()), status: StatusFilter::All, since: None, until: None };
    let listed = list(Places { account_id: Some(account), ..places }, &options).await?;
    let legacy_arn = resolved.legacy.as_ref().map(|l| l.backup_arn.as_str());
    listed
        .backups
        .into_iter()
        .find(|entry| legacy_arn.map_or(Some(entry.id.as_str()) == id, |arn| entry.arn == arn))
        .ok_or_else(|| Error::NotFound(format!("backup {} went away while it was looked at", resolved.shown())))
}

async fn recall(places: Places<'_>, manifest: &Manifest, description: &mut Description) -> Result<()> {
    let (Some(backend), Some(store)) = (places.backend, places.store) else { return Ok(()) };
    let memory = backend.recall_backup(&store.id_for_reading().await, &manifest.backup_arn).await?;
    // What was remembered of another commit record says nothing about this one.
    if let Some(memory) = memory.filter(|m| m.manifest_sha256 == manifest.manifest_sha256) {
        description.digest = memory.digest;
        description.verified_deep = memory.verified_ok.map(|_| memory.verified_deep);
        description.verified_ok = memory.verified_ok;
        description.verified_at = memory.verified_at;
    }
    Ok(())
}

/// Other backups that the same run made from the same snapshot. Tables of one run have ids of the same millisecond, so
/// only those records are read.
async fn same_snapshot(store: &dyn Store, prefix: &BackupPrefix, manifest: &Manifest) -> Result<Vec<String>> {
    let Some(at) = id_timestamp(prefix.backup_id()) else { return Ok(Vec::new()) };
    if manifest.snapshot.marker.is_empty() {
        return Ok(Vec::new());
    }
    let mut same = Vec::new();
    for account in store.children("").await? {
        for table in store.children(&account).await? {
            for id in store.children(&format!("{account}/{table}")).await? {
                if id_timestamp(&id) != Some(at) {
                    continue;
                }
                let Ok(other) = BackupPrefix::new(&account, &table, &id) else { continue };
                if other == *prefix {
                    continue;
                }
                if let Ok(record) = read_record(store, &other).await?
                    && record.snapshot == manifest.snapshot
                    && record.source_backend == manifest.source_backend
                {
                    same.push(record.backup_arn);
                }
            }
        }
    }
    same.sort_unstable();
    Ok(same)
}
