//! How two schemas differ, object by object and in words.
//!
//! [`compare`] finds every difference. Those that a [`Tolerance`] covers are returned apart: what is
//! known of a version may leave a type, a name or a whole table open.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::schema::{Check, Column, ForeignKey, Index, Schema, Table, Unique};
use super::tolerance::{Addition, Aspect, Tolerance};

/// What `expected` or `found` says of something that is not there.
pub const ABSENT: &str = "absent";

/// The object that a difference is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A table.
    Table(String),
    /// A column: table and name.
    Column(String, String),
    /// The primary key of a table.
    PrimaryKey(String),
    /// A unique constraint: table and columns.
    Unique(String, Vec<String>),
    /// A foreign key: table and columns.
    ForeignKey(String, Vec<String>),
    /// A check: table and its name, or its columns in brackets.
    Check(String, String),
    /// An index: table and name.
    Index(String, String),
    /// Another part of a table's declaration.
    Options(String),
    /// A sequence.
    Sequence(String),
    /// A row: of a setting, of a ledger.
    Row(String),
}

impl Subject {
    /// The table it belongs to.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        match self {
            Self::Table(t)
            | Self::Column(t, _)
            | Self::PrimaryKey(t)
            | Self::Unique(t, _)
            | Self::ForeignKey(t, _)
            | Self::Check(t, _)
            | Self::Index(t, _)
            | Self::Options(t) => Some(t),
            Self::Sequence(_) | Self::Row(_) => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(table) => write!(f, "table {table}"),
            Self::Column(table, column) => write!(f, "column {table}.{column}"),
            Self::PrimaryKey(table) => write!(f, "primary key of {table}"),
            Self::Unique(table, columns) => write!(f, "unique ({}) of {table}", columns.join(", ")),
            Self::ForeignKey(table, columns) => write!(f, "foreign key ({}) of {table}", columns.join(", ")),
            Self::Check(table, label) => write!(f, "check {label} of {table}"),
            Self::Index(table, index) => write!(f, "index {index} on {table}"),
            Self::Options(table) => write!(f, "options of {table}"),
            Self::Sequence(sequence) => write!(f, "sequence {sequence}"),
            Self::Row(row) => f.write_str(row),
        }
    }
}

/// In what way it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Expected and not there.
    Missing,
    /// There and not expected.
    Unexpected,
    /// Another type.
    Type,
    /// Null is allowed, or is not.
    Nullability,
    /// Another default.
    Default,
    /// Another collation.
    Collation,
    /// Another definition.
    Definition,
    /// There, and unusable after an interrupted build.
    Invalid,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The object, for programs in this one.
    #[serde(skip)]
    pub subject: Subject,
    /// The object in words: `column tables.table_class`.
    pub object: String,
    /// In what way it differs.
    pub kind: Kind,
    /// What was expected; [`ABSENT`] for nothing.
    pub expected: String,
    /// What was found; [`ABSENT`] for nothing.
    pub found: String,
    /// `migrate repair` can bring it back without losing data.
    pub repairable: bool,
    /// Since which version it is expected, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What a server does because of it.
    pub effect: &'static str,
}

impl Difference {
    /// A difference, with what follows from subject and kind.
    #[must_use]
    pub fn new(subject: Subject, kind: Kind, expected: impl Into<String>, found: impl Into<String>) -> Self {
        let (expected, found) = (expected.into(), found.into());
        let object = subject.to_string();
        let effect = effect(&subject, kind, &found);
        let repairable = match (&subject, kind) {
            (Subject::Index(..), Kind::Missing | Kind::Definition | Kind::Invalid) => true,
            (Subject::Column(..), Kind::Collation) => expected != TYPES_OWN,
            _ => false,
        };
        Self { subject, object, kind, expected, found, repairable, since: None, effect }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Missing if self.expected == "present" => write!(f, "{} is missing", self.object)?,
            Kind::Missing => write!(f, "{} is missing (expected {})", self.object, self.expected)?,
            Kind::Unexpected => write!(f, "{} is not expected (found {})", self.object, self.found)?,
            Kind::Invalid => write!(f, "{} is unusable: an interrupted build left it", self.object)?,
            kind => {
                let what = match kind {
                    Kind::Type => "type of ",
                    Kind::Nullability => "nullability of ",
                    Kind::Default => "default of ",
                    Kind::Collation => "collation of ",
                    _ => "",
                };
                write!(f, "{what}{}: expected {}, found {}", self.object, self.expected, self.found)?;
            }
        }
        if let Some(since) = &self.since {
            write!(f, ", expected since {since}")?;
        }
        write!(f, "; {}", self.effect)
    }
}

