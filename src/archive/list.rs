//! Finds the backups of a store without holding them all.

use super::error::Result;
use super::layout::{BackupPrefix, CHANGELOG, COMMIT_RECORD};
use crate::domain::arn::is_component;
use crate::domain::finding::{Category, Finding};
use crate::domain::manifest::{self, Manifest};
use crate::store::identity::IDENTITY_KEY;
use crate::store::{self, ErrorKind, Key, Oddity, Store};

/// Which part of a store to walk.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Only this account.
    pub account_id: Option<String>,
    /// Only tables of this name.
    pub table_name: Option<String>,
}

/// One thing found in a store.
#[derive(Debug, Clone)]
pub enum Listed {
    /// A backup whose commit record is good (data files not looked at).
    Backup {
        /// Where it lies.
        prefix: BackupPrefix,
        /// Its commit record.
        manifest: Box<Manifest>,
    },
    /// A prefix whose commit record is refused.
    Refused {
        /// Where it lies.
        prefix: BackupPrefix,
        /// Why.
        findings: Vec<Finding>,
    },
    /// A prefix with objects and no commit record: a running or dead writer, or an interrupted deletion.
    Incomplete {
        /// Where it lies.
        prefix: BackupPrefix,
    },
    /// A name that cannot be part of a backup's prefix.
    Stray {
        /// Path below the store root.
        path: String,
    },
}

/// Reads the commit record under a prefix through steps 1 to 6 as far as they concern the record itself.
///
/// # Errors
/// Findings (never empty) inside, store errors outside.
pub async fn read_record(store: &dyn Store, prefix: &BackupPrefix) -> Result<Result<Manifest, Vec<Finding>>> {
    let refuse = |category, message: String| Ok(Err(vec![Finding::new(category, COMMIT_RECORD, message)]));
    let key = prefix.object(COMMIT_RECORD);
    match read_bounded(store, &key, manifest::MAX_BYTES).await {
        Ok(Some(Read::Whole(bytes))) => Ok(Manifest::read(&bytes, prefix.as_str())),
        Ok(Some(Read::TooLong)) => {
            refuse(Category::ManifestMalformed, format!("larger than {} bytes", manifest::MAX_BYTES))
        }
        Ok(None) => refuse(Category::IncompleteBackup, format!("no commit record under {prefix}")),
        Err(e) if e.kind == ErrorKind::PermissionDenied => {
            let odd = store.oddities(prefix.as_str()).await?;
            let on_the_way = |path: &str| key.as_str() == path || key.as_str().starts_with(&format!("{path}/"));
            match odd.into_iter().find(|o| matches!(o, Oddity::Link(path) if on_the_way(path))) {
                Some(Oddity::Link(path)) => refuse(Category::SymlinkRefused, format!("{path} is a symbolic link")),
                _ => Err(e.into()),
            }
        }
        Err(e) => Err(e.into()),
    }
}

/// A small object, or that it is not small.
pub(super) enum Read {
    /// All of it.
    Whole(Vec<u8>),
    /// More than the limit.
    TooLong,
}

/// Reads an object of at most `limit` bytes; `None` when it is not there.
pub(super) async fn read_bounded(store: &dyn Store, key: &Key, limit: u64) -> store::Result<Option<Read>> {
    let mut reader = match store.get(key).await {
        Ok(reader) => reader,
        Err(e) if e.kind == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut body = Vec::new();
    while let Some(bytes) = reader.next().await? {
        if body.len() + bytes.len() > limit {
            return Ok(Some(Read::TooLong));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(Some(Read::Whole(body)))
}

/// Walks accounts, tables and ids in byte order and shows each to `visit`, one at a time. Links are invisible.
///
/// # Errors
/// Store errors.
pub async fn list_backups(
    store: &dyn Store,
    filter: &ListFilter,
    visit: &mut (dyn FnMut(Listed) + Send),
) -> Result<()> {
    let chosen = |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|w| w == name);
    for account in store.children("").await? {
        if account == IDENTITY_KEY || !chosen(&filter.account_id, &account) {
            continue;
        }
        let Some(tables) = children_of(store, &account, &account, visit).await? else { continue };
        for table in tables {
            if !chosen(&filter.table_name, &table) {
                continue;
            }
            let path = format!("{account}/{table}");
            let Some(ids) = children_of(store, &path, &table, visit).await? else { continue };
            for id in ids.iter().filter(|id| *id != CHANGELOG) {
                show_prefix(store, &account, &table, id, visit).await?;
            }
        }
    }
    Ok(())
}

/// Names below a component, or `None` after telling that it is no component of a prefix.
async fn children_of(
    store: &dyn Store,
    path: &str,
    name: &str,
    visit: &mut (dyn FnMut(Listed) + Send),
) -> Result<Option<Vec<String>>> {
    if !is_component(name) {
        visit(Listed::Stray { path: path.to_owned() });
        return Ok(None);
    }
    let names = store.children(path).await?;
    if names.is_empty() && is_object(store, path).await? {
        visit(Listed::Stray { path: path.to_owned() });
        return Ok(None);
    }
    Ok(Some(names))
}

async fn is_object(store: &dyn Store, path: &str) -> Result<bool> {
    match Key::new(path) {
        Ok(key) => Ok(store.head(&key).await?.is_some()),
        Err(_) => Ok(false),
    }
}

async fn show_prefix(
    store: &dyn Store,
    account: &str,
    table: &str,
    id: &str,
    visit: &mut (dyn FnMut(Listed) + Send),
) -> Result<()> {
    let path = format!("{account}/{table}/{id}");
    let Ok(prefix) = BackupPrefix::new(account, table, id) else {
        visit(Listed::Stray { path });
        return Ok(());
    };
    match read_record(store, &prefix).await? {
        Ok(manifest) => visit(Listed::Backup { prefix, manifest: Box::new(manifest) }),
        Err(findings) if findings.iter().any(|f| f.category == Category::IncompleteBackup) => {
            if is_object(store, &path).await? {
                visit(Listed::Stray { path });
            } else if !store.children(&path).await?.is_empty() || !store.oddities(&path).await?.is_empty() {
                visit(Listed::Incomplete { prefix });
            }
        }
        Err(findings) => visit(Listed::Refused { prefix, findings }),
    }
    Ok(())
}
