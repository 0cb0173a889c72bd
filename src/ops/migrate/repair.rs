//! `migrate repair`: brings a drifted catalog back where that cannot lose data, and accepts edited bodies.
//!
//! What a released body's step makes is made by that step; the rest by statements from the golden schema. The
//! whole repair of a database is one transaction, and it is kept only if nothing differs afterwards.

use std::fmt;

use serde::Serialize;

use super::apply::Run;
use super::gate;
use super::plan;
use super::status::{self, LineageStatus, StatusReport};
use crate::backend::Backend;
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::domain::applied::{Entry, NewEntry, Outcome, StepRun, TOOL_VERSION};
use crate::domain::ddl::mend;
use crate::domain::difference::{Difference, Subject};
use crate::domain::migration::{Condition, LockLevel, Migration, Place, Step, Work};
use crate::domain::schema::Lineage;
use crate::migrations;
use crate::ops::{Error, Result};

/// One statement of a repair.
#[derive(Debug, Clone, Serialize)]
pub struct RepairStep {
    /// Lineage it belongs to.
    pub lineage: Lineage,
    /// What it brings back.
    pub object: String,
    /// What runs.
    pub action: String,
    #[serde(skip)]
    step: Step,
}

/// What a repair will do.
#[derive(Debug, Clone, Serialize)]
pub struct RepairPlan {
    /// Statements, in order.
    pub steps: Vec<RepairStep>,
}

/// What a repair did.
#[derive(Debug, Clone, Serialize)]
pub struct RepairReport {
    /// Objects that were brought back.
    pub repaired: Vec<String>,
    /// Fingerprint of the catalog now.
    pub fingerprint: String,
}

/// Looks at what differs and how it would be repaired.
///
/// # Errors
/// `CatalogRefused` for a catalog that must not be touched; `CheckFailed` naming what cannot be repaired.
pub async fn look(backend: &dyn Backend) -> Result<RepairPlan> {
    let report = status::status(backend).await?;
    report.require_accepted()?;
    let mut steps = Vec::new();
    let mut refused = Vec::new();
    for lineage in report.lineages.iter().filter(|l| !l.drift.is_empty()) {
        let by_steps = pending_steps(backend, &report, lineage.lineage).await?;
        let (ours, theirs) = sort_out(backend, lineage, &by_steps)?;
        steps.extend(ours);
        refused.extend(theirs);
    }
    if refused.is_empty() {
        return Ok(RepairPlan { steps });
    }
    Err(Error::CheckFailed {
        code: "NOT_REPAIRABLE",
        message: format!(
            "nothing was changed, as this cannot be repaired without losing data: {}",
            gate::listed(&refused)
        ),
        hint: Some(
            "bring it back by hand, or from a dump; `extenddb-admin migrate verify` shows what is expected".to_owned(),
        ),
    })
}

/// Steps of the bodies up to the recognised version that are not done.
async fn pending_steps(backend: &dyn Backend, report: &StatusReport, lineage: Lineage) -> Result<Vec<&'static Step>> {
    let Some(at) = gate::version(report) else { return Ok(Vec::new()) };
    let plan = plan::plan(backend, Some(at), at).await?;
    let of_lineage = plan.migrations.into_iter().filter(|m| m.lineage == lineage);
    Ok(of_lineage.flat_map(|m| m.steps).map(|s| s.source).collect())
}

