//! Every version and variant is recognised by name, on real databases; what must not be touched is refused.

use extenddb_admin::domain::recognition::State;
use extenddb_admin::domain::schema::Lineage;
use extenddb_admin::ops::migrate::status::{LineageStatus, StatusReport, status};

use crate::support::deployment::released;
use crate::support::{Deployment, Kind, on_every_backend};

pub fn look(deployment: &Deployment) -> StatusReport {
    let seam = deployment.open_read_only();
    seam.wait(status(&*seam.backend)).unwrap()
}

pub fn catalog(deployment: &Deployment) -> LineageStatus {
    look(deployment).lineage(Lineage::Catalog).unwrap().clone()
}

pub fn objects(status: &LineageStatus) -> Vec<&str> {
    status.drift.iter().map(|d| d.object.as_str()).collect()
}

/// Nothing is wrong with it.
#[track_caller]
fn is_at(status: &LineageStatus, version: &str, variant: Option<&str>, state: State) {
    let drift: Vec<String> = status.drift.iter().map(ToString::to_string).collect();
    assert!(drift.is_empty() && status.refusal.is_none(), "{drift:#?} {:?}", status.refusal);
    assert_eq!(status.recognised_version.as_deref(), Some(version));
    assert_eq!(status.variant.as_deref(), variant);
    assert_eq!(status.state, state, "{:?}", status.notes);
}

fn every_released_shape_is_recognised_by_name(kind: Kind) {
    for shape in released(kind).iter().filter(|s| **s != "0.0.5") {
        let deployment = Deployment::released(kind, shape);
        let report = look(&deployment);
        let (version, suffix) = shape.split_once('-').unwrap_or((shape, ""));
        let variant = match (kind, version, suffix) {
            (_, _, "a") => Some("0.0.2-a"),
            (_, _, "b") => Some("0.0.2-b"),
            (_, _, "rival") => Some("rival third file"),
            (Kind::Postgres, "0.0.2", "") => Some("0.0.2-c"),
            _ => None,
        };
        let catalog = report.lineage(Lineage::Catalog).unwrap();
        is_at(catalog, version, variant, State::Behind);
        assert_eq!(catalog.recorded_version.as_deref(), Some(version));
        assert_eq!(catalog.target_version.as_deref(), Some("0.0.5"));
        assert_eq!(catalog.pending.last().unwrap().name, "backup_catalog_index");
        // Fixtures of SQLite have a key without AUTOINCREMENT from 0.0.4 on, which is open.
        let open = kind == Kind::Sqlite && version == "0.0.4";
        assert_eq!(catalog.fingerprint == catalog.golden_fingerprint, !open, "{shape}");
        if kind == Kind::Postgres {
            let data = report.lineage(Lineage::Data).unwrap();
            let old = matches!(suffix, "a" | "b");
            let (version, state) =
                if old { ("001_data_schema", State::Behind) } else { ("004_vector_index_state", State::Current) };
            is_at(data, version, None, state);
            assert_eq!(data.recorded_version.is_none(), old);
        }
        assert_eq!(report.lineage(Lineage::Admin).unwrap().state, State::Empty);
    }
}

fn the_newest_catalog_is_current(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let report = look(&deployment);
    for lineage in &report.lineages {
        assert_eq!(lineage.state, State::Current, "{lineage:?}");
        assert!(lineage.pending.is_empty() && lineage.drift.is_empty());
    }
    is_at(report.lineage(Lineage::Catalog).unwrap(), "0.0.5", None, State::Current);
}

fn a_fresh_install_is_current(kind: Kind) {
    let deployment = Deployment::empty(kind);
    let before = look(&deployment);
    assert!(before.lineages.iter().all(|l| l.state == State::Empty && l.refusal.is_none()));
    deployment.run(["migrate", "up", "--yes"]).succeeds();
    for lineage in &look(&deployment).lineages {
        assert_eq!(lineage.state, State::Current, "{lineage:?}");
        assert!(lineage.drift.is_empty(), "{lineage:?}");
        // Where one database holds both, the shards of the data refer to the catalog's tables.
        if lineage.lineage != Lineage::Data {
            assert_eq!(lineage.fingerprint, lineage.golden_fingerprint);
        }
    }
}

