//! Role `jobs` on this backend.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::error::driver;
use super::job_rows::{Which, admin_exists, read};
use super::{Postgres, backup_rows, claim, row_claim};
use crate::backend::jobs::{
    BackupKey, BackupMemory, BackupRow, BackupRowClaim, DeleteStart, JobClaim, JobFilter, NewBackupRow,
};
use crate::backend::{Error, ErrorKind, Jobs, Ledger as _, Result};
use crate::domain::claim::{WriteOutcome, Writer};
use crate::domain::job::{JobId, JobRecord, JobStatus, NewJob};
use crate::domain::timestamp::TimestampMs;

const ADMIT: &str = "record a job";
const CANCEL: &str = "cancel a job";
const REMEMBER: &str = "remember a backup";

#[async_trait::async_trait]
impl Jobs for Postgres {
    async fn admit_job(&self, job: &NewJob) -> Result<JobRecord> {
        self.ensure_admin().await?;
        let mut conn = self.catalog_connection().await?;
        if let Some(id) = insert(&mut conn, job).await? {
            return read(&mut conn, Which::Id(&id)).await?.pop().ok_or_else(|| vanished(&id));
        }
        // Only a known idempotency key keeps a row out.
        let key = job.idempotency_key.as_deref().unwrap_or_default();
        let known = read(&mut conn, Which::Key(&job.principal, &job.target, key)).await?.pop();
        let known = known.ok_or_else(|| vanished(&JobId(format!("of key {key}"))))?;
        if known.kind == job.kind && known.request_fingerprint == job.request_fingerprint {
            return Ok(known);
        }
        let message = format!(
            "the idempotency key {key:?} was used by job {} for another request ({} {} then, {} {} now)",
            known.id,
            known.kind.word(),
            known.request_fingerprint,
            job.kind.word(),
            job.request_fingerprint
        );
        Err(Error::new(ErrorKind::Conflict, ADMIT, message).with("target", &job.target))
    }

    async fn job(&self, id: &JobId) -> Result<Option<JobRecord>> {
        let mut conn = self.catalog_connection().await?;
        Ok(read(&mut conn, Which::Id(id)).await?.pop())
    }

    async fn open_jobs(&self, target: Option<&str>) -> Result<Vec<JobRecord>> {
        let mut conn = self.catalog_connection().await?;
        read(&mut conn, Which::Open(target)).await
    }

    async fn job_by_key(&self, principal: &str, target: &str, key: &str) -> Result<Option<JobRecord>> {
        let mut conn = self.catalog_connection().await?;
        Ok(read(&mut conn, Which::Key(principal, target, key)).await?.pop())
    }

    async fn list_jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>> {
        let mut conn = self.catalog_connection().await?;
        read(&mut conn, Which::Filter(filter)).await
    }

    async fn request_cancel(&self, id: &JobId) -> Result<JobRecord> {
        let mut conn = self.catalog_connection().await?;
        // The states are those of `JobStatus::next` for `RequestCancel`, decided where the row is.
        let known = match admin_exists(&mut conn).await? {
            true => sqlx::query(
                "UPDATE extenddb_admin.jobs SET cancel_requested = true, \
                 status = CASE status WHEN 'queued' THEN 'cancelled' ELSE 'cancelling' END, \
                 finished_at = CASE status WHEN 'queued' THEN now() END \
                 WHERE id::text = $1 AND finished_at IS NULL",
            )
            .bind(&id.0)
            .execute(&mut conn)
            .await
            .map_err(|e| driver(CANCEL, e).with("job", &id.0))?
            .rows_affected(),
            false => 0,
        };
        let job = read(&mut conn, Which::Id(id)).await?.pop();
        let job =
            job.ok_or_else(|| Error::new(ErrorKind::NotFound, CANCEL, "there is no such job").with("job", &id.0))?;
        if known == 0 {
            let message = format!("it has ended: it is {}", job.status.word());
            return Err(Error::new(ErrorKind::Conflict, CANCEL, message).with("job", &id.0));
        }
        Ok(job)
    }

    async fn claim_job(&self, id: &JobId, writer: &Writer) -> Result<Box<dyn JobClaim>> {
        Ok(Box::new(claim::claim(self, id, writer).await?))
    }

    async fn claim_backup_row(&self, row: &NewBackupRow) -> Result<(Option<Box<dyn BackupRowClaim>>, Option<String>)> {
        let claim = row_claim::insert(self, row).await?;
        Ok((claim.map(|c| Box::new(c) as Box<dyn BackupRowClaim>), None))
    }

    async fn take_over_backup_row(&self, key: &BackupKey, stale_after_ms: i64) -> Result<Box<dyn BackupRowClaim>> {
        Ok(Box::new(row_claim::take_over(self, key, stale_after_ms).await?))
    }

    async fn backup_rows(&self, account_id: Option<&str>) -> Result<Vec<BackupRow>> {
        let mut conn = self.catalog_connection().await?;
        backup_rows::list(&mut conn, account_id).await
    }

