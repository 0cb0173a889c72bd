//! How fast scanning and loading are, beside a plain loader of the same lines. Never gates anything; run by hand:
//! `cargo test --release --test sqlite -- --ignored --nocapture speed`.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use extenddb_admin::backend::loader::{FileDone, StagePlan};
use extenddb_admin::domain::claim::FenceToken;
use extenddb_admin::domain::digest::TableDigest;
use extenddb_admin::domain::item::ItemParser;
use extenddb_admin::domain::job::JobKind;
use serde_json::{Value, json};

use super::ground::{OPTIONS, Shared, claimed, deployment, key, open, plan_of};
use crate::support::Deployment;
use crate::support::table::Table;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |v| v.parse().unwrap())
}

/// Key texts in no order, as UUIDs are; about 400 bytes an item.
fn item(i: usize) -> Value {
    let spread = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    json!({
        "id": {"S": format!("{spread:016x}-{i:08}")},
        "at": {"N": (i % 1000).to_string()},
        "kind": {"S": format!("k{}", i % 97)},
        "price": {"N": format!("{}.25", i % 100_000)},
        "text": {"S": format!("{:0>240}", spread.wrapping_mul(31).to_string().repeat(9))},
    })
}

/// Compressed files of at most 64 MiB of lines.
fn files(count: usize) -> (Vec<Vec<u8>>, usize) {
    let (mut files, mut plain, mut bytes) = (Vec::new(), 0, 0);
    let new = || flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut file = new();
    for i in 0..count {
        let line = format!("{{\"Item\":{}}}\n", item(i));
        if plain + line.len() > 64 << 20 {
            files.push(std::mem::replace(&mut file, new()).finish().unwrap());
            plain = 0;
        }
        plain += line.len();
        bytes += line.len();
        file.write_all(line.as_bytes()).unwrap();
    }
    files.push(file.finish().unwrap());
    (files, bytes)
}

fn lines(file: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let reader = std::io::BufReader::with_capacity(1 << 20, flate2::read::MultiGzDecoder::new(file));
    reader.split(b'\n').map(Result::unwrap)
}

/// What one would write in an afternoon: every line parsed, one prepared statement, one transaction. `PLAIN_CACHE`
/// gives it a page cache of that many KiB; SQLite's default is 2000.
fn plain_load(deployment: &Deployment, files: &[Vec<u8>]) {
    let mut conn = rusqlite::Connection::open(deployment.sqlite_path()).unwrap();
    conn.pragma_update(None, "journal_mode", "wal").unwrap();
    conn.pragma_update(None, "synchronous", 1).unwrap();
    let cache = i64::try_from(number("PLAIN_CACHE", 2000)).unwrap();
    conn.pragma_update(None, "cache_size", -cache).unwrap();
    conn.execute_batch(
        "CREATE TABLE plain (pk TEXT NOT NULL, sk_s TEXT, sk_n TEXT, sk_b BLOB, item_data TEXT NOT NULL, PRIMARY KEY (pk, sk_n))",
    )
    .unwrap();
    let tx = conn.transaction().unwrap();
    let mut insert = tx.prepare("INSERT INTO plain (pk, sk_n, item_data) VALUES (?, ?, ?)").unwrap();
    for line in files.iter().flat_map(|f| lines(f)) {
        let value: Value = serde_json::from_slice(&line).unwrap();
        let item = &value["Item"];
        let (pk, sk) = (item["id"]["S"].as_str().unwrap(), item["at"]["N"].as_str().unwrap());
        insert.execute((pk, crate::support::table::number_key(sk), item.to_string())).unwrap();
    }
    drop(insert);
    tx.commit().unwrap();
}

async fn our_load(backend: &Shared, fence: &FenceToken, plan: &StagePlan, files: &[Vec<u8>]) {
    for (file_index, file) in (0..).zip(files) {
        let mut batch = backend.begin_load(fence, plan).await.unwrap();
        let (mut parser, mut digest) = (ItemParser::new(), TableDigest::default());
        for line in lines(file) {
            let item = parser.parse_line(&line).unwrap();
            digest.add(item.canonical());
            if batch.push(&item).unwrap() {
                batch.flush().await.unwrap();
            }
        }
        let done = FileDone { file_index, items: digest.count, digest: digest.to_string() };
        batch.commit(&done).await.unwrap();
    }
}

fn peak_rss_mib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<usize>().unwrap() / 1024
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn speed_of_scan_and_load() {
    let count = number("ITEMS", 200_000);
    let rounds = number("ROUNDS", 3);
    let (files, bytes) = files(count);
    let mb = bytes as f64 / 1e6;
    println!("{count} items, {mb:.0} MB of lines in {} files", files.len());
    for round in 0..rounds {
        let plain = deployment("0.0.4");
        let began = Instant::now();
        if number("PLAIN", 1) == 1 {
            plain_load(&plain, &files);
        }
        let plain_time = began.elapsed().as_secs_f64();
        drop(plain);

        let ours = deployment("0.0.4");
        let mut table = Table::new("Source", 9, ("id", "S"), Some(("at", "N")));
        if number("GSI", 0) == 1 {
            table =
                table.index("GSI", "by_kind", &[("kind", "S")], &[("price", "N")], json!({"ProjectionType": "ALL"}));
        }
        ours.add(&table);
        let backend = open(&ours).await;
        let info = backend.table(&key("Source")).await.unwrap();
        let plan = plan_of(&info, "Copy", 1);
        let claim = claimed(&backend, JobKind::Restore, "Copy").await;
        backend.stage(claim.fence(), &plan).await.unwrap();
        let began = Instant::now();
        our_load(&backend, claim.fence(), &plan, &files).await;
        let load_time = began.elapsed().as_secs_f64();
        let began = Instant::now();
        backend.finish_load(claim.fence(), &plan).await.unwrap();
        let finish_time = began.elapsed().as_secs_f64();
        let began = Instant::now();
        backend.staged_digest(claim.fence(), &plan).await.unwrap();
        let digest_time = began.elapsed().as_secs_f64();
        let began = Instant::now();
        backend.publish(claim.fence(), &plan).await.unwrap();
        let publish_time = began.elapsed().as_secs_f64();

        let snapshot = backend.open_snapshot(&[key("Copy")], &OPTIONS).await.unwrap();
        let (sink, source) = extenddb_admin::backend::snapshot::block_channel(4);
        let reader = std::thread::spawn(move || {
            while let Some(block) = source.next_blocking() {
                source.recycle(block);
            }
        });
        let range = snapshot.plan(&snapshot.tables()[0], 1).await.unwrap().remove(0);
        let began = Instant::now();
        assert_eq!(snapshot.scan(&snapshot.tables()[0], &range, &sink).await.unwrap(), count as u64);
        let scan_time = began.elapsed().as_secs_f64();
        drop(sink);
        reader.join().unwrap();
        println!(
            "round {round}: plain {plain_time:.2}s ({:.0} MB/s) | load {load_time:.2}s ({:.0} MB/s) ratio {:.2} | \
             indexes and count {finish_time:.2}s | digest {digest_time:.2}s | publish {publish_time:.2}s | \
             scan {scan_time:.2}s ({:.0} MB/s) | peak {} MiB",
            mb / plain_time,
            mb / load_time,
            load_time / plain_time,
            mb / scan_time,
            peak_rss_mib(),
        );
    }
}
