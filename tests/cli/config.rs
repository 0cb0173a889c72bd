//! `config show|check`, and where the configuration comes from.

use crate::support;
use crate::{folder, run};

const SECRET: &str = r#"
deployments:
  prod: { url: "postgres://admin:s3cret@db.example:5432/extenddb_catalog" }
stores:
  nightly: { kind: filesystem, root: . }
default_store: nightly
backup: { stale_job_after_secs: 2m }
"#;

#[test]
fn show_prints_what_is_in_force_and_hides_passwords() {
    let home = folder();
    std::fs::write(home.path().join("extenddb-admin.yaml"), SECRET).unwrap();
    for form in ["table", "json", "yaml"] {
        let run = run(home.path(), &["config", "show", "--deployment", "prod", "-o", form]).succeeds();
        assert!(run.stdout.contains("admin:***@db.example"), "{}", run.stdout);
        assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
    }
    let json = run(home.path(), &["config", "show", "-o", "json"]).succeeds().json();
    assert_eq!(json["backup"]["stale_job_after_secs"], 120);
    assert_eq!(json["backup"]["max_concurrent_jobs"], 4);
    assert_eq!(json["default_store"], "nightly");
    assert_eq!(json["deployment"], serde_json::Value::Null);
}

#[test]
fn an_unknown_key_exits_2_naming_file_line_and_key() {
    let home = folder();
    std::fs::write(home.path().join("extenddb-admin.yaml"), "stores:\n  a:\n    kind: filesystem\n    rot: /x\n")
        .unwrap();
    run(home.path(), &["table", "list"]).exits(2).says("extenddb-admin.yaml").says("line 4").says("rot");
}

#[test]
fn a_violated_bound_exits_2_naming_it() {
    let home = folder();
    std::fs::write(home.path().join("c.yaml"), "backup: { data_file_target_bytes: 1MiB }").unwrap();
    run(home.path(), &["config", "show", "--config", "c.yaml"])
        .exits(2)
        .says("data_file_target_bytes")
        .says("33554432")
        .says("1048576");
}

#[test]
fn a_named_file_that_is_not_there_exits_2() {
    let home = folder();
    run(home.path(), &["config", "show", "--config", "none.yaml"]).exits(2).says("none.yaml");
}

#[test]
fn the_file_is_looked_for_here_first_and_then_in_the_home() {
    let home = folder();
    let below = home.path().join(".config/extenddb-admin");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(below.join("config.yaml"), "backup: { max_concurrent_jobs: 2 }").unwrap();
    let jobs = |args: &[&str]| {
        let json = run(home.path(), args).succeeds().json();
        json["backup"]["max_concurrent_jobs"].clone()
    };
    assert_eq!(jobs(&["config", "show", "-o", "json"]), 2);
    std::fs::write(home.path().join("extenddb-admin.yaml"), "backup: { max_concurrent_jobs: 3 }").unwrap();
    assert_eq!(jobs(&["config", "show", "-o", "json"]), 3);
    std::fs::write(home.path().join("named.yaml"), "backup: { max_concurrent_jobs: 5 }").unwrap();
    let mut command = support::run::command(home.path());
    command.env("EXTENDDB_ADMIN_CONFIG", "named.yaml").args(["config", "show", "-o", "json"]);
    assert_eq!(support::run::run(command).succeeds().json()["backup"]["max_concurrent_jobs"], 5);
    assert_eq!(jobs(&["config", "show", "-o", "json", "--config", "named.yaml"]), 5);
}

const SERVER: &str = r#"
[server]
region = "eu-west-1"
[storage]
backend = "sqlite"
[storage.sqlite]
path = "served.sqlite"
[backup]
store = "filesystem"
max_concurrent_jobs = 9
reconcile_interval_secs = 30
[backup.filesystem]
path = "/var/backups/extenddb"
"#;

#[test]
fn the_servers_file_gives_connection_region_store_and_settings() {
    let home = folder();
    std::fs::write(home.path().join("extenddb.toml"), SERVER).unwrap();
    std::fs::write(home.path().join("extenddb-admin.yaml"), "backup: { max_concurrent_jobs: 3 }").unwrap();
    let json =
        run(home.path(), &["config", "show", "-o", "json", "--server-config", "extenddb.toml"]).succeeds().json();
    assert_eq!(json["deployment"]["url"], "sqlite:served.sqlite");
    assert_eq!(json["deployment"]["region"], "eu-west-1");
    assert_eq!(json["stores"][0]["name"], "server");
    assert_eq!(json["default_store"], "server");
    // Our file comes before the server's.
    assert_eq!(json["backup"]["max_concurrent_jobs"], 3);
    assert_eq!(json["backup"]["reconcile_interval_secs"], 30);
}

#[test]
fn a_bound_violated_in_the_servers_file_names_that_file() {
    let home = folder();
    std::fs::write(
        home.path().join("extenddb.toml"),
        SERVER.replace("max_concurrent_jobs = 9", "stale_job_after_secs = 44"),
    )
    .unwrap();
    run(home.path(), &["config", "show", "--server-config", "extenddb.toml"])
        .exits(2)
        .says("extenddb.toml")
        .says("stale_job_after_secs")
        .says("45");
}

#[test]
fn a_relative_path_that_two_files_answer_is_refused() {
    let home = folder();
    let etc = home.path().join("etc");
    std::fs::create_dir(&etc).unwrap();
    std::fs::write(etc.join("extenddb.toml"), SERVER).unwrap();
    let url = |run: support::Run| run.succeeds().json()["deployment"]["url"].as_str().unwrap().to_owned();
    let args = ["config", "show", "-o", "json", "--server-config", "etc/extenddb.toml"];
    std::fs::write(etc.join("served.sqlite"), "").unwrap();
    assert!(url(run(home.path(), &args)).ends_with("etc/served.sqlite"));
    std::fs::write(home.path().join("served.sqlite"), "").unwrap();
    run(home.path(), &["table", "list", "--server-config", "etc/extenddb.toml"]).exits(2).says("--url");
}

#[test]
fn check_lists_everything_that_is_wrong_at_once() {
    let home = folder();
    std::fs::write(
        home.path().join("extenddb-admin.yaml"),
        "deployments:\n  a: { url: \"${NOT_SET}\" }\n  b: { url: \"oracle:x\" }\n  c: { server_config: none.toml }\nstores:\n  t: { kind: tape }\n",
    )
    .unwrap();
    let run = run(home.path(), &["config", "check", "-o", "json"]).exits(2);
    let json = run.json();
    assert_eq!(json["ok"], false);
    let text = json["findings"].to_string();
    for part in ["NOT_SET", "deployments.b.url", "none.toml", "tape"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(json["findings"].as_array().unwrap().len(), 4, "{text}");
}

#[test]
fn check_of_a_good_configuration_exits_0() {
    let home = folder();
    std::fs::write(home.path().join("extenddb-admin.yaml"), SECRET).unwrap();
    let json = run(home.path(), &["config", "check", "-o", "json"]).succeeds().json();
    assert_eq!(json["ok"], true);
}
