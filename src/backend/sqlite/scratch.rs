//! Files that are there for a short while.

use std::path::PathBuf;

use super::Sqlite;
use crate::backend::ledger::{SCRATCH_PREFIX, Scratch};
use crate::backend::registry::OpenOptions;
use crate::backend::{Error, ErrorKind, Result};

/// What lies beside a database file of ours and of the server's.
const SIDE_FILES: [&str; 5] = ["", "-wal", "-shm", "-journal", ".lock"];

impl Sqlite {
    /// Names a file in the system's folder for temporary files; opening it for writing makes it.
    ///
    /// # Errors
    /// None; the file is made by whoever opens it.
    pub fn create_scratch(&self) -> Result<Scratch> {
        let name = format!("{SCRATCH_PREFIX}{}.sqlite", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name).display().to_string();
        let options = OpenOptions {
            url: format!("sqlite:{path}"),
            data_url: None,
            read_only: false,
            lock_timeout: self.options.lock_timeout,
            writer: self.options.writer.clone(),
            region: self.options.region.clone(),
        };
        Ok(Scratch { options, names: vec![path] })
    }

    /// Removes the file and what lies beside it.
    ///
    /// # Errors
    /// `Unavailable` when a file cannot be removed.
    pub fn remove_scratch(&self, scratch: &Scratch) -> Result<()> {
        for path in &scratch.names {
            let file_name = PathBuf::from(path).file_name().map(|n| n.to_string_lossy().into_owned());
            if !file_name.is_some_and(|n| n.starts_with(SCRATCH_PREFIX)) {
                let message = format!("{path:?} is no name of a scratch file");
                return Err(Error::new(ErrorKind::Internal, "remove a scratch file", message));
            }
            for side in SIDE_FILES {
                match std::fs::remove_file(format!("{path}{side}")) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        return Err(Error::new(ErrorKind::Unavailable, "remove a scratch file", e.to_string()));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
