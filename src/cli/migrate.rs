//! `migrate`: the catalog's versions, up and down.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};

use super::context::Deployment;
use super::{Access, Context, Exit, Failure, lineages};
use crate::domain::migration::CatalogVersion;
use crate::domain::quantity::{parse_duration, show_duration, show_size};
use crate::ops::migrate::SessionOptions;
use crate::ops::migrate::apply::Run;
use crate::ops::migrate::history::{self, HistoryReport};
use crate::ops::migrate::plan::{Plan, PlannedMigration, PlannedStep};
use crate::ops::migrate::rehearse;
use crate::ops::migrate::repair::{self, RepairPlan};
use crate::ops::migrate::up::{self, UpOptions, UpReport, WAY_BACK};
use crate::ops::migrate::{adopt, down, status};
use crate::ui::Page;

/// Arguments of `migrate`.
#[derive(ClapArgs)]
pub struct Args {
    /// Another command than `up`.
    #[command(subcommand)]
    command: Option<Command>,
    /// Those of `up`, which is what happens without a command.
    #[command(flatten)]
    up: UpArgs,
}

/// Commands on migrations.
#[derive(Subcommand)]
enum Command {
    /// Apply what is pending; the same as without a command
    Up(UpArgs),
    /// Show each step that would run, with its lock and its cost
    Plan(PlanArgs),
    /// Take the newest version back, where that loses nothing that matters
    Down(DownArgs),
    /// Say which version every lineage is at, what is pending and what is wrong
    Status,
    /// Compare the live catalog with its golden schema
    Verify,
    /// List what was applied, by whom and when
    History,
    /// Bring a drifted catalog back where that cannot lose data
    Repair(RepairArgs),
    /// Run the migration on a scratch copy first, timed
    Rehearse(RehearseArgs),
    /// Write into our ledger what a catalog already has, if it is exactly a released version
    Adopt,
}

/// Arguments of `migrate up`.
#[derive(ClapArgs, Clone, Default, PartialEq)]
struct UpArgs {
    /// Stop at this catalog version
    #[arg(long, value_name = "VERSION")]
    to: Option<CatalogVersion>,
    /// Show the plan; the database is told to refuse writes
    #[arg(long)]
    dry_run: bool,
    /// Go on although servers are connected
    #[arg(long)]
    allow_live: bool,
    /// Cross a version whose upstream body is only inferred
    #[arg(long)]
    accept_inferred: bool,
    /// Write a checked dump of the catalog into this folder first
    #[arg(long, value_name = "DIR")]
    dump_to: Option<PathBuf>,
    /// End a statement that runs longer
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    statement_timeout: Option<Duration>,
}

/// Arguments of `migrate plan`.
#[derive(ClapArgs)]
struct PlanArgs {
    /// Stop at this catalog version
    #[arg(long, value_name = "VERSION")]
    to: Option<CatalogVersion>,
}

/// Arguments of `migrate down`.
#[derive(ClapArgs)]
struct DownArgs {
    /// Go on although servers are connected
    #[arg(long)]
    allow_live: bool,
}

/// Arguments of `migrate rehearse`.
#[derive(ClapArgs)]
struct RehearseArgs {
    /// Stop at this catalog version
    #[arg(long, value_name = "VERSION")]
    to: Option<CatalogVersion>,
    /// Make the scratch copy on this server instead of the catalog's own
    #[arg(long, value_name = "URL")]
    scratch: Option<String>,
}

/// Arguments of `migrate repair`.
#[derive(ClapArgs)]
struct RepairArgs {
    /// Show what would be done; the database is told to refuse writes
    #[arg(long)]
    dry_run: bool,
    /// Record that the body of this applied migration was changed on purpose
    #[arg(long, value_name = "NAME")]
    accept: Vec<String>,
}

