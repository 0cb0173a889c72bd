//! Global flags, the list of commands, one dispatch line each.
//!
//! # How to add a command
//! 1. A file `cli/<command>.rs` with its `clap` arguments (`Args` or `Subcommand`) and
//!    `pub async fn run(args: …, ctx: &Context) -> anyhow::Result<Exit>`.
//! 2. One variant in [`Command`], its doc comment being the help line (imperative, no full stop), and one line
//!    in [`dispatch`].
//!
//! A command turns its arguments into an options struct, calls one operation, and gives the operation's report
//! to [`crate::ui::Ui::print`] with a function that lays it out as a [`crate::ui::Page`]:
//!
//! ```ignore
//! pub async fn run(args: Args, ctx: &Context) -> anyhow::Result<Exit> {
//!     let backend = ctx.backend(Access::ReadOnly).await?;
//!     let report = ops::table::list(&*backend, args.account.as_deref()).await?;
//!     ctx.ui().print(&report, |r| Page::new().table(["NAME", "STATUS"], r.tables.iter().map(row)))?;
//!     Ok(Exit::Done)
//! }
//! ```
//!
//! Errors go up with `?`: [`exit`] knows the exit status, code word and hint of every typed one. What only the
//! command line can see is an [`exit::Failure`]. A report that says "difference" or "partly done" is printed,
//! and the command answers that [`exit::Exit`]. Prompts: [`crate::ui::Ui::confirm`]. Progress and warnings:
//! pass [`Context::observer`]. A writing command gets its signals through [`Context::cancel`]; see
//! [`crate::ops::cancel`].

mod backup;
mod check;
mod completions;
mod config;
pub mod context;
mod demo;
pub mod exit;
pub mod generate;
mod golden;
mod job;
pub mod lineages;
mod man;
mod migrate;
mod schema;
mod signals;
mod store;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub use context::{Access, Context};
pub use exit::{Exit, Failure};

use crate::domain::quantity::parse_duration;
use crate::ops::cancel::{Cancel, Stop};
use crate::ui::{ColorMode, Format, ProgressMode, Ui, UiOptions};

/// Administer ExtendDB deployments: migrations, backups, restores and inspection
#[derive(Parser)]
#[command(name = "extenddb-admin", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command takes.
#[derive(clap::Args, Clone)]
pub struct Globals {
    /// Print results in this form
    #[arg(short, long, global = true, value_enum, default_value_t, value_name = "FORM", help_heading = OUTPUT)]
    pub output: Format,
    /// Show progress in this form, on standard error
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORM", help_heading = OUTPUT)]
    pub progress: ProgressMode,
    /// Use colors
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = OUTPUT)]
    pub color: ColorMode,
    /// Show what this program does, on standard error; twice for details
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = OUTPUT)]
    pub verbose: u8,
    /// Print neither notes nor progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = OUTPUT)]
    pub quiet: bool,
    /// Answer every prompt with yes
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Refuse to prompt
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Wait that long for a lock of the database
    #[arg(long, global = true, value_name = "DURATION", default_value = "10s", value_parser = parse_duration)]
    pub lock_timeout: Duration,
    /// Use the deployment at this URL: sqlite:PATH or postgres://USER@HOST:PORT/CATALOG_DB
    #[arg(long, global = true, env = "EXTENDDB_ADMIN_URL", hide_env_values = true, help_heading = DEPLOYMENT)]
    pub url: Option<String>,
    /// Reach the items at this URL instead of the one that the catalog holds
    #[arg(long, global = true, value_name = "URL", help_heading = DEPLOYMENT)]
    pub data_url: Option<String>,
    /// Use the deployment of this extenddb.toml
    #[arg(long, global = true, value_name = "FILE", help_heading = DEPLOYMENT)]
    pub server_config: Option<PathBuf>,
    /// Use this deployment of the configuration file
    #[arg(long, global = true, value_name = "NAME", env = "EXTENDDB_ADMIN_DEPLOYMENT", hide_env_values = true, help_heading = DEPLOYMENT)]
    pub deployment: Option<String>,
    /// Read this configuration file
    #[arg(long, global = true, value_name = "FILE", env = crate::config::CONFIG_VARIABLE, hide_env_values = true, help_heading = DEPLOYMENT)]
    pub config: Option<PathBuf>,
    /// Use this store: a name of the configuration, a path, or s3://BUCKET/PREFIX
    #[arg(long, global = true, value_name = "STORE", help_heading = DEPLOYMENT)]
    pub store: Option<String>,
}

const OUTPUT: &str = "Output";
const DEPLOYMENT: &str = "Deployment and store";

impl Globals {
    /// What else chooses a deployment beside a URL, and loses; for a warning.
    fn passed_over_for_url(&self) -> Option<String> {
        self.server_config
            .as_ref()
            .map(|path| format!("--server-config {}", path.display()))
            .or_else(|| self.deployment.as_ref().map(|name| format!("deployment {name:?}")))
    }
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Create, list, verify, delete and restore backups
    #[command(subcommand)]
    Backup(backup::Command),
    /// List and show recorded jobs
    #[command(subcommand)]
    Job(job::Command),
    /// Print and compare schemas of catalogs
    #[command(subcommand)]
    Schema(schema::Command),
    /// Build the golden schemas again, and compare or rewrite them
    #[command(subcommand)]
    Golden(golden::Command),
    /// Check in one go that the deployment is as it should be
    Check(check::Args),
    /// Bring the catalog to another version, with proof
    Migrate(migrate::Args),
    /// List, describe and digest tables
    #[command(subcommand)]
    Table(table::Command),
    /// List, check and initialise stores
    #[command(subcommand)]
    Store(store::Command),
    /// Show and check the configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Take a throw-away SQLite deployment through the main job
    ///
    /// Makes a deployment of the oldest release in a temporary folder, migrates it, backs its table up,
    /// verifies the backup, restores it under another name and compares. Shows each command as it would be
    /// typed. Nothing outside the folder is touched, and the folder is removed at the end.
    Demo(demo::Args),
    /// Print a completion script
    Completions(completions::Args),
    /// Print the man page, or write all of them
    Man(man::Args),
}

