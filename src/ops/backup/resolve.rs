//! Which backup an id or ARN means: in the named store, in the catalog's rows, or in the catalog itself (legacy).
//!
//! An id must mean exactly one (account, table, id); from there on the full key is used.

use std::collections::BTreeSet;

use crate::archive::BackupPrefix;
use crate::archive::layout::COMMIT_RECORD;
use crate::backend::Backend;
use crate::backend::catalog::LegacyBackup;
use crate::backend::jobs::BackupRow;
use crate::domain::arn::{BackupArn, is_component};
use crate::ops::error::{Error, Result};
use crate::ops::settings::OpenStore;
use crate::store::Store;

/// Where backups are looked for.
#[derive(Clone, Copy)]
pub struct Places<'a> {
    /// The named store.
    pub store: Option<&'a OpenStore>,
    /// The deployment, if one was opened.
    pub backend: Option<&'a dyn Backend>,
    /// Only backups of this account.
    pub account_id: Option<&'a str>,
}

/// One backup, with everything that is known of it under its key.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Where it lies, or would lie, in the store. `None` for a legacy backup that no prefix can name.
    pub prefix: Option<BackupPrefix>,
    /// Objects are there under the prefix.
    pub in_store: bool,
    /// Its row, of this store.
    pub row: Option<BackupRow>,
    /// It lies in the catalog.
    pub legacy: Option<LegacyBackup>,
}

impl Resolved {
    /// Its name in messages: the ARN where it is known.
    #[must_use]
    pub fn shown(&self) -> String {
        if let Some(row) = &self.row {
            return row.key.backup_arn.clone();
        }
        if let Some(legacy) = &self.legacy {
            return legacy.backup_arn.clone();
        }
        self.prefix.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}

/// `(account, table, id)` of a candidate.
type FullKey = (String, String, String);

/// Finds the one backup that `wanted` means.
///
/// # Errors
/// `NotFound`; `Usage` when an id means several, listing them; store and database errors.
pub async fn resolve(places: Places<'_>, wanted: &str) -> Result<Resolved> {
    let rows = rows_of_store(places).await?;
    let legacy = match places.backend {
        Some(backend) => backend.legacy_backups(places.account_id).await?,
        None => Vec::new(),
    };
    let legacy: Vec<LegacyBackup> = legacy.into_iter().filter(|l| l.status != "DELETED").collect();
    let is_arn = wanted.starts_with("arn:");
    let mut keys: BTreeSet<FullKey> = BTreeSet::new();
    if is_arn {
        if let Some(found) = legacy.iter().find(|l| l.backup_arn == wanted) {
            return Ok(Resolved {
                prefix: prefix_of_text(wanted),
                in_store: false,
                row: None,
                legacy: Some(found.clone()),
            });
        }
        let arn: BackupArn = wanted.parse().map_err(|e| Error::Usage(format!("{e}")))?;
        keys.insert((arn.account_id().into(), arn.table_name().into(), arn.backup_id().into()));
    } else {
        keys.extend(
            rows.iter()
                .filter(|r| r.key.backup_id == wanted)
                .map(|r| (r.key.account_id.clone(), r.table_name.clone(), r.key.backup_id.clone())),
        );
        keys.extend(
            legacy
                .iter()
                .filter(|l| id_of(&l.backup_arn) == Some(wanted))
                .map(|l| (l.account_id.clone(), l.table.table_name.clone(), wanted.to_owned())),
        );
        if let Some(store) = places.store {
            keys.extend(ids_in_store(&*store.store, places.account_id, wanted).await?);
        }
    }
    if keys.len() > 1 {
        let all: Vec<String> = keys.iter().map(|(account, table, id)| format!("{account}/{table}/{id}")).collect();
        return Err(Error::Usage(format!(
            "backup id {wanted:?} means {} backups, name one by its ARN: {}",
            all.len(),
            all.join(", ")
        )));
    }
    let Some((account, table, id)) = keys.pop_first() else {
        return Err(not_found(places, wanted));
    };
    let prefix = BackupPrefix::new(&account, &table, &id).ok();
    let row = rows.into_iter().find(|r| r.key.account_id == account && r.table_name == table && r.key.backup_id == id);
    let legacy = legacy
        .into_iter()
        .find(|l| l.account_id == account && l.table.table_name == table && id_of(&l.backup_arn) == Some(id.as_str()));
    let in_store = match (places.store, &prefix) {
        (Some(store), Some(prefix)) => has_objects(&*store.store, prefix).await?,
        _ => false,
    };
    if !in_store && row.is_none() && legacy.is_none() {
        return Err(not_found(places, wanted));
    }
    Ok(Resolved { prefix, in_store, row, legacy })
}

/// Rows of the named store; of every store where none is named.
///
/// # Errors
/// Database errors.
pub async fn rows_of_store(places: Places<'_>) -> Result<Vec<BackupRow>> {
    let Some(backend) = places.backend else { return Ok(Vec::new()) };
    let rows = backend.backup_rows(places.account_id).await?;
    let Some(store) = places.store else { return Ok(rows) };
    let id = store.id_for_reading().await;
    Ok(rows.into_iter().filter(|row| row.store.kind == store.store.kind() && row.store.id == id).collect())
}

/// Keys of all prefixes with this id, whatever lies there.
async fn ids_in_store(store: &dyn Store, account_id: Option<&str>, wanted: &str) -> Result<Vec<FullKey>> {
    if !is_component(wanted) {
        return Ok(Vec::new());
    }
    let accounts = match account_id {
        Some(account) => vec![account.to_owned()],
        None => store.children("").await?,
    };
    let mut found = Vec::new();
    for account in accounts.into_iter().filter(|a| is_component(a)) {
        for table in store.children(&account).await?.into_iter().filter(|t| is_component(t)) {
            let Ok(prefix) = BackupPrefix::new(&account, &table, wanted) else { continue };
            if has_objects(store, &prefix).await? {
                found.push((account.clone(), table, wanted.to_owned()));
            }
        }
    }
    Ok(found)
}

/// Whether anything lies under a prefix; the commit record is looked for first, which is the usual answer.
async fn has_objects(store: &dyn Store, prefix: &BackupPrefix) -> Result<bool> {
    // A link in place of the record is refused by `head`; something is there then.
    match store.head(&prefix.object(COMMIT_RECORD)).await {
        Ok(Some(_)) => return Ok(true),
        Err(error) if error.kind == crate::store::ErrorKind::PermissionDenied => return Ok(true),
        Err(error) => return Err(error.into()),
        Ok(None) => {}
    }
    Ok(!store.children(prefix.as_str()).await?.is_empty())
}

/// The id at the end of a legacy ARN, whatever the rest of it looks like.
#[must_use]
pub fn id_of(arn: &str) -> Option<&str> {
    arn.rsplit_once("/backup/").map(|(_, id)| id)
}

fn prefix_of_text(arn: &str) -> Option<BackupPrefix> {
    BackupPrefix::of_arn(&arn.parse().ok()?).ok()
}

fn not_found(places: Places<'_>, wanted: &str) -> Error {
    let mut looked = Vec::new();
    if let Some(store) = places.store {
        looked.push(format!("store {}", store.name));
    }
    if let Some(backend) = places.backend {
        looked.push(backend.location());
    }
    Error::NotFound(format!(
        "there is no backup {wanted} in {}: `extenddb-admin backup list` shows what there is",
        looked.join(" or ")
    ))
}
