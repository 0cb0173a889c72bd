//! The seam to a deployment's database: role traits over plain data, and declared capabilities.
//!
//! No driver type crosses this seam, and no operation asks which backend it talks to: what
//! differs is a [`Capabilities`] value or an answer of a role. A backend is one folder here and
//! one line in [`registry`].

pub mod capability;
pub mod catalog;
pub mod error;
pub mod jobs;
pub mod ledger;
pub mod loader;
pub mod postgres;
pub mod registry;
pub mod snapshot;
pub mod sqlite;

pub use capability::Capabilities;
pub use catalog::Catalog;
pub use error::{Error, ErrorKind, Result};
pub use jobs::Jobs;
pub use ledger::Ledger;
pub use loader::Loader;
pub use snapshot::Snapshots;

/// An opened deployment.
pub trait Backend: Ledger + Catalog + Snapshots + Loader + Jobs {
    /// Name in URLs, bodies of migrations and golden schemas: `postgres`, `sqlite`, …
    fn name(&self) -> &'static str;

    /// What this backend can do.
    fn capabilities(&self) -> &Capabilities;

    /// Where it is, for people. Never holds a secret.
    fn location(&self) -> String;
}
