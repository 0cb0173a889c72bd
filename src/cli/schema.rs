//! `schema`: schemas of live deployments, golden versions and files, printed and compared.

use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};

use super::context::{Deployment, backend_by_name, backend_of_url};
use super::{Access, Context, Exit, Failure};
use crate::domain::schema::Lineage;
use crate::ops::schema::{self, DiffReport, Side};
use crate::ui::Page;

/// Commands on schemas.
#[derive(Subcommand)]
pub enum Command {
    /// Print the canonical schema of the deployment, or the golden one of a version
    Dump {
        /// Print the golden schema of this version, or of a variant of it (0.0.2-a)
        #[arg(long, value_name = "VERSION")]
        version: Option<String>,
        /// What both commands choose by
        #[command(flatten)]
        choice: Choice,
    },
    /// Compare two schemas; the first one is what is expected
    ///
    /// A and B are each `live` (the deployment), a URL, `golden:VERSION`, or a file that `schema dump` wrote.
    /// Exits 3 when they differ.
    #[command(after_help = "Examples:\n  extenddb-admin schema diff golden:0.0.4 live\n  \
        extenddb-admin schema diff golden:0.0.4 golden:0.0.5 --backend sqlite --format sql\n  \
        extenddb-admin schema diff monday.yaml live -o json")]
    Diff {
        /// What is expected
        a: String,
        /// What is compared with it
        b: String,
        /// Write the differences so; `sql` gives comments that a reviewer can read
        #[arg(long, value_enum, default_value_t, value_name = "FORM")]
        format: DiffFormat,
        /// What both commands choose by
        #[command(flatten)]
        choice: Choice,
    },
}

/// What is looked at.
#[derive(Args, Clone)]
pub struct Choice {
    /// Lineage: catalog, data (the fixed tables of PostgreSQL's data database) or admin (our own tables)
    #[arg(long, value_name = "LINEAGE", default_value = "catalog")]
    lineage: Lineage,
    /// Backend of golden schemas [default: that of the deployment]
    #[arg(long, value_name = "NAME", value_parser = backend_by_name)]
    backend: Option<&'static str>,
}

/// Form of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum DiffFormat {
    /// Lines for people
    #[default]
    Text,
    /// SQL comments for a review
    Sql,
}

/// Runs one.
pub async fn run(command: Command, ctx: &Context) -> Result<Exit> {
    match command {
        Command::Dump { version, choice } => {
            let source = version.map_or_else(|| "live".to_owned(), |v| format!("golden:{v}"));
            let side = load(&source, "", &choice, ctx).await?;
            ctx.ui().print(&side.schema, |schema| Page::new().text(schema.to_yaml().trim_end()))?;
            for extra in &side.extras {
                ctx.ui().note(&format!("beside it: {extra}"));
            }
            Ok(Exit::Done)
        }
        Command::Diff { a, b, format, choice } => {
            let report = schema::diff(load(&a, &b, &choice, ctx).await?, load(&b, &a, &choice, ctx).await?);
            ctx.ui().print(&report, |report| match format {
                DiffFormat::Text => page(report),
                DiffFormat::Sql => Page::new().text(schema::sql_comments(report).trim_end()),
            })?;
            Ok(if report.equal { Exit::Done } else { Exit::Difference })
        }
    }
}

/// Reads one side; `other` is what stands on the other one, which may tell the backend of a golden schema.
async fn load(source: &str, other: &str, choice: &Choice, ctx: &Context) -> Result<Side> {
    if source == "live" {
        let backend = ctx.backend(Access::ReadOnly).await?;
        return Ok(schema::live(&*backend, choice.lineage).await?);
    }
    if let Some(version) = source.strip_prefix("golden:") {
        let backend = match choice.backend {
            Some(name) => name,
            None => golden_backend(other, ctx).await?,
        };
        return Ok(schema::golden(choice.lineage, version, backend)?);
    }
    if backend_of_url(source).is_ok() {
        let deployment = Deployment {
            name: None,
            chosen_by: "the command line".to_owned(),
            url: source.to_owned(),
            data_url: None,
            region: None,
        };
        let backend = ctx.open_url(deployment, true).await?;
        return Ok(schema::live(&*backend, choice.lineage).await?);
    }
    Ok(schema::file(Path::new(source))?)
}

async fn golden_backend(other: &str, ctx: &Context) -> Result<&'static str> {
    if let Ok(name) = backend_of_url(other) {
        return Ok(name);
    }
    if ctx.has_deployment().await? {
        return backend_of_url(&ctx.deployment().await?.url);
    }
    Err(Failure::new(Exit::Usage, "USAGE", "a golden schema belongs to a backend, and none was named")
        .hint("add --backend sqlite, --backend postgres, or a deployment")
        .into())
}

fn page(report: &DiffReport) -> Page {
    let side = |side: &Side| format!("{} (fingerprint {})", side.source, side.fingerprint.short());
    let page = Page::new().facts([("Expected", side(&report.a)), ("Found", side(&report.b))]);
    let mut lines: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
    if report.equal {
        lines.push("no difference".to_owned());
    }
    lines.extend(report.b.extras.iter().map(|extra| format!("beside it: {extra}")));
    page.text(lines.join("\n"))
}
