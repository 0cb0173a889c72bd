//! `job`: the recorded jobs of a deployment.

use std::num::NonZeroUsize;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use super::backup::restore;
use super::{Access, Context, Exit, Failure};
use crate::domain::job::{JobId, JobKind, JobStatus};
use crate::domain::quantity::{show_duration, show_size};
use crate::ops::admission;
use crate::ops::job::control;
use crate::ops::job::{self, JobFilter, JobReport, JobView};
use crate::ui::Page;

/// Commands on jobs.
#[derive(Subcommand)]
pub enum Command {
    /// List jobs, newest first
    List {
        /// Only jobs in this state; may be given more than once
        #[arg(long, value_enum)]
        status: Vec<Status>,
        /// Only jobs of this kind
        #[arg(long, value_enum)]
        kind: Option<Kind>,
        /// List at most that many
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u32,
        /// List jobs older than this one
        #[arg(long, value_name = "ID")]
        before: Option<String>,
    },
    /// Show one job
    Show {
        /// Id of the job
        id: String,
    },
    /// Cancel a job: its holder stops and undoes what it did; a dead holder's work is undone here
    Cancel {
        /// Id of the job
        id: String,
    },
    /// Go on with a restore whose process died, or begin one that is queued
    Resume {
        /// Id of the job
        id: String,
        /// Use at most that many threads and connections [default: one a core, at least 2]
        #[arg(long, value_name = "N")]
        jobs: Option<NonZeroUsize>,
    },
    /// Work on the job that has been queued longest
    Run {
        /// Go on until no job is queued
        #[arg(long)]
        until_empty: bool,
        /// Use at most that many threads and connections [default: one a core, at least 2]
        #[arg(long, value_name = "N")]
        jobs: Option<NonZeroUsize>,
    },
}

/// State of a job.
#[derive(Clone, Copy, ValueEnum)]
#[allow(missing_docs)] // the words are the states
pub enum Status {
    Queued,
    Running,
    Cancelling,
    Succeeded,
    Failed,
    Cancelled,
}

/// Kind of a job.
#[derive(Clone, Copy, ValueEnum)]
#[allow(missing_docs)] // the words are the kinds
pub enum Kind {
    Backup,
    Restore,
}

impl From<Status> for JobStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Queued => Self::Queued,
            Status::Running => Self::Running,
            Status::Cancelling => Self::Cancelling,
            Status::Succeeded => Self::Succeeded,
            Status::Failed => Self::Failed,
            Status::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Kind> for JobKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Backup => Self::Backup,
            Kind::Restore => Self::Restore,
        }
    }
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    match command {
        Command::Cancel { id } => {
            let run = ctx.run(None).await?;
            let report = control::cancel(&run, &JobId(id)).await?;
            ctx.ui().print(&report, page)?;
        }
        Command::Resume { id, jobs } => {
            let run = ctx.run(jobs).await?;
            return restore::finish(control::resume(&run, &JobId(id)).await?, ctx);
        }
        Command::Run { until_empty, jobs } => return drain(ctx, until_empty, jobs).await,
        Command::List { status, kind, limit, before } => {
            let filter = JobFilter {
                statuses: status.into_iter().map(JobStatus::from).collect(),
                kind: kind.map(JobKind::from),
                before: before.map(JobId),
                limit,
            };
            let report = job::list(&*backend, &filter).await?;
            ctx.ui().print(&report, |r| {
                let headers = ["ID", "KIND", "STATUS", "TARGET", "ATTEMPT", "CREATED", "FINISHED", "ITEMS"];
                Page::new().table(headers, r.jobs.iter().map(row))
            })?;
            if let Some(next) = &report.next {
                ctx.ui().note(&format!("more than {limit} jobs: go on with --before {next}, or raise --limit"));
            }
        }
        Command::Show { id } => {
            let report = job::show(&*backend, &JobId(id)).await?;
            ctx.ui().print(&report, page)?;
        }
    }
    Ok(Exit::Done)
}

/// Works on queued jobs, the oldest first. One that fails does not stop the others.
async fn drain(ctx: &Context, until_empty: bool, jobs: Option<NonZeroUsize>) -> Result<Exit> {
    let run = ctx.run(jobs).await?;
    let mut exit = Exit::Done;
    let mut done = 0;
    while let Some(id) = control::next_queued(&run).await? {
        admission::check_slot(&*run.backend, &run.settings).await?;
        let ended = match control::resume(&run, &id).await {
            Ok(report) => restore::finish(report, ctx),
            Err(error) => Err(error.into()),
        };
        done += 1;
        if !until_empty {
            return ended;
        }
        match ended {
            Ok(one) => exit = exit.or(one),
            Err(error) if run.cancel.is_stopped() => return Err(error),
            Err(error) => {
                let failure = Failure::of(&error);
                ctx.ui().warn(&format!("job {id}: {}", failure.message));
                exit = exit.or(failure.exit);
            }
        }
    }
    if done == 0 {
        ctx.ui().note("no job is queued");
    }
    Ok(exit)
}

fn row(job: &JobView) -> [String; 8] {
    [
        job.id.to_string(),
        job.kind.word().to_owned(),
        job.status.word().to_owned(),
        job.target.clone(),
        job.attempt.to_string(),
        job.created_at.to_string(),
        job.finished_at.map(|at| at.to_string()).unwrap_or_default(),
        job.progress.items.to_string(),
    ]
}

/// One job as a page; other commands that ran one show it the same way.
pub fn page(report: &JobReport) -> Page {
    let job = &report.job;
    let progress = &job.progress;
    let time = |at: Option<crate::domain::timestamp::TimestampMs>| at.map(|at| at.to_string()).unwrap_or_default();
    let age = job.heartbeat_age_ms.map(|ms| match u64::try_from(ms) {
        Ok(ms) => format!("{} ago", show_duration(std::time::Duration::from_millis(ms))),
        Err(_) => format!("{ms} ms, from the future"),
    });
    let facts = [
        ("Job", job.id.to_string()),
        ("Kind", job.kind.word().to_owned()),
        ("Status", job.status.word().to_owned()),
        ("Target", job.target.clone()),
        ("Asked by", job.principal.clone()),
        ("Attempt", job.attempt.to_string()),
        ("Holder", job.writer.clone().unwrap_or_default()),
        ("Heartbeat", age.unwrap_or_default()),
        ("Created", job.created_at.to_string()),
        ("Started", time(job.started_at)),
        ("Finished", time(job.finished_at)),
        ("Phase", progress.phase.clone()),
        ("Items", progress.items.to_string()),
        ("Files", format!("{} of {}", progress.files_done, progress.files_total)),
        ("Bytes", show_size(progress.bytes)),
        (
            "Tables",
            format!(
                "{} committed, {} triggered, {} skipped, {} failed",
                job.tables.committed, job.tables.triggered, job.tables.skipped, job.tables.failed
            ),
        ),
    ];
    let page = Page::new().facts(facts);
    if job.failures.is_empty() {
        return page;
    }
    let rows = job.failures.iter().map(|f| [f.table.clone(), f.code.clone(), f.message.clone()]);
    let page = page.table(["TABLE", "CODE", "FAILURE"], rows);
    match job.failure_details_omitted {
        0 => page,
        more => page.text(format!("and {more} more failures")),
    }
}
