//! Role: stage a table, load it under a fence, publish it in one step.
//!
//! Protocol, in order: [`Loader::target_rules`] and [`Loader::check_target`] before anything is written;
//! [`Loader::stage`]; any number of [`Loader::begin_load`] batches, each committing its items, the file's
//! progress and the fence's assertion together; [`Loader::finish_load`]; [`Loader::publish`]. At any time
//! [`Loader::discard`] removes what is staged. Every call is convergent: a resumed run repeats it.
//! One job, and so one fence, may load several tables, at once too: staged tables and progress are kept by
//! fence and by the new table's id, and a call touches only its own plan's table.

use super::error::{Error, Result};
use crate::domain::claim::{FenceToken, WriteOutcome};
use crate::domain::item::{ControlChars, Item};
use crate::domain::store_ref::StoreRef;
use crate::domain::table::{SourceTable, TableKey};

/// What a target can hold. Source: backup operations, section 10.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetRules {
    /// How strings are stored.
    pub encoding: ControlChars,
    /// U+0000 may occur in strings and names (possibly escaped).
    pub nul_allowed: bool,
    /// Most significant digits of a number that is a sort key.
    pub sort_number_digits: u32,
    /// Vector indexes can be built.
    pub vector_indexes: bool,
    /// Region for the new table's ARN: the existing tables', else the configuration's; `None` leaves
    /// it to the backup.
    pub region: Option<String>,
}

/// A table to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct StagePlan {
    /// The new table.
    pub target: TableKey,
    /// Its definition under the new name, id and ARN, throughput normalized.
    pub definition: SourceTable,
    /// A fresh index id for each secondary index, in [`crate::domain::index_row::IndexSpec::of_table`]'s order.
    pub index_ids: Vec<String>,
    /// ARN of the backup it is made from.
    pub source_backup_arn: String,
    /// Kind, root and id of the store, as a 0.0.5 catalog records them.
    pub store: Option<StoreRef>,
}

/// What is durably loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadProgress {
    /// Data files (by index into the commit record's list) that are wholly applied, with their item counts.
    pub files: Vec<FileDone>,
}

/// One wholly applied data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDone {
    /// Index into the commit record's list.
    pub file_index: u32,
    /// Items applied.
    pub items: u64,
    /// Digest of the items, `<count>:<hex>`.
    pub digest: String,
}

/// One data file being applied, in one transaction.
#[async_trait::async_trait]
pub trait LoadBatch: Send {
    /// Adds an item. Buffers; the caller calls [`LoadBatch::flush`] when this answers true.
    ///
    /// # Errors
    /// `Unrepresentable` names the item.
    fn push(&mut self, item: &Item<'_>) -> Result<bool>;

    /// Sends what is buffered to the database.
    ///
    /// # Errors
    /// Database errors; the batch must then be dropped, and leaves nothing.
    async fn flush(&mut self) -> Result<()>;

    /// Sends the rest, asserts the fence, records the file as done and commits.
    ///
    /// # Errors
    /// `Fenced` with both numbers and both writers; nothing of the batch stays.
    async fn commit(self: Box<Self>, done: &FileDone) -> Result<()>;
}

/// Stages, loads and publishes tables.
#[async_trait::async_trait]
pub trait Loader: Send + Sync {
    /// What this deployment can hold.
    ///
    /// # Errors
    /// Database errors; `CatalogRefused` for data half way through an escape migration.
    async fn target_rules(&self) -> Result<TargetRules> {
        Err(Error::unsupported("load tables"))
    }

    /// Refuses a target that exists, or whose account does not.
    ///
    /// # Errors
    /// `Conflict` when the table exists; `NotFound` when the account does not; `Busy` when the name is
    /// the target of another restore or a server holds what the load needs.
    async fn check_target(&self, target: &TableKey) -> Result<()> {
        let _ = target;
        Err(Error::unsupported("load tables"))
    }

    /// Makes the physical tables and the fence-guarded progress, and registers the target where the
    /// catalog's version wants that (0.0.5: `CREATING` with a `RUNNING` record of kind `manifest`).
    ///
    /// # Errors
    /// `Fenced`, `Conflict`.
    async fn stage(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// What an earlier attempt of this job has loaded.
    ///
    /// # Errors
    /// Database errors.
    async fn load_progress(&self, fence: &FenceToken, plan: &StagePlan) -> Result<LoadProgress> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// Opens the transaction of one data file.
    ///
    /// # Errors
    /// `Fenced`.
    async fn begin_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<Box<dyn LoadBatch>> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// Builds primary keys and indexes over what was loaded and counts the items.
    ///
    /// # Errors
    /// `Fenced`; `Conflict` when two items share a key.
    async fn finish_load(&self, fence: &FenceToken, plan: &StagePlan) -> Result<u64> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// Reads the staged items back and returns their digest.
    ///
    /// # Errors
    /// Database errors.
    async fn staged_digest(&self, fence: &FenceToken, plan: &StagePlan) -> Result<crate::domain::digest::TableDigest> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// Makes the table visible in one transaction, conditioned on the fence. Repeating it after an
    /// unknown outcome answers `Matched` when it had landed.
    ///
    /// # Errors
    /// `Conflict` when the name was taken meanwhile; `Fenced`.
    async fn publish(&self, fence: &FenceToken, plan: &StagePlan) -> Result<WriteOutcome> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }

    /// Removes what is staged, its progress and its registration. A published table is left alone.
    ///
    /// # Errors
    /// `Fenced`.
    async fn discard(&self, fence: &FenceToken, plan: &StagePlan) -> Result<()> {
        let _ = (fence, plan);
        Err(Error::unsupported("load tables"))
    }
}
