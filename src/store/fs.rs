//! Filesystem store: objects are files below a root directory.
//!
//! Source: backup stores, section 3. A put is a temporary, fsync, rename, fsync of the directory; an
//! exclusive create links the temporary to its final name instead, which fails when the name is taken.
//! The root must not be writable for less trusted users: links are refused where they are met.

mod dir;
mod object;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::registry::{Entry, Opening, StoreConfig};
use super::{Created, Error, ErrorKind, Key, ObjectInfo, ObjectReader, ObjectWriter, Oddity, Result, Store, identity};
use crate::domain::store_ref::StoreRef;
use dir::{Directory, Kind, io_error, link_error};
use object::{FsReader, FsWriter, Temporary};

/// The line of the registry.
pub const ENTRY: Entry = Entry { kind: KIND, open };

const KIND: &str = "filesystem";

/// A put whose directory is removed by a deletion at the same moment begins anew this often.
const PUT_RETRIES: usize = 8;

/// Components that a prefix must have to be deleted: account, table and backup id.
const MIN_DELETE_COMPONENTS: usize = 3;

fn open(config: StoreConfig) -> Opening {
    Box::pin(async move {
        let config_error = |message: String| Error::new(ErrorKind::Config, "open the store", message);
        let StoreConfig {
            kind: _,
            root,
            bucket,
            prefix,
            region,
            endpoint,
            path_style,
            upload_part_size_bytes,
            max_concurrent_uploads,
        } = config;
        let foreign = [
            ("bucket", bucket.is_some()),
            ("prefix", prefix.is_some()),
            ("region", region.is_some()),
            ("endpoint", endpoint.is_some()),
            ("path_style", path_style.is_some()),
            ("upload_part_size_bytes", upload_part_size_bytes.is_some()),
            ("max_concurrent_uploads", max_concurrent_uploads.is_some()),
        ];
        if let Some((name, _)) = foreign.iter().find(|(_, given)| *given) {
            return Err(config_error(format!("a filesystem store has no {name}")));
        }
        let root = root.ok_or_else(|| config_error("a filesystem store needs its root".to_owned()))?;
        let store: Arc<dyn Store> = Arc::new(FsStore::open(root)?);
        Ok(store)
    })
}

/// Runs file work that may wait for the disk on a thread that may wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
        Err(e) => Err(Error::new(ErrorKind::Io, "use the store", e.to_string())),
    }
}

/// A store in a directory.
#[derive(Debug, Clone)]
pub struct FsStore {
    root: Arc<Directory>,
}

/// Whether a name is a temporary of a writer.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".put-") && name.ends_with(".tmp")
}

/// Components of a prefix; one trailing slash is ignored, the empty prefix is the root.
fn prefix_components(prefix: &str, operation: &'static str) -> Result<Vec<String>> {
    if prefix.is_empty() {
        return Ok(Vec::new());
    }
    let key = Key::new(prefix.strip_suffix('/').unwrap_or(prefix))
        .map_err(|e| Error::new(ErrorKind::InvalidKey, operation, e))?;
    Ok(key.as_str().split('/').map(str::to_owned).collect())
}

fn split(key: &Key) -> (Vec<&str>, &str) {
    let mut components: Vec<&str> = key.as_str().split('/').collect();
    let name = components.pop().expect("a key has a component");
    (components, name)
}

