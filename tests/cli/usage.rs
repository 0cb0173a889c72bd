//! Global flags, usage errors, the form of errors, broken pipes, signals.

use std::io::Read as _;
use std::process::Stdio;

use crate::support;
use crate::{folder, run};

#[test]
fn a_usage_error_exits_2_and_leaves_standard_output_empty() {
    let home = folder();
    let run = run(home.path(), &["table", "lst"]).exits(2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("lst"), "{}", run.stderr);
}

#[test]
fn with_json_an_error_is_exactly_one_object_on_standard_error() {
    let home = folder();
    for args in [
        &["-o", "json", "table", "lst"][..],
        &["table", "--output=json", "list", "--no-such-flag"],
        &["table", "list", "-ojson"],
        &["table", "list", "-o", "json", "--url", "sqlite:absent.db"],
        &["backup", "-o", "json"],
    ] {
        let run = run(home.path(), args);
        assert_eq!(run.stdout, "", "{args:?}");
        let error: serde_json::Value = serde_json::from_str(&run.stderr)
            .unwrap_or_else(|e| panic!("{args:?} printed on standard error ({e}): {}", run.stderr));
        let error = &error["error"];
        let code = error["code"].as_str().unwrap();
        assert!(!code.is_empty() && code.chars().all(|c| c.is_ascii_uppercase() || c == '_'), "{code}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn no_deployment_is_a_usage_error_that_says_how_to_name_one() {
    let home = folder();
    let run = run(home.path(), &["table", "list"]).exits(2);
    assert!(run.stderr.contains("--url") && run.stderr.contains("default_deployment"), "{}", run.stderr);
}

#[test]
fn a_scheme_nobody_knows_is_refused_with_those_there_are() {
    let home = folder();
    let run = run(home.path(), &["table", "list", "--url", "oracle://u:s3cret@h/x"]).exits(2);
    assert!(run.stderr.contains("sqlite:") && run.stderr.contains("postgres:"), "{}", run.stderr);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
}

#[test]
fn a_password_never_shows_in_an_error() {
    let home = folder();
    for url in [
        "postgres://user:s3cret@127.0.0.1:1/catalog",
        "postgres://user:s3cret@127.0.0.1:notaport/catalog",
        "postgres://127.0.0.1:1/catalog?user=u&password=s3cret",
    ] {
        for verbosity in ["-q", "-vv"] {
            let run = run(home.path(), &["table", "list", verbosity, "--url", url]);
            assert_ne!(run.code, Some(0));
            assert!(!run.stderr.contains("s3cret") && !run.stdout.contains("s3cret"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_url_wins_over_a_deployment_and_says_so() {
    let home = folder();
    let args = ["config", "show", "-o", "json", "--url", "sqlite:a.db", "--deployment", "prod"];
    let run = run(home.path(), &args).succeeds().says("prod");
    assert_eq!(run.json()["deployment"]["url"], "sqlite:a.db");
}

#[test]
fn help_and_version_go_to_standard_output() {
    let home = folder();
    let help = run(home.path(), &["--help"]).succeeds();
    assert!(help.stdout.contains("Usage: extenddb-admin") && help.stderr.is_empty());
    let version = run(home.path(), &["--version"]).succeeds();
    assert_eq!(version.stdout, format!("extenddb-admin {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn color_is_used_only_when_asked_for() {
    let home = folder();
    assert!(run(home.path(), &["table", "list", "--color", "always"]).stderr.contains('\x1b'));
    assert!(!run(home.path(), &["table", "list"]).stderr.contains('\x1b'));
}

/// Every page of output to a reader who is gone already.
#[test]
fn a_reader_who_went_away_is_no_error() {
    let home = folder();
    for args in [&["completions", "bash"][..], &["man"], &["--help"], &["config", "show"]] {
        let mut command = support::run::command(home.path());
        let mut child = command.args(args).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let home = folder();
    for args in [&["completions", "bash"][..], &["config", "show", "-o", "json"]] {
        let mut command = support::run::command(home.path());
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let child = command.args(args).stdout(Stdio::from(full)).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// A password in the environment variable of the file is put in when needed and never shown.
#[test]
fn an_environment_variable_of_the_file_is_used_and_hidden() {
    let home = folder();
    let yaml = "default_deployment: p\ndeployments:\n  p: { url: \"postgres://u:${PW}@127.0.0.1:1/c\" }\n";
    std::fs::write(home.path().join("extenddb-admin.yaml"), yaml).unwrap();
    let missing = run(home.path(), &["table", "list"]).exits(2).says("PW");
    assert!(missing.stderr.contains("deployments.p.url"), "{}", missing.stderr);
    let mut command = support::run::command(home.path());
    command.env("PW", "s3cret").args(["table", "list", "-vv"]);
    let refused = support::run::run(command).exits(1);
    assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
}

/// A server that accepts and never answers keeps a reading command waiting until the signal.
#[test]
fn a_signal_ends_a_reading_command_with_130_and_says_that_nothing_changed() {
    use rustix::process::{Pid, Signal, kill_process};
    let home = folder();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u@{}/c", listener.local_addr().unwrap());
    for (signal, name) in [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM")] {
        let mut command = support::run::command(home.path());
        let child = command.args(["table", "list", "-o", "json", "--url", &url]).spawn().unwrap();
        // It has connected, so it listens for signals already.
        let connection = listener.accept().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let run = support::run::finish(child, "table list".to_owned()).exits(130);
        drop(connection);
        assert_eq!(run.stdout, "");
        let error: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
        assert_eq!(error["error"]["code"], "INTERRUPTED");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(name) && message.contains("nothing was changed"), "{message}");
    }
}

/// Prompts are refused where nobody can answer, and `--no-input` refuses them everywhere.
#[test]
fn a_prompt_without_a_terminal_exits_2_and_names_the_flag() {
    let home = folder();
    std::fs::create_dir_all(home.path().join("s/a")).unwrap();
    std::fs::write(home.path().join("s/a/x"), "x").unwrap();
    for args in [&["store", "adopt", "./s"][..], &["store", "adopt", "./s", "--no-input"]] {
        let run = run(home.path(), &[args, &["-o", "json"]].concat()).exits(2);
        assert_eq!(run.error()["error"]["code"], "CONFIRMATION_NEEDED");
        assert!(run.error()["error"]["hint"].as_str().unwrap().contains("--yes"));
    }
    assert!(!home.path().join("s/extenddb-store.json").exists());
}
