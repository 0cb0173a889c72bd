//! The house rules that no compiler checks: imports follow the module map of `ARCHITECTURE.md`,
//! drivers and terminal crates stay in their folders, every file says what it owns.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of an extension below a folder, as paths from the package's root, sorted.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Rust source without comments and without the contents of strings.
fn code(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &rest[hashes + 2..];
            rest = body.find(&end).map_or("", |at| &body[at + end.len()..]);
            out.push_str("\"\"");
        } else if c == '"' {
            let mut end = 1;
            let bytes = rest.as_bytes();
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            rest = rest.get(end + 1..).unwrap_or("");
            out.push_str("\"\"");
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") {
            rest = &rest[rest[1..].find('\'').map_or(1, |at| at + 1)..];
            rest = &rest[rest.find('"').unwrap_or(0)..];
            rest = rest.get(2..).unwrap_or("");
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// `r"` or `r#"`: how many hashes.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// The part of a file before its tests: before a `#[cfg(test)]` module with a body.
fn product(source: &str) -> &str {
    let tests = source.match_indices("#[cfg(test)]").find(|(at, _)| {
        let next =
            source[*at..].lines().map(str::trim).find(|line| line.starts_with("mod ") || line.starts_with("pub mod "));
        next.is_some_and(|line| line.ends_with('{'))
    });
    tests.map_or(source, |(at, _)| &source[..at])
}

/// Files of the product: without those that are modules for tests only.
fn sources() -> Vec<PathBuf> {
    let all = files("src", "rs");
    let mut tests = Vec::new();
    for path in &all {
        let source = read(path);
        for (at, _) in source.match_indices("#[cfg(test)]") {
            let line = source[at..]
                .lines()
                .map(str::trim)
                .find(|line| line.starts_with("mod ") || line.starts_with("pub mod "));
            if let Some(name) = line.and_then(|line| line.rsplit("mod ").next()).and_then(|name| name.strip_suffix(';'))
            {
                let folder = match path.file_name().unwrap().to_str() {
                    Some("mod.rs" | "lib.rs" | "main.rs") => path.parent().unwrap().to_owned(),
                    _ => path.with_extension(""),
                };
                tests.push(folder.join(name).with_extension("rs"));
            }
        }
    }
    all.into_iter().filter(|path| !tests.contains(path)).collect()
}

/// Every path that begins with `start::`, groups expanded, as its segments after the start.
fn paths(code: &str, start: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let needle = format!("{start}::");
    for (at, _) in code.match_indices(&needle) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        expand(&code[at + needle.len()..], &mut Vec::new(), &mut found);
    }
    found
}

/// Reads one use-tree and returns what follows it.
fn expand<'a>(text: &'a str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return after;
            }
            if rest.is_empty() {
                return rest;
            }
            rest = expand(rest, prefix, found);
            // Past a comma, an alias, whatever the tree has not read.
            let next = rest.find([',', '}']).unwrap_or(rest.len());
            rest = rest[next..].strip_prefix(',').unwrap_or(&rest[next..]);
        }
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    if end == 0 {
        found.push(prefix.clone());
        return text;
    }
    prefix.push(text[..end].to_owned());
    let rest = match text[end..].strip_prefix("::") {
        Some(more) => expand(more, prefix, found),
        None => {
            found.push(prefix.clone());
            &text[end..]
        }
    };
    prefix.pop();
    rest
}

