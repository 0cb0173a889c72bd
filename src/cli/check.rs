//! `check`: whether the deployment is as it should be, for a CI job.

use anyhow::Result;
use clap::Args as ClapArgs;

use super::{Access, Context, Exit};
use crate::domain::migration::CatalogVersion;
use crate::ops::migrate::check::{self, CheckOptions};
use crate::ui::Page;

/// Arguments of `check`.
#[derive(ClapArgs)]
pub struct Args {
    /// Let pending migrations pass
    #[arg(long)]
    allow_pending: bool,
    /// Require this catalog version
    #[arg(long, value_name = "VERSION")]
    expect: Option<CatalogVersion>,
}

/// Runs it.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    // An expected version that is reached leaves nothing to be pending up to it.
    let allow_pending = args.allow_pending || args.expect.is_some();
    let report = check::check(&*backend, &CheckOptions { allow_pending, expect: args.expect }).await?;
    ctx.ui().print(&report, |r| {
        if r.ok {
            return Page::new().text("ok\n");
        }
        Page::new().table(
            ["CODE", "FOUND", "HINT"],
            r.findings.iter().map(|f| [f.code.to_owned(), f.message.clone(), f.hint.clone()]),
        )
    })?;
    Ok(match (report.refused, report.ok) {
        (true, _) => Exit::Refused,
        (false, false) => Exit::Difference,
        (false, true) => Exit::Done,
    })
}
