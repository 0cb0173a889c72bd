//! What a comparison leaves open, as data: names and types that are not known of a version.
//!
//! The rules lie in `golden/<lineage>/recognition.yaml`; a pattern may begin or end with `*`.

use serde::Deserialize;

use super::schema::Index;

/// An aspect of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aspect {
    /// Its type.
    Type,
    /// Whether it allows null.
    Nullability,
    /// Its default.
    Default,
    /// Its collation.
    Collation,
    /// SQLite's AUTOINCREMENT.
    Autoincrement,
    /// It may not be there.
    Absence,
    /// It may be there.
    Addition,
}

/// What a table may have more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Addition {
    /// Columns.
    Columns,
    /// Unique constraints.
    Unique,
    /// Foreign keys.
    ForeignKeys,
    /// Checks.
    Checks,
    /// Indexes.
    Indexes,
}

/// Columns of which some aspects are open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenColumns {
    /// Patterns of names.
    pub names: Vec<String>,
    /// What is open.
    pub aspects: Vec<Aspect>,
}

/// An index whose name or trailing columns are not known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenIndex {
    /// Columns it begins with.
    #[serde(default)]
    pub leading: Vec<String>,
    /// Columns it has somewhere.
    #[serde(default)]
    pub holding: Vec<String>,
    /// Columns of which it has at least one; any where empty.
    #[serde(default)]
    pub one_of: Vec<String>,
}

impl OpenIndex {
    fn covers(&self, index: &Index) -> bool {
        let has = |wanted: &String| index.columns.iter().any(|c| c.name == *wanted);
        !index.unique
            && index.columns.len() >= self.leading.len()
            && index.columns.iter().zip(&self.leading).all(|(c, wanted)| c.name == *wanted)
            && self.holding.iter().all(has)
            && (self.one_of.is_empty() || self.one_of.iter().any(has))
    }
}

/// What is open about one table, or about all that a pattern covers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenTable {
    /// Pattern of its name.
    pub table: String,
    /// Everything but its existence.
    #[serde(default)]
    pub everything: bool,
    /// Its existence.
    #[serde(default)]
    pub absence: bool,
    /// Columns.
    #[serde(default)]
    pub columns: Vec<OpenColumns>,
    /// Indexes that are known by their columns only.
    #[serde(default)]
    pub indexes: Vec<OpenIndex>,
    /// What there may be more of.
    #[serde(default)]
    pub more: Vec<Addition>,
    /// Uniqueness may come from a constraint or from an index.
    #[serde(default)]
    pub unique_by_any_means: bool,
}

/// What a comparison leaves open. The default leaves nothing open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tolerance {
    /// Names of unique constraints and foreign keys.
    pub constraint_names: bool,
    /// The text of checks; their table and name count.
    pub check_text: bool,
    /// Tables about which something is open.
    pub tables: Vec<OpenTable>,
}

impl Tolerance {
    fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = &'a OpenTable> {
        self.tables.iter().filter(move |open| matches(&open.table, table))
    }

    /// Whether the table may be absent.
    #[must_use]
    pub fn allows_absence(&self, table: &str) -> bool {
        self.of(table).any(|open| open.absence)
    }

    /// Whether all about the table is open.
    #[must_use]
    pub fn allows_everything(&self, table: &str) -> bool {
        self.of(table).any(|open| open.everything)
    }

    /// Whether that aspect of the column is open.
    #[must_use]
    pub fn allows(&self, table: &str, column: &str, aspect: Aspect) -> bool {
        self.of(table)
            .flat_map(|open| &open.columns)
            .any(|open| open.aspects.contains(&aspect) && open.names.iter().any(|name| matches(name, column)))
    }

    /// Whether the table may have more of these.
    #[must_use]
    pub fn allows_more(&self, table: &str, addition: Addition) -> bool {
        self.of(table).any(|open| open.more.contains(&addition))
    }

    /// Whether uniqueness may come from a constraint or from an index.
    #[must_use]
    pub fn unique_by_any_means(&self, table: &str) -> bool {
        self.of(table).any(|open| open.unique_by_any_means)
    }

    /// Whether an index is one of those known by their columns only.
    #[must_use]
    pub fn is_open_index(&self, table: &str, index: &Index) -> bool {
        self.of(table).flat_map(|open| &open.indexes).any(|rule| rule.covers(index))
    }

    /// Whether one rule covers both indexes.
    #[must_use]
    pub fn same_open_index(&self, table: &str, expected: &Index, found: &Index) -> bool {
        self.of(table).flat_map(|open| &open.indexes).any(|rule| rule.covers(expected) && rule.covers(found))
    }
}

/// Whether a pattern with an optional `*` at either end covers a name.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), None) => name.ends_with(rest),
        (None, Some(rest)) => name.starts_with(rest),
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (None, None) => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_pattern_may_be_open_at_either_end() {
        assert!(matches("a", "a") && !matches("a", "ab"));
        assert!(matches("*tag*", "resource_tags") && matches("*tag*", "tag") && !matches("*tag*", "tables"));
        assert!(matches("*", "anything"));
        assert!(matches("chk_*", "chk_x") && !matches("chk_*", "x_chk_"));
        assert!(matches("*_at", "created_at") && !matches("*_at", "at_x"));
    }
}
