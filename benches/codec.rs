//! What each part of a backup's and a restore's inner loop costs, on one thread.
//!
//! `cargo bench --bench codec [-- ITEM_BYTES]` prints milliseconds of CPU for each raw megabyte and the rate. CPU time and
//! not wall time, so that a busy machine does not blur it; the best of five rounds.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use extenddb_admin::archive::BackupPrefix;
use extenddb_admin::archive::data_file::DataFileReader;
use extenddb_admin::archive::verify::{Depth, VerifyOptions, verify};
use extenddb_admin::archive::writer::{BackupMeta, BackupWriter, DEFAULT_TARGET_BYTES, SealOutcome};
use extenddb_admin::domain::arn::BackupArn;
use extenddb_admin::domain::digest::TableDigest;
use extenddb_admin::domain::item::{ControlChars, ItemParser};
use extenddb_admin::domain::key::{KeyAttribute, KeySpec};
use extenddb_admin::domain::manifest::{Manifest, SnapshotMeta};
use extenddb_admin::domain::table::{AttributeDefinition, BillingMode, KeyElement, KeyType, ScalarType, SourceTable};
use extenddb_admin::domain::timestamp::TimestampMs;
use extenddb_admin::store::Store;
use extenddb_admin::store::fs::FsStore;
use sha2::Digest as _;

const RAW_BYTES: usize = 64 << 20;
const ROUNDS: u32 = 5;

/// Nanoseconds this thread spent on a processor.
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with schedstats");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number")
}

/// Nanoseconds this process spent on processors: ticks of a hundredth of a second.
fn process_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let after_name = stat.rsplit(')').next().expect("a name in brackets");
    let ticks: u64 = after_name.split(' ').skip(12).take(2).map(|t| t.parse::<u64>().expect("a number")).sum();
    ticks * 10_000_000
}

fn measure(what: &str, raw_bytes: usize, clock: fn() -> u64, mut round: impl FnMut()) {
    let mut best = u64::MAX;
    for _ in 0..ROUNDS {
        let start = clock();
        round();
        best = best.min(clock() - start);
    }
    let ns_per_byte = f64::from(u32::try_from(best / 1000).expect("seconds")) * 1000.0
        / f64::from(u32::try_from(raw_bytes).expect("megabytes"));
    println!("{what:<44} {:>7.2} ms/MB {:>8.0} MB/s", ns_per_byte, 1000.0 / ns_per_byte);
}

/// A cheap generator of reproducible numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn words(&mut self, bytes: usize) -> String {
        const WORDS: [&str; 16] = [
            "order", "shipped", "to", "the", "address", "of", "customer", "pending", "review", "and", "item", "blue",
            "large", "express", "gift", "note",
        ];
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(WORDS[usize::try_from(self.next() % 16).expect("small")]);
            text.push(' ');
        }
        text
    }
}

/// Items as PostgreSQL prints them: blanks, names by length.
fn items(item_bytes: usize) -> Vec<String> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut all = Vec::new();
    let mut bytes = 0;
    while bytes < RAW_BYTES {
        let (a, b, c) = (numbers.next(), numbers.next(), numbers.next());
        let filler = numbers.words(item_bytes.saturating_sub(300));
        let item = format!(
            r#"{{"n": {{"N": "{}"}}, "id": {{"S": "{a:016x}-{b:016x}"}}, "when": {{"S": "2026-06-{:02}T10:20:30.123Z"}}, "price": {{"N": "{}.{}"}}, "state": {{"S": "ACTIVE"}}, "tags": {{"SS": ["blue", "large"]}}, "flags": {{"M": {{"gift": {{"BOOL": true}}, "count": {{"N": "{}"}}}}}}, "comment": {{"S": "{filler}"}}, "customer": {{"S": "customer-{}"}}}}"#,
            all.len(),
            1 + a % 28,
            b % 1000,
            1 + c % 9,
            c % 100,
            c % 10_000,
        );
        bytes += item.len();
        all.push(item);
    }
    all
}

fn table() -> SourceTable {
    let element = |name: &str, key_type| KeyElement { attribute_name: name.into(), key_type };
    let definition = |name: &str, attribute_type| AttributeDefinition { attribute_name: name.into(), attribute_type };
    SourceTable {
        table_name: "Bench".into(),
        table_id: "00000000-0000-4000-8000-000000000001".into(),
        table_arn: "arn:aws:dynamodb:eu-west-1:000000000000:table/Bench".into(),
        table_creation_date_time: 1_767_225_600.0,
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
        item_count: 0,
        table_size_bytes: 0,
    }
}

fn backup(
    runtime: &tokio::runtime::Runtime,
    root: &std::path::Path,
    canonical: &[Vec<u8>],
) -> (BackupPrefix, Manifest) {
    let _ = std::fs::remove_dir_all(root.join("000000000000"));
    let store: Arc<dyn Store> = Arc::new(FsStore::open(root).expect("a store"));
    let arn = BackupArn::new("eu-west-1", "000000000000", "Bench", "00000000000001-00000001").expect("an ARN");
    let prefix = BackupPrefix::of_arn(&arn).expect("a prefix");
    let writer = {
        let _inside = runtime.enter();
        BackupWriter::new(store, prefix.clone(), DEFAULT_TARGET_BYTES)
    };
    let mut files = writer.data_file_writer();
    let mut parser = ItemParser::new();
    for text in canonical {
        files.push(&parser.parse(text, ControlChars::Plain).expect("good")).expect("written");
    }
    files.finish().expect("finished");
    let meta = BackupMeta {
        arn,
        name: "bench".into(),
        created: TimestampMs(1_767_225_600_000),
        ended: TimestampMs(1_767_225_600_000),
        source_backend: "sqlite".into(),
        snapshot: SnapshotMeta { kind: "sqlite_wal_read_txn".into(), marker: String::new() },
        source_table: table(),
    };
    match runtime.block_on(writer.seal::<extenddb_admin::archive::Error>(meta, async { Ok(()) })) {
        Ok(SealOutcome::Committed { manifest, .. }) => (prefix, *manifest),
        other => panic!("not sealed: {other:?}"),
    }
}

