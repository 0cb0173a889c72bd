//! Tells which version every lineage is at, what is pending and what is wrong. Reads only.

use serde::Serialize;

use crate::backend::Backend;
use crate::domain::difference::Difference;
use crate::domain::fingerprint::Fingerprint;
use crate::domain::known::Known;
use crate::domain::migration::Migration;
use crate::domain::recognition::{Evidence, Recognition, State, recognise};
use crate::domain::recorded::Recorded;
use crate::domain::schema::Lineage;
use crate::migrations;
use crate::ops::{Error, Result};

/// A migration that has not been applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Version it leads to.
    pub version: String,
    /// Its name.
    pub name: String,
    /// Servers of the version before must be stopped.
    pub breaking: bool,
}

/// One lineage.
#[derive(Debug, Clone, Serialize)]
pub struct LineageStatus {
    /// Which one.
    pub lineage: Lineage,
    /// Version that the deployment says it has.
    pub recorded_version: Option<String>,
    /// Version that its schema has.
    pub recognised_version: Option<String>,
    /// Named deviations from it, joined by commas; absent where there is none.
    pub variant: Option<String>,
    /// Version that this build leads to.
    pub target_version: Option<String>,
    /// State.
    pub state: State,
    /// Fingerprint of what is there.
    pub fingerprint: Option<Fingerprint>,
    /// Fingerprint of the golden schema of the recognised version, in the variant that was seen.
    pub golden_fingerprint: Option<Fingerprint>,
    /// Migrations not applied yet, oldest first.
    pub pending: Vec<Pending>,
    /// What is wrong.
    pub drift: Vec<Difference>,
    /// What is worth knowing and wrong with nobody.
    pub notes: Vec<String>,
    /// Tables and other objects that belong to no version.
    pub extras: Vec<String>,
    /// Why it must not be touched.
    pub refusal: Option<String>,
}

impl LineageStatus {
    /// Whether everything that is wrong can be repaired without losing data.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        self.refusal.is_none() && self.drift.iter().all(|d| d.repairable)
    }
}

/// Every lineage of a deployment.
#[derive(Debug, Clone, Serialize)]
pub struct StatusReport {
    /// Backend.
    pub backend: &'static str,
    /// Where it is.
    pub location: String,
    /// The lineages, catalog first.
    pub lineages: Vec<LineageStatus>,
}

impl StatusReport {
    /// One lineage; every report has the catalog's.
    #[must_use]
    pub fn lineage(&self, lineage: Lineage) -> Option<&LineageStatus> {
        self.lineages.iter().find(|l| l.lineage == lineage)
    }

    /// The first lineage that must not be touched.
    #[must_use]
    pub fn refused(&self) -> Option<&LineageStatus> {
        self.lineages.iter().find(|l| l.refusal.is_some())
    }

    /// The refusal as an error: exit status 4, and what to do next.
    ///
    /// # Errors
    /// `CatalogRefused` when a lineage must not be touched.
    pub fn require_accepted(&self) -> Result<()> {
        let Some((lineage, refusal)) = self.refused().and_then(|l| l.refusal.as_ref().map(|r| (l, r))) else {
            return Ok(());
        };
        let hint = match lineage.state {
            State::Ahead => "use a newer extenddb-admin",
            State::Interrupted => "finish what was interrupted with the tool that began it",
            _ => "see `extenddb-admin schema diff` for what is there; nothing was changed",
        };
        Err(Error::CatalogRefused { message: refusal.clone(), hint: Some(hint.to_owned()) })
    }

    /// Whether any lineage differs from the version it is at, or stopped between two.
    #[must_use]
    pub fn has_drift(&self) -> bool {
        self.lineages.iter().any(|l| matches!(l.state, State::Drifted | State::Interrupted) || !l.drift.is_empty())
    }

    /// Whether any migration is pending.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.lineages.iter().any(|l| !l.pending.is_empty())
    }
}

/// The versions of a lineage that this build knows on a backend.
///
/// # Errors
/// `Failed` for a malformed golden file, which the tests rule out.
pub fn known(lineage: Lineage, backend: &str) -> Result<Known> {
    Known::new(lineage, backend, migrations::recognition(lineage), |version| {
        migrations::golden(lineage, version, backend)
    })
    .map_err(Error::Failed)
}

/// Looks at every lineage.
///
/// # Errors
/// Database errors; whatever is wrong with the catalog is in the report.
pub async fn status(backend: &dyn Backend) -> Result<StatusReport> {
    let recorded = backend.recorded().await?;
    let history = backend.history().await?;
    let mut lineages = Vec::new();
    for &lineage in backend.lineages() {
        let known = known(lineage, backend.name())?;
        let unreachable = recorded.data_unreachable.is_some() && lineage != Lineage::Catalog;
        let found = if unreachable { Default::default() } else { backend.introspect(lineage).await? };
        let recognition = recognise(&known, &Evidence { found: &found, recorded: &recorded, history: &history });
        lineages.push(lineage_status(&known, recognition, &recorded));
    }
    // A data database that nobody has made yet waits for the catalog.
    Ok(StatusReport { backend: backend.name(), location: backend.location(), lineages })
}

fn lineage_status(known: &Known, recognition: Recognition, recorded: &Recorded) -> LineageStatus {
    let all: Vec<&Migration> =
        migrations::of_lineage(known.lineage).filter(|m| m.body(&known.backend).is_some()).collect();
    let at = recognition.recognised_version.as_deref().and_then(|v| known.position(v));
    let pending: Vec<Pending> = if recognition.refusal.is_some() {
        Vec::new()
    } else {
        all.iter().filter(|m| is_pending(known, at, m, recorded)).map(|m| pending(m)).collect()
    };
    // A code migration changes no schema and is pending all the same.
    let state =
        if recognition.state == State::Current && !pending.is_empty() { State::Behind } else { recognition.state };
    LineageStatus {
        lineage: recognition.lineage,
        recorded_version: recognition.recorded_version,
        recognised_version: recognition.recognised_version,
        variant: (!recognition.variants.is_empty()).then(|| recognition.variants.join(", ")),
        target_version: all.last().map(|m| m.version().to_owned()),
        state,
        fingerprint: recognition.fingerprint,
        golden_fingerprint: recognition.expected_fingerprint,
        pending,
        drift: recognition.drift,
        notes: recognition.notes,
        extras: recognition.extras,
        refusal: recognition.refusal,
    }
}

/// Newer than what was recognised; where a migration changes no schema, its ledger row decides.
fn is_pending(known: &Known, at: Option<usize>, migration: &Migration, recorded: &Recorded) -> bool {
    match (known.position(migration.version()), at) {
        (_, None) => known.lineage != Lineage::Admin,
        (Some(position), Some(at)) => position > at,
        (None, Some(_)) => !recorded.data_ledger.iter().any(|row| row.filename.as_deref() == Some(migration.version())),
    }
}

fn pending(migration: &Migration) -> Pending {
    Pending {
        version: migration.version().to_owned(),
        name: migration.name.clone(),
        breaking: migration.header.breaking,
    }
}
