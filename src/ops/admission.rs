//! Which recorded job a command meets: none, its own dead one, or somebody else's.
//!
//! Source: backup operations, "Beside servers": a killed run started again by the same command resumes its own
//! job when the holder is dead, is busy when it is alive, and conflicts when the request differs.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::{Error, Result};
use super::settings::Settings;
use crate::backend::Jobs;
use crate::domain::job::{JobKind, JobRecord, JobStatus};
use crate::domain::table::TableKey;

/// Most tables that one job names. Source: durable jobs.
pub const MAX_TABLES_PER_JOB: usize = 4096;

/// SHA-256 in hex of a request: what makes two runs of a command the same.
///
/// # Panics
/// Never: requests are plain structs.
#[must_use]
pub fn fingerprint(request: &impl Serialize) -> String {
    let json = serde_json::to_vec(request).expect("requests are plain structs");
    Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The `target` of a job: its tables by name while they are few, else a name that the same set always gets.
#[must_use]
pub fn target_name(tables: &[TableKey]) -> String {
    const NAMED: usize = 4;
    let mut names: Vec<String> = tables.iter().map(|t| format!("{}/{}", t.account_id, t.table_name)).collect();
    names.sort_unstable();
    if names.len() <= NAMED {
        return names.join(",");
    }
    let whole = fingerprint(&names);
    format!("{} tables from {} ({})", names.len(), names[0], &whole[..12])
}

/// Open jobs of a kind that touch one of the tables, oldest first. `tables_of` reads a job's request.
pub fn overlapping<'j>(
    open: &'j [JobRecord],
    kind: JobKind,
    tables: &[TableKey],
    tables_of: impl Fn(&JobRecord) -> Vec<TableKey>,
) -> Vec<&'j JobRecord> {
    let wanted: std::collections::HashSet<&TableKey> = tables.iter().collect();
    open.iter().filter(|job| job.kind == kind && tables_of(job).iter().any(|t| wanted.contains(t))).collect()
}

/// Refuses to begin when as many jobs run as may run. Jobs whose heartbeat is stale are dead and take no slot.
///
/// # Errors
/// `Busy` naming the bound; database errors.
pub async fn check_slot(jobs: &(impl Jobs + ?Sized), settings: &Settings) -> Result<()> {
    let open = jobs.open_jobs(None).await?;
    let running = open.iter().filter(|job| holds_slot(job, settings.stale_after_ms())).count();
    let bound = settings.max_concurrent_jobs;
    if running >= bound {
        return Err(Error::Busy(format!(
            "{running} jobs are running and max_concurrent_jobs is {bound}: wait for one (`extenddb-admin job list`) \
             or raise the bound"
        )));
    }
    Ok(())
}

fn holds_slot(job: &JobRecord, stale_after_ms: i64) -> bool {
    matches!(job.status, JobStatus::Running | JobStatus::Cancelling)
        && job.heartbeat_age_ms.is_none_or(|age| age < stale_after_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> TableKey {
        TableKey { account_id: "000000000000".into(), table_name: name.into() }
    }

    #[test]
    fn a_target_name_does_not_depend_on_the_order_of_tables() {
        assert_eq!(target_name(&[key("b"), key("a")]), "000000000000/a,000000000000/b");
        let many: Vec<_> = (0..9).map(|i| key(&format!("t{i}"))).collect();
        let mut turned = many.clone();
        turned.reverse();
        assert_eq!(target_name(&many), target_name(&turned));
        assert_ne!(target_name(&many), target_name(&many[1..]));
    }
}
