//! The heartbeat of a running job: a task of its own that no batch, prompt, upload or sweep delays.
//!
//! It renews the job's claim and the claims of its catalog rows. The first renewal that does not match
//! stops the run for good; a cancel request stops it so that it can undo.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::cancel::{Cancel, Stop};
use super::error::{Error, Result};
use crate::backend::jobs::{BackupRowClaim, JobClaim};
use crate::domain::claim::WriteOutcome;
use crate::domain::job::JobProgress;

/// So many failed renewals in a row end a run; one does not.
const MAX_FAILED_BEATS: u32 = 3;

/// What a run has done so far; written into the job's record at each beat.
#[derive(Debug, Default)]
pub struct Counters {
    items: AtomicU64,
    bytes: AtomicU64,
    files_done: AtomicU64,
    files_total: AtomicU64,
    phase: Mutex<String>,
}

impl Counters {
    /// More items and bytes are done.
    pub fn advance(&self, items: u64, bytes: u64) {
        self.items.fetch_add(items, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// More data files are done.
    pub fn files_done(&self, files: u64) {
        self.files_done.fetch_add(files, Ordering::Relaxed);
    }

    /// There are more data files to do.
    pub fn files_found(&self, files: u64) {
        self.files_total.fetch_add(files, Ordering::Relaxed);
    }

    /// The run enters a phase of its own.
    ///
    /// # Panics
    /// When another thread panicked while it held the word.
    pub fn phase(&self, phase: &str) {
        phase.clone_into(&mut self.phase.lock().expect("no holder of this lock panics"));
    }

    /// All of it, as a job records it.
    ///
    /// # Panics
    /// As [`Counters::phase`].
    #[must_use]
    pub fn snapshot(&self) -> JobProgress {
        JobProgress {
            items: self.items.load(Ordering::Relaxed),
            files_done: self.files_done.load(Ordering::Relaxed),
            files_total: self.files_total.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            phase: self.phase.lock().expect("no holder of this lock panics").clone(),
        }
    }
}

/// A catalog row's claim, with the text that names it in messages.
#[derive(Clone)]
pub struct RowClaim {
    /// What the row is: `backup 0174…`.
    pub name: String,
    /// Its claim.
    pub claim: Arc<dyn BackupRowClaim>,
}

/// The claims of one run, beating until this is dropped.
pub struct Heart {
    job: Arc<dyn JobClaim>,
    rows: Arc<Mutex<Vec<RowClaim>>>,
    counters: Arc<Counters>,
    cancel: Cancel,
    rest: Arc<Notify>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Heart {
    /// Starts beating at once.
    #[must_use]
    pub fn start(job: Arc<dyn JobClaim>, every: Duration, cancel: Cancel) -> Self {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let counters = Arc::new(Counters::default());
        let rest = Arc::new(Notify::new());
        let pulse = Pulse {
            job: Arc::clone(&job),
            rows: Arc::clone(&rows),
            counters: Arc::clone(&counters),
            cancel: cancel.clone(),
            rest: Arc::clone(&rest),
        };
        let task = Mutex::new(Some(tokio::spawn(pulse.run(every))));
        Self { job, rows, counters, cancel, rest, task }
    }

    /// The job's claim.
    #[must_use]
    pub fn job(&self) -> &Arc<dyn JobClaim> {
        &self.job
    }

    /// Stops beating, between two beats: call it before the job is ended.
    ///
    /// # Panics
    /// When another thread panicked while it held the task.
    pub async fn rest(&self) {
        self.rest.notify_one();
        let task = self.task.lock().expect("no holder of this lock panics").take();
        if let Some(task) = task {
            // A panic of the beating task was printed by itself; there is nothing to undo.
            let _ = task.await;
        }
    }

    /// What the run has done so far.
    #[must_use]
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Adds a row to what is kept alive.
    ///
    /// # Panics
    /// When another thread panicked while it held the list.
    pub fn add_row(&self, row: RowClaim) {
        self.rows.lock().expect("no holder of this lock panics").push(row);
    }

    /// Lets a row go: it has reached its final state.
    ///
    /// # Panics
    /// As [`Heart::add_row`].
    pub fn drop_row(&self, name: &str) {
        self.rows.lock().expect("no holder of this lock panics").retain(|row| row.name != name);
    }

    /// Renews the job and one row directly before a step that cannot be taken back.
    ///
    /// # Errors
    /// `Fenced` when a renewal did not match, which also stops the run; database errors; the reason of a
    /// stop that was asked for.
    pub async fn renew(&self, row: Option<&RowClaim>) -> Result<()> {
        self.cancel.check()?;
        let beat = self.job.heartbeat().await?;
        if beat.cancel_requested {
            self.cancel.stop(Stop::CancelRequested);
        }
        self.expect_matched(beat.outcome, &format!("job {}", self.job.job()))?;
        if let Some(row) = row {
            let outcome = row.claim.heartbeat().await?;
            self.expect_matched(outcome, &row.name)?;
        }
        self.cancel.check()
    }

    /// Turns the answer of a claimed write into a result; a lost claim stops the run.
    ///
    /// # Errors
    /// `Fenced` for `NotMatched`, `Failed` for `Unknown`.
    pub fn expect_matched(&self, outcome: WriteOutcome, what: &str) -> Result<()> {
        match outcome {
            WriteOutcome::Matched => Ok(()),
            WriteOutcome::NotMatched => {
                let message = lost(what);
                self.cancel.stop(Stop::Fenced(message.clone()));
                Err(Error::Fenced(message))
            }
            WriteOutcome::Unknown => Err(Error::Failed(format!(
                "the connection broke while {what} was written: whether it landed is not known"
            ))),
        }
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        if let Ok(mut task) = self.task.lock()
            && let Some(task) = task.take()
        {
            task.abort();
        }
    }
}

fn lost(what: &str) -> String {
    format!(
        "{what} is claimed by another process now; nothing was written after that: look at `extenddb-admin job list`"
    )
}

/// What the beating task holds.
struct Pulse {
    job: Arc<dyn JobClaim>,
    rows: Arc<Mutex<Vec<RowClaim>>>,
    counters: Arc<Counters>,
    cancel: Cancel,
    rest: Arc<Notify>,
}

impl Pulse {
    async fn run(self, every: Duration) {
        let mut failed = 0;
        let mut recorded = JobProgress::default();
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !self.cancel.is_fenced() {
            tokio::select! {
                biased;
                () = self.rest.notified() => return,
                _ = ticks.tick() => {}
            }
            match self.beat(&mut recorded).await {
                Ok(()) => failed = 0,
                Err(error) => {
                    failed += 1;
                    tracing::warn!(%error, failed, "a heartbeat failed");
                    if failed >= MAX_FAILED_BEATS {
                        self.cancel.stop(Stop::Unreachable(format!("{failed} heartbeats in a row failed: {error}")));
                        return;
                    }
                }
            }
        }
    }

    async fn beat(&self, recorded: &mut JobProgress) -> crate::backend::Result<()> {
        let beat = self.job.heartbeat().await?;
        if beat.outcome == WriteOutcome::NotMatched {
            self.cancel.stop(Stop::Fenced(lost(&format!("job {}", self.job.job()))));
            return Ok(());
        }
        if beat.cancel_requested {
            self.cancel.stop(Stop::CancelRequested);
        }
        let current: Vec<RowClaim> = self.rows().clone();
        for row in current {
            let outcome = row.claim.heartbeat().await?;
            // A row that reached its final state between the copy of the list and this beat no longer matches.
            let still_ours = self.rows().iter().any(|r| r.name == row.name);
            if outcome == WriteOutcome::NotMatched && still_ours {
                self.cancel.stop(Stop::Fenced(lost(&row.name)));
                return Ok(());
            }
        }
        let progress = self.counters.snapshot();
        if progress != *recorded {
            self.job.progress(&progress).await?;
            *recorded = progress;
        }
        Ok(())
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Vec<RowClaim>> {
        self.rows.lock().expect("no holder of this lock panics")
    }
}
