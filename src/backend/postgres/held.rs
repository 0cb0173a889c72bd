//! What this process holds in the database beyond single calls: restore locks, and the registrations
//! that its heartbeats must renew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::postgres::PgConnection;

use super::layout::Style;

/// Shared by the roles of one deployment. Clones share.
#[derive(Clone, Default)]
pub struct Held(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Sessions that hold the server's restore lock (0.0.4), by new table's id.
    locks: HashMap<String, PgConnection>,
    /// `RUNNING` records of ours (0.0.5), by fence key: the new tables' ids.
    registrations: HashMap<String, Vec<String>>,
    /// Fences that refused this process, with what was said: it may not write under them again.
    refusals: HashMap<String, String>,
    /// How this deployment's physical tables look, once asked.
    style: Option<Style>,
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

    /// Latches a refusal. The first one stays.
    pub fn refuse(&self, fence_key: &str, message: &str) {
        self.with(|s| {
            s.refusals.entry(fence_key.to_owned()).or_insert_with(|| message.to_owned());
        });
    }

    /// What was said when this fence refused us.
    pub fn refusal(&self, fence_key: &str) -> Option<String> {
        self.with(|s| s.refusals.get(fence_key).cloned())
    }

    /// A fresh claim of this process under the same key makes it good again.
    pub fn readmit(&self, fence_key: &str) {
        self.with(|s| s.refusals.remove(fence_key));
    }

    /// How this deployment's physical tables look, if it was asked before.
    pub fn style(&self) -> Option<Style> {
        self.with(|s| s.style)
    }

    /// Keeps the answer: it must not change between the making of a table and its indexes.
    pub fn keep_style(&self, style: Style) {
        self.with(|s| s.style = Some(style));
    }
}
