//! Drift in words on live databases; what is no change is no drift.

use extenddb_admin::domain::recognition::State;

use crate::recognition::{catalog, objects};
use crate::support::{Deployment, Kind, on_every_backend};

/// What is done to the catalog, what it is called, in what way, and whether a repair may mend it.
fn every_kind_of_drift_is_named(kind: Kind) {
    let both: &[(&str, &str, &str, bool)] = &[
        ("ALTER TABLE tables ADD COLUMN of_ours TEXT", "column tables.of_ours", "unexpected", false),
        ("ALTER TABLE backups DROP COLUMN billing_mode", "column backups.billing_mode", "missing", true),
        ("ALTER TABLE backups DROP COLUMN key_schema", "column backups.key_schema", "missing", false),
        ("DROP INDEX idx_backups_table", "index idx_backups_table on backups", "missing", true),
        (
            "DROP INDEX idx_metrics_bucket; CREATE INDEX idx_metrics_bucket ON metrics (metric)",
            "index idx_metrics_bucket on metrics",
            "definition",
            true,
        ),
        ("CREATE UNIQUE INDEX of_ours ON accounts (account_name)", "index of_ours on accounts", "unexpected", false),
        ("DROP TABLE continuous_backups", "table continuous_backups", "missing", false),
    ];
    let postgres: &[(&str, &str, &str, bool)] = &[
        ("ALTER TABLE backups ALTER item_count TYPE integer", "column backups.item_count", "type", false),
        ("ALTER TABLE backups ALTER backup_name DROP NOT NULL", "column backups.backup_name", "nullability", false),
        ("ALTER TABLE backups ALTER backup_type DROP DEFAULT", "column backups.backup_type", "default", false),
        (
            "ALTER TABLE accounts ALTER account_name TYPE text COLLATE \"C\"",
            "column accounts.account_name",
            "collation",
            false,
        ),
        ("ALTER TABLE metrics DROP CONSTRAINT metrics_pkey", "primary key of metrics", "missing", false),
        (
            "ALTER TABLE accounts DROP CONSTRAINT accounts_account_name_key",
            "unique (account_name) of accounts",
            "missing",
            false,
        ),
        (
            "ALTER TABLE iam_users DROP CONSTRAINT iam_users_account_id_fkey",
            "foreign key (account_id) of iam_users",
            "missing",
            false,
        ),
        (
            "ALTER TABLE iam_roles DROP CONSTRAINT iam_roles_account_id_fkey, ADD FOREIGN KEY (account_id) REFERENCES accounts",
            "foreign key (account_id) of iam_roles",
            "definition",
            false,
        ),
        (
            "ALTER TABLE iam_policies DROP CONSTRAINT iam_policies_principal_type_check",
            "check (principal_type) of iam_policies",
            "missing",
            false,
        ),
        ("DROP SEQUENCE stream_seq", "sequence stream_seq", "missing", false),
        ("ALTER TABLE tags SET UNLOGGED", "options of tags", "definition", false),
    ];
    let only: &[(&str, &str, &str, bool)] = if kind == Kind::Postgres { postgres } else { &[] };
    let deployment = Deployment::released(kind, "0.0.4");
    let cases: Vec<_> = both.iter().chain(only).collect();
    for (sql, ..) in &cases {
        deployment.catalog().exec(sql);
    }
    let found = catalog(&deployment);
    assert_eq!(found.state, State::Drifted);
    assert_eq!(found.recognised_version.as_deref(), Some("0.0.4"));
    for (sql, object, way, repairable) in &cases {
        let difference = found.drift.iter().find(|d| d.object == *object);
        let difference = difference.unwrap_or_else(|| panic!("{sql}: {:?}", objects(&found)));
        assert_eq!(serde_json::to_value(difference.kind).unwrap(), *way, "{sql}");
        assert_eq!(difference.repairable, *repairable, "{sql}");
        assert_ne!(difference.expected, difference.found, "{sql}");
    }
    assert_eq!(found.drift.len(), cases.len(), "{:?}", objects(&found));
}

fn an_object_says_since_when_it_is_expected(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.catalog().exec("DROP INDEX idx_vector_indexes_index_id; ALTER TABLE tables DROP COLUMN table_class");
    let found = catalog(&deployment);
    let since = |object: &str| found.drift.iter().find(|d| d.object == object).unwrap().since.clone();
    assert_eq!(since("index idx_vector_indexes_index_id on vector_indexes").as_deref(), Some("0.0.3"));
    assert_eq!(since("column tables.table_class").as_deref(), Some("0.0.2"));
}

fn verify_exits_3_with_a_readable_diff(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.run(["migrate", "verify"]).succeeds();
    deployment.catalog().exec("DROP INDEX idx_backups_table");
    let run = deployment.run(["migrate", "verify"]).exits(3);
    assert!(run.stdout.contains("index idx_backups_table on backups is missing"), "{}", run.stdout);
    let json = deployment.run(["migrate", "status", "-o", "json"]).json();
    let drift = &json["lineages"][0]["drift"][0];
    assert_eq!(drift["object"], "index idx_backups_table on backups");
    assert_eq!(drift["kind"], "missing");
    assert_eq!(drift["found"], "absent");
    assert_eq!(drift["repairable"], true);
    assert!(drift["expected"].is_string());
}

