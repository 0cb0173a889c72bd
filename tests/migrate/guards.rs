//! What is refused, and stays untouched.

use crate::support::{Deployment, Kind, on_every_backend};
use crate::{everything, setting, status, up};

/// Asserts that nothing writes to a catalog that `up` refuses with this status.
#[track_caller]
fn assert_refused(deployment: &Deployment, code: i32, says: &str) {
    let before = everything(deployment);
    deployment.run(["migrate", "up", "--yes"]).exits(code).says(says);
    deployment.run(["migrate", "up", "--dry-run"]).exits(code);
    deployment.run(["migrate", "adopt"]).exits(code);
    assert_eq!(everything(deployment), before, "a refused catalog was touched");
}

fn a_newer_catalog_is_refused(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("UPDATE settings SET value = '0.0.6' WHERE key = 'catalog_version'");
    assert_refused(&deployment, 4, "0.0.6");
    deployment.run(["check"]).exits(4);
}

fn a_version_that_is_no_version_is_refused(kind: Kind) {
    for version in ["0.0.04", "latest", ""] {
        let deployment = Deployment::released(kind, "0.0.4");
        deployment.catalog().exec(&format!("UPDATE settings SET value = '{version}' WHERE key = 'catalog_version'"));
        assert_refused(&deployment, 4, "catalog_version");
    }
}

fn somebody_elses_database_is_refused(kind: Kind) {
    let deployment = Deployment::empty(kind);
    deployment.catalog().exec("CREATE TABLE tables (id integer PRIMARY KEY, name text)");
    assert_refused(&deployment, 4, "settings");
}

fn an_announced_ledger_is_refused(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("CREATE TABLE _sqlx_migrations (version bigint)");
    assert_refused(&deployment, 4, "_sqlx_migrations");
}

fn a_drifted_catalog_is_not_migrated(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DROP TABLE iam_role_tags");
    assert_refused(&deployment, 3, "iam_role_tags");
}

fn a_ledger_that_lacks_more_than_its_last_row_is_refused(kind: Kind) {
    if kind == Kind::Sqlite {
        return; // the server's ledger has no rows there
    }
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DELETE FROM schema_history WHERE filename <> '001_schema.sql'");
    assert_refused(&deployment, 3, "002_vector_indexes.sql");
}

fn an_edited_body_is_named_and_can_be_accepted(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    up(&deployment);
    let table = match kind {
        Kind::Sqlite => "extenddb_admin_migrations",
        Kind::Postgres => "extenddb_admin.migrations",
    };
    deployment.catalog().exec(&format!("UPDATE {table} SET body_digest = 'edited' WHERE version = '0.0.5'"));
    deployment.run(["check"]).exits(3);
    deployment.run(["migrate", "--yes"]).exits(3).says("backup_catalog_index");
    deployment.run(["migrate", "repair", "--accept", "no_such"]).exits(6);
    deployment.run(["migrate", "repair", "--accept", "backup_catalog_index"]).succeeds();
    deployment.run(["check"]).succeeds();
    let history = deployment.run(["migrate", "history", "-o", "json"]).succeeds().json();
    let last = history["entries"].as_array().unwrap().last().unwrap();
    assert_eq!(last["outcome"], "accepted");
    assert!(last["note"].as_str().unwrap().contains("edited"), "old and new are kept: {last}");
}

fn a_worn_ledger_is_an_error_that_names_the_row(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    up(&deployment);
    let table = match kind {
        Kind::Sqlite => "extenddb_admin_migrations",
        Kind::Postgres => "extenddb_admin.migrations",
    };
    deployment.catalog().exec(&format!("UPDATE {table} SET outcome = 'maybe' WHERE version = '0.0.5'"));
    let run = deployment.run(["migrate", "history"]).exits(1);
    assert!(run.stderr.contains("maybe") && run.stderr.contains(table), "{}", run.stderr);
}

fn reading_commands_write_nothing(kind: Kind) {
    for shape in ["0.0.2", "0.0.4"] {
        let deployment = Deployment::released(kind, shape);
        let before = everything(&deployment);
        for command in [
            ["migrate", "status"].as_slice(),
            &["migrate", "plan"],
            &["migrate", "up", "--dry-run"],
            &["migrate", "verify"],
            &["migrate", "history"],
            &["migrate", "repair", "--dry-run"],
        ] {
            deployment.run(command).succeeds();
        }
        deployment.run(["check", "--allow-pending"]).succeeds();
        deployment.run(["check"]).exits(3);
        assert_eq!(everything(&deployment), before, "{shape}");
    }
}

fn a_connected_server_keeps_a_breaking_step_away(kind: Kind) {
    if kind == Kind::Sqlite {
        return; // there the server's lock file does: see `together`
    }
    let deployment = Deployment::released(kind, "0.0.4");
    let mut server = deployment.catalog();
    server.count("SELECT count(*) FROM settings");
    let before = everything(&deployment);
    deployment.run(["migrate", "--yes"]).exits(5).says("a test");
    assert_eq!(everything(&deployment), before);
    deployment.run(["migrate", "--yes", "--allow-live"]).succeeds();
    drop(server);
    assert_eq!(setting(&deployment, "catalog_version"), "0.0.5");
}

fn a_statement_that_takes_too_long_leaves_nothing(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.3");
    let many = match kind {
        Kind::Sqlite => {
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) \
             INSERT INTO backup_items (backup_arn, pk, item_data) SELECT 'arn', i, '{}' FROM n"
        }
        Kind::Postgres => "SELECT 1",
    };
    let backup = "INSERT INTO backups (backup_arn, backup_name, table_id, table_name, account_id, key_schema, \
                  attribute_definitions) VALUES ('arn', 'b', 'id', 'T', '123456789012', '[]', '[]')";
    deployment.catalog().exec(backup);
    deployment.catalog().exec(many);
    let fingerprint = status(&deployment, "catalog")["fingerprint"].clone();
    deployment.run(["migrate", "--yes", "--statement-timeout", "1ms"]).exits(1);
    assert_eq!(status(&deployment, "catalog")["fingerprint"], fingerprint);
    up(&deployment);
    crate::assert_newest(&deployment);
}

on_every_backend!(
    a_newer_catalog_is_refused,
    a_version_that_is_no_version_is_refused,
    somebody_elses_database_is_refused,
    an_announced_ledger_is_refused,
    a_drifted_catalog_is_not_migrated,
    a_ledger_that_lacks_more_than_its_last_row_is_refused,
    an_edited_body_is_named_and_can_be_accepted,
    a_worn_ledger_is_an_error_that_names_the_row,
    reading_commands_write_nothing,
    a_connected_server_keeps_a_breaking_step_away,
    a_statement_that_takes_too_long_leaves_nothing,
);
