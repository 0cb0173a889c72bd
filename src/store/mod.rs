//! The seam to a backup store: objects under keys, one exclusive create, no deletion above a backup.
//!
//! Source: backup stores, sections 1 to 5.

pub mod error;
pub mod fs;
pub mod identity;
pub mod key;
pub mod registry;

use async_trait::async_trait;
use bytes::Bytes;

pub use error::{Error, ErrorKind, Result};
pub use key::Key;

use crate::domain::store_ref::StoreRef;

/// One object as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its key.
    pub key: Key,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Last modification on the store's clock, milliseconds since the epoch.
    pub modified_ms: i64,
    /// It is reached through a symbolic link somewhere below the root (shown by `list_links` only).
    pub is_link: bool,
}

/// An object being written. Nothing is visible under the key before [`ObjectWriter::finish`] returns.
/// Dropping it without `finish` removes what was written, as far as that needs no waiting.
#[async_trait]
pub trait ObjectWriter: Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the object durable and visible.
    ///
    /// # Errors
    /// As [`ObjectWriter::write`]; nothing is left under the key then.
    async fn finish(self: Box<Self>) -> Result<()>;

    /// Removes what was written.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn abort(self: Box<Self>) -> Result<()>;
}

/// An object being read.
#[async_trait]
pub trait ObjectReader: Send {
    /// The next bytes, or `None` at the end. At most 1 MiB at a time.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn next(&mut self) -> Result<Option<Bytes>>;
}

/// Answer of an exclusive create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The object is there and is ours.
    Yes,
    /// Another one was there first; nothing was touched.
    Exists,
}

/// A backup store.
#[async_trait]
pub trait Store: Send + Sync {
    /// `filesystem` or `s3`.
    fn kind(&self) -> &'static str;

    /// Canonical path or URL, for people and for `store_root`.
    fn root(&self) -> String;

    /// Bucket and prefix as the export summary wants them; both empty on a filesystem.
    fn bucket_and_prefix(&self) -> (String, String);

    /// Starts writing an object that replaces what is there.
    ///
    /// # Errors
    /// Permission (links), I/O.
    async fn put(&self, key: &Key) -> Result<Box<dyn ObjectWriter>>;

    /// Creates a small object only if absent, durably.
    ///
    /// # Errors
    /// Permission, I/O.
    async fn create(&self, key: &Key, body: Bytes) -> Result<Created>;

    /// Opens an object for reading.
    ///
    /// # Errors
    /// Not found; permission.
    async fn get(&self, key: &Key) -> Result<Box<dyn ObjectReader>>;

    /// Size and time, or none.
    ///
    /// # Errors
    /// Permission.
    async fn head(&self, key: &Key) -> Result<Option<ObjectInfo>>;

    /// Every object equal to the prefix or below it, in key order by bytes. The empty prefix is everything.
    /// Temporaries and links are left out.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>>;

    /// The names directly below a prefix of components, in byte order: for walking a large store in
    /// bounded memory. The empty prefix is the root.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn children(&self, prefix: &str) -> Result<Vec<String>>;

    /// Links and left temporaries below a prefix, which `list` hides, with what they are.
    ///
    /// # Errors
    /// I/O and transport errors.
    async fn oddities(&self, prefix: &str) -> Result<Vec<Oddity>>;

    /// Removes one object; absent is no error.
    ///
    /// # Errors
    /// Permission, I/O.
    async fn delete(&self, key: &Key) -> Result<()>;

    /// Removes everything equal to or below a prefix of at least three components, temporaries included,
    /// and returns how many objects went.
    ///
    /// # Errors
    /// An invalid key for a shorter prefix; permission; I/O.
    async fn delete_prefix(&self, prefix: &Key) -> Result<u64>;

    /// Checks that the store can be used: reads, writes and removes a probe.
    ///
    /// # Errors
    /// What is missing, naming the root.
    async fn validate(&self) -> Result<()>;

    /// The store's identity, if it has one.
    ///
    /// # Errors
    /// Malformed identity; another `format_version`.
    async fn identity(&self) -> Result<Option<StoreRef>>;

    /// Gives an empty store an identity; answers the one that is there otherwise. A non-empty store without
    /// one is adopted only when `adopt` is set.
    ///
    /// # Errors
    /// `NotEmpty` for a non-empty store without identity.
    async fn initialise(&self, adopt: bool) -> Result<StoreRef>;
}

/// Something in a store that is no object of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// A symbolic link, by its path from the root.
    Link(String),
    /// A temporary that a dead writer left, by its path from the root.
    Temporary(String),
}