/// Each difference with the statements that mend it, and those that nothing mends.
fn sort_out(
    backend: &dyn Backend,
    lineage: &LineageStatus,
    by_steps: &[&'static Step],
) -> Result<(Vec<RepairStep>, Vec<Difference>)> {
    let known = status::known(lineage.lineage, backend.name())?;
    let golden =
        lineage.recognised_version.as_deref().and_then(|v| known.position(v)).map(|at| &known.versions[at].schema);
    let mut steps: Vec<RepairStep> = Vec::new();
    let mut refused = Vec::new();
    let from_step = |step: &Step, object: &str| RepairStep {
        lineage: lineage.lineage,
        object: object.to_owned(),
        action: step.action(),
        step: step.clone(),
    };
    for difference in &lineage.drift {
        if !difference.repairable {
            refused.push(difference.clone());
            continue;
        }
        let makes: Vec<&&Step> = by_steps.iter().filter(|step| brings_back(step, &difference.subject)).collect();
        if !makes.is_empty() {
            steps.extend(makes.into_iter().map(|step| from_step(step, &difference.object)));
            continue;
        }
        let statements = golden.and_then(|golden| mend(golden, difference));
        let can = lineage.lineage != Lineage::Admin
            && !(backend.name() == "sqlite" && matches!(difference.kind, crate::domain::difference::Kind::Collation));
        match statements.filter(|_| can) {
            Some(statements) => {
                steps.push(from_step(&statement(lineage.lineage, difference, &statements), &difference.object))
            }
            None => refused.push(difference.clone()),
        }
    }
    steps.dedup_by(|a, b| a.step.name == b.step.name);
    Ok((steps, refused))
}

/// Whether a released step makes the object of a difference.
fn brings_back(step: &Step, subject: &Subject) -> bool {
    step.done_when.iter().any(|condition| match (condition, subject) {
        (Condition::Table(made), Subject::Table(table)) => made == table,
        (Condition::Index(made), Subject::Index(_, index)) => made == index,
        (Condition::Column { table, column, .. }, Subject::Column(t, c)) => table == t && column == c,
        (Condition::Index(_), Subject::Table(table)) => {
            step.done_when.iter().any(|c| matches!(c, Condition::Table(of) if of == table))
        }
        _ => false,
    }) || matches!(subject, Subject::Row(row) if row_of(row, &step.name))
}

/// `setting catalog_version` is brought back by the step `catalog version 0.0.5`, a ledger row by its step.
fn row_of(row: &str, step: &str) -> bool {
    row == step
        || (row == "setting catalog_version" && step.starts_with("catalog version "))
        || step.strip_prefix("ledger row ").is_some_and(|name| row.starts_with(&format!("row {name} ")))
}

fn statement(lineage: Lineage, difference: &Difference, statements: &[String]) -> Step {
    Step {
        name: format!("repair {}", difference.object),
        on: if lineage == Lineage::Data { Place::Data } else { Place::Catalog },
        done_when: Vec::new(),
        sql: Some(statements.join(";\n")),
        operation: None,
        transactional: true,
        breaking: false,
        lock: LockLevel::AccessExclusive,
        work: Work::Scan,
        touches: difference.subject.table().map(str::to_owned),
        drops: None,
        optional: false,
    }
}

/// Runs a repair under the lock.
///
/// # Errors
/// As [`look`]; `Failed` when something still differs afterwards (then nothing was changed).
pub async fn repair(run: &Run<'_>, options: &SessionOptions) -> Result<RepairReport> {
    let mut session = run.backend.migration_session(options).await?;
    let outcome = under_lock(run, &mut *session).await;
    if outcome.is_err() {
        let _ = session.rollback().await;
    }
    session.close().await?;
    outcome
}

async fn under_lock(run: &Run<'_>, session: &mut dyn MigrationSession) -> Result<RepairReport> {
    let plan = look(run.backend).await?;
    if !plan.steps.is_empty() {
        run.backend.ensure_admin().await?;
    }
    let recorded = run.backend.recorded().await?;
    for lineage in [Lineage::Catalog, Lineage::Data] {
        let steps: Vec<&RepairStep> = plan.steps.iter().filter(|s| s.lineage == lineage).collect();
        let Some(first) = steps.first() else { continue };
        let known = status::known(lineage, run.backend.name())?;
        let report = status::status(run.backend).await?;
        let at = report.lineage(lineage).and_then(|l| l.recognised_version.clone()).unwrap_or_default();
        let before = gate::fingerprint(&known, &session.introspect(lineage).await?);
        let id = session.record_start(&entry(run, lineage, &at, before, &steps)).await?;
        let place = first.step.on;
        session.begin(place).await?;
        let mut runs = Vec::new();
        for repair in &steps {
            let started = std::time::Instant::now();
            if !repair.step.done_when.is_empty() && session.is_done(&repair.step).await? {
                continue;
            }
            session.run(&repair.step).await?;
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            runs.push(StepRun { step: repair.step.name.clone(), duration_ms });
        }
        let found = session.introspect(lineage).await?;
        gate::check_made(&known, &at, &found, &recorded)?;
        let after = gate::fingerprint(&known, &found).unwrap_or_default();
        if place == Place::Catalog {
            session.record_finish(id, &after, &runs).await?;
            session.commit().await?;
        } else {
            session.commit().await?;
            session.record_finish(id, &after, &runs).await?;
        }
    }
    let report = gate::pass(run.backend).await?;
    let fingerprint = report.lineage(Lineage::Catalog).and_then(|l| l.fingerprint);
    Ok(RepairReport {
        repaired: plan.steps.into_iter().map(|s| s.object).collect(),
        fingerprint: fingerprint.map(|f| f.to_string()).unwrap_or_default(),
    })
}

fn entry(run: &Run<'_>, lineage: Lineage, at: &str, before: Option<String>, steps: &[&RepairStep]) -> NewEntry {
    let objects: Vec<&str> = steps.iter().map(|s| s.object.as_str()).collect();
    let body = migrations::by_version(lineage, at).and_then(|m| m.body(run.backend.name()));
    NewEntry {
        lineage,
        version: at.to_owned(),
        name: "repair".to_owned(),
        outcome: Outcome::Repaired,
        body_digest: body.map(|b| b.digest()).unwrap_or_default(),
        fingerprint_before: before,
        tool_version: TOOL_VERSION.to_owned(),
        applied_by: run.applied_by.to_owned(),
        note: Some(objects.join("; ")),
    }
}

/// An applied migration whose shipped body is another than the one that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Name of the migration, as `--accept` takes it.
    pub name: String,
    /// Digest in our ledger.
    pub recorded: String,
    /// Digest of the shipped body.
    pub shipped: String,
}

