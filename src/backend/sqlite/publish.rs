//! The three changes of a restore that the catalog sees: registering the target, publishing it, removing it.

use rusqlite::{Connection, OptionalExtension as _, ToSql, params};

use super::Sqlite;
use super::error::{damaged, driver};
use super::jobs::now;
use super::layout::Layout;
use super::loader::reverse_indexes;
use super::shape::{columns, has_column, has_table, quoted};
use crate::backend::loader::StagePlan;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::catalog_row::{index_texts, table_texts};
use crate::domain::claim::{FenceToken, WriteOutcome};
use crate::domain::job::RestoreStatus;

/// How far the target has come in the catalog.
enum Registered {
    /// No row has its name or its id.
    No,
    /// Its own row, `CREATING`.
    Creating,
    /// Its own row, past `CREATING`: published.
    Published,
}

impl Sqlite {
    /// Makes the physical tables, and registers the target where the catalog keeps records of restores.
    pub(super) fn make(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let operation = "stage the table";
        let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
        let layout = Layout::of_plan(plan, reverse_indexes(&self.reader()?, plan)?)?;
        self.fenced(operation, fence, plan, |tx| {
            let registered = registered(tx, operation, plan)?;
            if matches!(registered, Registered::Published) {
                return Ok(());
            }
            for table in layout.tables() {
                tx.execute_batch(&table.create).map_err(fail)?;
                tx.execute(
                    "INSERT INTO extenddb_admin_staged_tables (physical_name, fence_key, table_id, staged_at) \
                     VALUES (?1, ?2, ?3, ?4) ON CONFLICT (physical_name) DO NOTHING",
                    params![table.name, fence.key, plan.definition.table_id, now().to_string()],
                )
                .map_err(fail)?;
            }
            check_columns(tx, operation, plan)?;
            if !keeps_records(tx)? {
                return Ok(());
            }
            match registered {
                Registered::No => {
                    check_source(tx, operation, plan)?;
                    insert_target(tx, operation, plan, "CREATING")?;
                    insert_record(tx, operation, fence, plan)
                }
                // A resumed run goes on under its own generation, which is past the last one's.
                _ => {
                    let moved = tx
                        .execute(
                            "UPDATE table_restores SET owner_generation = ?2, heartbeat_at = ?3 \
                             WHERE table_id = ?1 AND status = 'RUNNING' AND owner_generation <= ?2",
                            params![plan.definition.table_id, fence.epoch.stored(), now().to_string()],
                        )
                        .map_err(fail)?;
                    if moved == 1 { Ok(()) } else { Err(self.record_lost(operation, fence, plan)) }
                }
            }
        })
    }

