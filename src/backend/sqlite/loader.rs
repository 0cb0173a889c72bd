//! Role `loader` on this backend: the physical tables lie in the one file, beside the catalog.
//!
//! A restore holds the server's lock for the whole run. Up to 0.0.4 no catalog row names the tables before the
//! publication; at 0.0.5 the target is registered `CREATING` with a `RUNNING` record of kind `manifest`
//! (backup operations, "Beside servers"). Every write is one IMMEDIATE transaction that asserts the fence.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::Sqlite;
use super::batch::{Batch, Target};
use super::catalog::restoring_from;
use super::connect::blocking;
use super::error::{damaged, driver};
use super::fence;
use super::layout::Layout;
use super::rows;
use super::shape::{has_table, quoted};
use super::snapshot::scan_rows;
use crate::backend::loader::{FileDone, LoadBatch, LoadProgress, StagePlan, TargetRules};
use crate::backend::snapshot::block_channel;
use crate::backend::{Error, ErrorKind, Loader, Result};
use crate::domain::claim::{FenceToken, WriteOutcome};
use crate::domain::digest::TableDigest;
use crate::domain::item::{ControlChars, ItemParser};
use crate::domain::number::MAX_DIGITS;
use crate::domain::table::TableKey;

/// Page cache of the connection that builds indexes, and with it the most that a sort holds in memory at once.
const SORT_KIB: i64 = 64 * 1024;

#[async_trait::async_trait]
impl Loader for Sqlite {
    async fn target_rules(&self) -> Result<TargetRules> {
        self.run(|this| {
            let conn = this.read_transaction()?;
            Ok(TargetRules {
                encoding: ControlChars::Plain,
                // Bound by length, it comes back as it went in: tested.
                nul_allowed: true,
                sort_number_digits: u32::try_from(MAX_DIGITS).unwrap_or(u32::MAX),
                vector_indexes: false,
                region: match common_region(&conn)? {
                    Some(region) => Some(region),
                    None => this.options.region.clone(),
                },
            })
        })
        .await
    }

    async fn check_target(&self, target: &TableKey) -> Result<()> {
        let target = target.clone();
        self.run(move |this| this.check(&target)).await
    }

    async fn stage(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let (fence, plan) = (fence.clone(), plan.clone());
        self.run(move |this| this.make(&fence, &plan)).await
    }

    async fn load_progress(&self, fence: &FenceToken, plan: &StagePlan) -> Result<LoadProgress> {
        let (key, table_id) = (fence.key.clone(), plan.definition.table_id.clone());
        self.run(move |this| progress(&this.reader()?, &key, &table_id)).await
    }

    async fn begin_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<Box<dyn LoadBatch>> {
        let (fence, plan) = (fence.clone(), plan.clone());
        let turn = std::sync::Arc::clone(&self.loading.turn).lock_owned().await;
        let target = self
            .run(move |this| {
                this.hold_for_restore(&fence, &plan)?;
                Ok(Target {
                    db: this.clone(),
                    table_id: plan.definition.table_id.clone(),
                    layout: Layout::of_plan(&plan, reverse_indexes(&this.reader()?, &plan)?)?,
                    token: fence,
                })
            })
            .await?;
        Ok(Box::new(Batch::begin(target, turn).await?))
    }

    async fn finish_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<u64> {
        let (fence, plan) = (fence.clone(), plan.clone());
        self.run(move |this| this.index(&fence, &plan)).await
    }

