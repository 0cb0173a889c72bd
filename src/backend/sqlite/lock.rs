//! Process locks on files beside the database: the server's own, and ours.
//!
//! A lock is `flock`, exclusive and never waited for, on a file that may stay behind: its presence means
//! nothing, only the lock counts, and the kernel drops it with the process. A server holds
//! `<canonical path>.lock` for its life (SQLite ledgers page, section 4); whoever writes the catalog or
//! restores holds the same one for the whole run. Our jobs hold
//! `<canonical path>.extenddb-admin-<job>.lock` while they run, which is how a dead holder is known at once.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use rustix::fs::FlockOperation;

use super::Sqlite;
use crate::backend::{Error, ErrorKind, Result};

/// Locks of servers that this process holds, by path: the lock excludes processes, not parts of one.
static HELD: LazyLock<Mutex<HashMap<PathBuf, Weak<FileLock>>>> = LazyLock::new(Mutex::default);

/// Tries to lock a path this often when the file is removed between opening and locking it.
const REOPEN_TRIES: u32 = 16;

/// A held lock; dropping it (or the process) lets go. Of the server's lock the file stays behind; a file of
/// ours is removed, and left only by a process that was killed.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
    /// The file to remove, if it is one of ours.
    remove: Option<PathBuf>,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Removed while still locked, so that nobody can have taken the name in between.
        if let Some(path) = &self.remove {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A process that has the database open, or holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Process id, where the system tells.
    pub pid: Option<u32>,
    /// Name of the program, where the system tells.
    pub program: Option<String>,
}

impl Holder {
    /// Whether it is a server, by its name. Servers up to 0.0.4 take no lock and are seen only this way;
    /// any other program with the file open is shown and does not block.
    #[must_use]
    pub fn is_server(&self) -> bool {
        self.program.as_ref().is_some_and(|p| p.contains("extenddb") && !p.starts_with("extenddb-admin"))
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pid, &self.program) {
            (Some(pid), Some(program)) => write!(f, "process {pid} ({program})"),
            (Some(pid), None) => write!(f, "process {pid}"),
            _ => f.write_str("another process"),
        }
    }
}

impl FileLock {
    /// Takes a lock whose file is ours, or says who holds it.
    ///
    /// # Errors
    /// As [`FileLock::try_take`].
    pub fn try_take_own(path: PathBuf) -> Result<Result<Self, Holder>> {
        let mut taken = Self::try_take(&path)?;
        if let Ok(lock) = &mut taken {
            lock.remove = Some(path);
        }
        Ok(taken)
    }

    /// Takes the lock, or says who holds it. The file is made with mode 0600 if it is missing.
    ///
    /// # Errors
    /// `PermissionDenied` or `Unavailable` when the file cannot be made or locked.
    pub fn try_take(path: &Path) -> Result<Result<Self, Holder>> {
        let operation = "take the lock file";
        let fail = |e: std::io::Error| {
            let kind = match e.kind() {
                std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                    ErrorKind::PermissionDenied
                }
                _ => ErrorKind::Unavailable,
            };
            Error::new(kind, operation, e.to_string()).with("path", path.display().to_string())
        };
        for _ in 0..REOPEN_TRIES {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(path)
                .map_err(fail)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Err(lock_holder(&file))),
                Err(e) => return Err(fail(e.into())),
            }
            // Whoever held it may have removed the file meanwhile: then this lock guards nothing.
            let ours = file.metadata().map_err(fail)?;
            match std::fs::metadata(path) {
                Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {
                    return Ok(Ok(Self { _file: file, remove: None }));
                }
                _ => {}
            }
        }
        Err(Error::new(ErrorKind::Busy, operation, "the file is removed again and again")
            .with("path", path.display().to_string())
            .temporary())
    }
}

impl Sqlite {
    /// The server's lock file.
    #[must_use]
    pub fn server_lock_path(&self) -> PathBuf {
        beside(&self.path, ".lock")
    }

    /// The lock file of one of our jobs.
    #[must_use]
    pub fn job_lock_path(&self, job: &str) -> PathBuf {
        beside(&self.path, &format!(".extenddb-admin-{job}.lock"))
    }

