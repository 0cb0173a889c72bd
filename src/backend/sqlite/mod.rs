//! ExtendDB on SQLite: catalog and data in one file.

mod backup_rows;
mod batch;
mod catalog;
mod claim;
mod connect;
mod declaration;
mod dump;
mod error;
mod fence;
mod introspect;
#[cfg(test)]
mod introspect_changes;
mod jobs;
mod layout;
mod ledger;
mod loader;
mod loading;
mod lock;
mod migrate;
mod publish;
mod rows;
mod sample;
mod scratch;
mod shape;
mod snapshot;
mod steps;

use std::path::PathBuf;
use std::sync::Arc;

use super::registry::{Entry, OpenOptions};
use super::{Backend, Capabilities};

/// Registry line.
pub const ENTRY: Entry = Entry {
    name: "sqlite",
    schemes: &["sqlite"],
    open: |options| Box::pin(async move { Ok(Arc::new(Sqlite::open(options)?) as Arc<dyn Backend>) }),
    url_from_server_config: connect::url_from_server_config,
    sample: Some(sample::SAMPLE),
};

/// An opened SQLite deployment.
#[derive(Clone)]
pub struct Sqlite {
    options: OpenOptions,
    /// Canonical path of the file.
    path: PathBuf,
    capabilities: Capabilities,
    refusals: fence::Refusals,
    loading: loading::Loading,
}

impl Backend for Sqlite {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn location(&self) -> String {
        format!("sqlite:{}", self.path.display())
    }
}