    async fn start_backup_delete(&self, key: &BackupKey) -> Result<DeleteStart> {
        let mut conn = self.catalog_connection().await?;
        backup_rows::start_delete(&mut conn, key).await
    }

    async fn finish_backup_delete(&self, key: &BackupKey) -> Result<WriteOutcome> {
        let mut conn = self.catalog_connection().await?;
        backup_rows::finish_delete(&mut conn, key).await
    }

    async fn remember_backup(&self, memory: &BackupMemory) -> Result<()> {
        self.ensure_admin().await?;
        // Of another checksum, what was known is void; of the same, what is missing now stays.
        sqlx::query(
            "INSERT INTO extenddb_admin.backup_memory AS old \
             (store_id, backup_arn, manifest_sha256, digest, verified_at, verified_ok, verified_deep, recorded_at) \
             VALUES ($1, $2, $3, $4, CASE WHEN $5::bool IS NULL THEN NULL ELSE now() END, $5, $6, now()) \
             ON CONFLICT (store_id, backup_arn) DO UPDATE SET \
             digest = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
               THEN coalesce(excluded.digest, old.digest) ELSE excluded.digest END, \
             verified_deep = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 AND excluded.verified_ok IS NULL \
               THEN old.verified_deep ELSE excluded.verified_deep END, \
             verified_at = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
               THEN coalesce(excluded.verified_at, old.verified_at) ELSE excluded.verified_at END, \
             verified_ok = CASE WHEN old.manifest_sha256 = excluded.manifest_sha256 \
               THEN coalesce(excluded.verified_ok, old.verified_ok) ELSE excluded.verified_ok END, \
             manifest_sha256 = excluded.manifest_sha256, recorded_at = now()",
        )
        .bind(&memory.store_id)
        .bind(&memory.backup_arn)
        .bind(&memory.manifest_sha256)
        .bind(&memory.digest)
        .bind(memory.verified_ok)
        .bind(memory.verified_deep)
        .execute(&mut self.catalog_connection().await?)
        .await
        .map(drop)
        .map_err(|e| driver(REMEMBER, e).with("backup", &memory.backup_arn))
    }

    async fn recall_backup(&self, store_id: &str, backup_arn: &str) -> Result<Option<BackupMemory>> {
        let mut conn = self.catalog_connection().await?;
        if !admin_exists(&mut conn).await? {
            return Ok(None);
        }
        let row = sqlx::query(
            "SELECT manifest_sha256, digest, round(extract(epoch FROM verified_at) * 1000)::bigint, verified_ok, \
             verified_deep FROM extenddb_admin.backup_memory WHERE store_id = $1 AND backup_arn = $2",
        )
        .bind(store_id)
        .bind(backup_arn)
        .fetch_optional(&mut conn)
        .await
        .map_err(|e| driver(REMEMBER, e))?;
        row.map(|row| {
            Ok(BackupMemory {
                store_id: store_id.to_owned(),
                backup_arn: backup_arn.to_owned(),
                manifest_sha256: row.try_get(0)?,
                digest: row.try_get(1)?,
                verified_at: row.try_get::<Option<i64>, _>(2)?.map(TimestampMs),
                verified_ok: row.try_get(3)?,
                verified_deep: row.try_get(4)?,
            })
        })
        .transpose()
        .map_err(|e| driver(REMEMBER, e))
    }
}

/// Inserts a job; nothing where its idempotency key is known.
///
/// The fence's key holds the job's id, and a random part: two catalogs may share a data database, and a catalog
/// restored from a dump gives the same ids again.
async fn insert(conn: &mut PgConnection, job: &NewJob) -> Result<Option<JobId>> {
    let row = sqlx::query(
        "INSERT INTO extenddb_admin.jobs (id, kind, target, principal, idempotency_key, request, request_fingerprint, \
         status, fence_key) SELECT n.id, $1, $2, $3, $4, $5, $6, $7, $1 || ':' || n.id || ':' || gen_random_uuid() \
         FROM (SELECT nextval(pg_get_serial_sequence('extenddb_admin.jobs', 'id')) AS id) n \
         ON CONFLICT (principal, target, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING RETURNING id",
    )
    .bind(job.kind.word())
    .bind(&job.target)
    .bind(&job.principal)
    .bind(&job.idempotency_key)
    .bind(job.request.to_string())
    .bind(&job.request_fingerprint)
    .bind(JobStatus::Queued.word())
    .fetch_optional(conn)
    .await
    .map_err(|e| driver(ADMIT, e))?;
    let id: Option<i64> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(ADMIT, e))?;
    Ok(id.map(|id| JobId(id.to_string())))
}

fn vanished(id: &JobId) -> Error {
    Error::new(ErrorKind::NotFound, ADMIT, "the row is gone again: somebody removed it").with("job", &id.0)
}
