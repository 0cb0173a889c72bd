//! `golden`: the schemas that migrations end on, built again and compared or written down.

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

use super::{Access, Context, Exit};
use crate::ops::golden::{self, GoldenReport};
use crate::ui::Page;

/// Commands on golden schemas.
#[derive(Subcommand)]
pub enum Command {
    /// Build every version in a scratch database and compare it with its golden schema
    ///
    /// The deployment names the backend, and on PostgreSQL the server on which scratch databases are made; its
    /// own catalog is not touched.
    Check,
    /// Build every version in a scratch database and write its schema into the golden tree
    Bless {
        /// The golden tree
        #[arg(long, value_name = "DIR", default_value = "golden")]
        dir: PathBuf,
    },
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    let backend = ctx.backend(Access::Write).await?;
    let observer = ctx.observer();
    match command {
        Command::Check => {
            let report = golden::check(&*backend, &*observer).await?;
            ctx.ui().print(&report, page)?;
            Ok(if report.ok { Exit::Done } else { Exit::Difference })
        }
        Command::Bless { dir } => {
            let report = golden::bless(&*backend, &dir, &*observer).await?;
            ctx.ui().print(&report, page)?;
            Ok(Exit::Done)
        }
    }
}

fn page(report: &GoldenReport) -> Page {
    let rows = report.versions.iter().map(|v| {
        let verdict = match (&v.written, v.ok) {
            (Some(path), _) => format!("written to {path}"),
            (None, true) => "equal".to_owned(),
            (None, false) if v.differences.is_empty() => "no golden schema".to_owned(),
            (None, false) => format!("{} differences", v.differences.len()),
        };
        [v.lineage.to_string(), v.version.clone(), v.fingerprint.short(), verdict]
    });
    let mut page = Page::new().table(["LINEAGE", "VERSION", "FINGERPRINT", "GOLDEN"], rows);
    for version in report.versions.iter().filter(|v| !v.differences.is_empty()) {
        let lines: Vec<String> = version.differences.iter().map(|d| format!("  {d}")).collect();
        page = page.text(format!("{} {}\n{}", version.lineage, version.version, lines.join("\n")));
    }
    page
}
