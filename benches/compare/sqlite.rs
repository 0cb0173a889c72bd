//! SQLite: a backup beside `sqlite3 .backup` and `gzip -6`, a restore beside a plain loader of the
//! same compressed lines.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Plan;
use crate::generate::{self, Item, Random};
use crate::measure::{Report, run, size_of, time};
use crate::support::table::{Table, number_key};
use crate::support::{Deployment, Kind};

/// Every measurement on SQLite.
pub fn measure(plan: &Plan, report: &mut Report) {
    one(plan, report, "400 B", plan.items, generate::small);
    one(plan, report, "400 B, a tenth", plan.items / 10, generate::small);
    one(plan, report, "100 KB", plan.large_items, generate::large);
}

fn one(plan: &Plan, report: &mut Report, what: &str, items: u64, item: Item) {
    let deployment = Deployment::newest(Kind::Sqlite);
    let table = Table::new("Items", 1, ("customer", "S"), Some(("order", "N")));
    deployment.add(&table);
    fill(&deployment, &table, items, item);
    let store = deployment.store();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut id = String::new();
    let (mut our_size, mut their_size) = (0, 0);
    for _ in 0..plan.runs {
        std::fs::remove_dir_all(&store).unwrap();
        std::fs::create_dir(&store).unwrap();
        let mut command =
            deployment.command(["backup", "create", "Items", "-o", "json", "--progress", "none", "--store"]);
        command.arg(&store);
        let (cost, text) = run(command);
        ours.push(cost);
        let text: serde_json::Value = serde_json::from_str(&text).unwrap();
        id = text["backups"][0]["id"].as_str().unwrap().to_owned();
        our_size = size_of(&store);

        let copy = deployment.dir().join("copy.db");
        let _ = std::fs::remove_file(copy.with_extension("db.gz"));
        let mut backup = Command::new("sqlite3");
        backup.arg(deployment.sqlite_path()).arg(format!(".backup {}", copy.display()));
        let mut gzip = Command::new("gzip");
        gzip.arg("-6").arg(&copy);
        theirs.push(run(backup).0.wall + run(gzip).0.wall);
        their_size = size_of(&copy.with_extension("db.gz"));
    }
    let note = format!("size {:.3} of theirs ({} MiB)", our_size as f64 / their_size as f64, our_size >> 20);
    report.compare(&format!("SQLite backup, {what}"), &ours, "sqlite3 .backup | gzip -6", theirs, 4.0, note);
    restore(plan, report, what, &deployment, &id, &store);
}

fn restore(plan: &Plan, report: &mut Report, what: &str, deployment: &Deployment, id: &str, store: &Path) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        let mut command =
            deployment.command(["backup", "restore", id, "--as", "Restored", "--yes", "--progress", "none", "--store"]);
        command.arg(store);
        ours.push(run(command).0);
        let mut catalog = deployment.catalog();
        let table_id = catalog.one("SELECT table_id FROM tables WHERE table_name = 'Restored'");
        catalog.exec(&format!("DROP TABLE \"_ddb_{table_id}\"; DELETE FROM tables WHERE table_name = 'Restored'"));
        drop(catalog);
        theirs.push(plain_load(&deployment.dir().join("plain.db"), store));
    }
    let note = "asked for: at most twice a plain loader's time";
    report.compare(
        &format!("SQLite restore with verification, {what}"),
        &ours,
        "plain loader",
        theirs,
        0.5,
        note.into(),
    );
}

/// What somebody would write to load the lines: inflate, take the key out of the JSON, insert, all in
/// one transaction.
fn plain_load(path: &Path, store: &Path) -> Duration {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let files = data_files(store);
    let (taken, ()) = time(|| {
        let mut conn = rusqlite::Connection::open(path).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        conn.pragma_update(None, "synchronous", "NORMAL").unwrap();
        let tx = conn.transaction().unwrap();
        tx.execute_batch("CREATE TABLE t (pk TEXT NOT NULL, sk_s TEXT, sk_n TEXT, sk_b BLOB, item_data TEXT NOT NULL, PRIMARY KEY (pk, sk_n))")
            .unwrap();
        let mut insert = tx.prepare("INSERT INTO t (pk, sk_n, item_data) VALUES (?1, ?2, ?3)").unwrap();
        for file in files {
            let file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(file).unwrap());
            let mut lines = std::io::BufReader::with_capacity(1 << 20, flate2::bufread::MultiGzDecoder::new(file));
            let mut line = String::new();
            while lines.read_line(&mut line).unwrap() > 0 {
                let parsed: Line = serde_json::from_str(&line).unwrap();
                let key: Keys = serde_json::from_str(parsed.item.get()).unwrap();
                insert.execute((key.customer.s, number_key(key.order.n), parsed.item.get())).unwrap();
                line.clear();
            }
        }
        drop(insert);
        tx.commit().unwrap();
    });
    taken
}

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(rename = "Item", borrow)]
    item: &'a serde_json::value::RawValue,
}

#[derive(serde::Deserialize)]
struct Keys<'a> {
    #[serde(borrow)]
    customer: Text<'a>,
    #[serde(borrow)]
    order: Number<'a>,
}

#[derive(serde::Deserialize)]
struct Text<'a> {
    #[serde(rename = "S")]
    s: &'a str,
}

#[derive(serde::Deserialize)]
struct Number<'a> {
    #[serde(rename = "N")]
    n: &'a str,
}

fn data_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(data_files(&path));
        } else if path.extension().is_some_and(|e| e == "gz") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Loads generated items in one transaction.
fn fill(deployment: &Deployment, table: &Table, items: u64, item: Item) {
    let mut conn = rusqlite::Connection::open(deployment.sqlite_path()).unwrap();
    let tx = conn.transaction().unwrap();
    let mut insert =
        tx.prepare(&format!("INSERT INTO \"_ddb_{}\" (pk, sk_n, item_data) VALUES (?1, ?2, ?3)", table.id)).unwrap();
    let mut random = Random::new(items);
    let mut text = String::new();
    for number in 0..items {
        text.clear();
        item(&mut random, number, &mut text);
        let (customer, order) = generate::key(number);
        insert.execute((customer, number_key(&order.to_string()), &text)).unwrap();
    }
    drop(insert);
    tx.commit().unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}
