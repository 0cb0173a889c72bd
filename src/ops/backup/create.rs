//! Creates backups of tables: refuses what must be refused, admits one job, and hands over to the run.

use std::sync::Arc;
use std::time::Instant;

use super::claim::store_identity;
use super::creation::Creation;
use super::plan::{self, Attempt, Selection};
use super::rate::RateLimit;
use super::report::{CreateReport, FailedTable};
use super::request::{BackupRequest, VERSION};
use super::sweep::end_dead;
use crate::backend;
use crate::backend::jobs::JobClaim;
use crate::domain::job::{JobKind, JobRecord, JobStatus, NewJob};
use crate::ops::admission::{self, MAX_TABLES_PER_JOB};
use crate::ops::clock;
use crate::ops::error::{Error, Result};
use crate::ops::heart::Heart;
use crate::ops::settings::{OpenStore, Run};

/// What to back up, and where to.
#[derive(Clone)]
pub struct CreateOptions {
    /// Which tables.
    pub selection: Selection,
    /// Only tables of this account.
    pub account_id: Option<String>,
    /// The store.
    pub store: OpenStore,
    /// Name of the backups; made from table and time where it is not given.
    pub name: Option<String>,
    /// Most bytes of items to read in a second.
    pub rate_limit: Option<u64>,
}

/// Backs up tables. Refusals of single tables are in the report; an error means that nothing was begun.
///
/// # Errors
/// Refusals of the whole; `Busy` when the same backup is running or no job slot is free.
pub async fn create(run: &Run, options: &CreateOptions) -> Result<CreateReport> {
    let created_at = clock::now();
    let mut report = CreateReport::default();
    let tables = run.backend.list_tables(options.account_id.as_deref()).await?;
    let mut attempts = Vec::new();
    if let Some(name) = &options.name {
        plan::check_name(name)?;
    }
    for chosen in plan::select(&tables, &options.selection)? {
        let planned = chosen.and_then(|info| {
            plan::attempt(&info, options.name.as_deref(), created_at, clock::random())
                .map_err(|e| (info.definition.table_name, e))
        });
        match planned {
            Ok(attempt) => attempts.push(attempt),
            Err((table, error)) => report.failed.push(FailedTable::new(table, error)),
        }
    }
    drop(tables);
    if attempts.len() > MAX_TABLES_PER_JOB {
        return Err(Error::Usage(format!(
            "{} tables are more than the {MAX_TABLES_PER_JOB} of one job: name them in several runs or use --account",
            attempts.len()
        )));
    }
    if attempts.is_empty() {
        return Ok(report);
    }
    run_attempts(run, &options.store, options.name.clone(), options.rate_limit, Source::Tables, attempts, report).await
}

/// Where the items come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Live tables.
    Tables,
    /// The in-catalog backup of this ARN, shown as one table.
    Legacy(String),
}

/// Runs planned attempts as one job.
///
/// # Errors
/// As [`create`].
pub async fn run_attempts(
    run: &Run,
    store: &OpenStore,
    name: Option<String>,
    rate_limit: Option<u64>,
    source: Source,
    attempts: Vec<Attempt>,
    mut report: CreateReport,
) -> Result<CreateReport> {
    let request = BackupRequest {
        version: VERSION,
        store: store.name.clone(),
        name,
        arns: attempts.iter().map(|a| a.arn.to_string()).collect(),
    };
    clean_up_before(run, &request).await?;
    admission::check_slot(&*run.backend, &run.settings).await?;
    let identity = store_identity(store).await?;
    let (job, claim) = admit(run, &request).await?;
    report.job = Some(job.id.to_string());
    let creation = Creation {
        run: run.clone(),
        store: store.clone(),
        identity,
        source,
        heart: Heart::start(claim, run.settings.beat(), run.cancel.clone()),
        rate: rate_limit.map(|rate| Arc::new(RateLimit::new(rate))),
        begun: Instant::now(),
    };
    creation.run(attempts, &mut report).await;
    Ok(report)
}

/// Ends dead attempts at the same tables; refuses while the same backup runs.
async fn clean_up_before(run: &Run, request: &BackupRequest) -> Result<()> {
    let open = run.backend.open_jobs(None).await?;
    let mine = request.fingerprint();
    let tables = request.tables();
    let tables_of = |job: &JobRecord| BackupRequest::of(job).map(|r| r.tables()).unwrap_or_default();
    for job in admission::overlapping(&open, JobKind::Backup, &tables, tables_of) {
        match run.backend.claim_job(&job.id, &run.writer).await {
            Ok(claim) => {
                end_dead(run, job, &*claim, JobStatus::Failed).await?;
                run.observer.note(&format!("job {} had died and was cleaned up: its backup starts anew", job.id));
            }
            Err(error) if error.kind() == backend::ErrorKind::Busy => {
                if job.request_fingerprint == mine {
                    return Err(error.into());
                }
            }
            // It ended meanwhile.
            Err(error) if error.kind() == backend::ErrorKind::Conflict => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn admit(run: &Run, request: &BackupRequest) -> Result<(JobRecord, Arc<dyn JobClaim>)> {
    let job = run
        .backend
        .admit_job(&NewJob {
            kind: JobKind::Backup,
            target: admission::target_name(&request.tables()),
            request: serde_json::to_value(request).expect("requests are plain structs"),
            request_fingerprint: request.fingerprint(),
            idempotency_key: None,
            principal: run.principal.clone(),
        })
        .await?;
    let claim = run.backend.claim_job(&job.id, &run.writer).await?;
    Ok((job, Arc::from(claim)))
}