/// Runs one.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let Some(command) = args.command else { return run_up(args.up, ctx).await };
    if args.up != UpArgs::default() {
        return Err(
            Failure::usage("flags of `migrate up` stand before another command of migrate: put them after it").into()
        );
    }
    match command {
        Command::Up(up) => run_up(up, ctx).await,
        Command::Plan(plan) => show_plan(plan.to, ctx).await,
        Command::Down(down) => run_down(&down, ctx).await,
        Command::Status => show_status(ctx).await,
        Command::Verify => verify(ctx).await,
        Command::History => show_history(ctx).await,
        Command::Repair(repair) => run_repair(repair, ctx).await,
        Command::Rehearse(args) => run_rehearse(args, ctx).await,
        Command::Adopt => run_adopt(ctx).await,
    }
}

async fn show_status(ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    let report = status::status(&*backend).await?;
    ctx.ui().print(&report, lineages::page)?;
    Ok(Exit::Done)
}

async fn verify(ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    let report = status::status(&*backend).await?;
    ctx.ui().print(&report, lineages::page)?;
    if report.refused().is_some() {
        return Ok(Exit::Refused);
    }
    repair::refuse_edited(&*backend).await?;
    Ok(if report.has_drift() { Exit::Difference } else { Exit::Done })
}

async fn run_down(args: &DownArgs, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::Write).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let options = session_options(ctx, None);
    let stores = ctx.stores().await?;
    let plan = down::preview(&run, &stores, &options).await?;
    for step in &plan.steps {
        ctx.ui().note(&format!("step {}", step.step));
    }
    for loss in &plan.loses {
        let more = if loss.count > loss.names.len() { ", …" } else { "" };
        ctx.ui().warn(&format!("lost: {} {}: {}{more}", loss.count, loss.what, loss.names.join(", ")));
    }
    ctx.ui().confirm(&format!("Take {} back from {} to {}?", backend.location(), plan.from, plan.to))?;
    let report = down::down(&run, &stores, &options, args.allow_live).await?;
    ctx.ui().print(&report, |r| {
        Page::new().facts([
            ("from", r.from.clone()),
            ("version", r.version.clone()),
            ("fingerprint", r.fingerprint.clone()),
        ])
    })?;
    Ok(Exit::Done)
}

async fn run_repair(args: RepairArgs, ctx: &Context) -> Result<Exit> {
    if args.dry_run {
        let backend = ctx.backend(Access::ReadOnly).await?;
        ctx.ui().print(&repair::look(&*backend).await?, repair_page)?;
        return Ok(Exit::Done);
    }
    let backend = ctx.backend(Access::Write).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let options = session_options(ctx, None);
    if !args.accept.is_empty() {
        let mut accepted = Vec::new();
        for name in &args.accept {
            accepted.push(repair::accept(&run, name, &options).await?);
        }
        ctx.ui().print(&serde_json::json!({ "accepted": accepted }), |_| {
            Page::new().text(accepted.iter().map(|e| format!("accepted: {e}\n")).collect::<String>())
        })?;
        return Ok(Exit::Done);
    }
    let plan = repair::look(&*backend).await?;
    if !plan.steps.is_empty() {
        for step in &plan.steps {
            ctx.ui().note(&format!("{} {}: {}", step.lineage, step.object, step.action));
        }
        ctx.ui().confirm(&format!("Repair {} objects of {}?", plan.steps.len(), backend.location()))?;
    }
    let report = repair::repair(&run, &options).await?;
    ctx.ui().print(&report, |r| {
        if r.repaired.is_empty() {
            return Page::new().text("nothing to repair\n");
        }
        Page::new()
            .text(r.repaired.iter().map(|object| format!("repaired: {object}\n")).collect::<String>())
            .facts([("fingerprint", r.fingerprint.clone())])
    })?;
    Ok(Exit::Done)
}

fn repair_page(plan: &RepairPlan) -> Page {
    if plan.steps.is_empty() {
        return Page::new().text("nothing to repair\n");
    }
    let rows = plan.steps.iter().map(|s| [s.lineage.to_string(), s.object.clone(), s.action.clone()]);
    Page::new().table(["LINEAGE", "OBJECT", "STATEMENT"], rows)
}

