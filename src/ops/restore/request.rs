//! What a restore job records of itself: enough for any process to run it, and what was decided on the way.
//!
//! The new tables' ids follow from a seed that is recorded at admission, so that a resumed run stages the same tables
//! without having to remember each.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::domain::job::JobRecord;
use crate::domain::table::{BillingMode, TableKey, Throughput};
use crate::ops::admission;

/// The form that this build writes.
pub const VERSION: u32 = 1;

/// What the operator wants different from the backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overrides {
    /// Billing mode of the new table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub billing_mode: Option<BillingMode>,
    /// Provisioned throughput of the new table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
}

/// Address of a new table, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Account.
    pub account_id: String,
    /// Name.
    pub table_name: String,
}

impl Target {
    /// As the backends address it.
    #[must_use]
    pub fn key(&self) -> TableKey {
        TableKey { account_id: self.account_id.clone(), table_name: self.table_name.clone() }
    }
}

/// One backup and the table it becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRequest {
    /// ARN of the backup.
    pub backup_arn: String,
    /// The backup lies in the catalog itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legacy: bool,
    /// The new table.
    pub target: Target,
}

/// What a verified run decided; a resumed run must find the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Checksum of each table's commit record, in the order of the tables; `null` for one that was refused.
    pub checksums: Vec<Option<String>>,
    /// Digest of each table's items, as verified.
    pub digests: Vec<Option<String>>,
    /// Number of secondary indexes of each table.
    pub indexes: Vec<usize>,
}

impl Decided {
    /// Takes over what was decided of one table before.
    pub fn keep(&mut self, before: &Self, ordinal: usize) {
        self.checksums[ordinal] = before.checksums.get(ordinal).cloned().flatten();
        self.digests[ordinal] = before.digests.get(ordinal).cloned().flatten();
        self.indexes[ordinal] = before.indexes.get(ordinal).copied().unwrap_or(0);
    }
}

/// The request of a restore job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRequest {
    /// Form of this document; [`VERSION`].
    pub version: u32,
    /// Name of the store, as the operator's configuration knows it; none when all backups are legacy.
    pub store: Option<String>,
    /// Backups and tables.
    pub tables: Vec<TableRequest>,
    /// What is different in the new tables.
    #[serde(default)]
    pub overrides: Overrides,
    /// Makes the new ids.
    pub seed: String,
    /// What was decided once everything was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
}

impl RestoreRequest {
    /// Reads the request of a recorded job.
    #[must_use]
    pub fn of(job: &JobRecord) -> Option<Self> {
        serde_json::from_value::<Self>(job.request.clone()).ok().filter(|request| request.version == VERSION)
    }

    /// The new tables.
    #[must_use]
    pub fn targets(&self) -> Vec<TableKey> {
        self.tables.iter().map(|table| table.target.key()).collect()
    }

    /// What makes two runs of `backup restore` the same.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut tables: Vec<_> = self.tables.iter().collect();
        tables.sort_by_key(|t| (&t.target.account_id, &t.target.table_name));
        admission::fingerprint(&("restore", self.version, &self.store, tables, self.overrides))
    }

    /// As it is recorded.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("requests are plain structs")
    }

    /// The id of a new table, or with `Some(n)` of its n-th index: a version 4 UUID in form, made from the seed.
    #[must_use]
    pub fn new_id(&self, ordinal: usize, index: Option<usize>) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed.as_bytes());
        hash.update(ordinal.to_be_bytes());
        hash.update(index.map_or(0, |i| i + 1).to_be_bytes());
        let hash = hash.finalize();
        let mut bytes = [0u8; 16];
        bytes.copy_from_slice(&hash[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> RestoreRequest {
        let table = |name: &str| TableRequest {
            backup_arn: format!("arn:aws:dynamodb:r:1:table/{name}/backup/x"),
            legacy: false,
            target: Target { account_id: "1".into(), table_name: format!("{name}-restored") },
        };
        RestoreRequest {
            version: VERSION,
            store: Some("s".into()),
            tables: vec![table("b"), table("a")],
            overrides: Overrides::default(),
            seed: "seed".into(),
            decided: None,
        }
    }

    #[test]
    fn new_ids_are_version_4_uuids_and_each_is_its_own() {
        let request = request();
        let ids = [request.new_id(0, None), request.new_id(0, Some(0)), request.new_id(1, None)];
        for id in &ids {
            assert_eq!(uuid::Uuid::parse_str(id).expect("a uuid").get_version_num(), 4);
        }
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
        assert_eq!(ids[0], request.new_id(0, None));
    }

    #[test]
    fn the_fingerprint_covers_the_wish_and_not_the_decisions() {
        let mut other = request();
        other.tables.reverse();
        other.seed = "another".into();
        other.decided = Some(Decided { checksums: vec![None], digests: vec![None], indexes: vec![0] });
        assert_eq!(request().fingerprint(), other.fingerprint());
        other.overrides.billing_mode = Some(BillingMode::PayPerRequest);
        assert_ne!(request().fingerprint(), other.fingerprint());
    }
}