/// Module path of a source file: `src/backend/sqlite/mod.rs` is `backend, sqlite`.
fn module(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> =
        path.with_extension("").iter().skip(1).map(|part| part.to_str().unwrap().to_owned()).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Every module of this package that a file names, as full paths.
fn imports(path: &Path, code: &str) -> Vec<Vec<String>> {
    let mut found = paths(code, "crate");
    found.extend(paths(code, "extenddb_admin"));
    let mut parent = module(path);
    if !path.ends_with("mod.rs") {
        parent.pop();
    }
    for mut rest in paths(code, "super") {
        let mut base = parent.clone();
        if path.ends_with("mod.rs") {
            base.pop();
        }
        while rest.first().is_some_and(|s| s == "super") {
            rest.remove(0);
            base.pop();
        }
        base.extend(rest);
        found.push(base);
    }
    found
}

/// What each part may name. The longest matching prefix of the importing module decides; an entry
/// allows everything below it, but for the adapters, which need a line of their own.
const MAP: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    ("cli", &["cli", "ops", "domain", "ui", "config"]),
    ("cli/context", &["cli", "ops", "domain", "ui", "config", "backend", "store", "archive"]),
    ("cli/exit", &["cli", "ops", "domain", "ui", "config", "backend", "store", "archive"]),
    ("ui", &["ui", "domain", "ops/observer"]),
    ("config", &["config", "domain", "backend/registry", "store/registry"]),
    ("ops", &["ops", "archive", "backend", "store", "domain", "migrations"]),
    ("archive", &["archive", "store", "domain"]),
    ("migrations", &["migrations", "domain"]),
    ("backend", &["backend", "domain"]),
    ("backend/registry", &["backend", "domain", "backend/sqlite", "backend/postgres"]),
    ("backend/sqlite", &["backend", "domain", "backend/sqlite"]),
    ("backend/postgres", &["backend", "domain", "backend/postgres"]),
    // The admin lineage is made by whoever first writes to it, from its bodies.
    ("backend/sqlite/ledger", &["backend", "domain", "backend/sqlite", "migrations"]),
    ("backend/postgres/ledger", &["backend", "domain", "backend/postgres", "migrations"]),
    ("store", &["store", "domain"]),
    ("store/registry", &["store", "domain", "store/fs"]),
    ("store/fs", &["store", "domain", "store/fs"]),
    ("domain", &["domain"]),
];

/// Reached by an entry of their own name only.
const ADAPTERS: &[&str] = &["backend/sqlite", "backend/postgres", "store/fs"];

/// Folders and files where a crate may be named; everywhere else it may not.
const CRATES: &[(&str, &[&str])] = &[
    ("anyhow", &["src/cli/", "src/main.rs"]),
    ("clap", &["src/cli/", "src/ui/"]),
    ("clap_complete", &["src/cli/"]),
    ("clap_mangen", &["src/cli/"]),
    ("comfy_table", &["src/ui/"]),
    ("dialoguer", &["src/ui/"]),
    ("indicatif", &["src/ui/"]),
    ("rusqlite", &["src/backend/sqlite/"]),
    ("sqlx", &["src/backend/postgres/"]),
    ("toml", &["src/backend/", "src/config"]),
];

fn below(path: &str, prefix: &str) -> bool {
    path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
}

