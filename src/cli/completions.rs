//! `completions`: prints a completion script.

use anyhow::Result;
use clap_complete::Shell;

use super::{Context, Exit, generate};

/// Arguments.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  extenddb-admin completions bash > /etc/bash_completion.d/extenddb-admin\n  \
    extenddb-admin completions zsh > \"${fpath[1]}/_extenddb-admin\"")]
pub struct Args {
    /// Shell to print it for
    shell: Shell,
}

/// Runs it.
pub fn run(args: &Args, ctx: &Context) -> Result<Exit> {
    ctx.ui().print_raw(&generate::completions(args.shell))?;
    Ok(Exit::Done)
}
