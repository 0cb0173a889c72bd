//! `check`: whether a deployment is as it should be, for a CI job. Reads only.

use serde::Serialize;

use super::gate;
use super::status::{StatusReport, status};
use crate::backend::Backend;
use crate::domain::migration::CatalogVersion;
use crate::domain::recognition::State;
use crate::domain::schema::Lineage;
use crate::ops::Result;

/// What is let through.
#[derive(Debug, Clone, Copy, Default)]
pub struct CheckOptions {
    /// Pending migrations are no finding.
    pub allow_pending: bool,
    /// The catalog must be at this version.
    pub expect: Option<CatalogVersion>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable upper-case word.
    pub code: &'static str,
    /// What was found.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The outcome.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// Nothing was found.
    pub ok: bool,
    /// What was found.
    pub findings: Vec<Finding>,
    /// A lineage must not be touched at all.
    #[serde(skip)]
    pub refused: bool,
}

/// Looks at everything.
///
/// # Errors
/// Database errors; whatever is wrong with the catalog is a finding.
pub async fn check(backend: &dyn Backend, options: &CheckOptions) -> Result<CheckReport> {
    let report = status(backend).await?;
    let mut findings = Vec::new();
    lineages(&report, &mut findings);
    expected_version(&report, options, &mut findings);
    if !options.allow_pending {
        pending(&report, &mut findings);
    }
    edited_bodies(backend, &mut findings).await?;
    Ok(CheckReport { ok: findings.is_empty(), refused: report.refused().is_some(), findings })
}

fn lineages(report: &StatusReport, findings: &mut Vec<Finding>) {
    for lineage in &report.lineages {
        let name = lineage.lineage;
        if let Some(refusal) = &lineage.refusal {
            findings.push(Finding {
                code: "CATALOG_REFUSED",
                message: format!("{name}: {refusal}"),
                hint: "`extenddb-admin migrate status` says what was recognised".to_owned(),
            });
            continue;
        }
        match lineage.state {
            State::Empty if name == Lineage::Catalog => findings.push(Finding {
                code: "NOT_INITIALIZED",
                message: "there is no catalog".to_owned(),
                hint: "check the URL; `extenddb-admin migrate` makes one".to_owned(),
            }),
            State::Interrupted => findings.push(Finding {
                code: "INTERRUPTED",
                message: format!("{name}: {}", lineage.notes.join("; ")),
                hint: "run `extenddb-admin migrate` again: it goes on where it stopped".to_owned(),
            }),
            State::Unrecognised => findings.push(Finding {
                code: "UNRECOGNISED",
                message: format!("{name}: nothing that this build knows"),
                hint: "`extenddb-admin schema diff` says what is there".to_owned(),
            }),
            _ => {}
        }
        if !lineage.drift.is_empty() {
            let repair = if lineage.is_repairable() {
                "migrate repair` brings it back"
            } else {
                "migrate verify` shows all of it"
            };
            findings.push(Finding {
                code: "DRIFT",
                message: format!("{name}: {}", gate::listed(&lineage.drift)),
                hint: format!("`extenddb-admin {repair}"),
            });
        }
    }
}

fn expected_version(report: &StatusReport, options: &CheckOptions, findings: &mut Vec<Finding>) {
    let Some(expected) = options.expect else { return };
    let found = gate::version(report);
    if found != Some(expected) {
        let found = found.map_or_else(|| "no version that is known".to_owned(), |v| v.to_string());
        findings.push(Finding {
            code: "VERSION",
            message: format!("the catalog is at {found}, expected {expected}"),
            hint: format!("`extenddb-admin migrate up --to {expected}`"),
        });
    }
}

fn pending(report: &StatusReport, findings: &mut Vec<Finding>) {
    for lineage in report.lineages.iter().filter(|l| !l.pending.is_empty() && l.lineage != Lineage::Admin) {
        let versions: Vec<&str> = lineage.pending.iter().map(|p| p.version.as_str()).collect();
        findings.push(Finding {
            code: "PENDING",
            message: format!("{}: pending {}", lineage.lineage, versions.join(", ")),
            hint: "`extenddb-admin migrate plan` shows each step; --allow-pending lets it pass".to_owned(),
        });
    }
}

/// Applied migrations whose body of this build is another than the one that ran.
async fn edited_bodies(backend: &dyn Backend, findings: &mut Vec<Finding>) -> Result<()> {
    for edited in super::repair::edited(backend).await? {
        findings.push(Finding {
            code: "BODY_EDITED",
            message: edited.to_string(),
            hint: format!("restore the shipped file, or `extenddb-admin migrate repair --accept {}`", edited.name),
        });
    }
    Ok(())
}