    /// Takes the server's lock for this process, or shares it when this process has it already, through
    /// whichever opened deployment. It is held until the last copy is dropped.
    ///
    /// # Errors
    /// `Busy`, naming the holder: the process that has the lock, or a server too old to take it that has
    /// the file open for writing.
    pub fn server_lock(&self) -> Result<Arc<FileLock>> {
        let operation = "take the server's lock";
        let path = self.server_lock_path();
        let mut held = HELD.lock().expect("no holder of this mutex panics");
        if let Some(lock) = held.get(&path).and_then(Weak::upgrade) {
            return Ok(lock);
        }
        let mut taken = FileLock::try_take(&path)?;
        // A copy of ours that is being dropped just now has left the list before the kernel let go.
        for _ in 0..REOPEN_TRIES {
            match &taken {
                Err(holder) if holder.pid == Some(std::process::id()) => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    taken = FileLock::try_take(&path)?;
                }
                _ => break,
            }
        }
        let lock = taken.map_err(|holder| {
            Error::new(
                ErrorKind::Busy,
                operation,
                format!("{holder} holds it: stop the server (or wait for the other run) and try again"),
            )
            .with("lock", path.display().to_string())
        })?;
        if let Some(holder) = self.foreign_writers().iter().find(|h| h.is_server()) {
            return Err(Error::new(
                ErrorKind::Busy,
                operation,
                format!("{holder} has the database open for writing and takes no lock: stop it and try again"),
            )
            .with("path", self.path.display().to_string()));
        }
        let lock = Arc::new(lock);
        held.insert(path, Arc::downgrade(&lock));
        Ok(lock)
    }

    /// Who holds the server's lock, other than this process, as far as the system tells. The lock itself is
    /// not touched: even a moment's hold could keep a server from starting.
    #[must_use]
    pub fn server_lock_holder(&self) -> Option<Holder> {
        let file = File::open(self.server_lock_path()).ok()?;
        let holder = lock_holder(&file);
        holder.pid.filter(|&pid| pid != std::process::id()).map(|_| holder)
    }

    /// Other processes that have the database open for writing, copies of this program left out.
    /// Empty where the system does not tell, and for processes of other users.
    #[must_use]
    pub fn foreign_writers(&self) -> Vec<Holder> {
        let Ok(database) = std::fs::metadata(&self.path) else { return Vec::new() };
        let own_program = std::fs::read_link("/proc/self/exe").ok();
        let own_pid = std::process::id();
        let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
        processes
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|&pid| pid != own_pid)
            .filter(|&pid| has_open_for_writing(pid, &database))
            .filter(|&pid| {
                let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
                program.is_none() || program != own_program
            })
            .map(|pid| Holder { pid: Some(pid), program: program_of(pid) })
            .collect()
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn program_of(pid: u32) -> Option<String> {
    Some(std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

fn has_open_for_writing(pid: u32, database: &std::fs::Metadata) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors.flatten().any(|descriptor| {
        // Follows the link to the open file itself, so a renamed or linked path is recognised too.
        let Ok(open) = std::fs::metadata(descriptor.path()) else { return false };
        (open.dev(), open.ino()) == (database.dev(), database.ino())
            && open_flags(pid, &descriptor.file_name().to_string_lossy()).is_none_or(|flags| flags & 0o3 != 0)
    })
}

/// The open flags of a descriptor, octal in `fdinfo`; the last two bits are the access mode, 0 reads only.
fn open_flags(pid: u32, descriptor: &str) -> Option<u32> {
    let info = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(flags.trim(), 8).ok()
}

/// Finds the holder of a lock in the kernel's list, by device and inode.
fn lock_holder(file: &File) -> Holder {
    let pid = file.metadata().ok().and_then(|meta| {
        let (major, minor) = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        // Some file systems show another device there than to stat: then the inode alone must do.
        holder_in_list(&locks, &format!("{major:02x}:{minor:02x}:{}", meta.ino()))
            .or_else(|| holder_in_list(&locks, &format!(":{}", meta.ino())))
    });
    Holder { pid, program: pid.and_then(program_of) }
}

/// `1: FLOCK  ADVISORY  WRITE 4711 08:01:12345 0 EOF`; a waiter has `->` after its number.
fn holder_in_list(locks: &str, file: &str) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields.as_slice() {
            [_, "FLOCK", _, _, pid, at, ..] if at.ends_with(file) => pid.parse().ok(),
            _ => None,
        }
    })
}