/// What two schemas do not share.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// What counts, in the order of tables and objects.
    pub differences: Vec<Difference>,
    /// What the tolerance covers.
    pub tolerated: Vec<Difference>,
}

impl Schema {
    /// Every difference, tolerating nothing.
    #[must_use]
    pub fn diff(expected: &Self, found: &Self) -> Vec<Difference> {
        compare(expected, found, &Tolerance::default()).differences
    }
}

const TYPES_OWN: &str = "the database's own";

/// Compares two schemas.
#[must_use]
pub fn compare(expected: &Schema, found: &Schema, tolerance: &Tolerance) -> Comparison {
    let mut out = Comparer { tolerance, out: Comparison::default() };
    for name in names(&expected.tables, &found.tables) {
        match (expected.tables.get(name), found.tables.get(name)) {
            (Some(_), None) => {
                let tolerated = tolerance.allows_absence(name);
                out.push(tolerated, Difference::new(Subject::Table(name.clone()), Kind::Missing, "present", ABSENT));
            }
            (None, Some(table)) => {
                let columns: Vec<_> = table.columns.keys().map(String::as_str).collect();
                let found = format!("a table with columns {}", columns.join(", "));
                out.push(false, Difference::new(Subject::Table(name.clone()), Kind::Unexpected, ABSENT, found));
            }
            (Some(expected), Some(found)) => out.table(name, expected, found),
            (None, None) => {}
        }
    }
    for name in names(&expected.sequences, &found.sequences) {
        let subject = Subject::Sequence(name.clone());
        match (expected.sequences.get(name), found.sequences.get(name)) {
            (Some(e), None) => out.push(false, Difference::new(subject, Kind::Missing, e.to_string(), ABSENT)),
            (None, Some(f)) => out.push(false, Difference::new(subject, Kind::Unexpected, ABSENT, f.to_string())),
            (Some(e), Some(f)) if e != f => {
                out.push(false, Difference::new(subject, Kind::Definition, e.to_string(), f.to_string()));
            }
            _ => {}
        }
    }
    out.out
}

fn names<'a, T>(
    a: &'a std::collections::BTreeMap<String, T>,
    b: &'a std::collections::BTreeMap<String, T>,
) -> BTreeSet<&'a String> {
    a.keys().chain(b.keys()).collect()
}

struct Comparer<'a> {
    tolerance: &'a Tolerance,
    out: Comparison,
}

