//! Man pages and completion scripts, rendered from the command line's own definition.
//!
//! The files under `man/` and `completions/` are what this renders; `tests/generated.rs` compares them.

use std::io;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;

/// Shells that scripts are kept for, with the names of their files.
pub const SHELLS: &[(Shell, &str)] = &[
    (Shell::Bash, "extenddb-admin.bash"),
    (Shell::Elvish, "extenddb-admin.elv"),
    (Shell::Fish, "extenddb-admin.fish"),
    (Shell::PowerShell, "_extenddb-admin.ps1"),
    (Shell::Zsh, "_extenddb-admin"),
];

/// The completion script for a shell.
#[must_use]
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut out);
    out
}

/// Every man page: file name and text, one for each command and subcommand, in order of names.
///
/// # Errors
/// Never for memory; the renderer's signature has it.
pub fn man_pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    // The version stays out of the pages: they change when a command does, not with every release.
    let mut command = Cli::command().version(None::<&str>).disable_version_flag(true);
    command.build();
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    pages.sort();
    Ok(pages)
}

fn collect(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, pages)?;
    }
    let page = clap_mangen::Man::new(command.clone()).source("extenddb-admin").manual("ExtendDB administration");
    let mut text = Vec::new();
    page.render(&mut text)?;
    pages.push((page.get_filename(), text));
    Ok(())
}
