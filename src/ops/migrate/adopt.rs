//! `migrate adopt`: writes into our ledger what a catalog already has, when it is exactly a released version.

use serde::Serialize;

use super::apply::Run;
use super::status::{LineageStatus, status};
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::domain::applied::{NewEntry, Outcome, TOOL_VERSION};
use crate::domain::migration::Migration;
use crate::domain::recognition::State;
use crate::domain::schema::Lineage;
use crate::migrations;
use crate::ops::{Error, Result};

/// A version that was written into our ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adopted {
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Name of the migration.
    pub name: String,
}

/// What was adopted; empty when our ledger had it all.
#[derive(Debug, Clone, Serialize)]
pub struct AdoptReport {
    /// Versions, in order.
    pub adopted: Vec<Adopted>,
}

/// Adopts every lineage.
///
/// # Errors
/// `CatalogRefused` when there is nothing to adopt or a lineage is not recognised; `CheckFailed` when it differs
/// from a released version, is a variant of one, or its ledger does not agree.
pub async fn adopt(run: &Run<'_>, options: &SessionOptions) -> Result<AdoptReport> {
    exact(run).await?;
    let mut session = run.backend.migration_session(options).await?;
    let outcome = under_lock(run, &mut *session).await;
    session.close().await?;
    outcome
}

async fn under_lock(run: &Run<'_>, session: &mut dyn MigrationSession) -> Result<AdoptReport> {
    let lineages = exact(run).await?;
    run.backend.ensure_admin().await?;
    let history = run.backend.history().await?;
    let mut adopted = Vec::new();
    for lineage in &lineages {
        let up_to = migrations_up_to(run.backend.name(), lineage);
        for migration in up_to {
            let known = history
                .iter()
                .any(|e| e.lineage == lineage.lineage && e.version == migration.version() && e.finished_at.is_some());
            if known {
                continue;
            }
            let last = Some(migration.version()) == lineage.recognised_version.as_deref();
            let fingerprint = lineage.fingerprint.filter(|_| last).map(|f| f.to_string());
            let entry = NewEntry {
                lineage: lineage.lineage,
                version: migration.version().to_owned(),
                name: migration.name.clone(),
                outcome: Outcome::Adopted,
                body_digest: migration.body(run.backend.name()).map(|b| b.digest()).unwrap_or_default(),
                fingerprint_before: fingerprint.clone(),
                tool_version: TOOL_VERSION.to_owned(),
                applied_by: run.applied_by.to_owned(),
                note: None,
            };
            let id = session.record_start(&entry).await?;
            session.record_finish(id, &fingerprint.unwrap_or_default(), &[]).await?;
            adopted.push(Adopted {
                lineage: lineage.lineage,
                version: migration.version().to_owned(),
                name: migration.name.clone(),
            });
        }
    }
    Ok(AdoptReport { adopted })
}

fn migrations_up_to(backend: &str, lineage: &LineageStatus) -> Vec<&'static Migration> {
    let all: Vec<&Migration> = migrations::of_lineage(lineage.lineage).filter(|m| m.body(backend).is_some()).collect();
    let at = all.iter().position(|m| Some(m.version()) == lineage.recognised_version.as_deref());
    at.map(|at| all[..=at].to_vec()).unwrap_or_default()
}

/// The lineages of ExtendDB, each exactly a released version.
async fn exact(run: &Run<'_>) -> Result<Vec<LineageStatus>> {
    let report = status(run.backend).await?;
    report.require_accepted()?;
    let lineages: Vec<LineageStatus> = report.lineages.into_iter().filter(|l| l.lineage != Lineage::Admin).collect();
    for lineage in &lineages {
        let name = lineage.lineage;
        if name == Lineage::Catalog && lineage.state == State::Empty {
            return Err(Error::CatalogRefused {
                message: "there is no catalog to adopt".to_owned(),
                hint: Some("`extenddb-admin migrate` makes one".to_owned()),
            });
        }
        let reason = match (lineage.state, &lineage.variant) {
            (State::Current | State::Behind | State::Empty, None) => continue,
            (State::Current | State::Behind, Some(variant)) => {
                format!("it is a variant of a released version ({variant}), which `migrate` brings up")
            }
            (state, _) => format!("it is {}: {}", state.word(), super::gate::listed(&lineage.drift)),
        };
        return Err(Error::CheckFailed {
            code: "NOT_A_RELEASE",
            message: format!("the {name} lineage is not adopted: {reason}"),
            hint: Some("`extenddb-admin migrate status` says what it is".to_owned()),
        });
    }
    Ok(lineages)
}
