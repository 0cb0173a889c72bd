//! `backup restore`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use anyhow::Result;
use clap::ValueEnum;

use super::{exit_of, find};
use crate::cli::{Access, Context, Exit, Failure, job};
use crate::domain::job::JobStatus;
use crate::domain::table::{BillingMode, Throughput};
use crate::ops::backup::list::{Entry, EntryStatus, ListOptions, StatusFilter, list};
use crate::ops::backup::resolve::{Places, Resolved};
use crate::ops::job::{JobReport, JobView};
use crate::ops::restore::request::{Overrides, TableRequest, Target};
use crate::ops::restore::{RestoreOptions, RestoreReport, admit, run as run_restore};
use crate::ops::settings::OpenStore;

/// Arguments of `backup restore`.
#[derive(clap::Args)]
pub struct Args {
    /// Ids or ARNs of the backups
    #[arg(value_name = "ID", required_unless_present_any = ["all", "map"], conflicts_with_all = ["all", "map"])]
    ids: Vec<String>,
    /// Name the new table
    #[arg(long = "as", value_name = "TABLE", conflicts_with_all = ["all", "map", "suffix"])]
    target: Option<String>,
    /// Restore the newest backup of every table
    #[arg(long, requires = "suffix")]
    all: bool,
    /// Append this to the names of the tables
    #[arg(long, value_name = "SUFFIX", allow_hyphen_values = true)]
    suffix: Option<String>,
    /// Restore the newest backup of table OLD as NEW; may be given more than once
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_map)]
    map: Vec<(String, String)>,
    /// Account of the backups and of the new tables [default: the backup's]
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Bill the new tables this way
    #[arg(long, value_enum)]
    billing_mode: Option<Billing>,
    /// Read capacity units of the new tables
    #[arg(long, value_name = "UNITS", requires = "write_capacity")]
    read_capacity: Option<i64>,
    /// Write capacity units of the new tables
    #[arg(long, value_name = "UNITS", requires = "read_capacity")]
    write_capacity: Option<i64>,
    /// Make a repeated command return the same job
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Only record the job; `job run` works on it
    #[arg(long)]
    detach: bool,
    /// Use at most that many threads and connections [default: one a core, at least 2]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// How a table is billed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Billing {
    /// Capacity is provisioned
    Provisioned,
    /// On demand
    #[value(alias = "on-demand")]
    PayPerRequest,
}

fn parse_map(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err(format!("{text:?}: expected OLD=NEW")),
    }
}

/// Runs it.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let store = match ctx.default_store().await? {
        Some(_) => Some(ctx.store(None).await?),
        None => None,
    };
    let reader = ctx.backend(Access::ReadOnly).await?;
    let places = Places { store: store.as_ref(), backend: Some(&*reader), account_id: args.account.as_deref() };
    let tables = tables(&args, places).await?;
    let options = RestoreOptions {
        // A legacy backup lies in no store: then none is recorded, named or not.
        store: store.filter(|_| tables.iter().any(|table| !table.legacy)),
        tables,
        named: !args.all,
        overrides: Overrides {
            billing_mode: args.billing_mode.map(|mode| match mode {
                Billing::Provisioned => BillingMode::Provisioned,
                Billing::PayPerRequest => BillingMode::PayPerRequest,
            }),
            throughput: args
                .read_capacity
                .zip(args.write_capacity)
                .map(|(read, write)| Throughput { read_capacity_units: read, write_capacity_units: write }),
        },
        idempotency_key: args.idempotency_key,
        detach: args.detach,
    };
    if options.store.is_none() && options.tables.iter().any(|table| !table.legacy) {
        let _: OpenStore = ctx.store(None).await?;
    }
    let run = ctx.run(args.jobs).await?;
    let admitted = admit(&run, &options).await?;
    let status = admitted.job.status;
    if args.detach || status.is_terminal() {
        ctx.ui().print(&JobReport { job: JobView::from(&admitted.job) }, job::page)?;
        return Ok(exit_of_status(status));
    }
    if admitted.existed {
        ctx.ui().note(&format!("job {} is the same request: it is resumed", admitted.job.id));
    }
    finish(run_restore(&run, &admitted.job.id).await?, ctx)
}

/// Prints a finished run and decides the exit status; shared with whatever resumes a job.
pub fn finish(mut report: RestoreReport, ctx: &Context) -> Result<Exit> {
    let committed = usize::try_from(report.job.tables.committed).unwrap_or(usize::MAX);
    if report.stopped.is_none() && committed == 0 && report.errors.len() == 1 {
        return Err(report.errors.remove(0).into());
    }
    let failures = report.job.failures.clone();
    ctx.ui().print(&JobReport { job: report.job }, job::page)?;
    if let Some(stopped) = report.stopped {
        return Err(stopped.into());
    }
    for failure in failures {
        ctx.ui().warn(&format!("table {} was not restored: {}", failure.table, failure.message));
    }
    Ok(exit_of(committed, report.errors.iter()))
}

