//! `demo`.

use std::io::{BufRead as _, BufReader};

use rustix::process::{Pid, Signal, kill_process};

use crate::{folder, run, support};

#[test]
fn the_main_job_ends_with_equal_digests_and_an_empty_folder() {
    let home = folder();
    let json = run(home.path(), &["demo", "-o", "json"]).succeeds().json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["digest"], json["restored_digest"]);
    assert!(json["digest"].as_str().unwrap().starts_with("400:"), "{json}");
    for step in json["steps"].as_array().unwrap() {
        assert_eq!(step["exit"], 0, "{step}");
    }
    assert_eq!(std::fs::read_dir(home.path().join("tmp")).unwrap().count(), 0);
}

#[test]
fn the_story_shows_each_command_as_it_would_be_typed() {
    let home = folder();
    // What the caller has configured must not get in the way, and must not be touched.
    std::fs::write(home.path().join("extenddb-admin.yaml"), "no: yaml of ours").unwrap();
    let mut command = support::run::command(home.path());
    command.env("EXTENDDB_ADMIN_URL", "postgres://nobody@127.0.0.1:1/none").env("EXTENDDB_ADMIN_DEPLOYMENT", "none");
    command.arg("demo");
    let run = support::run::run(command).succeeds();
    for command in ["migrate --yes", "migrate verify", "backup create Orders", "backup verify --deep", "backup restore"]
    {
        assert!(run.stdout.contains(&format!("$ extenddb-admin {command}")), "{command}:\n{}", run.stdout);
    }
    assert!(run.stdout.contains("same digest"), "{}", run.stdout);
}

#[test]
fn a_kept_folder_can_be_looked_at_with_the_shown_commands() {
    let home = folder();
    let kept =
        run(home.path(), &["demo", "--keep", "-o", "json"]).succeeds().json()["kept"].as_str().unwrap().to_owned();
    let config = format!("{kept}/extenddb-admin.yaml");
    let json = run(home.path(), &["--config", &config, "table", "list", "-o", "json"]).succeeds().json();
    assert_eq!(json["tables"].as_array().unwrap().len(), 2);
}

#[test]
fn an_interrupted_demonstration_exits_130_and_leaves_nothing() {
    let home = folder();
    let mut command = support::run::command(home.path());
    let mut child = command.arg("demo").spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("migrate --yes")));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    // Reads on to the end, so that the story does not end for want of a reader.
    let _ = lines.count();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(home.path().join("tmp")).unwrap().count(), 0);
}
