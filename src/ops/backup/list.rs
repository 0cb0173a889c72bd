//! Lists backups: the union of catalog rows, the store, and the catalog's own (legacy) backups.
//!
//! The store is the truth about backups and a row is a cache; where they disagree the entry says so. What the API
//! hides is hidden here as well unless it is asked for.

use std::collections::BTreeMap;

use serde::Serialize;

use super::resolve::{Places, id_of, rows_of_store};
use crate::archive::list::{ListFilter, Listed, list_backups};
use crate::backend::catalog::LegacyBackup;
use crate::backend::jobs::BackupRow;
use crate::domain::job::BackupStatus;
use crate::domain::manifest::Manifest;
use crate::domain::timestamp::TimestampMs;
use crate::ops::error::Result;

/// Which backups to show.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Only backups of tables of this name.
    pub table: Option<String>,
    /// Which states.
    pub status: StatusFilter,
    /// Begun at this time or later.
    pub since: Option<TimestampMs>,
    /// Begun before this time.
    pub until: Option<TimestampMs>,
}

/// Which states to show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StatusFilter {
    /// What the API shows: not deleting, deleted, failed.
    #[default]
    Visible,
    /// Everything, prefixes without commit record included.
    All,
    /// One state.
    Only(EntryStatus),
}

/// State of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EntryStatus {
    /// Being written.
    Creating,
    /// Its commit record is there.
    Available,
    /// Being removed.
    Deleting,
    /// Removed.
    Deleted,
    /// Given up.
    Failed,
    /// Its commit record is refused.
    Damaged,
    /// Objects without commit record that no row knows.
    Incomplete,
}

impl EntryStatus {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Available => "AVAILABLE",
            Self::Deleting => "DELETING",
            Self::Deleted => "DELETED",
            Self::Failed => "FAILED",
            Self::Damaged => "DAMAGED",
            Self::Incomplete => "INCOMPLETE",
        }
    }
}

impl From<BackupStatus> for EntryStatus {
    fn from(status: BackupStatus) -> Self {
        match status {
            BackupStatus::Creating => Self::Creating,
            BackupStatus::Available => Self::Available,
            BackupStatus::Deleting => Self::Deleting,
            BackupStatus::Deleted => Self::Deleted,
            BackupStatus::Failed => Self::Failed,
        }
    }
}

/// Where an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A catalog row only.
    Row,
    /// The store only.
    Store,
    /// In the catalog, made by a server up to 0.0.4.
    Legacy,
    /// A catalog row and the store.
    Both,
}

/// One backup.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// Id.
    pub id: String,
    /// ARN; the prefix where no ARN is known.
    pub arn: String,
    /// Name of the table.
    pub table: String,
    /// Account.
    pub account_id: String,
    /// Name of the store; the root of another store for a row of that one; `null` for a legacy backup.
    pub store: Option<String>,
    /// State.
    pub status: EntryStatus,
    /// When it was begun.
    pub created_at: Option<TimestampMs>,
    /// Items.
    pub item_count: Option<i64>,
    /// Compressed bytes; for a legacy backup what its row says.
    pub size_bytes: Option<i64>,
    /// Where it comes from.
    pub source: Source,
    /// Name.
    pub name: Option<String>,
    /// Where row and store disagree, or why the commit record is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreement: Vec<String>,
}

/// What there is.
#[derive(Debug, Default, Serialize)]
pub struct ListReport {
    /// Ordered by `(created_at, arn)` in byte order.
    pub backups: Vec<Entry>,
    /// Names in the store that cannot be part of a backup's prefix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<String>,
}

