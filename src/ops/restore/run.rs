//! Works on a restore job: claims it, checks everything, loads and publishes its tables, ends it.
//!
//! The same code runs a new job and one that another process left: a table that was published is seen by its id in
//! the catalog, a data file that was applied by the recorded progress, and what was verified is not verified again
//! as long as its commit record is the same.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::activate::restore_table;
use super::load::Loads;
use super::look::{Look, Looked, Ready, is_published};
use super::prepare::removal_plan;
use super::request::{Decided, RestoreRequest};
use super::spool;
use crate::backend;
use crate::backend::loader::StagePlan;
use crate::domain::claim::WriteOutcome;
use crate::domain::job::{JobId, JobRecord, JobStatus};
use crate::ops::cancel::Stop;
use crate::ops::error::{Error, Result};
use crate::ops::heart::Heart;
use crate::ops::job::{self, FailureView, JobView, TableCounts};
use crate::ops::settings::Run;

/// What came out.
#[derive(Debug, serde::Serialize)]
pub struct RestoreReport {
    /// The job as recorded.
    pub job: JobView,
    /// Errors of single tables, for the exit status.
    #[serde(skip)]
    pub errors: Vec<Error>,
    /// Why the run stopped early, and what it left.
    #[serde(skip)]
    pub stopped: Option<Error>,
}

/// Runs a job to its end.
///
/// # Errors
/// `Busy` while another process works on it; `Conflict` when it has ended; `Failed` for a request that this build
/// cannot read. What happens after the claim is in the report.
pub async fn run(run: &Run, id: &JobId) -> Result<RestoreReport> {
    let (cancel, _link) = run.cancel.linked();
    let run = &Run { cancel, ..run.clone() };
    let claim = run.backend.claim_job(id, &run.writer).await?;
    let heart = Heart::start(Arc::from(claim), run.settings.beat(), run.cancel.clone());
    let job = run.backend.job(id).await?.ok_or_else(|| Error::NotFound(format!("there is no job {id}")))?;
    if job.status == JobStatus::Cancelling {
        run.cancel.stop(Stop::CancelRequested);
    }
    let mut restore = Restore {
        run: run.clone(),
        heart,
        errors: Vec::new(),
        failures: Vec::new(),
        published: Vec::new(),
        request: None,
        staged: false,
    };
    let stopped = match RestoreRequest::of(&job) {
        Some(request) => restore.all(&job, request).await,
        None => {
            let error = Error::Failed(format!("the request of job {id} is of a form that this build does not know"));
            restore.fail("", error);
            None
        }
    };
    restore.end(id, stopped).await
}

/// A claimed job.
pub(super) struct Restore {
    pub(super) run: Run,
    pub(super) heart: Heart,
    errors: Vec<Error>,
    failures: Vec<FailureView>,
    /// Tables that are published, by ordinal.
    published: Vec<bool>,
    /// The request, once it was read.
    request: Option<RestoreRequest>,
    /// Something was staged: a stop leaves a job to resume.
    staged: bool,
}

impl Restore {
    fn fail(&mut self, table: &str, error: Error) {
        if error.is_fenced() {
            self.run.cancel.stop(Stop::Fenced(error.to_string()));
        }
        self.failures.push(FailureView {
            table: table.to_owned(),
            code: error.code().to_owned(),
            message: error.to_string(),
        });
        self.errors.push(error);
    }

    /// Checks all tables, then stages, loads and publishes them. Answers the reason of an early stop.
    async fn all(&mut self, job: &JobRecord, request: RestoreRequest) -> Option<Stop> {
        self.staged = request.decided.is_some();
        self.published = vec![false; request.tables.len()];
        self.request = Some(request.clone());
        let stopped = self.check_and_load(job, request).await;
        if matches!(self.run.cancel.reason(), Some(Stop::CancelRequested)) {
            self.remove_staged().await;
        }
        stopped.or_else(|| self.run.cancel.reason())
    }

