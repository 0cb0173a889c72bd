//! `backup verify`.

use std::num::NonZeroUsize;

use anyhow::Result;

use super::{anywhere, find};
use crate::cli::{Access, Context, Exit, Failure};
use crate::ops::backup::verify::{VerifyReports, VerifyRun, all, verify};
use crate::ops::settings::default_workers;
use crate::ui::Page;

/// Arguments of `backup verify`.
#[derive(clap::Args)]
pub struct Args {
    /// Ids or ARNs of the backups
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// Verify every backup of the store
    #[arg(long)]
    all: bool,
    /// Parse every item too, and check keys and counts
    #[arg(long)]
    deep: bool,
    /// Only backups of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Look at that many data files at once [default: one a core, at least 2]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// Runs it.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let store = ctx.store(None).await?;
    let (_, reader) = anywhere(ctx).await?;
    let account = args.account.as_deref();
    let mut prefixes = Vec::new();
    if args.all {
        prefixes = all(&store, account).await?;
    }
    for id in &args.ids {
        let resolved = find(Some(&store), reader.as_deref(), account, id).await?;
        let Some(prefix) = resolved.prefix.filter(|_| resolved.legacy.is_none() || resolved.in_store) else {
            return Err(Failure::usage(format!("backup {id} lies in the catalog, not in a store"))
                .hint("`extenddb-admin backup promote` writes it out into a store")
                .into());
        };
        prefixes.push(prefix);
    }
    // The catalog was read already, so opening it for our own records makes nothing new.
    let backend = match reader {
        Some(_) => Some(ctx.backend(Access::Write).await?),
        None => None,
    };
    let settings = ctx.backup_settings().await?;
    let run = VerifyRun {
        store,
        backend,
        deep: args.deep,
        jobs: args.jobs.unwrap_or_else(default_workers).get(),
        spool_dir: settings.spool_dir(),
        observer: ctx.observer(),
        cancel: ctx.cancel().clone(),
    };
    let report = verify(&run, &prefixes).await?;
    ctx.ui().print(&report, page)?;
    Ok(if report.ok() { Exit::Done } else { Exit::Difference })
}

fn page(report: &VerifyReports) -> Page {
    let mut page = Page::new().table(
        ["ID", "BACKUP", "RESULT", "ITEMS", "DIGEST"],
        report.backups.iter().map(|b| {
            [
                b.id.clone(),
                b.arn.clone(),
                if b.ok { "good".to_owned() } else { "damaged".to_owned() },
                b.item_count.map(|n| n.to_string()).unwrap_or_default(),
                b.digest.map(|d| d.to_string()).unwrap_or_default(),
            ]
        }),
    );
    let findings: Vec<_> = report.backups.iter().flat_map(|b| b.findings.iter().map(move |f| (b, f))).collect();
    if !findings.is_empty() {
        page = page.table(
            ["ID", "SEVERITY", "CATEGORY", "OBJECT", "MESSAGE"],
            findings.into_iter().map(|(b, f)| {
                let severity = format!("{:?}", f.severity).to_lowercase();
                [b.id.clone(), severity, f.category.to_string(), f.object.clone(), f.message.clone()]
            }),
        );
    }
    page
}