fn a_version_ahead_of_its_ledger_is_an_interrupted_migrate(kind: Kind) {
    if kind == Kind::Sqlite {
        return; // its ledger stays empty, which every released shape shows
    }
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DELETE FROM schema_history WHERE filename = '003_backup_definitions.sql'");
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Interrupted);
    assert_eq!(found.variant.as_deref(), Some("version ahead of the ledger"));
    assert_eq!(objects(&found), ["row 003_backup_definitions.sql of schema_history"]);
    assert!(found.is_repairable());
}

fn half_a_ledger_is_drift_and_an_unknown_row_is_refused(kind: Kind) {
    if kind == Kind::Sqlite {
        return;
    }
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DELETE FROM schema_history WHERE filename = '001_schema.sql'");
    let found = catalog(&deployment);
    assert_eq!((found.state, objects(&found)), (State::Drifted, vec!["row 001_schema.sql of schema_history"]));
    assert!(!found.is_repairable());
    let deployment = Deployment::released(kind, "0.0.3");
    deployment.catalog().exec("INSERT INTO schema_history (filename) VALUES ('003_backup_definitions.sql')");
    let found = catalog(&deployment);
    assert_eq!(
        (found.state, objects(&found)),
        (State::Drifted, vec!["row 003_backup_definitions.sql of schema_history"])
    );
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("INSERT INTO schema_history (filename) VALUES ('004_of_tomorrow.sql')");
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Unrecognised);
    assert!(found.refusal.unwrap().contains("004_of_tomorrow.sql"));
}

fn both_third_files_are_recognised(kind: Kind) {
    if kind == Kind::Sqlite {
        return;
    }
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec(
        "DROP TABLE continuous_backups; INSERT INTO schema_history (filename) VALUES ('003_drop_continuous_backups.sql')",
    );
    is_at(&catalog(&deployment), "0.0.4", Some("rival third file and the released one"), State::Behind);
    // What our own migration makes of the rival's catalog: the table is there again, the row is kept.
    let deployment = Deployment::released(kind, "0.0.4-rival");
    deployment.run(["migrate", "up", "--yes"]).succeeds();
    is_at(&catalog(&deployment), "0.0.5", Some("rival third file, made good"), State::Current);
}

fn catalogs_that_are_newer_or_unknown_are_refused_and_untouched(kind: Kind) {
    let number = |version: &str| format!("UPDATE settings SET value = '{version}' WHERE key = 'catalog_version'");
    let table = |name: &str| (format!("CREATE TABLE {name} (a INTEGER)"), format!("DROP TABLE {name}"));
    let cases = [
        (number("0.0.6"), number("0.0.4"), State::Ahead, "newer"),
        (number("10.0.0"), number("0.0.4"), State::Ahead, "newer"),
        (number("0.0.1"), number("0.0.4"), State::Unrecognised, "never released"),
        (number("0.0.04"), number("0.0.4"), State::Unrecognised, "0.0.04"),
        (table("_sqlx_migrations").0, table("_sqlx_migrations").1, State::Unrecognised, "_sqlx_migrations"),
        (table("code_migrations").0, table("code_migrations").1, State::Unrecognised, "code_migrations"),
        ("DROP TABLE settings".into(), String::new(), State::Unrecognised, "settings"),
    ];
    let deployment = Deployment::released(kind, "0.0.4");
    for (sql, undo, state, reason) in cases {
        deployment.catalog().exec(&sql);
        let run = deployment.run(["migrate", "status", "-o", "json"]).succeeds();
        let found = &run.json()["lineages"][0];
        assert_eq!(found["state"], serde_json::to_value(state).unwrap(), "{sql}");
        let refusal = found["refusal"].to_string();
        assert!(refusal.contains(reason), "{sql}: {refusal}");
        let before = dump(&deployment);
        deployment.run(["migrate", "up", "--yes"]).exits(4);
        deployment.run(["migrate", "verify"]).exits(4);
        assert_eq!(dump(&deployment), before, "{sql}");
        deployment.catalog().exec(&undo);
    }
}

fn dump(deployment: &Deployment) -> Vec<String> {
    let mut db = deployment.catalog();
    let mut all = db.tables();
    if all.iter().any(|t| t == "settings") {
        all.extend(db.rows("SELECT key, value FROM settings ORDER BY 1").into_iter().map(|row| format!("{row:?}")));
    }
    all
}

