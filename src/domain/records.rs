//! Judges what a deployment says of itself: the version, the ledgers, our own history.
//!
//! A worn row gives a note or a difference that names it; nothing here panics over stored text.

use std::collections::BTreeSet;

use super::applied::Outcome;
use super::difference::{Difference, Kind};
use super::known::{Known, Variant};
use super::recognition::{Evidence, NO_ROW, parse_version, row};
use super::recorded::{LedgerRow, Recorded};
use super::schema::Lineage;
use super::timestamp::TimestampMs;

/// The code migration of the data that must be whole.
const ESCAPE: &str = "004_escape_control_chars";

/// What the records say before the schema is looked at.
#[derive(Debug, Clone, Default)]
pub struct Records {
    /// The version they name.
    pub version: Option<String>,
    /// That version is newer than all that are known.
    pub is_newer: bool,
    /// A migration to this version was begun by us and has no end.
    pub unfinished: Option<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// Why nothing may be touched.
    pub refusal: Option<String>,
}

/// What the records say of a version that was recognised.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// What is wrong.
    pub drift: Vec<Difference>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// The last file was applied and is not recorded: a server's own migrate was stopped between the two.
    pub ledger_is_one_behind: bool,
    /// Why nothing may be touched.
    pub refusal: Option<String>,
    /// The data are half rewritten.
    pub is_mixed: bool,
}

/// Reads what the records of a lineage say.
#[must_use]
pub fn read(known: &Known, evidence: &Evidence<'_>) -> Records {
    let mut out = Records::default();
    match known.lineage {
        Lineage::Catalog => read_catalog(known, evidence.recorded, &mut out),
        Lineage::Data => read_data(known, evidence.recorded, &mut out),
        Lineage::Admin => {}
    }
    let last = evidence.history.iter().rev().find(|e| e.lineage == known.lineage && e.outcome != Outcome::Accepted);
    if let Some(entry) = last {
        if entry.finished_at.is_none() {
            out.unfinished = Some(entry.version.clone());
            out.notes.push(format!(
                "{} {} to {}, begun {} by {}, has no end in our ledger (row {})",
                known.lineage,
                entry.outcome.word(),
                entry.version,
                entry.started_at,
                entry.applied_by,
                entry.id
            ));
        }
        if known.lineage == Lineage::Admin {
            let finished = evidence
                .history
                .iter()
                .rev()
                .find(|e| e.lineage == Lineage::Admin && e.finished_at.is_some() && e.outcome != Outcome::Accepted);
            out.version = finished.map(|e| e.version.clone());
        }
    }
    out
}

fn read_catalog(known: &Known, recorded: &Recorded, out: &mut Records) {
    if let Some(name) = recorded.foreign_ledgers.first() {
        out.refusal = Some(format!(
            "there is a table {name}: a ledger that was announced for a later ExtendDB and is not known to this build"
        ));
    }
    out.notes.extend(worn_rows("schema_history of the catalog", &recorded.ledger));
    if recorded.nameless_settings > 0 {
        out.notes.push(format!("settings: {} row(s) without a key", recorded.nameless_settings));
    }
    let none = Vec::new();
    let versions = recorded.settings.get("catalog_version").unwrap_or(&none);
    for (key, values) in recorded.settings.iter().filter(|(key, _)| *key != "catalog_version") {
        if values.len() > 1 {
            out.notes.push(format!("settings: {} rows {key:?}", values.len()));
        }
        if values.iter().any(Option::is_none) {
            out.notes.push(format!("settings: the row {key:?} has no value"));
        }
    }
    let distinct: BTreeSet<&Option<String>> = versions.iter().collect();
    if distinct.len() > 1 {
        let values: Vec<_> = versions.iter().map(|v| v.as_deref().unwrap_or("null")).collect();
        out.refusal.get_or_insert(format!("settings has several rows catalog_version: {}", values.join(", ")));
        return;
    }
    if versions.len() > 1 {
        out.notes.push(format!("settings: {} equal rows \"catalog_version\"", versions.len()));
    }
    let Some(version) = versions.first() else { return };
    let Some(version) = version else {
        out.notes.push("settings: the row \"catalog_version\" has no value".to_owned());
        return;
    };
    out.version = Some(version.clone());
    let parsed = match parse_version(version) {
        Ok(parsed) => parsed,
        Err(problem) => {
            out.refusal.get_or_insert(format!("settings.catalog_version is {problem}"));
            return;
        }
    };
    let newest = known.newest().and_then(|v| parse_version(&v.version).ok());
    if newest.is_some_and(|newest| parsed > newest) {
        out.is_newer = true;
        out.refusal.get_or_insert(format!(
            "the catalog is at {version}, newer than all this build knows (up to {})",
            newest.map(|n| n.to_string()).unwrap_or_default()
        ));
    } else if known.position(version).is_none() {
        out.refusal.get_or_insert(format!("the catalog says it is at {version}, a version that was never released"));
    }
}