    /// Makes the table visible.
    pub(super) fn publish_table(&self, fence: &FenceToken, plan: &StagePlan) -> Result<WriteOutcome> {
        let operation = "publish the table";
        let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
        let (id, base) = (&plan.definition.table_id, super::shape::physical_name(&plan.definition.table_id));
        let reader = self.reader()?;
        // Counted before the transaction: nobody else writes these tables, and it takes a while.
        let counted: Option<(i64, i64)> = if has_table(&reader, &base)? {
            let sql = format!("SELECT count(*), coalesce(sum(octet_length(item_data)), 0) FROM {}", quoted(&base));
            Some(reader.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(fail)?)
        } else {
            None
        };
        drop(reader);
        self.fenced(operation, fence, plan, |tx| {
            let registered = registered(tx, operation, plan)?;
            if matches!(registered, Registered::Published) {
                return Ok(());
            }
            let Some((item_count, table_size_bytes)) = counted else {
                return Err(damaged(operation, base.clone(), "the staged table is missing"));
            };
            if matches!(registered, Registered::No) {
                insert_target(tx, operation, plan, "ACTIVE")?;
            }
            tx.execute(
                "UPDATE tables SET table_status = 'ACTIVE', status_transition_at = NULL, item_count = ?2, \
                 table_size_bytes = ?3 WHERE table_id = ?1",
                params![id, item_count, table_size_bytes],
            )
            .map_err(fail)?;
            tx.execute("UPDATE indexes SET index_status = 'ACTIVE' WHERE table_id = ?1", [id]).map_err(fail)?;
            let at = now().to_string();
            if keeps_records(tx)? {
                let moved = tx
                    .execute(
                        "UPDATE table_restores SET status = ?4, completed_at = ?3, heartbeat_at = ?3 \
                         WHERE table_id = ?1 AND status = 'RUNNING' AND owner_generation = ?2",
                        params![id, fence.epoch.stored(), at, RestoreStatus::Done.word()],
                    )
                    .map_err(fail)?;
                if moved != 1 {
                    return Err(self.record_lost(operation, fence, plan));
                }
            } else if has_table(tx, "table_restores")? {
                tx.execute(
                    "INSERT INTO table_restores (table_id, source_backup_arn, restore_date_time) VALUES (?1, ?2, ?3)",
                    params![id, plan.source_backup_arn, at],
                )
                .map_err(fail)?;
            }
            forget(tx, operation, fence, plan)
        })?;
        // The commit above is durable with all before it. What follows only shortens the log, as far as
        // readers let it.
        if let Ok(conn) = self.writer() {
            let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
        Ok(WriteOutcome::Matched)
    }

    /// Removes what is staged; a published table is left alone.
    pub(super) fn remove(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let operation = "remove the staged table";
        let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
        let id = &plan.definition.table_id;
        self.fenced(operation, fence, plan, |tx| {
            let status: Option<String> = tx
                .query_row("SELECT table_status FROM tables WHERE table_id = ?1", [id], |row| row.get(0))
                .optional()
                .map_err(fail)?;
            if status.is_some_and(|s| s != "CREATING") {
                return forget(tx, operation, fence, plan);
            }
            if keeps_records(tx)? {
                // FAILED before removed, as every reader of the record expects it.
                tx.execute(
                    "UPDATE table_restores SET status = ?3, completed_at = ?4, failure_reason = \
                     coalesce(failure_reason, 'removed') WHERE table_id = ?1 AND status = 'RUNNING' \
                     AND owner_generation <= ?2",
                    params![id, fence.epoch.stored(), RestoreStatus::Failed.word(), now().to_string()],
                )
                .map_err(fail)?;
            }
            // With foreign keys on, the rows of its indexes and its record go with it.
            tx.execute("DELETE FROM tables WHERE table_id = ?1 AND table_status = 'CREATING'", [id]).map_err(fail)?;
            for name in staged(tx, operation, fence, plan)? {
                tx.execute_batch(&format!("DROP TABLE IF EXISTS {}", quoted(&name))).map_err(fail)?;
            }
            forget(tx, operation, fence, plan)
        })
    }

    fn record_lost(&self, operation: &'static str, fence: &FenceToken, plan: &StagePlan) -> Error {
        self.refusals.latch(fence);
        Error::new(
            ErrorKind::Fenced,
            operation,
            format!("the catalog's record of this restore is not RUNNING under generation {}", fence.epoch),
        )
        .with("table", &plan.target.table_name)
    }
}

/// Whether the catalog has the job columns of `table_restores` (0.0.5).
fn keeps_records(conn: &Connection) -> Result<bool> {
    Ok(has_table(conn, "table_restores")? && has_column(conn, "table_restores", "owner_generation")?)
}

/// # Errors
/// `Conflict` when another table has the name.
fn registered(conn: &Connection, operation: &'static str, plan: &StagePlan) -> Result<Registered> {
    let fail = |e| driver(operation, e);
    let id = &plan.definition.table_id;
    let own: Option<String> = conn
        .query_row("SELECT table_status FROM tables WHERE table_id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(fail)?;
    match own.as_deref() {
        Some("CREATING") => return Ok(Registered::Creating),
        Some(_) => return Ok(Registered::Published),
        None => {}
    }
    let target = &plan.target;
    let taken: Option<String> = conn
        .query_row(
            "SELECT table_status FROM tables WHERE account_id = ?1 AND table_name = ?2",
            [&target.account_id, &target.table_name],
            |row| row.get(0),
        )
        .optional()
        .map_err(fail)?;
    match taken {
        None => Ok(Registered::No),
        Some(status) => Err(Error::new(ErrorKind::Conflict, operation, format!("the table exists ({status})"))
            .with("table", format!("{}/{}", target.account_id, target.table_name))),
    }
}

/// Of a deletion and a restore one loses: the restore sees that its backup is going.
fn check_source(conn: &Connection, operation: &'static str, plan: &StagePlan) -> Result<()> {
    for (table, column) in [("backup_index", "status"), ("backups", "backup_status")] {
        if !has_table(conn, table)? {
            continue;
        }
        let status: Option<String> = conn
            .query_row(
                &format!("SELECT {column} FROM {table} WHERE backup_arn = ?1"),
                [&plan.source_backup_arn],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| driver(operation, e))?;
        if let Some(status) = status.filter(|s| matches!(s.as_str(), "DELETING" | "DELETED")) {
            return Err(Error::new(ErrorKind::NotFound, operation, format!("the backup is {status}"))
                .with("backup", &plan.source_backup_arn));
        }
    }
    Ok(())
}

/// A definition that the oldest files have no column for is refused, not shortened.
fn check_columns(conn: &Connection, operation: &'static str, plan: &StagePlan) -> Result<()> {
    let there = columns(conn, "tables")?;
    let texts = table_texts(&plan.definition);
    for (column, is_set) in [
        ("table_class", plan.definition.table_class.is_some()),
        ("sse_specification", texts.sse_specification.is_some()),
        ("on_demand_throughput", texts.on_demand_throughput.is_some()),
    ] {
        if is_set && !there.iter().any(|c| c == column) {
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                operation,
                format!("this catalog's tables have no column {column}: migrate it first"),
            )
            .with("table", &plan.target.table_name));
        }
    }
    Ok(())
}

