//! A claim on a `backup_index` row: the server's session lock on a connection of its own, through which
//! heartbeats and status writes travel, each conditioned on the generation.
//!
//! Source: PostgreSQL ledgers, section 5; backup operations, section 4.

use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;
use tokio::sync::Mutex;

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
    line: Mutex<Line>,
    /// Cast that the details column needs: `text` or `jsonb`.
    details_type: String,
}

struct Line {
    session: Option<PgConnection>,
    /// An answer was `NotMatched`: nothing is asked any more.
    lost: bool,
}

/// Inserts a `CREATING` row; nothing where the catalog has no `backup_index`.
///
/// # Errors
/// `Conflict` when the row exists; `Busy` when another holds its lock.
pub async fn insert(pg: &Postgres, row: &NewBackupRow) -> Result<Option<RowClaim>> {
    let mut session = pg.catalog_connection().await?;
    let shape = Shape::of_catalog(&mut session).await?;
    if !shape.has_backup_index() {
        return Ok(None);
    }
    if !try_lock(&mut session, &row.key).await? {
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
        .execute(&mut session)
        .await;
    inserted.map_err(|e| {
        let error = driver(CLAIM, e).with("backup", &row.key.backup_arn);
        if error.kind() == ErrorKind::Conflict {
            return Error::new(ErrorKind::Conflict, CLAIM, "its id has a row already")
                .with("backup", &row.key.backup_arn);
        }
        error
    })?;
    Ok(Some(RowClaim::new(pg, &row.key, generation, session, details_type)))
}

/// Takes over a row whose holder is dead: its session lock is free, or its heartbeat is stale.
///
/// # Errors
/// `Busy` while the holder lives and its heartbeat is fresh; `NotFound`; `Conflict` for a row that nobody can hold.
pub async fn take_over(pg: &Postgres, key: &BackupKey, stale_after_ms: i64) -> Result<RowClaim> {
    let mut session = pg.catalog_connection().await?;
    let shape = Shape::of_catalog(&mut session).await?;
    let not_found =
        || Error::new(ErrorKind::NotFound, TAKE_OVER, "there is no such row").with("backup", &key.backup_arn);
    if !shape.has_backup_index() {
        return Err(not_found());
    }
    let locked = try_lock(&mut session, key).await?;
    let row = find(&mut session, key).await?.ok_or_else(not_found)?;
    if !locked && row.heartbeat_age_ms < stale_after_ms {
        let message = format!(
            "{} holds it, heartbeat {} ms old, fresh below {stale_after_ms} ms",
            holder(&mut session, key).await?,
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
        .execute(&mut session)
        .await
        .map_err(|e| driver(TAKE_OVER, e))?;
    if moved.rows_affected() != 1 {
        return Err(Error::new(ErrorKind::Busy, TAKE_OVER, "its claim moved meanwhile: run again")
            .with("backup", &key.backup_arn)
            .temporary());
    }
    Ok(RowClaim::new(pg, key, generation, session, details_type(&shape)))
}

fn details_type(shape: &Shape) -> String {
    shape.type_of("backup_index", "source_table_details_json").unwrap_or("text").to_owned()
}

/// The text of the server's own lock.
fn lock_text(key: &BackupKey) -> String {
    format!("backup:{}", key.backup_id)
}

async fn try_lock(session: &mut PgConnection, key: &BackupKey) -> Result<bool> {
    take_session_lock(session, &lock_text(key), RESTORE_SEED).await
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
    fn new(pg: &Postgres, key: &BackupKey, generation: Epoch, session: PgConnection, details_type: String) -> Self {
        let line = Mutex::new(Line { session: Some(session), lost: false });
        Self { pg: pg.clone(), key: key.clone(), generation, line, details_type }
    }

    async fn write(
        &self,
        operation: &'static str,
        set: &str,
        step: Option<(BackupStatus, BackupStatus)>,
        fields: &BackupRowFields,
    ) -> Result<WriteOutcome> {
        let mut line = self.line.lock().await;
        if line.lost {
            return Ok(WriteOutcome::NotMatched);
        }
        let mut session = match line.session.take() {
            Some(session) => session,
            None => self.again().await?,
        };
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
        match query.execute(&mut session).await {
            Ok(done) if done.rows_affected() == 1 => {
                line.session = Some(session);
                Ok(WriteOutcome::Matched)
            }
            Ok(_) => {
                line.lost = true;
                Ok(WriteOutcome::NotMatched)
            }
            Err(e) if outcome_unknown(&e) => match step {
                Some((_, to)) => self.read_back(to, &mut line).await,
                None => Err(driver(operation, e)),
            },
            Err(e) => Err(driver(operation, e)),
        }
    }

    /// A new session after the old one broke. The row's generation decides whether the claim still holds; the lock
    /// is taken again so that others see a live holder.
    async fn again(&self) -> Result<PgConnection> {
        let mut session = self.pg.catalog_connection().await?;
        if !try_lock(&mut session, &self.key).await? {
            tracing::debug!("the lock of {} is still held by the session that broke", self.key.backup_arn);
        }
        Ok(session)
    }

    /// After a lost connection: what does the row say?
    async fn read_back(&self, to: BackupStatus, line: &mut Line) -> Result<WriteOutcome> {
        let Ok(mut session) = self.pg.catalog_connection().await else { return Ok(WriteOutcome::Unknown) };
        match find(&mut session, &self.key).await {
            Ok(Some(row)) if row.owner_generation != self.generation => {
                line.lost = true;
                Ok(WriteOutcome::NotMatched)
            }
            Ok(Some(row)) if row.status == to => Ok(WriteOutcome::Matched),
            _ => Ok(WriteOutcome::Unknown),
        }
    }
}
