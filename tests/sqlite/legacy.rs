//! In-catalog backups of servers up to 0.0.4, and what the catalog says of itself.

use extenddb_admin::backend::ErrorKind;
use serde_json::json;

use super::ground::{SHAPES, deployment, digest, items, open, open_url};
use crate::support::{digest as expected, tables};

#[tokio::test(flavor = "multi_thread")]
async fn an_in_catalog_backup_is_listed_read_and_deleted() {
    for shape in SHAPES {
        let deployment = deployment(shape);
        let table = tables::orders();
        let arn = deployment.add_legacy_backup(&table, "by-hand", "01796073796883-0a0b0c0d");
        let other = deployment.add_legacy_backup(&tables::ledger(), "another", "01796073796884-0a0b0c0d");
        let backend = open(&deployment).await;
        let listed = backend.legacy_backups(None).await.unwrap();
        assert_eq!(listed.iter().map(|b| &b.backup_arn).collect::<Vec<_>>(), [&other, &arn], "by time, then ARN");
        let backup = &listed[1];
        assert_eq!((&*backup.backup_name, &*backup.status, backup.item_count), ("by-hand", "AVAILABLE", 300));
        assert_eq!(backup.table.table_arn, table.arn());
        let described = serde_json::to_value(&backup.table).unwrap();
        if shape < &"0.0.4" {
            assert_eq!(described["billing_mode"], "PROVISIONED", "{shape}");
            assert_eq!(described["provisioned_throughput"], json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}));
            assert_eq!(described["global_secondary_indexes"], json!(null));
            assert_eq!(described["attribute_definitions"].as_array().unwrap().len(), 2);
        } else {
            assert_eq!(described["billing_mode"], "PAY_PER_REQUEST", "{shape}");
            assert_eq!(described["global_secondary_indexes"].as_array().unwrap().len(), 3);
            assert_eq!(described["attribute_definitions"], table.attribute_definitions());
        }
        let snapshot = backend.open_legacy_backup(&arn).await.unwrap();
        let read = items(&*snapshot, 0).await;
        assert_eq!(digest(&read).to_string(), expected::digest(&table.items), "{shape}");
        snapshot.close().await.unwrap();

        backend.delete_legacy_backup(&arn).await.unwrap();
        let mut db = deployment.catalog();
        assert_eq!(db.one(&format!("SELECT backup_status FROM backups WHERE backup_arn = '{arn}'")), "DELETED");
        assert_eq!(db.count(&format!("SELECT count(*) FROM backup_items WHERE backup_arn = '{arn}'")), 0);
        assert_eq!(db.count("SELECT count(*) FROM backup_items"), 60, "the other is untouched");
        for error in [
            backend.delete_legacy_backup(&arn).await.unwrap_err(),
            backend.open_legacy_backup(&arn).await.err().unwrap(),
            backend.delete_legacy_backup("arn:none").await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        }
        assert_eq!(backend.legacy_backups(None).await.unwrap().len(), 2, "tombstones are listed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_in_catalog_backup_in_use_is_not_deleted() {
    for (shape, running) in [("0.0.4", "CREATING"), ("0.0.5", "ACTIVE")] {
        let deployment = deployment(shape);
        let arn = deployment.add_legacy_backup(&tables::ledger(), "by-hand", "01796073796883-0a0b0c0d");
        deployment.add(&tables::nothing());
        let mut db = deployment.catalog();
        db.exec(&format!(
            "UPDATE tables SET table_status = '{running}'; \
             INSERT INTO table_restores (table_id, source_backup_arn) SELECT table_id, '{arn}' FROM tables"
        ));
        if shape == "0.0.5" {
            db.exec("UPDATE table_restores SET status = 'RUNNING'");
        }
        let backend = open(&deployment).await;
        let error = backend.delete_legacy_backup(&arn).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(error.to_string().contains("Nothing"), "{error}");
        assert_eq!(db.count("SELECT count(*) FROM backup_items"), 60);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_in_catalog_backup_is_removed_whole() {
    let deployment = deployment("0.0.4");
    let arn = deployment.add_legacy_backup(&tables::ledger(), "by-hand", "01796073796883-0a0b0c0d");
    let mut db = deployment.catalog();
    db.exec("UPDATE backups SET backup_status = 'CREATING'");
    let backend = open(&deployment).await;
    assert_eq!(backend.open_legacy_backup(&arn).await.err().unwrap().kind(), ErrorKind::Busy);
    backend.delete_legacy_backup(&arn).await.unwrap();
    for table in ["backups", "backup_items", "backup_definitions"] {
        assert_eq!(db.count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_of_an_unknown_version_is_refused_by_name() {
    let deployment = deployment("0.0.4");
    let arn = deployment.add_legacy_backup(&tables::ledger(), "by-hand", "01796073796883-0a0b0c0d");
    deployment.catalog().exec("UPDATE backup_definitions SET definition = json_set(definition, '$.Version', 2)");
    let error = open(&deployment).await.legacy_backups(None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Damaged);
    assert!(error.to_string().contains(&arn) && error.to_string().contains("Version"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_is_judged_by_its_shape() {
    for shape in SHAPES {
        let deployment = deployment(shape);
        // A number that lies.
        deployment.catalog().exec("UPDATE settings SET value = '0.0.9' WHERE key = 'catalog_version'");
        let info = open(&deployment).await.catalog_info().await.unwrap();
        assert_eq!(info.recorded_version.as_deref(), Some("0.0.9"));
        assert_eq!(info.has_backup_index, *shape == "0.0.5", "{shape}");
        assert_eq!(info.has_table_restores, shape >= &"0.0.4", "{shape}");
        assert_eq!(info.catalog_id.is_some(), *shape == "0.0.5");
        assert_eq!(info.accounts, [crate::support::deployment::ACCOUNT]);
        assert_eq!(info.default_account_id.as_deref(), Some(crate::support::deployment::ACCOUNT));
        assert!(!info.under_maintenance && info.live_servers.is_empty(), "{:?}", info.live_servers);
        if *shape == "0.0.5" {
            deployment.catalog().exec("INSERT INTO backup_maintenance (name, holder) VALUES ('m', 'h')");
            assert!(open(&deployment).await.catalog_info().await.unwrap().under_maintenance);
        }
    }
    let empty = crate::support::Deployment::empty(crate::support::Kind::Sqlite);
    empty.catalog().exec("CREATE TABLE unrelated (a)");
    let error = open(&empty).await.catalog_info().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotInitialized);
    let missing = open_url(format!("sqlite:{}/none.sqlite", empty.dir().display()), "one", true).await.unwrap();
    let missing = missing.catalog_info().await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotInitialized);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_with_the_file_open_is_shown() {
    let deployment = deployment("0.0.4");
    let mut child = std::process::Command::new("sqlite3")
        .arg(deployment.sqlite_path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    use std::io::{BufRead as _, Write as _};
    child.stdin.as_mut().unwrap().write_all(b"SELECT count(*) FROM settings;\n").unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let backend = open(&deployment).await;
    let servers = backend.catalog_info().await.unwrap().live_servers;
    assert!(servers.len() == 1 && servers[0].contains(&child.id().to_string()), "{servers:?}");
    assert!(servers[0].contains("sqlite3"), "{servers:?}");
    backend.check_target(&super::ground::key("Free")).await.expect("it is no server, and does not block");
    child.kill().unwrap();
    child.wait().unwrap();
}