    async fn check_and_load(&mut self, job: &JobRecord, mut request: RestoreRequest) -> Option<Stop> {
        let resumed = self.staged;
        let store = match &request.store {
            None => None,
            Some(name) => match self.run.stores.open(name).await {
                Ok(store) => Some(store),
                Err(error) => {
                    self.fail("", error);
                    // The store may be back later: the job stays open.
                    return Some(Stop::Unreachable(format!("store {name} cannot be opened")));
                }
            },
        };
        let rules = match self.run.backend.target_rules().await {
            Ok(rules) => rules,
            Err(error) => {
                let message = error.to_string();
                self.fail("", error.into());
                // What an earlier attempt loaded is worth keeping: the job stays open.
                return resumed.then_some(Stop::Unreachable(message));
            }
        };
        self.heart.counters().phase("verify");
        self.run.observer.phase("verify", None);
        let mut ready = Vec::new();
        let count = request.tables.len();
        let mut decided = Decided { checksums: vec![None; count], digests: vec![None; count], indexes: vec![0; count] };
        let store_ref = match &store {
            Some(store) => store.store.identity().await.ok().flatten(),
            None => None,
        };
        for ordinal in 0..count {
            if self.run.cancel.is_stopped() {
                return self.run.cancel.reason();
            }
            let look =
                Look { job, request: &request, ordinal, store: store.as_ref(), store_ref: &store_ref, rules: &rules };
            match self.look(look).await {
                Ok(Looked::Published) => {
                    self.published[ordinal] = true;
                    // Only its traces go: a published table is left alone.
                    self.remove_one(&request, ordinal).await;
                    if let Some(before) = &request.decided {
                        decided.keep(before, ordinal);
                    }
                }
                Ok(Looked::Ready(one)) => {
                    decided.checksums[ordinal] = Some(one.checked.manifest.manifest_sha256.clone());
                    decided.digests[ordinal] = Some(one.checked.digest.to_string());
                    decided.indexes[ordinal] = one.plan.index_ids.len();
                    ready.push(*one);
                }
                Err(error) => {
                    let table = request.tables[ordinal].target.table_name.clone();
                    let unreachable = resumed && is_unreachable(&error);
                    let message = error.to_string();
                    self.fail(&table, error);
                    if unreachable {
                        // What an earlier attempt loaded is worth keeping until the store or database is back.
                        return Some(Stop::Unreachable(message));
                    }
                    if resumed && !self.run.cancel.is_stopped() {
                        self.remove_one(&request, ordinal).await;
                    }
                }
            }
        }
        if self.run.cancel.is_stopped() {
            return self.run.cancel.reason();
        }
        if !ready.is_empty() {
            request.decided = Some(decided);
            self.request = Some(request.clone());
            if let Err(error) = self.remember(&request).await {
                self.fail("", error);
                return self.run.cancel.reason();
            }
            self.staged = true;
            self.load(ready).await;
        }
        self.run.cancel.reason()
    }

    /// Removes what is staged of every table that is not published, and the traces of those that are.
    async fn remove_staged(&mut self) {
        let Some(request) = self.request.clone().filter(|_| self.staged) else { return };
        for ordinal in 0..request.tables.len() {
            if self.published[ordinal] || self.run.cancel.is_fenced() {
                continue;
            }
            let live = self.run.backend.table(&request.tables[ordinal].target.key()).await;
            self.published[ordinal] = live.is_ok_and(|info| is_published(&info, &request.new_id(ordinal, None)));
            self.remove_one(&request, ordinal).await;
        }
    }

    async fn remove_one(&mut self, request: &RestoreRequest, ordinal: usize) {
        let fence = self.heart.job().fence().clone();
        if let Err(error) = self.run.backend.discard(&fence, &removal_plan(request, ordinal)).await {
            self.fail(&request.tables[ordinal].target.table_name, error.into());
        }
    }

    async fn remember(&self, request: &RestoreRequest) -> Result<()> {
        self.heart.renew(None).await?;
        let outcome = self.heart.job().remember(&request.to_json()).await?;
        self.heart.expect_matched(outcome, &format!("job {}", self.heart.job().job()))
    }

