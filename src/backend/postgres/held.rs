//! What this process holds in the database beyond single calls: restore locks, and the registrations
//! that its heartbeats must renew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::postgres::PgConnection;

/// Shared by the roles of one deployment. Clones share.
#[derive(Clone, Default)]
pub struct Held(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Sessions that hold the server's restore lock (0.0.4), by new table's id.
    locks: HashMap<String, PgConnection>,
    /// `RUNNING` records of ours (0.0.5), by fence key: the new tables' ids.
    registrations: HashMap<String, Vec<String>>,
}

impl Held {
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        // The state stays whole whatever a panicking thread did: every change is one call.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a session that holds the restore lock of a table.
    pub fn keep_lock(&self, table_id: &str, session: PgConnection) {
        self.with(|s| s.locks.insert(table_id.to_owned(), session));
    }

    /// Takes the session out, to end it or to see whether it lives.
    pub fn take_lock(&self, table_id: &str) -> Option<PgConnection> {
        self.with(|s| s.locks.remove(table_id))
    }

    /// The restore lock of this table is held by us.
    pub fn has_lock(&self, table_id: &str) -> bool {
        self.with(|s| s.locks.contains_key(table_id))
    }

    /// From now on heartbeats under this fence renew the record of this table too.
    pub fn register(&self, fence_key: &str, table_id: &str) {
        self.with(|s| {
            let list = s.registrations.entry(fence_key.to_owned()).or_default();
            list.retain(|id| id != table_id);
            list.push(table_id.to_owned());
        });
    }

    /// The record has ended.
    pub fn unregister(&self, fence_key: &str, table_id: &str) {
        self.with(|s| {
            if let Some(list) = s.registrations.get_mut(fence_key) {
                list.retain(|id| id != table_id);
            }
        });
    }

    /// Tables whose records this fence's heartbeats renew.
    pub fn registered(&self, fence_key: &str) -> Vec<String> {
        self.with(|s| s.registrations.get(fence_key).cloned().unwrap_or_default())
    }
}