/// Comments, white space, the order of declarations and quotes carry no meaning.
fn comments_and_spelling_are_no_drift(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let before = catalog(&deployment);
    let mut db = deployment.catalog();
    match kind {
        Kind::Postgres => db.exec(
            "COMMENT ON TABLE tables IS 'do not touch'; COMMENT ON COLUMN tables.table_name IS 'its name'; \
             COMMENT ON INDEX idx_backups_table IS 'why'; COMMENT ON CONSTRAINT tables_table_id_unique ON tables IS 'x'; \
             ALTER TABLE tags RENAME CONSTRAINT tags_pkey TO tags_key; \
             ALTER TABLE tags SET (fillfactor = 70); ANALYZE; \
             DROP TABLE continuous_backups; \
             CREATE TABLE continuous_backups (latest_restorable timestamp with time zone, earliest_restorable \
             timestamp with time zone NULL, table_name text NOT NULL, pitr_enabled bool DEFAULT (false) NOT NULL, \
             account_id text, PRIMARY KEY (account_id, table_name))",
        ),
        Kind::Sqlite => db.exec(
            "DROP TABLE continuous_backups; \
             CREATE TABLE \"continuous_backups\" ( /* kept, for now */\n\t[latest_restorable] text,\n -- the first\n \
             `earliest_restorable` TEXT NULL, \"table_name\" TEXT  NOT  NULL, pitr_enabled integer NOT NULL DEFAULT (0), \
             account_id TEXT NOT NULL, primary key ( account_id , table_name ) )",
        ),
    }
    let after = catalog(&deployment);
    assert_eq!(objects(&after), Vec::<&str>::new());
    assert_eq!(after.fingerprint, before.fingerprint);
    assert_eq!(after.state, State::Behind);
}

/// Once this tool has made a version, nothing about it is open any more.
fn what_was_made_here_is_compared_exactly(kind: Kind) {
    let deployment = Deployment::empty(kind);
    deployment.run(["migrate", "up", "--yes"]).succeeds();
    assert_eq!(catalog(&deployment).state, State::Current);
    deployment
        .catalog()
        .exec("DROP INDEX idx_backup_index_table; CREATE INDEX other ON backup_index (account_id, table_name)");
    let found = catalog(&deployment);
    assert_eq!(objects(&found), ["index idx_backup_index_table on backup_index", "index other on backup_index"]);
}

on_every_backend!(
    every_kind_of_drift_is_named,
    an_object_says_since_when_it_is_expected,
    verify_exits_3_with_a_readable_diff,
    comments_and_spelling_are_no_drift,
    what_was_made_here_is_compared_exactly,
);

/// An interrupted concurrent build leaves an index that PostgreSQL does not use.
#[test]
fn an_invalid_index_is_noticed() {
    if !Kind::Postgres.reachable() {
        return;
    }
    let deployment = Deployment::released(Kind::Postgres, "0.0.4");
    let mut db = deployment.catalog();
    db.exec("DROP INDEX idx_vector_indexes_index_id");
    db.exec(
        "INSERT INTO tables (account_id, table_name, key_schema, attribute_definitions, table_arn, table_id) \
         VALUES ('123456789012', 't', '[]', '[]', 'arn', 'id')",
    );
    for name in ["a", "b"] {
        db.exec(&format!(
            "INSERT INTO vector_indexes (table_id, index_id, index_name, dimensions, distance_function, vector_attribute, \
             projection) VALUES ('id', 'twice', '{name}', 3, 'COSINE', '{{}}', '{{}}')"
        ));
    }
    db.try_exec("CREATE UNIQUE INDEX CONCURRENTLY idx_vector_indexes_index_id ON vector_indexes (index_id)")
        .unwrap_err();
    let found = catalog(&deployment);
    assert_eq!(objects(&found), ["index idx_vector_indexes_index_id on vector_indexes"]);
    assert_eq!(serde_json::to_value(found.drift[0].kind).unwrap(), "invalid");
    assert!(found.drift[0].repairable);
}

/// Who owns an object, and where it is stored, is no part of the schema.
#[test]
fn the_owner_of_an_object_is_no_drift() {
    if !Kind::Postgres.reachable() {
        return;
    }
    let deployment = Deployment::released(Kind::Postgres, "0.0.4");
    let before = catalog(&deployment);
    let mut admin = crate::support::Db::postgres(&superuser(&deployment));
    admin.exec("ALTER TABLE tags OWNER TO postgres; GRANT ALL ON tags TO extenddb");
    let after = catalog(&deployment);
    assert_eq!(after.fingerprint, before.fingerprint);
    assert_eq!(after.state, State::Behind);
}

/// The URL of a deployment's catalog for the superuser.
fn superuser(deployment: &Deployment) -> String {
    let url = deployment.url();
    let database = url.rsplit('/').next().unwrap();
    let server = crate::support::servers::postgres_superuser_url().unwrap();
    format!("{}/{database}", server.rsplit_once('/').unwrap().0)
}
