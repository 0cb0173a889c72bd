//! The versions of a lineage that this build knows on one backend: golden schemas, and beside them
//! what their pages say of variants, of ledgers and of what is not known.
//!
//! Everything here is data read from `golden/<lineage>/`; [`super::recognition`] decides over it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::difference::{Comparison, Difference, Kind, Subject, compare};
use super::fingerprint::Fingerprint;
use super::recorded::Recorded;
use super::schema::{Lineage, Schema, Table};
use super::tolerance::{OpenTable, Tolerance};

/// `golden/<lineage>/recognition.yaml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Versions, oldest first.
    #[serde(default)]
    pub versions: Vec<VersionRule>,
    /// Deviations that have a name. Of each group the first that fits counts.
    #[serde(default)]
    pub variants: Vec<VariantGroup>,
    /// Tables whose absence is a difference that a repair may mend by creating them empty.
    #[serde(default)]
    pub replaceable_tables: Vec<String>,
    /// What is open.
    #[serde(default)]
    pub open: Vec<OpenRule>,
    /// Ledger rows that say something else than a version.
    #[serde(default)]
    pub other_ledger_rows: BTreeMap<String, String>,
    /// Tables that are recognised where they occur and belong to no version.
    #[serde(default)]
    pub other_tables: BTreeMap<String, String>,
}

/// One version.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionRule {
    /// Its name.
    pub version: String,
    /// The row it adds to ExtendDB's own ledger, by backend.
    #[serde(default)]
    pub ledger: BTreeMap<String, String>,
}

/// Variants that exclude each other.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantGroup {
    /// Backends it occurs on.
    pub backends: Vec<String>,
    /// The variants, the one with the most deviations first.
    pub choices: Vec<Variant>,
}

/// A deviation that has a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name; empty for one that goes without saying.
    #[serde(default)]
    pub name: String,
    /// Versions it occurs at; all where empty.
    #[serde(default)]
    pub versions: Vec<String>,
    /// What it is, for people.
    #[serde(default)]
    pub says: String,
    /// Columns it lacks, by table.
    #[serde(default)]
    pub lacks_columns: BTreeMap<String, Vec<String>>,
    /// Tables it lacks.
    #[serde(default)]
    pub lacks_tables: Vec<String>,
    /// Tables it has in another form.
    #[serde(default)]
    pub instead: BTreeMap<String, Table>,
    /// A row of ExtendDB's ledger that goes with it.
    #[serde(default)]
    pub ledger_row: Option<String>,
    /// Ledger rows it goes without.
    #[serde(default)]
    pub lacks_ledger_rows: Vec<String>,
    /// It occurs only where one database holds catalog and data.
    #[serde(default)]
    pub one_database: bool,
}

/// What is open from a version on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenRule {
    /// Backends it holds for; all where empty.
    #[serde(default)]
    pub backends: Vec<String>,
    /// The first version it holds for.
    pub since: String,
    /// Tables.
    pub tables: Vec<OpenTable>,
}

/// One version on one backend.
#[derive(Debug, Clone)]
pub struct KnownVersion {
    /// Its name.
    pub version: String,
    /// Its golden schema.
    pub schema: Schema,
    /// Its row in ExtendDB's ledger.
    pub ledger_row: Option<String>,
}

/// The known versions of a lineage on a backend.
#[derive(Debug, Clone)]
pub struct Known {
    /// The lineage.
    pub lineage: Lineage,
    /// The backend.
    pub backend: String,
    /// Versions, oldest first.
    pub versions: Vec<KnownVersion>,
    /// What else is known.
    pub rules: Rules,
}

/// How a schema compares with one version.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Position of the version in [`Known::versions`].
    pub at: usize,
    /// Variants that were seen.
    pub variants: Vec<Variant>,
    /// The golden schema in those variants.
    pub expected: Schema,
    /// The comparison with the version in those variants.
    pub comparison: Comparison,
}

