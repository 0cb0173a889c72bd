//! One object being written or read.

use std::fs::File;
use std::io::{Read as _, Write as _};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::dir::{Directory, io_error};
use crate::store::{Created, ObjectReader, ObjectWriter, Result};

const WRITE: &str = "write an object";
const READ_BYTES: usize = 256 << 10;

/// A temporary beside its final name. Dropped unpublished, it is removed.
pub(super) struct Temporary {
    directory: Directory,
    file: File,
    name: String,
    gone: bool,
}

impl Temporary {
    /// Makes `.put-<uuid>.tmp` with mode 0600. `None` when the directory vanished meanwhile.
    pub(super) fn make(directory: Directory, infix: &str) -> Result<Option<Self>> {
        let name = format!(".put-{infix}{}.tmp", uuid::Uuid::new_v4());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(directory.fd(), &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => Ok(Some(Self { directory, file: File::from(fd), name, gone: false })),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io_error(WRITE, &directory.path.join(&name), e)),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|e| io_error(WRITE, &self.directory.path.join(&self.name), e))
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|e| io_error(WRITE, &self.directory.path.join(&self.name), e))
    }

    /// Durable, then under its final name, replacing what is there.
    pub(super) fn publish(mut self, name: &str) -> Result<()> {
        self.sync()?;
        rustix::fs::renameat(self.directory.fd(), &self.name, self.directory.fd(), name)
            .map_err(|e| io_error(WRITE, &self.directory.path.join(name), e))?;
        self.gone = true;
        self.directory.sync(WRITE)
    }

    /// Durable, then under its final name unless that is taken.
    pub(super) fn publish_new(mut self, name: &str) -> Result<Created> {
        self.sync()?;
        let fd = self.directory.fd();
        let mut linked = rustix::fs::linkat(&fd, &self.name, &fd, name, AtFlags::empty());
        if matches!(linked, Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK)) {
            // A filesystem without hard links.
            linked = rustix::fs::renameat_with(&fd, &self.name, &fd, name, RenameFlags::NOREPLACE);
            drop(fd);
            self.gone = linked.is_ok();
        } else {
            drop(fd);
        }
        match linked {
            Ok(()) => {
                self.remove()?;
                self.directory.sync(WRITE)?;
                Ok(Created::Yes)
            }
            Err(Errno::EXIST) => Ok(Created::Exists),
            Err(e) => Err(io_error(WRITE, &self.directory.path.join(name), e)),
        }
    }

    pub(super) fn remove(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.gone, true) {
            return Ok(());
        }
        match rustix::fs::unlinkat(self.directory.fd(), &self.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(io_error(WRITE, &self.directory.path.join(&self.name), e)),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed now is a temporary that the sweep removes.
        let _ = self.remove();
    }
}

/// Writes one object.
pub(super) struct FsWriter {
    pub(super) temporary: Temporary,
    pub(super) name: String,
}

#[async_trait]
impl ObjectWriter for FsWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        // Into the page cache: handing it to another thread would cost more than it takes.
        self.temporary.write(&bytes)
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        super::blocking(move || self.temporary.publish(&self.name)).await
    }

    async fn abort(mut self: Box<Self>) -> Result<()> {
        self.temporary.remove()
    }
}

/// Reads one object.
pub(super) struct FsReader {
    pub(super) file: File,
    pub(super) path: std::path::PathBuf,
}

#[async_trait]
impl ObjectReader for FsReader {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        let mut buffer = Vec::with_capacity(READ_BYTES);
        let limit = u64::try_from(READ_BYTES).expect("256 KiB");
        match (&mut self.file).take(limit).read_to_end(&mut buffer) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(Bytes::from(buffer))),
            Err(e) => Err(io_error("read an object", &self.path, e)),
        }
    }
}
