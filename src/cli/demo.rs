//! `demo`: a throw-away SQLite deployment taken through the main job.
//!
//! Every step is a command line that is parsed and run as if it had been typed, against a folder of its own
//! that is removed at the end, whatever happens. Only the beginning is made up: the rows that a server of
//! 0.0.2 would have left (see `backend/sqlite/sample.rs`). Configuration and environment of the caller are
//! left out.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use serde::Serialize;
use serde_json::Value;

use super::context::{Context, demo_sample, write_demo_sample};
use super::{Cli, Exit, Failure, dispatch};
use crate::ui::{Format, Page};

/// Arguments.
#[derive(clap::Args)]
pub struct Args {
    /// Keep the folder, to look around in it afterwards
    #[arg(long)]
    keep: bool,
}

#[derive(Serialize)]
struct Report {
    /// Every step succeeded and both digests are equal.
    ok: bool,
    steps: Vec<Step>,
    /// Fingerprint of the migrated catalog.
    fingerprint: Value,
    /// Digest of the table before the backup.
    digest: Value,
    /// Digest of the restored table.
    restored_digest: Value,
    /// The folder, when it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
}

#[derive(Serialize)]
struct Step {
    /// What an operator would type.
    command: String,
    exit: u8,
    report: Value,
}

/// Runs it.
pub async fn run(args: &Args, ctx: &Context) -> Result<Exit> {
    let folder = Folder::new(args.keep)?;
    let mut demo = Demo { ctx, folder: &folder.path, steps: Vec::new() };
    let result = demo.play().await;
    let steps = demo.steps;
    let (fingerprint, digest, restored_digest) = result?;
    let report = Report {
        ok: digest == restored_digest,
        steps,
        fingerprint,
        digest,
        restored_digest,
        kept: args.keep.then(|| folder.path.clone()),
    };
    if ctx.ui().format() != Format::Table {
        ctx.ui().print(&report, |_| Page::new())?;
    }
    Ok(if report.ok { Exit::Done } else { Exit::Difference })
}

struct Demo<'a> {
    ctx: &'a Context,
    folder: &'a Path,
    steps: Vec<Step>,
}

impl Demo<'_> {
    async fn play(&mut self) -> Result<(Value, Value, Value)> {
        let (version, table) = demo_sample();
        let config = self.folder.join("extenddb-admin.yaml");
        let (database, store) = (self.folder.join("extenddb.sqlite"), self.folder.join("backups"));
        std::fs::create_dir(&store).with_context(|| format!("cannot make {}", store.display()))?;
        let yaml = format!(
            "default_deployment: demo\ndeployments:\n  demo: {{ url: {} }}\nstores:\n  nightly: {{ kind: filesystem, \
             root: {} }}\ndefault_store: nightly\n",
            Value::from(format!("sqlite:{}", database.display())),
            Value::from(store.display().to_string()),
        );
        std::fs::write(&config, yaml).with_context(|| format!("cannot write {}", config.display()))?;
        self.say(&format!("A deployment of {version} with one table, in {}.\n", self.folder.display()))?;
        self.say(&format!("\n$ export {}={}\n", crate::config::CONFIG_VARIABLE, config.display()))?;
        self.step(&["migrate", "up", "--to", version, "--yes"]).await?;
        write_demo_sample(&self.context()?).await?;
        self.say(&format!("(Then a server ran, and left the table {table}.)\n"))?;
        self.step(&["table", "list"]).await?;

        self.say("\nBring the catalog to the newest version, with proof.\n")?;
        self.step(&["migrate", "status"]).await?;
        let migrated = self.step(&["migrate", "--yes"]).await?;
        self.step(&["migrate", "verify"]).await?;

        self.say("\nBack the table up, and check every byte and every item of the backup.\n")?;
        let before = self.step(&["table", "digest", table]).await?;
        let created = self.step(&["backup", "create", table]).await?;
        let Some(id) = created["backups"][0]["id"].as_str().map(str::to_owned) else {
            bail!("the backup has no id: {created}");
        };
        self.step(&["backup", "list"]).await?;
        self.step(&["backup", "verify", "--deep", &id]).await?;

        self.say("\nRestore it under another name, and compare.\n")?;
        let restored = format!("{table}-restored");
        self.step(&["backup", "restore", &id, "--as", &restored]).await?;
        let after = self.step(&["table", "digest", &restored]).await?;
        let same = if before["digest"] == after["digest"] {
            "Both tables have the same digest: they hold the same items."
        } else {
            "The digests differ: this is a fault of the program, please report it."
        };
        self.say(&format!("\n{same}\n"))?;
        Ok((migrated["fingerprint"].clone(), before["digest"].clone(), after["digest"].clone()))
    }

    /// Parses and runs one command line, shows it with what it printed, and answers its report.
    async fn step(&mut self, words: &[&str]) -> Result<Value> {
        self.ctx.cancel().check()?;
        let command = format!("extenddb-admin {}", words.join(" "));
        self.say(&format!("\n$ {command}\n"))?;
        let cli = Cli::try_parse_from(std::iter::once("extenddb-admin").chain(words.iter().copied()))
            .with_context(|| format!("cannot parse {command:?}"))?;
        let inner = self.context()?;
        // Boxed: a command that runs commands would be a future that holds itself.
        let exit = Box::pin(dispatch(cli.command, &inner)).await.with_context(|| command.clone())?;
        let captured = inner.ui().take_captured();
        for kept in &captured {
            self.say(&kept.text)?;
        }
        let report = captured.into_iter().next_back().map(|kept| kept.report).unwrap_or_default();
        self.steps.push(Step { command: command.clone(), exit: exit.code(), report: report.clone() });
        if exit != Exit::Done {
            let message = format!("{command}: ended with exit status {}", exit.code());
            return Err(Failure::new(exit, "DEMO_STEP", message).into());
        }
        Ok(report)
    }

    /// What a command would work with in a shell where only the demonstration's configuration is set.
    fn context(&self) -> Result<Context> {
        let config = self.folder.join("extenddb-admin.yaml");
        let plain =
            Cli::try_parse_from(["extenddb-admin", "demo"]).context("cannot parse the demonstration's flags")?;
        Ok(self.ctx.within(plain.globals, config))
    }

    /// A line of the story, in the form for people only.
    fn say(&self, text: &str) -> Result<()> {
        if self.ctx.ui().format() == Format::Table {
            self.ctx.ui().print_raw(text.as_bytes())?;
        }
        Ok(())
    }
}

/// A folder of our own, removed when dropped.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    fn new(keep: bool) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("extenddb-admin-demo-{}", uuid::Uuid::new_v4().simple()));
        std::fs::create_dir(&path).with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self { path, keep })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // A folder that cannot be removed is in the system's place for temporary files, and named there.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
