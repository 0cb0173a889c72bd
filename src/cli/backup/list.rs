//! `backup list` and `backup describe`.

use anyhow::Result;
use clap::ValueEnum;

use super::create::size;
use super::{anywhere, find};
use crate::cli::{Context, Exit, Failure};
use crate::domain::quantity::parse_duration;
use crate::domain::timestamp::TimestampMs;
use crate::ops::backup::describe::{Description, describe as describe_backup};
use crate::ops::backup::list::{Entry, EntryStatus, ListOptions, ListReport, Source, StatusFilter, list};
use crate::ops::backup::resolve::Places;
use crate::ops::clock;
use crate::ui::Page;

/// Arguments of `backup list`.
#[derive(clap::Args)]
pub struct Args {
    /// Only backups of this table
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// Only backups of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Show backups in this state too, or all [default: what the API shows]
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only backups begun at this time or later: RFC 3339, or an age such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<TimestampMs>,
    /// Only backups begun before this time: RFC 3339, or an age such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<TimestampMs>,
}

/// Arguments of `backup describe`.
#[derive(clap::Args)]
pub struct DescribeArgs {
    /// Id or ARN of the backup
    id: String,
    /// Only a backup of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
}

/// Which states to show.
#[derive(Clone, Copy, ValueEnum)]
#[allow(missing_docs)] // the words are the states
pub enum Status {
    Available,
    Creating,
    Deleting,
    Deleted,
    Failed,
    Damaged,
    Incomplete,
    All,
}

impl From<Status> for StatusFilter {
    fn from(status: Status) -> Self {
        use EntryStatus as S;
        Self::Only(match status {
            Status::Available => S::Available,
            Status::Creating => S::Creating,
            Status::Deleting => S::Deleting,
            Status::Deleted => S::Deleted,
            Status::Failed => S::Failed,
            Status::Damaged => S::Damaged,
            Status::Incomplete => S::Incomplete,
            Status::All => return Self::All,
        })
    }
}

/// A time, or an age counted back from now.
fn parse_time(text: &str) -> Result<TimestampMs, String> {
    if let Ok(age) = parse_duration(text) {
        let age = i64::try_from(age.as_millis()).map_err(|_| format!("{text:?} is too long ago"))?;
        return Ok(TimestampMs(clock::now().0.saturating_sub(age)));
    }
    text.parse().map_err(|_| format!("{text:?} is neither a time (2026-06-01T10:20:30Z) nor an age (7d)"))
}

/// Runs `backup list`.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let (store, backend) = anywhere(ctx).await?;
    let places = Places { store: store.as_ref(), backend: backend.as_deref(), account_id: args.account.as_deref() };
    let options = ListOptions {
        table: args.table,
        status: args.status.map_or(StatusFilter::Visible, StatusFilter::from),
        since: args.since,
        until: args.until,
    };
    let report = list(places, &options).await?;
    ctx.ui().print(&report, page)?;
    for entry in &report.backups {
        for disagreement in &entry.disagreement {
            ctx.ui().warn(&format!("{}: {disagreement}", entry.arn));
        }
    }
    for stray in &report.strays {
        ctx.ui().warn(&format!("the store holds {stray:?}, which cannot be part of a backup"));
    }
    Ok(Exit::Done)
}

fn page(report: &ListReport) -> Page {
    let headers = ["ACCOUNT", "TABLE", "ID", "STATUS", "CREATED", "ITEMS", "SIZE", "SOURCE", ""];
    Page::new().table(headers, report.backups.iter().map(row))
}

fn row(entry: &Entry) -> [String; 9] {
    [
        entry.account_id.clone(),
        entry.table.clone(),
        entry.id.clone(),
        entry.status.word().to_owned(),
        entry.created_at.map(|at| at.to_string()).unwrap_or_default(),
        entry.item_count.map(|n| n.to_string()).unwrap_or_default(),
        entry.size_bytes.map(size).unwrap_or_default(),
        source(entry.source).to_owned(),
        if entry.disagreement.is_empty() { String::new() } else { "(!)".to_owned() },
    ]
}

