//! A claim on a `backup_index` row: the server's session lock, and heartbeats and status writes that are each
//! conditioned on the generation.
//!
//! All row claims of a process share one connection, outside of every batch and snapshot: its session holds their
//! locks, so that a backup of a thousand tables takes one connection for its rows and not a thousand.
//!
//! Source: PostgreSQL ledgers, section 5; backup operations, section 4.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;
use tokio::sync::{Mutex, MutexGuard};

use super::Postgres;
use super::backup_rows::{ADDRESS, find};
use super::error::{driver, outcome_unknown};
use super::lock::{RESTORE_SEED, session_lock_holder, take_session_lock};
use super::shape::Shape;
use crate::backend::jobs::{BackupKey, BackupRowClaim, BackupRowFields, NewBackupRow};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, WriteOutcome};
use crate::domain::job::BackupStatus;

const CLAIM: &str = "claim a backup row";
const TAKE_OVER: &str = "take over a backup row";
const BEAT: &str = "renew the heartbeat of a backup row";
const MOVE: &str = "change the status of a backup row";

/// The claim of this process on a row.
pub struct RowClaim {
    pg: Postgres,
    key: BackupKey,
    generation: Epoch,
    /// An answer was `NotMatched`: nothing is asked any more.
    lost: AtomicBool,
    /// Cast that the details column needs: `text` or `jsonb`.
    details_type: String,
}

/// The session of all row claims of this process.
#[derive(Clone, Default)]
pub struct RowSession(Arc<Mutex<Line>>);

#[derive(Default)]
struct Line {
    session: Option<PgConnection>,
    /// Texts of the locks that the session holds.
    locked: HashSet<String>,
}

impl Line {
    /// The session, opened anew where there is none.
    async fn session(&mut self, pg: &Postgres) -> Result<&mut PgConnection> {
        if self.session.is_none() {
            self.locked.clear();
            self.session = Some(pg.catalog_connection().await?);
        }
        Ok(self.session.as_mut().expect("just opened"))
    }

    /// Takes the lock of a row, unless the session has it.
    async fn lock(&mut self, pg: &Postgres, key: &BackupKey) -> Result<bool> {
        let text = lock_text(key);
        if self.session.is_some() && self.locked.contains(&text) {
            return Ok(true);
        }
        let taken = take_session_lock(self.session(pg).await?, &text, RESTORE_SEED).await;
        match taken {
            Ok(true) => self.locked.insert(text),
            Ok(false) => false,
            Err(e) => {
                self.broke();
                return Err(e);
            }
        };
        taken
    }

    /// Lets the lock of a row go. A session that fails at it is given up, which lets go of it too.
    async fn unlock(&mut self, key: &BackupKey) {
        let text = lock_text(key);
        let Some(session) = self.session.as_mut().filter(|_| self.locked.remove(&text)) else { return };
        let done = sqlx::query("SELECT pg_advisory_unlock(hashtextextended($1, $2))")
            .bind(&text)
            .bind(RESTORE_SEED)
            .execute(session)
            .await;
        if done.is_err() {
            self.broke();
        }
    }

    /// The session is of no use any more, and with it the locks are gone.
    fn broke(&mut self) {
        self.session = None;
        self.locked.clear();
    }
}

impl Drop for RowClaim {
    /// A claim that was given up without a word lets its lock go as soon as the runtime gets to it.
    fn drop(&mut self) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (line, key) = (self.pg.row_session.clone(), self.key.clone());
            runtime.spawn(async move { line.0.lock().await.unlock(&key).await });
        }
    }
}

