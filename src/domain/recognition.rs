//! Which version a lineage is at, in which variant, and what is wrong with it: pure decisions over
//! a schema, the ledgers and the known versions.
//!
//! The number alone is no proof: it is compared with the columns and with the ledger, and what was
//! found is said. Source: ledgers page of PostgreSQL, sections 3 and 4; of SQLite, section 3.

use serde::Serialize;

use super::applied::{Entry, Outcome};
use super::difference::{ABSENT, Comparison, Difference, Kind, Subject, compare};
use super::fingerprint::Fingerprint;
use super::known::{Fit, Known};
use super::migration::CatalogVersion;
use super::recorded::{Introspection, Recorded};
use super::records::{self, Records};
use super::schema::{Lineage, Schema};
use super::tolerance::Tolerance;

/// State of a lineage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing is there.
    Empty,
    /// At the version this build leads to, with nothing wrong.
    Current,
    /// At an older version, with nothing wrong.
    Behind,
    /// At a version that this build does not know, newer than all it knows.
    Ahead,
    /// At a known version, with differences.
    Drifted,
    /// Nothing that this build knows.
    Unrecognised,
    /// A migration stopped in the middle.
    Interrupted,
}

impl State {
    /// The word in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Current => "current",
            Self::Behind => "behind",
            Self::Ahead => "ahead",
            Self::Drifted => "drifted",
            Self::Unrecognised => "unrecognised",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a lineage was recognised as.
#[derive(Debug, Clone)]
pub struct Recognition {
    /// The lineage.
    pub lineage: Lineage,
    /// Version that the deployment says it has.
    pub recorded_version: Option<String>,
    /// Version that its schema has.
    pub recognised_version: Option<String>,
    /// Named deviations, in words that occur in no version's name: `0.0.2-a`, `rival third file`.
    pub variants: Vec<String>,
    /// State.
    pub state: State,
    /// Fingerprint of the tables that belong to the lineage; none where nothing is there.
    pub fingerprint: Option<Fingerprint>,
    /// Fingerprint that the recognised version has in that variant.
    pub expected_fingerprint: Option<Fingerprint>,
    /// What is wrong.
    pub drift: Vec<Difference>,
    /// What is worth knowing and wrong with nobody.
    pub notes: Vec<String>,
    /// Tables and other objects that are no part of any version.
    pub extras: Vec<String>,
    /// Why it must not be touched, where it must not.
    pub refusal: Option<String>,
}

impl Recognition {
    /// Whether everything that is wrong can be repaired without losing data.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        self.refusal.is_none() && self.drift.iter().all(|d| d.repairable)
    }
}

/// Everything recognition looks at.
pub struct Evidence<'a> {
    /// Schema and other objects.
    pub found: &'a Introspection,
    /// Versions, ledgers, settings.
    pub recorded: &'a Recorded,
    /// Our own ledger, oldest first.
    pub history: &'a [Entry],
}

/// Recognises one lineage.
#[must_use]
pub fn recognise(known: &Known, evidence: &Evidence<'_>) -> Recognition {
    let (own, left) = known.own_part(&evidence.found.schema);
    let records = records::read(known, evidence);
    let mut out = Recognition {
        lineage: known.lineage,
        recorded_version: records.version.clone(),
        recognised_version: None,
        variants: Vec::new(),
        state: State::Unrecognised,
        fingerprint: (!own.is_empty()).then(|| Fingerprint::of(&own)),
        expected_fingerprint: None,
        drift: Vec::new(),
        notes: records.notes.clone(),
        extras: extras(known, left, evidence.found),
        refusal: records.refusal.clone(),
    };
    if own.is_empty() {
        out.state = if out.refusal.is_some() { State::Unrecognised } else { State::Empty };
        return out;
    }
    if known.versions.is_empty() {
        out.notes.push("this build has no golden schema to compare it with".to_owned());
        return out;
    }
    if records.is_newer {
        out.state = State::Ahead;
        return out;
    }
    if out.refusal.is_some() {
        return out;
    }
    match choose(known, &own, evidence, &records) {
        Choice::At(fit) => settle(known, &own, evidence, &records, fit, &mut out),
        Choice::Between(from, fit) => {
            let to = &known.versions[fit.at].version;
            out.state = State::Interrupted;
            out.recognised_version = Some(from.clone());
            out.notes.push(format!("between {from} and {to}: some objects of {to} are there already"));
            out.drift = missing_only(fit.comparison);
        }
        Choice::Nothing(reason) => out.refusal = Some(reason),
    }
    out
}

enum Choice {
    /// At a version, perhaps with differences.
    At(Fit),
    /// Between the named version and the one of the fit.
    Between(String, Fit),
    /// Nothing that is known.
    Nothing(String),
}