impl Known {
    /// Puts the golden schemas of a lineage together; `golden` answers the YAML of a version.
    ///
    /// # Errors
    /// A malformed rule or schema, naming the version.
    pub fn new(
        lineage: Lineage,
        backend: &str,
        rules: Option<&str>,
        golden: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, String> {
        let mut rules: Rules = match rules {
            Some(text) => serde_yaml::from_str(text).map_err(|e| format!("recognition rules of {lineage}: {e}"))?,
            None => Rules::default(),
        };
        rules.variants.retain(|group| group.backends.iter().any(|b| b == backend));
        let mut versions = Vec::new();
        for rule in &rules.versions {
            let Some(text) = golden(&rule.version) else { continue };
            let schema =
                Schema::from_yaml(text).map_err(|e| format!("golden schema of {lineage} {}: {e}", rule.version))?;
            let ledger_row = rule.ledger.get(backend).cloned();
            versions.push(KnownVersion { version: rule.version.clone(), schema, ledger_row });
        }
        Ok(Self { lineage, backend: backend.to_owned(), versions, rules })
    }

    /// Position of a version.
    #[must_use]
    pub fn position(&self, version: &str) -> Option<usize> {
        self.versions.iter().position(|v| v.version == version)
    }

    /// The newest version.
    #[must_use]
    pub fn newest(&self) -> Option<&KnownVersion> {
        self.versions.last()
    }

    /// The golden schema of a version, or of a named variant of one.
    #[must_use]
    pub fn schema_of(&self, name: &str) -> Option<Schema> {
        if let Some(at) = self.position(name) {
            return Some(self.versions[at].schema.clone());
        }
        let variant = self.named_variants().find(|v| v.name == name)?;
        let at = self.position(variant.versions.first()?)?;
        let mut schema = self.versions[at].schema.clone();
        variant.apply(&mut schema);
        Some(schema)
    }

    /// Names of the versions, and of the variants that have a schema of their own.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let versions = self.versions.iter().map(|v| v.version.as_str());
        let variants = self.named_variants().filter(|v| !v.versions.is_empty()).map(|v| v.name.as_str());
        versions.chain(variants).collect()
    }

    fn named_variants(&self) -> impl Iterator<Item = &Variant> {
        self.rules.variants.iter().flat_map(|group| &group.choices).filter(|v| !v.name.is_empty())
    }

    /// The part of a found schema that belongs to this lineage, and the names of the tables that do not.
    ///
    /// Tables that some version has belong to it, in whatever version they are found.
    #[must_use]
    pub fn own_part(&self, found: &Schema) -> (Schema, Vec<String>) {
        let own: BTreeSet<&String> =
            self.versions.iter().flat_map(|v| v.schema.tables.keys().chain(v.schema.sequences.keys())).collect();
        if self.lineage == Lineage::Admin {
            return (found.clone(), Vec::new());
        }
        found.restricted_to(|name| own.iter().any(|o| *o == name))
    }

    /// The fingerprint of what belongs to this lineage.
    #[must_use]
    pub fn fingerprint(&self, found: &Schema) -> Fingerprint {
        Fingerprint::of(&self.own_part(found).0)
    }

    /// What is open about a version.
    #[must_use]
    pub fn tolerance(&self, at: usize) -> Tolerance {
        let applies = |rule: &&OpenRule| {
            (rule.backends.is_empty() || rule.backends.contains(&self.backend))
                && self.position(&rule.since).is_none_or(|since| since <= at)
        };
        Tolerance {
            constraint_names: true,
            check_text: true,
            tables: self.rules.open.iter().filter(applies).flat_map(|rule| rule.tables.clone()).collect(),
        }
    }

