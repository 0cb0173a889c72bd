//! `completions`.

use crate::{folder, run};

#[test]
fn every_shell_gets_a_script() {
    let home = folder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = run(home.path(), &["completions", shell]).succeeds();
        assert!(run.stdout.contains("extenddb-admin") && run.stderr.is_empty(), "{shell}");
    }
}

#[test]
fn a_shell_nobody_knows_exits_2() {
    let home = folder();
    run(home.path(), &["completions", "cmd"]).exits(2).says("bash");
}