async fn run_rehearse(args: RehearseArgs, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    // The catalog itself is opened for reading only; the scratch copy must be made somewhere.
    let chosen = match args.scratch {
        Some(url) => Deployment { name: None, chosen_by: "--scratch".to_owned(), url, data_url: None, region: None },
        None => ctx.deployment().await?,
    };
    let host = ctx.open_url(chosen, false).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let report = rehearse::rehearse(&run, &*host, args.to).await?;
    ctx.ui().print(&report, |r| {
        let rows = r.applied.iter().flat_map(|a| {
            a.steps.iter().map(move |s| {
                [a.lineage.to_string(), a.version.clone(), s.step.clone(), format!("{} ms", s.duration_ms)]
            })
        });
        Page::new().table(["LINEAGE", "VERSION", "STEP", "TOOK"], rows).facts([
            ("copied", format!("{} rows of {} tables, {} left out", r.rows, r.tables, r.rows_left_out)),
            ("from", r.from.clone()),
            ("version", r.version.clone()),
            ("fingerprint", r.fingerprint.clone()),
        ])
    })?;
    Ok(Exit::Done)
}

async fn run_adopt(ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::Write).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let report = adopt::adopt(&run, &session_options(ctx, None)).await?;
    ctx.ui().print(&report, |r| {
        if r.adopted.is_empty() {
            return Page::new().text("nothing to adopt: our ledger has it all\n");
        }
        let rows = r.adopted.iter().map(|a| [a.lineage.to_string(), a.version.clone(), a.name.clone()]);
        Page::new().table(["LINEAGE", "VERSION", "NAME"], rows)
    })?;
    Ok(Exit::Done)
}

/// Locks and limits from the flags.
fn session_options(ctx: &Context, statement_timeout: Option<Duration>) -> SessionOptions {
    let default = SessionOptions::default();
    SessionOptions {
        lock_deadline: ctx.globals().lock_timeout,
        statement_timeout: statement_timeout.unwrap_or(default.statement_timeout),
        ..default
    }
}

async fn show_plan(to: Option<CatalogVersion>, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let plan = up::look(&run, to).await?;
    ctx.ui().print(&plan, plan_page)?;
    Ok(Exit::Done)
}

async fn run_up(args: UpArgs, ctx: &Context) -> Result<Exit> {
    if args.dry_run {
        return show_plan(args.to, ctx).await;
    }
    let backend = ctx.backend(Access::Write).await?;
    let observer = ctx.observer();
    let who = ctx.who();
    let run = Run { backend: &*backend, applied_by: &who, observer: &*observer, cancel: ctx.cancel() };
    let plan = up::look(&run, args.to).await?;
    if !plan.is_empty() {
        announce(&plan, ctx);
        let from = plan.from.map_or_else(|| "an empty database".to_owned(), |v| v.to_string());
        ctx.ui().confirm(&format!("Migrate {} from {from} to {}?", backend.location(), plan.to))?;
    }
    let options = UpOptions {
        to: args.to,
        allow_live: args.allow_live,
        dump_to: args.dump_to,
        session: session_options(ctx, args.statement_timeout),
    };
    let report = up::up(&run, &options).await?;
    if report.fresh {
        observer.note(
            "the catalog is new: it has no encryption key, no account and no administrator; \
             the server's own init or its administration makes those",
        );
    }
    ctx.ui().print(&report, up_page)?;
    Ok(Exit::Done)
}

/// Says on standard error what will be done, before anybody is asked.
fn announce(plan: &Plan, ctx: &Context) {
    for migration in &plan.migrations {
        let breaking = if migration.breaking && plan.from.is_some() { ", breaking for a running server" } else { "" };
        let what = format!(
            "{} {} ({}): {} steps{breaking}",
            migration.lineage,
            migration.version,
            migration.name,
            migration.steps.len()
        );
        ctx.ui().note(&what);
        for step in migration.steps.iter().filter(|s| plan.from.is_some() && s.drops.is_some()) {
            ctx.ui().warn(&format!("{} drops {}", step.step, step.drops.as_deref().unwrap_or_default()));
        }
    }
    for notice in plan.notices() {
        ctx.ui().warn(notice);
    }
    if plan.is_breaking() {
        ctx.ui().note(&format!("the way back is {WAY_BACK}"));
    }
}

