//! The canonical schema: what a catalog consists of, free of volatile names, comments, order and owners.
//!
//! Introspection on every backend ends here, golden schemas are this in YAML, fingerprints are
//! taken over it, and the conditions of migration steps are asked of it. Text that stands for an
//! expression (defaults, checks, predicates) is in the form of [`super::expression`], so that the
//! same thing always has the same text. How two schemas differ is said by [`super::difference`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// A series of versions that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lineage {
    /// ExtendDB's catalog.
    Catalog,
    /// The fixed tables of PostgreSQL's data database.
    Data,
    /// Our own tables: jobs, fences, the ledger of applied migrations.
    Admin,
}

impl Lineage {
    /// All of them, in the order they are reported.
    pub const ALL: [Self; 3] = [Self::Catalog, Self::Data, Self::Admin];

    /// The word in paths, reports and our ledger.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Data => "data",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl std::str::FromStr for Lineage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|l| l.word() == text)
            .ok_or_else(|| format!("not a lineage: {text:?} (expected catalog, data or admin)"))
    }
}

/// Tables and free-standing sequences, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Tables by name.
    #[serde(default)]
    pub tables: BTreeMap<String, Table>,
    /// Sequences that no column owns, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sequences: BTreeMap<String, Sequence>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Columns by name; their order means nothing.
    #[serde(default)]
    pub columns: BTreeMap<String, Column>,
    /// Columns of the primary key, in its order; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    /// Unique constraints, sorted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unique: BTreeSet<Unique>,
    /// Foreign keys, sorted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub foreign_keys: BTreeSet<ForeignKey>,
    /// Checks, sorted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub checks: BTreeSet<Check>,
    /// Indexes that no constraint owns, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexes: BTreeMap<String, Index>,
    /// What else the declaration says: `without rowid`, `strict`, `unlogged`, `partitioned`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub options: BTreeSet<String>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The type in the backend's short spelling: `timestamptz`, `bigint`; `TEXT`, `INTEGER`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether the declaration allows null.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nullable: bool,
    /// The default, normalised. `serial` for a column that draws from a sequence of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The collation, where it is not the type's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// SQLite's AUTOINCREMENT.
    #[serde(default, skip_serializing_if = "is_false")]
    pub autoincrement: bool,
    /// How it is computed, for a generated column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
}

/// A unique constraint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unique {
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Its name, where somebody chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignKey {
    /// Its columns.
    pub columns: Vec<String>,
    /// The table referred to.
    pub references: String,
    /// The columns referred to, in the order of `columns`.
    pub referenced_columns: Vec<String>,
    /// `no action`, `restrict`, `cascade`, `set null`, `set default`.
    #[serde(default = "no_action", skip_serializing_if = "is_no_action")]
    pub on_delete: String,
    /// As `on_delete`.
    #[serde(default = "no_action", skip_serializing_if = "is_no_action")]
    pub on_update: String,
    /// Its name, where somebody chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Checked at commit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub deferred: bool,
    /// Existing rows were never checked (`NOT VALID`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_valid: bool,
}

/// A check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Columns it speaks of, sorted.
    pub columns: Vec<String>,
    /// Its name, where somebody chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The condition, normalised.
    pub expression: String,
    /// Existing rows were never checked (`NOT VALID`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub not_valid: bool,
}

/// An index that no constraint owns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// What it orders by, in order.
    pub columns: Vec<IndexColumn>,
    /// Whether it allows a key once only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unique: bool,
    /// Which rows it holds, normalised; all where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// Columns it merely carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Access method, where it is not a B-tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// An interrupted build left it unusable.
    #[serde(default, skip_serializing_if = "is_false")]
    pub invalid: bool,
}

/// One position of an index.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexColumn {
    /// A column's name, or a normalised expression in parentheses.
    pub name: String,
    /// Descending.
    #[serde(default, skip_serializing_if = "is_false")]
    pub desc: bool,
    /// Nulls where the direction would not put them: `first` or `last`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<String>,
    /// Collation, where it is not the column's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collation: Option<String>,
    /// Operator class, where it is not the type's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator_class: Option<String>,
}

/// A sequence that no column owns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Type of its values.
    #[serde(rename = "type")]
    pub kind: String,
    /// Step.
    pub increment: i64,
    /// Whether it begins again after its end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cycle: bool,
}

impl Schema {
    /// A table.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// A column.
    #[must_use]
    pub fn column(&self, table: &str, column: &str) -> Option<&Column> {
        self.tables.get(table)?.columns.get(column)
    }

