//! What our own ledger keeps of each migration that was applied, adopted, repaired or undone.

use serde::{Deserialize, Serialize};

use super::schema::Lineage;
use super::timestamp::TimestampMs;

/// How this program names itself in the ledger.
pub const TOOL_VERSION: &str = concat!("extenddb-admin ", env!("CARGO_PKG_VERSION"));

/// How a migration came to be in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Its steps were run by us.
    Applied,
    /// It was there already and its fingerprint was a released one.
    Adopted,
    /// Objects that were missing were put back.
    Repaired,
    /// It was taken back.
    Undone,
    /// A changed body was accepted.
    Accepted,
}

impl Outcome {
    /// The word in the ledger.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Adopted => "adopted",
            Self::Repaired => "repaired",
            Self::Undone => "undone",
            Self::Accepted => "accepted",
        }
    }
}

impl std::str::FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Applied, Self::Adopted, Self::Repaired, Self::Undone, Self::Accepted]
            .into_iter()
            .find(|o| o.word() == text)
            .ok_or_else(|| format!("not an outcome: {text:?}"))
    }
}

/// One step that ran, with the time it took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRun {
    /// Its name.
    pub step: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// A row to be written when work on a migration begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Lineage.
    pub lineage: Lineage,
    /// Version it leads to (or away from).
    pub version: String,
    /// Name of the migration.
    pub name: String,
    /// What is being done.
    pub outcome: Outcome,
    /// Digest of the normalised body.
    pub body_digest: String,
    /// Fingerprint of the lineage before.
    pub fingerprint_before: Option<String>,
    /// `extenddb-admin <version>`.
    pub tool_version: String,
    /// Who: system user and host.
    pub applied_by: String,
    /// Anything else: the old digest of an accepted body, what a repair touched.
    pub note: Option<String>,
}

/// A row of our ledger. One without `finished_at` was interrupted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Order of writing.
    pub id: i64,
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Name of the migration.
    pub name: String,
    /// What was done.
    pub outcome: Outcome,
    /// Digest of the normalised body.
    pub body_digest: String,
    /// Fingerprint before.
    pub fingerprint_before: Option<String>,
    /// Fingerprint after; none while unfinished.
    pub fingerprint_after: Option<String>,
    /// Steps that ran, in order.
    pub steps: Vec<StepRun>,
    /// Tool that did it.
    pub tool_version: String,
    /// Who did it.
    pub applied_by: String,
    /// Begin, on the database's clock.
    pub started_at: TimestampMs,
    /// End, on the database's clock.
    pub finished_at: Option<TimestampMs>,
    /// Anything else.
    pub note: Option<String>,
}

/// A ledger row as a database holds it, before its words were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the fields of `Entry`, as text
pub struct Stored {
    pub lineage: String,
    pub version: String,
    pub name: String,
    pub outcome: String,
    pub body_digest: String,
    pub fingerprint_before: Option<String>,
    pub fingerprint_after: Option<String>,
    pub steps: String,
    pub tool_version: String,
    pub applied_by: String,
    pub started_at_ms: i64,
    pub finished_at_ms: Option<i64>,
    pub note: Option<String>,
}

impl Stored {
    /// Checks the words.
    ///
    /// # Errors
    /// Says which one is wrong.
    pub fn check(self, id: i64) -> Result<Entry, String> {
        Ok(Entry {
            id,
            lineage: self.lineage.parse()?,
            version: self.version,
            name: self.name,
            outcome: self.outcome.parse()?,
            body_digest: self.body_digest,
            fingerprint_before: self.fingerprint_before,
            fingerprint_after: self.fingerprint_after,
            steps: serde_json::from_str(&self.steps).map_err(|e| format!("steps: {e}"))?,
            tool_version: self.tool_version,
            applied_by: self.applied_by,
            started_at: TimestampMs(self.started_at_ms),
            finished_at: self.finished_at_ms.map(TimestampMs),
            note: self.note,
        })
    }
}
