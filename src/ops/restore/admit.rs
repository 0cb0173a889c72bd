//! Checks what can be checked at once, and records the job before anything else happens.
//!
//! Source: backup operations, section 8, checks 1 to 6 and 8; all problems are told at once and nothing is written.
//! A command whose job exists already gets that job: by its idempotency key, or because a dead run of the same request
//! holds the target.

use std::collections::HashSet;

use super::prepare::{apply_overrides, check_overrides, check_target_name};
use super::request::{Overrides, RestoreRequest, TableRequest, VERSION};
use super::rules::check_definition;
use super::verify::{Source, check_record};
use crate::archive::BackupPrefix;
use crate::backend;
use crate::backend::loader::TargetRules;
use crate::domain::arn::BackupArn;
use crate::domain::finding::Finding;
use crate::domain::job::{BackupStatus, JobKind, JobRecord, NewJob};
use crate::ops::admission::{self, MAX_TABLES_PER_JOB};
use crate::ops::error::{Error, Result};
use crate::ops::settings::{OpenStore, Run};

/// Most tables that are named one by one in a restore.
pub const MAX_NAMED_TABLES: usize = 256;

/// What to restore.
#[derive(Clone)]
pub struct RestoreOptions {
    /// Backups and the tables they become.
    pub tables: Vec<TableRequest>,
    /// They were named one by one (not by `--all`).
    pub named: bool,
    /// The store; none when all backups are legacy.
    pub store: Option<OpenStore>,
    /// What is different in the new tables.
    pub overrides: Overrides,
    /// The caller's key.
    pub idempotency_key: Option<String>,
    /// Only admit: no job slot is needed.
    pub detach: bool,
}

/// An admitted job.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// Its record.
    pub job: JobRecord,
    /// It was there before: a run that died, or the same idempotency key.
    pub existed: bool,
}

/// Admits a restore.
///
/// # Errors
/// All problems at once: `CheckFailed` (3) if any backup is damaged or cannot be represented, else the first one's kind;
/// `Busy` without a slot; `Conflict` when another request holds a target or used the key.
pub async fn admit(run: &Run, options: &RestoreOptions) -> Result<Admitted> {
    check_count(options)?;
    let request = RestoreRequest {
        version: VERSION,
        store: options.store.as_ref().map(|store| store.name.clone()),
        tables: options.tables.clone(),
        overrides: options.overrides,
        seed: uuid::Uuid::new_v4().to_string(),
        decided: None,
    };
    let new = NewJob {
        kind: JobKind::Restore,
        target: admission::target_name(&request.targets()),
        request: request.to_json(),
        request_fingerprint: request.fingerprint(),
        idempotency_key: options.idempotency_key.clone(),
        principal: run.principal.clone(),
    };
    if let Some(job) = known(run, &new).await? {
        return Ok(Admitted { job, existed: true });
    }
    if let Some(job) = held(run, &request).await? {
        return Ok(Admitted { job, existed: true });
    }
    let problems = problems(run, options, &request).await?;
    if let Some(error) = combine(problems) {
        return Err(error);
    }
    if !options.detach {
        admission::check_slot(&*run.backend, &run.settings).await?;
    }
    Ok(Admitted { job: run.backend.admit_job(&new).await?, existed: false })
}

fn check_count(options: &RestoreOptions) -> Result<()> {
    let count = options.tables.len();
    if count == 0 {
        return Err(Error::Usage("there is nothing to restore".into()));
    }
    if options.named && count > MAX_NAMED_TABLES {
        return Err(Error::Usage(format!(
            "{count} tables are named, a restore takes at most {MAX_NAMED_TABLES}: use --all"
        )));
    }
    if count > MAX_TABLES_PER_JOB {
        return Err(Error::Usage(format!("{count} tables are more than the {MAX_TABLES_PER_JOB} of one job")));
    }
    let mut seen = HashSet::new();
    match options.tables.iter().find(|table| !seen.insert(&table.target)) {
        Some(twice) => Err(Error::Usage(format!("two backups would become table {:?}", twice.target.table_name))),
        None => Ok(()),
    }
}

/// The job of this idempotency key.
async fn known(run: &Run, new: &NewJob) -> Result<Option<JobRecord>> {
    let Some(key) = &new.idempotency_key else { return Ok(None) };
    let Some(job) = run.backend.job_by_key(&new.principal, &new.target, key).await? else { return Ok(None) };
    if job.request_fingerprint == new.request_fingerprint {
        return Ok(Some(job));
    }
    Err(Error::Conflict(format!(
        "idempotency key {key:?} was used by job {} for another request ({} then, {} now): use another key",
        job.id, job.request_fingerprint, new.request_fingerprint
    )))
}

/// The open job that holds one of the targets: ours to resume when it has the same request.
async fn held(run: &Run, request: &RestoreRequest) -> Result<Option<JobRecord>> {
    let open = run.backend.open_jobs(None).await?;
    let tables_of = |job: &JobRecord| RestoreRequest::of(job).map(|r| r.targets()).unwrap_or_default();
    let targets = request.targets();
    let holding = admission::overlapping(&open, JobKind::Restore, &targets, tables_of);
    let mine = request.fingerprint();
    if let Some(other) = holding.iter().find(|job| job.request_fingerprint != mine) {
        return Err(Error::Conflict(format!(
            "job {} already restores {}, another request than this one: end it first with `extenddb-admin job resume {}` \
             or `extenddb-admin job cancel {}`",
            other.id, other.target, other.id, other.id
        )));
    }
    Ok(holding.first().map(|job| (*job).clone()))
}

