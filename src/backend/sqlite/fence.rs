//! The check of a claim inside the write: one record per protected thing in `extenddb_admin_fences`.
//!
//! A record is made before the first write, moves only forward, and is removed last. Writes assert it in
//! their own IMMEDIATE transaction, so that nobody can move it between the check and the commit. A refusal is
//! final for its token: it is remembered for the life of the process, and later calls with the token are
//! refused without asking the database again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension as _};

use super::error::{damaged, driver};
use super::shape::has_table;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::claim::{Epoch, FenceToken, Writer};

/// Tokens that were refused once.
#[derive(Debug, Clone, Default)]
pub struct Refusals(Arc<Mutex<HashSet<(String, Epoch, String)>>>);

impl Refusals {
    /// Refuses a token for good.
    pub fn latch(&self, token: &FenceToken) {
        self.set().insert(entry(token));
    }

    /// Whether a token was refused before.
    #[must_use]
    pub fn has(&self, token: &FenceToken) -> bool {
        self.set().contains(&entry(token))
    }

    /// Whether a token still holds, according to its record. Latches a refusal.
    ///
    /// # Errors
    /// `Fenced` with both numbers and both writers; `Damaged` for a record that breaks its rules.
    pub fn check(&self, conn: &Connection, operation: &'static str, token: &FenceToken) -> Result<()> {
        let refuse = |found: String| {
            self.latch(token);
            Err(Error::new(
                ErrorKind::Fenced,
                operation,
                format!(
                    "this run holds epoch {} as writer {}, and {found}; it writes nothing any more",
                    token.epoch, token.writer
                ),
            )
            .with("fence", &token.key))
        };
        if self.has(token) {
            return refuse("was refused before".into());
        }
        match read(conn, &token.key)? {
            None => refuse("there is no record of a claim".into()),
            Some((epoch, writer)) if epoch == token.epoch && same_writer(&writer, &token.writer) => Ok(()),
            Some((epoch, writer)) => refuse(format!("the record says epoch {epoch} and writer {writer}")),
        }
    }

    fn set(&self) -> std::sync::MutexGuard<'_, HashSet<(String, Epoch, String)>> {
        self.0.lock().expect("no holder of this mutex panics")
    }
}

/// The record of a key.
///
/// # Errors
/// `Damaged` for a negative epoch.
pub fn read(conn: &Connection, key: &str) -> Result<Option<(Epoch, Writer)>> {
    let operation = "read a fence";
    if !has_table(conn, "extenddb_admin_fences")? {
        return Ok(None);
    }
    let row: Option<(i64, String)> = conn
        .prepare_cached("SELECT epoch, writer FROM extenddb_admin_fences WHERE fence_key = ?1")
        .and_then(|mut s| s.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(|e| driver(operation, e).with("fence", key))?;
    row.map(|(stored, writer)| {
        Ok((epoch(operation, &format!("{key} of extenddb_admin_fences"), stored)?, Writer(writer)))
    })
    .transpose()
}

/// Reads a stored epoch.
///
/// # Errors
/// `Damaged` names the row.
pub fn epoch(operation: &'static str, row: &str, stored: i64) -> Result<Epoch> {
    Epoch::from_stored(stored).map_err(|e| damaged(operation, row, e))
}

/// Only the part before `@` identifies a writer.
#[must_use]
pub fn same_writer(a: &Writer, b: &Writer) -> bool {
    let identity = |w: &Writer| w.0.split('@').next().unwrap_or_default().to_owned();
    identity(a) == identity(b)
}

fn entry(token: &FenceToken) -> (String, Epoch, String) {
    (token.key.clone(), token.epoch, token.writer.0.clone())
}