/// Inserts a `CREATING` row; nothing where the catalog has no `backup_index`.
///
/// # Errors
/// `Conflict` when the row exists; `Busy` when another holds its lock.
pub async fn insert(pg: &Postgres, row: &NewBackupRow) -> Result<Option<RowClaim>> {
    let mut line = pg.row_session.0.lock().await;
    let shape = Shape::of_catalog(line.session(pg).await?).await.inspect_err(|_| line.broke())?;
    if !shape.has_backup_index() {
        return Ok(None);
    }
    if !line.lock(pg, &row.key).await? {
        return Err(Error::new(ErrorKind::Busy, CLAIM, "another session holds the lock of this backup id")
            .with("backup", &row.key.backup_arn));
    }
    let details_type = details_type(&shape);
    let generation = Epoch::ZERO.mint_above(Epoch::ZERO).expect("there are numbers above zero");
    // A column that only the design names; written where a catalog has it.
    let (prefix_column, prefix_value) =
        if shape.has("backup_index", "store_key_prefix") { (", store_key_prefix", ", $12::text") } else { ("", "") };
    let sql = format!(
        "INSERT INTO backup_index (account_id, backup_id, backup_arn, table_name, backup_name, status, store_kind, \
         store_root, store_id, owner_generation, heartbeat_at, created_at, source_table_details_json{prefix_column}) \
         SELECT $1, $2, $3, $4, $5, 'CREATING', $6, $7, $8, $9, now(), to_timestamp($10::float8 / 1000), \
         $11::text::{details_type}{prefix_value} WHERE $12::text IS NOT NULL"
    );
    let inserted = sqlx::query(AssertSqlSafe(sql))
        .bind(&row.key.account_id)
        .bind(&row.key.backup_id)
        .bind(&row.key.backup_arn)
        .bind(&row.table_name)
        .bind(&row.backup_name)
        .bind(&row.store.kind)
        .bind(&row.store.root)
        .bind(Some(&row.store.id).filter(|id| !id.is_empty()))
        .bind(generation.stored())
        .bind(row.created_at.epoch_seconds() * 1000.0)
        .bind(&row.source_table_json)
        .bind(format!("{}/{}/{}/", row.key.account_id, row.table_name, row.key.backup_id))
        .execute(line.session(pg).await?)
        .await;
    if let Err(e) = inserted {
        line.unlock(&row.key).await;
        let error = driver(CLAIM, e).with("backup", &row.key.backup_arn);
        if error.kind() == ErrorKind::Conflict {
            return Err(
                Error::new(ErrorKind::Conflict, CLAIM, "its id has a row already").with("backup", &row.key.backup_arn)
            );
        }
        return Err(error);
    }
    Ok(Some(RowClaim::new(pg, &row.key, generation, details_type)))
}

/// Takes over a row whose holder is dead: its session lock is free, or its heartbeat is stale.
///
/// # Errors
/// `Busy` while the holder lives and its heartbeat is fresh; `NotFound`; `Conflict` for a row that nobody can hold.
pub async fn take_over(pg: &Postgres, key: &BackupKey, stale_after_ms: i64) -> Result<RowClaim> {
    let mut line = pg.row_session.0.lock().await;
    let taken = take_over_on(pg, &mut line, key, stale_after_ms).await;
    if taken.is_err() {
        line.unlock(key).await;
    }
    taken
}

async fn take_over_on(
    pg: &Postgres,
    line: &mut MutexGuard<'_, Line>,
    key: &BackupKey,
    stale_after_ms: i64,
) -> Result<RowClaim> {
    let shape = Shape::of_catalog(line.session(pg).await?).await.inspect_err(|_| line.broke())?;
    let not_found =
        || Error::new(ErrorKind::NotFound, TAKE_OVER, "there is no such row").with("backup", &key.backup_arn);
    if !shape.has_backup_index() {
        return Err(not_found());
    }
    let locked = line.lock(pg, key).await?;
    let session = line.session(pg).await?;
    let row = find(session, key).await?.ok_or_else(not_found)?;
    if !locked && row.heartbeat_age_ms < stale_after_ms {
        let message = format!(
            "{} holds it, heartbeat {} ms old, fresh below {stale_after_ms} ms",
            holder(session, key).await?,
            row.heartbeat_age_ms
        );
        return Err(Error::new(ErrorKind::Busy, TAKE_OVER, message).with("backup", &key.backup_arn));
    }
    if !matches!(row.status, BackupStatus::Creating | BackupStatus::Deleting) {
        let message = format!("it is {}, which nobody holds", row.status.word());
        return Err(Error::new(ErrorKind::Conflict, TAKE_OVER, message).with("backup", &key.backup_arn));
    }
    let generation = row.owner_generation.mint_above(Epoch::ZERO).map_err(|e| {
        Error::new(ErrorKind::Damaged, TAKE_OVER, e).with("row", format!("{} of backup_index", key.backup_arn))
    })?;
    let sql = format!(
        "UPDATE backup_index SET owner_generation = $4, heartbeat_at = now() WHERE {ADDRESS} AND owner_generation = $5"
    );
    let moved = sqlx::query(AssertSqlSafe(sql))
        .bind(&key.account_id)
        .bind(&key.backup_id)
        .bind(&key.backup_arn)
        .bind(generation.stored())
        .bind(row.owner_generation.stored())
        .execute(session)
        .await
        .map_err(|e| driver(TAKE_OVER, e))?;
    if moved.rows_affected() != 1 {
        return Err(Error::new(ErrorKind::Busy, TAKE_OVER, "its claim moved meanwhile: run again")
            .with("backup", &key.backup_arn)
            .temporary());
    }
    Ok(RowClaim::new(pg, key, generation, details_type(&shape)))
}

