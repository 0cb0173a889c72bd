//! One snapshot of a creation: opened over its tables, read into data files, closed.

use std::collections::HashMap;
use std::sync::Arc;

use super::create::Source;
use super::creation::{Creation, Pending};
use super::report::CreateReport;
use super::stream::Lanes;
use crate::archive::writer::{BackupWriter, Written};
use crate::backend;
use crate::backend::snapshot::{Snapshot, SnapshotOptions};
use crate::domain::table::{TableInfo, TableKey, TableStatus};
use crate::ops::error::{Error, Result};
use crate::ops::settings::Run;

/// A snapshot is opened anew at most this often when a table was altered or dropped meanwhile.
const MAX_SNAPSHOT_TRIES: usize = 3;

impl Creation {
    async fn open_once(&self, keys: &[TableKey]) -> Result<Box<dyn Snapshot>> {
        let options = SnapshotOptions { connections: self.run.workers.get(), hold_rows: true };
        match &self.source {
            Source::Tables => self.run.cancel.guard(self.run.backend.open_snapshot(keys, &options)).await,
            Source::Legacy(arn) => self.run.cancel.guard(self.run.backend.open_legacy_backup(arn)).await,
        }
    }

    /// Opens the snapshot. A table that was altered or dropped since the plan is left out and the rest tried again.
    pub(super) async fn open(
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
    pub(super) async fn read(
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
}

type Streamed = std::result::Result<(Pending, TableInfo, BackupWriter, Result<Written>), tokio::task::JoinError>;

fn stop_error(run: &Run) -> Error {
    run.cancel.reason().map_or_else(|| Error::Interrupted("interrupted".into()), Into::into)
}
