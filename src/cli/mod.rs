//! Global flags, the list of commands, one dispatch line each.
//!
//! # How to add a command
//! 1. A file `cli/<command>.rs` with its `clap` arguments (`Args` or `Subcommand`) and
//!    `pub async fn run(args: …, ctx: &Context) -> anyhow::Result<Exit>`.
//! 2. One variant in [`Command`], its doc comment being the help line (imperative, no full stop), and one line
//!    in `dispatch`.
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
mod run;
mod schema;
mod signals;
mod store;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

pub use context::{Access, Context};
pub use exit::{Exit, Failure};
pub use run::main;

use crate::domain::quantity::parse_duration;
use crate::ui::{ColorMode, Format, ProgressMode};

macro_rules! examples {
    () => {
        "\
Examples:
  extenddb-admin demo
  extenddb-admin migrate plan --url sqlite:./extenddb.db
  extenddb-admin migrate --server-config /etc/extenddb/extenddb.toml
  extenddb-admin backup create --all --store nightly
  extenddb-admin backup restore 01767229200123-0a0b0c01 --as Orders-restored"
    };
}

const LONG_HELP: &str = concat!(
    examples!(),
    "\n\n\
Exit status:
  0    done, or nothing to do
  1    it failed: the message says what was left, and what to run next
  2    usage or configuration
  3    a check found a difference
  4    the catalog is refused: newer than this program, unrecognised, or to be migrated first
  5    busy: a claim, lock or bound stands in the way
  6    no such table, backup, job or store
  7    conflict: the target exists, or an idempotency key was used with another request
  8    fenced: this run lost its claim and wrote nothing after that
  9    partly done: of several targets some failed
  130  interrupted or cancelled

Configuration file: --config, else ./extenddb-admin.yaml, else $XDG_CONFIG_HOME/extenddb-admin/config.yaml.
The deployment is chosen by --url, --server-config, --deployment or default_deployment, in this order."
);

/// Administer ExtendDB deployments: migrations, backups, restores and inspection
#[derive(Parser)]
#[command(name = "extenddb-admin", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, max_term_width = 100, after_help = examples!(), after_long_help = LONG_HELP)]
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
    /// Bring the catalog to another version, with proof
    Migrate(migrate::Args),
    /// Check in one go that the deployment is as it should be
    Check(check::Args),
    /// Print and compare schemas of catalogs
    #[command(subcommand)]
    Schema(schema::Command),
    /// Build the golden schemas again, and compare or rewrite them
    #[command(subcommand)]
    Golden(golden::Command),
    /// Create, list, verify, delete and restore backups
    #[command(subcommand)]
    Backup(backup::Command),
    /// List and show recorded jobs
    #[command(subcommand)]
    Job(job::Command),
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
        Command::Migrate(args) => migrate::run(args, ctx).await,
        Command::Check(args) => check::run(args, ctx).await,
        Command::Schema(command) => schema::run(command, ctx).await,
        Command::Golden(command) => golden::run(command, ctx).await,
        Command::Backup(command) => backup::run(command, ctx).await,
        Command::Job(command) => job::run(command, ctx).await,
        Command::Table(command) => table::run(command, ctx).await,
        Command::Store(command) => store::run(command, ctx).await,
        Command::Config(command) => config::run(command, ctx).await,
        Command::Demo(args) => demo::run(&args, ctx).await,
        Command::Completions(args) => completions::run(&args, ctx),
        Command::Man(args) => man::run(&args, ctx),
    }
}