fn a_number_that_was_set_back_is_named_and_repairable(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("UPDATE settings SET value = '0.0.3' WHERE key = 'catalog_version'");
    let found = catalog(&deployment);
    assert_eq!(found.recognised_version.as_deref(), Some("0.0.4"));
    assert_eq!((found.state, objects(&found)), (State::Drifted, vec!["setting catalog_version"]));
    assert_eq!((found.drift[0].expected.as_str(), found.drift[0].found.as_str()), ("0.0.4", "0.0.3"));
    assert!(found.is_repairable());
    deployment.catalog().exec("DELETE FROM settings WHERE key = 'catalog_version'");
    let found = catalog(&deployment);
    assert_eq!((found.recognised_version.as_deref(), found.recorded_version.as_deref()), (Some("0.0.4"), None));
    assert_eq!(objects(&found), ["setting catalog_version"]);
}

fn a_stop_between_two_versions_is_interrupted(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.3");
    deployment.catalog().exec(
        "CREATE TABLE table_restores (table_id TEXT PRIMARY KEY, source_backup_arn TEXT NOT NULL, restore_date_time \
         TEXT NOT NULL DEFAULT 'x')",
    );
    // Neither the older version nor the newer one has such a table.
    assert_eq!(catalog(&deployment).state, State::Drifted);
    let deployment = Deployment::released(kind, "0.0.4");
    let newest = Deployment::newest(kind);
    assert_eq!(catalog(&newest).state, State::Current);
    let mut db = deployment.catalog();
    match kind {
        Kind::Sqlite => db
            .exec("ALTER TABLE table_restores ADD COLUMN status TEXT; ALTER TABLE table_restores ADD COLUMN kind TEXT"),
        Kind::Postgres => db.exec("ALTER TABLE table_restores ADD COLUMN file_index bigint, ADD COLUMN store_id text"),
    }
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Interrupted, "{:?}", found.drift);
    assert_eq!(found.recognised_version.as_deref(), Some("0.0.4"));
    assert!(found.notes.iter().any(|n| n.contains("between 0.0.4 and 0.0.5")), "{:?}", found.notes);
}

fn resource_tags_are_no_drift(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    db.exec("CREATE TABLE resource_tags (resource_arn TEXT PRIMARY KEY, tags TEXT)");
    db.exec("ALTER TABLE tags ADD COLUMN since TEXT");
    db.exec("CREATE INDEX idx_tags_key ON tags (tag_key)");
    db.exec("ALTER TABLE tables ADD COLUMN tags TEXT");
    let found = catalog(&deployment);
    is_at(&found, "0.0.4", None, State::Behind);
    assert_eq!(found.extras, ["table resource_tags"]);
}

fn what_an_operator_added_is_shown_and_no_drift(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    db.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    db.exec("CREATE VIEW active_tables AS SELECT table_name FROM tables WHERE table_status = 'ACTIVE'");
    match kind {
        Kind::Sqlite => db.exec("CREATE TRIGGER watch AFTER INSERT ON accounts BEGIN SELECT 1; END"),
        Kind::Postgres => db.exec(
            "CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; \
             CREATE TRIGGER watch AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION watch()",
        ),
    }
    let found = catalog(&deployment);
    is_at(&found, "0.0.4", None, State::Behind);
    assert_eq!(
        found.extras,
        ["table notes", "trigger watch on table accounts", "view active_tables"].map(String::from).to_vec()
    );
}

/// Tables of somebody else are no catalog, whatever they are called.
fn another_applications_database_is_not_recognised(kind: Kind) {
    let deployment = Deployment::empty(kind);
    deployment.catalog().exec("CREATE TABLE customers (id INTEGER PRIMARY KEY)");
    let found = catalog(&deployment);
    assert_eq!((found.state, found.extras), (State::Empty, vec!["table customers".to_owned()]));
    deployment.catalog().exec("CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT)");
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Unrecognised);
    deployment.run(["migrate", "up", "--yes"]).exits(4).says("settings");
    deployment.catalog().exec("CREATE TABLE settings (key TEXT, value TEXT)");
    assert_eq!(catalog(&deployment).state, State::Unrecognised);
}

