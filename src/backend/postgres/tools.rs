//! PostgreSQL's own client programs, for what they do best: a dump of a whole database, and its way back.
//!
//! The password travels in the environment, never among the arguments.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use crate::backend::{Error, ErrorKind, Result};

/// Where distributions keep the programs of each version.
const VERSIONED: &str = "/usr/lib/postgresql";
/// Lines of a failed program's message that an error repeats.
const LINES_SHOWN: usize = 5;

/// Dumps a database into a file of PostgreSQL's custom format.
pub async fn dump(from: &PgConnectOptions, file: &Path, more: &[&str]) -> Result<()> {
    let mut command = program("pg_dump", from)?;
    command.args(["--format=custom", "--no-password", "--file"]).arg(file).args(more);
    run(command, "dump a database").await
}

/// Restores such a file into a database, all of it or an error.
pub async fn restore(into: &PgConnectOptions, file: &Path) -> Result<()> {
    let mut command = program("pg_restore", into)?;
    command.args(["--no-owner", "--no-privileges", "--exit-on-error", "--no-password"]).arg(file);
    run(command, "restore a dump").await
}

/// A program, told where to connect.
fn program(name: &str, options: &PgConnectOptions) -> Result<Command> {
    let path = find(name).ok_or_else(|| {
        Error::new(
            ErrorKind::Unsupported,
            "dump a database",
            format!("{name} is neither on the PATH nor below {VERSIONED}: install PostgreSQL's client programs"),
        )
    })?;
    let mut url = options.to_url_lossy();
    let mut command = Command::new(path);
    if let Some(password) = url.password() {
        let password = percent_encoding::percent_decode_str(password).decode_utf8_lossy().into_owned();
        command.env("PGPASSWORD", password);
    }
    let cannot = |()| Error::new(ErrorKind::Config, "dump a database", "the URL cannot be given to another program");
    url.set_password(None).map_err(cannot)?;
    // What libpq does not know of the driver's own parameters.
    url.set_query(None);
    command.arg("--dbname").arg(url.as_str());
    Ok(command)
}

/// On the PATH, or the newest that a distribution installed.
fn find(name: &str) -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(VERSIONED)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin").join(name))))
        .filter(|(_, path)| path.exists())
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|path| path.exists())
        .or_else(|| versions.pop().map(|(_, path)| path))
}

async fn run(mut command: Command, operation: &'static str) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let failed = move |what: String| Error::new(ErrorKind::Internal, operation, what);
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let shown: Vec<&str> = text.lines().take(LINES_SHOWN).collect();
    Err(failed(shown.join("; ")))
}
