//! What every backup and restore needs to know beside its own options.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::cancel::Cancel;
use super::error::Result;
use super::observer::Observer;
use crate::backend::Backend;
use crate::domain::claim::Writer;
use crate::domain::store_ref::StoreRef;
use crate::store::Store;

/// Rows that a server can see beat at least this often, whatever is configured.
/// Source: backup stores, section 6.
pub const MAX_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Bounds and periods. Source: backup stores, section 6.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Most uncompressed bytes of one data file.
    pub data_file_target_bytes: u64,
    /// Period of heartbeats; [`Settings::beat`] is what is used.
    pub heartbeat_interval: Duration,
    /// A heartbeat older than this is dead.
    pub stale_after: Duration,
    /// Most jobs that may run at once.
    pub max_concurrent_jobs: usize,
    /// Folder for spooled data; the system's temporary folder where it is not set.
    pub spool_path: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            data_file_target_bytes: 64 << 20,
            heartbeat_interval: Duration::from_secs(15),
            stale_after: Duration::from_secs(300),
            max_concurrent_jobs: 4,
            spool_path: None,
        }
    }
}

impl Settings {
    /// The period to beat with.
    #[must_use]
    pub fn beat(&self) -> Duration {
        self.heartbeat_interval.clamp(Duration::from_millis(100), MAX_HEARTBEAT_INTERVAL)
    }

    /// [`Settings::stale_after`] in milliseconds.
    #[must_use]
    pub fn stale_after_ms(&self) -> i64 {
        i64::try_from(self.stale_after.as_millis()).unwrap_or(i64::MAX)
    }
}

/// Number of worker threads where the operator did not say: one per core, at least two.
#[must_use]
pub fn default_workers() -> NonZeroUsize {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    NonZeroUsize::new(cores.max(2)).expect("at least two")
}

/// A store that is open under the name the operator knows it by.
#[derive(Clone)]
pub struct OpenStore {
    /// Name in the configuration, path or URL: what a job records and whoever resumes it asks for.
    pub name: String,
    /// The store.
    pub store: Arc<dyn Store>,
}

impl OpenStore {
    /// Identity of a store that is written to; an empty store gets one.
    ///
    /// # Errors
    /// `NotEmpty` for a store with objects and no identity; a malformed identity.
    pub async fn identity_for_writing(&self) -> Result<StoreRef> {
        match self.store.identity().await? {
            Some(identity) => Ok(identity),
            None => Ok(self.store.initialise(false).await?),
        }
    }

    /// The store's id, empty where it has none that can be read.
    pub async fn id_for_reading(&self) -> String {
        self.store.identity().await.ok().flatten().map(|identity| identity.id).unwrap_or_default()
    }
}

/// Opens stores by the names that jobs recorded.
#[async_trait]
pub trait Stores: Send + Sync {
    /// Opens a store.
    ///
    /// # Errors
    /// `Usage` when no store has that name; store errors.
    async fn open(&self, name: &str) -> Result<OpenStore>;
}

/// Everything a job works with.
#[derive(Clone)]
pub struct Run {
    /// The deployment.
    pub backend: Arc<dyn Backend>,
    /// Opens stores that jobs recorded by name.
    pub stores: Arc<dyn Stores>,
    /// Hears progress and warnings.
    pub observer: Arc<dyn Observer>,
    /// Asks the run to stop.
    pub cancel: Cancel,
    /// Bounds and periods.
    pub settings: Settings,
    /// This process.
    pub writer: Writer,
    /// Who asks, for idempotency keys.
    pub principal: String,
    /// Worker threads, and most connections that scans or loads may use.
    pub workers: NonZeroUsize,
}
