//! Cancels, resumes and drains jobs.
//!
//! A cancel is a request that the holder honours; where the holder is dead, whoever asked takes the job over and
//! undoes it. A dead backup is never resumed: it is failed and swept, and a new run of its command takes a new id.

use super::{JobReport, JobView};
use crate::backend;
use crate::domain::job::{JobId, JobKind, JobRecord, JobStatus};
use crate::ops::backup::sweep::end_dead;
use crate::ops::error::{Error, Result};
use crate::ops::restore::{self, RestoreReport};
use crate::ops::settings::Run;

/// Asks a job to stop, and undoes it here when its holder is dead.
///
/// # Errors
/// `NotFound`; `Conflict` when it has ended; what stood in the way of undoing it.
pub async fn cancel(run: &Run, id: &JobId) -> Result<JobReport> {
    let job = run.backend.request_cancel(id).await?;
    if job.status.is_terminal() {
        return Ok(JobReport { job: JobView::from(&job) });
    }
    let undone = match job.kind {
        JobKind::Restore => restore::run(run, id).await.map(|report| report.job),
        JobKind::Backup => end_backup(run, &job, JobStatus::Cancelled).await,
    };
    match undone {
        Ok(job) => Ok(JobReport { job }),
        Err(Error::Backend(error)) if error.kind() == backend::ErrorKind::Busy => {
            run.observer.note("its holder is alive and stops at its next heartbeat");
            Ok(JobReport { job: JobView::from(&job) })
        }
        Err(error) => Err(error),
    }
}

async fn end_backup(run: &Run, job: &JobRecord, status: JobStatus) -> Result<JobView> {
    let claim = run.backend.claim_job(&job.id, &run.writer).await?;
    end_dead(run, job, &*claim, status).await?;
    let ended = run.backend.job(&job.id).await?.ok_or_else(|| Error::NotFound(format!("job {} is gone", job.id)))?;
    Ok(JobView::from(&ended))
}

/// Goes on with a restore whose holder is dead, or begins one that is queued.
///
/// # Errors
/// `Busy` while its holder lives; `Conflict` when it has ended; `Usage` for a backup.
pub async fn resume(run: &Run, id: &JobId) -> Result<RestoreReport> {
    let job = run.backend.job(id).await?;
    let job = job.ok_or_else(|| {
        Error::NotFound(format!("there is no job {id}: `extenddb-admin job list` shows those there are"))
    })?;
    if job.status.is_terminal() {
        return Err(Error::Conflict(format!("job {id} has ended: it is {}", job.status.word())));
    }
    match job.kind {
        JobKind::Restore => restore::run(run, id).await,
        JobKind::Backup => Err(Error::Usage(format!(
            "job {id} is a backup, and the snapshot it read is gone: run `extenddb-admin backup create` again, which clears \
             what it left, or `extenddb-admin job cancel {id}`"
        ))),
    }
}

/// The job that has been queued longest.
///
/// # Errors
/// Database errors.
pub async fn next_queued(run: &Run) -> Result<Option<JobId>> {
    let open = run.backend.open_jobs(None).await?;
    Ok(open.into_iter().find(|job| job.status == JobStatus::Queued && job.kind == JobKind::Restore).map(|job| job.id))
}
