//! PostgreSQL: a backup beside `pg_dump -Fd -j2`, a restore beside `pg_restore -j2`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Plan;
use crate::generate::{self, Item, Random};
use crate::measure::{Report, run, size_of};
use crate::support::table::Table;
use crate::support::{Deployment, Kind};

/// Every measurement on PostgreSQL.
pub fn measure(plan: &Plan, report: &mut Report) {
    one(plan, report, "400 B", &[("Small", plan.items)], generate::small, 2.0);
    one(plan, report, "400 B, a tenth", &[("Tenth", plan.items / 10)], generate::small, 2.0);
    one(plan, report, "100 KB", &[("Large", plan.large_items)], generate::large, 2.0);
    let eight: Vec<_> = ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"].map(|name| (name, plan.items / 8)).to_vec();
    one(plan, report, "400 B, eight tables", &eight, generate::small, 1.1);
}

fn one(plan: &Plan, report: &mut Report, what: &str, tables: &[(&str, u64)], item: Item, backup_floor: f64) {
    let deployment = Deployment::newest(Kind::Postgres);
    let mut made = Vec::new();
    for (number, (name, items)) in (1..).zip(tables) {
        let table = Table::new(name, number, ("customer", "S"), Some(("order", "N")));
        deployment.add(&table);
        fill(&deployment, &table, *items, item);
        made.push(table);
    }
    crate::support::Db::postgres(crate::support::servers::postgres_superuser_url().unwrap()).exec("CHECKPOINT");
    let store = deployment.store();
    let dump = deployment.dir().join("dump");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut ids = Vec::new();
    let (mut our_size, mut their_size) = (0, 0);
    for _ in 0..plan.runs {
        remove(&store);
        std::fs::create_dir(&store).unwrap();
        let mut command =
            deployment.command(["backup", "create", "--all", "-o", "json", "--progress", "none", "--store"]);
        let (cost, text) = run({
            command.arg(&store);
            command
        });
        ours.push(cost);
        let text: serde_json::Value = serde_json::from_str(&text).unwrap();
        let backups = text["backups"].as_array().unwrap();
        ids = backups
            .iter()
            .map(|b| (b["table"].as_str().unwrap().to_owned(), b["id"].as_str().unwrap().to_owned()))
            .collect();
        our_size = size_of(&store);

        remove(&dump);
        let mut command = Command::new("pg_dump");
        command.args(["-Fd", "-j2", "-f"]).arg(&dump).arg(deployment.data_url());
        for table in &made {
            command.arg("-t").arg(format!("\"_ddb_{}\"", table.id));
        }
        theirs.push(run(command).0.wall);
        their_size = size_of(&dump);
    }
    let note = format!("size {:.3} of theirs ({} MiB)", our_size as f64 / their_size as f64, our_size >> 20);
    report.compare(&format!("PostgreSQL backup, {what}"), &ours, "pg_dump -Fd -j2", theirs, backup_floor, note);
    restore(plan, report, what, &deployment, &ids, &dump);
}

fn restore(
    plan: &Plan,
    report: &mut Report,
    what: &str,
    deployment: &Deployment,
    ids: &[(String, String)],
    dump: &Path,
) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        let mut command = match ids {
            [(_, id)] => deployment.command(["backup", "restore", id, "--as", "Restored"]),
            _ => deployment.command(["backup", "restore", "--all", "--suffix", "-Restored"]),
        };
        command.args(["--yes", "--progress", "none", "--store"]).arg(deployment.store());
        ours.push(run(command).0);
        drop_restored(deployment);

        let mut scratch = Deployment::empty(Kind::Postgres);
        let url = scratch.create_database("restored");
        let mut command = Command::new("pg_restore");
        command.args(["-j2", "-d", &url]).arg(dump);
        theirs.push(run(command).0.wall);
    }
    let what = format!("PostgreSQL restore with verification, {what}");
    report.compare(&what, &ours, "pg_restore -j2", theirs, 1.2, String::new());
}

/// Removes restored tables by hand: their rows, their storage.
fn drop_restored(deployment: &Deployment) {
    let mut catalog = deployment.catalog();
    let rows = catalog.rows("SELECT table_id FROM tables WHERE table_name LIKE '%Restored'");
    assert!(!rows.is_empty(), "nothing was restored");
    let mut data = deployment.data();
    for row in rows {
        data.exec(&format!("DROP TABLE \"_ddb_{}\"", row[0].as_ref().unwrap()));
    }
    catalog.exec("DELETE FROM tables WHERE table_name LIKE '%Restored'");
}

fn remove(path: &Path) {
    if path.exists() {
        std::fs::remove_dir_all(path).unwrap();
    }
}

/// Loads generated items through COPY.
fn fill(deployment: &Deployment, table: &Table, items: u64, item: Item) {
    let copy = format!("COPY \"_ddb_{}\" (pk, sk_n, item_data) FROM STDIN", table.id);
    let mut psql = Command::new("psql");
    psql.arg(deployment.data_url()).args(["-Xq", "-v", "ON_ERROR_STOP=1", "-c", &copy]).stdin(Stdio::piped());
    let mut child = psql.spawn().unwrap();
    let mut out = std::io::BufWriter::with_capacity(1 << 20, child.stdin.take().unwrap());
    let mut random = Random::new(items);
    let mut text = String::new();
    for number in 0..items {
        text.clear();
        item(&mut random, number, &mut text);
        let (customer, order) = generate::key(number);
        writeln!(out, "{customer}\t{order}\t{text}").unwrap();
    }
    drop(out);
    assert!(child.wait().unwrap().success());
    deployment.data().exec(&format!("ANALYZE \"_ddb_{}\"", table.id));
}
