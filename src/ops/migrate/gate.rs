//! Whether a catalog may be touched, and at which version it is.

use super::status::{LineageStatus, StatusReport, status};
use crate::backend::Backend;
use crate::domain::difference::Difference;
use crate::domain::known::Known;
use crate::domain::migration::CatalogVersion;
use crate::domain::recognition::State;
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;
use crate::ops::{Error, Result};

/// Differences that an error names.
const DIFFERENCES_SHOWN: usize = 8;

/// The version of the catalog that was recognised; none on an empty database.
#[must_use]
pub fn version(report: &StatusReport) -> Option<CatalogVersion> {
    report.lineage(Lineage::Catalog)?.recognised_version.as_ref()?.parse().ok()
}

/// Lets a catalog through that a migration may touch: empty, or one that is recognised and whole but for what
/// migrations bring up.
///
/// # Errors
/// `CatalogRefused` for one that is newer, unknown, or refused for a reason; `CheckFailed` for drift.
pub async fn pass(backend: &dyn Backend) -> Result<StatusReport> {
    let report = status(backend).await?;
    report.require_accepted()?;
    match report.lineages.iter().find(|l| l.state == State::Drifted) {
        Some(lineage) => Err(drift(lineage)),
        None => Ok(report),
    }
}

fn drift(lineage: &LineageStatus) -> Error {
    let hint = if lineage.is_repairable() {
        "`extenddb-admin migrate repair` brings it back, and shows its plan first"
    } else {
        "`extenddb-admin migrate verify` shows every difference; what cannot be repaired without losing data must be \
         brought back by hand"
    };
    Error::CheckFailed {
        code: "DRIFT",
        message: format!("the {} lineage differs from what it should be: {}", lineage.lineage, listed(&lineage.drift)),
        hint: Some(hint.to_owned()),
    }
}

/// Differences in words, the first few of them.
#[must_use]
pub fn listed(differences: &[Difference]) -> String {
    let shown: Vec<String> = differences.iter().take(DIFFERENCES_SHOWN).map(ToString::to_string).collect();
    let more = differences.len().saturating_sub(DIFFERENCES_SHOWN);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    format!("{}{more}", shown.join("; "))
}

/// The fingerprint of what belongs to a lineage; none where nothing is there.
#[must_use]
pub fn fingerprint(known: &Known, found: &Introspection) -> Option<String> {
    let (own, _) = known.own_part(&found.schema);
    (!own.is_empty()).then(|| known.fingerprint(&found.schema).to_string())
}

/// Compares what a migration made with the golden schema of its version. A version that changes no schema
/// has none, and neither has the build that makes them.
///
/// # Errors
/// `Failed`, naming the first differences.
pub fn check_made(known: &Known, version: &str, found: &Introspection, recorded: &Recorded) -> Result<()> {
    let Some(at) = known.position(version) else { return Ok(()) };
    let (own, _) = known.own_part(&found.schema);
    let differences = known.fit(at, &own, recorded).comparison.differences;
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{} {version} came out differently from what it should be, and was rolled back: {}",
        known.lineage,
        listed(&differences)
    )))
}