    async fn staged_digest(&self, _fence: &FenceToken, plan: &StagePlan) -> Result<TableDigest> {
        let table_id = plan.definition.table_id.clone();
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let (sink, source) = block_channel(2 * workers + 1);
        let this = self.clone();
        let scan = blocking(move || {
            let sql = format!("SELECT item_data, rowid FROM {}", quoted(&super::shape::physical_name(&table_id)));
            scan_rows(&this.reader()?, &sql, [], &sink)
        });
        let digests = (0..workers).map(|_| {
            let source = source.clone();
            blocking(move || {
                let (mut parser, mut digest) = (ItemParser::new(), TableDigest::default());
                while let Some(block) = source.next_blocking() {
                    for text in block.texts() {
                        let item = parser
                            .parse(text, ControlChars::Plain)
                            .map_err(|e| damaged("read staged items back", "a staged item", e.to_string()))?;
                        digest.add(item.canonical());
                    }
                    source.recycle(block);
                }
                Ok(digest)
            })
        });
        let digests = futures_util::future::try_join_all(digests);
        // The scan ends when the workers do, so both must be under way at once.
        drop(source);
        let (_, digests) = futures_util::future::try_join(scan, digests).await?;
        let mut all = TableDigest::default();
        for digest in &digests {
            all.merge(digest);
        }
        Ok(all)
    }

    async fn publish(&self, fence: &FenceToken, plan: &StagePlan) -> Result<WriteOutcome> {
        let (fence, plan) = (fence.clone(), plan.clone());
        self.run(move |this| {
            let outcome = this.publish_table(&fence, &plan)?;
            this.release_restore(&fence, &plan);
            Ok(outcome)
        })
        .await
    }

    async fn discard(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let (fence, plan) = (fence.clone(), plan.clone());
        self.run(move |this| {
            this.remove(&fence, &plan)?;
            this.release_restore(&fence, &plan);
            Ok(())
        })
        .await
    }
}