/// Finds the version that the schema has.
fn choose(known: &Known, own: &Schema, evidence: &Evidence<'_>, records: &Records) -> Choice {
    let fits: Vec<Fit> = (0..known.versions.len()).map(|at| known.fit(at, own, evidence.recorded)).collect();
    let recorded = records.version.as_deref().and_then(|v| known.position(v));
    let exact = |at: usize| fits[at].comparison.differences.is_empty();
    if let Some(at) = recorded.filter(|&at| exact(at)).or_else(|| (0..fits.len()).rev().find(|&at| exact(at))) {
        return Choice::At(fits[at].clone());
    }
    let unfinished = records.unfinished.as_deref().and_then(|v| known.position(v));
    let step = unfinished.and_then(|to| to.checked_sub(1)).or(recorded);
    if let Some(from) = step.filter(|from| from + 1 < fits.len())
        && is_between(&fits[from].comparison, &fits[from + 1].comparison)
    {
        return Choice::Between(known.versions[from].version.clone(), fits[from + 1].clone());
    }
    let lacks_settings = known.lineage == Lineage::Catalog && !own.tables.contains_key("settings");
    if lacks_settings {
        let names: Vec<_> = own.tables.keys().map(String::as_str).collect();
        return Choice::Nothing(format!(
            "there is no table settings beside {}: this is no catalog, or what is left of one",
            names.join(", ")
        ));
    }
    if let Some(at) = recorded {
        return Choice::At(fits[at].clone());
    }
    if known.lineage == Lineage::Catalog {
        return Choice::Nothing("the catalog names no version and its tables are those of none".to_owned());
    }
    let nearest = fits.into_iter().min_by_key(|fit| fit.comparison.differences.len());
    nearest.map_or_else(|| Choice::Nothing("nothing is known of it".to_owned()), Choice::At)
}

/// Whether every object is either as in the older version or on its way to the newer one: a new table may
/// still lack indexes, and a new column may still allow null.
fn is_between(older: &Comparison, newer: &Comparison) -> bool {
    older.differences.iter().all(|o| {
        newer.differences.iter().filter(|n| concerns(o, n)).all(|n| {
            let on_its_way = matches!(
                (&n.subject, n.kind),
                (Subject::Index(..), Kind::Missing) | (Subject::Column(..), Kind::Nullability)
            );
            o.kind == Kind::Unexpected && on_its_way
        })
    })
}

/// Whether two differences are about the same object; all that a table has is about the table.
fn concerns(a: &Difference, b: &Difference) -> bool {
    match &a.subject {
        Subject::Table(table) => b.subject.table() == Some(table),
        subject => *subject == b.subject,
    }
}

fn missing_only(comparison: Comparison) -> Vec<Difference> {
    comparison.differences.into_iter().filter(|d| d.kind != Kind::Unexpected).collect()
}

/// Judges a schema that was found to be at a version.
fn settle(known: &Known, own: &Schema, evidence: &Evidence<'_>, records: &Records, fit: Fit, out: &mut Recognition) {
    let version = &known.versions[fit.at];
    out.recognised_version = Some(version.version.clone());
    out.variants = fit.variants.iter().map(|v| v.name.clone()).collect();
    out.notes.extend(fit.variants.iter().filter(|v| !v.says.is_empty()).map(|v| format!("{}: {}", v.name, v.says)));
    let expected = Fingerprint::of(&fit.expected);
    out.expected_fingerprint = Some(expected);
    if made_exactly(known, &version.version, &expected, evidence.history) {
        out.drift = compare(&fit.expected, own, &Tolerance::default()).differences;
        out.drift.iter_mut().for_each(|difference| known.explain(difference, fit.at));
    } else {
        out.notes.extend(
            fit.comparison.tolerated.iter().map(|d| format!("left open by what is known of {}: {d}", version.version)),
        );
        out.drift = fit.comparison.differences;
    }
    let judged = records::judge(known, fit.at, &fit.variants, evidence, records);
    out.drift.extend(judged.drift);
    out.notes.extend(judged.notes);
    if judged.ledger_is_one_behind {
        out.variants.push("version ahead of the ledger".to_owned());
    }
    if let Some(refusal) = judged.refusal {
        out.refusal = Some(refusal);
        out.state = if judged.is_mixed { State::Interrupted } else { State::Unrecognised };
        return;
    }
    let newest = fit.at + 1 == known.versions.len();
    let unfinished = records.unfinished.is_some() || judged.ledger_is_one_behind;
    out.state = match (unfinished, out.drift.is_empty(), newest) {
        (true, ..) => State::Interrupted,
        (false, false, _) => State::Drifted,
        (false, true, true) => State::Current,
        (false, true, false) => State::Behind,
    };
}

/// Whether our own ledger says that this very version was made here, exactly as the golden schema has it.
/// Then nothing about it is open.
fn made_exactly(known: &Known, version: &str, expected: &Fingerprint, history: &[Entry]) -> bool {
    let ended = |e: &&Entry| e.lineage == known.lineage && e.finished_at.is_some() && e.outcome != Outcome::Accepted;
    history.iter().rev().find(ended).is_some_and(|entry| {
        entry.version == version
            && entry.outcome != Outcome::Undone
            && entry.fingerprint_after.as_deref() == Some(expected.to_string().as_str())
    })
}

fn extras(known: &Known, left: Vec<String>, found: &Introspection) -> Vec<String> {
    let table = |name: String| match known.rules.other_tables.get(&name) {
        Some(meaning) => format!("table {name} ({meaning})"),
        None => format!("table {name}"),
    };
    let mut out: Vec<String> = left.into_iter().map(table).collect();
    out.extend(found.extras.iter().cloned());
    out
}

/// A difference of a row of a setting or a ledger.
#[must_use]
pub fn row(object: impl Into<String>, kind: Kind, expected: &str, found: &str, repairable: bool) -> Difference {
    let mut difference = Difference::new(Subject::Row(object.into()), kind, expected, found);
    difference.repairable = repairable;
    difference
}

/// Reads a version as the server does.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_version(text: &str) -> Result<CatalogVersion, String> {
    text.parse()
}

/// What a row that is not there says.
pub const NO_ROW: &str = ABSENT;