fn read_data(known: &Known, recorded: &Recorded, out: &mut Records) {
    if let Some(reason) = &recorded.data_unreachable {
        out.refusal = Some(format!("the data database could not be read: {reason}"));
        return;
    }
    if !recorded.one_database {
        out.notes.extend(worn_rows("schema_history of the data", &recorded.data_ledger));
    }
    out.version = known
        .versions
        .iter()
        .rev()
        .find(|v| has_row(&recorded.data_ledger, v.ledger_row.as_deref()))
        .map(|v| v.version.clone());
    let named = |name: &str| has_row(&recorded.data_ledger, Some(name));
    for (name, meaning) in &known.rules.other_ledger_rows {
        if named(name) && !meaning.is_empty() {
            out.notes.push(format!("{name} is recorded: {meaning}"));
        }
    }
    if recorded.legacy_physical_names > 0 {
        out.notes.push(format!(
            "{} tables of items are named by account and table, as the oldest builds did",
            recorded.legacy_physical_names
        ));
    }
}

/// Compares the records with a version that the schema was recognised as.
#[must_use]
pub fn judge(known: &Known, at: usize, variants: &[Variant], evidence: &Evidence<'_>, records: &Records) -> Judgement {
    let mut out = Judgement::default();
    match known.lineage {
        Lineage::Catalog => {
            judge_ledger(known, at, variants, &evidence.recorded.ledger, "schema_history", &mut out);
            judge_version(known, at, evidence.recorded, records, &mut out);
        }
        Lineage::Data => {
            let recorded = evidence.recorded;
            if recorded.data_progress.iter().any(|name| name == ESCAPE) && !has_row(&recorded.data_ledger, Some(ESCAPE))
            {
                out.is_mixed = true;
                out.refusal = Some(format!(
                    "the rewrite {ESCAPE} was begun and not finished: escaped and plain texts are mixed; \
                     let the server's own migrate finish it"
                ));
            }
            if !known.versions.iter().any(|v| has_row(&recorded.data_ledger, v.ledger_row.as_deref())) {
                out.notes.push("no ledger row of the data, as the builds up to June 2026 left it".to_owned());
            } else {
                judge_ledger(known, at, variants, &recorded.data_ledger, "schema_history of the data", &mut out);
            }
        }
        Lineage::Admin => {}
    }
    out
}

/// Compares a ledger with the rows that a version has.
fn judge_ledger(
    known: &Known,
    at: usize,
    variants: &[Variant],
    ledger: &[LedgerRow],
    table: &str,
    out: &mut Judgement,
) {
    let swapped: Vec<&str> = variants.iter().flat_map(|v| &v.lacks_ledger_rows).map(String::as_str).collect();
    let own_names = |up_to: usize| known.versions.iter().take(up_to).filter_map(|v| v.ledger_row.as_deref());
    let expected: Vec<&str> = own_names(at + 1).filter(|name| !swapped.contains(name)).collect();
    let later: Vec<&str> =
        own_names(known.versions.len()).filter(|name| !expected.contains(name) && !swapped.contains(name)).collect();
    let object = |name: &str| format!("row {name} of {table}");
    let missing: Vec<&str> = expected.iter().copied().filter(|name| !has_row(ledger, Some(name))).collect();
    let last = known.versions[at].ledger_row.as_deref();
    match missing.as_slice() {
        [] => {}
        [only] if Some(*only) == last => {
            out.ledger_is_one_behind = true;
            out.drift.push(row(object(only), Kind::Missing, "present", NO_ROW, true));
        }
        several => {
            out.drift.extend(several.iter().map(|name| row(object(name), Kind::Missing, "present", NO_ROW, false)));
        }
    }
    for name in later.iter().filter(|name| has_row(ledger, Some(name))) {
        out.drift.push(row(object(name), Kind::Unexpected, NO_ROW, "present", false));
    }
    let of_variants: Vec<&str> = variants.iter().filter_map(|v| v.ledger_row.as_deref()).collect();
    let known_names = |name: &str| {
        own_names(known.versions.len()).any(|n| n == name)
            || of_variants.contains(&name)
            || known.rules.other_ledger_rows.contains_key(name)
    };
    let open_end =
        at + 1 == known.versions.len() && known.versions[at].ledger_row.is_none() && known.lineage == Lineage::Catalog;
    for name in ledger.iter().filter_map(|r| r.filename.as_deref()).filter(|name| !known_names(name)) {
        if open_end || known.backend == "sqlite" {
            out.notes.push(format!("{} is recorded; it is not known to this build", object(name)));
        } else {
            out.refusal.get_or_insert(format!("{} names a migration that this build does not know", object(name)));
        }
    }
}