/// The rows of `tables` and `indexes` as a server writes them. Streams, TTL, tags and deletion protection
/// are off; the propagation delay is null, the server's default.
fn insert_target(conn: &Connection, operation: &'static str, plan: &StagePlan, status: &'static str) -> Result<()> {
    let fail = |e| driver(operation, e).with("table", &plan.target.table_name);
    let table = &plan.definition;
    let texts = table_texts(table);
    let created = now().to_string();
    let there = columns(conn, "tables")?;
    let values: [(&str, &dyn ToSql); 15] = [
        ("account_id", &plan.target.account_id),
        ("table_name", &plan.target.table_name),
        ("key_schema", &texts.key_schema),
        ("attribute_definitions", &texts.attribute_definitions),
        ("billing_mode", &texts.billing_mode),
        ("provisioned_throughput", &texts.provisioned_throughput),
        ("table_status", &status),
        ("creation_date_time", &created),
        ("table_arn", &table.table_arn),
        ("table_id", &table.table_id),
        ("deletion_protection_enabled", &false),
        ("ttl_index_ready", &false),
        ("table_class", &table.table_class),
        ("sse_specification", &texts.sse_specification),
        ("on_demand_throughput", &texts.on_demand_throughput),
    ];
    let values: Vec<_> = values.into_iter().filter(|(name, _)| there.iter().any(|c| c == name)).collect();
    let names: Vec<_> = values.iter().map(|(name, _)| *name).collect();
    let places: Vec<_> = (1..=values.len()).map(|i| format!("?{i}")).collect();
    let values: Vec<_> = values.iter().map(|(_, value)| *value).collect();
    conn.execute(
        &format!("INSERT INTO tables ({}) VALUES ({})", names.join(", "), places.join(", ")),
        values.as_slice(),
    )
    .map_err(fail)?;
    let indexes = index_texts(table, &plan.index_ids)
        .map_err(|e| Error::new(ErrorKind::Internal, operation, e).with("table", &plan.target.table_name))?;
    for index in indexes {
        conn.execute(
            "INSERT INTO indexes (table_id, index_id, index_name, index_type, key_schema, projection, index_status, \
             provisioned_throughput) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                table.table_id,
                index.index_id,
                index.index_name,
                index.index_type,
                index.key_schema,
                index.projection,
                status,
                index.provisioned_throughput,
            ],
        )
        .map_err(fail)?;
    }
    Ok(())
}

/// The `RUNNING` record, of kind `manifest` whatever the source.
fn insert_record(conn: &Connection, operation: &'static str, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
    let at = now().to_string();
    let store = plan.store.as_ref();
    conn.execute(
        "INSERT INTO table_restores (table_id, source_backup_arn, restore_date_time, status, kind, store_kind, \
         store_root, store_id, owner_generation, heartbeat_at, file_index, items_applied) \
         VALUES (?1, ?2, ?3, ?4, 'manifest', ?5, ?6, ?7, ?8, ?3, 0, 0)",
        params![
            plan.definition.table_id,
            plan.source_backup_arn,
            at,
            RestoreStatus::Running.word(),
            store.map(|s| &s.kind),
            store.map(|s| &s.root),
            store.map(|s| &s.id),
            fence.epoch.stored(),
        ],
    )
    .map(|_| ())
    .map_err(|e| driver(operation, e).with("table", &plan.target.table_name))
}

/// The physical tables that this fence staged for the plan's table.
fn staged(conn: &Connection, operation: &'static str, fence: &FenceToken, plan: &StagePlan) -> Result<Vec<String>> {
    conn.prepare(
        "SELECT physical_name FROM extenddb_admin_staged_tables WHERE fence_key = ?1 AND table_id = ?2 \
         ORDER BY physical_name",
    )
    .and_then(|mut s| s.query_map([&fence.key, &plan.definition.table_id], |row| row.get(0))?.collect())
    .map_err(|e| driver(operation, e))
}

/// Removes the records of staging and progress, which the published or removed table has no use for.
fn forget(conn: &Connection, operation: &'static str, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
    for table in ["extenddb_admin_staged_tables", "extenddb_admin_load_progress"] {
        conn.execute(
            &format!("DELETE FROM {table} WHERE fence_key = ?1 AND table_id = ?2"),
            [&fence.key, &plan.definition.table_id],
        )
        .map_err(|e| driver(operation, e))?;
    }
    Ok(())
}
