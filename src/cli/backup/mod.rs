//! `backup`: create, list, describe, verify, delete, promote and restore backups.

mod create;
mod list;
mod remove;
pub mod restore;
mod verify;

use std::sync::Arc;

use anyhow::Result;
use clap::Subcommand;

use super::{Access, Context, Exit, Failure};
use crate::cli::context::Backend;
use crate::ops;
use crate::ops::backup::resolve::{Places, Resolved, resolve};
use crate::ops::settings::OpenStore;

/// Commands on backups.
#[derive(Subcommand)]
pub enum Command {
    /// Back tables up into a store
    ///
    /// Each group of tables is read from one snapshot; the commit record of each backup is written last.
    #[command(after_help = "Examples:\n  extenddb-admin backup create Orders --store nightly\n  \
        extenddb-admin backup create --all --store /var/backups/extenddb -o json")]
    Create(create::Args),
    /// List backups: catalog rows, the store, and the catalog's own (legacy) backups
    List(list::Args),
    /// Describe a backup
    Describe(list::DescribeArgs),
    /// Verify backups: manifests, listing and checksums; with --deep every item too
    Verify(verify::Args),
    /// Delete backups
    Delete(remove::Args),
    /// Write an in-catalog (legacy) backup out into a store
    Promote(remove::PromoteArgs),
    /// Restore backups into new tables
    ///
    /// Everything is verified before anything is written. The same command resumes a run that was killed.
    #[command(
        after_help = "Examples:\n  extenddb-admin backup restore 01767229200123-0a0b0c01 --as Orders-restored\n  \
        extenddb-admin backup restore --all --suffix -restored\n  \
        extenddb-admin backup restore --map Orders=Orders2 --map Pets=Pets2"
    )]
    Restore(restore::Args),
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    match command {
        Command::Create(args) => create::run(args, ctx).await,
        Command::List(args) => list::run(args, ctx).await,
        Command::Describe(args) => list::describe(args, ctx).await,
        Command::Verify(args) => verify::run(args, ctx).await,
        Command::Delete(args) => remove::run(args, ctx).await,
        Command::Promote(args) => remove::promote(args, ctx).await,
        Command::Restore(args) => restore::run(args, ctx).await,
    }
}

/// The store and the deployment, each if one is named; at least one must be.
async fn anywhere(ctx: &Context) -> Result<(Option<OpenStore>, Option<Arc<dyn Backend>>)> {
    let store = match ctx.default_store().await? {
        Some(_) => Some(ctx.store(None).await?),
        None => None,
    };
    let backend = match ctx.has_deployment().await? {
        true => Some(ctx.backend(Access::ReadOnly).await?),
        false => None,
    };
    if store.is_none() && backend.is_none() {
        return Err(Failure::new(Exit::Usage, "USAGE", "neither a store nor a deployment was named")
            .hint("pass --store or --url, or set default_store or default_deployment")
            .into());
    }
    Ok((store, backend))
}

async fn find(
    store: Option<&OpenStore>,
    backend: Option<&dyn Backend>,
    account_id: Option<&str>,
    id: &str,
) -> ops::Result<Resolved> {
    resolve(Places { store, backend, account_id }, id).await
}

/// Exit status of several targets: the worst kind of the failures, and 9 when others went well.
fn exit_of<'e>(done: usize, failures: impl Iterator<Item = &'e ops::Error>) -> Exit {
    let exits: Vec<Exit> = failures.map(|error| Failure::from(error).exit).collect();
    let Some(worst) = exits.iter().copied().reduce(Exit::or) else { return Exit::Done };
    if done > 0 { Exit::Partly.or(worst) } else { worst }
}
