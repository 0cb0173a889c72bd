//! What a migration is: a version of a lineage, and per backend a body of convergent steps.
//!
//! A step says how to see that it is done already, so that a body can be run again after a crash, over a
//! catalog of a variant, or over one that another tool migrated. The text form lies in `migrations/`;
//! [`crate::migrations`] reads it. [`body_digest`](Body::digest) is free of comments, whitespace and line
//! endings: those are no change of a migration.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use super::schema::Lineage;
use super::sql_text::normalise;

/// Version of a catalog as `settings.catalog_version` holds it: three numbers without leading zeros.
///
/// Source: the version guard, ledgers page of PostgreSQL, section 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CatalogVersion(pub u32, pub u32, pub u32);

impl fmt::Display for CatalogVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl FromStr for CatalogVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("not a catalog version: {text:?} (expected three numbers, as in 0.0.5)");
        let mut parts = text.split('.').map(|part| {
            let plain = part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
            if plain { part.parse::<u32>().map_err(|_| wrong()) } else { Err(wrong()) }
        });
        let mut next = || parts.next().unwrap_or_else(|| Err(wrong()));
        let version = Self(next()?, next()?, next()?);
        if parts.next().is_some() { Err(wrong()) } else { Ok(version) }
    }
}

impl Serialize for CatalogVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CatalogVersion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Which database of a deployment a step runs in. One and the same where there is only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The catalog database.
    #[default]
    Catalog,
    /// The data database.
    Data,
}

/// The description of one version, the same for all backends: `migration.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version it leads to: `0.0.5` in the catalog lineage, a file name in the data lineage, `0001` in ours.
    pub version: String,
    /// One line for people.
    pub summary: String,
    /// Servers of the version before must be stopped.
    #[serde(default)]
    pub breaking: bool,
    /// Data lineage: the catalog version that needs it.
    #[serde(default)]
    pub with_catalog: Option<CatalogVersion>,
    /// Data lineage: it runs before the catalog takes that version (else right after).
    #[serde(default)]
    pub before_catalog: bool,
    /// Said before the operator is asked.
    #[serde(default)]
    pub notice: Option<String>,
}

/// How strongly a step locks what it touches, in PostgreSQL's words where they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockLevel {
    /// Nothing that anybody else has.
    #[default]
    None,
    /// Rows.
    RowExclusive,
    /// Writers may go on.
    ShareUpdateExclusive,
    /// Readers may go on.
    ShareRowExclusive,
    /// Nobody may.
    AccessExclusive,
    /// The whole database file.
    Database,
}

impl fmt::Display for LockLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::RowExclusive => "row exclusive",
            Self::ShareUpdateExclusive => "share update exclusive",
            Self::ShareRowExclusive => "share row exclusive",
            Self::AccessExclusive => "access exclusive",
            Self::Database => "database",
        })
    }
}

/// What a step does to the rows of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Nothing: the time does not depend on the table's size.
    #[default]
    None,
    /// Reads all of them.
    Scan,
    /// Writes all of them.
    Rewrite,
}

/// A condition over the schema or the rows; with several all must hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawCondition")]
pub enum Condition {
    /// The table is there.
    Table(String),
    /// The table is not there.
    NoTable(String),
    /// The column is there, and with `not_null` refuses null.
    Column {
        /// Its table.
        table: String,
        /// Its name.
        column: String,
        /// It must refuse null.
        not_null: bool,
    },
    /// The table is there without that column, or is not there.
    NoColumn {
        /// Its table.
        table: String,
        /// Its name.
        column: String,
    },
    /// The constraint is there.
    Constraint {
        /// Its table.
        table: String,
        /// Its name.
        constraint: String,
    },
    /// The index is there and usable.
    Index(String),
    /// The index is not there.
    NoIndex(String),
    /// The sequence is there.
    Sequence(String),
    /// The recorded catalog version is this one or a later one.
    Version(CatalogVersion),
    /// A query of one row and one column answers true (SQLite: not 0).
    Query(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCondition {
    table: Option<String>,
    no_table: Option<String>,
    column: Option<String>,
    no_column: Option<String>,
    #[serde(default)]
    not_null: bool,
    constraint: Option<String>,
    index: Option<String>,
    no_index: Option<String>,
    sequence: Option<String>,
    version: Option<CatalogVersion>,
    query: Option<String>,
}

impl TryFrom<RawCondition> for Condition {
    type Error = String;

    fn try_from(raw: RawCondition) -> Result<Self, Self::Error> {
        let not_null = raw.not_null;
        let mut found = Vec::new();
        match (raw.table, raw.column, raw.no_column, raw.constraint) {
            (Some(table), None, None, None) => found.push(Self::Table(table)),
            (Some(table), Some(column), None, None) => found.push(Self::Column { table, column, not_null }),
            (Some(table), None, Some(column), None) => found.push(Self::NoColumn { table, column }),
            (Some(table), None, None, Some(constraint)) => found.push(Self::Constraint { table, constraint }),
            (None, None, None, None) => {}
            _ => return Err("a column or a constraint needs its table, and a condition names one of them".into()),
        }
        found.extend(raw.no_table.map(Self::NoTable));
        found.extend(raw.index.map(Self::Index));
        found.extend(raw.no_index.map(Self::NoIndex));
        found.extend(raw.sequence.map(Self::Sequence));
        found.extend(raw.version.map(Self::Version));
        found.extend(raw.query.map(Self::Query));
        match found.len() {
            1 => Ok(found.remove(0)),
            n => Err(format!("a condition must be exactly one thing, this one is {n}")),
        }
    }
}

/// What SQL alone cannot do: work across the two databases, or over tables whose names are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Renames physical tables from account and name to the id form.
    RenamePhysicalTables,
    /// Builds the reverse index of every index table that lacks it, concurrently.
    BuildReverseIndexes,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RenamePhysicalTables => "rename physical tables to their ids",
            Self::BuildReverseIndexes => "create missing reverse indexes concurrently",
        })
    }
}

