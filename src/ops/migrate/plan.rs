//! What is to be done: the steps of every migration up to a target that are not done yet.
//!
//! Released bodies are looked through from the first: a step of an older version that is not done is what a
//! variant lacks, or what a crash left, and is brought up on the way.

use serde::Serialize;

use crate::backend::Backend;
use crate::domain::migration::{CatalogVersion, LockLevel, Migration, Place, Step, Work};
use crate::domain::schema::Lineage;
use crate::migrations;
use crate::ops::{Error, Result};

/// One step that will run.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedStep {
    /// Its name.
    pub step: String,
    /// Database it runs in.
    pub on: Place,
    /// Its statements, or what its code does.
    pub action: String,
    /// Lock it takes.
    pub lock: LockLevel,
    /// What it does to the rows of `touches`.
    pub work: Work,
    /// Table whose size tells how long it takes.
    pub touches: Option<String>,
    /// Rows of that table, as estimated.
    pub estimated_rows: Option<u64>,
    /// Bytes of that table, as estimated.
    pub estimated_bytes: Option<u64>,
    /// A running server would notice.
    pub breaking: bool,
    /// Runs alone, outside a transaction.
    pub alone: bool,
    /// What is lost by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<String>,
    /// It may fail.
    pub optional: bool,
    #[serde(skip)]
    pub(super) source: &'static Step,
}

/// One version with steps to run.
#[derive(Debug, Clone, Serialize)]
pub struct PlannedMigration {
    /// Lineage.
    pub lineage: Lineage,
    /// Version it leads to.
    pub version: String,
    /// Name.
    pub name: String,
    /// What it is about.
    pub summary: String,
    /// The catalog has that version already; the steps bring up what it lacks.
    pub completes: bool,
    /// Servers of the version before must be stopped.
    pub breaking: bool,
    /// To be said before the operator is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Steps, in order.
    pub steps: Vec<PlannedStep>,
    #[serde(skip)]
    pub(super) source: &'static Migration,
}

/// Everything that will run, in order.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Backend.
    pub backend: String,
    /// Catalog version now; none on an empty database.
    pub from: Option<CatalogVersion>,
    /// Catalog version aimed at.
    pub to: CatalogVersion,
    /// Versions with steps to run.
    pub migrations: Vec<PlannedMigration>,
}

impl Plan {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.migrations.is_empty()
    }

    /// Whether a running server would notice any of it. On an empty database there is none.
    #[must_use]
    pub fn is_breaking(&self) -> bool {
        self.from.is_some() && self.migrations.iter().any(|m| m.breaking)
    }

    /// What must be said before the operator is asked.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        self.migrations.iter().filter_map(|m| m.notice.as_deref())
    }
}

/// The target of a run: the version asked for, or the newest of this build.
///
/// # Errors
/// `Usage` for a version this build does not have, or one below the catalog's.
pub fn target(backend: &str, asked: Option<CatalogVersion>, from: Option<CatalogVersion>) -> Result<CatalogVersion> {
    let known: Vec<CatalogVersion> = migrations::of_lineage(Lineage::Catalog)
        .filter(|m| m.body(backend).is_some())
        .filter_map(Migration::catalog_version)
        .collect();
    let newest = known.iter().max().copied().ok_or_else(|| {
        Error::Failed(format!("this build has no catalog migrations for {backend}, which its tests rule out"))
    })?;
    let Some(asked) = asked else { return Ok(newest) };
    if !known.contains(&asked) {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        return Err(Error::Usage(format!("there is no catalog version {asked} (versions: {})", known.join(", "))));
    }
    match from {
        Some(from) if asked < from => Err(Error::Usage(format!(
            "the catalog is at {from}, which is past {asked}: `migrate down` goes back by one version"
        ))),
        _ => Ok(asked),
    }
}

/// The migrations that lead to a catalog version, those of the data where the catalog needs them.
#[must_use]
pub fn sequence(backend: &str, target: CatalogVersion) -> Vec<&'static Migration> {
    let mut all = Vec::new();
    for catalog in migrations::of_lineage(Lineage::Catalog) {
        let Some(version) = catalog.catalog_version().filter(|v| *v <= target) else { continue };
        let data = |before: bool| {
            migrations::of_lineage(Lineage::Data)
                .filter(move |m| m.header.with_catalog == Some(version) && m.header.before_catalog == before)
        };
        all.extend(data(true));
        all.push(catalog);
        all.extend(data(false));
    }
    all.retain(|m| m.body(backend).is_some());
    all
}

/// Looks at every step up to the target and keeps those that are not done.
///
/// # Errors
/// Database errors.
pub async fn plan(backend: &dyn Backend, from: Option<CatalogVersion>, to: CatalogVersion) -> Result<Plan> {
    let name = backend.name();
    let sequence = sequence(name, to);
    let steps: Vec<&'static Step> = sequence
        .iter()
        .flat_map(|m| m.body(name).expect("only migrations with a body are kept").steps.iter())
        .collect();
    let mut done = backend.done(&steps).await?.into_iter();
    let mut planned = Vec::new();
    for migration in sequence {
        let body = migration.body(name).expect("only migrations with a body are kept");
        let pending: Vec<&'static Step> =
            body.steps.iter().filter(|_| !done.next().expect("an answer for each step")).collect();
        // An optional step that fails stays open for good: alone it is nothing to do.
        if pending.iter().all(|step| step.optional) {
            continue;
        }
        let mut steps = Vec::with_capacity(pending.len());
        for step in pending {
            steps.push(planned_step(backend, from, step).await?);
        }
        planned.push(planned_migration(migration, from, steps));
    }
    Ok(Plan { backend: name.to_owned(), from, to, migrations: planned })
}

async fn planned_step(backend: &dyn Backend, from: Option<CatalogVersion>, step: &'static Step) -> Result<PlannedStep> {
    let size = match &step.touches {
        Some(table) if from.is_some() => backend.table_size(step.on, table).await?,
        _ => None,
    };
    Ok(PlannedStep {
        step: step.name.clone(),
        on: step.on,
        action: step.action(),
        lock: step.lock,
        work: step.work,
        touches: step.touches.clone(),
        estimated_rows: size.map(|(rows, _)| rows),
        estimated_bytes: size.map(|(_, bytes)| bytes).filter(|bytes| *bytes > 0),
        breaking: step.breaking,
        alone: !step.transactional,
        drops: step.drops.clone(),
        optional: step.optional,
        source: step,
    })
}

fn planned_migration(
    migration: &'static Migration,
    from: Option<CatalogVersion>,
    steps: Vec<PlannedStep>,
) -> PlannedMigration {
    let version = migration.catalog_version().or(migration.header.with_catalog);
    let completes = from.is_some() && version.is_some_and(|v| from.is_some_and(|from| v <= from));
    PlannedMigration {
        lineage: migration.lineage,
        version: migration.version().to_owned(),
        name: migration.name.clone(),
        summary: migration.header.summary.clone(),
        completes,
        breaking: (migration.header.breaking && !completes) || steps.iter().any(|s| s.breaking),
        notice: migration.header.notice.clone().filter(|_| !completes),
        steps,
        source: migration,
    }
}
