//! Creates backups of tables: one job, its phases in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::claim::{claim_row, make_available, make_failed, store_identity};
use super::plan::{self, Attempt, Selection};
use super::rate::RateLimit;
use super::request::{BackupRequest, VERSION};
use super::seal::{Sealed, seal};
use super::stream::Lanes;
use super::sweep::end_dead;
use crate::archive::BackupPrefix;
use crate::archive::writer::{BackupMeta, BackupWriter};
use crate::backend;
use crate::backend::jobs::{BackupMemory, JobClaim};
use crate::backend::snapshot::{Snapshot, SnapshotOptions};
use crate::domain::claim::WriteOutcome;
use crate::domain::digest::TableDigest;
use crate::domain::job::{JobKind, JobRecord, JobStatus, NewJob};
use crate::domain::manifest::{Manifest, SnapshotMeta};
use crate::domain::store_ref::StoreRef;
use crate::domain::table::{TableInfo, TableKey, TableStatus};
use crate::ops::admission::{self, MAX_TABLES_PER_JOB};
use crate::ops::cancel::Stop;
use crate::ops::clock;
use crate::ops::error::{Error, Result};
use crate::ops::heart::{Heart, RowClaim};
use crate::ops::job::{self, FailureView, TableCounts};
use crate::ops::settings::{OpenStore, Run};
use crate::store::Store;

/// A snapshot is opened anew at most this often when a table was altered or dropped meanwhile.
const MAX_SNAPSHOT_TRIES: usize = 3;

/// What to back up, and where to.
#[derive(Clone)]
pub struct CreateOptions {
    /// Which tables.
    pub selection: Selection,
    /// Only tables of this account.
    pub account_id: Option<String>,
    /// The store.
    pub store: OpenStore,
    /// Name of the backups; made from table and time where it is not given.
    pub name: Option<String>,
    /// Most bytes of items to read in a second.
    pub rate_limit: Option<u64>,
}

/// One snapshot as the report shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotReport {
    /// Kind.
    pub kind: String,
    /// Mark of the instant; tables of the same mark were read at one instant.
    pub marker: String,
    /// How many tables of this run share it.
    pub tables: usize,
}

/// A backup that is there.
#[derive(Debug, Clone, Serialize)]
pub struct CreatedBackup {
    /// Its id.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// Name of the table.
    pub table: String,
    /// Account of the table.
    pub account_id: String,
    /// Name of the store.
    pub store: String,
    /// `AVAILABLE`.
    pub status: &'static str,
    /// Name of the backup.
    pub name: String,
    /// Items in it.
    pub item_count: u64,
    /// Data files in it.
    pub data_file_count: usize,
    /// Compressed bytes.
    pub size_bytes: i64,
    /// Size of the table as the source reported it.
    pub table_size_bytes: i64,
    /// From the start of the run to the commit record.
    pub duration_ms: u64,
    /// Digest of the items; missing only where the answer to the commit record got lost.
    pub digest: Option<TableDigest>,
    /// How it was read.
    pub snapshot: SnapshotReport,
}

/// A table that was not backed up.
#[derive(Debug, Serialize)]
pub struct FailedTable {
    /// Name of the table.
    pub table: String,
    /// Stable word.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// The error, for the exit status.
    #[serde(skip)]
    pub error: Error,
}

impl FailedTable {
    fn new(table: impl Into<String>, error: Error) -> Self {
        Self { table: table.into(), code: error.code(), message: error.to_string(), error }
    }

    fn view(&self) -> FailureView {
        FailureView { table: self.table.clone(), code: self.code.to_owned(), message: self.message.clone() }
    }
}

/// What came out.
#[derive(Debug, Default, Serialize)]
pub struct CreateReport {
    /// The job that did it; missing when nothing was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Backups that are there.
    pub backups: Vec<CreatedBackup>,
    /// Tables that were not backed up.
    pub failed: Vec<FailedTable>,
    /// Why the run stopped early: then what is not in `backups` was undone.
    #[serde(skip)]
    pub stopped: Option<Error>,
}

/// Backs up tables. Refusals of single tables are in the report; an error means that nothing was begun.
///
/// # Errors
/// Refusals of the whole; `Busy` when the same backup is running or no job slot is free.
pub async fn create(run: &Run, options: &CreateOptions) -> Result<CreateReport> {
    let created_at = clock::now();
    let mut report = CreateReport::default();
    let tables = run.backend.list_tables(options.account_id.as_deref()).await?;
    let mut attempts = Vec::new();
    if let Some(name) = &options.name {
        plan::check_name(name)?;
    }
    for chosen in plan::select(&tables, &options.selection)? {
        let planned = chosen.and_then(|info| {
            plan::attempt(&info, options.name.as_deref(), created_at, clock::random())
                .map_err(|e| (info.definition.table_name, e))
        });
        match planned {
            Ok(attempt) => attempts.push(attempt),
            Err((table, error)) => report.failed.push(FailedTable::new(table, error)),
        }
    }
    drop(tables);
    if attempts.len() > MAX_TABLES_PER_JOB {
        return Err(Error::Usage(format!(
            "{} tables are more than the {MAX_TABLES_PER_JOB} of one job: name them in several runs or use --account",
            attempts.len()
        )));
    }
    if attempts.is_empty() {
        return Ok(report);
    }
    run_attempts(run, &options.store, options.name.clone(), options.rate_limit, Source::Tables, attempts, report).await
}