fn details_type(shape: &Shape) -> String {
    shape.type_of("backup_index", "source_table_details_json").unwrap_or("text").to_owned()
}

/// The text of the server's own lock.
fn lock_text(key: &BackupKey) -> String {
    format!("backup:{}", key.backup_id)
}

/// Who holds the lock, for people.
async fn holder(session: &mut PgConnection, key: &BackupKey) -> Result<String> {
    let holder = session_lock_holder(session, &lock_text(key), RESTORE_SEED).await?;
    Ok(holder.unwrap_or_else(|| "a session that has just left".to_owned()))
}

#[async_trait::async_trait]
impl BackupRowClaim for RowClaim {
    async fn heartbeat(&self) -> Result<WriteOutcome> {
        self.write(BEAT, "heartbeat_at = clock_timestamp()", None, &BackupRowFields::default()).await
    }

    async fn set_status(&self, from: BackupStatus, to: BackupStatus, fields: &BackupRowFields) -> Result<WriteOutcome> {
        from.may_become(to)
            .map_err(|e| Error::new(ErrorKind::Conflict, MOVE, e.to_string()).with("backup", &self.key.backup_arn))?;
        let set = format!(
            "status = $6, size_bytes = coalesce($7, size_bytes), item_count = coalesce($8, item_count), \
             completed_at = CASE WHEN $9 THEN now() ELSE completed_at END, \
             failure_reason = coalesce($10, failure_reason), \
             source_table_details_json = coalesce($11::text::{}, source_table_details_json)",
            self.details_type
        );
        self.write(MOVE, &set, Some((from, to)), fields).await
    }
}

impl RowClaim {
    fn new(pg: &Postgres, key: &BackupKey, generation: Epoch, details_type: String) -> Self {
        Self { pg: pg.clone(), key: key.clone(), generation, lost: AtomicBool::new(false), details_type }
    }

    /// One conditioned write. After a session that broke, the row's generation decides whether the claim still holds;
    /// the lock is taken again so that others see a live holder.
    async fn write(
        &self,
        operation: &'static str,
        set: &str,
        step: Option<(BackupStatus, BackupStatus)>,
        fields: &BackupRowFields,
    ) -> Result<WriteOutcome> {
        let mut line = self.pg.row_session.0.lock().await;
        if self.lost.load(Ordering::SeqCst) {
            return Ok(WriteOutcome::NotMatched);
        }
        if !line.lock(&self.pg, &self.key).await? {
            tracing::debug!("the lock of {} is still held by the session that broke", self.key.backup_arn);
        }
        let condition = if step.is_some() { " AND status = $5" } else { "" };
        let sql = format!("UPDATE backup_index SET {set} WHERE {ADDRESS} AND owner_generation = $4{condition}");
        let mut query = sqlx::query(AssertSqlSafe(sql))
            .bind(&self.key.account_id)
            .bind(&self.key.backup_id)
            .bind(&self.key.backup_arn)
            .bind(self.generation.stored());
        if let Some((from, to)) = step {
            query = query
                .bind(from.word())
                .bind(to.word())
                .bind(fields.size_bytes)
                .bind(fields.item_count)
                .bind(fields.completed)
                .bind(&fields.failure_reason)
                .bind(&fields.source_table_json);
        }
        match query.execute(line.session(&self.pg).await?).await {
            Ok(done) if done.rows_affected() == 1 => {
                if step.is_some() {
                    line.unlock(&self.key).await;
                }
                Ok(WriteOutcome::Matched)
            }
            Ok(_) => {
                self.lost.store(true, Ordering::SeqCst);
                line.unlock(&self.key).await;
                Ok(WriteOutcome::NotMatched)
            }
            Err(e) if outcome_unknown(&e) => {
                line.broke();
                match step {
                    Some((_, to)) => self.read_back(to).await,
                    None => Err(driver(operation, e)),
                }
            }
            Err(e) => Err(driver(operation, e)),
        }
    }

    /// After a lost connection: what does the row say?
    async fn read_back(&self, to: BackupStatus) -> Result<WriteOutcome> {
        let Ok(mut session) = self.pg.catalog_connection().await else { return Ok(WriteOutcome::Unknown) };
        match find(&mut session, &self.key).await {
            Ok(Some(row)) if row.owner_generation != self.generation => {
                self.lost.store(true, Ordering::SeqCst);
                Ok(WriteOutcome::NotMatched)
            }
            Ok(Some(row)) if row.status == to => Ok(WriteOutcome::Matched),
            _ => Ok(WriteOutcome::Unknown),
        }
    }
}
