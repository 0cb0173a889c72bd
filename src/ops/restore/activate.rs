//! Compares what was loaded with what was backed up, and makes the table visible in one step.
//!
//! Source: backup operations, section 8, steps 3 to 5.

use std::sync::Arc;
use std::time::Duration;

use super::load::Loads;
use super::verify::{Checked, Source};
use crate::backend::loader::StagePlan;
use crate::domain::claim::WriteOutcome;
use crate::domain::digest::TableDigest;
use crate::ops::cancel::Stop;
use crate::ops::error::{Error, Result};
use crate::ops::heart::Heart;
use crate::ops::settings::Run;

/// A publication of unknown outcome is repeated this often; repeating one that landed says so.
const MAX_PUBLISH_TRIES: u32 = 5;
/// Pause between two of them.
const PUBLISH_PAUSE: Duration = Duration::from_secs(1);

/// Stages, loads, compares and publishes one table.
///
/// # Errors
/// What stopped it; what is staged is still there then.
pub async fn restore_table(
    run: &Run,
    heart: &Heart,
    loads: &Loads,
    plan: &Arc<StagePlan>,
    source: &Source,
    checked: &Checked,
) -> Result<()> {
    let backend = &run.backend;
    heart.renew(None).await?;
    backend.stage(loads.fence(), plan).await?;
    let loaded = loads.load(plan, source, &checked.manifest).await?;
    compare(plan, "loaded", checked.digest, loaded)?;
    run.cancel.check()?;
    let count = run.cancel.guard(backend.finish_load(loads.fence(), plan)).await?;
    if count != checked.digest.count {
        return Err(differs(plan, &format!("{} items were loaded and {count} are there", checked.digest.count)));
    }
    let staged = run.cancel.guard(backend.staged_digest(loads.fence(), plan)).await?;
    compare(plan, "read back", checked.digest, staged)?;
    publish(run, heart, loads, plan).await
}

fn compare(plan: &StagePlan, what: &str, expected: TableDigest, found: TableDigest) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(differs(plan, &format!("the backup's digest is {expected}, that of the items {what} is {found}")))
}

fn differs(plan: &StagePlan, how: &str) -> Error {
    Error::CheckFailed {
        code: "RESTORE_DIFFERS",
        message: format!("table {} was not published: {how}", plan.target.table_name),
        hint: None,
    }
}

async fn publish(run: &Run, heart: &Heart, loads: &Loads, plan: &StagePlan) -> Result<()> {
    for _ in 0..MAX_PUBLISH_TRIES {
        heart.renew(None).await?;
        match run.backend.publish(loads.fence(), plan).await? {
            WriteOutcome::Matched => return Ok(()),
            WriteOutcome::NotMatched => {
                let message = format!("table {} was not published: the claim was lost", plan.target.table_name);
                run.cancel.stop(Stop::Fenced(message.clone()));
                return Err(Error::Fenced(message));
            }
            WriteOutcome::Unknown => tokio::time::sleep(PUBLISH_PAUSE).await,
        }
    }
    Err(Error::Failed(format!(
        "whether table {} was published is not known, the connection broke each time: run the same command again",
        plan.target.table_name
    )))
}
