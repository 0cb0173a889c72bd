//! `job`: the recorded jobs of a deployment.

use anyhow::Result;
use clap::{Subcommand, ValueEnum};

use super::{Access, Context, Exit};
use crate::domain::job::{JobId, JobKind, JobStatus};
use crate::domain::quantity::{show_duration, show_size};
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
