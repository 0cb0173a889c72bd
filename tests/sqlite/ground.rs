//! What these tests share: opened backends, claimed jobs, and tables taken from one name to another.

use std::sync::Arc;
use std::time::Duration;

use extenddb_admin::backend::loader::{FileDone, StagePlan};
use extenddb_admin::backend::registry::{OpenOptions, by_url};
use extenddb_admin::backend::snapshot::{Snapshot, SnapshotOptions, block_channel};
use extenddb_admin::backend::{Backend, Error, jobs::JobClaim};
use extenddb_admin::domain::claim::{FenceToken, Writer};
use extenddb_admin::domain::digest::TableDigest;
use extenddb_admin::domain::item::{ControlChars, ItemParser};
use extenddb_admin::domain::job::{JobKind, NewJob};
use extenddb_admin::domain::store_ref::StoreRef;
use extenddb_admin::domain::table::{TableInfo, TableKey};

use crate::support::deployment::ACCOUNT;
use crate::support::{Deployment, Kind};

pub type Shared = Arc<dyn Backend>;

/// Every shape of a file.
pub const SHAPES: &[&str] = &["0.0.2", "0.0.3", "0.0.4", "0.0.5"];

/// A deployment of a released shape.
pub fn deployment(shape: &str) -> Deployment {
    Deployment::released(Kind::Sqlite, shape)
}

pub fn writer(name: &str) -> Writer {
    Writer(format!("{name}@test:{}", std::process::id()))
}

pub async fn open(deployment: &Deployment) -> Shared {
    open_as(deployment, "one").await
}

pub async fn open_as(deployment: &Deployment, name: &str) -> Shared {
    open_url(deployment.url(), name, false).await.unwrap()
}

pub async fn open_url(url: String, name: &str, read_only: bool) -> Result<Shared, Error> {
    let options = OpenOptions {
        data_url: None,
        read_only,
        lock_timeout: Duration::from_secs(5),
        writer: writer(name),
        region: Some("xx-test-1".into()),
        url,
    };
    (by_url("sqlite:").unwrap().open)(options).await
}

pub fn key(name: &str) -> TableKey {
    TableKey { account_id: ACCOUNT.into(), table_name: name.into() }
}

pub fn job(kind: JobKind, target: &str) -> NewJob {
    NewJob {
        kind,
        target: target.into(),
        request: serde_json::json!({"of": target}),
        request_fingerprint: "f1".into(),
        idempotency_key: None,
        principal: "tester".into(),
    }
}

/// Admits and claims a job.
pub async fn claimed(backend: &Shared, kind: JobKind, name: &str) -> Box<dyn JobClaim> {
    let record = backend.admit_job(&job(kind, &format!("{ACCOUNT}/{name}"))).await.unwrap();
    backend.claim_job(&record.id, &writer("one")).await.unwrap()
}

/// The plan that makes a copy of a table under another name.
pub fn plan_of(table: &TableInfo, name: &str, number: u32) -> StagePlan {
    let mut definition = table.definition.clone();
    definition.table_name = name.into();
    definition.table_id = format!("aaaaaaaa-0000-4000-8000-{number:012x}");
    definition.table_arn = format!("arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/{name}");
    let indexes = definition.global_secondary_indexes.iter().flatten().count()
        + definition.local_secondary_indexes.iter().flatten().count();
    StagePlan {
        target: key(name),
        index_ids: (0..indexes)
            .map(|i| format!("bbbbbbbb-0000-4000-8000-{:012x}", number as usize * 100 + i))
            .collect(),
        source_backup_arn: format!("{}/backup/01767229200123-0a0b0c01", table.definition.table_arn),
        store: Some(StoreRef { kind: "filesystem".into(), root: "/backups".into(), id: "store-1".into() }),
        definition,
    }
}

pub const OPTIONS: SnapshotOptions = SnapshotOptions { connections: 2, hold_rows: true };

/// Raw texts of a table in a snapshot, in the order of the scan.
pub async fn items(snapshot: &dyn Snapshot, table: usize) -> Vec<Vec<u8>> {
    let table = &snapshot.tables()[table];
    let (sink, source) = block_channel(3);
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        while let Some(block) = source.next_blocking() {
            all.extend(block.texts().map(<[u8]>::to_vec));
            source.recycle(block);
        }
        all
    });
    let mut scanned = 0;
    for range in snapshot.plan(table, 4).await.unwrap() {
        scanned += snapshot.scan(table, &range, &sink).await.unwrap();
    }
    drop(sink);
    let all = reader.join().unwrap();
    assert_eq!(scanned, all.len() as u64);
    all
}

pub fn digest(items: &[Vec<u8>]) -> TableDigest {
    let (mut parser, mut digest) = (ItemParser::new(), TableDigest::default());
    for text in items {
        digest.add(parser.parse(text, ControlChars::Plain).unwrap().canonical());
    }
    digest
}

/// Applies one file of items.
pub async fn load(
    backend: &Shared,
    fence: &FenceToken,
    plan: &StagePlan,
    file_index: u32,
    items: &[Vec<u8>],
) -> Result<(), Error> {
    let mut batch = backend.begin_load(fence, plan).await?;
    let mut parser = ItemParser::new();
    for text in items {
        if batch.push(&parser.parse(text, ControlChars::Plain).unwrap())? {
            batch.flush().await?;
        }
    }
    let done = FileDone { file_index, items: items.len() as u64, digest: digest(items).to_string() };
    batch.commit(&done).await
}

/// Everything the file holds, but for the rows that say who holds what.
pub fn contents(deployment: &Deployment) -> Vec<String> {
    let mut db = deployment.catalog();
    let mut all = Vec::new();
    for table in db.tables() {
        if table == "extenddb_admin_jobs" || table == "extenddb_admin_fences" {
            continue;
        }
        all.push(format!("{table} {:?}", db.columns(&table)));
        all.extend(db.rows(&format!("SELECT * FROM \"{table}\"")).iter().map(|row| format!("{row:?}")));
    }
    all
}
