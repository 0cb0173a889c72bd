//! The seams as an operation uses them: a deployment opened as a backend, a snapshot read to its end,
//! a table loaded step by step.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use extenddb_admin::backend::registry::{OpenOptions, by_url};
use extenddb_admin::backend::snapshot::{Snapshot, SnapshotOptions, block_channel};
use extenddb_admin::backend::{Backend, Error};
use extenddb_admin::domain::claim::Writer;
use extenddb_admin::domain::digest::TableDigest;
use extenddb_admin::domain::item::{ControlChars, ItemParser};
use extenddb_admin::domain::job::{JobKind, NewJob};
use extenddb_admin::domain::table::{TableInfo, TableKey};

use super::deployment::Deployment;
use super::servers::Kind;
use super::table::Table;

/// An opened backend, with the runtime that its calls need.
pub struct Seam {
    pub runtime: tokio::runtime::Runtime,
    pub backend: Arc<dyn Backend>,
    pub writer: Writer,
}

impl Deployment {
    /// Opens the deployment as one process of its own would.
    pub fn open(&self) -> Seam {
        self.open_as(false)
    }

    /// Opens the deployment for reading only.
    pub fn open_read_only(&self) -> Seam {
        self.open_as(true)
    }

    fn open_as(&self, read_only: bool) -> Seam {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let writer = Writer(format!("{}@test:{}", uuid::Uuid::new_v4(), std::process::id()));
        let options = OpenOptions {
            url: self.url(),
            data_url: None,
            read_only,
            lock_timeout: Duration::from_secs(5),
            writer: writer.clone(),
            region: None,
        };
        let entry = by_url(&options.url).unwrap();
        let backend = runtime.block_on((entry.open)(options)).unwrap();
        Seam { runtime, backend, writer }
    }
}

impl Seam {
    /// Waits for a call.
    pub fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(call)
    }

    /// Opens a snapshot over tables of the fixtures.
    pub fn snapshot(&self, tables: &[&Table]) -> Result<Box<dyn Snapshot>, Error> {
        let keys: Vec<_> = tables.iter().map(|t| key(t)).collect();
        let options = SnapshotOptions { connections: 2, hold_rows: true };
        self.wait(self.backend.open_snapshot(&keys, &options))
    }

    /// Every raw text of one table of a snapshot, its ranges scanned at once where that is allowed.
    pub fn scan(&self, snapshot: &dyn Snapshot, table: &TableInfo, parts: usize) -> Vec<Vec<u8>> {
        let ranges = self.wait(snapshot.plan(table, parts)).unwrap();
        assert!(ranges.len() <= parts, "{} ranges planned, {parts} asked for", ranges.len());
        let (sink, source) = block_channel(4);
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                let mut texts: Vec<Vec<u8>> = Vec::new();
                while let Some(block) = source.next_blocking() {
                    texts.extend(block.texts().map(<[u8]>::to_vec));
                    source.recycle(block);
                }
                texts
            });
            let counts = self.wait(async {
                let scans = ranges.iter().map(|range| snapshot.scan(table, range, &sink));
                let mut counts = 0;
                if self.backend.capabilities().parallel_scan {
                    for count in futures_util::future::join_all(scans).await {
                        counts += count.unwrap();
                    }
                } else {
                    for scan in scans {
                        counts += scan.await.unwrap();
                    }
                }
                counts
            });
            drop(sink);
            let texts = reader.join().unwrap();
            assert_eq!(counts, texts.len() as u64, "scan counts what it sends");
            texts
        })
    }

    /// Digest of one table of a snapshot.
    pub fn digest(&self, snapshot: &dyn Snapshot, table: &TableInfo, parts: usize) -> String {
        digest_of(&self.scan(snapshot, table, parts), snapshot.encoding())
    }
}

/// Digest of raw texts, by the product's own parser.
pub fn digest_of(texts: &[Vec<u8>], encoding: ControlChars) -> String {
    let mut parser = ItemParser::new();
    let mut digest = TableDigest::default();
    for text in texts {
        digest.add(parser.parse(text, encoding).unwrap().canonical());
    }
    digest.to_string()
}

/// Address of a fixture's table.
pub fn key(table: &Table) -> TableKey {
    TableKey { account_id: table.account.clone(), table_name: table.name.clone() }
}

/// A restore of a target, as a test asks for it.
pub fn restore_job(target: &str) -> NewJob {
    NewJob {
        kind: JobKind::Restore,
        target: target.into(),
        request: serde_json::json!({"as": target}),
        request_fingerprint: "f".repeat(64),
        idempotency_key: None,
        principal: "tester".into(),
    }
}

/// A table of ours by its name on a backend.
pub fn admin_table(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Sqlite => format!("extenddb_admin_{name}"),
        Kind::Postgres => format!("extenddb_admin.{name}"),
    }
}