/// Everything that is wrong and can be told without reading the items, in the order of the checks.
async fn problems(run: &Run, options: &RestoreOptions, request: &RestoreRequest) -> Result<Vec<Error>> {
    let mut problems = Vec::new();
    problems.extend(check_overrides(&options.overrides).err().map(Error::Usage));
    for table in &request.tables {
        problems.extend(check_target_name(&table.target.table_name).err().map(Error::Usage));
        if !table.legacy
            && let Err(error) = table.backup_arn.parse::<BackupArn>()
        {
            problems.push(Error::Usage(error.to_string()));
        }
    }
    if !problems.is_empty() {
        // Without well-formed names there is nothing to look up.
        return Ok(problems);
    }
    for table in &request.tables {
        problems.extend(run.backend.check_target(&table.target.key()).await.err().map(Error::from));
    }
    let rules = run.backend.target_rules().await?;
    for table in &request.tables {
        run.cancel.check()?;
        problems.extend(table_problems(run, options, table, &rules).await?);
    }
    Ok(problems)
}

async fn table_problems(
    run: &Run,
    options: &RestoreOptions,
    table: &TableRequest,
    rules: &TargetRules,
) -> Result<Vec<Error>> {
    let mut problems = Vec::new();
    let definition = if table.legacy {
        let all = run.backend.legacy_backups(None).await?;
        let Some(legacy) = all.into_iter().find(|l| l.backup_arn == table.backup_arn && l.status == "AVAILABLE") else {
            return Ok(vec![Error::NotFound(format!("there is no in-catalog backup {}", table.backup_arn))]);
        };
        for note in &legacy.notes {
            run.observer.warn(&format!("{}: {note}", legacy.backup_arn));
        }
        let findings: Vec<Finding> = check_definition(rules, &legacy.table);
        problems.extend(findings.iter().map(|finding| Error::CheckFailed {
            code: "TARGET_CANNOT_REPRESENT",
            message: format!("backup {}: {finding}", table.backup_arn),
            hint: None,
        }));
        legacy.table
    } else {
        let Some(store) = &options.store else {
            return Ok(vec![Error::Usage(format!(
                "backup {} lies in a store: name it with --store",
                table.backup_arn
            ))]);
        };
        problems.extend(row_problem(run, store, &table.backup_arn).await?);
        let arn: BackupArn = table.backup_arn.parse().map_err(|e| Error::Usage(format!("{e}")))?;
        let prefix = BackupPrefix::of_arn(&arn).map_err(Error::Usage)?;
        let source = Source { store: store.store.clone(), prefix, arn };
        match check_record(&source, rules, &table.backup_arn).await {
            Ok(manifest) => manifest.source_table,
            Err(error @ Error::CheckFailed { .. }) => {
                problems.push(error);
                return Ok(problems);
            }
            Err(error) => return Err(error),
        }
    };
    if check_overrides(&options.overrides).is_ok() {
        problems.extend(apply_overrides(&definition, &options.overrides).err().map(Error::Usage));
    }
    Ok(problems)
}

/// A row of this store that is not `AVAILABLE` refuses the backup; no row at all does not.
async fn row_problem(run: &Run, store: &OpenStore, arn: &str) -> Result<Option<Error>> {
    let id = store.id_for_reading().await;
    let rows = run.backend.backup_rows(None).await?;
    let row =
        rows.iter().find(|row| row.key.backup_arn == arn && row.store.kind == store.store.kind() && row.store.id == id);
    Ok(match row.map(|row| row.status) {
        // A CREATING row with a commit record is complete: its row only lags behind.
        None | Some(BackupStatus::Available | BackupStatus::Creating) => None,
        Some(status) => Some(Error::NotFound(format!("backup {arn} is {} in the catalog", status.word()))),
    })
}

/// One error that tells all. A damaged or unrepresentable backup decides its kind, else the first problem does.
#[must_use]
pub fn combine(mut problems: Vec<Error>) -> Option<Error> {
    if problems.len() <= 1 {
        return problems.pop();
    }
    let text = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let decisive = problems.iter().position(|e| matches!(e, Error::CheckFailed { .. })).unwrap_or(0);
    Some(match problems.swap_remove(decisive) {
        Error::CheckFailed { code, hint, .. } => Error::CheckFailed { code, message: text, hint },
        Error::Usage(_) => Error::Usage(text),
        Error::NotFound(_) => Error::NotFound(text),
        Error::Busy(_) => Error::Busy(text),
        Error::Conflict(_) => Error::Conflict(text),
        Error::Backend(error) => match error.kind() {
            backend::ErrorKind::Conflict => Error::Conflict(text),
            backend::ErrorKind::NotFound => Error::NotFound(text),
            backend::ErrorKind::Busy => Error::Busy(text),
            _ => Error::Failed(text),
        },
        _ => Error::Failed(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_are_told_and_damage_decides_the_kind() {
        let damage = Error::CheckFailed { code: "BACKUP_REFUSED", message: "b is damaged".into(), hint: None };
        let all = combine(vec![Error::Conflict("a exists".into()), damage]).expect("two problems");
        assert!(matches!(all, Error::CheckFailed { code: "BACKUP_REFUSED", .. }));
        assert!(all.to_string().contains("a exists") && all.to_string().contains("b is damaged"));
        let first = combine(vec![Error::Conflict("a".into()), Error::NotFound("b".into())]);
        assert!(matches!(first, Some(Error::Conflict(text)) if text == "a\nb"));
        assert!(combine(Vec::new()).is_none());
    }
}
