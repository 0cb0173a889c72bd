//! Directories below the root, reached one component at a time without following links.
//!
//! Every step opens the next component relative to the directory before it with `O_NOFOLLOW`, so a
//! link is noticed where it stands and nothing outside the root is ever reached. Source: backup
//! stores, section 3.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::store::{Error, ErrorKind, Result};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that can vanish between two steps is looked for again this often.
const RACE_RETRIES: usize = 8;

/// An open directory and its path, which is for messages only.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    pub(super) path: PathBuf,
}

/// What a name in a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File { size_bytes: u64, modified_ms: i64 },
    Directory,
    Link,
    Other,
}

/// An error of the system, named by operation and path.
pub(super) fn io_error(operation: &'static str, path: &Path, errno: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, operation, format!("{}: {errno}", path.display()))
}

/// The refusal of a link.
pub(super) fn link_error(operation: &'static str, path: &Path) -> Error {
    Error::new(ErrorKind::PermissionDenied, operation, format!("{} is a symbolic link", path.display()))
}

impl Directory {
    /// Opens the root, which may be reached through links.
    pub(super) fn root(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self { fd, path: path.to_owned() }),
            Err(e) => Err(io_error("open the store", path, e)),
        }
    }

    pub(super) fn try_clone(&self) -> Result<Self> {
        match self.fd.try_clone() {
            Ok(fd) => Ok(Self { fd, path: self.path.clone() }),
            Err(e) => Err(io_error("open a directory", &self.path, e)),
        }
    }

    pub(super) fn fd(&self) -> impl AsFd + '_ {
        &self.fd
    }

    /// The subdirectory of that name, or `None` when nothing is there.
    pub(super) fn enter(&self, name: &str, operation: &'static str) -> Result<Option<Self>> {
        let path = self.path.join(name);
        match rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => match self.kind(name)? {
                None => Ok(None),
                Some(Kind::Link) => Err(link_error(operation, &path)),
                _ => Err(io_error(operation, &path, e)),
            },
        }
    }

    /// The subdirectory of that name, made with mode 0700 where it is missing.
    fn enter_or_make(&self, name: &str, operation: &'static str) -> Result<Self> {
        for _ in 0..RACE_RETRIES {
            if let Some(found) = self.enter(name, operation)? {
                return Ok(found);
            }
            match rustix::fs::mkdirat(&self.fd, name, Mode::RWXU) {
                // Its name must outlive a crash as surely as the files in it.
                Ok(()) => self.sync(operation)?,
                Err(Errno::EXIST) => {}
                Err(e) => return Err(io_error(operation, &self.path.join(name), e)),
            }
        }
        Err(io_error(operation, &self.path.join(name), "the directory keeps vanishing"))
    }

    /// Walks down existing directories; `None` where one is missing.
    pub(super) fn descend(&self, components: &[&str], operation: &'static str) -> Result<Option<Self>> {
        let mut at = self.try_clone()?;
        for name in components {
            match at.enter(name, operation)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Walks down, making what is missing.
    pub(super) fn descend_making(&self, components: &[&str], operation: &'static str) -> Result<Self> {
        let mut at = self.try_clone()?;
        for name in components {
            at = at.enter_or_make(name, operation)?;
        }
        Ok(at)
    }

    /// What a name is, links not followed; `None` when nothing is there.
    pub(super) fn kind(&self, name: impl rustix::path::Arg + Copy) -> Result<Option<Kind>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File {
                    size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
                    modified_ms: stat.st_mtime * 1000 + i64::try_from(stat.st_mtime_nsec / 1_000_000).unwrap_or(0),
                },
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            })),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => Ok(None),
            Err(e) => Err(io_error("look at an object", &self.path, e)),
        }
    }

    /// All names in it but `.` and `..`, in byte order.
    pub(super) fn names(&self) -> Result<Vec<CString>> {
        let fail = |e| io_error("list a directory", &self.path, e);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name: &CStr = entry.file_name();
            if name.to_bytes() != b"." && name.to_bytes() != b".." {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Makes names in it durable.
    pub(super) fn sync(&self, operation: &'static str) -> Result<()> {
        rustix::fs::fsync(&self.fd).map_err(|e| io_error(operation, &self.path, e))
    }

    /// Removes everything in it, links themselves included, following none. Returns how many files and links went.
    pub(super) fn clear(&self, operation: &'static str) -> Result<u64> {
        let mut removed = 0;
        for name in self.names()? {
            removed += self.remove(&name, operation)?;
        }
        Ok(removed)
    }

    /// Removes one name with everything below it. Returns how many files and links went.
    pub(super) fn remove(&self, name: &CStr, operation: &'static str) -> Result<u64> {
        let path = self.path.join(&*name.to_string_lossy());
        match self.kind(name)? {
            None => Ok(0),
            Some(Kind::Directory) => {
                let removed = match rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty()) {
                    Ok(fd) => Self { fd, path: path.clone() }.clear(operation)?,
                    Err(Errno::NOENT) => 0,
                    Err(e) => return Err(io_error(operation, &path, e)),
                };
                match rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => Ok(removed),
                    Err(e) => Err(io_error(operation, &path, e)),
                }
            }
            Some(_) => match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
                Ok(()) => Ok(1),
                Err(Errno::NOENT) => Ok(0),
                Err(e) => Err(io_error(operation, &path, e)),
            },
        }
    }

    /// Removes an empty subdirectory; one that is not empty, or gone, stays as it is. True when it went.
    pub(super) fn remove_if_empty(&self, name: &str) -> bool {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR).is_ok()
    }
}