/// Lists.
///
/// # Errors
/// Store and database errors.
pub async fn list(places: Places<'_>, options: &ListOptions) -> Result<ListReport> {
    let mut report = ListReport::default();
    let mut by_prefix: BTreeMap<String, Entry> = BTreeMap::new();
    if let Some(store) = places.store {
        let filter = ListFilter { account_id: places.account_id.map(str::to_owned), table_name: options.table.clone() };
        let name = store.name.as_str();
        let mut visit = |listed: Listed| match listed {
            Listed::Backup { prefix, manifest } => {
                by_prefix.insert(prefix.to_string(), of_manifest(name, prefix.backup_id(), &manifest));
            }
            Listed::Refused { prefix, findings } => {
                let mut entry = bare(name, &prefix, EntryStatus::Damaged);
                entry.disagreement.extend(findings.first().map(ToString::to_string));
                by_prefix.insert(prefix.to_string(), entry);
            }
            Listed::Incomplete { prefix } => {
                by_prefix.insert(prefix.to_string(), bare(name, &prefix, EntryStatus::Incomplete));
            }
            Listed::Stray { path } => report.strays.push(path),
        };
        list_backups(&*store.store, &filter, &mut visit).await?;
    }
    let wanted_table = |table: &str| options.table.as_deref().is_none_or(|wanted| wanted == table);
    let of_this_store = match places.store {
        Some(store) => Some((store.name.clone(), store.store.kind(), store.id_for_reading().await)),
        None => None,
    };
    let every_store = Places { store: None, ..places };
    let mut others = Vec::new();
    for row in rows_of_store(every_store).await?.into_iter().filter(|row| wanted_table(&row.table_name)) {
        let here = of_this_store.as_ref().filter(|(_, kind, id)| row.store.kind == *kind && row.store.id == *id);
        match here {
            Some((name, ..)) => {
                let prefix = format!("{}/{}/{}", row.key.account_id, row.table_name, row.key.backup_id);
                let stored = by_prefix.remove(&prefix);
                by_prefix.insert(prefix, merge(name, &row, stored));
            }
            None => others.push(of_row(&row.store.root, &row)),
        }
    }
    if let Some(backend) = places.backend {
        let legacy = backend.legacy_backups(places.account_id).await?;
        others.extend(legacy.iter().filter(|l| wanted_table(&l.table.table_name)).map(of_legacy));
    }
    report.backups = by_prefix.into_values().chain(others).filter(|entry| shown(entry, options)).collect();
    report.backups.sort_by(|a, b| (a.created_at, a.arn.as_bytes()).cmp(&(b.created_at, b.arn.as_bytes())));
    Ok(report)
}

fn shown(entry: &Entry, options: &ListOptions) -> bool {
    use EntryStatus as S;
    let status = match options.status {
        StatusFilter::All => true,
        StatusFilter::Only(status) => entry.status == status,
        StatusFilter::Visible => matches!(entry.status, S::Available | S::Creating | S::Damaged),
    };
    let from = options.since.is_none_or(|since| entry.created_at.is_some_and(|at| at >= since));
    let to = options.until.is_none_or(|until| entry.created_at.is_some_and(|at| at < until));
    status && from && to
}

fn of_manifest(store: &str, id: &str, manifest: &Manifest) -> Entry {
    let arn = manifest.arn();
    Entry {
        id: id.to_owned(),
        arn: manifest.backup_arn.clone(),
        table: arn.table_name().to_owned(),
        account_id: arn.account_id().to_owned(),
        store: Some(store.to_owned()),
        status: EntryStatus::Available,
        created_at: Some(TimestampMs::from_epoch_seconds(manifest.backup_creation_date_time)),
        item_count: i64::try_from(manifest.item_count()).ok(),
        size_bytes: Some(manifest.backup_size_bytes),
        source: Source::Store,
        name: Some(manifest.backup_name.clone()),
        disagreement: Vec::new(),
    }
}

fn bare(store: &str, prefix: &crate::archive::BackupPrefix, status: EntryStatus) -> Entry {
    Entry {
        id: prefix.backup_id().to_owned(),
        arn: prefix.to_string(),
        table: prefix.table_name().to_owned(),
        account_id: prefix.account_id().to_owned(),
        store: Some(store.to_owned()),
        status,
        created_at: crate::domain::arn::id_timestamp(prefix.backup_id()),
        item_count: None,
        size_bytes: None,
        source: Source::Store,
        name: None,
        disagreement: Vec::new(),
    }
}

fn of_row(store: &str, row: &BackupRow) -> Entry {
    Entry {
        id: row.key.backup_id.clone(),
        arn: row.key.backup_arn.clone(),
        table: row.table_name.clone(),
        account_id: row.key.account_id.clone(),
        store: Some(store.to_owned()),
        status: row.status.into(),
        created_at: Some(row.created_at),
        item_count: row.item_count,
        size_bytes: row.size_bytes,
        source: Source::Row,
        name: Some(row.backup_name.clone()),
        disagreement: Vec::new(),
    }
}

fn of_legacy(legacy: &LegacyBackup) -> Entry {
    let status = BackupStatus::parse(&legacy.status).map_or(EntryStatus::Available, EntryStatus::from);
    Entry {
        id: id_of(&legacy.backup_arn).unwrap_or(&legacy.backup_arn).to_owned(),
        arn: legacy.backup_arn.clone(),
        table: legacy.table.table_name.clone(),
        account_id: legacy.account_id.clone(),
        store: None,
        status,
        created_at: Some(legacy.created_at),
        item_count: Some(legacy.item_count),
        size_bytes: Some(legacy.size_bytes),
        source: Source::Legacy,
        name: Some(legacy.backup_name.clone()),
        disagreement: Vec::new(),
    }
}