/// Compares the recorded number, and what goes with it, with the version that was recognised.
fn judge_version(known: &Known, at: usize, recorded: &Recorded, records: &Records, out: &mut Judgement) {
    let version = known.versions[at].version.as_str();
    let newest = at + 1 == known.versions.len();
    let has_id = recorded.settings.get("catalog_id").is_some_and(|rows| rows.iter().any(Option::is_some));
    match records.version.as_deref() {
        Some(recorded) if recorded == version => {}
        Some(older) if newest && has_id => out
            .notes
            .push(format!("settings.catalog_version says {older}; tables and catalog_id are those of {version}")),
        found => {
            let found = found.unwrap_or(NO_ROW);
            let kind = if found == NO_ROW { Kind::Missing } else { Kind::Definition };
            out.drift.push(row("setting catalog_version", kind, version, found, true));
        }
    }
    if newest && known.versions[at].ledger_row.is_none() && !has_id && known.versions.len() > 1 {
        out.drift.push(row("setting catalog_id", Kind::Missing, "present", NO_ROW, true));
    }
}

fn has_row(ledger: &[LedgerRow], name: Option<&str>) -> bool {
    name.is_some_and(|name| ledger.iter().any(|r| r.filename.as_deref() == Some(name)))
}

/// Notes on rows that no server writes.
fn worn_rows(table: &str, ledger: &[LedgerRow]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (i, r) in ledger.iter().enumerate() {
        let named =
            r.filename.as_deref().map_or_else(|| format!("row {} (no file name)", i + 1), |n| format!("row {n}"));
        match r.filename.as_deref() {
            None => notes.push(format!("{table}: {named}")),
            Some(name) if !seen.insert(name) => notes.push(format!("{table}: {named} occurs more than once")),
            Some(_) => {}
        }
        match r.applied_at.as_deref() {
            None => notes.push(format!("{table}: {named} has no time")),
            Some(time) if !is_time(time) => {
                notes.push(format!("{table}: {named} has the time {time:?}, which is none"))
            }
            Some(_) => {}
        }
    }
    notes
}

/// Accepts what both backends write: RFC 3339, and PostgreSQL's `2026-06-01 10:20:30.123456+00`.
fn is_time(text: &str) -> bool {
    if text.parse::<TimestampMs>().is_ok() {
        return true;
    }
    let Some((date, time)) = text.split_once(' ') else { return false };
    let time = if time.len() > 3 && matches!(time.as_bytes()[time.len() - 3], b'+' | b'-') {
        format!("{time}:00")
    } else {
        time.to_owned()
    };
    format!("{date}T{time}").parse::<TimestampMs>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_both_backends_are_times_and_others_are_none() {
        assert!(is_time("2026-06-01 10:20:30.123456+00"));
        assert!(is_time("2026-06-01T10:20:30.123Z"));
        assert!(is_time("2026-06-01 10:20:30"));
        assert!(!is_time("yesterday") && !is_time("") && !is_time("infinity") && !is_time("2026-13-01 10:20:30+00"));
        assert!(!is_time("ünï 2026"));
    }

    #[test]
    fn worn_ledger_rows_are_named() {
        let row = |name: Option<&str>, time: Option<&str>| LedgerRow {
            filename: name.map(Into::into),
            applied_at: time.map(Into::into),
        };
        let notes = worn_rows(
            "schema_history",
            &[row(None, None), row(Some("a"), Some("2026-06-01T10:20:30Z")), row(Some("a"), Some("soon"))],
        );
        assert_eq!(
            notes,
            [
                "schema_history: row 1 (no file name)",
                "schema_history: row 1 (no file name) has no time",
                "schema_history: row a occurs more than once",
                "schema_history: row a has the time \"soon\", which is none",
            ]
        );
    }
}
