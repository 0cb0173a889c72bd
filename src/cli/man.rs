//! `man`: prints the man page, or writes all of them into a directory.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::Serialize;

use super::{Context, Exit, generate};
use crate::ui::Page;

/// Arguments.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  extenddb-admin man | man -l -\n  extenddb-admin man /usr/local/share/man/man1")]
pub struct Args {
    /// Directory to write one page a command into; without it the main page is printed
    directory: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    files: Vec<PathBuf>,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Context) -> Result<Exit> {
    let pages = generate::man_pages()?;
    let Some(directory) = &args.directory else {
        let main = pages.into_iter().find(|(name, _)| name == "extenddb-admin.1");
        let (_, text) = main.expect("the program itself has a page");
        ctx.ui().print_raw(&text)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(directory).with_context(|| format!("cannot make the directory {}", directory.display()))?;
    let mut report = Report { files: Vec::new() };
    for (name, text) in pages {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        report.files.push(path);
    }
    ctx.ui().print(&report, |r| {
        let lines: Vec<_> = r.files.iter().map(|path| path.display().to_string()).collect();
        Page::new().text(lines.join("\n"))
    })?;
    Ok(Exit::Done)
}
