//! Role: what schema is there, what the ledgers say, and applying migration steps under the lock.

use std::path::Path;
use std::time::Duration;

use super::error::{Error, Result};
use super::registry::OpenOptions;
use crate::domain::applied::{Entry, NewEntry, StepRun};
use crate::domain::migration::{Place, Step};
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;

/// How a migration session behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionOptions {
    /// How long the migration lock is polled for.
    pub lock_deadline: Duration,
    /// How long one statement may wait for a lock of the database.
    pub statement_lock_timeout: Duration,
    /// How long one statement may run; builds that run concurrently are not bound by it.
    pub statement_timeout: Duration,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            lock_deadline: Duration::from_secs(10),
            statement_lock_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(600),
        }
    }
}

/// Somebody who is connected to the catalog or its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// In words: process, application, user, client, how long.
    pub description: String,
    /// It counts as a running server: it stands in the way of a breaking step.
    pub is_server: bool,
}

/// The exclusive right to migrate, and the connections it works on.
///
/// It excludes ExtendDB's own `migrate` as well, and is gone with the process. Catalog statements run on
/// the very session that holds the lock: a cut connection loses both at once.
#[async_trait::async_trait]
pub trait MigrationSession: Send {
    /// Whether all conditions of a step hold, seen from the open transaction if there is one.
    ///
    /// # Errors
    /// Database errors.
    async fn is_done(&mut self, step: &Step) -> Result<bool>;

    /// Begins a transaction in one of the databases.
    ///
    /// # Errors
    /// Database errors; `Busy` when the file cannot be locked for writing.
    async fn begin(&mut self, place: Place) -> Result<()>;

    /// Runs a step: in the open transaction, or on its own when the step cannot share one.
    ///
    /// # Errors
    /// `Timeout` and `Busy` name the step; the transaction is lost with any error.
    async fn run(&mut self, step: &Step) -> Result<()>;

    /// Commits the open transaction.
    ///
    /// # Errors
    /// Database errors; whether it landed is then to be read back.
    async fn commit(&mut self) -> Result<()>;

    /// Rolls the open transaction back; nothing happens where none is open.
    ///
    /// # Errors
    /// Database errors.
    async fn rollback(&mut self) -> Result<()>;

    /// The schema as the open transaction sees it.
    ///
    /// # Errors
    /// As [`Ledger::introspect`].
    async fn introspect(&mut self, lineage: Lineage) -> Result<Introspection>;

    /// First column of a query, as text, in row order; rows with null are left out.
    ///
    /// # Errors
    /// Database errors.
    async fn texts(&mut self, place: Place, query: &str) -> Result<Vec<String>>;

    /// Writes the begin of a migration into our ledger and answers the row's id.
    ///
    /// # Errors
    /// Database errors.
    async fn record_start(&mut self, entry: &NewEntry) -> Result<i64>;

    /// Writes the end, in the open transaction of the catalog if there is one.
    ///
    /// # Errors
    /// Database errors.
    async fn record_finish(&mut self, id: i64, fingerprint_after: &str, steps: &[StepRun]) -> Result<()>;

    /// Gives the lock back.
    ///
    /// # Errors
    /// Database errors.
    async fn close(self: Box<Self>) -> Result<()>;
}

/// A deployment that is there for a short while. May hold a password, so it has no `Debug`.
pub struct Scratch {
    /// How to open it.
    pub options: OpenOptions,
    /// What it is called: databases, or a file.
    pub names: Vec<String>,
}

/// A dump that was written and is known to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpReport {
    /// The file.
    pub path: String,
    /// Rows in it.
    pub rows: u64,
}

/// What was copied for a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyReport {
    /// Tables.
    pub tables: u64,
    /// Rows.
    pub rows: u64,
    /// Rows that were left out: what they refer to is not in the sample.
    pub left_out: u64,
    /// The data lie in the catalog's database.
    pub data_is_catalog: bool,
}

/// What the names of scratch deployments begin with.
pub const SCRATCH_PREFIX: &str = "extenddb_admin_scratch_";

