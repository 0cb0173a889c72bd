//! `migrate up`: look, plan, show who is alive, dump, apply, verify.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::apply::{Applied, Run};
use super::gate;
use super::plan::{self, Plan};
use crate::backend::ledger::{MigrationSession, SessionOptions};
use crate::domain::migration::CatalogVersion;
use crate::domain::schema::Lineage;
use crate::ops::{Error, Result};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct UpOptions {
    /// Version aimed at; the newest where none is given.
    pub to: Option<CatalogVersion>,
    /// Go on although servers are connected.
    pub allow_live: bool,
    /// Write a checked dump of the catalog into this folder first.
    pub dump_to: Option<PathBuf>,
    /// Locks and limits.
    pub session: SessionOptions,
}

/// What was done.
#[derive(Debug, Clone, Serialize)]
pub struct UpReport {
    /// Backend.
    pub backend: String,
    /// Migrations, in order.
    pub applied: Vec<Applied>,
    /// Catalog version now.
    pub version: String,
    /// Fingerprint of the catalog now.
    pub fingerprint: String,
    /// The catalog was made on an empty database.
    pub fresh: bool,
    /// The dump that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// What would be done, read without writing anything.
///
/// # Errors
/// `CatalogRefused` for a catalog that must not be touched, `CheckFailed` for drift.
pub async fn look(run: &Run<'_>, to: Option<CatalogVersion>) -> Result<Plan> {
    let from = gate::version(&gate::pass(run.backend).await?);
    super::repair::refuse_edited(run.backend).await?;
    let to = plan::target(run.backend.name(), to, from)?;
    plan::plan(run.backend, from, to).await
}

/// Brings the catalog up.
///
/// # Errors
/// As [`look`]; `Busy` for a lock that is held or servers that are alive; database errors. What was applied
/// before an error is told to the observer and is in our ledger.
pub async fn up(run: &Run<'_>, options: &UpOptions) -> Result<UpReport> {
    let session = run.backend.migration_session(&options.session).await?;
    up_in(run, options, session).await
}

/// As [`up`], in a session that holds the lock already, and closes it.
///
/// # Errors
/// As [`up`].
pub async fn up_in(run: &Run<'_>, options: &UpOptions, mut session: Box<dyn MigrationSession>) -> Result<UpReport> {
    let outcome = under_lock(run, options, &mut *session).await;
    let closed = session.close().await;
    let report = outcome?;
    closed?;
    Ok(report)
}

async fn under_lock(run: &Run<'_>, options: &UpOptions, session: &mut dyn MigrationSession) -> Result<UpReport> {
    let plan = look(run, options.to).await?;
    let mut dumped = None;
    if !plan.is_empty() {
        if plan.is_breaking() {
            refuse_live(run, plan.to, options.allow_live).await?;
        }
        if let Some(folder) = options.dump_to.as_ref().filter(|_| plan.from.is_some()) {
            dumped = Some(dump(run, folder, &plan).await?);
        }
        run.backend.ensure_admin().await?;
    }
    let (applied, outcome) = run.apply(session, &plan).await;
    if let Err(error) = outcome {
        for done in &applied {
            run.observer.note(&format!("applied {} {} ({})", done.lineage, done.version, done.name));
        }
        return Err(error);
    }
    let now = gate::pass(run.backend).await?;
    let catalog = now.lineage(Lineage::Catalog);
    Ok(UpReport {
        backend: run.backend.name().to_owned(),
        applied,
        version: gate::version(&now).map(|v| v.to_string()).unwrap_or_default(),
        fingerprint: catalog.and_then(|l| l.fingerprint).map(|f| f.to_string()).unwrap_or_default(),
        fresh: plan.from.is_none(),
        dump: dumped,
    })
}

/// Writes the dump and proves it. The migration lock is held, so nobody migrates meanwhile; rows that a server
/// writes after this moment are not in it.
async fn dump(run: &Run<'_>, folder: &Path, plan: &Plan) -> Result<String> {
    std::fs::create_dir_all(folder).map_err(|e| Error::Failed(format!("cannot make {}: {e}", folder.display())))?;
    let version = plan.from.map_or_else(|| "empty".to_owned(), |v| v.to_string());
    let now: String = crate::ops::clock::now().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let dump = run.backend.dump_catalog(folder, &format!("extenddb-catalog-{version}-{now}")).await?;
    run.observer.warn(&format!(
        "{} holds the encryption key and every secret of the catalog in clear, which it needs to be of use: keep it safe",
        dump.path
    ));
    Ok(dump.path)
}

/// Refuses a breaking step while servers are connected, and says who they are and what the way back is.
///
/// # Errors
/// `Busy` names each of them.
pub async fn refuse_live(run: &Run<'_>, to: CatalogVersion, allowed: bool) -> Result<()> {
    let sessions = run.backend.live_sessions().await?;
    let (servers, others): (Vec<_>, Vec<_>) = sessions.into_iter().partition(|s| s.is_server);
    for other in others {
        run.observer.note(&format!("also connected: {}", other.description));
    }
    let mut list: Vec<String> = servers.into_iter().map(|s| s.description).collect();
    let jobs = run.backend.open_jobs(None).await?;
    list.extend(jobs.iter().filter_map(|job| {
        let age = job.heartbeat_age_ms.filter(|age| *age < ALIVE_MS)?;
        Some(format!("job {} ({}), heartbeat {} s ago", job.id, job.target, age / 1000))
    }));
    if list.is_empty() {
        return Ok(());
    }
    let list = list.join("; ");
    if allowed {
        run.observer.warn(&format!("going on although servers or jobs are alive: {list}"));
        return Ok(());
    }
    Err(Error::Busy(format!(
        "servers or jobs are alive against this catalog: {list}. Version {} breaks them: stop them, or go on with --allow-live. \
         The way back is {WAY_BACK}",
        to
    )))
}

/// A job whose heartbeat is younger is taken to be alive: the default of `stale_job_after_secs`.
const ALIVE_MS: i64 = 300_000;

/// What to say of going back.
pub const WAY_BACK: &str = "a dump from before (--dump-to DIR): older servers refuse the migrated catalog, and the \
    [backup] section of a newer configuration";