/// Joins a row with what the store has under its prefix.
fn merge(store: &str, row: &BackupRow, stored: Option<Entry>) -> Entry {
    let mut entry = of_row(store, row);
    let Some(stored) = stored else {
        if row.status == BackupStatus::Available {
            entry.disagreement.push("the catalog says AVAILABLE, the store has nothing there".into());
        }
        return entry;
    };
    entry.source = Source::Both;
    match (row.status, stored.status) {
        (BackupStatus::Available, EntryStatus::Available) => {
            for (what, of_row, of_store) in
                [("items", row.item_count, stored.item_count), ("bytes", row.size_bytes, stored.size_bytes)]
            {
                if of_row.is_some() && of_row != of_store {
                    entry.disagreement.push(format!(
                        "the catalog says {} {what}, the commit record {}",
                        of_row.unwrap_or_default(),
                        of_store.unwrap_or_default()
                    ));
                }
            }
            entry.item_count = stored.item_count;
            entry.size_bytes = stored.size_bytes;
        }
        (_, EntryStatus::Available) => {
            entry.disagreement.push(format!("the catalog says {}, the store has a commit record", row.status.word()));
            entry.item_count = stored.item_count;
            entry.size_bytes = stored.size_bytes;
            if row.status == BackupStatus::Creating {
                // Complete in the store is complete: only the row lags behind.
                entry.status = EntryStatus::Available;
            }
        }
        (_, EntryStatus::Damaged) => {
            entry.status = EntryStatus::Damaged;
            entry.disagreement.extend(stored.disagreement);
        }
        (BackupStatus::Available, EntryStatus::Incomplete) => {
            entry.disagreement.push("the catalog says AVAILABLE, the store has no commit record".into());
        }
        (_, _) => {}
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::jobs::BackupKey;
    use crate::domain::claim::Epoch;
    use crate::domain::store_ref::StoreRef;

    fn row(status: BackupStatus, items: i64) -> BackupRow {
        BackupRow {
            key: BackupKey { account_id: "1".into(), backup_id: "x".into(), backup_arn: "arn:x".into() },
            table_name: "T".into(),
            backup_name: "n".into(),
            status,
            store: StoreRef { kind: "filesystem".into(), root: "/s".into(), id: "i".into() },
            owner_generation: Epoch::ZERO,
            heartbeat_age_ms: 0,
            size_bytes: Some(10),
            item_count: Some(items),
            created_at: TimestampMs(5),
            completed_at: None,
            failure_reason: None,
            source_table_json: None,
        }
    }

    fn stored(status: EntryStatus) -> Entry {
        Entry { status, item_count: Some(3), source: Source::Store, ..of_row("s", &row(BackupStatus::Available, 3)) }
    }

    #[test]
    fn a_row_and_the_store_that_agree_are_one_entry() {
        let entry = merge("s", &row(BackupStatus::Available, 3), Some(stored(EntryStatus::Available)));
        assert_eq!((entry.source, entry.disagreement.len()), (Source::Both, 0));
    }

    #[test]
    fn disagreement_is_told() {
        let creating = merge("s", &row(BackupStatus::Creating, 3), Some(stored(EntryStatus::Available)));
        assert_eq!((creating.status, creating.disagreement.len()), (EntryStatus::Available, 1));
        let failed = merge("s", &row(BackupStatus::Failed, 3), Some(stored(EntryStatus::Available)));
        assert_eq!((failed.status, failed.disagreement.len()), (EntryStatus::Failed, 1));
        assert_eq!(merge("s", &row(BackupStatus::Available, 3), None).disagreement.len(), 1);
        let counts = merge("s", &row(BackupStatus::Available, 4), Some(stored(EntryStatus::Available)));
        assert_eq!((counts.item_count, counts.disagreement.len()), (Some(3), 1));
    }

    #[test]
    fn the_usual_view_hides_what_the_api_hides() {
        let options = ListOptions::default();
        for (status, visible) in [
            (EntryStatus::Available, true),
            (EntryStatus::Creating, true),
            (EntryStatus::Deleting, false),
            (EntryStatus::Deleted, false),
            (EntryStatus::Failed, false),
            (EntryStatus::Incomplete, false),
        ] {
            assert_eq!(shown(&stored(status), &options), visible, "{status:?}");
        }
    }
}
