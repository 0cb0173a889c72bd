//! A running creation: claims, one snapshot for each group of tables, commit records, the end of the job.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::claim::{claim_row, make_available, make_failed};
use super::create::Source;
use super::plan::Attempt;
use super::rate::RateLimit;
use super::report::{CreateReport, CreatedBackup, FailedTable, SnapshotReport, explain};
use super::seal::{Sealed, seal};
use crate::archive::BackupPrefix;
use crate::archive::writer::{BackupMeta, BackupWriter};
use crate::backend::jobs::BackupMemory;
use crate::domain::claim::WriteOutcome;
use crate::domain::digest::TableDigest;
use crate::domain::job::JobStatus;
use crate::domain::manifest::{Manifest, SnapshotMeta};
use crate::domain::store_ref::StoreRef;
use crate::domain::table::{TableInfo, TableKey};
use crate::ops::cancel::Stop;
use crate::ops::clock;
use crate::ops::error::{Error, Result};
use crate::ops::heart::{Heart, RowClaim};
use crate::ops::job::{self, FailureView, TableCounts};
use crate::ops::settings::{OpenStore, Run};
use crate::store::Store;

/// A running creation.
pub struct Creation {
    pub(super) run: Run,
    pub(super) store: OpenStore,
    pub(super) identity: StoreRef,
    pub(super) source: Source,
    pub(super) heart: Heart,
    pub(super) rate: Option<Arc<RateLimit>>,
    pub(super) begun: Instant,
}

/// One backup on its way to its commit record.
pub(super) struct Pending {
    pub(super) attempt: Attempt,
    pub(super) row: Option<RowClaim>,
    pub(super) prefix: BackupPrefix,
}

impl Creation {
    /// Backs everything up and ends the job.
    pub async fn run(self, attempts: Vec<Attempt>, report: &mut CreateReport) {
        self.all(attempts, report).await;
        self.finish(report).await;
    }

    async fn all(&self, attempts: Vec<Attempt>, report: &mut CreateReport) {
        let keys: Vec<TableKey> = attempts.iter().map(|a| a.table.clone()).collect();
        let mut by_key: HashMap<TableKey, Attempt> = attempts.into_iter().map(|a| (a.table.clone(), a)).collect();
        let groups = match self.groups(keys).await {
            Ok(groups) => groups,
            Err(error) => return self.fail_all(by_key.into_values(), &error, report),
        };
        self.run.observer.phase("backup", None);
        let mut told = false;
        for group in groups {
            let group: Vec<Attempt> = group.iter().filter_map(|key| by_key.remove(key)).collect();
            if self.run.cancel.is_stopped() {
                break;
            }
            self.group(group, &mut told, report).await;
        }
    }

    /// Tables that one snapshot each covers.
    async fn groups(&self, keys: Vec<TableKey>) -> Result<Vec<Vec<TableKey>>> {
        match self.source {
            Source::Tables => self.run.cancel.guard(self.run.backend.snapshot_groups(&keys)).await,
            Source::Legacy(_) => Ok(vec![keys]),
        }
    }

    /// One snapshot and its tables.
    async fn group(&self, attempts: Vec<Attempt>, told: &mut bool, report: &mut CreateReport) {
        let mut pending = Vec::new();
        for attempt in attempts {
            match self.claim(attempt, told).await {
                Ok(one) => pending.push(one),
                Err((table, error)) => report.failed.push(FailedTable::new(table, error)),
            }
        }
        let Some((snapshot, pending)) = self.open(pending, report).await else { return };
        let info = snapshot.info().clone();
        let mut meta = SnapshotMeta { kind: info.kind.to_owned(), marker: info.marker };
        if meta.marker.is_empty() && pending.len() > 1 {
            // A backend without a mark of its own: backups of one instant are known by one.
            meta.marker = format!("shared:{}", uuid::Uuid::new_v4());
        }
        let shown = SnapshotReport { kind: meta.kind.clone(), marker: meta.marker.clone(), tables: pending.len() };
        let (streamed, closed) = self.read(snapshot, pending, report).await;
        for (one, table, writer) in streamed {
            if let Err(error) = &closed {
                self.undo(one, Some(writer), Error::Failed(error.to_string()), report).await;
                continue;
            }
            if let Err(error) = self.run.cancel.check() {
                self.undo(one, Some(writer), error, report).await;
                continue;
            }
            self.seal(one, table, writer, &meta, &shown, report).await;
        }
    }

    async fn claim(&self, attempt: Attempt, told: &mut bool) -> std::result::Result<Pending, (String, Error)> {
        let table = attempt.table.table_name.clone();
        let prefix = BackupPrefix::of_arn(&attempt.arn).map_err(|e| (table.clone(), Error::Usage(e)))?;
        let row = claim_row(&self.run, &self.heart, &attempt, &self.identity, told).await.map_err(|e| (table, e))?;
        Ok(Pending { attempt, row, prefix })
    }

