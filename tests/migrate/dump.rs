//! The dump before, and the rehearsal: both proved, neither touching the catalog.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Db, Deployment, Kind, on_every_backend};
use crate::{everything, setting};

fn the_dump_before_is_private_and_holds_every_row(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    deployment.add_rows_everywhere();
    let key = setting(&deployment, "encryption_key");
    let folder = deployment.dir().join("dumps");
    let folder_text = folder.display().to_string();
    let run = deployment.run(["migrate", "--yes", "--dump-to", &folder_text]).succeeds();
    assert!(run.stderr.contains("keep it safe"), "{}", run.stderr);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::metadata(&files[0]).unwrap().len() > 1000);
    if kind == Kind::Sqlite {
        let mut dump = Db::sqlite(&files[0]);
        assert_eq!(dump.one("SELECT value FROM settings WHERE key = 'catalog_version'"), "0.0.4");
        assert_eq!(dump.one("SELECT value FROM settings WHERE key = 'encryption_key'"), key);
        assert!(dump.count("SELECT count(*) FROM backup_items") > 0);
    }
}

fn a_rehearsal_times_each_step_and_touches_nothing(kind: Kind) {
    for shape in ["0.0.2", "0.0.4"] {
        let deployment = Deployment::released(kind, shape);
        deployment.add_rows_everywhere();
        let before = everything(&deployment);
        let report = deployment.run(["migrate", "rehearse", "-o", "json"]).succeeds().json();
        assert_eq!((&report["from"], &report["version"]), (&shape.into(), &"0.0.5".into()));
        assert!(report["rows"].as_u64().unwrap() > 20, "{report}");
        let applied = report["applied"].as_array().unwrap();
        assert!(applied.iter().all(|a| !a["steps"].as_array().unwrap().is_empty() || a["lineage"] == "data"));
        assert_eq!(everything(&deployment), before, "{shape}");
        let real = crate::up(&deployment);
        assert_eq!(real["fingerprint"], report["fingerprint"], "the copy ends as the catalog does");
    }
}

on_every_backend!(the_dump_before_is_private_and_holds_every_row, a_rehearsal_times_each_step_and_touches_nothing);