    /// An index of whatever table; index names are unique in a schema.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<(&str, &Index)> {
        self.tables.iter().find_map(|(table, t)| t.indexes.get(name).map(|i| (table.as_str(), i)))
    }

    /// Whether nothing is there at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.sequences.is_empty()
    }

    /// The part with the named tables and sequences, and the names of the tables left out.
    #[must_use]
    pub fn restricted_to(&self, keep: impl Fn(&str) -> bool) -> (Self, Vec<String>) {
        let mut kept = Self::default();
        let mut left = Vec::new();
        for (name, table) in &self.tables {
            if keep(name) {
                kept.tables.insert(name.clone(), table.clone());
            } else {
                left.push(name.clone());
            }
        }
        for (name, sequence) in &self.sequences {
            if keep(name) {
                kept.sequences.insert(name.clone(), sequence.clone());
            }
        }
        (kept, left)
    }

    /// Reads our own YAML.
    ///
    /// # Errors
    /// The parser's message with its line.
    pub fn from_yaml(text: &str) -> Result<Self, String> {
        serde_yaml::from_str(text).map_err(|e| e.to_string())
    }

    /// Writes our own YAML: every map and set in byte order, so that equal schemas give equal text.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(self).expect("a schema is maps, lists and texts")
    }
}

impl Column {
    /// Whether a populated table can gain it without losing or inventing anything.
    #[must_use]
    pub fn can_be_added(&self) -> bool {
        self.nullable || self.default.is_some()
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(collation) = &self.collation {
            write!(f, " collate {collation}")?;
        }
        if !self.nullable {
            f.write_str(" not null")?;
        }
        if let Some(default) = &self.default {
            write!(f, " default {default}")?;
        }
        if let Some(generated) = &self.generated {
            write!(f, " generated as {generated}")?;
        }
        if self.autoincrement {
            f.write_str(" autoincrement")?;
        }
        Ok(())
    }
}

impl fmt::Display for ForeignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "({}) to {} ({}) on delete {} on update {}",
            self.columns.join(", "),
            self.references,
            self.referenced_columns.join(", "),
            self.on_delete,
            self.on_update
        )?;
        if self.deferred {
            f.write_str(" deferred")?;
        }
        if self.not_valid {
            f.write_str(" not valid")?;
        }
        if let Some(name) = &self.name {
            write!(f, " named {name}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.expression)?;
        if self.not_valid {
            f.write_str(" not valid")?;
        }
        Ok(())
    }
}

impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(collation) = &self.collation {
            write!(f, " collate {collation}")?;
        }
        if let Some(class) = &self.operator_class {
            write!(f, " {class}")?;
        }
        if self.desc {
            f.write_str(" desc")?;
        }
        if let Some(nulls) = &self.nulls {
            write!(f, " nulls {nulls}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unique {
            f.write_str("unique ")?;
        }
        if let Some(method) = &self.method {
            write!(f, "{method} ")?;
        }
        let columns: Vec<_> = self.columns.iter().map(ToString::to_string).collect();
        write!(f, "({})", columns.join(", "))?;
        if !self.include.is_empty() {
            write!(f, " include ({})", self.include.join(", "))?;
        }
        if let Some(predicate) = &self.predicate {
            write!(f, " where {predicate}")?;
        }
        if self.invalid {
            f.write_str(" invalid")?;
        }
        Ok(())
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} increment {}{}", self.kind, self.increment, if self.cycle { " cycle" } else { "" })
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_false(value: &bool) -> bool {
    !value
}

fn no_action() -> String {
    "no action".to_owned()
}

fn is_no_action(value: &str) -> bool {
    value == "no action"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_written_to_yaml_reads_back_equal() {
        let mut table = Table { primary_key: vec!["a".into()], ..Table::default() };
        table.columns.insert(
            "a".into(),
            Column {
                kind: "text".into(),
                default: Some("'x'".into()),
                collation: Some("C".into()),
                ..Column::default()
            },
        );
        table.unique.insert(Unique { columns: vec!["a".into()], name: None });
        table.indexes.insert(
            "i".into(),
            Index {
                columns: vec![IndexColumn { name: "a".into(), desc: true, ..IndexColumn::default() }],
                predicate: Some("a is not null".into()),
                ..Index::default()
            },
        );
        let schema = Schema { tables: [("t".to_owned(), table)].into(), sequences: BTreeMap::new() };
        assert_eq!(Schema::from_yaml(&schema.to_yaml()).unwrap(), schema);
    }

    #[test]
    fn an_unknown_key_in_the_yaml_is_refused() {
        assert!(Schema::from_yaml("tables: {t: {colums: {}}}").unwrap_err().contains("colums"));
    }
}