#[test]
fn imports_follow_the_map() {
    let mut broken = Vec::new();
    for path in sources() {
        let name = match module(&path).join("/") {
            name if name.is_empty() && path.ends_with("main.rs") => "main".to_owned(),
            name => name,
        };
        let rules = MAP.iter().filter(|(from, _)| below(&name, from)).max_by_key(|(from, _)| from.len());
        let source = read(&path);
        let code = code(product(&source));
        let Some((_, allowed)) = rules else {
            if !name.is_empty() {
                broken.push(format!("{}: the map has no line for it", path.display()));
            }
            continue;
        };
        for import in imports(&path, &code) {
            let import = import.join("/");
            let adapter = ADAPTERS.iter().find(|adapter| below(&import, adapter));
            let fine = match adapter {
                Some(adapter) => allowed.contains(adapter),
                None => import.is_empty() || allowed.iter().any(|to| below(&import, to)),
            };
            if !fine {
                broken.push(format!("{} names {import}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "against the module map:\n{}", broken.join("\n"));
}

#[test]
fn crates_stay_where_they_belong() {
    let mut broken = Vec::new();
    for path in sources() {
        let code = code(&read(&path));
        for (name, homes) in CRATES {
            let text = path.to_str().unwrap();
            if !homes.iter().any(|home| text.starts_with(home)) && !paths(&code, name).is_empty() {
                broken.push(format!("{text} names {name}, which belongs in {}", homes.join(", ")));
            }
        }
        if path.starts_with("src/domain") {
            for impure in [
                "tokio",
                "async_trait",
                "std::fs",
                "std::net",
                "std::process",
                "std::env",
                "std::time::SystemTime",
                "Instant::now",
            ] {
                if product(&code).contains(impure) {
                    broken.push(format!("{} is not pure: it names {impure}", path.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_owns() {
    let all = ["src", "tests", "benches"].into_iter().flat_map(|folder| files(folder, "rs"));
    let silent: Vec<_> = all.filter(|path| !read(path).starts_with("//! ")).collect();
    assert!(silent.is_empty(), "these files do not open with a `//!` line: {silent:?}");
    let placeholder: Vec<_> = files("src", "rs").into_iter().filter(|p| read(p).contains("(to be written)")).collect();
    assert!(placeholder.is_empty(), "these files are not written: {placeholder:?}");
}

#[test]
fn nothing_panics_on_purpose_outside_tests() {
    let mut broken = Vec::new();
    for path in sources() {
        let source = read(&path);
        let code = code(product(&source));
        for word in [".unwrap()", "todo!", "unimplemented!", "dbg!", "clippy::unwrap_used"] {
            if code.contains(word) {
                broken.push(format!("{} has {word}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// No failure: a list to think about, printed with `--nocapture`.
#[test]
fn long_files_are_listed() {
    let mut long = BTreeMap::new();
    for path in files("src", "rs") {
        let lines = read(&path).lines().count();
        if lines > 400 {
            long.insert(path, lines);
        }
    }
    println!("files over 400 lines: {long:?}");
    let far: Vec<_> = long.iter().filter(|(_, lines)| **lines > 1000).collect();
    assert!(far.is_empty(), "files over 1000 lines are several subjects: {far:?}");
}

#[test]
fn texts_name_no_folder_of_a_machine() {
    let mut texts = vec![PathBuf::from("README.md"), "ARCHITECTURE.md".into(), "CHANGELOG.md".into()];
    for (folder, extension) in [("docs", "md"), ("src", "rs"), ("migrations", "yaml"), ("golden", "yaml"), ("man", "1")]
    {
        texts.extend(files(folder, extension));
    }
    let mut broken = Vec::new();
    for path in texts {
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else { continue };
        for folder in ["/home/", "/root/", "/work/"] {
            if text.contains(folder) {
                broken.push(format!("{} names {folder}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn links_between_texts_lead_somewhere() {
    let mut texts = vec![PathBuf::from("README.md"), "ARCHITECTURE.md".into(), "CHANGELOG.md".into()];
    texts.extend(files("docs", "md"));
    let mut broken = Vec::new();
    for path in texts {
        let Ok(text) = std::fs::read_to_string(root().join(&path)) else { continue };
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            if !root().join(&path).parent().unwrap().join(file).exists() {
                broken.push(format!("{} links to {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The checks above are only as good as what they see.
#[test]
fn the_reader_of_imports_sees_groups_and_skips_text() {
    let text = r#"
        use crate::{backend::{sqlite, Error as E}, domain::job};
        use super::super::x;
        // use crate::nothing;
        fn f() { crate::store::fs::open("crate::text", '"'); let s = "\"crate::more\""; }
    "#;
    let seen: Vec<_> = paths(&code(text), "crate").iter().map(|p| p.join("/")).collect();
    assert_eq!(seen, ["backend/sqlite", "backend/Error", "domain/job", "store/fs/open"]);
    let all =
        imports(Path::new("src/ops/backup/seal.rs"), &code("use super::claim; use super::super::error; super::x()"));
    assert_eq!(all.iter().map(|p| p.join("/")).collect::<Vec<_>>(), ["ops/backup/claim", "ops/error", "ops/backup/x"]);
}

/// Each command line in the texts parses: no command or flag is written that is not there.
#[test]
fn commands_in_texts_are_commands() {
    let mut texts = vec![PathBuf::from("README.md")];
    texts.extend(files("docs", "md"));
    let mut broken = Vec::new();
    let mut seen = 0;
    for path in texts {
        let text = read(&path);
        let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for line in blocks.flat_map(str::lines) {
            let Some(args) = line.strip_prefix("extenddb-admin ") else { continue };
            let args = args.split(" #").next().unwrap().split_whitespace().map(|arg| arg.trim_matches('"'));
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_extenddb-admin"));
            // Everything before it is parsed first; with it nothing is run.
            let output = command.env_clear().args(args).arg("--help").output().unwrap();
            seen += 1;
            if !output.status.success() {
                let says = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
                broken.push(format!("{}: {line}\n    {says}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(seen > 30, "only {seen} commands were found in the texts");
}