impl FsStore {
    /// Opens the store in an existing directory, which may be reached through a link.
    ///
    /// # Errors
    /// `Config` when it is not there or no directory.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        let config_error =
            |e: String| Error::new(ErrorKind::Config, "open the store", format!("{}: {e}", root.display()));
        let canonical = root.canonicalize().map_err(|e| config_error(e.to_string()))?;
        if !canonical.is_dir() {
            return Err(config_error("not a directory".to_owned()));
        }
        if canonical.to_str().is_none() {
            return Err(config_error("the path is not UTF-8".to_owned()));
        }
        Ok(Self { root: Arc::new(Directory::root(&canonical)?) })
    }

    fn temporary(&self, key: &Key) -> Result<Temporary> {
        const WRITE: &str = "write an object";
        let (parents, name) = split(key);
        for _ in 0..PUT_RETRIES {
            let directory = self.root.descend_making(&parents, WRITE)?;
            let path = directory.path.join(name);
            match directory.kind(name)? {
                Some(Kind::Link) => return Err(link_error(WRITE, &path)),
                Some(Kind::Directory | Kind::Other) => return Err(io_error(WRITE, &path, "not a regular file")),
                Some(Kind::File { .. }) | None => {}
            }
            if let Some(temporary) = Temporary::make(directory, "")? {
                return Ok(temporary);
            }
        }
        Err(io_error(WRITE, &self.root.path.join(key.as_str()), "its directory keeps vanishing"))
    }

    fn object(&self, key: &Key, operation: &'static str) -> Result<Option<(Directory, u64, i64)>> {
        let (parents, name) = split(key);
        let directory = match self.root.descend(&parents, operation) {
            Ok(Some(directory)) => directory,
            Ok(None) => return Ok(None),
            // A file in place of a directory: nothing can lie below it.
            Err(e) if e.kind == ErrorKind::Io => return Ok(None),
            Err(e) => return Err(e),
        };
        match directory.kind(name)? {
            Some(Kind::File { size_bytes, modified_ms }) => Ok(Some((directory, size_bytes, modified_ms))),
            Some(Kind::Link) => Err(link_error(operation, &directory.path.join(name))),
            Some(Kind::Directory | Kind::Other) | None => Ok(None),
        }
    }

    fn open_object(&self, key: &Key) -> Result<FsReader> {
        const READ: &str = "read an object";
        let absent = || Error::new(ErrorKind::NotFound, READ, format!("{key} is not in {}", self.root.path.display()));
        let (directory, _, _) = self.object(key, READ)?.ok_or_else(absent)?;
        let (_, name) = split(key);
        let path = directory.path.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(directory.fd(), name, flags, Mode::empty()) {
            Ok(fd) => Ok(FsReader { file: fd.into(), path }),
            Err(Errno::NOENT) => Err(absent()),
            Err(Errno::LOOP) => Err(link_error(READ, &path)),
            Err(e) => Err(io_error(READ, &path, e)),
        }
    }

    /// Shows everything below a prefix: path from the root, name, kind. Links are shown and not followed.
    fn walk(&self, prefix: &str, operation: &'static str, see: &mut dyn FnMut(String, &str, Kind)) -> Result<()> {
        let components = prefix_components(prefix, operation)?;
        let mut at = self.root.try_clone()?;
        let mut path = String::new();
        for (depth, name) in components.iter().enumerate() {
            let below = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            match at.kind(name.as_str())? {
                Some(Kind::Directory) => match at.enter(name, operation)? {
                    Some(next) => at = next,
                    None => return Ok(()),
                },
                Some(Kind::Link) => {
                    see(below, name, Kind::Link);
                    return Ok(());
                }
                Some(kind) if depth + 1 == components.len() => {
                    see(below, name, kind);
                    return Ok(());
                }
                _ => return Ok(()),
            }
            path = below;
        }
        walk_below(&at, &path, operation, see)
    }

    fn delete_below(&self, prefix: &Key) -> Result<u64> {
        const DELETE: &str = "delete a prefix";
        let (parents, name) = split(prefix);
        if parents.len() + 1 < MIN_DELETE_COMPONENTS {
            let message = format!("{prefix} has fewer than {MIN_DELETE_COMPONENTS} components");
            return Err(Error::new(ErrorKind::InvalidKey, DELETE, message));
        }
        let mut chain = vec![self.root.try_clone()?];
        for component in &parents {
            let at = chain.last().expect("begins with the root");
            match at.enter(component, DELETE)? {
                Some(next) => chain.push(next),
                None => return Ok(0),
            }
        }
        let parent = chain.last().expect("begins with the root");
        if parent.kind(name)? == Some(Kind::Link) {
            return Err(link_error(DELETE, &parent.path.join(name)));
        }
        let c_name = std::ffi::CString::new(name).expect("a key holds no control character");
        let removed = parent.remove(&c_name, DELETE)?;
        parent.sync(DELETE)?;
        // Directories that this emptied go too, never the root.
        for (depth, component) in parents.iter().enumerate().rev() {
            if !chain[depth].remove_if_empty(component) {
                break;
            }
            chain[depth].sync(DELETE)?;
        }
        Ok(removed)
    }

    fn probe(&self) -> Result<()> {
        let why = |e: Error| {
            Error::new(e.kind, "use the store", format!("{} is not usable: {}", self.root.path.display(), e.message))
        };
        self.root.names().map_err(why)?;
        let gone = || io_error("use the store", &self.root.path, "the root is gone");
        let mut probe = Temporary::make(self.root.try_clone()?, "validate-").map_err(why)?.ok_or_else(gone)?;
        probe.write(b"probe").map_err(why)?;
        probe.remove().map_err(why)
    }
}

fn walk_below(
    directory: &Directory,
    path: &str,
    operation: &'static str,
    see: &mut dyn FnMut(String, &str, Kind),
) -> Result<()> {
    for name in directory.names()? {
        // A name that is not UTF-8 is no object of ours.
        let Ok(name) = name.to_str() else { continue };
        let below = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        match directory.kind(name)? {
            Some(Kind::Directory) => {
                if let Some(next) = directory.enter(name, operation)? {
                    walk_below(&next, &below, operation, see)?;
                }
            }
            Some(kind) => see(below, name, kind),
            None => {}
        }
    }
    Ok(())
}

