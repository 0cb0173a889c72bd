//! `store list|check|init|adopt`.

use crate::{folder, run};

#[test]
fn list_shows_the_stores_and_the_default() {
    let home = folder();
    let yaml =
        "stores:\n  b: { kind: filesystem, root: /b }\n  a: { kind: s3, bucket: x, prefix: y }\ndefault_store: b\n";
    std::fs::write(home.path().join("extenddb-admin.yaml"), yaml).unwrap();
    let json = run(home.path(), &["store", "list", "-o", "json"]).succeeds().json();
    assert_eq!(
        json["stores"],
        serde_json::json!([
            { "name": "a", "kind": "s3", "root": "s3://x/y", "default": false },
            { "name": "b", "kind": "filesystem", "root": "/b", "default": true },
        ])
    );
}

#[test]
fn a_store_gets_its_identity_once_and_keeps_it() {
    let home = folder();
    std::fs::create_dir(home.path().join("s")).unwrap();
    let first = run(home.path(), &["store", "init", "./s", "-o", "json"]).succeeds().json();
    assert_eq!(first["created"], true);
    let again = run(home.path(), &["store", "init", "./s", "-o", "json"]).succeeds().json();
    assert_eq!((&again["created"], &again["id"]), (&serde_json::json!(false), &first["id"]));
    let check = run(home.path(), &["store", "check", "./s", "-o", "json"]).succeeds().json();
    assert_eq!((&check["ok"], &check["id"]), (&serde_json::json!(true), &first["id"]));
}

#[test]
fn an_empty_store_is_good_and_is_left_empty_by_a_check() {
    let home = folder();
    std::fs::create_dir(home.path().join("s")).unwrap();
    let check = run(home.path(), &["store", "check", "--store", "./s", "-o", "json"]).succeeds().json();
    assert_eq!((&check["ok"], &check["id"]), (&serde_json::json!(true), &serde_json::Value::Null));
    assert_eq!(std::fs::read_dir(home.path().join("s")).unwrap().count(), 0);
}

#[test]
fn a_folder_with_other_things_is_adopted_only_on_request() {
    let home = folder();
    let place = home.path().join("s/000000000000/Pets");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("x"), "x").unwrap();
    let check = run(home.path(), &["store", "check", "./s", "-o", "json"]).exits(3).json();
    assert_eq!(check["findings"][0]["code"], "STORE_NOT_EMPTY");
    run(home.path(), &["store", "init", "./s"]).exits(7).says("store adopt");
    run(home.path(), &["store", "adopt", "./s"]).exits(2).says("--yes");
    let adopted = run(home.path(), &["store", "adopt", "./s", "--yes", "-o", "json"]).succeeds().json();
    assert_eq!(adopted["created"], true);
    run(home.path(), &["store", "check", "./s"]).succeeds();
}

#[test]
fn links_inside_a_store_are_found() {
    let home = folder();
    std::fs::create_dir_all(home.path().join("s/a")).unwrap();
    run(home.path(), &["store", "init", "./s"]).exits(7);
    run(home.path(), &["store", "init", "./s", "-q"]).exits(7);
    std::os::unix::fs::symlink("/etc", home.path().join("s/a/link")).unwrap();
    let check = run(home.path(), &["store", "check", "./s", "-o", "json"]).exits(3).json();
    assert!(check["findings"].to_string().contains("a/link"), "{check}");
}

#[test]
fn a_store_nobody_knows_exits_6_and_lists_those_there_are() {
    let home = folder();
    std::fs::write(home.path().join("extenddb-admin.yaml"), "stores: { nightly: { kind: filesystem, root: / } }")
        .unwrap();
    run(home.path(), &["store", "check", "nightyl"]).exits(6).says("nightly");
    run(home.path(), &["store", "check"]).exits(2).says("default_store");
}

#[test]
fn a_root_that_is_not_there_is_an_error_that_names_it() {
    let home = folder();
    run(home.path(), &["store", "check", "./none"]).exits(2).says("none");
}
