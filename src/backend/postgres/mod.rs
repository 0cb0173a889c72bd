//! ExtendDB on PostgreSQL: a catalog database, and a data database that the catalog names.

mod backup_rows;
mod batch;
mod build;
mod catalog;
mod claim;
mod connect;
mod copy;
mod dump;
mod encoding;
mod error;
mod fence;
mod held;
mod introspect;
mod job_rows;
mod jobs;
mod layout;
mod ledger;
mod legacy;
mod loader;
mod lock;
mod migrate;
mod names;
mod operations;
mod physical_names;
mod publish;
mod readback;
mod reverse_index;
mod row_claim;
mod scan;
mod scan_sql;
mod scratch;
mod shape;
mod snapshot;
mod stage;
mod steps;
mod tables;
mod tools;

use std::sync::Arc;

use super::registry::Entry;
use super::{Backend, Capabilities};

/// Registry line.
pub const ENTRY: Entry = Entry {
    name: "postgres",
    schemes: &["postgres", "postgresql"],
    open: |options| Box::pin(async move { Ok(Arc::new(Postgres::open(options).await?) as Arc<dyn Backend>) }),
    url_from_server_config: connect::url_from_server_config,
    sample: None,
};

/// An opened PostgreSQL deployment.
#[derive(Clone)]
pub struct Postgres {
    connector: connect::Connector,
    held: held::Held,
    row_session: row_claim::RowSession,
    capabilities: Capabilities,
}

impl Backend for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn location(&self) -> String {
        let o = self.connector.catalog_options();
        format!(
            "postgres://{}@{}:{}/{}",
            o.get_username(),
            o.get_host(),
            o.get_port(),
            o.get_database().unwrap_or(o.get_username())
        )
    }
}