/// Introspects, locks and migrates.
#[async_trait::async_trait]
pub trait Ledger: Send + Sync {
    /// What is there, in canonical form, read in one read-only transaction. Empty where nothing is:
    /// a missing file, an empty database, a lineage this backend does not have.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`; `Damaged` for a declaration that cannot be read.
    async fn introspect(&self, lineage: Lineage) -> Result<Introspection> {
        let _ = lineage;
        Err(Error::unsupported("read the schema"))
    }

    /// What versions, ledgers and settings say, read in one read-only transaction.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`. Worn rows are no error here: they are returned as they stand.
    async fn recorded(&self) -> Result<Recorded> {
        Err(Error::unsupported("read the ledgers"))
    }

    /// Lineages this backend has, in the order they are reported.
    fn lineages(&self) -> &'static [Lineage] {
        &[Lineage::Catalog, Lineage::Admin]
    }

    /// Creates our own tables where they are missing, on every database of the deployment. Converges;
    /// whoever writes to them calls it first.
    ///
    /// # Errors
    /// `PermissionDenied`, `Unavailable`.
    async fn ensure_admin(&self) -> Result<()> {
        Err(Error::unsupported("create the admin tables"))
    }

    /// Our ledger, oldest first; empty where it does not exist.
    ///
    /// # Errors
    /// `Damaged` names the row that breaks its rules.
    async fn history(&self) -> Result<Vec<Entry>> {
        Err(Error::unsupported("read the ledger"))
    }

    /// Which of these steps are done, in one read-only transaction of the database of each.
    ///
    /// # Errors
    /// Database errors.
    async fn done(&self, steps: &[&Step]) -> Result<Vec<bool>> {
        let _ = steps;
        Err(Error::unsupported("look at migration steps"))
    }

    /// An estimate of a table's rows and bytes, for the plan; none where it cannot be told.
    ///
    /// # Errors
    /// Database errors.
    async fn table_size(&self, place: Place, table: &str) -> Result<Option<(u64, u64)>> {
        let _ = (place, table);
        Ok(None)
    }

    /// Who else is connected, servers first.
    ///
    /// # Errors
    /// Database errors.
    async fn live_sessions(&self) -> Result<Vec<LiveSession>> {
        Err(Error::unsupported("list connections"))
    }

    /// Makes an empty deployment beside this one, under a name that nobody has: for building schemas and for
    /// rehearsals. Whoever makes one gives it back with [`Ledger::drop_scratch`].
    ///
    /// # Errors
    /// `PermissionDenied` where this role may make no databases.
    async fn make_scratch(&self) -> Result<Scratch> {
        Err(Error::unsupported("make a scratch deployment"))
    }

    /// Removes a scratch deployment. Refuses anything that [`Ledger::make_scratch`] did not name.
    ///
    /// # Errors
    /// Database errors.
    async fn drop_scratch(&self, scratch: &Scratch) -> Result<()> {
        let _ = scratch;
        Err(Error::unsupported("remove a scratch deployment"))
    }

    /// Writes a dump of the catalog into a folder, readable by its owner only, and proves it by restoring it into
    /// a scratch deployment.
    ///
    /// # Errors
    /// `Damaged` when it does not restore to the same; `Unsupported` without the tools for it.
    async fn dump_catalog(&self, folder: &Path, name: &str) -> Result<DumpReport> {
        let _ = (folder, name);
        Err(Error::unsupported("dump the catalog"))
    }

    /// Copies schema, ledgers and at most `rows` rows of each table into an empty scratch deployment. Secrets are
    /// never copied, tables of items neither.
    ///
    /// # Errors
    /// Database errors; `Unsupported` without the tools for it.
    async fn copy_for_rehearsal(&self, scratch: &Scratch, rows: u32) -> Result<CopyReport> {
        let _ = (scratch, rows);
        Err(Error::unsupported("copy a catalog"))
    }

    /// Takes the migration lock and opens a session under it.
    ///
    /// # Errors
    /// `Busy` names the holder and how long it has been there; `Config` when a proxy that hands out
    /// another server connection for each statement stands between.
    async fn migration_session(&self, options: &SessionOptions) -> Result<Box<dyn MigrationSession>> {
        let _ = options;
        Err(Error::unsupported("migrate"))
    }
}