    async fn seal(
        &self,
        one: Pending,
        table: TableInfo,
        writer: BackupWriter,
        meta: &SnapshotMeta,
        shown: &SnapshotReport,
        report: &mut CreateReport,
    ) {
        let record = BackupMeta {
            arn: one.attempt.arn.clone(),
            name: one.attempt.name.clone(),
            created: one.attempt.created_at,
            ended: clock::now(),
            source_backend: self.run.backend.name().to_owned(),
            snapshot: meta.clone(),
            source_table: table.definition,
        };
        let store: &Arc<dyn Store> = &self.store.store;
        match seal(store, &one.prefix, writer, record, &self.heart, one.row.as_ref()).await {
            Sealed::Committed(manifest, digest) => {
                self.committed(&one, &manifest, digest, shown, report).await;
            }
            Sealed::Undone(error) => self.undo(one, None, error, report).await,
            Sealed::HandsOff(error) => {
                if error.is_fenced() {
                    self.run.cancel.stop(Stop::Fenced(error.to_string()));
                }
                report.failed.push(FailedTable::new(one.attempt.table.table_name, error));
            }
        }
    }

    async fn committed(
        &self,
        one: &Pending,
        manifest: &Manifest,
        digest: Option<TableDigest>,
        shown: &SnapshotReport,
        report: &mut CreateReport,
    ) {
        if let Some(row) = &one.row
            && let Err(error) = make_available(&self.run, &self.heart, row, manifest).await
        {
            self.run.observer.warn(&format!(
                "{} is complete in the store, its catalog row is not AVAILABLE: {error}",
                one.attempt.arn
            ));
        }
        let memory = BackupMemory {
            store_id: self.identity.id.clone(),
            backup_arn: manifest.backup_arn.clone(),
            manifest_sha256: manifest.manifest_sha256.clone(),
            digest: digest.map(|d| d.to_string()),
            verified_at: None,
            verified_ok: None,
            verified_deep: false,
        };
        if !self.run.cancel.is_fenced()
            && let Err(error) = self.run.backend.remember_backup(&memory).await
        {
            self.run.observer.warn(&format!("the digest of {} was not recorded: {error}", one.attempt.arn));
        }
        let files = u64::try_from(manifest.data_files.len()).unwrap_or(u64::MAX);
        self.heart.counters().files_found(files);
        self.heart.counters().files_done(files);
        report.backups.push(CreatedBackup {
            id: one.attempt.arn.backup_id().to_owned(),
            arn: manifest.backup_arn.clone(),
            table: one.attempt.table.table_name.clone(),
            account_id: one.attempt.table.account_id.clone(),
            store: self.store.name.clone(),
            status: "AVAILABLE",
            name: manifest.backup_name.clone(),
            item_count: manifest.item_count(),
            data_file_count: manifest.data_files.len(),
            size_bytes: manifest.backup_size_bytes,
            table_size_bytes: manifest.source_table.table_size_bytes,
            duration_ms: u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            digest,
            snapshot: shown.clone(),
        });
    }

    /// Undoes one backup that has no commit record: objects, row. Does nothing once the claim is lost.
    pub(super) async fn undo(
        &self,
        one: Pending,
        writer: Option<BackupWriter>,
        error: Error,
        report: &mut CreateReport,
    ) {
        if error.is_fenced() {
            self.run.cancel.stop(Stop::Fenced(error.to_string()));
        }
        let mut message = error.to_string();
        if !self.run.cancel.is_fenced() {
            if let Some(row) = &one.row {
                make_failed(&self.run, &self.heart, row, &message).await;
            }
            let swept = match writer {
                Some(writer) => writer.abort().await,
                None => self.store.store.delete_prefix(one.prefix.key()).await.map_err(Into::into),
            };
            if let Err(sweep) = swept {
                message = format!("{message}; what was written under {} is still there: {sweep}", one.prefix);
            }
        }
        report.failed.push(FailedTable { table: one.attempt.table.table_name, code: error.code(), message, error });
    }

    fn fail_all(&self, attempts: impl Iterator<Item = Attempt>, error: &Error, report: &mut CreateReport) {
        for attempt in attempts {
            report.failed.push(FailedTable::new(attempt.table.table_name, Error::Failed(error.to_string())));
        }
    }

    /// Ends the job. A lost claim leaves it alone.
    async fn finish(self, report: &mut CreateReport) {
        report.backups.sort_by(|a, b| (&a.account_id, &a.table).cmp(&(&b.account_id, &b.table)));
        report.failed.sort_by(|a, b| a.table.cmp(&b.table));
        self.heart.rest().await;
        report.stopped = self.run.cancel.reason().map(|stop| explain(stop, report));
        if self.run.cancel.is_fenced() {
            return;
        }
        let status = match (&self.run.cancel.reason(), report.failed.is_empty()) {
            (Some(Stop::Signal | Stop::CancelRequested), _) => JobStatus::Cancelled,
            (_, true) => JobStatus::Succeeded,
            (_, false) => JobStatus::Failed,
        };
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let tables = TableCounts {
            committed: count(report.backups.len()),
            failed: count(report.failed.len()),
            ..TableCounts::default()
        };
        let failures: Vec<FailureView> = report.failed.iter().map(FailedTable::view).collect();
        let result = job::result(tables, &failures);
        match self.heart.job().finish(status, &result).await {
            Ok(WriteOutcome::Matched) => {}
            Ok(WriteOutcome::NotMatched) => {
                report.stopped = Some(Error::Fenced(format!(
                    "job {} was taken over by another process while it ended",
                    self.heart.job().job()
                )));
            }
            Ok(WriteOutcome::Unknown) => {
                self.run
                    .observer
                    .warn("the connection broke while the job was ended: the next run of the command ends it");
            }
            Err(error) => {
                self.run
                    .observer
                    .warn(&format!("the job's end was not recorded, the next run of the command ends it: {error}"));
            }
        }
    }
}