#[async_trait]
impl Store for FsStore {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn root(&self) -> String {
        self.root.path.to_string_lossy().into_owned()
    }

    fn bucket_and_prefix(&self) -> (String, String) {
        (String::new(), String::new())
    }

    async fn put(&self, key: &Key) -> Result<Box<dyn ObjectWriter>> {
        let (store, key) = (self.clone(), key.clone());
        blocking(move || {
            let temporary = store.temporary(&key)?;
            let writer: Box<dyn ObjectWriter> = Box::new(FsWriter { temporary, name: split(&key).1.to_owned() });
            Ok(writer)
        })
        .await
    }

    async fn create(&self, key: &Key, body: Bytes) -> Result<Created> {
        let (store, key) = (self.clone(), key.clone());
        blocking(move || {
            let mut temporary = store.temporary(&key)?;
            temporary.write(&body)?;
            temporary.publish_new(split(&key).1)
        })
        .await
    }

    async fn get(&self, key: &Key) -> Result<Box<dyn ObjectReader>> {
        Ok(Box::new(self.open_object(key)?))
    }

    async fn head(&self, key: &Key) -> Result<Option<ObjectInfo>> {
        let found = self.object(key, "look at an object")?;
        Ok(found.map(|(_, size_bytes, modified_ms)| ObjectInfo {
            key: key.clone(),
            size_bytes,
            modified_ms,
            is_link: false,
        }))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>> {
        let (store, prefix) = (self.clone(), prefix.to_owned());
        blocking(move || {
            let mut objects = Vec::new();
            store.walk(&prefix, "list a prefix", &mut |path, name, kind| {
                if let Kind::File { size_bytes, modified_ms } = kind
                    && !is_temporary(name)
                    && let Ok(key) = Key::new(path)
                {
                    objects.push(ObjectInfo { key, size_bytes, modified_ms, is_link: false });
                }
            })?;
            // Directory by directory is not byte order: '-' and '.' come before '/'.
            objects.sort_unstable_by(|a, b| a.key.cmp(&b.key));
            Ok(objects)
        })
        .await
    }

    async fn children(&self, prefix: &str) -> Result<Vec<String>> {
        const LIST: &str = "list a directory";
        let (store, prefix) = (self.clone(), prefix.to_owned());
        blocking(move || {
            let components = prefix_components(&prefix, LIST)?;
            let components: Vec<&str> = components.iter().map(String::as_str).collect();
            let directory = match store.root.descend(&components, LIST) {
                Ok(Some(directory)) => directory,
                Ok(None) => return Ok(Vec::new()),
                // A link is invisible, a file has no children.
                Err(e) if matches!(e.kind, ErrorKind::PermissionDenied | ErrorKind::Io) => return Ok(Vec::new()),
                Err(e) => return Err(e),
            };
            let mut names = Vec::new();
            for name in directory.names()? {
                let Ok(name) = name.to_str() else { continue };
                let seen = matches!(directory.kind(name)?, Some(Kind::File { .. } | Kind::Directory));
                if seen && !is_temporary(name) {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        })
        .await
    }

    async fn oddities(&self, prefix: &str) -> Result<Vec<Oddity>> {
        let (store, prefix) = (self.clone(), prefix.to_owned());
        blocking(move || {
            let mut odd = Vec::new();
            store.walk(&prefix, "list a prefix", &mut |path, name, kind| match kind {
                Kind::Link => odd.push(Oddity::Link(path)),
                Kind::File { .. } if is_temporary(name) => odd.push(Oddity::Temporary(path)),
                _ => {}
            })?;
            Ok(odd)
        })
        .await
    }

    async fn delete(&self, key: &Key) -> Result<()> {
        const DELETE: &str = "delete an object";
        let (store, key) = (self.clone(), key.clone());
        blocking(move || {
            let Some((directory, _, _)) = store.object(&key, DELETE)? else { return Ok(()) };
            let name = std::ffi::CString::new(split(&key).1).expect("a key holds no control character");
            directory.remove(&name, DELETE)?;
            directory.sync(DELETE)
        })
        .await
    }

    async fn delete_prefix(&self, prefix: &Key) -> Result<u64> {
        let (store, prefix) = (self.clone(), prefix.clone());
        blocking(move || store.delete_below(&prefix)).await
    }

    async fn validate(&self) -> Result<()> {
        let store = self.clone();
        blocking(move || store.probe()).await
    }

    async fn identity(&self) -> Result<Option<StoreRef>> {
        identity::read(self).await
    }

    async fn initialise(&self, adopt: bool) -> Result<StoreRef> {
        identity::initialise(self, adopt).await
    }
}

#[cfg(test)]
mod tests;