/// One convergent step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Unique within its body.
    pub name: String,
    /// Where it runs.
    #[serde(default)]
    pub on: Place,
    /// It is done when all of these hold.
    pub done_when: Vec<Condition>,
    /// Statements, separated by semicolons.
    #[serde(default)]
    pub sql: Option<String>,
    /// Or code.
    #[serde(default)]
    pub operation: Option<Operation>,
    /// Whether it can share a transaction with its neighbours.
    #[serde(default = "yes")]
    pub transactional: bool,
    /// A running server of the version before would notice.
    #[serde(default)]
    pub breaking: bool,
    /// The lock it takes.
    #[serde(default)]
    pub lock: LockLevel,
    /// What it does to the rows of `touches`.
    #[serde(default)]
    pub work: Work,
    /// The table whose size tells how long it takes.
    #[serde(default)]
    pub touches: Option<String>,
    /// What is lost by it, in words.
    #[serde(default)]
    pub drops: Option<String>,
    /// It may fail without failing the migration (an extension that is not installed, for example).
    #[serde(default)]
    pub optional: bool,
}

fn yes() -> bool {
    true
}

impl Step {
    /// What it does, as one text for people: its statements or the operation's name.
    #[must_use]
    pub fn action(&self) -> String {
        match (&self.sql, self.operation) {
            (Some(sql), _) => sql.trim().to_owned(),
            (None, Some(operation)) => operation.to_string(),
            (None, None) => String::new(),
        }
    }
}

/// A question asked before going back: rows that stand in the way, or that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Answers one text column, a name per row.
    pub query: String,
    /// What those rows are.
    pub what: String,
}

/// The way back from a version.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Down {
    /// Any row refuses the way back.
    #[serde(default)]
    pub refused_by: Vec<Question>,
    /// Rows that are lost, listed first.
    #[serde(default)]
    pub loses: Vec<Question>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// The body of a migration on one backend.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The way back, where there is one.
    #[serde(default)]
    pub down: Option<Down>,
}

impl Body {
    /// SHA-256 (hex) over what the steps do. Comments, whitespace, line endings, names of locks and notes
    /// are left out: changing those changes nothing that ran. The way back is left out as well.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut feed = |text: &str| {
            hash.update(text.as_bytes());
            hash.update([0]);
        };
        for step in &self.steps {
            feed(&step.name);
            feed(match step.on {
                Place::Catalog => "catalog",
                Place::Data => "data",
            });
            feed(&step.sql.as_deref().map(normalise).unwrap_or_default());
            feed(&step.operation.map(|o| o.to_string()).unwrap_or_default());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A migration: its version and its bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Lineage.
    pub lineage: Lineage,
    /// Number of its folder; gives the order.
    pub number: u32,
    /// Name of its folder without the number: `backup_catalog_index`.
    pub name: String,
    /// Description.
    pub header: Header,
    /// Bodies by backend name.
    pub bodies: Vec<(String, Body)>,
}

impl Migration {
    /// The body for a backend; none where the lineage does not exist there.
    #[must_use]
    pub fn body(&self, backend: &str) -> Option<&Body> {
        self.bodies.iter().find(|(name, _)| name == backend).map(|(_, body)| body)
    }

    /// Version it leads to.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.header.version
    }

    /// The catalog version it leads to, in the catalog lineage.
    #[must_use]
    pub fn catalog_version(&self) -> Option<CatalogVersion> {
        (self.lineage == Lineage::Catalog).then(|| self.header.version.parse().ok()).flatten()
    }
}