fn main() {
    let item_bytes = std::env::args().filter_map(|a| a.parse().ok()).next().unwrap_or(400);
    let texts = items(item_bytes);
    let raw: usize = texts.iter().map(String::len).sum();
    let mut parser = ItemParser::new();
    let canonical: Vec<Vec<u8>> = texts
        .iter()
        .map(|t| parser.parse(t.as_bytes(), ControlChars::Plain).expect("good").canonical().to_vec())
        .collect();
    let lines: Vec<Vec<u8>> = canonical.iter().map(|c| [b"{\"Item\":", c.as_slice(), b"}\n"].concat()).collect();
    let line_bytes: usize = lines.iter().map(Vec::len).sum();
    println!("{} items of {} bytes on average, {} MB", texts.len(), raw / texts.len(), raw >> 20);

    measure("recode PostgreSQL text", raw, cpu_ns, || {
        for text in &texts {
            black_box(parser.parse(text.as_bytes(), ControlChars::Plain).expect("good"));
        }
    });
    measure("recode PostgreSQL text, escaped controls", raw, cpu_ns, || {
        for text in &texts {
            black_box(parser.parse(text.as_bytes(), ControlChars::Escaped).expect("good"));
        }
    });
    measure("recode canonical text", raw, cpu_ns, || {
        for text in &canonical {
            black_box(parser.parse(text, ControlChars::Plain).expect("good"));
        }
    });
    measure("parse lines", line_bytes, cpu_ns, || {
        for line in &lines {
            black_box(parser.parse_line(&line[..line.len() - 1]).expect("good"));
        }
    });
    measure("look at UTF-8 alone", raw, cpu_ns, || {
        for text in &texts {
            black_box(std::str::from_utf8(text.as_bytes()).expect("good"));
        }
    });
    measure("digest", raw, cpu_ns, || {
        let mut digest = TableDigest::default();
        for text in &canonical {
            digest.add(text);
        }
        black_box(digest);
    });
    let key = |name: &str, ty| KeyAttribute { name: name.into(), ty };
    let spec = KeySpec { hash: vec![key("id", ScalarType::S)], range: vec![key("n", ScalarType::N)] };
    measure("parse lines and hash keys", line_bytes, cpu_ns, || {
        for line in &lines {
            let item = parser.parse_line(&line[..line.len() - 1]).expect("good");
            black_box(spec.hash_of(&item, 1).expect("a key"));
        }
    });
    let block = lines.concat();
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).expect("level 1 exists"));
    let mut packed = vec![0; compressor.gzip_compress_bound(1 << 20)];
    let mut stored = Vec::new();
    measure("deflate level 1 in blocks of 1 MiB", line_bytes, cpu_ns, || {
        stored.clear();
        for chunk in block.chunks(1 << 20) {
            let len = compressor.gzip_compress(chunk, &mut packed).expect("room");
            stored.extend_from_slice(&packed[..len]);
        }
    });
    println!(
        "  ratio {:.2}",
        f64::from(u32::try_from(line_bytes).expect("small")) / f64::from(u32::try_from(stored.len()).expect("small"))
    );
    measure("SHA-256 of the stored bytes", line_bytes, cpu_ns, || {
        black_box(sha2::Sha256::digest(&stored));
    });
    measure("MD5 of the stored bytes", line_bytes, cpu_ns, || {
        black_box(md5::Md5::digest(&stored));
    });
    let root = std::env::temp_dir().join(format!("extenddb-admin-codec-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("made");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    measure("write a backup from canonical text", line_bytes, process_ns, || {
        black_box(backup(&runtime, &root, &canonical));
    });
    let (prefix, manifest) = backup(&runtime, &root, &canonical);
    let store: Arc<dyn Store> = Arc::new(FsStore::open(&root).expect("a store"));
    measure("read the lines of a backup", line_bytes, cpu_ns, || {
        for file in &manifest.data_files {
            let mut reader = DataFileReader::open(runtime.handle(), &store, &prefix, file).expect("opened");
            while let Some(line) = reader.next_line().expect("intact") {
                black_box(line);
            }
        }
    });
    for (what, depth) in [("verify", Depth::Bytes), ("verify --deep", Depth::Items)] {
        let options = VerifyOptions {
            depth,
            jobs: 2,
            spool_dir: std::env::temp_dir(),
            item_check: None,
            progress: None,
            stop: Arc::new(AtomicBool::new(false)),
        };
        measure(what, line_bytes, process_ns, || {
            let report = runtime.block_on(verify(Arc::clone(&store), &prefix, &options)).expect("a verdict");
            assert!(report.ok(), "{:?}", report.findings);
        });
    }
    std::fs::remove_dir_all(&root).expect("removed");
}
