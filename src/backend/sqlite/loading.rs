//! What a process keeps between the calls of a load: the server's lock, whose turn it is to write, and the
//! connection with the warm cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;

use super::Sqlite;
use super::lock::FileLock;
use crate::backend::Result;
use crate::backend::loader::StagePlan;
use crate::domain::claim::FenceToken;

/// Fence key and table id.
type Restore = (String, String);

/// Shared by all copies of one opened deployment.
#[derive(Clone, Default)]
pub struct Loading {
    /// The file has one writer, so batches take turns.
    pub turn: Arc<tokio::sync::Mutex<()>>,
    connection: Arc<Mutex<Option<Connection>>>,
    locks: Arc<Mutex<HashMap<Restore, Arc<FileLock>>>>,
}

impl Sqlite {
    /// Holds the server's lock until the table is published or removed, or its job is let go.
    ///
    /// # Errors
    /// As [`Sqlite::server_lock`].
    pub(super) fn hold_for_restore(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let mut locks = self.loading.locks.lock().expect("no holder of this mutex panics");
        let key = (fence.key.clone(), plan.definition.table_id.clone());
        if let std::collections::hash_map::Entry::Vacant(free) = locks.entry(key) {
            free.insert(self.server_lock()?);
        }
        Ok(())
    }

    /// The restore of one table is over.
    pub(super) fn release_restore(&self, fence: &FenceToken, plan: &StagePlan) {
        let key = (fence.key.clone(), plan.definition.table_id.clone());
        self.loading.locks.lock().expect("no holder of this mutex panics").remove(&key);
    }

    /// The job that holds the fence is let go, whatever it had begun.
    pub(super) fn release_restores(&self, fence_key: &str) {
        self.drop_loading_connection();
        self.loading.locks.lock().expect("no holder of this mutex panics").retain(|(key, _), _| key != fence_key);
    }

    /// The connection of the last batch, if it is still there.
    pub(super) fn take_loading_connection(&self) -> Option<Connection> {
        self.loading.connection.lock().expect("no holder of this mutex panics").take()
    }

    /// Keeps a connection, and its cache, for the next batch.
    pub(super) fn keep_loading_connection(&self, conn: Connection) {
        *self.loading.connection.lock().expect("no holder of this mutex panics") = Some(conn);
    }

    /// Closes the kept connection: loading is over, its cache is needed elsewhere.
    pub(super) fn drop_loading_connection(&self) {
        drop(self.take_loading_connection());
    }
}