/// Where the items come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Live tables.
    Tables,
    /// The in-catalog backup of this ARN, shown as one table.
    Legacy(String),
}

/// Runs planned attempts as one job.
///
/// # Errors
/// As [`create`].
pub async fn run_attempts(
    run: &Run,
    store: &OpenStore,
    name: Option<String>,
    rate_limit: Option<u64>,
    source: Source,
    attempts: Vec<Attempt>,
    mut report: CreateReport,
) -> Result<CreateReport> {
    let request = BackupRequest {
        version: VERSION,
        store: store.name.clone(),
        name,
        arns: attempts.iter().map(|a| a.arn.to_string()).collect(),
    };
    clean_up_before(run, &request).await?;
    admission::check_slot(&*run.backend, &run.settings).await?;
    let identity = store_identity(store).await?;
    let (job, claim) = admit(run, &request).await?;
    report.job = Some(job.id.to_string());
    let creation = Creation {
        run: run.clone(),
        store: store.clone(),
        identity,
        source,
        heart: Heart::start(claim, run.settings.beat(), run.cancel.clone()),
        rate: rate_limit.map(|rate| Arc::new(RateLimit::new(rate))),
        begun: Instant::now(),
    };
    creation.all(attempts, &mut report).await;
    creation.finish(&mut report).await;
    Ok(report)
}

