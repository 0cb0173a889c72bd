//! `migrate down`: takes the newest version back where that loses nothing that matters, and ends on the exact
//! earlier fingerprint.

use std::collections::BTreeMap;

use serde::Serialize;

use super::apply::Run;
use super::{gate, status};
use crate::archive::layout::{BackupPrefix, COMMIT_RECORD};
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::domain::applied::{Outcome, StepRun};
use crate::domain::job::BackupStatus;
use crate::domain::migration::{Body, CatalogVersion, Down, Migration, Place, Question, Step};
use crate::domain::recognition::State;
use crate::domain::schema::Lineage;
use crate::migrations;
use crate::ops::settings::{OpenStore, Stores};
use crate::ops::{Error, Result};

/// Rows that are listed of each kind.
const ROWS_SHOWN: usize = 8;

/// Rows of one kind that are lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What they are.
    pub what: String,
    /// How many.
    pub count: usize,
    /// The first few.
    pub names: Vec<String>,
}

/// What going back means.
#[derive(Debug, Clone, Serialize)]
pub struct DownPlan {
    /// Version now.
    pub from: CatalogVersion,
    /// Version afterwards.
    pub to: CatalogVersion,
    /// Rows that are lost.
    pub loses: Vec<Loss>,
    /// Steps, in order.
    pub steps: Vec<DownStep>,
}

