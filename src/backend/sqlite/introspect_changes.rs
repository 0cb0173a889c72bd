//! One change of a declaration is found by introspection and named; a change of its spelling is none.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index as Pick;
use rusqlite::Connection;

use super::introspect::read_schema;
use crate::domain::schema::{Lineage, Schema};
use crate::migrations;

/// The declarations of the newest catalog as SQLite keeps them, with the table of each, and its schema.
static NEWEST: LazyLock<(Vec<(String, String)>, Schema)> = LazyLock::new(|| {
    let conn = Connection::open_in_memory().unwrap();
    for migration in migrations::of_lineage(Lineage::Catalog) {
        for step in &migration.body("sqlite").unwrap().steps {
            if !super::steps::is_done(&conn, step).unwrap() {
                conn.execute_batch(step.sql.as_deref().unwrap()).unwrap();
            }
        }
    }
    let mut statement = conn
        .prepare("SELECT tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC")
        .unwrap();
    let declarations =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let schema = read_schema(&conn, Lineage::Catalog).unwrap().schema;
    (declarations, schema)
});

/// What is replaced, by what. Each is one change where it occurs.
const CHANGES: &[(&str, &str)] = &[
    (" TEXT NOT NULL", " BLOB NOT NULL"),
    (" TEXT NOT NULL", " TEXT"),
    (" TEXT NOT NULL", " TEXT COLLATE NOCASE NOT NULL"),
    (" TEXT,", " TEXT NOT NULL,"),
    (" TEXT,", " TEXT DEFAULT 'x',"),
    (" TEXT,", " TEXT CHECK (1 = 1),"),
    (" TEXT,", " TEXT, zz_new INTEGER,"),
    (" DEFAULT 'AVAILABLE'", " DEFAULT 'CREATING'"),
    (" DEFAULT 0", ""),
    (" DEFAULT (strftime", " DEFAULT (date"),
    (" AUTOINCREMENT", ""),
    (" ON DELETE CASCADE", " ON DELETE SET NULL"),
    (" ON DELETE CASCADE", " ON DELETE CASCADE ON UPDATE CASCADE"),
    (" ON DELETE CASCADE", " ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"),
    (" IN ('user'", " IN ('somebody'"),
    (" > 0", " > 1"),
    (" DESC", ""),
    (" IS NOT NULL", " IS NULL"),
    ("CREATE UNIQUE INDEX", "CREATE INDEX"),
    ("CREATE INDEX", "CREATE UNIQUE INDEX"),
    (" (created_at)", " (created_at COLLATE NOCASE)"),
    ("PRIMARY KEY (", "CHECK (1 = 1), PRIMARY KEY ("),
    ("\n)", "\n) STRICT"),
];

/// What is replaced, by what, without a change of meaning.
const SPELLINGS: &[(&str, &str)] = &[
    (" TEXT NOT NULL", "\n\ttext /* never, ever null) */ not null"),
    (", ", " , -- and\n "),
    ("CREATE TABLE ", "CREATE TABLE /* kept */ "),
    (" DEFAULT 0", " DEFAULT (0)"),
    (" ON DELETE CASCADE", " on delete cascade on update no action"),
    (" IS NOT NULL", " is  not\nnull"),
    ("account_id TEXT", "\"account_id\" TEXT"),
    (" DESC", " desc"),
    (" > 0", " > (0)"),
];

/// Replaces one occurrence in one declaration and makes that table again. Answers what it was and what it is;
/// nothing where the text does not occur, or where SQLite refuses the result.
fn changed(change: (&str, &str), which: &Pick) -> Option<(Schema, Schema)> {
    let declarations = &NEWEST.0;
    let sites: Vec<(usize, usize)> = declarations
        .iter()
        .enumerate()
        .flat_map(|(d, (_, sql))| sql.match_indices(change.0).map(move |(at, _)| (d, at)))
        .collect();
    if sites.is_empty() {
        return None;
    }
    let (declaration, at) = sites[which.index(sites.len())];
    let table = &declarations[declaration].0;
    let conn = Connection::open_in_memory().unwrap();
    for (d, (of, sql)) in declarations.iter().enumerate() {
        if of != table {
            continue;
        }
        let mut sql = sql.clone();
        if d == declaration {
            sql.replace_range(at..at + change.0.len(), change.1);
        }
        if conn.execute_batch(&sql).is_err() {
            return None;
        }
    }
    let found = read_schema(&conn, Lineage::Catalog).unwrap().schema;
    Some((NEWEST.1.restricted_to(|name| name == table).0, found))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_change_of_a_declaration_is_found(change in prop::sample::select(CHANGES), which in any::<Pick>()) {
        let Some((before, after)) = changed(change, &which) else { return Ok(()) };
        let differences = Schema::diff(&before, &after);
        // A strict table refuses null in its key, which is a second difference.
        let more = usize::from(change.1.ends_with("STRICT"));
        prop_assert!((1..=1 + more).contains(&differences.len()), "{:?}: {:?}", change, differences);
    }

    #[test]
    fn a_change_of_spelling_is_none(spelling in prop::sample::select(SPELLINGS), which in any::<Pick>()) {
        let Some((before, after)) = changed(spelling, &which) else { return Ok(()) };
        let differences = Schema::diff(&before, &after);
        prop_assert!(differences.is_empty(), "{:?}: {:?}", spelling, differences);
    }
}

/// Each of the changes is possible somewhere, so that none is never tried.
#[test]
fn every_change_occurs() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let picks: Vec<Pick> = (0..40).map(|_| any::<Pick>().new_tree(&mut runner).unwrap().current()).collect();
    for change in CHANGES.iter().chain(SPELLINGS) {
        assert!(picks.iter().any(|pick| changed(*change, pick).is_some()), "{change:?}");
    }
}
