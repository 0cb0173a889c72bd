//! The command line as a script sees it: standard output, standard error, exit status. One file a command.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod backup;
mod completions;
mod config;
mod demo;
mod job;

mod man;
mod restore;
mod store;
mod table;
mod usage;

use std::path::Path;

use support::Run;

/// Runs the binary in a folder, without any deployment chosen.
fn run(home: &Path, args: &[&str]) -> Run {
    let mut command = support::run::command(home);
    command.args(args);
    support::run::run(command)
}

/// An empty folder.
fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("extenddb-admin-cli-").tempdir().unwrap()
}
