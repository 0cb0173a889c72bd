//! `backup delete` and `backup promote`.

use std::num::NonZeroUsize;

use anyhow::Result;
use serde::Serialize;

use super::{create, exit_of, find};
use crate::cli::{Access, Context, Exit, Failure};
use crate::ops;
use crate::ops::backup::delete::{Deleted, delete};
use crate::ops::backup::promote::promote as promote_backup;
use crate::ui::Page;

/// Arguments of `backup delete`.
#[derive(clap::Args)]
pub struct Args {
    /// Ids or ARNs of the backups
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Only backups of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
}

/// Arguments of `backup promote`.
#[derive(clap::Args)]
pub struct PromoteArgs {
    /// Id or ARN of the legacy backup
    id: String,
    /// Only a backup of this account
    #[arg(long, value_name = "ID")]
    account: Option<String>,
    /// Use at most that many threads [default: one a core, at least 2]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

#[derive(Serialize)]
struct DeleteReport {
    deleted: Vec<Deleted>,
    failed: Vec<FailedDelete>,
}

#[derive(Serialize)]
struct FailedDelete {
    backup: String,
    code: &'static str,
    message: String,
    #[serde(skip)]
    error: ops::Error,
}

/// Runs `backup delete`.
pub async fn run(args: Args, ctx: &Context) -> Result<Exit> {
    let store = match ctx.default_store().await? {
        Some(_) => Some(ctx.store(None).await?),
        None => None,
    };
    let reader = match ctx.has_deployment().await? {
        true => Some(ctx.backend(Access::ReadOnly).await?),
        false => None,
    };
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for id in &args.ids {
        match find(store.as_ref(), reader.as_deref(), args.account.as_deref(), id).await {
            Ok(resolved) => found.push(resolved),
            Err(error) => failed.push(fail(id, error)),
        }
    }
    if !found.is_empty() {
        let names: Vec<String> = found.iter().map(ops::backup::resolve::Resolved::shown).collect();
        ctx.ui().confirm(&format!("Delete {}?", names.join(", ")))?;
    }
    let backend = match reader {
        Some(_) => Some(ctx.backend(Access::Write).await?),
        None => None,
    };
    let mut deleted = Vec::new();
    for resolved in found {
        if ctx.cancel().is_stopped() {
            let error = ops::Error::Interrupted("interrupted before it was deleted".into());
            failed.push(fail(&resolved.shown(), error));
            continue;
        }
        match delete(backend.as_deref(), store.as_ref(), &resolved).await {
            Ok(done) => deleted.push(done),
            Err(error) => failed.push(fail(&resolved.shown(), error)),
        }
    }
    if deleted.is_empty() && failed.len() == 1 {
        return Err(failed.remove(0).error.into());
    }
    let report = DeleteReport { deleted, failed };
    ctx.ui().print(&report, page)?;
    Ok(exit_of(report.deleted.len(), report.failed.iter().map(|f| &f.error)))
}

fn fail(backup: &str, error: ops::Error) -> FailedDelete {
    FailedDelete { backup: backup.to_owned(), code: error.code(), message: error.to_string(), error }
}

fn page(report: &DeleteReport) -> Page {
    let objects = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let mut page = Page::new();
    if !report.deleted.is_empty() {
        let rows = report.deleted.iter().map(|d| [d.arn.clone(), objects(d.objects)]);
        page = page.table(["DELETED", "OBJECTS"], rows);
    }
    if !report.failed.is_empty() {
        let rows = report.failed.iter().map(|f| [f.backup.clone(), f.code.to_owned(), f.message.clone()]);
        page = page.table(["FAILED", "CODE", "MESSAGE"], rows);
    }
    page
}

/// Runs `backup promote`.
pub async fn promote(args: PromoteArgs, ctx: &Context) -> Result<Exit> {
    let store = ctx.store(None).await?;
    let reader = ctx.backend(Access::ReadOnly).await?;
    // Only the catalog is looked at: a promoted backup bears the same id in the store.
    let resolved = find(None, Some(&*reader), args.account.as_deref(), &args.id).await?;
    let Some(legacy) = &resolved.legacy else {
        return Err(Failure::usage(format!("backup {} is no in-catalog backup", resolved.shown()))
            .hint("`extenddb-admin backup list` marks them as legacy")
            .into());
    };
    let run = ctx.run(args.jobs).await?;
    create::finish(promote_backup(&run, &store, legacy).await?, ctx)
}