/// Ends dead attempts at the same tables; refuses while the same backup runs.
async fn clean_up_before(run: &Run, request: &BackupRequest) -> Result<()> {
    let open = run.backend.open_jobs(None).await?;
    let mine = request.fingerprint();
    let tables = request.tables();
    let tables_of = |job: &JobRecord| BackupRequest::of(job).map(|r| r.tables()).unwrap_or_default();
    for job in admission::overlapping(&open, JobKind::Backup, &tables, tables_of) {
        match run.backend.claim_job(&job.id, &run.writer).await {
            Ok(claim) => {
                end_dead(run, job, &*claim, JobStatus::Failed).await?;
                run.observer.note(&format!("job {} had died and was cleaned up: its backup starts anew", job.id));
            }
            Err(error) if error.kind() == backend::ErrorKind::Busy => {
                if job.request_fingerprint == mine {
                    return Err(error.into());
                }
            }
            // It ended meanwhile.
            Err(error) if error.kind() == backend::ErrorKind::Conflict => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

async fn admit(run: &Run, request: &BackupRequest) -> Result<(JobRecord, Arc<dyn JobClaim>)> {
    let job = run
        .backend
        .admit_job(&NewJob {
            kind: JobKind::Backup,
            target: admission::target_name(&request.tables()),
            request: serde_json::to_value(request).expect("requests are plain structs"),
            request_fingerprint: request.fingerprint(),
            idempotency_key: None,
            principal: run.principal.clone(),
        })
        .await?;
    let claim = run.backend.claim_job(&job.id, &run.writer).await?;
    Ok((job, Arc::from(claim)))
}

/// A running creation.
struct Creation {
    run: Run,
    store: OpenStore,
    identity: StoreRef,
    source: Source,
    heart: Heart,
    rate: Option<Arc<RateLimit>>,
    begun: Instant,
}

/// One backup on its way to its commit record.
struct Pending {
    attempt: Attempt,
    row: Option<RowClaim>,
    prefix: BackupPrefix,
}

impl Creation {
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
        if let Some(stop) = self.run.cancel.reason() {
            report.stopped = Some(stop.into());
        }
    }

    /// Tables that one snapshot each covers.
    async fn groups(&self, keys: Vec<TableKey>) -> Result<Vec<Vec<TableKey>>> {
        match self.source {
            Source::Tables => self.run.cancel.guard(self.run.backend.snapshot_groups(&keys)).await,
            Source::Legacy(_) => Ok(vec![keys]),
        }
    }

    async fn open_once(&self, keys: &[TableKey]) -> Result<Box<dyn Snapshot>> {
        let options = SnapshotOptions { connections: self.run.workers.get(), hold_rows: true };
        match &self.source {
            Source::Tables => self.run.cancel.guard(self.run.backend.open_snapshot(keys, &options)).await,
            Source::Legacy(arn) => self.run.cancel.guard(self.run.backend.open_legacy_backup(arn)).await,
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

    /// Opens the snapshot. A table that was altered or dropped since the plan is left out and the rest tried again.
    async fn open(
        &self,
        mut pending: Vec<Pending>,
        report: &mut CreateReport,
    ) -> Option<(Box<dyn Snapshot>, Vec<Pending>)> {
        for attempt in 1.. {
            if pending.is_empty() {
                return None;
            }
            let keys: Vec<TableKey> = pending.iter().map(|p| p.attempt.table.clone()).collect();
            let error = match self.open_once(&keys).await {
                Ok(snapshot) => return Some((snapshot, pending)),
                Err(error) => error,
            };
            let retry = attempt < MAX_SNAPSHOT_TRIES && self.source == Source::Tables;
            let gone = if retry { self.no_longer_active(&keys).await } else { Vec::new() };
            if gone.is_empty() || self.run.cancel.is_stopped() {
                let message = error.to_string();
                let mut first = Some(error);
                for one in pending {
                    let error = first.take().unwrap_or_else(|| Error::Failed(message.clone()));
                    self.undo(one, None, error, report).await;
                }
                return None;
            }
            let mut stay = Vec::new();
            for one in pending {
                if gone.contains(&one.attempt.table) {
                    let why = format!("table {} is no longer ACTIVE", one.attempt.table.table_name);
                    self.undo(one, None, Error::Busy(why), report).await;
                } else {
                    stay.push(one);
                }
            }
            pending = stay;
        }
        None
    }

    async fn no_longer_active(&self, keys: &[TableKey]) -> Vec<TableKey> {
        let mut gone = Vec::new();
        for key in keys {
            let active = matches!(self.run.backend.table(key).await, Ok(info) if info.status == TableStatus::Active);
            if !active {
                gone.push(key.clone());
            }
        }
        gone
    }

    /// Streams all tables of a snapshot, the large ones first, and closes it.
    async fn read(
        &self,
        snapshot: Box<dyn Snapshot>,
        pending: Vec<Pending>,
        report: &mut CreateReport,
    ) -> (Vec<(Pending, TableInfo, BackupWriter)>, backend::Result<()>) {
        let infos: HashMap<TableKey, TableInfo> = snapshot.tables().iter().map(|t| (t.key(), t.clone())).collect();
        let snapshot = Arc::new(snapshot);
        let lanes = Arc::new(Lanes::new(
            &self.run,
            Arc::clone(&snapshot),
            Arc::clone(self.heart.counters()),
            self.rate.clone(),
        ));
        let mut queue: Vec<(Pending, TableInfo)> = pending
            .into_iter()
            .map(|p| {
                let info = infos.get(&p.attempt.table).cloned();
                (p, info.expect("a snapshot describes every table it was opened over"))
            })
            .collect();
        queue.sort_by_key(|(_, info)| std::cmp::Reverse(info.definition.table_size_bytes));
        let mut tasks = tokio::task::JoinSet::new();
        let mut streamed = Vec::new();
        let mut queue = queue.into_iter();
        loop {
            let Some((one, info)) = queue.next() else { break };
            let lane = tokio::select! {
                biased;
                _ = self.run.cancel.stopped() => None,
                lane = lanes.admit() => Some(lane),
            };
            let Some(lane) = lane else {
                self.undo(one, None, stop_error(&self.run), report).await;
                continue;
            };
            let writer = BackupWriter::new(
                Arc::clone(&self.store.store),
                one.prefix.clone(),
                self.run.settings.data_file_target_bytes,
            );
            let lanes = Arc::clone(&lanes);
            tasks.spawn(async move {
                let result = lanes.stream(info.clone(), &writer, lane).await;
                (one, info, writer, result)
            });
            while let Some(done) = tasks.try_join_next() {
                self.sort_out(done, &mut streamed, report).await;
            }
        }
        while let Some(done) = tasks.join_next().await {
            self.sort_out(done, &mut streamed, report).await;
        }
        drop(lanes);
        let closed = match Arc::try_unwrap(snapshot) {
            Ok(snapshot) => snapshot.close().await,
            Err(_) => unreachable!("every lane has ended"),
        };
        (streamed, closed)
    }

    async fn sort_out(
        &self,
        done: Streamed,
        streamed: &mut Vec<(Pending, TableInfo, BackupWriter)>,
        report: &mut CreateReport,
    ) {
        let (one, info, writer, result) = match done {
            Ok(parts) => parts,
            Err(join) => std::panic::resume_unwind(join.into_panic()),
        };
        match result {
            Ok(_) => streamed.push((one, info, writer)),
            Err(error) => self.undo(one, Some(writer), error, report).await,
        }
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
        self.heart.counters().files_done(u64::try_from(manifest.data_files.len()).unwrap_or(u64::MAX));
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
    async fn undo(&self, one: Pending, writer: Option<BackupWriter>, error: Error, report: &mut CreateReport) {
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

type Streamed = std::result::Result<
    (Pending, TableInfo, BackupWriter, Result<crate::archive::writer::Written>),
    tokio::task::JoinError,
>;

fn stop_error(run: &Run) -> Error {
    run.cancel.reason().map_or_else(|| Error::Interrupted("interrupted".into()), Into::into)
}