impl Comparer<'_> {
    fn push(&mut self, tolerated: bool, difference: Difference) {
        if tolerated { &mut self.out.tolerated } else { &mut self.out.differences }.push(difference);
    }

    fn table(&mut self, name: &str, expected: &Table, found: &Table) {
        let before = self.out.differences.len();
        self.columns(name, expected, found);
        self.primary_key(name, expected, found);
        self.unique(name, expected, found);
        self.foreign_keys(name, expected, found);
        self.checks(name, expected, found);
        self.indexes(name, expected, found);
        if expected.options != found.options {
            let text = |options: &BTreeSet<String>| match options.len() {
                0 => "none".to_owned(),
                _ => options.iter().cloned().collect::<Vec<_>>().join(", "),
            };
            let subject = Subject::Options(name.to_owned());
            self.push(false, Difference::new(subject, Kind::Definition, text(&expected.options), text(&found.options)));
        }
        if self.tolerance.allows_everything(name) {
            let open = self.out.differences.split_off(before);
            self.out.tolerated.extend(open);
        }
    }

    fn columns(&mut self, table: &str, expected: &Table, found: &Table) {
        for name in names(&expected.columns, &found.columns) {
            let subject = || Subject::Column(table.to_owned(), name.clone());
            let allowed = |aspect| self.tolerance.allows(table, name, aspect);
            match (expected.columns.get(name), found.columns.get(name)) {
                (Some(column), None) => {
                    let tolerated = allowed(Aspect::Absence);
                    let mut difference = Difference::new(subject(), Kind::Missing, column.to_string(), ABSENT);
                    difference.repairable = column.can_be_added();
                    self.push(tolerated, difference);
                }
                (None, Some(column)) => {
                    let tolerated = allowed(Aspect::Addition) || self.tolerance.allows_more(table, Addition::Columns);
                    let mut difference = Difference::new(subject(), Kind::Unexpected, ABSENT, column.to_string());
                    if !column.can_be_added() && column.generated.is_none() && column.default.is_none() {
                        difference.effect = "every row that a server writes here is refused";
                    }
                    self.push(tolerated, difference);
                }
                (Some(expected), Some(found)) => {
                    for (aspect, kind, e, f) in aspects(expected, found) {
                        let tolerated = self.tolerance.allows(table, name, aspect);
                        self.push(tolerated, Difference::new(subject(), kind, e, f));
                    }
                }
                (None, None) => {}
            }
        }
    }

    fn primary_key(&mut self, table: &str, expected: &Table, found: &Table) {
        let (e, f) = (&expected.primary_key, &found.primary_key);
        if e == f {
            return;
        }
        let text = |key: &[String]| if key.is_empty() { ABSENT.to_owned() } else { format!("({})", key.join(", ")) };
        let kind = match (e.is_empty(), f.is_empty()) {
            (false, true) => Kind::Missing,
            (true, false) => Kind::Unexpected,
            _ => Kind::Definition,
        };
        self.push(false, Difference::new(Subject::PrimaryKey(table.to_owned()), kind, text(e), text(f)));
    }

    fn unique(&mut self, table: &str, expected: &Table, found: &Table) {
        let plain = |u: &Unique| Unique { columns: u.columns.clone(), name: None };
        let view = |t: &Table| -> BTreeSet<Unique> {
            if self.tolerance.constraint_names { t.unique.iter().map(plain).collect() } else { t.unique.clone() }
        };
        let (expected_set, found_set) = (view(expected), view(found));
        let text = |u: &Unique| u.name.as_ref().map_or_else(|| "unnamed".to_owned(), |n| format!("named {n}"));
        let any_means = self.tolerance.unique_by_any_means(table);
        let by_index =
            |t: &Table, u: &Unique| any_means && t.indexes.values().any(|i| index_makes_unique(i, &u.columns));
        let mut left: Vec<&Unique> = found_set.difference(&expected_set).collect();
        for unique in expected_set.difference(&found_set) {
            let subject = Subject::Unique(table.to_owned(), unique.columns.clone());
            let twin = left.iter().position(|u| u.columns == unique.columns).map(|i| left.remove(i));
            let kind = if twin.is_some() { Kind::Definition } else { Kind::Missing };
            let tolerated = twin.is_none() && by_index(found, unique);
            let found = twin.map_or_else(|| ABSENT.to_owned(), text);
            self.push(tolerated, Difference::new(subject, kind, text(unique), found));
        }
        for unique in left {
            let subject = Subject::Unique(table.to_owned(), unique.columns.clone());
            let tolerated = by_index(expected, unique) || self.tolerance.allows_more(table, Addition::Unique);
            self.push(tolerated, Difference::new(subject, Kind::Unexpected, ABSENT, text(unique)));
        }
    }

    fn foreign_keys(&mut self, table: &str, expected: &Table, found: &Table) {
        let view = |t: &Table| -> BTreeSet<ForeignKey> {
            let nameless = |k: &ForeignKey| ForeignKey { name: None, ..k.clone() };
            if self.tolerance.constraint_names {
                t.foreign_keys.iter().map(nameless).collect()
            } else {
                t.foreign_keys.clone()
            }
        };
        let (expected_set, found_set) = (view(expected), view(found));
        let mut left: Vec<&ForeignKey> = found_set.difference(&expected_set).collect();
        for key in expected_set.difference(&found_set) {
            let subject = Subject::ForeignKey(table.to_owned(), key.columns.clone());
            let twin = left.iter().position(|k| k.columns == key.columns).map(|i| left.remove(i));
            let kind = if twin.is_some() { Kind::Definition } else { Kind::Missing };
            let found = twin.map_or_else(|| ABSENT.to_owned(), ToString::to_string);
            self.push(false, Difference::new(subject, kind, key.to_string(), found));
        }
        for key in left {
            let subject = Subject::ForeignKey(table.to_owned(), key.columns.clone());
            let tolerated = self.tolerance.allows_more(table, Addition::ForeignKeys);
            self.push(tolerated, Difference::new(subject, Kind::Unexpected, ABSENT, key.to_string()));
        }
    }

    fn checks(&mut self, table: &str, expected: &Table, found: &Table) {
        let mut left: Vec<&Check> = found.checks.difference(&expected.checks).collect();
        for check in expected.checks.difference(&found.checks) {
            let subject = Subject::Check(table.to_owned(), label(check));
            let twin = left.iter().position(|f| label(f) == label(check)).map(|i| left.remove(i));
            match twin {
                Some(twin) => {
                    let tolerated = self.tolerance.check_text && twin.not_valid == check.not_valid;
                    self.push(
                        tolerated,
                        Difference::new(subject, Kind::Definition, check.to_string(), twin.to_string()),
                    );
                }
                None => self.push(false, Difference::new(subject, Kind::Missing, check.to_string(), ABSENT)),
            }
        }
        for check in left {
            let subject = Subject::Check(table.to_owned(), label(check));
            let tolerated = self.tolerance.allows_more(table, Addition::Checks);
            self.push(tolerated, Difference::new(subject, Kind::Unexpected, ABSENT, check.to_string()));
        }
    }

    fn indexes(&mut self, table: &str, expected: &Table, found: &Table) {
        let any_means = self.tolerance.unique_by_any_means(table);
        let by_constraint =
            |t: &Table, i: &Index| any_means && t.unique.iter().any(|u| index_makes_unique(i, &u.columns));
        for name in names(&expected.indexes, &found.indexes) {
            let subject = Subject::Index(table.to_owned(), name.clone());
            match (expected.indexes.get(name), found.indexes.get(name)) {
                (Some(index), None) => {
                    let mut others = found.indexes.iter().filter(|(n, _)| !expected.indexes.contains_key(*n));
                    let tolerated = by_constraint(found, index)
                        || others.any(|(_, other)| self.tolerance.same_open_index(table, index, other));
                    self.push(tolerated, Difference::new(subject, Kind::Missing, index.to_string(), ABSENT));
                }
                (None, Some(index)) => {
                    let tolerated = by_constraint(expected, index)
                        || self.tolerance.allows_more(table, Addition::Indexes)
                        || self.tolerance.is_open_index(table, index);
                    self.push(tolerated, Difference::new(subject, Kind::Unexpected, ABSENT, index.to_string()));
                }
                (Some(expected), Some(found)) if expected != found => {
                    let usable = Index { invalid: false, ..found.clone() };
                    if usable == *expected {
                        self.push(
                            false,
                            Difference::new(subject, Kind::Invalid, expected.to_string(), found.to_string()),
                        );
                    } else {
                        let tolerated = !found.invalid && self.tolerance.same_open_index(table, expected, found);
                        self.push(
                            tolerated,
                            Difference::new(subject, Kind::Definition, expected.to_string(), found.to_string()),
                        );
                    }
                }
                _ => {}
            }
        }
    }
}