impl Sqlite {
    /// Account there, name free, server away.
    fn check(&self, target: &TableKey) -> Result<()> {
        let operation = "check the target";
        let name = format!("{}/{}", target.account_id, target.table_name);
        let conn = self.read_transaction()?;
        let account: Option<bool> = conn
            .query_row("SELECT 1 FROM accounts WHERE account_id = ?1", [&target.account_id], |row| row.get(0))
            .optional()
            .map_err(|e| driver(operation, e))?;
        if account.is_none() {
            return Err(Error::new(ErrorKind::NotFound, operation, "there is no such account")
                .with("account", &target.account_id));
        }
        let row: Option<(String, String)> = conn
            .query_row(
                "SELECT table_id, table_status FROM tables WHERE account_id = ?1 AND table_name = ?2",
                [&target.account_id, &target.table_name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(|e| driver(operation, e))?;
        if let Some((table_id, status)) = row
            && !self.is_ours(&conn, &table_id)?
        {
            let source = if status == "CREATING" { restored_from(&conn, &table_id)? } else { None };
            let (kind, message) = match source {
                Some(backup) => (ErrorKind::Busy, format!("it is being restored from backup {backup}")),
                None => (ErrorKind::Conflict, format!("the table exists ({status})")),
            };
            return Err(Error::new(kind, operation, message).with("table", name));
        }
        drop(conn);
        self.server_lock().map(|_| ())
    }

    /// Whether a table is staged under a fence that this process holds: its own target is no obstacle.
    fn is_ours(&self, conn: &Connection, table_id: &str) -> Result<bool> {
        if !has_table(conn, "extenddb_admin_staged_tables")? {
            return Ok(false);
        }
        let key: Option<String> = conn
            .query_row(
                "SELECT fence_key FROM extenddb_admin_staged_tables WHERE table_id = ?1 LIMIT 1",
                [table_id],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| driver("look for a staged table", e))?;
        let Some(key) = key else { return Ok(false) };
        let holder = fence::read(conn, &key)?;
        Ok(holder.is_some_and(|(_, writer)| fence::same_writer(&writer, &self.options.writer)))
    }

    /// Runs writes in one IMMEDIATE transaction that asserts the fence, under the server's lock.
    pub(super) fn fenced<T>(
        &self,
        operation: &'static str,
        fence: &FenceToken,
        plan: &StagePlan,
        write: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.hold_for_restore(fence, plan)?;
        self.drop_loading_connection();
        let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
        let mut conn = self.writer()?;
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
        let value = self.refusals.check(&tx, operation, fence).and_then(|()| write(&tx)).inspect_err(|e| {
            if e.kind() == ErrorKind::Fenced {
                self.release_restores(&fence.key);
            }
        })?;
        tx.commit().map_err(fail)?;
        Ok(value)
    }

    /// Secondary indexes of the index tables, built over the loaded rows, and the count.
    fn index(&self, fence: &FenceToken, plan: &StagePlan) -> Result<u64> {
        let operation = "build the indexes";
        let layout = Layout::of_plan(plan, reverse_indexes(&self.reader()?, plan)?)?;
        self.fenced(operation, fence, plan, |tx| {
            let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
            tx.pragma_update(None, "cache_size", -SORT_KIB).map_err(fail)?;
            for sql in layout.tables().flat_map(|table| &table.indexes) {
                tx.execute_batch(sql).map_err(fail)?;
            }
            let count: i64 = tx
                .query_row(&format!("SELECT count(*) FROM {}", quoted(&layout.base.name)), [], |row| row.get(0))
                .map_err(fail)?;
            u64::try_from(count).map_err(|_| damaged(operation, &layout.base.name, format!("count is {count}")))
        })
    }
}

/// The region that most tables' ARNs name, the first in byte order among equals.
fn common_region(conn: &Connection) -> Result<Option<String>> {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for table in rows::tables(conn, None)? {
        if let Some(region) = table.definition.table_arn.split(':').nth(3).filter(|r| !r.is_empty()) {
            *counts.entry(region.to_owned()).or_default() += 1;
        }
    }
    let most = counts.values().copied().max();
    Ok(counts.into_iter().find(|(_, count)| Some(*count) == most).map(|(region, _)| region))
}

/// The backup that a target is being restored from.
fn restored_from(conn: &Connection, table_id: &str) -> Result<Option<String>> {
    if !has_table(conn, "table_restores")? {
        return Ok(None);
    }
    let backup: Option<String> = conn
        .query_row("SELECT source_backup_arn FROM table_restores WHERE table_id = ?1", [table_id], |row| row.get(0))
        .optional()
        .map_err(|e| driver("read the record of a restore", e))?;
    match backup {
        Some(backup) if restoring_from(conn, &backup)?.is_some() => Ok(Some(backup)),
        _ => Ok(None),
    }
}

/// Index tables get the reverse index unless the deployment's builds make none: there are index tables, and
/// none has it.
pub fn reverse_indexes(conn: &Connection, plan: &StagePlan) -> Result<bool> {
    let fail = |e| driver("look for reverse indexes", e);
    let ours = plan.index_ids.iter().map(String::as_str).collect::<Vec<_>>();
    let mut statement = conn
        .prepare(
            "SELECT i.index_id, EXISTS (SELECT 1 FROM sqlite_schema s WHERE s.type = 'index' \
             AND s.name = 'idx_base_key_' || i.index_id) FROM indexes i",
        )
        .map_err(fail)?;
    let all = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))
        .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
        .map_err(fail)?;
    let mut others = all.iter().filter(|(id, _)| !ours.contains(&id.as_str())).peekable();
    Ok(others.peek().is_none() || others.any(|(_, has)| *has))
}

fn progress(conn: &Connection, key: &str, table_id: &str) -> Result<LoadProgress> {
    let operation = "read the progress of a load";
    let fail = |e| driver(operation, e);
    if !has_table(conn, "extenddb_admin_load_progress")? {
        return Ok(LoadProgress::default());
    }
    let mut statement = conn
        .prepare(
            "SELECT file_index, items, digest FROM extenddb_admin_load_progress \
             WHERE fence_key = ?1 AND table_id = ?2 ORDER BY file_index",
        )
        .map_err(fail)?;
    let rows = statement
        .query_map(params![key, table_id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>)
        .map_err(fail)?;
    let mut files = Vec::with_capacity(rows.len());
    for (file_index, items, digest) in rows {
        let row = format!("{key}, {table_id}, {file_index} of extenddb_admin_load_progress");
        let bad = |column: &str, value: i64| damaged(operation, row.clone(), format!("{column} is {value}"));
        files.push(FileDone {
            file_index: u32::try_from(file_index).map_err(|_| bad("file_index", file_index))?,
            items: u64::try_from(items).map_err(|_| bad("items", items))?,
            digest,
        });
    }
    Ok(LoadProgress { files })
}