/// One step back.
#[derive(Debug, Clone, Serialize)]
pub struct DownStep {
    /// Its name.
    pub step: String,
    /// What runs.
    pub action: String,
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct DownReport {
    /// Backend.
    pub backend: String,
    /// Version before.
    pub from: String,
    /// Version now.
    pub version: String,
    /// Fingerprint now.
    pub fingerprint: String,
    /// Rows that were lost.
    pub lost: Vec<Loss>,
}

/// The version to go back from, and its body.
struct Newest {
    migration: &'static Migration,
    body: &'static Body,
    down: &'static Down,
    from: CatalogVersion,
    to: CatalogVersion,
}

async fn newest(run: &Run<'_>) -> Result<Newest> {
    let report = gate::pass(run.backend).await?;
    let catalog = report.lineage(Lineage::Catalog);
    if catalog.is_some_and(|l| l.state == State::Interrupted) {
        return Err(Error::CatalogRefused {
            message: "the last migration was interrupted".to_owned(),
            hint: Some("run `extenddb-admin migrate` to its end first".to_owned()),
        });
    }
    let from = gate::version(&report)
        .ok_or_else(|| Error::CatalogRefused { message: "there is no catalog to take back".to_owned(), hint: None })?;
    let earlier =
        migrations::of_lineage(Lineage::Catalog).rev().filter_map(Migration::catalog_version).find(|v| *v < from);
    let migration = migrations::by_version(Lineage::Catalog, &from.to_string());
    let body = migration.and_then(|m| m.body(run.backend.name()));
    match (migration, body, body.and_then(|b| b.down.as_ref()), earlier) {
        (Some(migration), Some(body), Some(down), Some(to)) => Ok(Newest { migration, body, down, from, to }),
        _ => Err(Error::CatalogRefused {
            message: format!("there is no way back from {from}: what it changed in data cannot be undone without loss"),
            hint: Some("restore a dump from before it".to_owned()),
        }),
    }
}

/// Looks at what going back would lose, and changes nothing.
///
/// # Errors
/// `CatalogRefused` when there is no way back; `Busy` when rows stand in it, naming them, or the lock is held.
pub async fn preview(run: &Run<'_>, stores: &dyn Stores, options: &SessionOptions) -> Result<DownPlan> {
    let mut session = run.backend.migration_session(options).await?;
    let plan = look(run, stores, &mut *session).await;
    session.close().await?;
    plan
}

async fn look(run: &Run<'_>, stores: &dyn Stores, session: &mut dyn MigrationSession) -> Result<DownPlan> {
    let newest = newest(run).await?;
    for question in &newest.down.refused_by {
        let names = session.texts(Place::Catalog, &question.query).await?;
        if !names.is_empty() {
            let loss = loss(question, names);
            return Err(Error::Busy(format!(
                "going back from {} is refused by {} {}: {}",
                newest.from,
                loss.count,
                loss.what,
                loss.names.join(", ")
            )));
        }
    }
    let unproven = known_to_the_catalog_only(run, stores).await?;
    if !unproven.is_empty() {
        let more = if unproven.len() > ROWS_SHOWN { ", …" } else { "" };
        return Err(Error::Busy(format!(
            "going back from {} is refused by {} backups that only the catalog knows, as no commit record was found in \
             their stores: {}{more}",
            newest.from,
            unproven.len(),
            unproven.iter().take(ROWS_SHOWN).cloned().collect::<Vec<_>>().join(", ")
        )));
    }
    let mut loses = Vec::new();
    for question in &newest.down.loses {
        let names = session.texts(Place::Catalog, &question.query).await?;
        if !names.is_empty() {
            loses.push(loss(question, names));
        }
    }
    let steps = newest.down.steps.iter().map(|s| DownStep { step: s.name.clone(), action: s.action() }).collect();
    Ok(DownPlan { from: newest.from, to: newest.to, loses, steps })
}

/// Available backups whose commit record could not be seen in their store, with the reason.
async fn known_to_the_catalog_only(run: &Run<'_>, stores: &dyn Stores) -> Result<Vec<String>> {
    let rows = run.backend.backup_rows(None).await?;
    let mut opened: BTreeMap<String, std::result::Result<OpenStore, String>> = BTreeMap::new();
    let mut unproven = Vec::new();
    for row in rows.iter().filter(|row| row.status == BackupStatus::Available) {
        let root = &row.store.root;
        if !opened.contains_key(root) {
            opened.insert(root.clone(), stores.open(root).await.map_err(|e| e.to_string()));
        }
        let prefix = BackupPrefix::new(&row.key.account_id, &row.table_name, &row.key.backup_id);
        let seen = match (&opened[root], prefix) {
            (Ok(store), Ok(prefix)) => {
                store.store.head(&prefix.object(COMMIT_RECORD)).await.map(|o| o.is_some()).map_err(|e| e.to_string())
            }
            (Err(reason), _) => Err(reason.clone()),
            (_, Err(reason)) => Err(reason),
        };
        match seen {
            Ok(true) => {}
            Ok(false) => unproven.push(format!("{} (not in {root})", row.key.backup_arn)),
            Err(reason) => unproven.push(format!("{} ({reason})", row.key.backup_arn)),
        }
    }
    Ok(unproven)
}

fn loss(question: &Question, names: Vec<String>) -> Loss {
    Loss { what: question.what.clone(), count: names.len(), names: names.into_iter().take(ROWS_SHOWN).collect() }
}

/// Goes back by one version.
///
/// # Errors
/// As [`preview`]; `Busy` for servers that are alive; `Failed` when the earlier schema does not come out exactly
/// (then nothing was changed).
pub async fn down(
    run: &Run<'_>,
    stores: &dyn Stores,
    options: &SessionOptions,
    allow_live: bool,
) -> Result<DownReport> {
    let mut session = run.backend.migration_session(options).await?;
    let outcome = under_lock(run, stores, &mut *session, allow_live).await;
    session.close().await?;
    outcome
}

async fn under_lock(
    run: &Run<'_>,
    stores: &dyn Stores,
    session: &mut dyn MigrationSession,
    allow_live: bool,
) -> Result<DownReport> {
    let plan = look(run, stores, session).await?;
    super::up::refuse_live(run, plan.to, allow_live).await?;
    let newest = newest(run).await?;
    run.backend.ensure_admin().await?;
    let outcome = take_back(run, session, &newest).await;
    if outcome.is_err() {
        let _ = session.rollback().await;
    }
    let fingerprint = outcome?;
    Ok(DownReport {
        backend: run.backend.name().to_owned(),
        from: plan.from.to_string(),
        version: plan.to.to_string(),
        fingerprint,
        lost: plan.loses,
    })
}

async fn take_back(run: &Run<'_>, session: &mut dyn MigrationSession, newest: &Newest) -> Result<String> {
    let known = status::known(Lineage::Catalog, run.backend.name())?;
    let recorded = run.backend.recorded().await?;
    let before = gate::fingerprint(&known, &session.introspect(Lineage::Catalog).await?);
    let id = run
        .begin(session, newest.migration, newest.body, Outcome::Undone, before, &run.backend.history().await?)
        .await?;
    session.begin(Place::Catalog).await?;
    let mut runs = Vec::new();
    for step in &newest.down.steps {
        runs.extend(run_step(session, step).await?);
    }
    let found = session.introspect(Lineage::Catalog).await?;
    gate::check_made(&known, &newest.to.to_string(), &found, &recorded)?;
    let after = gate::fingerprint(&known, &found).unwrap_or_default();
    session.record_finish(id, &after, &runs).await?;
    session.commit().await?;
    Ok(after)
}

async fn run_step(session: &mut dyn MigrationSession, step: &Step) -> Result<Option<StepRun>> {
    if session.is_done(step).await? {
        return Ok(None);
    }
    let started = std::time::Instant::now();
    session.run(step).await?;
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Some(StepRun { step: step.name.clone(), duration_ms }))
}