    /// Loads and publishes what is ready, several tables at once.
    async fn load(&mut self, ready: Vec<Ready>) {
        let counters = Arc::clone(self.heart.counters());
        counters.phase("load");
        let items: u64 = ready.iter().map(|one| one.checked.digest.count).sum();
        counters.files_found(
            ready.iter().map(|one| u64::try_from(one.checked.manifest.data_files.len()).unwrap_or(0)).sum(),
        );
        self.run.observer.phase("load", Some(items));
        let loads = Arc::new(Loads::new(&self.run, self.heart.job().fence().clone(), counters));
        let at_once = if self.run.backend.capabilities().parallel_load { self.run.workers.get() } else { 1 };
        let slots = Arc::new(Semaphore::new(at_once));
        let heart = &self.heart;
        let run = &self.run;
        let mut waiting = ready.into_iter();
        // Tables borrow the heart, so they run as futures of this task; their work is done by tasks and threads below.
        let mut running = futures_util::stream::FuturesUnordered::new();
        let mut ended = Vec::new();
        loop {
            while let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
                let Some(one) = waiting.next() else { break };
                if run.cancel.is_stopped() {
                    break;
                }
                let loads = Arc::clone(&loads);
                running.push(async move {
                    let result = restore_table(run, heart, &loads, &one.plan, &one.source, &one.checked).await;
                    let result = match result {
                        Ok(()) => Ok(()),
                        Err(error) => Err(undo(run, &loads, &one.plan, error).await),
                    };
                    drop(slot);
                    (one, result)
                });
            }
            match futures_util::StreamExt::next(&mut running).await {
                Some(done) => ended.push(done),
                None => break,
            }
        }
        drop(running);
        for (one, result) in ended {
            match result {
                Ok(()) => self.published[one.ordinal] = true,
                Err(error) => self.fail(&one.plan.target.table_name, error),
            }
        }
    }

    /// Ends the job, or leaves it to be resumed.
    async fn end(self, id: &JobId, stopped: Option<Stop>) -> Result<RestoreReport> {
        let Self { run, heart, mut errors, failures, published, request, staged } = self;
        let committed = count(published.iter().filter(|published| **published).count());
        heart.rest().await;
        let tables = TableCounts { committed, triggered: 0, skipped: 0, failed: count(failures.len()) };
        let result = job::result(tables, &failures);
        let stop = run.cancel.reason().or(stopped);
        let status = match &stop {
            Some(Stop::Fenced(_)) => None,
            Some(Stop::CancelRequested) => Some(JobStatus::Cancelled),
            Some(Stop::Signal) if !staged => Some(JobStatus::Cancelled),
            Some(Stop::Signal | Stop::Unreachable(_)) => None,
            None if failures.is_empty() => Some(JobStatus::Succeeded),
            None => Some(JobStatus::Failed),
        };
        let mut stopped = stop.map(|stop| explain(id, stop, staged, committed));
        if !run.cancel.is_fenced() {
            // The last progress is of use to whoever looks; a failure to write it is told by what follows.
            let _ = heart.job().progress(&heart.counters().snapshot()).await;
        }
        if let Some(status) = status {
            if let Some(request) = request.filter(|r| r.tables.iter().any(|table| table.legacy)) {
                spool::remove(&run, &request);
            }
            match heart.job().finish(status, &result).await {
                Ok(WriteOutcome::Matched) => {}
                Ok(WriteOutcome::NotMatched) => {
                    stopped = Some(Error::Fenced(format!("job {id} was taken over by another process while it ended")));
                }
                Ok(WriteOutcome::Unknown) | Err(_) => {
                    run.observer.warn(&format!(
                        "whether the end of job {id} was recorded is not known: run the same command again"
                    ));
                }
            }
        }
        let record = run.backend.job(id).await?.ok_or_else(|| Error::NotFound(format!("job {id} is gone")))?;
        let mut view = JobView::from(&record);
        if !record.status.is_terminal() {
            view.tables = tables;
            view.failures = failures;
        }
        if stopped.is_some() {
            errors.retain(|error| !matches!(error, Error::Interrupted(_)));
        }
        Ok(RestoreReport { job: view, errors, stopped })
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The store or the database does not answer: the same may go well later.
fn is_unreachable(error: &Error) -> bool {
    match error {
        Error::Store(_) | Error::Archive(crate::archive::Error::Store(_)) => true,
        Error::Backend(error) => error.is_temporary() || error.kind() == backend::ErrorKind::Unavailable,
        _ => false,
    }
}

/// Removes what a failed table staged. A lost claim, or a stop that leaves the job to be resumed, removes nothing.
async fn undo(run: &Run, loads: &Loads, plan: &StagePlan, error: Error) -> Error {
    if error.is_fenced() {
        run.cancel.stop(Stop::Fenced(error.to_string()));
    }
    match run.cancel.reason() {
        None | Some(Stop::CancelRequested) => {}
        Some(_) => return error,
    }
    match run.backend.discard(loads.fence(), plan).await {
        Ok(()) => error,
        Err(left) => Error::Failed(format!("{error}; what was staged is still there: {left}")),
    }
}

/// What a stop left, in words.
fn explain(id: &JobId, stop: Stop, staged: bool, committed: u64) -> Error {
    let published = match committed {
        0 => String::new(),
        n => format!(" {n} tables were published before and stay."),
    };
    match stop {
        Stop::Fenced(message) => Error::Fenced(message),
        Stop::CancelRequested => {
            Error::Interrupted(format!("job {id} was cancelled: what it had loaded is removed.{published}"))
        }
        Stop::Signal if !staged => {
            Error::Interrupted(format!("interrupted: nothing was written, job {id} is cancelled"))
        }
        Stop::Signal => Error::Interrupted(format!(
            "interrupted: job {id} can be resumed by the same command or `extenddb-admin job resume {id}`, \
             `extenddb-admin job cancel {id}` undoes it.{published}"
        )),
        Stop::Unreachable(message) => {
            Error::Failed(format!("{message}; job {id} can be resumed by the same command.{published}"))
        }
    }
}