fn exit_of_status(status: JobStatus) -> Exit {
    match status {
        JobStatus::Failed => Exit::Failed,
        JobStatus::Cancelled => Exit::Interrupted,
        _ => Exit::Done,
    }
}

/// Which backup becomes which table.
async fn tables(args: &Args, places: Places<'_>) -> Result<Vec<TableRequest>> {
    if args.ids.is_empty() {
        return newest(args, places).await;
    }
    let mut tables = Vec::new();
    for id in &args.ids {
        // An ARN says whose backup it is; the account is then the new table's.
        let owner = places.account_id.filter(|_| !id.starts_with("arn:"));
        let resolved = find(places.store, places.backend, owner, id).await?;
        let (arn, account, table, legacy) = address(places, id, &resolved).await?;
        let name = match (&args.target, &args.suffix) {
            (Some(_), _) if args.ids.len() > 1 => {
                return Err(Failure::usage("--as names one table: use --suffix or --map for several backups").into());
            }
            (Some(name), _) => name.clone(),
            (None, Some(suffix)) => format!("{table}{suffix}"),
            (None, None) => return Err(Failure::usage("name the new table with --as or --suffix").into()),
        };
        let account_id = args.account.clone().unwrap_or(account);
        tables.push(TableRequest { backup_arn: arn, legacy, target: Target { account_id, table_name: name } });
    }
    Ok(tables)
}

/// ARN, account and table of a resolved backup, and whether it is a legacy one.
async fn address(places: Places<'_>, wanted: &str, resolved: &Resolved) -> Result<(String, String, String, bool)> {
    if let (Some(legacy), false) = (&resolved.legacy, resolved.in_store) {
        let table = legacy.table.table_name.clone();
        return Ok((legacy.backup_arn.clone(), legacy.account_id.clone(), table, true));
    }
    if let Some(row) = &resolved.row {
        return Ok((row.key.backup_arn.clone(), row.key.account_id.clone(), row.table_name.clone(), false));
    }
    let prefix = resolved.prefix.as_ref().expect("what is in no row and no catalog lies under a prefix");
    if wanted.starts_with("arn:") {
        return Ok((wanted.to_owned(), prefix.account_id().into(), prefix.table_name().into(), false));
    }
    let options = ListOptions {
        table: Some(prefix.table_name().to_owned()),
        status: StatusFilter::All,
        since: None,
        until: None,
    };
    let only = Places { account_id: Some(prefix.account_id()), ..places };
    let entry = list(only, &options).await?.backups.into_iter().find(|entry| entry.id == prefix.backup_id());
    match entry {
        Some(entry) if entry.arn.starts_with("arn:") => {
            Ok((entry.arn, prefix.account_id().into(), prefix.table_name().into(), false))
        }
        // Without a commit record that can be read there is no region: the restore names what is wrong.
        entry => {
            let why = entry.map(|e| e.disagreement.join("; ")).unwrap_or_default();
            let why = if why.is_empty() { "it has no commit record".to_owned() } else { why };
            Err(Failure::new(Exit::Difference, "BACKUP_REFUSED", format!("backup {prefix} cannot be restored: {why}"))
                .hint("`extenddb-admin backup verify --deep` shows everything that is wrong with it")
                .into())
        }
    }
}

/// The newest backup of each table of `--all`, or of those that `--map` names.
async fn newest(args: &Args, places: Places<'_>) -> Result<Vec<TableRequest>> {
    let options =
        ListOptions { table: None, status: StatusFilter::Only(EntryStatus::Available), since: None, until: None };
    let mut newest: BTreeMap<(String, String), Entry> = BTreeMap::new();
    for entry in list(places, &options).await?.backups {
        // In order of time, so that the last one stays.
        newest.insert((entry.account_id.clone(), entry.table.clone()), entry);
    }
    let map: BTreeMap<&str, &str> = args.map.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
    for old in map.keys() {
        let accounts: Vec<&str> =
            newest.keys().filter(|(_, table)| table == old).map(|(account, _)| account.as_str()).collect();
        match accounts[..] {
            [] => {
                let message = format!("there is no backup of a table {old:?}");
                return Err(Failure::new(Exit::NotFound, "NOT_FOUND", message).into());
            }
            [_] => {}
            _ => {
                return Err(Failure::usage(format!(
                    "table {old:?} was backed up in several accounts: say which with --account ({})",
                    accounts.join(", ")
                ))
                .into());
            }
        }
    }
    let request = |entry: &Entry, name: String| TableRequest {
        backup_arn: entry.arn.clone(),
        legacy: entry.store.is_none(),
        target: Target {
            account_id: args.account.clone().unwrap_or_else(|| entry.account_id.clone()),
            table_name: name,
        },
    };
    Ok(newest
        .values()
        .filter_map(|entry| match (map.get(entry.table.as_str()), &args.suffix) {
            (Some(new), _) => Some(request(entry, (*new).to_owned())),
            (None, Some(suffix)) if args.all => Some(request(entry, format!("{}{suffix}", entry.table))),
            _ => None,
        })
        .collect())
}
