//! `store`: where backups lie.

use anyhow::Result;
use clap::Subcommand;
use serde::Serialize;

use super::{Context, Exit};
use crate::config::SERVER_STORE;
use crate::ops::store::{self, StoreIdentity, StoreReport};
use crate::ui::Page;

/// Commands on stores.
#[derive(Subcommand)]
pub enum Command {
    /// List the stores of the configuration
    List,
    /// Check that a store can be read and written, and look for what does not belong there
    Check {
        /// Store: a name, a path, or s3://BUCKET/PREFIX [default: as for --store]
        #[arg(value_name = "STORE")]
        name: Option<String>,
    },
    /// Give an empty store its identity
    ///
    /// The first backup does the same. A store that has an identity keeps it.
    Init {
        /// Store: a name, a path, or s3://BUCKET/PREFIX [default: as for --store]
        #[arg(value_name = "STORE")]
        name: Option<String>,
    },
    /// Give an identity to a store that holds objects and has none
    Adopt {
        /// Store: a name, a path, or s3://BUCKET/PREFIX [default: as for --store]
        #[arg(value_name = "STORE")]
        name: Option<String>,
    },
}

#[derive(Serialize)]
struct StoreList {
    stores: Vec<StoreRow>,
}

#[derive(Serialize)]
struct StoreRow {
    name: String,
    kind: String,
    root: String,
    default: bool,
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    match command {
        Command::List => list(ctx).await,
        Command::Check { name } => {
            let report = store::check(&ctx.store(name.as_deref()).await?).await?;
            ctx.ui().print(&report, check_page)?;
            Ok(if report.ok { Exit::Done } else { Exit::Difference })
        }
        Command::Init { name } => {
            let report = store::initialise(&ctx.store(name.as_deref()).await?, false).await?;
            ctx.ui().print(&report, identity_page)?;
            Ok(Exit::Done)
        }
        Command::Adopt { name } => {
            let open = ctx.store(name.as_deref()).await?;
            if open.store.identity().await?.is_none() {
                ctx.ui().confirm(&format!("Take {} as a backup store, with all it holds?", open.store.root()))?;
            }
            let report = store::initialise(&open, true).await?;
            ctx.ui().print(&report, identity_page)?;
            Ok(Exit::Done)
        }
    }
}

async fn list(ctx: &Context) -> Result<Exit> {
    let default = ctx.default_store().await?;
    let all = ctx.stores().await?;
    let stores = all.places().map(|(name, place)| StoreRow {
        name: name.to_owned(),
        kind: place.kind.clone(),
        root: place.location(),
        default: default.as_deref() == Some(name),
    });
    let report = StoreList { stores: stores.collect() };
    ctx.ui().print(&report, |r| {
        let mark = |default: bool| if default { "*".to_owned() } else { String::new() };
        let rows = r.stores.iter().map(|s| [s.name.clone(), s.kind.clone(), s.root.clone(), mark(s.default)]);
        Page::new().table(["NAME", "KIND", "ROOT", "DEFAULT"], rows)
    })?;
    if report.stores.is_empty() {
        ctx.ui().note(&format!(
            "no store is configured: write stores into extenddb-admin.yaml, or pass --server-config for its store, \
             which is then called {SERVER_STORE}"
        ));
    }
    Ok(Exit::Done)
}

fn check_page(report: &StoreReport) -> Page {
    let page = Page::new().facts([
        ("Store", report.store.clone()),
        ("Kind", report.kind.clone()),
        ("Root", report.root.clone()),
        ("Id", report.id.clone().unwrap_or_else(|| "none yet".to_owned())),
        ("Check", if report.ok { "good" } else { "needs a hand" }.to_owned()),
        ("Notes", report.notes.join("\n")),
    ]);
    if report.findings.is_empty() {
        return page;
    }
    let rows =
        report.findings.iter().map(|f| [f.code.to_owned(), f.message.clone(), f.hint.clone().unwrap_or_default()]);
    page.table(["CODE", "FOUND", "WHAT TO DO"], rows)
}

fn identity_page(report: &StoreIdentity) -> Page {
    Page::new().facts([
        ("Store", report.store.clone()),
        ("Kind", report.kind.clone()),
        ("Root", report.root.clone()),
        ("Id", report.id.clone()),
        ("Given", if report.created { "just now" } else { "before" }.to_owned()),
    ])
}
