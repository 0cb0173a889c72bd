//! `backup create`.

use std::num::NonZeroUsize;

use anyhow::Result;

use super::exit_of;
use crate::cli::{Context, Exit};
use crate::domain::quantity::{parse_rate, show_duration, show_size};
use crate::ops::backup::plan::Selection;
use crate::ops::backup::{CreateOptions, CreateReport, CreatedBackup, create};
use crate::ui::Page;

/// Arguments of `backup create`.
#[derive(clap::Args)]
pub struct Args {
    /// Tables to back up
    #[arg(value_name = "TABLE", required_unless_present = "all", conflicts_with = "all")]
    tables: Vec<String>,
    /// Back up every table
    #[arg(long)]
    all: bool,
    /// Only tables of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Name the backups [default: TABLE-TIME]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Use at most that many threads and connections [default: one a core, at least 2]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Read at most that many bytes of items a second, for example 50MiB/s
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    rate_limit: Option<u64>,
}

/// Runs it.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let store = ctx.store(None).await?;
    let run = ctx.run(args.jobs).await?;
    let options = CreateOptions {
        selection: if args.all { Selection::All } else { Selection::Named(args.tables) },
        account_id: args.account,
        store,
        name: args.name,
        rate_limit: args.rate_limit,
    };
    finish(create(&run, &options).await?, ctx)
}

/// Prints a report and decides the exit status; shared with `promote`.
pub fn finish(mut report: CreateReport, ctx: &Context) -> Result<Exit> {
    if report.backups.is_empty() && report.stopped.is_none() && report.failed.len() == 1 {
        // One target, one refusal: an error like any other.
        return Err(report.failed.remove(0).error.into());
    }
    ctx.ui().print(&report, page)?;
    if let Some(stopped) = report.stopped.take() {
        return Err(stopped.into());
    }
    for failed in &report.failed {
        ctx.ui().warn(&format!("table {} was not backed up: {}", failed.table, failed.message));
    }
    Ok(exit_of(report.backups.len(), report.failed.iter().map(|failed| &failed.error)))
}

fn page(report: &CreateReport) -> Page {
    let mut page = Page::new();
    if report.backups.is_empty() && report.failed.is_empty() {
        return page.text("There is no table to back up.");
    }
    if let [one] = &report.backups[..]
        && report.failed.is_empty()
    {
        return page.facts(facts(one));
    }
    page = page.table(
        ["TABLE", "ID", "ITEMS", "SIZE", "FILES", "DIGEST"],
        report.backups.iter().map(|b| {
            [
                b.table.clone(),
                b.id.clone(),
                b.item_count.to_string(),
                size(b.size_bytes),
                b.data_file_count.to_string(),
                b.digest.map(|d| d.to_string()).unwrap_or_default(),
            ]
        }),
    );
    if let Some(first) = report.backups.first()
        && report.backups.iter().all(|b| b.snapshot == first.snapshot)
        && report.backups.len() > 1
    {
        page = page.text(format!(
            "All tables were read from one snapshot ({} {}).",
            first.snapshot.kind, first.snapshot.marker
        ));
    }
    if !report.failed.is_empty() {
        page = page.table(
            ["FAILED", "CODE", "MESSAGE"],
            report.failed.iter().map(|f| [f.table.clone(), f.code.to_owned(), f.message.clone()]),
        );
    }
    page
}

fn facts(b: &CreatedBackup) -> Vec<(&'static str, String)> {
    vec![
        ("Backup", b.arn.clone()),
        ("Id", b.id.clone()),
        ("Table", format!("{}/{}", b.account_id, b.table)),
        ("Store", b.store.clone()),
        ("Items", b.item_count.to_string()),
        ("Size", format!("{} in {} data files", size(b.size_bytes), b.data_file_count)),
        ("Digest", b.digest.map(|d| d.to_string()).unwrap_or_default()),
        ("Snapshot", format!("{} {}", b.snapshot.kind, b.snapshot.marker).trim_end().to_owned()),
        ("Took", show_duration(std::time::Duration::from_millis(b.duration_ms))),
    ]
}

/// A size from a commit record.
pub fn size(bytes: i64) -> String {
    u64::try_from(bytes).map_or_else(|_| bytes.to_string(), show_size)
}