/// The aspects in which two columns differ.
fn aspects(e: &Column, f: &Column) -> Vec<(Aspect, Kind, String, String)> {
    let mut out = Vec::new();
    if e.kind != f.kind {
        out.push((Aspect::Type, Kind::Type, e.kind.clone(), f.kind.clone()));
    }
    if e.nullable != f.nullable {
        let text = |nullable| if nullable { "null allowed" } else { "not null" }.to_owned();
        out.push((Aspect::Nullability, Kind::Nullability, text(e.nullable), text(f.nullable)));
    }
    if e.default != f.default {
        let text = |default: &Option<String>| default.clone().unwrap_or_else(|| "no default".to_owned());
        out.push((Aspect::Default, Kind::Default, text(&e.default), text(&f.default)));
    }
    if e.collation != f.collation {
        let text = |collation: &Option<String>| collation.clone().unwrap_or_else(|| TYPES_OWN.to_owned());
        out.push((Aspect::Collation, Kind::Collation, text(&e.collation), text(&f.collation)));
    }
    if e.autoincrement != f.autoincrement {
        let text = |auto| if auto { "autoincrement" } else { "no autoincrement" }.to_owned();
        out.push((Aspect::Autoincrement, Kind::Definition, text(e.autoincrement), text(f.autoincrement)));
    }
    if e.generated != f.generated {
        let text = |generated: &Option<String>| generated.clone().unwrap_or_else(|| "not generated".to_owned());
        out.push((Aspect::Type, Kind::Definition, text(&e.generated), text(&f.generated)));
    }
    out
}

