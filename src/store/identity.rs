//! The identity object at a store's root, the same for every kind of store.
//!
//! Source: backup stores, section 5.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Created, Error, ErrorKind, Key, ObjectReader, Result, Store};
use crate::domain::store_ref::StoreRef;

/// Key of the identity object.
pub const IDENTITY_KEY: &str = "extenddb-store.json";

/// Longest identity object that is read.
const MAX_BYTES: usize = 64 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Identity {
    format_version: u64,
    store_id: String,
    created_at: f64,
}

fn key() -> Key {
    Key::new(IDENTITY_KEY).expect("a valid key")
}

/// Reads a small object whole; `None` when it is not there.
///
/// # Errors
/// Store errors; `Io` when it is longer than `limit` bytes.
pub async fn read_small(store: &dyn Store, key: &Key, limit: usize) -> Result<Option<Vec<u8>>> {
    let mut reader: Box<dyn ObjectReader> = match store.get(key).await {
        Ok(reader) => reader,
        Err(e) if e.kind == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let mut body = Vec::new();
    while let Some(bytes) = reader.next().await? {
        if body.len() + bytes.len() > limit {
            return Err(Error::new(ErrorKind::Io, "read an object", format!("{key} is larger than {limit} bytes")));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(Some(body))
}

/// The identity of a store, if it has one.
///
/// # Errors
/// `BadIdentity` for a malformed one or another `format_version`; store errors.
pub async fn read(store: &dyn Store) -> Result<Option<StoreRef>> {
    let Some(body) = read_small(store, &key(), MAX_BYTES).await? else { return Ok(None) };
    let bad = |why: String| {
        Error::new(
            ErrorKind::BadIdentity,
            "read the store's identity",
            format!("{IDENTITY_KEY} of {}: {why}", store.root()),
        )
    };
    let identity: Identity = serde_json::from_slice(&body).map_err(|e| bad(e.to_string()))?;
    if identity.format_version != 1 {
        return Err(bad(format!("format version {}, this build reads 1", identity.format_version)));
    }
    let id = &identity.store_id;
    match uuid::Uuid::try_parse(id) {
        Ok(uuid) if uuid.get_version_num() == 4 && uuid.hyphenated().to_string() == *id => {}
        _ => return Err(bad(format!("store_id {id:?} is not a lower-case version-4 UUID"))),
    }
    Ok(Some(StoreRef { kind: store.kind().to_owned(), root: store.root(), id: identity.store_id }))
}

/// Gives an empty store an identity, or answers the one that is there.
///
/// # Errors
/// `NotEmpty` for a non-empty store without identity, unless it is to be adopted; see [`read`].
pub async fn initialise(store: &dyn Store, adopt: bool) -> Result<StoreRef> {
    if let Some(found) = read(store).await? {
        return Ok(found);
    }
    if !adopt && !store.children("").await?.is_empty() {
        return Err(Error::new(
            ErrorKind::NotEmpty,
            "initialise the store",
            format!("{} holds objects and has no {IDENTITY_KEY}", store.root()),
        ));
    }
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let created_ms = crate::domain::timestamp::TimestampMs(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX));
    let identity = Identity {
        format_version: 1,
        store_id: uuid::Uuid::new_v4().hyphenated().to_string(),
        created_at: created_ms.epoch_seconds(),
    };
    let body = serde_json::to_vec(&identity).expect("plain members serialize");
    match store.create(&key(), Bytes::from(body)).await? {
        // Whoever was first, its identity counts.
        Created::Yes | Created::Exists => read(store).await?.ok_or_else(|| {
            Error::new(
                ErrorKind::BadIdentity,
                "initialise the store",
                format!("{IDENTITY_KEY} vanished from {}", store.root()),
            )
        }),
    }
}
