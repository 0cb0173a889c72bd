//! Doing it: everything pending, under the lock, one transaction where that can be.
//!
//! Each run of steps that share a database and can share a transaction is one unit. The unit that ends a
//! migration of the catalog also compares the schema with the golden one and writes our ledger's end, so that
//! a schema that came out wrong is rolled back with it. A killed run leaves whole units; the same command goes
//! on from there.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::gate;
use super::plan::{Plan, PlannedMigration};
use super::status;
use crate::backend::Backend;
use crate::backend::ledger::MigrationSession;
use crate::domain::applied::{Entry, NewEntry, Outcome, StepRun, TOOL_VERSION};
use crate::domain::known::Known;
use crate::domain::migration::{Body, Migration, Place, Step};
use crate::domain::recorded::Recorded;
use crate::domain::schema::Lineage;
use crate::ops::cancel::Cancel;
use crate::ops::observer::Observer;
use crate::ops::{Error, Result};

/// Times a unit is tried when the database says that trying again may help.
const TRIES: u32 = 5;
/// Pause after the first failure; it doubles, and up to half is added at random.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// A migration that was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Name.
    pub name: String,
    /// How long it took.
    pub duration_ms: u64,
    /// How long each step took.
    pub steps: Vec<StepRun>,
}

/// Who migrates, and who is told.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The deployment.
    pub backend: &'a dyn Backend,
    /// User and host, for our ledger.
    pub applied_by: &'a str,
    /// Told what happens.
    pub observer: &'a dyn Observer,
    /// Asked between steps.
    pub cancel: &'a Cancel,
}