/// A check's name, or the columns it speaks of.
pub(super) fn label(check: &Check) -> String {
    check.name.clone().unwrap_or_else(|| format!("({})", check.columns.join(", ")))
}

fn index_makes_unique(index: &Index, columns: &[String]) -> bool {
    let plain: Vec<_> = index.columns.iter().map(|c| &c.name).collect();
    index.unique && index.predicate.is_none() && !index.invalid && plain.iter().copied().eq(columns)
}

/// What a server does because of a difference.
fn effect(subject: &Subject, kind: Kind, found: &str) -> &'static str {
    match (subject, kind) {
        (Subject::Table(_), Kind::Missing) => "requests that need the table fail",
        (Subject::Table(_), _) => "a server does not look at it",
        (Subject::Column(..), Kind::Missing) => "statements that name the column fail",
        (Subject::Column(..), Kind::Unexpected) => "a server does not look at it",
        (Subject::Column(..), Kind::Type) => "values may be refused or read wrongly",
        (Subject::Column(..), Kind::Nullability) if found == "not null" => "rows that leave it out are refused",
        (Subject::Column(..), Kind::Nullability) => "a row without a value would stop a server that reads it",
        (Subject::Column(..), Kind::Default) => "rows that leave it out get another value, or are refused",
        (Subject::Column(..), Kind::Collation) => "ordered listings can skip or repeat rows",
        (Subject::Column(..), _) => "rows may be numbered otherwise",
        (Subject::PrimaryKey(_) | Subject::Unique(..), Kind::Missing) => {
            "rows can occur twice, and writes that rely on the conflict fail"
        }
        (Subject::PrimaryKey(_) | Subject::Unique(..), _) => "writes may be refused, or rows occur twice",
        (Subject::ForeignKey(..), Kind::Missing) => "rows are left over when what they belong to is deleted",
        (Subject::ForeignKey(..), _) => "deletes may be refused, or leave rows over",
        (Subject::Check(..), Kind::Missing) => "values that the check forbids are taken",
        (Subject::Check(..), _) => "other values are refused than expected",
        (Subject::Index(..), Kind::Missing | Kind::Invalid) => "it works, but searches without the index",
        (Subject::Index(..), Kind::Unexpected) => "writes cost more; a unique index may refuse them",
        (Subject::Index(..), _) => "searches may miss the index; a unique one refuses other rows",
        (Subject::Options(_), _) => "rows may be stored or hidden otherwise",
        (Subject::Sequence(_), Kind::Missing) => "stream records cannot be numbered",
        (Subject::Sequence(_), _) => "stream records may be numbered otherwise",
        (Subject::Row(_), _) => "a server may refuse to start, or run a migration again",
    }
}