/// 0.0.5 as its description leaves it open: other names, other types, other defaults.
fn a_newest_catalog_that_a_server_made_is_recognised(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let mut db = deployment.catalog();
    let (text, time, number, json, strict) = match kind {
        Kind::Sqlite => ("TEXT", "TEXT", "INTEGER", "TEXT", ""),
        Kind::Postgres => ("text", "timestamptz", "integer", "jsonb", " NOT NULL DEFAULT"),
    };
    let collate = if kind == Kind::Postgres { " COLLATE \"C\"" } else { "" };
    db.exec(&format!(
        "CREATE TABLE backup_index (account_id {text} NOT NULL, backup_id {text} NOT NULL, table_name {text} NOT NULL, \
         backup_arn {text}{collate} NOT NULL, backup_name {text} NOT NULL, status {text} NOT NULL DEFAULT 'CREATING' \
         CHECK (status <> ''), store_kind {text} NOT NULL, store_root {text} NOT NULL, store_id {text} NOT NULL, \
         owner_generation {number} NOT NULL DEFAULT 0, heartbeat_at {time} NOT NULL, size_bytes {number}, item_count {number}, \
         created_at {time} NOT NULL, completed_at {time}, failure_reason {text}, source_table_details_json {json} NOT NULL, \
         PRIMARY KEY (account_id, backup_id)); \
         CREATE UNIQUE INDEX backup_index_one_id ON backup_index (backup_id); \
         CREATE INDEX backup_index_by_table ON backup_index (account_id, table_name); \
         CREATE INDEX backup_index_by_store ON backup_index (store_id, status); \
         CREATE TABLE backup_maintenance (claim {text} PRIMARY KEY, since {time}, until {time}); \
         DROP TABLE continuous_backups; \
         INSERT INTO settings (key, value) VALUES ('catalog_id', 'x-1')"
    ));
    let claim = |word: &str| if strict.is_empty() { String::new() } else { format!("{strict} {word}") };
    for (name, kind, rest) in [
        ("status", text, claim("'DONE'")),
        ("kind", text, claim("'legacy'")),
        ("store_kind", text, String::new()),
        ("store_root", text, String::new()),
        ("store_id", text, String::new()),
        ("owner_generation", number, claim("0")),
        ("heartbeat_at", time, claim("now()")),
        ("spool_host", text, String::new()),
        ("file_index", number, String::new()),
        ("items_applied", number, String::new()),
        ("failure_reason", text, String::new()),
        ("completed_at", time, String::new()),
    ] {
        db.exec(&format!("ALTER TABLE table_restores ADD COLUMN {name} {kind}{rest}"));
    }
    db.exec("CREATE INDEX restores_to_watch ON table_restores (heartbeat_at)");
    // The number it writes is not known: the tables and the identity tell.
    let found = catalog(&deployment);
    is_at(&found, "0.0.5", None, State::Current);
    assert!(found.notes.iter().any(|n| n.contains("catalog_version says 0.0.4")), "{:?}", found.notes);
    db.exec("UPDATE settings SET value = '0.0.5' WHERE key = 'catalog_version'");
    is_at(&catalog(&deployment), "0.0.5", None, State::Current);
    // And yet it is looked at: what the description does say must be there.
    db.exec("DROP INDEX backup_index_one_id");
    assert_eq!(objects(&catalog(&deployment)), ["unique (backup_id) of backup_index"]);
}

fn tables_that_may_be_absent_are_a_repairable_difference(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.3");
    deployment.catalog().exec("DROP TABLE metrics; DROP TABLE login_attempts");
    let found = catalog(&deployment);
    assert_eq!((found.state, objects(&found)), (State::Drifted, vec!["table login_attempts", "table metrics"]));
    assert!(found.is_repairable());
    deployment.catalog().exec("DROP TABLE tags");
    assert!(!catalog(&deployment).is_repairable(), "tags held something");
}

on_every_backend!(
    every_released_shape_is_recognised_by_name,
    the_newest_catalog_is_current,
    a_fresh_install_is_current,
    a_version_ahead_of_its_ledger_is_an_interrupted_migrate,
    half_a_ledger_is_drift_and_an_unknown_row_is_refused,
    both_third_files_are_recognised,
    catalogs_that_are_newer_or_unknown_are_refused_and_untouched,
    a_number_that_was_set_back_is_named_and_repairable,
    a_stop_between_two_versions_is_interrupted,
    resource_tags_are_no_drift,
    what_an_operator_added_is_shown_and_no_drift,
    another_applications_database_is_not_recognised,
    a_newest_catalog_that_a_server_made_is_recognised,
    tables_that_may_be_absent_are_a_repairable_difference,
);

