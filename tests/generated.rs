//! `man/` and `completions/` are what the command line renders. `BLESS=1` rewrites them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use extenddb_admin::cli::generate::{SHELLS, completions, man_pages};

#[test]
fn man_pages_are_what_the_command_line_renders() {
    compare("man", man_pages().unwrap().into_iter().collect());
}

#[test]
fn completions_are_what_the_command_line_renders() {
    compare("completions", SHELLS.iter().map(|(shell, file)| ((*file).to_owned(), completions(*shell))).collect());
}

fn compare(folder: &str, expected: BTreeMap<String, Vec<u8>>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if std::env::var_os("BLESS").is_some() {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &expected {
            std::fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let found: BTreeMap<String, Vec<u8>> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    let differing: Vec<_> =
        expected.keys().chain(found.keys()).filter(|name| expected.get(*name) != found.get(*name)).collect();
    assert!(
        differing.is_empty(),
        "{} differs in {differing:?}: run BLESS=1 cargo test --test generated and look at the difference",
        folder.display()
    );
}
