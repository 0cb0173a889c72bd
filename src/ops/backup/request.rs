//! What a backup job records of itself: enough for another process to clean up after it.

use serde::{Deserialize, Serialize};

use crate::domain::arn::BackupArn;
use crate::domain::job::JobRecord;
use crate::domain::table::TableKey;
use crate::ops::admission;

/// The request of a backup job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRequest {
    /// Form of this document; 1.
    pub version: u32,
    /// Name of the store, as the operator's configuration knows it.
    pub store: String,
    /// The operator's name for the backups.
    pub name: Option<String>,
    /// ARNs of the backups that the job writes; decided before it was admitted.
    pub arns: Vec<String>,
}

/// The form that this build writes.
pub const VERSION: u32 = 1;

impl BackupRequest {
    /// Reads the request of a recorded job.
    #[must_use]
    pub fn of(job: &JobRecord) -> Option<Self> {
        serde_json::from_value::<Self>(job.request.clone()).ok().filter(|request| request.version == VERSION)
    }

    /// The backups that it writes.
    pub fn backups(&self) -> impl Iterator<Item = BackupArn> {
        self.arns.iter().filter_map(|arn| arn.parse().ok())
    }

    /// The tables that it reads.
    #[must_use]
    pub fn tables(&self) -> Vec<TableKey> {
        self.backups()
            .map(|arn| TableKey { account_id: arn.account_id().into(), table_name: arn.table_name().into() })
            .collect()
    }

    /// What makes two runs of `backup create` the same: tables, store and name, not the ids.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut tables = self.tables();
        tables.sort_unstable();
        admission::fingerprint(&("backup", self.version, &self.store, &self.name, tables))
    }
}