/// Early SQLite files keep the shape of their first day under every later number.
#[test]
fn early_sqlite_files_are_recognised_at_every_version() {
    for version in ["0.0.2", "0.0.3", "0.0.4"] {
        let deployment = Deployment::released(Kind::Sqlite, version);
        let mut db = deployment.catalog();
        db.exec(
            "ALTER TABLE tables DROP COLUMN table_class; ALTER TABLE tables DROP COLUMN sse_specification; \
             ALTER TABLE tables DROP COLUMN on_demand_throughput",
        );
        is_at(&catalog(&deployment), version, Some("early tables"), State::Behind);
        db.exec(
            "DROP TABLE idempotency_tokens; \
             CREATE TABLE idempotency_tokens (token TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, \
             created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now'))); \
             CREATE INDEX idx_idempotency_tokens_created ON idempotency_tokens (created_at)",
        );
        is_at(&catalog(&deployment), version, Some("early tables, early tokens"), State::Behind);
    }
}

/// SQLite rows of backups have a key whose exact declaration is not known.
#[test]
fn the_key_of_sqlite_backup_items_may_be_declared_either_way() {
    let deployment = Deployment::released(Kind::Sqlite, "0.0.4");
    deployment.catalog().exec(
        "DROP TABLE backup_items; \
         CREATE TABLE backup_items (id INTEGER PRIMARY KEY NOT NULL, backup_arn TEXT NOT NULL REFERENCES backups(backup_arn) \
         ON DELETE CASCADE, pk TEXT NOT NULL, sk TEXT, item_data TEXT NOT NULL); \
         CREATE INDEX idx_backup_items_arn ON backup_items (backup_arn)",
    );
    is_at(&catalog(&deployment), "0.0.4", None, State::Behind);
}

fn postgres(test: impl FnOnce()) {
    if Kind::Postgres.reachable() {
        test();
    }
}

#[test]
fn data_that_are_half_escaped_are_refused_by_name() {
    postgres(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let mut data = deployment.data();
        data.exec(
            "CREATE TABLE data_code_migration_progress (migration_name text, table_name text, completed_at timestamptz, \
             PRIMARY KEY (migration_name, table_name)); \
             INSERT INTO data_code_migration_progress VALUES ('004_escape_control_chars', '_ddb_x', now())",
        );
        let report = look(&deployment);
        let found = report.lineage(Lineage::Data).unwrap();
        assert_eq!(found.state, State::Interrupted);
        assert!(found.refusal.as_ref().unwrap().contains("004_escape_control_chars"));
        deployment.run(["migrate", "up", "--yes"]).exits(4).says("004_escape_control_chars");
        data.exec("INSERT INTO schema_history (filename) VALUES ('004_escape_control_chars')");
        let report = look(&deployment);
        let found = report.lineage(Lineage::Data).unwrap();
        is_at(found, "004_vector_index_state", None, State::Current);
        assert!(found.notes.iter().any(|n| n.contains("escaped")), "{:?}", found.notes);
        assert!(found.extras.iter().any(|e| e.contains("data_code_migration_progress")), "{:?}", found.extras);
    });
}

/// The tables of the data are recognised where they lie beside the catalog's.
#[test]
fn one_database_for_catalog_and_data_is_no_drift() {
    postgres(|| {
        let deployment = Deployment::empty(Kind::Postgres);
        deployment.run(["migrate", "up", "--yes", "--to", "0.0.4"]).succeeds();
        let report = look(&deployment);
        is_at(report.lineage(Lineage::Catalog).unwrap(), "0.0.4", None, State::Behind);
        is_at(report.lineage(Lineage::Data).unwrap(), "004_vector_index_state", None, State::Current);
        let extras = &report.lineage(Lineage::Catalog).unwrap().extras;
        assert!(extras.iter().all(|e| e.contains("a table of the data")), "{extras:?}");
    });
}

#[test]
fn tables_named_by_account_are_counted_and_a_data_database_out_of_reach_is_said() {
    postgres(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.2-a");
        deployment.data().exec("CREATE TABLE \"_ddb_123456789012_Orders\" (pk text PRIMARY KEY)");
        let report = look(&deployment);
        let data = report.lineage(Lineage::Data).unwrap();
        assert!(data.notes.iter().any(|n| n.starts_with("1 tables of items are named by account")), "{:?}", data.notes);
        deployment.catalog().exec(
            "UPDATE settings SET value = 'postgres://nobody:secret-word@127.0.0.1:1/none' \
             WHERE key = 'data_database_connection_string'",
        );
        let run = deployment.run(["migrate", "status", "-o", "json"]).succeeds();
        assert_eq!(run.json()["lineages"][0]["recognised_version"], "0.0.2");
        assert!(!run.stdout.contains("secret-word") && !run.stderr.contains("secret-word"));
    });
}