fn up_page(report: &UpReport) -> Page {
    if report.applied.is_empty() {
        return Page::new().text(format!("nothing to do: the catalog is at {}\n", report.version));
    }
    let rows = report.applied.iter().map(|a| {
        [
            a.lineage.to_string(),
            a.version.clone(),
            a.name.clone(),
            a.steps.len().to_string(),
            format!("{} ms", a.duration_ms),
        ]
    });
    Page::new().table(["LINEAGE", "VERSION", "NAME", "STEPS", "TOOK"], rows).facts([
        ("version", report.version.clone()),
        ("fingerprint", report.fingerprint.clone()),
        ("dump", report.dump.clone().unwrap_or_default()),
    ])
}

fn plan_page(plan: &Plan) -> Page {
    if plan.is_empty() {
        return Page::new().text(format!("nothing to do: the catalog is at {}\n", plan.to));
    }
    let from = plan.from.map_or_else(|| "an empty database".to_owned(), |v| v.to_string());
    let mut page = Page::new().text(format!("{} from {from} to {}\n", plan.backend, plan.to));
    for migration in &plan.migrations {
        page = page.text(plan_text(migration));
    }
    page
}

fn plan_text(migration: &PlannedMigration) -> String {
    let completes = if migration.completes { ", brings up what this catalog lacks" } else { "" };
    let breaking = if migration.breaking { ", breaking for a running server" } else { "" };
    let mut text = format!(
        "{} {} ({}): {}{completes}{breaking}\n",
        migration.lineage, migration.version, migration.name, migration.summary
    );
    if let Some(notice) = &migration.notice {
        text.push_str(&format!("  note: {}\n", notice.trim()));
    }
    for step in &migration.steps {
        text.push_str(&step_text(step));
    }
    text
}

fn step_text(step: &PlannedStep) -> String {
    use crate::domain::migration::{Place, Work};
    let mut facts = vec![format!("lock: {}", step.lock)];
    let table = step.touches.as_deref().unwrap_or("its table");
    match step.work {
        Work::None => {}
        Work::Scan => facts.push(format!("scans {table}")),
        Work::Rewrite => facts.push(format!("rewrites rows of {table}")),
    }
    if let Some(rows) = step.estimated_rows {
        let bytes = step.estimated_bytes.map(|b| format!(", {}", show_size(b))).unwrap_or_default();
        facts.push(format!("about {rows} rows{bytes}"));
    }
    if step.on == Place::Data {
        facts.push("in the data database".to_owned());
    }
    if step.alone {
        facts.push("outside a transaction".to_owned());
    }
    if step.breaking {
        facts.push("breaking".to_owned());
    }
    if let Some(drops) = &step.drops {
        facts.push(format!("drops {drops}"));
    }
    let action: String = step.action.lines().map(|line| format!("      {line}\n")).collect();
    format!("  - {} [{}]\n{action}", step.step, facts.join("; "))
}

async fn show_history(ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::ReadOnly).await?;
    let report = history::history(&*backend).await?;
    ctx.ui().print(&report, history_page)?;
    Ok(Exit::Done)
}

fn history_page(report: &HistoryReport) -> Page {
    let rows = report.entries.iter().map(|e| {
        let took = match e.finished_at {
            Some(end) => show_duration(Duration::from_millis(u64::try_from(end.0 - e.started_at.0).unwrap_or(0))),
            None => "interrupted".to_owned(),
        };
        let short = |f: &Option<String>| f.as_ref().map(|f| f.chars().take(12).collect()).unwrap_or_default();
        [
            e.lineage.to_string(),
            e.version.clone(),
            e.name.clone(),
            e.outcome.word().to_owned(),
            e.started_at.to_string(),
            took,
            e.applied_by.clone(),
            e.tool_version.clone(),
            short(&e.fingerprint_before),
            short(&e.fingerprint_after),
        ]
    });
    let headers = ["LINEAGE", "VERSION", "NAME", "OUTCOME", "STARTED", "TOOK", "BY", "TOOL", "BEFORE", "AFTER"];
    let server = report.server.iter().map(|r| [r.ledger.clone(), r.row.clone(), r.applied_at.clone()]);
    Page::new().table(headers, rows).table(["SERVER'S LEDGER", "ROW", "APPLIED"], server)
}