impl Run<'_> {
    /// Applies a plan. The migrations that were finished come back with an error too.
    ///
    /// # Errors
    /// Whatever stopped it; what was begun and not committed is rolled back.
    pub async fn apply(&self, session: &mut dyn MigrationSession, plan: &Plan) -> (Vec<Applied>, Result<()>) {
        let mut applied = Vec::new();
        let before = match self.look().await {
            Ok(before) => before,
            Err(error) => return (applied, Err(error)),
        };
        for planned in &plan.migrations {
            match self.migration(session, planned, &before).await {
                Ok(done) => applied.push(done),
                Err(error) => {
                    // A cut connection cannot roll back; the database does it then.
                    let _ = session.rollback().await;
                    return (applied, Err(error));
                }
            }
        }
        (applied, Ok(()))
    }

    async fn look(&self) -> Result<Before> {
        Ok(Before { recorded: self.backend.recorded().await?, history: self.backend.history().await? })
    }

    async fn migration(
        &self,
        session: &mut dyn MigrationSession,
        planned: &PlannedMigration,
        at_start: &Before,
    ) -> Result<Applied> {
        let started = Instant::now();
        let outcome = if planned.completes { Outcome::Repaired } else { Outcome::Applied };
        let body = planned.source.body(self.backend.name()).expect("planned migrations have a body");
        let known = status::known(planned.lineage, self.backend.name())?;
        let before = gate::fingerprint(&known, &session.introspect(planned.lineage).await?);
        let id = self.begin(session, planned.source, body, outcome, before, &at_start.history).await?;
        let end = End { id, planned, known: &known, recorded: &at_start.recorded };
        let steps = self.units(session, body, &end).await?;
        Ok(Applied {
            lineage: planned.lineage,
            version: planned.version.clone(),
            name: planned.name.clone(),
            duration_ms: millis(started.elapsed()),
            steps,
        })
    }

    /// The row of our ledger: the one that an interrupted run left, or a new one.
    pub(super) async fn begin(
        &self,
        session: &mut dyn MigrationSession,
        migration: &Migration,
        body: &Body,
        outcome: Outcome,
        fingerprint_before: Option<String>,
        history: &[Entry],
    ) -> Result<i64> {
        let unfinished = |e: &Entry| {
            e.finished_at.is_none()
                && e.lineage == migration.lineage
                && e.version == migration.version()
                && e.outcome == outcome
        };
        if let Some(entry) = history.iter().rev().find(|e| unfinished(e)) {
            return Ok(entry.id);
        }
        let entry = NewEntry {
            lineage: migration.lineage,
            version: migration.version().to_owned(),
            name: migration.name.clone(),
            outcome,
            body_digest: body.digest(),
            fingerprint_before,
            tool_version: TOOL_VERSION.to_owned(),
            applied_by: self.applied_by.to_owned(),
            note: None,
        };
        Ok(session.record_start(&entry).await?)
    }

    async fn units(&self, session: &mut dyn MigrationSession, body: &Body, end: &End<'_>) -> Result<Vec<StepRun>> {
        let units = split(&body.steps);
        let mut runs = Vec::new();
        for (i, unit) in units.iter().enumerate() {
            let end = (i + 1 == units.len()).then_some(end);
            let mut tries = 0;
            loop {
                tries += 1;
                let mut attempt = runs.clone();
                match self.unit(session, unit, end, &mut attempt).await {
                    Ok(()) => {
                        runs = attempt;
                        break;
                    }
                    Err(error) if tries < TRIES && may_help(&error) => {
                        session.rollback().await?;
                        let pause = pause_after(tries);
                        self.observer.note(&format!("{error}; trying again in {} ms", pause.as_millis()));
                        tokio::time::sleep(pause).await;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(runs)
    }

    /// Runs one unit; the last one compares what was made before it is committed.
    async fn unit(
        &self,
        session: &mut dyn MigrationSession,
        unit: &Unit<'_>,
        end: Option<&End<'_>>,
        runs: &mut Vec<StepRun>,
    ) -> Result<()> {
        if unit.shared {
            session.begin(unit.place).await?;
        }
        for step in &unit.steps {
            self.stop_if_asked()?;
            let started = Instant::now();
            // Looked at again under the lock: a step before it may have done its work, or undone it.
            if session.is_done(step).await? {
                continue;
            }
            self.observer.phase(&step.name, None);
            session.run(step).await?;
            if !step.optional && !session.is_done(step).await? {
                return Err(Error::Failed(format!(
                    "step {:?} ran and its conditions do not hold: what it made is not what it should be",
                    step.name
                )));
            }
            runs.push(StepRun { step: step.name.clone(), duration_ms: millis(started.elapsed()) });
        }
        let Some(end) = end else { return if unit.shared { Ok(session.commit().await?) } else { Ok(()) } };
        let fingerprint = self.check(session, end).await?;
        // Our ledger is in the catalog database: its row commits with the work there, and after it elsewhere.
        let with_the_work = unit.shared && unit.place == Place::Catalog;
        if with_the_work {
            session.record_finish(end.id, &fingerprint, runs).await?;
        }
        if unit.shared {
            session.commit().await?;
        }
        if !with_the_work {
            session.record_finish(end.id, &fingerprint, runs).await?;
        }
        Ok(())
    }

    /// Compares with the golden schema and answers the fingerprint.
    async fn check(&self, session: &mut dyn MigrationSession, end: &End<'_>) -> Result<String> {
        let found = session.introspect(end.planned.lineage).await?;
        if !end.planned.completes {
            gate::check_made(end.known, &end.planned.version, &found, end.recorded)?;
        }
        Ok(gate::fingerprint(end.known, &found).unwrap_or_default())
    }

    fn stop_if_asked(&self) -> Result<()> {
        if self.cancel.is_stopped() {
            return Err(Error::Interrupted(
                "stopped between two steps; what was not committed is undone: run the same command again to go on"
                    .into(),
            ));
        }
        Ok(())
    }
}

/// What belongs to the end of a migration.
struct End<'a> {
    id: i64,
    planned: &'a PlannedMigration,
    known: &'a Known,
    recorded: &'a Recorded,
}

/// What was there when the run began.
struct Before {
    recorded: Recorded,
    history: Vec<Entry>,
}

/// Steps that run together.
struct Unit<'a> {
    place: Place,
    /// In one transaction.
    shared: bool,
    steps: Vec<&'a Step>,
}

/// Splits steps into units: neighbours of one database that can share a transaction.
fn split(steps: &[Step]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::new();
    for step in steps {
        match units.last_mut() {
            Some(unit) if unit.shared && step.transactional && unit.place == step.on => unit.steps.push(step),
            _ => units.push(Unit { place: step.on, shared: step.transactional, steps: vec![step] }),
        }
    }
    units
}

/// Whether the database said that the same may succeed later. A statement that took too long is not tried again.
fn may_help(error: &Error) -> bool {
    use crate::backend::ErrorKind as K;
    matches!(error, Error::Backend(e) if e.is_temporary() && matches!(e.kind(), K::Busy | K::Unavailable) && !e.is_disconnected())
}

/// Twice as long after each failure, and up to half of that more, so that two do not keep step.
fn pause_after(tries: u32) -> Duration {
    let base = FIRST_PAUSE * 2u32.saturating_pow(tries.saturating_sub(1));
    let spread = u64::try_from(base.as_millis() / 2).unwrap_or(u64::MAX).max(1);
    let random = uuid::Uuid::new_v4().as_u128() % u128::from(spread);
    base + Duration::from_millis(u64::try_from(random).unwrap_or(0))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
