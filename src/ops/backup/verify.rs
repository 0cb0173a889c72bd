//! Verifies stored backups and remembers the outcome where a deployment is at hand.
//!
//! Source: backup operations, section 6. It writes nothing to the store, and to the catalog's database only a record of
//! ours.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::archive::BackupPrefix;
use crate::archive::list::{ListFilter, Listed, list_backups};
use crate::archive::verify::{Depth, VerifyOptions, VerifyReport, verify as verify_archive};
use crate::backend::Backend;
use crate::backend::jobs::BackupMemory;
use crate::domain::digest::TableDigest;
use crate::domain::finding::Finding;
use crate::ops::cancel::Cancel;
use crate::ops::error::Result;
use crate::ops::observer::Observer;
use crate::ops::settings::OpenStore;

/// How to verify.
#[derive(Clone)]
pub struct VerifyRun {
    /// The store.
    pub store: OpenStore,
    /// Where the outcome is remembered.
    pub backend: Option<Arc<dyn Backend>>,
    /// Parse every item too.
    pub deep: bool,
    /// Data files looked at at once.
    pub jobs: usize,
    /// Where sorted runs of key hashes go once they no longer fit in memory.
    pub spool_dir: PathBuf,
    /// Hears progress.
    pub observer: Arc<dyn Observer>,
    /// Asks to stop.
    pub cancel: Cancel,
}

/// One verified backup.
#[derive(Debug, Serialize)]
pub struct Verified {
    /// Id.
    pub id: String,
    /// ARN; the prefix where the commit record could not be read.
    pub arn: String,
    /// No error was found.
    pub ok: bool,
    /// Everything that was found: errors in the order of the checks, then warnings.
    pub findings: Vec<Finding>,
    /// Items read; only of a deep verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_count: Option<u64>,
    /// Digest of the items; only of a deep verification without error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<TableDigest>,
    /// Stored bytes read.
    pub bytes: u64,
}

/// What was found.
#[derive(Debug, Serialize)]
pub struct VerifyReports {
    /// In the order asked for.
    pub backups: Vec<Verified>,
}

impl VerifyReports {
    /// No backup has an error.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.backups.iter().all(|backup| backup.ok)
    }
}

/// Verifies each prefix.
///
/// # Errors
/// When a verification could not be made; `Interrupted`.
pub async fn verify(run: &VerifyRun, prefixes: &[BackupPrefix]) -> Result<VerifyReports> {
    run.observer.phase("verify", None);
    let mut backups = Vec::new();
    for prefix in prefixes {
        let report = verify_one(run, prefix).await?;
        remember(run, &report).await;
        backups.push(shown(prefix, report, run.deep));
    }
    Ok(VerifyReports { backups })
}

/// Every backup of the store, the damaged ones included; prefixes without commit record are none.
///
/// # Errors
/// Store errors.
pub async fn all(store: &OpenStore, account_id: Option<&str>) -> Result<Vec<BackupPrefix>> {
    let mut found = Vec::new();
    let filter = ListFilter { account_id: account_id.map(str::to_owned), table_name: None };
    let mut visit = |listed: Listed| {
        if let Listed::Backup { prefix, .. } | Listed::Refused { prefix, .. } = listed {
            found.push(prefix);
        }
    };
    list_backups(&*store.store, &filter, &mut visit).await?;
    Ok(found)
}

async fn verify_one(run: &VerifyRun, prefix: &BackupPrefix) -> Result<VerifyReport> {
    let stop = Arc::new(AtomicBool::new(false));
    let observer = Arc::clone(&run.observer);
    let options = VerifyOptions {
        depth: if run.deep { Depth::Items } else { Depth::Bytes },
        jobs: run.jobs.max(1),
        spool_dir: run.spool_dir.clone(),
        item_check: None,
        progress: Some(Arc::new(move |items, bytes| observer.advance(items, bytes))),
        stop: Arc::clone(&stop),
    };
    let _watch = watch(&run.cancel, &stop);
    let report = verify_archive(Arc::clone(&run.store.store), prefix, &options).await;
    run.cancel.check()?;
    Ok(report?)
}

/// Sets a flag once a stop is asked for, until the answer is dropped.
#[must_use]
pub fn watch(cancel: &Cancel, stop: &Arc<AtomicBool>) -> Watch {
    let (cancel, stop) = (cancel.clone(), Arc::clone(stop));
    Watch(tokio::spawn(async move {
        cancel.stopped().await;
        stop.store(true, Ordering::Relaxed);
    }))
}

/// Watches for a stop until it is dropped.
pub struct Watch(tokio::task::JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn remember(run: &VerifyRun, report: &VerifyReport) {
    let (Some(backend), Some(manifest)) = (&run.backend, &report.manifest) else { return };
    let memory = BackupMemory {
        store_id: run.store.id_for_reading().await,
        backup_arn: manifest.backup_arn.clone(),
        manifest_sha256: manifest.manifest_sha256.clone(),
        digest: report.digest.map(|digest| digest.to_string()),
        verified_at: None,
        verified_ok: Some(report.ok()),
        verified_deep: run.deep,
    };
    if let Err(error) = backend.remember_backup(&memory).await {
        run.observer.warn(&format!("the outcome for {} was not recorded: {error}", manifest.backup_arn));
    }
}

fn shown(prefix: &BackupPrefix, report: VerifyReport, deep: bool) -> Verified {
    Verified {
        id: prefix.backup_id().to_owned(),
        arn: report.manifest.as_ref().map_or_else(|| prefix.to_string(), |m| m.backup_arn.clone()),
        ok: report.ok(),
        item_count: deep.then_some(report.items),
        digest: report.digest,
        bytes: report.bytes,
        findings: report.findings,
    }
}
