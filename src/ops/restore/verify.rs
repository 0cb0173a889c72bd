//! Everything that is checked before a table is staged. Nothing here writes to catalog, data or store.
//!
//! Source: backup operations, section 8, checks 2 to 7; section 10.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::rules::{check_definition, item_check};
use super::spool;
use crate::archive::BackupPrefix;
use crate::archive::list::read_record;
use crate::archive::verify::{Depth, VerifyOptions, verify as verify_archive};
use crate::backend::loader::TargetRules;
use crate::domain::arn::BackupArn;
use crate::domain::digest::TableDigest;
use crate::domain::finding::{Finding, Severity};
use crate::domain::manifest::Manifest;
use crate::ops::backup::verify::watch;
use crate::ops::error::{Error, Result};
use crate::ops::settings::Run;
use crate::store::Store;

/// Most findings of one backup that an error lists; the verification shows them all.
const MAX_SHOWN: usize = 20;

/// Where the items of one table come from.
#[derive(Clone)]
pub struct Source {
    /// The store, or the spool.
    pub store: Arc<dyn Store>,
    /// Where the archive lies in it.
    pub prefix: BackupPrefix,
    /// ARN of the archive.
    pub arn: BackupArn,
}

/// A backup that was verified for a target.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its commit record.
    pub manifest: Manifest,
    /// Digest of its items.
    pub digest: TableDigest,
}

/// Reads the commit record and checks what the definition alone tells: checks 4 to 6.
///
/// # Errors
/// All problems of this backup in one error; store errors.
pub async fn check_record(source: &Source, rules: &TargetRules, shown: &str) -> Result<Manifest> {
    let manifest = read_record(&*source.store, &source.prefix).await?.map_err(|findings| refusal(shown, &findings))?;
    let findings = check_definition(rules, &manifest.source_table);
    if findings.is_empty() { Ok(manifest) } else { Err(refusal(shown, &findings)) }
}

/// Verifies everything, each item against the target's rules too: checks 5 to 7.
///
/// # Errors
/// All problems of this backup in one error; store errors; `Interrupted`.
pub async fn check_all(run: &Run, source: &Source, rules: &TargetRules, shown: &str) -> Result<Checked> {
    let manifest = match read_record(&*source.store, &source.prefix).await? {
        Ok(manifest) => manifest,
        Err(findings) => return Err(refusal(shown, &findings)),
    };
    let mut findings = check_definition(rules, &manifest.source_table);
    let stop = Arc::new(AtomicBool::new(false));
    let observer = Arc::clone(&run.observer);
    let options = VerifyOptions {
        depth: Depth::Items,
        jobs: run.workers.get(),
        spool_dir: spool::base(&run.settings),
        item_check: item_check(rules, &manifest.source_table),
        progress: Some(Arc::new(move |items, bytes| observer.advance(items, bytes))),
        stop: Arc::clone(&stop),
    };
    let watching = watch(&run.cancel, &stop);
    let report = verify_archive(Arc::clone(&source.store), &source.prefix, &options).await;
    drop(watching);
    run.cancel.check()?;
    let report = report?;
    findings.extend(report.findings.into_iter().filter(|f| f.severity == Severity::Error));
    match (findings.is_empty(), report.manifest, report.digest) {
        (true, Some(manifest), Some(digest)) => Ok(Checked { manifest, digest }),
        _ => Err(refusal(shown, &findings)),
    }
}

/// One error that lists every finding.
fn refusal(shown: &str, findings: &[Finding]) -> Error {
    use crate::domain::finding::Category;
    let lines: Vec<String> = findings.iter().take(MAX_SHOWN).map(|finding| format!("  {finding}")).collect();
    let more = findings.len().saturating_sub(MAX_SHOWN);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let target = !findings.is_empty() && findings.iter().all(|f| f.category == Category::TargetCannotRepresent);
    Error::CheckFailed {
        code: if target { "TARGET_CANNOT_REPRESENT" } else { "BACKUP_REFUSED" },
        message: format!("backup {shown} cannot be restored, nothing was written:\n{}{more}", lines.join("\n")),
        hint: Some(if target {
            "restore it into a deployment that can hold what is named".to_owned()
        } else {
            "`extenddb-admin backup verify --deep` shows everything that is wrong with it".to_owned()
        }),
    }
}