fn source(source: Source) -> &'static str {
    match source {
        Source::Row => "row",
        Source::Store => "store",
        Source::Legacy => "legacy",
        Source::Both => "both",
    }
}

/// Runs `backup describe`.
pub async fn describe(args: DescribeArgs, ctx: &Context) -> Result<Exit> {
    let (store, backend) = anywhere(ctx).await?;
    let account = args.account.as_deref();
    let resolved = find(store.as_ref(), backend.as_deref(), account, &args.id).await?;
    let places = Places { store: store.as_ref(), backend: backend.as_deref(), account_id: account };
    let report = describe_backup(places, &resolved).await?;
    if report.entry.status == EntryStatus::Incomplete {
        let shown = resolved.shown();
        return Err(Failure::new(
            Exit::NotFound,
            "NOT_FOUND",
            format!("{shown} has no commit record, so it is no backup"),
        )
        .hint("`extenddb-admin backup list --status incomplete` shows what there is of it")
        .into());
    }
    ctx.ui().print(&report, description_page)?;
    Ok(Exit::Done)
}

fn description_page(d: &Description) -> Page {
    let entry = &d.entry;
    let text = |value: Option<String>| value.unwrap_or_default();
    let snapshot = d.snapshot.as_ref().map(|s| format!("{} {}", s.kind, s.marker).trim_end().to_owned());
    let verified = d.verified_ok.map(|ok| {
        let depth = if d.verified_deep == Some(true) { "every item" } else { "stored bytes" };
        let at = d.verified_at.map(|at| at.to_string()).unwrap_or_default();
        format!("{} ({depth}) {at}", if ok { "good" } else { "damaged" })
    });
    let mut page = Page::new().facts([
        ("Backup", entry.arn.clone()),
        ("Id", entry.id.clone()),
        ("Name", text(entry.name.clone())),
        ("Table", format!("{}/{}", entry.account_id, entry.table)),
        ("Store", text(entry.store.clone())),
        ("Source", source(entry.source).to_owned()),
        ("Status", entry.status.word().to_owned()),
        ("Reason", text(d.failure_reason.clone())),
        ("Created", text(entry.created_at.map(|at| at.to_string()))),
        ("Items", text(entry.item_count.map(|n| n.to_string()))),
        ("Size", text(entry.size_bytes.map(size))),
        ("Data files", text(d.data_file_count.map(|n| n.to_string()))),
        ("From", text(d.source_backend.clone())),
        ("Snapshot", text(snapshot)),
        ("Same snapshot", d.same_snapshot.join("\n")),
        ("Checksum", text(d.manifest_sha256.clone())),
        ("Digest", text(d.digest.clone())),
        ("Verified", text(verified)),
        ("Disagreement", entry.disagreement.join("\n")),
        ("Notes", d.notes.join("\n")),
    ]);
    if let Some(table) = &d.source_table {
        let keys = table.key_schema.iter().map(|k| k.attribute_name.as_str()).collect::<Vec<_>>().join(", ");
        let global = table.global_secondary_indexes.iter().flatten().map(|i| format!("{} (global)", i.index_name));
        let local = table.local_secondary_indexes.iter().flatten().map(|i| format!("{} (local)", i.index_name));
        let vector = table.vector_indexes.iter().flatten().map(|i| format!("{} (vector)", i.index_name));
        let indexes = global.chain(local).chain(vector).collect::<Vec<_>>().join("\n");
        page = page.facts([("Key", keys), ("Indexes", indexes)]);
    }
    if !d.findings.is_empty() {
        page = page.table(
            ["FINDING", "OBJECT", "MESSAGE"],
            d.findings.iter().map(|f| [f.category.to_string(), f.object.clone(), f.message.clone()]),
        );
    }
    page
}
