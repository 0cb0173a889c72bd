//! Names of a backup's objects below its prefix.
//!
//! Source: backup format, sections 1 and 6.

use crate::domain::arn::{BackupArn, is_component};
use crate::store::Key;

/// The commit record: the prefix is a backup exactly when this object exists.
pub const COMMIT_RECORD: &str = crate::domain::manifest::OBJECT;
/// One line per data file, as DynamoDB exports have it.
pub const FILES_MANIFEST: &str = crate::domain::export::FILES_OBJECT;
/// The export's summary.
pub const SUMMARY: &str = crate::domain::export::SUMMARY_OBJECT;
/// Reserved in place of a backup id.
pub const CHANGELOG: &str = "changelog";

/// `<account>/<table>/<id>` below the store root, each component checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BackupPrefix(Key);

impl BackupPrefix {
    /// The prefix of three components.
    ///
    /// # Errors
    /// Names the component that breaks the rule; `changelog` is no backup id.
    pub fn new(account_id: &str, table_name: &str, backup_id: &str) -> Result<Self, String> {
        for component in [account_id, table_name, backup_id] {
            if !is_component(component) {
                return Err(format!("{component:?} cannot be part of a backup's prefix"));
            }
        }
        if backup_id == CHANGELOG {
            return Err(format!("{CHANGELOG:?} is reserved and never a backup id"));
        }
        Key::new(format!("{account_id}/{table_name}/{backup_id}")).map(Self)
    }

    /// The prefix that an ARN names.
    ///
    /// # Errors
    /// As [`BackupPrefix::new`].
    pub fn of_arn(arn: &BackupArn) -> Result<Self, String> {
        Self::new(arn.account_id(), arn.table_name(), arn.backup_id())
    }

    /// The prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The prefix as a key, for [`crate::store::Store::delete_prefix`].
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.0
    }

    /// Key of one of the manifests below the prefix.
    ///
    /// # Panics
    /// Never for the constants of this module: three components of at most 255 bytes leave room for them.
    #[must_use]
    pub fn object(&self, name: &'static str) -> Key {
        self.0.join(name).expect("a valid name below a valid prefix")
    }

    /// Key of a data file below the prefix; `None` for one too long to be an object of any store.
    #[must_use]
    pub fn data_file(&self, key: &str) -> Option<Key> {
        self.0.join(key).ok()
    }

    fn component(&self, index: usize) -> &str {
        self.as_str().split('/').nth(index).expect("a prefix has three components")
    }

    /// First component.
    #[must_use]
    pub fn account_id(&self) -> &str {
        self.component(0)
    }

    /// Second component.
    #[must_use]
    pub fn table_name(&self) -> &str {
        self.component(1)
    }

    /// Third component.
    #[must_use]
    pub fn backup_id(&self) -> &str {
        self.component(2)
    }
}

impl std::fmt::Display for BackupPrefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Key of a data file relative to the prefix; numbers start at 1.
#[must_use]
pub fn data_file_key(number: u32) -> String {
    format!("data/{number:06}.json.gz")
}
