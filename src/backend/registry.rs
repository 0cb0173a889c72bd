//! The list of backends: one line each. URLs, configuration, migration bodies and tests derive from it.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::{Backend, Error, ErrorKind, Result, postgres, sqlite};
use crate::domain::claim::Writer;

/// How to open a deployment.
#[derive(Clone)]
pub struct OpenOptions {
    /// `scheme:…`; may hold a password, so this struct has no `Debug`.
    pub url: String,
    /// Where the items are, when the catalog's own setting cannot be reached from here.
    pub data_url: Option<String>,
    /// Ask the database to refuse writes.
    pub read_only: bool,
    /// How long a lock may be waited for.
    pub lock_timeout: Duration,
    /// This process.
    pub writer: Writer,
    /// Region of the server's configuration, if one was given.
    pub region: Option<String>,
}

/// Opens a deployment.
pub type OpenFn = fn(OpenOptions) -> Pin<Box<dyn Future<Output = Result<Arc<dyn Backend>>> + Send>>;

/// One backend.
pub struct Entry {
    /// Name in migrations, golden schemas and the server's `[storage]` section.
    pub name: &'static str,
    /// URL schemes, without the colon.
    pub schemes: &'static [&'static str],
    /// Opens it.
    pub open: OpenFn,
    /// Reads the URL out of the server's configuration, given its `[storage.<name>]` table and the folder
    /// that the configuration lies in.
    pub url_from_server_config: fn(&toml::Table, &Path) -> Result<String>,
    /// What the demonstration begins with; none where it needs a server.
    pub sample: Option<Sample>,
}

/// A small deployment as an old server left it, for the demonstration.
pub struct Sample {
    /// Version of the empty catalog that [`Sample::write`] wants.
    pub catalog_version: &'static str,
    /// Its table.
    pub table: &'static str,
    /// Writes account, table and items.
    pub write: WriteFn,
}

/// Writes a sample.
pub type WriteFn = fn(OpenOptions) -> Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Every backend this build has.
pub const BACKENDS: &[Entry] = &[sqlite::ENTRY, postgres::ENTRY];

/// The backend that a URL names.
///
/// # Errors
/// `Config`, listing the schemes there are. The URL itself is not repeated: it may hold a password.
pub fn by_url(url: &str) -> Result<&'static Entry> {
    let scheme = url.split(':').next().unwrap_or_default();
    BACKENDS.iter().find(|e| e.schemes.contains(&scheme)).ok_or_else(|| {
        let known: Vec<_> = BACKENDS.iter().flat_map(|e| e.schemes).map(|s| format!("{s}:")).collect();
        Error::new(
            ErrorKind::Config,
            "choose a backend",
            format!("the URL begins with {scheme:?}, expected one of {}", known.join(", ")),
        )
    })
}

/// The backend of a name.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static Entry> {
    BACKENDS.iter().find(|e| e.name == name)
}
