//! Rows that no server writes: named in a note or an error, never a panic.

use extenddb_admin::domain::recognition::State;

use crate::recognition::{catalog, objects};
use crate::support::{Deployment, Kind, on_every_backend};

fn rows_of_settings_that_are_worn_are_named(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    // The key is gone, as after a careless copy of the table.
    match kind {
        Kind::Postgres => db.exec("ALTER TABLE settings DROP CONSTRAINT settings_pkey; ALTER TABLE settings ALTER key DROP NOT NULL; ALTER TABLE settings ALTER value DROP NOT NULL"),
        Kind::Sqlite => db.exec("CREATE TABLE s AS SELECT * FROM settings; DROP TABLE settings; ALTER TABLE s RENAME TO settings"),
    }
    db.exec("INSERT INTO settings (key, value) VALUES (NULL, 'x'), ('catalog_version', '0.0.4'), ('default_account_id', NULL)");
    let found = catalog(&deployment);
    assert_eq!(found.recorded_version.as_deref(), Some("0.0.4"));
    assert_eq!(found.state, State::Drifted);
    assert!(objects(&found).contains(&"primary key of settings"), "{:?}", objects(&found));
    for note in [
        "1 row(s) without a key",
        "2 equal rows \"catalog_version\"",
        "2 rows \"default_account_id\"",
        "\"default_account_id\" has no value",
    ] {
        assert!(found.notes.iter().any(|n| n.contains(note)), "{note}: {:?}", found.notes);
    }
    db.exec("INSERT INTO settings (key, value) VALUES ('catalog_version', '0.0.3')");
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Unrecognised);
    assert!(found.refusal.unwrap().contains("several rows catalog_version"));
    db.exec("DELETE FROM settings WHERE key = 'catalog_version'; INSERT INTO settings (key, value) VALUES ('catalog_version', NULL)");
    let found = catalog(&deployment);
    assert!(found.notes.iter().any(|n| n.contains("\"catalog_version\" has no value")), "{:?}", found.notes);
    deployment.run(["migrate", "up", "--yes"]);
    assert_eq!(db.rows("SELECT value FROM settings WHERE key = 'catalog_version'"), [[None::<String>]]);
}

fn rows_of_the_ledger_that_are_worn_are_named(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    let times = match kind {
        Kind::Postgres => {
            db.exec(
                "ALTER TABLE schema_history DROP CONSTRAINT schema_history_pkey; \
                 ALTER TABLE schema_history ALTER filename DROP NOT NULL, ALTER applied_at DROP NOT NULL",
            );
            ["'infinity'", "'2026-06-01 10:20:30+00'"]
        }
        Kind::Sqlite => {
            db.exec("CREATE TABLE h (filename TEXT, applied_at); INSERT INTO h SELECT * FROM schema_history; DROP TABLE schema_history; ALTER TABLE h RENAME TO schema_history");
            ["'last week'", "x'ff00'"]
        }
    };
    db.exec(&format!(
        "INSERT INTO schema_history (filename, applied_at) VALUES (NULL, NULL), ('001_schema.sql', {}), ('001_schema.sql', {})",
        times[0], times[1]
    ));
    let found = catalog(&deployment);
    for note in ["(no file name)", "has no time", "001_schema.sql occurs more than once", "which is none"] {
        assert!(found.notes.iter().any(|n| n.contains(note)), "{note}: {:?}", found.notes);
    }
    assert!(objects(&found).iter().any(|o| o.contains("schema_history")), "{:?}", objects(&found));
}

/// Tables of these names with other columns are looked at, and not read.
fn tables_of_another_shape_are_drift_and_no_error(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    db.exec("DROP TABLE schema_history; CREATE TABLE schema_history (version INTEGER PRIMARY KEY, checksum TEXT)");
    let found = catalog(&deployment);
    assert!(objects(&found).contains(&"column schema_history.filename"), "{:?}", objects(&found));
    db.exec("DROP TABLE settings; CREATE TABLE settings (name TEXT PRIMARY KEY, setting TEXT)");
    assert_eq!(catalog(&deployment).state, State::Unrecognised);
}

fn an_odd_version_is_quoted_and_not_followed(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    for odd in ["", " 0.0.4", "0.0.4 ", "٠.٠.٤", "0.0.99999999999999999999", "-0.0.4", "0.0.4\n", "v0.0.4"] {
        deployment.catalog().exec(&format!("UPDATE settings SET value = '{odd}' WHERE key = 'catalog_version'"));
        let found = catalog(&deployment);
        assert_eq!(found.state, State::Unrecognised, "{odd:?}");
        assert!(found.refusal.unwrap().contains(&format!("{odd:?}")), "{odd:?}");
    }
}

on_every_backend!(
    rows_of_settings_that_are_worn_are_named,
    rows_of_the_ledger_that_are_worn_are_named,
    tables_of_another_shape_are_drift_and_no_error,
    an_odd_version_is_quoted_and_not_followed,
);

#[test]
fn a_file_that_is_no_database_is_an_error_and_no_panic() {
    let deployment = Deployment::empty(Kind::Sqlite);
    std::fs::write(
        deployment.sqlite_path(),
        "this is a text file, and a long enough one to have a header of 100 bytes in it, which SQLite reads first",
    )
    .unwrap();
    let run = deployment.run(["schema", "dump"]).exits(1);
    assert!(run.stderr.contains("not a database"), "{}", run.stderr);
}

#[test]
fn names_that_need_quotes_are_read() {
    let deployment = Deployment::released(Kind::Sqlite, "0.0.4");
    deployment.catalog().exec(
        "CREATE TABLE \"it's \"\"odd\"\"\" (\"a b\" TEXT, [c'd] TEXT CHECK ([c'd] <> ''''), \
         UNIQUE (\"a b\")); CREATE INDEX \"idx \"\"1\"\"\" ON \"it's \"\"odd\"\"\" (\"a b\" COLLATE NOCASE DESC) WHERE \"a b\" IS NOT NULL",
    );
    let found = catalog(&deployment);
    assert_eq!((found.state, found.drift.len()), (State::Behind, 0));
    assert_eq!(found.extras, ["table it's \"odd\""]);
}
