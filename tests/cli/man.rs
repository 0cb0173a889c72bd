//! `man`.

use crate::{folder, run};

#[test]
fn without_a_directory_the_main_page_is_printed() {
    let home = folder();
    let run = run(home.path(), &["man"]).succeeds();
    assert!(run.stdout.contains(".TH extenddb-admin 1"), "{}", run.stdout);
}

#[test]
fn a_directory_gets_one_page_a_command() {
    let home = folder();
    let json = run(home.path(), &["man", "pages/man1", "-o", "json"]).succeeds().json();
    let files = json["files"].as_array().unwrap();
    assert!(files.iter().any(|f| f == "pages/man1/extenddb-admin-table-digest.1"), "{json}");
    for file in files {
        assert!(home.path().join(file.as_str().unwrap()).exists());
    }
}

#[test]
fn a_directory_that_cannot_be_made_exits_1_naming_it() {
    let home = folder();
    std::fs::write(home.path().join("file"), "").unwrap();
    run(home.path(), &["man", "file/below"]).exits(1).says("file/below");
}
