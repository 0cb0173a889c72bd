//! Golden schemas: what migrations make of an empty database, written down or compared.
//!
//! Everything is built in a scratch deployment beside the one that is given, step by step and without
//! looking at the golden schemas that are there, so that a change of a body shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::backend::ledger::{MigrationSession, Scratch, SessionOptions};
use crate::backend::{Backend, registry};
use crate::domain::difference::Difference;
use crate::domain::fingerprint::Fingerprint;
use crate::domain::migration::Migration;
use crate::domain::schema::{Lineage, Schema};
use crate::migrations;
use crate::ops::migrate::status::known;
use crate::ops::observer::Observer;
use crate::ops::{Error, Result};

/// First line of a golden file.
const HEADER: &str = "# What the migrations make of an empty database; `extenddb-admin golden bless` writes it.\n";

/// One version as it was built.
pub struct Built {
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Its schema.
    pub schema: Schema,
}

/// One version, built and compared.
#[derive(Debug, Clone, Serialize)]
pub struct GoldenVersion {
    /// Lineage.
    pub lineage: Lineage,
    /// Version.
    pub version: String,
    /// Fingerprint of what was built.
    pub fingerprint: Fingerprint,
    /// Whether there is a golden schema and it is equal.
    pub ok: bool,
    /// How it differs from the golden schema.
    pub differences: Vec<Difference>,
    /// The file that was written, by `bless`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

/// Every version of a backend.
#[derive(Debug, Clone, Serialize)]
pub struct GoldenReport {
    /// Backend.
    pub backend: &'static str,
    /// Whether all are equal.
    pub ok: bool,
    /// The versions, in the order they were built.
    pub versions: Vec<GoldenVersion>,
}

/// Builds every version from nothing and compares it with its golden schema.
///
/// # Errors
/// Database errors; differences are in the report.
pub async fn check(backend: &dyn Backend, observer: &dyn Observer) -> Result<GoldenReport> {
    let built = build(backend, observer).await?;
    report(backend, &built)
}

/// Builds every version from nothing and writes it under `folder`.
///
/// # Errors
/// Database errors; `Usage` when the folder is no golden tree.
pub async fn bless(backend: &dyn Backend, folder: &Path, observer: &dyn Observer) -> Result<GoldenReport> {
    if !folder.join("catalog/recognition.yaml").exists() {
        return Err(Error::Usage(format!(
            "{} holds no golden schemas (there is no catalog/recognition.yaml in it): run it from the project's folder, or name the folder with --dir",
            folder.display()
        )));
    }
    let built = build(backend, observer).await?;
    let mut report = report(backend, &built)?;
    for (version, built) in report.versions.iter_mut().zip(&built) {
        let path = path_of(folder, built, backend.name());
        let text = format!("{HEADER}{}", built.schema.to_yaml());
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        let failed = |e: std::io::Error| Error::Failed(format!("cannot write {}: {e}", path.display()));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, text).map_err(failed)?;
        version.written = Some(path.display().to_string());
    }
    Ok(report)
}

fn path_of(folder: &Path, built: &Built, backend: &str) -> PathBuf {
    folder.join(built.lineage.word()).join(&built.version).join(format!("{backend}.yaml"))
}

fn report(backend: &dyn Backend, built: &[Built]) -> Result<GoldenReport> {
    let mut versions = Vec::new();
    for b in built {
        let golden = migrations::golden(b.lineage, &b.version, backend.name());
        let golden = golden.map(Schema::from_yaml).transpose().map_err(Error::Failed)?;
        let differences = golden.as_ref().map(|g| Schema::diff(g, &b.schema)).unwrap_or_default();
        versions.push(GoldenVersion {
            lineage: b.lineage,
            version: b.version.clone(),
            fingerprint: Fingerprint::of(&b.schema),
            ok: golden.is_some() && differences.is_empty(),
            differences,
            written: None,
        });
    }
    Ok(GoldenReport { backend: backend.name(), ok: versions.iter().all(|v| v.ok), versions })
}

/// Builds every version of every lineage in scratch deployments.
///
/// # Errors
/// Database errors; the scratch deployment is removed all the same.
pub async fn build(backend: &dyn Backend, observer: &dyn Observer) -> Result<Vec<Built>> {
    let scratch = backend.make_scratch().await?;
    let outcome = build_in(&scratch, observer).await;
    let removed = backend.drop_scratch(&scratch).await;
    let built = outcome?;
    removed?;
    Ok(built)
}

async fn build_in(scratch: &Scratch, observer: &dyn Observer) -> Result<Vec<Built>> {
    let entry = registry::by_url(&scratch.options.url)?;
    let backend: Arc<dyn Backend> = (entry.open)(scratch.options.clone()).await?;
    let mut built = Vec::new();
    backend.ensure_admin().await?;
    let mut session = backend.migration_session(&SessionOptions::default()).await?;
    for &lineage in backend.lineages() {
        observer.phase(&format!("build {lineage}"), None);
        for migration in migrations::of_lineage(lineage) {
            if migration.body(backend.name()).is_none() {
                continue;
            }
            if lineage != Lineage::Admin {
                apply(&mut *session, migration, backend.name()).await?;
            }
            observer.advance(1, 0);
            let found = session.introspect(lineage).await?;
            if is_of_schema(lineage, migration.version()) {
                let schema = found.schema;
                built.push(Built { lineage, version: migration.version().to_owned(), schema });
            }
        }
    }
    session.close().await?;
    Ok(built)
}

async fn apply(session: &mut dyn MigrationSession, migration: &Migration, backend: &str) -> Result<()> {
    let body = migration.body(backend).expect("the caller looked for the body");
    for step in &body.steps {
        if session.is_done(step).await? {
            continue;
        }
        if step.transactional {
            session.begin(step.on).await?;
        }
        let ran = session.run(step).await;
        match ran {
            Err(_) if step.optional => session.rollback().await?,
            Err(e) => return Err(e.into()),
            Ok(()) if step.transactional => session.commit().await?,
            Ok(()) => {}
        }
    }
    Ok(())
}

/// A code migration of the data changes no schema: its version has no golden one.
fn is_of_schema(lineage: Lineage, version: &str) -> bool {
    lineage != Lineage::Data
        || known(lineage, "postgres").is_ok_and(|k| k.rules.versions.iter().any(|v| v.version == version))
}
