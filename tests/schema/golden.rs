//! Introspection of live databases against the golden schemas, and the commands on both.

use extenddb_admin::domain::schema::{Lineage, Schema};
use extenddb_admin::ops::migrate::status::known;

use crate::support::deployment::released;
use crate::support::{Deployment, Kind, on_every_backend};

/// The SQL texts of the fixtures were written from the catalog pages, not from the migrations.
fn a_catalog_that_a_server_made_is_the_golden_schema(kind: Kind) {
    let known = known(Lineage::Catalog, kind.name()).unwrap();
    for shape in released(kind).iter().filter(|s| !s.contains('-') && **s != "0.0.5") {
        let deployment = Deployment::released(kind, shape);
        let seam = deployment.open_read_only();
        let found = seam.wait(seam.backend.introspect(Lineage::Catalog)).unwrap();
        let (own, left) = known.own_part(&found.schema);
        assert_eq!(left, Vec::<String>::new());
        let at = known.position(shape).unwrap();
        let recorded = seam.wait(seam.backend.recorded()).unwrap();
        let fit = known.fit(at, &own, &recorded);
        let shown: Vec<String> = fit.comparison.differences.iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "{shape}:\n{}", shown.join("\n"));
    }
}

fn golden_check_builds_what_is_embedded(kind: Kind) {
    let deployment = Deployment::empty(kind);
    let json = deployment.run(["golden", "check", "-o", "json"]).succeeds().json();
    assert_eq!(json["ok"], true);
    let versions = json["versions"].as_array().unwrap();
    let catalog = versions.iter().filter(|v| v["lineage"] == "catalog").map(|v| v["version"].as_str().unwrap());
    assert_eq!(catalog.collect::<Vec<_>>(), ["0.0.2", "0.0.3", "0.0.4", "0.0.5"]);
    assert_eq!(deployment.catalog().tables(), Vec::<String>::new(), "the deployment itself is not touched");
    let left = std::fs::read_dir(deployment.dir().join("tmp")).unwrap().count();
    assert_eq!(left, 0, "the scratch deployment is gone");
}

fn bless_writes_nothing_new_and_refuses_another_folder(kind: Kind) {
    let deployment = Deployment::empty(kind);
    deployment.run(["golden", "bless"]).exits(2).says("recognition.yaml");
    let tree = deployment.dir().join("golden");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    copy(&source, &tree);
    let json = deployment.run(["golden", "bless", "-o", "json"]).succeeds().json();
    assert!(json["versions"].as_array().unwrap().iter().all(|v| v.get("written").is_none()), "{json}");
    let one = tree.join(format!("catalog/0.0.3/{}.yaml", kind.name()));
    let text = std::fs::read_to_string(&one).unwrap();
    std::fs::write(&one, "tables: {}\n").unwrap();
    deployment.run(["golden", "bless"]).succeeds();
    assert_eq!(std::fs::read_to_string(&one).unwrap(), text);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn a_dump_is_a_file_that_diff_takes(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let dump = deployment.run(["schema", "dump"]).succeeds();
    let schema = Schema::from_yaml(&dump.stdout).unwrap();
    assert!(schema.tables.contains_key("backup_definitions"));
    std::fs::write(deployment.dir().join("monday.yaml"), &dump.stdout).unwrap();
    let json = deployment.run(["schema", "diff", "monday.yaml", "live", "-o", "json"]).succeeds().json();
    assert_eq!(json["equal"], true);
    deployment.catalog().exec("CREATE INDEX operators_own ON tables (table_name)");
    let json = deployment.run(["schema", "diff", "monday.yaml", "live", "-o", "json"]).exits(3).json();
    assert_eq!(json["differences"][0]["object"], "index operators_own on tables");
    assert_eq!(json["differences"][0]["kind"], "unexpected");
    let sql = deployment.run(["schema", "diff", "live", "monday.yaml", "--format", "sql"]).exits(3).stdout;
    assert!(sql.contains("CREATE INDEX operators_own ON tables (table_name);"), "{sql}");
    assert!(sql.lines().all(|line| line.starts_with("--")), "comments only:\n{sql}");
    deployment.run(["schema", "diff", "monday.yaml", "nowhere.yaml"]).exits(2).says("nowhere.yaml");
    deployment.run(["schema", "diff", "golden:0.0.9", "live"]).exits(6).says("0.0.2");
}

fn golden_versions_are_compared_without_a_deployment(kind: Kind) {
    let deployment = Deployment::empty(kind);
    let mut command = deployment.command(["schema", "diff", "golden:0.0.4", "golden:0.0.5", "-o", "json"]);
    command.env_remove("EXTENDDB_ADMIN_URL");
    crate::support::run::run(command).exits(2);
    let mut command =
        deployment.command(["schema", "diff", "golden:0.0.4", "golden:0.0.5", "-o", "json", "--backend", kind.name()]);
    command.env_remove("EXTENDDB_ADMIN_URL");
    let json = crate::support::run::run(command).exits(3).json();
    let objects: Vec<_> =
        json["differences"].as_array().unwrap().iter().map(|d| d["object"].as_str().unwrap()).collect();
    assert!(
        objects.contains(&"table backup_index") && objects.contains(&"column table_restores.status"),
        "{objects:?}"
    );
}

on_every_backend!(
    a_catalog_that_a_server_made_is_the_golden_schema,
    golden_check_builds_what_is_embedded,
    bless_writes_nothing_new_and_refuses_another_folder,
    a_dump_is_a_file_that_diff_takes,
    golden_versions_are_compared_without_a_deployment,
);
