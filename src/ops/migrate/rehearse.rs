//! `migrate rehearse`: the whole run on a copy of the catalog's schema, ledgers and a sample of rows, timed.

use std::sync::Arc;

use serde::Serialize;

use super::apply::{Applied, Run};
use super::gate;
use super::up::{UpOptions, up};
use crate::backend::ledger::Scratch;
use crate::backend::{Backend, registry};
use crate::domain::migration::CatalogVersion;
use crate::ops::{Error, Result};

/// Rows of each table that are copied.
pub const SAMPLE_ROWS: u32 = 1000;

/// How the rehearsal went.
#[derive(Debug, Clone, Serialize)]
pub struct RehearseReport {
    /// Backend.
    pub backend: String,
    /// Version of the real catalog.
    pub from: String,
    /// Tables that were copied.
    pub tables: u64,
    /// Rows that were copied.
    pub rows: u64,
    /// Rows that were left out, as what they refer to is not in the sample.
    pub rows_left_out: u64,
    /// What ran on the copy, with the time each step took.
    pub applied: Vec<Applied>,
    /// Version of the copy afterwards.
    pub version: String,
    /// Its fingerprint, which was compared with the golden one.
    pub fingerprint: String,
}

/// Rehearses on a scratch deployment that `host` makes and that is removed afterwards. The real catalog is only
/// read.
///
/// # Errors
/// Whatever the real run would meet; `PermissionDenied` where no scratch databases may be made.
pub async fn rehearse(run: &Run<'_>, host: &dyn Backend, to: Option<CatalogVersion>) -> Result<RehearseReport> {
    let status = gate::pass(run.backend).await?;
    let from = gate::version(&status).ok_or_else(|| Error::CatalogRefused {
        message: "there is no catalog to rehearse on".to_owned(),
        hint: None,
    })?;
    if host.name() != run.backend.name() {
        return Err(Error::Usage(format!("a {} catalog cannot be rehearsed on {}", run.backend.name(), host.name())));
    }
    let scratch = host.make_scratch().await?;
    let outcome = on_copy(run, &scratch, from, to).await;
    let removed = host.drop_scratch(&scratch).await;
    let report = outcome?;
    removed?;
    Ok(report)
}

async fn on_copy(
    run: &Run<'_>,
    scratch: &Scratch,
    from: CatalogVersion,
    to: Option<CatalogVersion>,
) -> Result<RehearseReport> {
    let copied = run.backend.copy_for_rehearsal(scratch, SAMPLE_ROWS).await?;
    let mut options = scratch.options.clone();
    if copied.data_is_catalog {
        options.data_url = None;
    }
    let entry = registry::by_url(&options.url)?;
    let copy: Arc<dyn Backend> = (entry.open)(options).await?;
    let on_copy = Run { backend: &*copy, ..*run };
    // Nobody else knows the copy: whoever is connected to it is this program.
    let report = up(&on_copy, &UpOptions { to, allow_live: true, ..UpOptions::default() }).await?;
    Ok(RehearseReport {
        backend: report.backend,
        from: from.to_string(),
        tables: copied.tables,
        rows: copied.rows,
        rows_left_out: copied.left_out,
        applied: report.applied,
        version: report.version,
        fingerprint: report.fingerprint,
    })
}
