//! Connections to the file, and the process locks beside it.
//!
//! SQLite calls block, so every role runs them through [`blocking`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::Sqlite;
use super::error::driver;
use crate::backend::registry::OpenOptions;
use crate::backend::{Capabilities, Error, ErrorKind, Result};

impl Sqlite {
    /// Resolves the path. A missing file is an empty deployment: `migrate` makes it, `migrate status` says so,
    /// and whoever reads a catalog from it is told that there is none.
    ///
    /// # Errors
    /// `Config` for `:memory:`, an empty path or a folder that is not there.
    pub fn open(options: OpenOptions) -> Result<Self> {
        let path = path_of_url(&options.url)?;
        let operation = "open the SQLite file";
        let path = match path.canonicalize() {
            Ok(path) => path,
            Err(_) => {
                let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let name = path.file_name().ok_or_else(|| {
                    Error::new(ErrorKind::Config, operation, "the path names no file")
                        .with("path", path.display().to_string())
                })?;
                parent
                    .canonicalize()
                    .map_err(|e| {
                        Error::new(ErrorKind::Config, operation, e.to_string())
                            .with("path", parent.display().to_string())
                    })?
                    .join(name)
            }
        };
        Ok(Self {
            options,
            path,
            refusals: super::fence::Refusals::default(),
            loading: super::loading::Loading::default(),
            capabilities: Capabilities {
                shared_snapshot: true,
                parallel_scan: false,
                parallel_load: false,
                transactional_ddl: true,
                fenced_writes: true,
            },
        })
    }

    /// A connection that the database itself keeps from writing.
    ///
    /// # Errors
    /// `NotInitialized`, `Unavailable`.
    pub fn reader(&self) -> Result<Connection> {
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        conn.pragma_update(None, "query_only", true).map_err(|e| driver("set query_only", e))?;
        // What the file system refuses shows at the first read, not at opening.
        match conn.query_row("SELECT count(*) FROM (SELECT 1 FROM sqlite_schema LIMIT 1)", [], |_| Ok(())) {
            Ok(()) => Ok(conn),
            Err(e) if side_files_refused(&e) && self.path.exists() => Err(Error::new(
                ErrorKind::PermissionDenied,
                "read the SQLite file",
                "its side files (-wal, -shm) are missing or unreadable, and the folder does not allow to make them: \
                     allow it, or read a copy",
            )
            .with("path", self.path.display().to_string())),
            Err(e) => Err(driver("read the SQLite file", e).with("path", self.path.display().to_string())),
        }
    }

    /// A connection that may write (and makes the file if it is missing), with foreign keys enforced.
    ///
    /// # Errors
    /// `PermissionDenied` when the deployment was opened for reading only; `Unavailable`.
    pub fn writer(&self) -> Result<Connection> {
        if self.options.read_only {
            return Err(Error::new(
                ErrorKind::PermissionDenied,
                "open the SQLite file for writing",
                "opened for reading only",
            ));
        }
        let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.pragma_update(None, "foreign_keys", true).map_err(|e| driver("set foreign_keys", e))?;
        Ok(conn)
    }

    /// A reading connection with one open read transaction, whose snapshot is fixed here by a first read.
    /// It ends with the connection.
    ///
    /// # Errors
    /// As [`Sqlite::reader`].
    pub fn read_transaction(&self) -> Result<Connection> {
        let conn = self.reader()?;
        conn.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
            .map_err(|e| driver("begin a read transaction", e).with("path", self.path.display().to_string()))?;
        Ok(conn)
    }

    /// Runs blocking work on this deployment on a thread that may block.
    ///
    /// # Errors
    /// The work's own.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Self) -> Result<T> + Send + 'static) -> Result<T> {
        let this = self.clone();
        blocking(move || work(&this)).await
    }

    fn connect(&self, flags: OpenFlags) -> Result<Connection> {
        let conn = Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(|e| driver("open the SQLite file", e).with("path", self.path.display().to_string()))?;
        conn.busy_timeout(Duration::from_secs(5)).map_err(|e| driver("set the busy timeout", e))?;
        Ok(conn)
    }
}

/// Runs blocking SQLite work on a thread that may block.
///
/// # Errors
/// The work's own.
///
/// # Panics
/// When the work panicked.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(join) => std::panic::resume_unwind(join.into_panic()),
    }
}

/// `sqlite:PATH`, `sqlite://PATH` too.
fn path_of_url(url: &str) -> Result<PathBuf> {
    let rest = url.strip_prefix("sqlite:").unwrap_or(url);
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    if rest.is_empty() || rest == ":memory:" {
        return Err(Error::new(ErrorKind::Config, "read the SQLite URL", "expected sqlite:PATH, a file"));
    }
    Ok(PathBuf::from(rest))
}

/// `[storage.sqlite] path`, the server's default where the key is missing. The server resolves a relative path
/// against the folder it was started in, which nobody knows here: the current folder and the one of the
/// configuration are looked at.
///
/// # Errors
/// `Config` when both hold such a file.
pub fn url_from_server_config(section: &toml::Table, folder: &Path) -> Result<String> {
    let path = Path::new(section.get("path").and_then(toml::Value::as_str).unwrap_or("extenddb.sqlite"));
    let beside = folder.join(path);
    let path = match (path.canonicalize(), beside.canonicalize()) {
        (Ok(here), Ok(there)) if here != there => {
            let found = format!("found {} and {}: pass --url with the right one", here.display(), there.display());
            return Err(Error::new(ErrorKind::Config, "resolve the relative [storage.sqlite] path", found));
        }
        (Err(_), Ok(there)) => there,
        _ => path.to_owned(),
    };
    Ok(format!("sqlite:{}", path.display()))
}

/// The two ways in which SQLite says that it could not make the side files of a log.
fn side_files_refused(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}
