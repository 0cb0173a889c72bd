//! Finds the backups of a store without holding them all.

use super::error::Result;
use super::layout::BackupPrefix;
use crate::domain::finding::Finding;
use crate::domain::manifest::Manifest;
use crate::store::Store;

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
    let _ = (store, prefix);
    Ok(Err(Vec::new()))
}

/// Walks accounts, tables and ids in byte order and shows each to `visit`, one at a time.
///
/// # Errors
/// Store errors.
pub async fn list_backups(
    store: &dyn Store,
    filter: &ListFilter,
    visit: &mut (dyn FnMut(Listed) + Send),
) -> Result<()> {
    let _ = (store, filter, visit);
    Ok(())
}
