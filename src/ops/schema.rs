//! `schema dump` and `schema diff`: schemas of live deployments, golden versions and files, side by side.

use std::path::Path;

use serde::Serialize;

use super::migrate::status::known;
use crate::backend::Backend;
use crate::domain::difference::{Difference, Kind, Subject};
use crate::domain::fingerprint::Fingerprint;
use crate::domain::schema::{Column, Index, Lineage, Schema};
use crate::ops::{Error, Result};

/// A schema and where it comes from.
#[derive(Debug, Clone, Serialize)]
pub struct Side {
    /// Where it comes from, for people.
    pub source: String,
    /// Fingerprint.
    pub fingerprint: Fingerprint,
    /// Tables and objects found beside it that belong to no version.
    pub extras: Vec<String>,
    /// The schema.
    #[serde(skip)]
    pub schema: Schema,
}

impl Side {
    fn new(source: String, schema: Schema, extras: Vec<String>) -> Self {
        Self { source, fingerprint: Fingerprint::of(&schema), extras, schema }
    }
}

/// How two schemas differ. The first one is what is expected.
#[derive(Debug, Clone, Serialize)]
pub struct DiffReport {
    /// The first.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// Whether they are the same.
    pub equal: bool,
    /// What is different, object by object.
    pub differences: Vec<Difference>,
}

/// The schema of a live deployment, what belongs to the lineage apart from what does not.
///
/// # Errors
/// Database errors.
pub async fn live(backend: &dyn Backend, lineage: Lineage) -> Result<Side> {
    let known = known(lineage, backend.name())?;
    let found = backend.introspect(lineage).await?;
    let (own, left) = known.own_part(&found.schema);
    let mut extras: Vec<String> = left.into_iter().map(|name| format!("table {name}")).collect();
    extras.extend(found.extras);
    Ok(Side::new(backend.location(), own, extras))
}

/// The golden schema of a version, or of a named variant of it (`0.0.2-a`), on a backend.
///
/// # Errors
/// `NotFound`, listing what there is.
pub fn golden(lineage: Lineage, version: &str, backend: &str) -> Result<Side> {
    let known = known(lineage, backend)?;
    match known.schema_of(version) {
        Some(schema) => Ok(Side::new(format!("golden:{version} ({lineage}, {backend})"), schema, Vec::new())),
        None => Err(Error::NotFound(format!(
            "there is no golden schema of {lineage} {version} on {backend} (there are: {})",
            known.names().join(", ")
        ))),
    }
}

/// A schema in a file, as `schema dump` writes it.
///
/// # Errors
/// `Usage` for a file that cannot be read.
pub fn file(path: &Path) -> Result<Side> {
    let wrong = |e: String| Error::Usage(format!("cannot read the schema in {}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    let schema = Schema::from_yaml(&text).map_err(wrong)?;
    Ok(Side::new(path.display().to_string(), schema, Vec::new()))
}

/// Compares two schemas, leaving nothing open.
#[must_use]
pub fn diff(a: Side, b: Side) -> DiffReport {
    let differences = Schema::diff(&a.schema, &b.schema);
    DiffReport { equal: differences.is_empty(), differences, a, b }
}

/// The differences as SQL comments: what is different, and the statement that would bring it back where one
/// statement can. Nothing in it runs as it stands.
#[must_use]
pub fn sql_comments(report: &DiffReport) -> String {
    let mut out = format!("-- expected: {}\n-- found:    {}\n", report.a.source, report.b.source);
    if report.equal {
        out.push_str("-- no difference\n");
    }
    let mut table = None;
    for difference in &report.differences {
        let of = difference.subject.table().map(str::to_owned);
        if of != table {
            out.push_str("--\n");
            table = of;
        }
        out.push_str(&format!("-- {difference}\n"));
        if let Some(statement) = statement(difference, &report.a.schema) {
            out.push_str(&format!("--     {statement};\n"));
        }
    }
    out
}

/// The statement that brings an object to what is expected, where it is one and loses nothing.
fn statement(difference: &Difference, expected: &Schema) -> Option<String> {
    match (&difference.subject, difference.kind) {
        (Subject::Column(table, column), Kind::Missing) => {
            let text = column_sql(expected.column(table, column)?);
            Some(format!("ALTER TABLE {} ADD COLUMN {} {text}", name(table), name(column)))
        }
        (Subject::Index(table, index), Kind::Missing) => {
            Some(index_sql(table, index, expected.tables.get(table)?.indexes.get(index)?))
        }
        (Subject::Index(table, index), Kind::Definition | Kind::Invalid) => {
            let create = index_sql(table, index, expected.tables.get(table)?.indexes.get(index)?);
            Some(format!("DROP INDEX {}; {create}", name(index)))
        }
        (Subject::Index(_, index), Kind::Unexpected) => Some(format!("DROP INDEX {}", name(index))),
        _ => None,
    }
}

fn column_sql(column: &Column) -> String {
    let mut out = column.kind.clone();
    if let Some(collation) = &column.collation {
        out.push_str(&format!(" COLLATE \"{collation}\""));
    }
    if !column.nullable {
        out.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        out.push_str(&format!(" DEFAULT ({default})"));
    }
    out
}

fn index_sql(table: &str, index: &str, definition: &Index) -> String {
    let columns: Vec<String> = definition.columns.iter().map(ToString::to_string).collect();
    let mut out = format!(
        "CREATE {}INDEX {} ON {} ({})",
        if definition.unique { "UNIQUE " } else { "" },
        name(index),
        name(table),
        columns.join(", ")
    );
    if let Some(predicate) = &definition.predicate {
        out.push_str(&format!(" WHERE {predicate}"));
    }
    out
}

/// A name as SQL has it: our own tables carry their schema.
fn name(name: &str) -> String {
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    name.split('.')
        .map(|part| if plain(part) { part.to_owned() } else { format!("\"{}\"", part.replace('"', "\"\"")) })
        .collect::<Vec<_>>()
        .join(".")
}