    /// Compares a schema, restricted to this lineage, with one version in the variants that it shows.
    #[must_use]
    pub fn fit(&self, at: usize, found: &Schema, recorded: &Recorded) -> Fit {
        let version = &self.versions[at];
        let mut expected = version.schema.clone();
        let mut variants = Vec::new();
        for group in &self.rules.variants {
            let seen = group.choices.iter().find(|v| v.is_seen(&version.version, &expected, found, recorded));
            if let Some(variant) = seen {
                variant.apply(&mut expected);
                if !variant.name.is_empty() {
                    variants.push(variant.clone());
                }
            }
        }
        let mut comparison = compare(&expected, found, &self.tolerance(at));
        for difference in comparison.differences.iter_mut().chain(&mut comparison.tolerated) {
            self.explain(difference, at);
        }
        Fit { at, variants, expected, comparison }
    }

    /// Says since when an object is expected, and whether an absent table may be made again.
    pub(super) fn explain(&self, difference: &mut Difference, at: usize) {
        if difference.kind == Kind::Unexpected {
            let newer = self.versions.iter().skip(at + 1).find(|v| has(&v.schema, &difference.subject));
            difference.since = newer.map(|v| v.version.clone());
            return;
        }
        let first = self.versions.iter().find(|v| has(&v.schema, &difference.subject));
        difference.since = first.map(|v| v.version.clone());
        if let (Subject::Table(table), Kind::Missing) = (&difference.subject, difference.kind) {
            difference.repairable = self.rules.replaceable_tables.contains(table);
        }
    }
}

impl Variant {
    fn is_seen(&self, version: &str, expected: &Schema, found: &Schema, recorded: &Recorded) -> bool {
        let at_version = self.versions.is_empty() || self.versions.iter().any(|v| v == version);
        let place = !self.one_database || recorded.one_database;
        let columns_lacking = self.lacks_columns.iter().all(|(table, columns)| {
            expected.tables.contains_key(table)
                && found.tables.get(table).is_some_and(|t| columns.iter().all(|c| !t.columns.contains_key(c)))
        });
        let tables_lacking = self.lacks_tables.iter().all(|t| !found.tables.contains_key(t));
        let instead = self.instead.iter().all(|(name, table)| found.tables.get(name) == Some(table));
        let row = |name: &str| recorded.ledger.iter().any(|r| r.filename.as_deref() == Some(name));
        let row_there = self.ledger_row.as_deref().is_none_or(row);
        let rows_lacking = self.lacks_ledger_rows.iter().all(|name| !row(name));
        at_version && place && columns_lacking && tables_lacking && instead && row_there && rows_lacking
    }

    fn apply(&self, expected: &mut Schema) {
        for (table, columns) in &self.lacks_columns {
            if let Some(table) = expected.tables.get_mut(table) {
                table.columns.retain(|name, _| !columns.contains(name));
            }
        }
        expected.tables.retain(|name, _| !self.lacks_tables.contains(name));
        for (name, table) in &self.instead {
            expected.tables.insert(name.clone(), table.clone());
        }
    }
}

/// Whether a schema has the object.
fn has(schema: &Schema, subject: &Subject) -> bool {
    let table = |name: &String| schema.tables.get(name);
    match subject {
        Subject::Table(name) => table(name).is_some(),
        Subject::Column(t, column) => table(t).is_some_and(|t| t.columns.contains_key(column)),
        Subject::PrimaryKey(t) => table(t).is_some_and(|t| !t.primary_key.is_empty()),
        Subject::Unique(t, columns) => table(t).is_some_and(|t| t.unique.iter().any(|u| u.columns == *columns)),
        Subject::ForeignKey(t, columns) => {
            table(t).is_some_and(|t| t.foreign_keys.iter().any(|k| k.columns == *columns))
        }
        Subject::Check(t, name) => {
            table(t).is_some_and(|t| t.checks.iter().any(|c| super::difference::label(c) == *name))
        }
        Subject::Index(t, index) => table(t).is_some_and(|t| t.indexes.contains_key(index)),
        Subject::Options(t) => table(t).is_some(),
        Subject::Sequence(name) => schema.sequences.contains_key(name),
        Subject::Row(_) => false,
    }
}
