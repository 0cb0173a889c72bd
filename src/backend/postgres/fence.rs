//! Fences in the data database: who may write under a key.
//!
//! A holder shows its epoch and its identity inside the transaction of each write. Asserting takes the row
//! FOR SHARE, so that parallel loads do not wait for each other and minting waits for all of them. A refusal
//! latches for the rest of this process.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::error::driver;
use super::held::Held;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, FenceToken, Writer};

const ASSERT: &str = "assert the fence";
const MINT: &str = "mint an epoch";

/// A fence as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its number.
    pub epoch: Epoch,
    /// Its holder.
    pub writer: Writer,
}

/// Which lock an assertion takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// None: an early look, so that a lost claim is noticed before work is done in vain.
    None,
    /// FOR SHARE until the transaction ends: from here to the commit nobody can mint.
    Share,
}

/// Refuses unless the token is the recorded one. Call it inside the transaction of the write.
///
/// # Errors
/// `Fenced` names both numbers and both writers.
pub async fn assert_held(held: &Held, conn: &mut PgConnection, token: &FenceToken, lock: Lock) -> Result<()> {
    if let Some(message) = held.refusal(&token.key) {
        return Err(Error::new(ErrorKind::Fenced, ASSERT, message));
    }
    match read(conn, &token.key, lock).await? {
        Some(found) if found.epoch == token.epoch && found.writer == token.writer => Ok(()),
        found => {
            let error = refused(token, found.as_ref());
            held.refuse(&token.key, error.message());
            Err(error)
        }
    }
}

/// The error of a lost claim.
pub fn refused(token: &FenceToken, found: Option<&Recorded>) -> Error {
    let ours = format!("epoch {} of writer {}", token.epoch, token.writer);
    let message = match found {
        None => format!("the claim is lost: {ours} was shown, and there is no record any more"),
        Some(found) => {
            format!("the claim is lost: {ours} was shown, epoch {} of writer {} is recorded", found.epoch, found.writer)
        }
    };
    Error::new(ErrorKind::Fenced, ASSERT, message).with("fence", &token.key)
}

/// Reads a fence.
///
/// # Errors
/// `Damaged` for a number that breaks its rules.
pub async fn read(conn: &mut PgConnection, key: &str, lock: Lock) -> Result<Option<Recorded>> {
    let sql = match lock {
        Lock::None => "SELECT epoch, writer FROM extenddb_admin.fences WHERE fence_key = $1",
        Lock::Share => "SELECT epoch, writer FROM extenddb_admin.fences WHERE fence_key = $1 FOR SHARE",
    };
    let row = sqlx::query(sql).bind(key).fetch_optional(conn).await.map_err(|e| driver(ASSERT, e))?;
    row.map(|row| {
        let read = || -> Result<(i64, String), sqlx::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
        let (epoch, writer) = read().map_err(|e| driver(ASSERT, e))?;
        Ok(Recorded { epoch: epoch_of(epoch, "extenddb_admin.fences", key)?, writer: Writer(writer) })
    })
    .transpose()
}

/// Checks a number read from the database.
///
/// # Errors
/// `Damaged` names table and row.
pub fn epoch_of(stored: i64, table: &'static str, row: &str) -> Result<Epoch> {
    Epoch::from_stored(stored)
        .map_err(|e| Error::new(ErrorKind::Damaged, "read an epoch", e).with("table", table).with("row", row))
}

/// Moves a fence past its recorded number and past `floor`, by compare-and-set, and makes it where it is missing.
///
/// Waits, under the lock timeout, for batches that hold the fence.
///
/// # Errors
/// `Busy` when it was moved at the same time, or a batch holds it; `Damaged` for a number at its end.
pub async fn mint(
    conn: &mut PgConnection,
    scope: &str,
    key: &str,
    floor: Epoch,
    writer: &Writer,
) -> Result<FenceToken> {
    let found = read(conn, key, Lock::None).await?;
    let last = found.as_ref().map_or(Epoch::ZERO, |f| f.epoch);
    let epoch = last.mint_above(floor).map_err(|e| Error::new(ErrorKind::Damaged, MINT, e).with("fence", key))?;
    let sql = match found {
        None => {
            "INSERT INTO extenddb_admin.fences (fence_key, scope, epoch, writer) VALUES ($1, $4, $2, $3) \
             ON CONFLICT DO NOTHING"
        }
        Some(_) => {
            "UPDATE extenddb_admin.fences SET epoch = $2, writer = $3, minted_at = now() \
             WHERE fence_key = $1 AND epoch = $4"
        }
    };
    let mut query = sqlx::query(sql).bind(key).bind(epoch.stored()).bind(&writer.0);
    query = if found.is_some() { query.bind(last.stored()) } else { query.bind(scope) };
    let done = query.execute(conn).await.map_err(|e| {
        let error = driver(MINT, e).with("fence", key);
        if error.kind() == ErrorKind::Busy {
            return error.with("hint", "a batch of the holder is still open: it ends with its session");
        }
        error
    })?;
    if done.rows_affected() == 1 {
        return Ok(FenceToken { key: key.to_owned(), epoch, writer: writer.clone() });
    }
    Err(Error::new(ErrorKind::Busy, MINT, "somebody else moved it at the same time: run again")
        .with("fence", key)
        .temporary())
}

/// Removes a fence that the token holds. True when it is gone because of this call or was gone before.
///
/// # Errors
/// Database errors.
pub async fn remove(conn: &mut PgConnection, token: &FenceToken) -> Result<bool> {
    const OPERATION: &str = "remove a fence";
    let done = sqlx::query("DELETE FROM extenddb_admin.fences WHERE fence_key = $1 AND epoch = $2 AND writer = $3")
        .bind(&token.key)
        .bind(token.epoch.stored())
        .bind(&token.writer.0)
        .execute(&mut *conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
    Ok(done.rows_affected() == 1 || read(conn, &token.key, Lock::None).await?.is_none())
}