impl fmt::Display for Edited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |digest: &str| digest.chars().take(12).collect::<String>();
        write!(
            f,
            "migration {} {} ({}) was edited after it ran: recorded {}, shipped {}",
            self.lineage,
            self.version,
            self.name,
            short(&self.recorded),
            short(&self.shipped)
        )
    }
}

/// Compares the digests of our ledger with the bodies of this build.
///
/// # Errors
/// Database errors.
pub async fn edited(backend: &dyn Backend) -> Result<Vec<Edited>> {
    let history = backend.history().await?;
    let mut edited = Vec::new();
    for lineage in [Lineage::Catalog, Lineage::Data, Lineage::Admin] {
        for migration in migrations::of_lineage(lineage) {
            edited.extend(edited_one(backend.name(), migration, &history));
        }
    }
    Ok(edited)
}

fn edited_one(backend: &str, migration: &Migration, history: &[Entry]) -> Option<Edited> {
    let shipped = migration.body(backend)?.digest();
    let last = history.iter().rev().find(|e| {
        e.lineage == migration.lineage
            && e.version == migration.version()
            && e.finished_at.is_some()
            && matches!(e.outcome, Outcome::Applied | Outcome::Adopted | Outcome::Accepted)
    })?;
    (last.body_digest != shipped).then(|| Edited {
        lineage: migration.lineage,
        version: migration.version().to_owned(),
        name: migration.name.clone(),
        recorded: last.body_digest.clone(),
        shipped,
    })
}

/// Refuses to go on while an applied migration's body is another than the one that ran.
///
/// # Errors
/// `CheckFailed` naming each.
pub async fn refuse_edited(backend: &dyn Backend) -> Result<()> {
    let edited = edited(backend).await?;
    if edited.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = edited.iter().map(|e| e.name.as_str()).collect();
    let list: Vec<String> = edited.iter().map(ToString::to_string).collect();
    Err(Error::CheckFailed {
        code: "BODY_EDITED",
        message: list.join("; "),
        hint: Some(format!(
            "restore the shipped file, or record the change with `extenddb-admin migrate repair --accept {}`",
            names.join(" --accept ")
        )),
    })
}

/// Records that the body of an applied migration was changed on purpose.
///
/// # Errors
/// `NotFound` when no applied migration of the name differs.
pub async fn accept(run: &Run<'_>, name: &str, options: &SessionOptions) -> Result<Edited> {
    let mut session = run.backend.migration_session(options).await?;
    let outcome = accept_under_lock(run, &mut *session, name).await;
    session.close().await?;
    outcome
}

async fn accept_under_lock(run: &Run<'_>, session: &mut dyn MigrationSession, name: &str) -> Result<Edited> {
    let edited = edited(run.backend).await?;
    let found = edited.iter().find(|e| e.name == name || e.version == name).cloned();
    let Some(found) = found else {
        let names: Vec<&str> = edited.iter().map(|e| e.name.as_str()).collect();
        let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(Error::NotFound(format!(
            "no applied migration {name:?} has another body than it ran with (such are: {there})"
        )));
    };
    let known = status::known(found.lineage, run.backend.name())?;
    let now = gate::fingerprint(&known, &session.introspect(found.lineage).await?);
    let entry = NewEntry {
        lineage: found.lineage,
        version: found.version.clone(),
        name: found.name.clone(),
        outcome: Outcome::Accepted,
        body_digest: found.shipped.clone(),
        fingerprint_before: now.clone(),
        tool_version: TOOL_VERSION.to_owned(),
        applied_by: run.applied_by.to_owned(),
        note: Some(format!("body {} accepted in place of {}", found.shipped, found.recorded)),
    };
    let id = session.record_start(&entry).await?;
    session.record_finish(id, &now.unwrap_or_default(), &[]).await?;
    Ok(found)
}
