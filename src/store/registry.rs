//! The list of stores: one line each, and which store a path or URL means.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde::Deserialize;

use super::{Error, ErrorKind, Result, Store};

/// Where a store is. Which members a kind takes is checked when the store is opened. Never holds a secret:
/// credentials come from the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// `filesystem` or `s3`.
    pub kind: String,
    /// Filesystem: the directory.
    pub root: Option<PathBuf>,
    /// S3: the bucket.
    pub bucket: Option<String>,
    /// S3: the prefix below which everything lies.
    pub prefix: Option<String>,
    /// S3: the region; from the environment where it is missing.
    pub region: Option<String>,
    /// S3: address of a compatible server.
    pub endpoint: Option<String>,
    /// S3: put the bucket into the path instead of the host name.
    pub path_style: Option<bool>,
    /// S3: size of one part of an upload, at least 5 MiB.
    pub upload_part_size_bytes: Option<u64>,
    /// S3: parts of one object in flight, at least 1.
    pub max_concurrent_uploads: Option<u64>,
}

impl StoreConfig {
    /// The place as text: the path, or `s3://BUCKET/PREFIX`.
    #[must_use]
    pub fn location(&self) -> String {
        match (&self.root, &self.bucket) {
            (Some(root), _) => root.display().to_string(),
            (None, Some(bucket)) => format!("s3://{bucket}/{}", self.prefix.as_deref().unwrap_or_default()),
            (None, None) => String::new(),
        }
    }
}

/// A store being opened.
pub type Opening = Pin<Box<dyn Future<Output = Result<Arc<dyn Store>>> + Send>>;

/// Opens a store.
pub type OpenFn = fn(StoreConfig) -> Opening;

/// One kind of store.
pub struct Entry {
    /// The word in configuration and in catalog rows.
    pub kind: &'static str,
    /// Opens it.
    pub open: OpenFn,
}

/// Every kind of store this build has.
pub const STORES: &[Entry] = &[super::fs::ENTRY];

/// Opens the store that a configuration names.
///
/// # Errors
/// `Config` for an unknown kind, listing those there are; whatever the store says.
pub async fn open(config: StoreConfig) -> Result<Arc<dyn Store>> {
    (entry(&config)?.open)(config).await
}

/// Checks what can be checked of a configuration without opening the store.
///
/// # Errors
/// `Config` for an unknown kind.
pub fn check(config: &StoreConfig) -> Result<()> {
    entry(config).map(|_| ())
}

fn entry(config: &StoreConfig) -> Result<&'static Entry> {
    STORES.iter().find(|entry| entry.kind == config.kind).ok_or_else(|| {
        let known: Vec<_> = STORES.iter().map(|entry| entry.kind).collect();
        let message = format!("this build has no store of kind {:?}, only {}", config.kind, known.join(", "));
        Error::new(ErrorKind::Config, "open the store", message)
    })
}

/// What a path or URL means: `s3://BUCKET[/PREFIX]`, or a path that holds a `/` or begins with a dot.
/// `None` for anything else, which is then a name.
#[must_use]
pub fn by_location(text: &str) -> Option<StoreConfig> {
    if let Some(rest) = text.strip_prefix("s3://") {
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        return Some(StoreConfig {
            kind: "s3".to_owned(),
            bucket: Some(bucket.to_owned()),
            prefix: (!prefix.is_empty()).then(|| prefix.to_owned()),
            ..StoreConfig::default()
        });
    }
    let path = text.strip_prefix("file://").unwrap_or(text);
    (path.contains('/') || path.starts_with('.')).then(|| StoreConfig {
        kind: "filesystem".to_owned(),
        root: Some(PathBuf::from(path)),
        ..StoreConfig::default()
    })
}
