//! Damaged backups: every kind of damage is refused by its category, and nothing else is said about it.
//!
//! `tests/data/backups` holds backups that other writers made, good and damaged; further damage is done here to a
//! backup of our own. `tests/tools/check_backup.py` reads backups independently of this program: its verdicts
//! must be ours.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use extenddb_admin::archive::BackupPrefix;
use extenddb_admin::archive::list::{ListFilter, Listed, list_backups};
use extenddb_admin::archive::verify::{Depth, VerifyOptions, VerifyReport, verify};
use extenddb_admin::archive::writer::{BackupMeta, BackupWriter, DEFAULT_TARGET_BYTES, SealOutcome};
use extenddb_admin::domain::arn::BackupArn;
use extenddb_admin::domain::item::{ControlChars, ItemParser};
use extenddb_admin::domain::manifest::{Manifest, SnapshotMeta};
use extenddb_admin::domain::table::{AttributeDefinition, BillingMode, KeyElement, KeyType, ScalarType, SourceTable};
use extenddb_admin::domain::timestamp::TimestampMs;
use extenddb_admin::store::Store;
use extenddb_admin::store::fs::FsStore;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Categories of steps 8 and 9, which only a deep verification looks for.
const DEEP: [&str; 6] = [
    "data_file_undecodable",
    "line_too_long",
    "line_malformed",
    "item_invalid",
    "duplicate_item_key",
    "item_count_mismatch",
];

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/backups")
}

/// The store and prefix of a backup's directory.
fn place(directory: &Path) -> (Arc<dyn Store>, BackupPrefix) {
    let names: Vec<_> = directory.iter().rev().take(3).map(|n| n.to_str().expect("UTF-8")).collect();
    let root = directory.ancestors().nth(3).expect("three components below the root");
    let store: Arc<dyn Store> = Arc::new(FsStore::open(root).expect("a store"));
    (store, BackupPrefix::new(names[2], names[1], names[0]).expect("a prefix"))
}

fn verified(runtime: &Runtime, directory: &Path, depth: Depth) -> VerifyReport {
    let (store, prefix) = place(directory);
    let options = VerifyOptions {
        depth,
        jobs: 2,
        spool_dir: std::env::temp_dir(),
        item_check: None,
        progress: None,
        stop: Arc::new(AtomicBool::new(false)),
    };
    runtime.block_on(verify(store, &prefix, &options)).expect("a verdict")
}

fn refusal(report: &VerifyReport) -> Option<&'static str> {
    report.refusal().map(|f| f.category.word())
}

fn errors(report: &VerifyReport) -> BTreeSet<&'static str> {
    let errors = report.findings.iter().filter(|f| f.severity == extenddb_admin::domain::finding::Severity::Error);
    errors.map(|f| f.category.word()).collect()
}