async fn dispatch(command: Command, ctx: &Context) -> anyhow::Result<Exit> {
    match command {
        Command::Backup(command) => backup::run(command, ctx).await,
        Command::Job(command) => job::run(command, ctx).await,
        Command::Schema(command) => schema::run(command, ctx).await,
        Command::Golden(command) => golden::run(command, ctx).await,
        Command::Check(args) => check::run(args, ctx).await,
        Command::Migrate(args) => migrate::run(args, ctx).await,
        Command::Table(command) => table::run(command, ctx).await,
        Command::Store(command) => store::run(command, ctx).await,
        Command::Config(command) => config::run(command, ctx).await,
        Command::Demo(args) => demo::run(&args, ctx).await,
        Command::Completions(args) => completions::run(&args, ctx),
        Command::Man(args) => man::run(&args, ctx),
    }
}

/// Parses the command line, runs the command and returns the exit status.
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // The flag is looked for by hand, as it also rules the color of help and usage errors.
    let color = match value_of(&args, &["--color"]) {
        Some("always") => clap::ColorChoice::Always,
        Some("never") => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    };
    let parsed = Cli::command().color(color).try_get_matches_from(&args).and_then(|m| Cli::from_arg_matches(&m));
    match parsed {
        Ok(cli) => run(cli).into(),
        Err(error) => usage(&error, &args).into(),
    }
}

fn run(cli: Cli) -> Exit {
    let globals = cli.globals;
    let ui = Ui::new(UiOptions {
        format: globals.output,
        progress: globals.progress,
        color: globals.color,
        yes: globals.yes,
        no_input: globals.no_input,
        quiet: globals.quiet,
        verbose: globals.verbose,
    });
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            ui.error("FAILED", &format!("cannot start the threads of this process: {e}"), None);
            return Exit::Failed;
        }
    };
    let cancel = Cancel::new();
    let ctx = Context::new(globals, ui, cancel);
    let result = runtime.block_on(supervise(cli.command, &ctx));
    let exit = match result {
        Ok(exit) => {
            ctx.ui().finish();
            exit
        }
        Err(error) => {
            let failure = Failure::of(&error);
            ctx.ui().error(failure.code, &failure.message, failure.hint.as_deref());
            failure.exit
        }
    };
    // A dropped command may have left a thread in a blocking call; nobody waits for it.
    runtime.shutdown_background();
    exit
}

/// Runs the command beside the signals. The first one asks it to stop: a command that wrote nothing is
/// dropped, one that undertook to end by itself is waited for. The second one ends the process.
async fn supervise(command: Command, ctx: &Context) -> anyhow::Result<Exit> {
    let mut signals = signals::listen(ctx.ui().asking())?;
    let work = dispatch(command, ctx);
    tokio::pin!(work);
    let name = tokio::select! {
        result = &mut work => return result,
        name = signals.next() => name,
    };
    ctx.cancel().stop(Stop::Signal);
    if !ctx.cancel().is_undertaken() {
        let message = format!("{name}: stopped; nothing was changed");
        return Err(Failure::new(Exit::Interrupted, "INTERRUPTED", message).into());
    }
    ctx.ui().note(&format!("{name}: stopping at the next safe point; once more stops at once"));
    tokio::select! {
        result = &mut work => result,
        name = signals.next() => Err(Failure::new(
            Exit::Interrupted,
            "INTERRUPTED",
            format!("{name}: stopped at once; what was running is left as a kill leaves it"),
        )
        .hint("run the same command again: it takes up or clears what was left")
        .into()),
    }
}

/// Prints a usage error, help or the version. `-o json` is looked for by hand, as parsing failed.
fn usage(error: &clap::Error, args: &[OsString]) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Exit::Failed,
            _ => Exit::Done,
        };
    }
    if value_of(args, &["--output", "-o"]) != Some("json") {
        let _ = error.print();
        return Exit::Usage;
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let (message, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    let hint = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    let ui = Ui::new(UiOptions { format: Format::Json, progress: ProgressMode::None, ..UiOptions::default() });
    ui.error("USAGE", message.trim(), (!hint.is_empty()).then_some(hint.as_str()));
    Exit::Usage
}

/// The value of a flag on a command line that may be wrong: the last one that is given.
fn value_of<'a>(args: &'a [OsString], names: &[&str]) -> Option<&'a str> {
    let words: Vec<_> = args.iter().skip(1).take_while(|a| *a != "--").map(|a| a.to_str().unwrap_or("")).collect();
    let given = |(at, word): (usize, &&'a str)| {
        names.iter().find_map(|name| {
            let rest = word.strip_prefix(name)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(value),
                None if rest.is_empty() => words.get(at + 1).copied(),
                None if name.starts_with("--") => None,
                None => Some(rest),
            }
        })
    };
    words.iter().enumerate().filter_map(given).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_flag_is_found_in_every_spelling_and_the_last_one_counts() {
        let value = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            value_of(&args, &["--output", "-o"]).map(str::to_owned)
        };
        for line in ["x -o json", "x -ojson", "x -o=json", "x --output json", "x --output=json y", "x -o yaml -o json"]
        {
            assert_eq!(value(line).as_deref(), Some("json"), "{line}");
        }
        for line in ["x", "x -- -o json", "x --outputjson", "x -o"] {
            assert_eq!(value(line), None, "{line}");
        }
    }
}
