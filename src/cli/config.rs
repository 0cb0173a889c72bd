//! `config`: what is configured, without a secret, and whether it holds together.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;
use serde::Serialize;

use super::{Context, Exit, Failure};
use crate::config::BackupSettings;
use crate::domain::redact::redact;
use crate::ui::Page;

/// Commands on the configuration.
#[derive(Subcommand)]
pub enum Command {
    /// Print what is in force, with passwords hidden
    Show,
    /// Check files, secrets, bounds and names without connecting anywhere
    Check,
}

#[derive(Serialize)]
struct Shown {
    /// File it was read from.
    config_file: Option<PathBuf>,
    /// The deployment that commands would use.
    deployment: Option<ShownDeployment>,
    /// Deployments of the file.
    deployments: Vec<ShownDeployment>,
    /// Stores of the file and the server.
    stores: Vec<ShownStore>,
    /// The store that commands would use.
    default_store: Option<String>,
    /// Settings in force.
    backup: BackupSettings,
}

#[derive(Serialize)]
struct ShownDeployment {
    name: Option<String>,
    /// What chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_by: Option<String>,
    url: Option<String>,
    data_url: Option<String>,
    server_config: Option<PathBuf>,
    region: Option<String>,
}

#[derive(Serialize)]
struct ShownStore {
    name: String,
    kind: String,
    root: String,
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    match command {
        Command::Show => show(ctx).await,
        Command::Check => check(ctx).await,
    }
}

async fn show(ctx: &Context) -> Result<Exit> {
    let config = ctx.config().await?;
    let deployments = config.deployments.iter().map(|(name, d)| ShownDeployment {
        name: Some(name.clone()),
        chosen_by: None,
        url: d.url.as_deref().map(redact),
        data_url: d.data_url.as_deref().map(redact),
        server_config: d.server_config.clone(),
        region: d.region.clone(),
    });
    let places = ctx.stores().await?;
    let report = Shown {
        config_file: config.path.clone(),
        deployment: chosen(ctx).await?,
        deployments: deployments.collect(),
        stores: places
            .places()
            .map(|(name, place)| ShownStore {
                name: name.to_owned(),
                kind: place.kind.clone(),
                root: redact(&place.location()),
            })
            .collect(),
        default_store: ctx.default_store().await?,
        backup: ctx.backup_settings().await?,
    };
    ctx.ui().print(&report, page)?;
    Ok(Exit::Done)
}

/// The chosen deployment, its URL as it is after secrets were put in and hidden again. One that cannot be
/// resolved is no reason to show nothing.
async fn chosen(ctx: &Context) -> Result<Option<ShownDeployment>> {
    if !ctx.has_deployment().await? {
        return Ok(None);
    }
    let deployment = match ctx.deployment().await {
        Ok(deployment) => deployment,
        Err(error) => {
            ctx.ui().warn(&format!("the chosen deployment cannot be used: {error:#}"));
            return Ok(None);
        }
    };
    Ok(Some(ShownDeployment {
        name: deployment.name,
        chosen_by: Some(deployment.chosen_by),
        url: Some(redact(&deployment.url)),
        data_url: deployment.data_url.as_deref().map(redact),
        server_config: ctx.server_config().await?.map(|server| server.path.clone()),
        region: deployment.region,
    }))
}

fn page(r: &Shown) -> Page {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let path = |value: &Option<PathBuf>| value.as_ref().map(|p| p.display().to_string()).unwrap_or_default();
    let b = &r.backup;
    let mut page = Page::new().facts([
        ("Configuration file", r.config_file.as_ref().map_or_else(|| "none".to_owned(), |p| p.display().to_string())),
        ("Deployment", r.deployment.as_ref().map_or_else(|| "none chosen".to_owned(), |d| text(&d.url))),
        ("Chosen by", r.deployment.as_ref().map(|d| text(&d.chosen_by)).unwrap_or_default()),
        ("Items at", r.deployment.as_ref().map(|d| text(&d.data_url)).unwrap_or_default()),
        ("Server's file", r.deployment.as_ref().map(|d| path(&d.server_config)).unwrap_or_default()),
        ("Region", r.deployment.as_ref().map(|d| text(&d.region)).unwrap_or_default()),
        ("Default store", r.default_store.clone().unwrap_or_else(|| "none".to_owned())),
    ]);
    if !r.deployments.is_empty() {
        let rows = r.deployments.iter().map(|d| {
            let place = if d.url.is_some() { text(&d.url) } else { path(&d.server_config) };
            [text(&d.name), place]
        });
        page = page.table(["DEPLOYMENT", "URL OR SERVER'S FILE"], rows);
    }
    if !r.stores.is_empty() {
        page = page.table(
            ["STORE", "KIND", "ROOT"],
            r.stores.iter().map(|s| [s.name.clone(), s.kind.clone(), s.root.clone()]),
        );
    }
    page.facts([
        ("backup.data_file_target_bytes", b.data_file_target_bytes.to_string()),
        ("backup.heartbeat_interval_secs", b.heartbeat_interval_secs.to_string()),
        ("backup.stale_job_after_secs", b.stale_job_after_secs.to_string()),
        ("backup.failed_row_retention_secs", b.failed_row_retention_secs.to_string()),
        ("backup.reconcile_interval_secs", b.reconcile_interval_secs.to_string()),
        ("backup.max_concurrent_jobs", b.max_concurrent_jobs.to_string()),
        ("backup.spool_path", b.spool_dir().display().to_string()),
    ])
}

async fn check(ctx: &Context) -> Result<Exit> {
    let config = ctx.config().await?;
    let findings: Vec<_> = ctx.problems().await?.iter().map(finding).collect();
    let report = Checked { ok: findings.is_empty(), findings };
    ctx.ui().print(&report, |r| match r.findings.as_slice() {
        [] => Page::new().text(format!("{}: good", config.origin())),
        found => {
            let rows = found.iter().map(|f| [f.code.to_owned(), f.message.clone(), f.hint.clone().unwrap_or_default()]);
            Page::new().table(["CODE", "FOUND", "WHAT TO DO"], rows)
        }
    })?;
    Ok(if report.ok { Exit::Done } else { Exit::Usage })
}

fn finding(error: &anyhow::Error) -> Finding {
    let failure = Failure::of(error);
    Finding { code: failure.code, message: redact(&failure.message), hint: failure.hint }
}