/// What the independent reader says: refusal, categories of all findings, digest.
fn independent(directory: &Path) -> (Option<String>, BTreeSet<String>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/check_backup.py");
    let out = Command::new("python3").arg(script).arg(directory).arg("--json").output().expect("python3 runs");
    let verdict: Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    let found = verdict["findings"].as_array().expect("a list");
    let categories = found.iter().map(|f| f["category"].as_str().expect("a word").to_owned()).collect();
    let digest = verdict["digest"].as_str().expect("a digest").to_owned();
    (verdict["refusal"].as_str().map(str::to_owned), categories, digest)
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

fn verdicts() -> Value {
    serde_json::from_slice(&std::fs::read(examples().join("verdicts.json")).expect("readable")).expect("JSON")
}

#[test]
fn every_good_example_is_accepted_with_its_checksum_and_digest() {
    let runtime = runtime();
    for example in verdicts()["valid"].as_array().expect("a list") {
        let path = example["path"].as_str().expect("a path");
        let report = verified(&runtime, &examples().join(path), Depth::Items);
        assert!(report.findings.is_empty(), "{path}: {:?}", report.findings);
        assert_eq!(report.digest.expect("a digest").to_string(), example["digest"].as_str().expect("text"), "{path}");
        assert_eq!(report.items, example["items"].as_u64().expect("a number"));
        let manifest = report.manifest.expect("a record");
        assert_eq!(manifest.manifest_sha256, example["manifest_sha256"].as_str().expect("text"));
        assert_eq!(manifest.data_files.len() as u64, example["data_files"].as_u64().expect("a number"));
    }
}

#[test]
fn every_damaged_example_is_refused_by_its_category_and_no_other() {
    let runtime = runtime();
    let verdicts = verdicts();
    let damaged = verdicts["damaged"].as_array().expect("a list");
    assert!(damaged.len() >= 25);
    for example in damaged {
        let path = example["path"].as_str().expect("a path");
        let category = example["category"].as_str().expect("a word");
        let directory = examples().join(path);
        let deep = verified(&runtime, &directory, Depth::Items);
        assert_eq!(refusal(&deep), Some(category), "{path}: {:?}", deep.findings);
        assert_eq!(errors(&deep).len(), 1, "{path}: {:?}", deep.findings);
        assert_eq!(deep.digest, None);
        let shallow = verified(&runtime, &directory, Depth::Bytes);
        let seen = if DEEP.contains(&category) { None } else { Some(category) };
        assert_eq!(refusal(&shallow), seen, "{path}: {:?}", shallow.findings);
    }
}

/// Exit status and categories of the errors of `backup verify` as an operator runs it.
fn command_verdict(directory: &Path, flags: &[&str]) -> (Option<i32>, Vec<String>) {
    let root = directory.ancestors().nth(3).expect("three components below the root");
    let id = directory.file_name().expect("an id");
    let out = Command::new(env!("CARGO_BIN_EXE_extenddb-admin"))
        .args(["backup", "verify", "-o", "json", "--store"])
        .arg(root)
        .arg(id)
        .args(flags)
        .output()
        .expect("it runs");
    let report: Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    let backups = report["backups"].as_array().expect("a list");
    assert_eq!(backups.len(), 1);
    let found = backups[0]["findings"].as_array().expect("a list");
    let errors = found.iter().filter(|f| f["severity"] == "error");
    (out.status.code(), errors.map(|f| f["category"].as_str().expect("a word").to_owned()).collect())
}

#[test]
fn the_command_refuses_every_damaged_example_and_passes_the_good_ones() {
    let verdicts = verdicts();
    for example in verdicts["valid"].as_array().expect("a list") {
        let directory = examples().join(example["path"].as_str().expect("a path"));
        assert_eq!(command_verdict(&directory, &["--deep"]), (Some(0), vec![]));
    }
    for example in verdicts["damaged"].as_array().expect("a list") {
        let directory = examples().join(example["path"].as_str().expect("a path"));
        let category = example["category"].as_str().expect("a word").to_owned();
        let deep_only = DEEP.contains(&category.as_str());
        let shallow = if deep_only { (Some(0), vec![]) } else { (Some(3), vec![category.clone()]) };
        assert_eq!(command_verdict(&directory, &["--deep"]), (Some(3), vec![category]), "{}", directory.display());
        assert_eq!(command_verdict(&directory, &[]), shallow, "{}", directory.display());
    }
}

#[test]
fn a_walk_of_a_store_tells_backups_from_what_is_none() {
    let runtime = runtime();
    let root = tempfile::tempdir().expect("a directory");
    for example in ["hash-only", "empty-with-gsi", "hash-range-all-types"] {
        copy_tree(&examples().join(example), root.path());
    }
    let at = |path: &str| root.path().join(path);
    copy_tree(&at("000000000000/Pets"), &at("111111111111/Pets"));
    copy_tree(&at("000000000000/Pets/01767229200123-0a0b0c01/data"), &at("222222222222/Pets/x/data"));
    std::fs::create_dir_all(at("222222222222/Pets/changelog/y")).expect("made");
    std::fs::create_dir_all(at("222222222222/.../x")).expect("made");
    std::fs::write(at("extenddb-store.json"), "{}").expect("written");
    std::fs::write(at("readme"), "x").expect("written");
    let store = FsStore::open(root.path()).expect("a store");
    let mut seen = Vec::new();
    let mut visit = |listed| {
        seen.push(match listed {
            Listed::Backup { prefix, manifest } => format!("backup {prefix} {}", manifest.backup_name),
            Listed::Refused { prefix, findings } => format!("refused {prefix} {}", findings[0].category),
            Listed::Incomplete { prefix } => format!("incomplete {prefix}"),
            Listed::Stray { path } => format!("stray {path}"),
        });
    };
    runtime.block_on(list_backups(&store, &ListFilter::default(), &mut visit)).expect("listed");
    assert_eq!(
        seen,
        [
            "backup 000000000000/Orders/01767229200123-0a0b0c03 orders-empty",
            "backup 000000000000/Pets/01767229200123-0a0b0c01 pets-nightly",
            "backup 000000000000/Readings/01767229200123-0a0b0c02 readings é",
            "refused 111111111111/Pets/01767229200123-0a0b0c01 prefix_mismatch",
            "stray 222222222222/...",
            "incomplete 222222222222/Pets/x",
            "stray readme",
        ]
    );
    let mut count = 0;
    let filter = ListFilter { account_id: Some("000000000000".into()), table_name: Some("Pets".into()) };
    runtime.block_on(list_backups(&store, &filter, &mut |_| count += 1)).expect("listed");
    assert_eq!(count, 1);
}

fn table(items: i64) -> SourceTable {
    let element = |name: &str, key_type| KeyElement { attribute_name: name.into(), key_type };
    let definition = |name: &str, attribute_type| AttributeDefinition { attribute_name: name.into(), attribute_type };
    SourceTable {
        table_name: "Things".into(),
        table_id: "00000000-0000-4000-8000-000000000009".into(),
        table_arn: "arn:aws:dynamodb:eu-west-1:000000000000:table/Things".into(),
        table_creation_date_time: 1_767_225_600.5,
        key_schema: vec![element("id", KeyType::Hash), element("n", KeyType::Range)],
        attribute_definitions: vec![definition("id", ScalarType::S), definition("n", ScalarType::N)],
        billing_mode: BillingMode::PayPerRequest,
        provisioned_throughput: None,
        on_demand_throughput: None,
        table_class: None,
        sse_specification: None,
        global_secondary_indexes: None,
        local_secondary_indexes: None,
        vector_indexes: None,
        item_count: items,
        table_size_bytes: 0,
    }
}

/// Writes a backup of the texts with two workers. Returns its directory, its record and its digest.
fn write_backup(runtime: &Runtime, root: &Path, texts: &[String]) -> (PathBuf, Manifest, String) {
    let store: Arc<dyn Store> = Arc::new(FsStore::open(root).expect("a store"));
    let arn = BackupArn::new("eu-west-1", "000000000000", "Things", "01767229200123-0a0b0c09").expect("an ARN");
    let prefix = BackupPrefix::of_arn(&arn).expect("a prefix");
    let writer = {
        let _inside = runtime.enter();
        BackupWriter::new(store, prefix.clone(), DEFAULT_TARGET_BYTES)
    };
    std::thread::scope(|scope| {
        for half in texts.chunks(texts.len().div_ceil(2).max(1)) {
            let mut files = writer.data_file_writer();
            scope.spawn(move || {
                let mut parser = ItemParser::new();
                for text in half {
                    let item = parser.parse(text.as_bytes(), ControlChars::Plain).expect("a good item");
                    files.push(&item).expect("written");
                }
                files.finish().expect("finished");
            });
        }
    });
    let meta = BackupMeta {
        arn,
        name: "things \"of\" ours".into(),
        created: TimestampMs(1_767_229_200_123),
        ended: TimestampMs(1_767_229_201_456),
        source_backend: "sqlite".into(),
        snapshot: SnapshotMeta { kind: "sqlite_wal_read_txn".into(), marker: String::new() },
        source_table: table(i64::try_from(texts.len()).expect("few")),
    };
    let sealed = runtime.block_on(writer.seal::<extenddb_admin::archive::Error>(meta, async { Ok(()) }));
    match sealed.expect("sealed") {
        SealOutcome::Committed { manifest, digest } => (root.join(prefix.as_str()), *manifest, digest.to_string()),
        SealOutcome::Exists => panic!("nobody else wrote here"),
    }
}

fn texts(count: usize) -> Vec<String> {
    let item = |i: usize| {
        format!(
            r#"{{"n": {{"N": "{i}.50"}}, "id": {{"S": "item {i} \u00e9\u0000"}}, "set": {{"NS": ["10", "9", "-1.5"]}}, "blob": {{"B": "AAECAw=="}}, "deep": {{"M": {{"z": {{"L": [{{"NULL": true}}]}}, "a": {{"BOOL": false}}}}}}}}"#
        )
    };
    (0..count).map(item).collect()
}

#[test]
fn the_independent_reader_accepts_what_we_write() {
    let runtime = runtime();
    for count in [0, 1, 2, 5000] {
        let root = tempfile::tempdir().expect("a directory");
        let (directory, manifest, digest) = write_backup(&runtime, root.path(), &texts(count));
        assert_eq!(manifest.data_files.len(), count.min(2));
        let (refused, categories, theirs) = independent(&directory);
        assert_eq!((refused, categories.len()), (None, 0), "{count} items: {categories:?}");
        assert_eq!(theirs, digest);
        let report = verified(&runtime, &directory, Depth::Items);
        assert_eq!(report.findings, [], "{count} items");
        assert_eq!(report.digest.expect("whole").to_string(), digest);
        // Members have neither name nor time, so equal items give equal files.
        for file in &manifest.data_files {
            let bytes = std::fs::read(directory.join(&file.key)).expect("there");
            assert!(count < 5000 || file.bytes < file.item_count * 100, "lines of 200 bytes are packed");
            assert_eq!(bytes[3..8], [0; 5], "flags and time of the gzip header");
        }
    }
}

/// One edit of a backup's directory.
type Damage = fn(&Path);

fn rewrite(path: &Path, edit: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = std::fs::read(path).expect("there");
    std::fs::write(path, edit(bytes)).expect("written");
}

#[test]
fn each_object_deleted_cut_or_altered_is_found_as_the_independent_reader_finds_it() {
    const DAMAGE: &[(&str, Damage, &str)] = &[
        (
            "record deleted",
            |d| std::fs::remove_file(d.join("extenddb-manifest.json")).expect("gone"),
            "incomplete_backup",
        ),
        (
            "record cut",
            |d| rewrite(&d.join("extenddb-manifest.json"), |b| b[..b.len() / 2].to_vec()),
            "manifest_malformed",
        ),
        (
            "record altered",
            |d| {
                rewrite(&d.join("extenddb-manifest.json"), |b| {
                    String::from_utf8(b).expect("UTF-8").replace("ours", "oars").into_bytes()
                })
            },
            "manifest_checksum_mismatch",
        ),
        (
            "record is a link",
            |d| {
                std::fs::rename(d.join("extenddb-manifest.json"), d.join("../elsewhere")).expect("moved");
                std::os::unix::fs::symlink("../elsewhere", d.join("extenddb-manifest.json")).expect("linked");
            },
            "symlink_refused",
        ),
        (
            "list deleted",
            |d| std::fs::remove_file(d.join("manifest-files.json")).expect("gone"),
            "files_manifest_missing",
        ),
        (
            "list cut",
            |d| rewrite(&d.join("manifest-files.json"), |b| b[..b.len() - 20].to_vec()),
            "files_manifest_malformed",
        ),
        (
            "list misses a file",
            |d| {
                rewrite(&d.join("manifest-files.json"), |b| {
                    b.split_inclusive(|&c| c == b'\n').next().expect("a line").to_vec()
                })
            },
            "files_manifest_mismatch",
        ),
        (
            "summary deleted",
            |d| std::fs::remove_file(d.join("manifest-summary.json")).expect("gone"),
            "summary_missing",
        ),
        (
            "summary cut",
            |d| rewrite(&d.join("manifest-summary.json"), |b| b[..b.len() - 1].to_vec()),
            "summary_malformed",
        ),
        (
            "summary altered",
            |d| {
                rewrite(&d.join("manifest-summary.json"), |b| {
                    String::from_utf8(b).expect("UTF-8").replace("DYNAMODB_JSON", "ION").into_bytes()
                })
            },
            "summary_mismatch",
        ),
        ("stray data file", |d| std::fs::write(d.join("data/x"), "x").expect("written"), "unlisted_data_object"),
        ("part deleted", |d| std::fs::remove_file(d.join("data/000002.json.gz")).expect("gone"), "missing_data_file"),
        (
            "part cut",
            |d| rewrite(&d.join("data/000001.json.gz"), |b| b[..b.len() - 1].to_vec()),
            "data_file_size_mismatch",
        ),
        (
            "part altered",
            |d| {
                rewrite(&d.join("data/000001.json.gz"), |mut b| {
                    b[40] ^= 1;
                    b
                });
            },
            "data_file_checksum_mismatch",
        ),
        (
            "part is a link",
            |d| {
                std::fs::rename(d.join("data/000001.json.gz"), d.join("../elsewhere")).expect("moved");
                std::os::unix::fs::symlink("../../elsewhere", d.join("data/000001.json.gz")).expect("linked");
            },
            "symlink_refused",
        ),
        (
            "data is a link",
            |d| {
                std::fs::rename(d.join("data"), d.join("../elsewhere")).expect("moved");
                std::os::unix::fs::symlink("../elsewhere", d.join("data")).expect("linked");
            },
            "symlink_refused",
        ),
    ];
    let runtime = runtime();
    let items = texts(200);
    for &(what, damage, category) in DAMAGE {
        let root = tempfile::tempdir().expect("a directory");
        let (directory, ..) = write_backup(&runtime, root.path(), &items);
        damage(&directory);
        let deep = verified(&runtime, &directory, Depth::Items);
        assert_eq!(refusal(&deep), Some(category), "{what}: {:?}", deep.findings);
        assert_eq!(refusal(&verified(&runtime, &directory, Depth::Bytes)), Some(category), "{what}");
        let (theirs, ..) = independent(&directory);
        if what == "data is a link" {
            // The independent reader goes on to call each file behind the link a link as well.
            assert_eq!(theirs.as_deref(), Some("symlink_refused"), "{what}");
        } else if what != "part is a link" {
            assert_eq!(theirs.as_deref(), Some(category), "{what}");
        }
    }
}

#[test]
fn several_kinds_of_damage_are_reported_at_once() {
    let runtime = runtime();
    let root = tempfile::tempdir().expect("a directory");
    let (directory, ..) = write_backup(&runtime, root.path(), &texts(50));
    std::fs::remove_file(directory.join("data/000001.json.gz")).expect("gone");
    std::fs::remove_file(directory.join("manifest-summary.json")).expect("gone");
    rewrite(&directory.join("data/000002.json.gz"), |mut b| {
        b[30] ^= 4;
        b
    });
    std::fs::write(directory.join("data/.put-x.tmp"), "x").expect("written");
    std::fs::write(directory.join("notes"), "x").expect("written");
    let report = verified(&runtime, &directory, Depth::Items);
    let words: Vec<_> = report.findings.iter().map(|f| f.category.word()).collect();
    assert_eq!(
        words,
        ["summary_missing", "missing_data_file", "data_file_checksum_mismatch", "temporary_left", "unexpected_object"]
    );
}

/// Replaces the items of the first data file by lines, everything resealed, so that only the lines can be wrong.
fn with_lines(runtime: &Runtime, root: &Path, lines: &[u8], count: u64) -> PathBuf {
    let (directory, mut manifest, _) = write_backup(runtime, root, &texts(1));
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut packed = vec![0; compressor.gzip_compress_bound(lines.len())];
    let len = compressor.gzip_compress(lines, &mut packed).expect("room");
    with_bytes(&directory, &mut manifest, &packed[..len], count);
    directory
}

fn with_bytes(directory: &Path, manifest: &mut Manifest, packed: &[u8], count: u64) {
    use base64::Engine as _;
    use md5::Digest as _;
    let hex = extenddb_admin::domain::manifest::hex;
    std::fs::write(directory.join("data/000001.json.gz"), packed).expect("written");
    manifest.data_files[0].bytes = packed.len() as u64;
    manifest.data_files[0].item_count = count;
    manifest.data_files[0].sha256 = hex(&sha2::Sha256::digest(packed));
    manifest.backup_size_bytes = i64::try_from(packed.len()).expect("small");
    manifest.source_table.item_count = i64::try_from(count).expect("few");
    let md5 = base64::engine::general_purpose::STANDARD.encode(md5::Md5::digest(packed));
    rewrite(&directory.join("manifest-files.json"), |b| {
        let mut line: Value = serde_json::from_slice(&b).expect("one line");
        line["md5Checksum"] = md5.into();
        line["itemCount"] = count.into();
        format!("{line}\n").into_bytes()
    });
    rewrite(&directory.join("manifest-summary.json"), |b| {
        let mut summary: Value = serde_json::from_slice(&b).expect("an object");
        summary["itemCount"] = count.into();
        summary.to_string().into_bytes()
    });
    std::fs::write(directory.join("extenddb-manifest.json"), manifest.seal()).expect("written");
}

const GOOD: &str = r#"{"Item":{"id":{"S":"a"},"n":{"N":"1"}}}"#;

fn lines_verdict(runtime: &Runtime, lines: &[u8], count: u64) -> (Option<String>, BTreeSet<String>) {
    let root = tempfile::tempdir().expect("a directory");
    let directory = with_lines(runtime, root.path(), lines, count);
    let report = verified(runtime, &directory, Depth::Items);
    let ours = report.findings.iter().map(|f| f.category.word().to_owned()).collect::<BTreeSet<_>>();
    let (refused, theirs, digest) = independent(&directory);
    let shown = String::from_utf8_lossy(&lines[..lines.len().min(400)]).into_owned();
    assert_eq!(refusal(&report), refused.as_deref(), "{shown}: {:?}", report.findings);
    assert_eq!(ours, theirs, "{shown}");
    if refused.is_none() {
        assert_eq!(report.digest.expect("whole").to_string(), digest, "{shown}");
    }
    (refused, ours)
}

#[test]
fn lines_are_judged_as_the_independent_reader_judges_them() {
    let runtime = runtime();
    let check = |line: &str, wanted: Option<&str>, warning: Option<&str>| {
        let (refused, found) = lines_verdict(&runtime, format!("{line}\n").as_bytes(), 1);
        assert_eq!(refused.as_deref(), wanted, "{line}");
        assert_eq!(found.into_iter().next().as_deref(), wanted.or(warning), "{line}");
    };
    let item = |members: &str| format!(r#"{{"Item":{{"id":{{"S":"a"}},"n":{{"N":"1"}},{members}}}}}"#);
    check(GOOD, None, None);
    check("", Some("line_malformed"), None);
    check(&format!("{GOOD}\r"), None, None);
    check(&format!(" {GOOD} "), None, None);
    check(&GOOD.replace("}}}", "}},\"x\":1}"), None, Some("extra_line_member"));
    check(&item(r#""n":{"N":"2"}"#), None, Some("duplicate_attribute_name"));
    check(&item(r#""m":{"M":{"x":{"N":"x"},"x":{"S":""}}}"#), None, Some("duplicate_attribute_name"));
    check(&item(&format!(r#""x":{{"S":"{}"}}"#, "x".repeat(409_600))), None, Some("item_large"));
    let nested = |n: usize| item(&format!(r#""x":{}{{"S":""}}{}"#, "{\"L\":[".repeat(n), "]}".repeat(n)));
    check(&nested(32), None, None);
    check(&nested(33), None, Some("item_deep"));
    check(&nested(62), None, Some("item_deep"));
    check(&nested(63), Some("line_malformed"), None);
    check(&item(r#""x":{"N":"1e126"}"#), Some("item_invalid"), None);
    check(&item(r#""x":{"N":"1"},"y":{"N":"x"},"z":{"Q":1}"#), Some("line_malformed"), None);
    check(&item(r#""x":{"S":"\ud800"}"#), Some("line_malformed"), None);
    check(&item(r#""x":{"NS":["1","1.0"]}"#), Some("line_malformed"), None);
    check(&GOOD.replace(r#""S":"a""#, r#""S":"""#), Some("item_invalid"), None);
    check(&GOOD.replace(r#""S":"a""#, &format!(r#""S":"{}""#, "x".repeat(2049))), Some("item_invalid"), None);
    check(&GOOD.replace(r#""S":"a""#, &format!(r#""S":"{}""#, "x".repeat(2048))), None, None);
    check(&GOOD.replace(r#""N":"1""#, r#""S":"1""#), Some("item_invalid"), None);
    check(&GOOD.replace(r#""n""#, r#""m""#), Some("item_invalid"), None);
}

/// What the independent reader says of each line: `good <digest> <size> <depth> <twice> <extra>`, `malformed` or `invalid`.
fn independent_lines(lines: &[Vec<u8>]) -> Vec<String> {
    const SCRIPT: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import check_backup as c
for text in sys.stdin:
    try:
        item, notes = c.read_item(bytes.fromhex(text))
        print('good', '%064x' % c.item_digest(item), notes['size'], notes['depth'], int(notes['dup_names']), int(notes['extra']))
    except c.Line:
        print('malformed')
    except c.Bad:
        print('invalid')
";
    let file = tempfile::NamedTempFile::new().expect("a file");
    let hex: Vec<_> = lines.iter().map(|line| extenddb_admin::domain::manifest::hex(line)).collect();
    std::fs::write(file.path(), hex.join("\n") + "\n").expect("written");
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools");
    let mut python = Command::new("python3");
    python.args(["-B", "-c", SCRIPT]).arg(tools).stdin(std::fs::File::open(file.path()).expect("there"));
    let out = python.output().expect("python3 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("UTF-8").lines().map(str::to_owned).collect()
}

fn our_verdict(parser: &mut ItemParser, line: &[u8]) -> String {
    use extenddb_admin::domain::digest::TableDigest;
    use extenddb_admin::domain::item::ItemError;
    match parser.parse_line(line) {
        Ok(item) => {
            let flags = item.flags();
            let mut digest = TableDigest::default();
            digest.add(item.canonical());
            let hash = digest.to_string().split_off(2);
            let (twice, extra) = (u8::from(flags.duplicate_name), u8::from(flags.extra_line_member));
            format!("good {hash} {} {} {twice} {extra}", flags.size_bytes, flags.depth)
        }
        Err(ItemError::Malformed(_)) => "malformed".to_owned(),
        Err(ItemError::Invalid(_)) => "invalid".to_owned(),
    }
}

#[test]
fn mangled_lines_are_judged_as_the_independent_reader_judges_them() {
    const SEEDS: [&str; 4] = [
        r#"{"Item":{"a":{"S":"x\u00e9\n"},"b":{"N":"-1.50e3"},"c":{"B":"AAE="},"d":{"NULL":true},"e":{"BOOL":false}}}"#,
        r#"{"Item":{"s":{"SS":["b","a",""]},"n":{"NS":["1","2.0","-3"]},"b":{"BS":["AQ==","AA==",""]}},"x":[1,{"y":null}]}"#,
        r#"{"Item":{"l":{"L":[{"S":""},{"M":{"k":{"N":"7"},"j":{"L":[]}}}]},"m":{"M":{"q":{"NULL":true},"r":{"S":"\ud83d\ude00"}}}}}"#,
        r#"{"Item":{"a":{"N":"99999999999999999999999999999999999999"},"a":{"M":{"x":{"N":"1"},"x":{"N":"2"}}}}}"#,
    ];
    const PIECES: [&str; 28] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u0000",
        "\\ud800",
        "\"S\"",
        "\"N\"",
        "\"x\"",
        "\"SS\"",
        "{\"S\":\"q\"}",
        "{\"N\":\"x\"}",
        "{\"N\":\"1\"}",
        "\"Item\":",
        "\"a\":",
        "\"x\":",
        "null",
        "true",
        "1e5",
        "-0",
        "0",
        "9",
        " ",
        "\u{e9}",
    ];
    const STRINGS: [&str; 24] = [
        "\"S\"",
        "\"N\"",
        "\"B\"",
        "\"SS\"",
        "\"NS\"",
        "\"BS\"",
        "\"L\"",
        "\"M\"",
        "\"NULL\"",
        "\"BOOL\"",
        "\"a\"",
        "\"b\"",
        "\"x\"",
        "\"1\"",
        "\"1.0\"",
        "\"-0\"",
        "\"1e126\"",
        "\"\"",
        "\"AA==\"",
        "\"AB==\"",
        "\"\\u0061\"",
        "\"\\u0000\"",
        "\"Item\"",
        "\"\u{e9}\"",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut pick = |of: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % of as u64).expect("small")
    };
    let mut lines = Vec::new();
    for round in 0..8000 {
        let mut line = SEEDS[round % SEEDS.len()].as_bytes().to_vec();
        for _ in 0..=pick(3) {
            if pick(8) > 0 {
                // One string instead of another keeps the JSON and changes what it says.
                let quotes: Vec<_> = (0..line.len()).filter(|&at| line[at] == b'"').collect();
                if let [from, to] = quotes[2 * pick(quotes.len() / 2)..][..2] {
                    drop(line.splice(from..=to, STRINGS[pick(STRINGS.len())].bytes()));
                }
                continue;
            }
            let (from, len) = (pick(line.len()), pick(12));
            let to = (from + len).min(line.len());
            match pick(5) {
                0 => drop(line.drain(from..to)),
                1 => drop(line.splice(from..from, PIECES[pick(PIECES.len())].bytes())),
                2 => drop(line.splice(from..to, PIECES[pick(PIECES.len())].bytes())),
                3 => {
                    let copy = line[from..to].to_vec();
                    let at = pick(line.len());
                    line.splice(at..at, copy);
                }
                _ => line[from] = line[from].wrapping_add(u8::try_from(1 + pick(255)).expect("a byte")),
            }
            if line.iter().filter(|&&b| b == b'"').count() < 2 {
                line.extend_from_slice(b"\"\"");
            }
        }
        lines.push(line);
    }
    let theirs = independent_lines(&lines);
    assert_eq!(theirs.len(), lines.len());
    let good = theirs.iter().filter(|v| v.starts_with("good")).count();
    let invalid = theirs.iter().filter(|v| *v == "invalid").count();
    assert!(good > 500 && invalid > 100, "the mix says something: {good} good, {invalid} invalid");
    let mut parser = ItemParser::new();
    let mut differ = Vec::new();
    for (line, theirs) in lines.iter().zip(&theirs) {
        let ours = our_verdict(&mut parser, line);
        if ours != *theirs {
            differ.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", String::from_utf8_lossy(line)));
        }
    }
    assert!(differ.is_empty(), "{} lines differ:\n{}", differ.len(), differ[..differ.len().min(10)].join("\n"));
}

#[test]
fn the_form_of_the_file_is_judged_as_the_independent_reader_judges_it() {
    let runtime = runtime();
    let line = |id: usize| GOOD.replace(r#""a""#, &format!(r#""{id}""#));
    let refused = |lines: &[u8], count| lines_verdict(&runtime, lines, count).0;
    assert_eq!(refused(b"", 0), None);
    assert_eq!(refused(format!("{}\n{}", line(1), line(2)).as_bytes(), 2), None);
    assert_eq!(refused(format!("{}\n\n{}\n", line(1), line(2)).as_bytes(), 3).as_deref(), Some("line_malformed"));
    assert_eq!(refused(format!("{}\n", line(1)).as_bytes(), 2).as_deref(), Some("item_count_mismatch"));
    assert_eq!(
        refused(format!("{0}\n{1}\n{0}\n", line(1), line(2)).as_bytes(), 3).as_deref(),
        Some("duplicate_item_key")
    );
    // Equal values under other spellings are equal keys.
    let spelled = line(1).replace(r#""1""#, r#""\u0031""#).replacen(r#"{"N":"\u0031"}"#, r#"{"N":"1.0"}"#, 1);
    assert_eq!(refused(format!("{}\n{spelled}\n", line(1)).as_bytes(), 2).as_deref(), Some("duplicate_item_key"));
    // The longest line a reader accepts, with and without a line end.
    let padded = |len: usize| format!("{GOOD}{}", " ".repeat(len - GOOD.len()));
    let most = 4 << 20;
    assert_eq!(refused(format!("{}\n", padded(most - 1)).as_bytes(), 1), None);
    assert_eq!(refused(padded(most).as_bytes(), 1), None);
    assert_eq!(refused(format!("{}\n", padded(most)).as_bytes(), 1).as_deref(), Some("line_too_long"));
    assert_eq!(refused(padded(most + 1).as_bytes(), 1).as_deref(), Some("line_too_long"));
}

#[test]
fn gzip_is_read_to_its_very_end() {
    let runtime = runtime();
    let gzip = |text: &str| {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut packed = vec![0; compressor.gzip_compress_bound(text.len())];
        let len = compressor.gzip_compress(text.as_bytes(), &mut packed).expect("room");
        packed.truncate(len);
        packed
    };
    let one = gzip(&format!("{GOOD}\n"));
    let two = gzip(&format!("{}\n", GOOD.replace(r#""a""#, r#""b""#)));
    let half = GOOD.split_at(20);
    let altered = |at: usize| {
        let mut bytes = one.clone();
        let at = bytes.len() - at;
        bytes[at] ^= 1;
        bytes
    };
    for (what, bytes, count, wanted) in [
        ("one member", one.clone(), 1, None),
        ("two members", [one.clone(), two.clone()].concat(), 2, None),
        ("an empty member between", [one.clone(), gzip(""), two.clone()].concat(), 2, None),
        ("a line over two members", [gzip(half.0), gzip(half.1)].concat(), 1, None),
        ("no bytes at all", Vec::new(), 0, Some("data_file_undecodable")),
        ("an early end", one[..one.len() - 3].to_vec(), 1, Some("data_file_undecodable")),
        (
            "an early end of the second member",
            [one.clone(), two[..15].to_vec()].concat(),
            2,
            Some("data_file_undecodable"),
        ),
        ("junk behind it", [one.clone(), b"junk".to_vec()].concat(), 1, Some("data_file_undecodable")),
        ("a zero behind it", [one.clone(), vec![0]].concat(), 1, Some("data_file_undecodable")),
        ("a wrong length", altered(1), 1, Some("data_file_undecodable")),
        ("a wrong CRC", altered(8), 1, Some("data_file_undecodable")),
        ("no gzip", b"{}".to_vec(), 1, Some("data_file_undecodable")),
    ] {
        let root = tempfile::tempdir().expect("a directory");
        let (directory, mut manifest, _) = write_backup(&runtime, root.path(), &texts(1));
        with_bytes(&directory, &mut manifest, &bytes, count);
        let report = verified(&runtime, &directory, Depth::Items);
        assert_eq!(refusal(&report), wanted, "{what}: {:?}", report.findings);
        assert_eq!(independent(&directory).0.as_deref(), wanted, "{what}");
    }
}

#[test]
fn any_byte_of_a_backup_may_be_altered_and_is_noticed() {
    let runtime = runtime();
    let root = tempfile::tempdir().expect("a directory");
    let (directory, ..) = write_backup(&runtime, root.path(), &texts(3));
    let files = ["extenddb-manifest.json", "manifest-files.json", "manifest-summary.json", "data/000001.json.gz"];
    let mut runner = TestRunner::new(Config::with_cases(300));
    let altered = (0..files.len(), proptest::num::usize::ANY, 0..8u32);
    let outcome = runner.run(&altered, |(file, at, bit)| {
        let path = directory.join(files[file]);
        let good = std::fs::read(&path).expect("there");
        let mut bad = good.clone();
        let at = at % bad.len();
        bad[at] ^= 1 << bit;
        std::fs::write(&path, &bad).expect("written");
        let report = verified(&runtime, &directory, Depth::Items);
        std::fs::write(&path, &good).expect("restored");
        // The export manifests hold members that nothing is compared with.
        proptest::prop_assert!(!report.ok() || files[file].starts_with("manifest-"), "{} byte {at}", files[file]);
        Ok(())
    });
    outcome.expect("every alteration is noticed");
    assert!(verified(&runtime, &directory, Depth::Items).ok());
}

#[test]
fn a_second_writer_does_not_replace_a_committed_backup() {
    let runtime = runtime();
    let root = tempfile::tempdir().expect("a directory");
    let (directory, first, _) = write_backup(&runtime, root.path(), &texts(3));
    let (store, prefix) = place(&directory);
    let writer = {
        let _inside = runtime.enter();
        BackupWriter::new(store, prefix, DEFAULT_TARGET_BYTES)
    };
    let meta = BackupMeta {
        arn: first.arn(),
        name: "second".into(),
        created: TimestampMs(1),
        ended: TimestampMs(2),
        source_backend: "sqlite".into(),
        snapshot: first.snapshot.clone(),
        source_table: table(0),
    };
    let sealed = runtime.block_on(writer.seal::<extenddb_admin::archive::Error>(meta, async { Ok(()) }));
    assert!(matches!(sealed, Ok(SealOutcome::Exists)));
    let report = verified(&runtime, &directory, Depth::Manifests);
    assert_eq!(report.manifest.expect("a record").backup_name, first.backup_name);
}

#[test]
fn a_backup_whose_worker_went_away_cannot_be_sealed() {
    let runtime = runtime();
    let root = tempfile::tempdir().expect("a directory");
    let store: Arc<dyn Store> = Arc::new(FsStore::open(root.path()).expect("a store"));
    let arn = BackupArn::new("eu-west-1", "000000000000", "Things", "1-2").expect("an ARN");
    let prefix = BackupPrefix::of_arn(&arn).expect("a prefix");
    let writer = || {
        let _inside = runtime.enter();
        BackupWriter::new(Arc::clone(&store), prefix.clone(), DEFAULT_TARGET_BYTES)
    };
    let lose_a_worker = |writer: &BackupWriter| {
        let mut files = writer.data_file_writer();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut parser = ItemParser::new();
                let item = parser.parse(br#"{"id":{"S":"x"},"n":{"N":"1"}}"#, ControlChars::Plain).expect("good");
                files.push(&item).expect("written");
            });
        });
    };
    let sealed_with = writer();
    lose_a_worker(&sealed_with);
    let meta = BackupMeta {
        arn,
        name: "lost".into(),
        created: TimestampMs(1),
        ended: TimestampMs(2),
        source_backend: "sqlite".into(),
        snapshot: SnapshotMeta { kind: "sqlite_wal_read_txn".into(), marker: String::new() },
        source_table: table(1),
    };
    let sealed = runtime.block_on(sealed_with.seal::<extenddb_admin::archive::Error>(meta, async { Ok(()) }));
    assert!(matches!(sealed, Err(extenddb_admin::archive::Error::Unfinished)));
    let aborted = writer();
    lose_a_worker(&aborted);
    runtime.block_on(aborted.abort()).expect("aborted");
    assert_eq!(std::fs::read_dir(root.path()).expect("readable").count(), 0, "nothing is left");
}
