//! A table is staged out of sight, loaded under a fence, and there all at once.

use extenddb_admin::backend::loader::{FileDone, StagePlan};
use extenddb_admin::backend::{Error, ErrorKind, jobs::JobClaim};
use extenddb_admin::domain::claim::WriteOutcome;
use extenddb_admin::domain::item::{ControlChars, ItemParser};
use extenddb_admin::domain::job::JobStatus;
use extenddb_admin::domain::store_ref::StoreRef;
use extenddb_admin::domain::table::TableKey;
use serde_json::{Value, json};

use crate::support::deployment::{ACCOUNT, released};
use crate::support::seam::{Seam, admin_table, key, restore_job};
use crate::support::table::Table;
use crate::support::{Db, Deployment, Kind, digest, on_every_backend, tables};

/// A restore in the hands of a test: a claim and a plan for a copy of a table that is there.
struct Load<'a> {
    seam: &'a Seam,
    claim: Box<dyn JobClaim>,
    plan: StagePlan,
}

impl<'a> Load<'a> {
    fn begin(seam: &'a Seam, of: &Table, name: &str) -> Self {
        let info = seam.wait(seam.backend.table(&key(of))).unwrap();
        let mut definition = info.definition;
        definition.table_arn = of.arn().replace(&of.name, name);
        definition.table_name = name.into();
        let number = &of.id[25..];
        definition.table_id = format!("7ab1e000-0000-4000-8000-b{number}");
        let index_ids =
            of.indexes.iter().map(|index| format!("1dec5000-0000-4000-8000-b{}", &index.id[25..])).collect();
        let plan = StagePlan {
            target: TableKey { account_id: ACCOUNT.into(), table_name: name.into() },
            definition,
            index_ids,
            source_backup_arn: format!("{}/backup/01780309230123-0a0b0c0d", of.arn()),
            store: Some(StoreRef {
                kind: "filesystem".into(),
                root: "/store".into(),
                id: "5707e000-0000-4000-8000-000000000001".into(),
            }),
        };
        let job = seam.wait(seam.backend.admit_job(&restore_job(&format!("{ACCOUNT}/{name}")))).unwrap();
        let claim = seam.wait(seam.backend.claim_job(&job.id, &seam.writer)).unwrap();
        Self { seam, claim, plan }
    }

    fn stage(&self) -> Result<(), Error> {
        self.seam.wait(self.seam.backend.stage(self.claim.fence(), &self.plan))
    }

    /// Applies items as one data file.
    fn file(&self, index: u32, items: &[Value]) -> Result<(), Error> {
        let fence = self.claim.fence();
        self.seam.wait(async {
            let mut batch = self.seam.backend.begin_load(fence, &self.plan).await?;
            let mut parser = ItemParser::new();
            for item in items {
                let text = serde_json::to_vec(item).unwrap();
                let full = batch.push(&parser.parse(&text, ControlChars::Plain).unwrap())?;
                if full {
                    batch.flush().await?;
                }
            }
            batch
                .commit(&FileDone { file_index: index, items: items.len() as u64, digest: digest::digest(items) })
                .await
        })
    }

    /// Begins a file and never commits it.
    fn torn_file(&self, items: &[Value]) {
        self.seam.wait(async {
            let mut batch = self.seam.backend.begin_load(self.claim.fence(), &self.plan).await.unwrap();
            let mut parser = ItemParser::new();
            for item in items {
                let text = serde_json::to_vec(item).unwrap();
                batch.push(&parser.parse(&text, ControlChars::Plain).unwrap()).unwrap();
            }
            batch.flush().await.unwrap();
        });
    }

    fn finish(&self) -> Result<u64, Error> {
        self.seam.wait(self.seam.backend.finish_load(self.claim.fence(), &self.plan))
    }

    fn publish(&self) -> Result<WriteOutcome, Error> {
        self.seam.wait(self.seam.backend.publish(self.claim.fence(), &self.plan))
    }

    fn files(&self) -> Vec<u32> {
        let progress = self.seam.wait(self.seam.backend.load_progress(self.claim.fence(), &self.plan)).unwrap();
        progress.files.iter().map(|f| f.file_index).collect()
    }
}

/// Everything that a server could see of tables: rows of the catalog, and physical tables that a row leads to.
fn seen_by_servers(deployment: &Deployment) -> Vec<Vec<Option<String>>> {
    let mut catalog = deployment.catalog();
    let mut rows = catalog.rows("SELECT * FROM tables WHERE table_status = 'ACTIVE' ORDER BY table_name");
    rows.extend(catalog.rows(
        "SELECT i.* FROM indexes i JOIN tables t ON t.table_id = i.table_id WHERE t.table_status = 'ACTIVE' ORDER BY i.index_name",
    ));
    rows
}

/// Shapes whose physical tables go by id, oldest first.
fn shapes(kind: Kind) -> impl Iterator<Item = &'static str> {
    released(kind).iter().copied().filter(|shape| !shape.ends_with("-a"))
}

fn a_restored_table_is_what_the_server_would_have_made(kind: Kind) {
    for shape in shapes(kind) {
        let deployment = Deployment::released(kind, shape);
        let seam = deployment.open();
        for table in tables::every_table() {
            deployment.add(&table);
            let name = format!("{}-New", table.name);
            let load = Load::begin(&seam, &table, &name);
            load.stage().unwrap();
            for (index, items) in (0..).zip(table.items.chunks(100)) {
                load.file(index, items).unwrap();
            }
            assert_eq!(load.finish().unwrap(), table.items.len() as u64);
            let staged = seam.wait(seam.backend.staged_digest(load.claim.fence(), &load.plan)).unwrap();
            assert_eq!(staged.to_string(), digest::digest(&table.items), "{} on {shape}", table.name);
            assert_eq!(load.publish().unwrap(), WriteOutcome::Matched);
            assert_eq!(load.publish().unwrap(), WriteOutcome::Matched, "once more after an unknown outcome");
            seam.wait(load.claim.finish(JobStatus::Succeeded, &json!({}))).unwrap();
            assert_like_the_original(&deployment, &table, &name, shape);
        }
    }
}

fn assert_like_the_original(deployment: &Deployment, table: &Table, name: &str, shape: &str) {
    let what = format!("{} on {shape}", table.name);
    let mut catalog = deployment.catalog();
    let columns = catalog.columns("tables");
    let row = |catalog: &mut Db, name: &str| {
        let row = catalog.rows(&format!("SELECT * FROM tables WHERE table_name = '{name}'")).remove(0);
        columns.iter().cloned().zip(row).collect::<std::collections::BTreeMap<_, _>>()
    };
    let (old, new) = (row(&mut catalog, &table.name), row(&mut catalog, name));
    for column in ["account_id", "billing_mode", "key_schema", "attribute_definitions", "table_class", "table_status"] {
        let normal = |v: Option<&Option<String>>| {
            v.cloned().flatten().map(|text| serde_json::from_str::<Value>(&text).unwrap_or(json!(text)))
        };
        assert_eq!(normal(new.get(column)), normal(old.get(column)), "{column} of {what}");
    }
    for off in ["stream_specification", "stream_label", "ttl_attribute", "status_transition_at"] {
        assert_eq!(new[off], None, "{off} of {what}");
    }
    assert!(matches!(new["deletion_protection_enabled"].as_deref(), Some("0" | "f")), "{what}");
    assert_eq!(catalog.count("SELECT count(*) FROM tags WHERE resource_arn LIKE '%New'"), 0);

    let mut data = deployment.data();
    let new_id = new["table_id"].clone().unwrap();
    let mut pairs = vec![(format!("_ddb_{}", table.id), format!("_ddb_{new_id}"))];
    for index in &table.indexes {
        let id = catalog.one(&format!(
            "SELECT index_id FROM indexes WHERE table_id = '{new_id}' AND index_name = '{}'",
            index.name
        ));
        let state = catalog.one(&format!("SELECT index_status FROM indexes WHERE index_id = '{id}'"));
        assert_eq!(state, "ACTIVE", "{} of {what}", index.name);
        pairs.push((format!("_ddb_{}", index.id), format!("_ddb_{id}")));
    }
    for (old, new) in pairs {
        assert_eq!(
            shape_of(&mut data, deployment.kind, &new),
            shape_of(&mut data, deployment.kind, &old),
            "{old} of {what}"
        );
        let rows = |data: &mut Db, name: &str| {
            let mut rows = data.rows(&format!("SELECT * FROM \"{name}\""));
            rows.sort();
            rows
        };
        assert_eq!(rows(&mut data, &new), rows(&mut data, &old), "rows of {old} of {what}");
    }
}

/// Columns and indexes of a physical table, its own name taken out.
fn shape_of(data: &mut Db, kind: Kind, name: &str) -> Vec<String> {
    let sql = match kind {
        Kind::Sqlite => format!(
            "SELECT 'column', name, upper(type), \"notnull\", pk FROM pragma_table_info('{name}') WHERE name NOT LIKE 'idx_ttl%' UNION ALL \
             SELECT 'index', (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno)), '', l.\"unique\", l.origin \
             FROM pragma_index_list('{name}') l WHERE l.name NOT LIKE 'idx_ttl%'"
        ),
        Kind::Postgres => format!(
            "SELECT 'column', attname, format_type(atttypid, atttypmod), attnotnull, \
             coalesce((SELECT collname FROM pg_collation c WHERE c.oid = attcollation), '') \
             FROM pg_attribute WHERE attrelid = '\"{name}\"'::regclass AND attnum > 0 AND NOT attisdropped UNION ALL \
             SELECT 'index', (SELECT string_agg(pg_get_indexdef(indexrelid, k, true), ',' ORDER BY k) \
             FROM generate_series(1, indnatts) k), CASE WHEN relname LIKE '%base_key_idx' THEN 'reverse' ELSE '' END, \
             indisunique, indisprimary::text || indisvalid::text \
             FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = '\"{name}\"'::regclass AND relname NOT LIKE 'idx_ttl%'"
        ),
    };
    let mut lines: Vec<_> = data
        .rows(&sql)
        .into_iter()
        .map(|row| row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join(" "))
        .collect();
    lines.sort();
    lines
}

fn nothing_is_visible_before_publication(kind: Kind) {
    for shape in shapes(kind) {
        let deployment = Deployment::released(kind, shape);
        let table = tables::orders();
        deployment.add(&table);
        let before = seen_by_servers(&deployment);
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        assert_eq!(seen_by_servers(&deployment), before, "staged on {shape}");
        if !shape.starts_with("0.0.5") {
            // A server below 0.0.5 removes or promotes a row in CREATING by itself.
            let rows = deployment.catalog().count("SELECT count(*) FROM tables");
            assert_eq!(rows, 1, "{shape} has a row of the target");
        }
        load.file(0, &table.items).unwrap();
        assert_eq!(seen_by_servers(&deployment), before, "loaded on {shape}");
        load.finish().unwrap();
        assert_eq!(seen_by_servers(&deployment), before, "finished on {shape}");
        load.publish().unwrap();
        assert_ne!(seen_by_servers(&deployment), before, "published on {shape}");
    }
}

/// The four ways of having lost a claim; the last one has no record at all.
const LOST: &[&str] = &["epoch = epoch + 1", "epoch = epoch - 1", "writer = 'somebody'", ""];

fn lose(deployment: &Deployment, how: &str) {
    let fences = admin_table(deployment.kind, "fences");
    match how {
        "" => deployment.data().exec(&format!("DELETE FROM {fences}")),
        how => deployment.data().exec(&format!("UPDATE {fences} SET {how}")),
    }
}

fn a_batch_of_a_lost_claim_leaves_nothing(kind: Kind) {
    for how in LOST {
        let deployment = Deployment::newest(kind);
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        load.file(0, &table.items[..10]).unwrap();
        let physical = format!("_ddb_{}", load.plan.definition.table_id);
        let count = |deployment: &Deployment| deployment.data().count(&format!("SELECT count(*) FROM \"{physical}\""));
        assert_eq!(count(&deployment), 10);
        lose(&deployment, how);
        let error = load.file(1, &table.items[10..]).expect_err("a batch was taken");
        assert_eq!(error.kind(), ErrorKind::Fenced, "{how}: {error}");
        assert_eq!(count(&deployment), 10, "{how}: the refused batch left items");
        let progress = deployment.data().count(&format!("SELECT count(*) FROM {}", admin_table(kind, "load_progress")));
        assert_eq!(progress, 1, "{how}: the refused batch left progress");
    }
}

fn a_lost_claim_neither_publishes_nor_discards(kind: Kind) {
    for how in LOST {
        let deployment = Deployment::newest(kind);
        let table = tables::orders();
        deployment.add(&table);
        let before = seen_by_servers(&deployment);
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        load.file(0, &table.items).unwrap();
        load.finish().unwrap();
        lose(&deployment, how);
        match load.publish() {
            Ok(WriteOutcome::NotMatched) => {}
            Err(error) if error.kind() == ErrorKind::Fenced => {}
            other => panic!("{how}: {other:?}"),
        }
        assert_eq!(seen_by_servers(&deployment), before, "{how}: published");
        let error = seam.wait(seam.backend.discard(load.claim.fence(), &load.plan)).expect_err("discarded");
        assert_eq!(error.kind(), ErrorKind::Fenced, "{how}: {error}");
        let physical = format!("_ddb_{}", load.plan.definition.table_id);
        assert!(deployment.data().tables().contains(&physical), "{how}: the staged table is gone");
    }
}

fn a_torn_file_leaves_nothing_and_is_loaded_again(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    let seam = deployment.open();
    let load = Load::begin(&seam, &table, "New");
    load.stage().unwrap();
    load.file(1, &table.items[200..]).unwrap();
    load.torn_file(&table.items[..200]);
    assert_eq!(load.files(), [1]);
    load.stage().unwrap(); // a resumed run stages again
    assert_eq!(load.files(), [1], "staging again keeps what is loaded");
    load.file(0, &table.items[..200]).unwrap();
    assert_eq!(load.files(), [0, 1]);
    assert_eq!(load.finish().unwrap(), 300);
    assert_eq!(load.finish().unwrap(), 300, "finishing again converges");
    assert_eq!(load.publish().unwrap(), WriteOutcome::Matched);
}

fn the_next_claim_goes_on_where_the_last_one_died(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    let (id, plan) = {
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        load.file(0, &table.items[..100]).unwrap();
        (load.claim.job().clone(), load.plan.clone())
    };
    let seam = deployment.open();
    let claim = seam.wait(seam.backend.claim_job(&id, &seam.writer)).unwrap();
    let load = Load { seam: &seam, claim, plan };
    load.stage().unwrap();
    assert_eq!(load.files(), [0]);
    load.file(1, &table.items[100..]).unwrap();
    assert_eq!(load.finish().unwrap(), 300);
    assert_eq!(load.publish().unwrap(), WriteOutcome::Matched);
    assert_like_the_original(&deployment, &table, "New", "the newest");
}

fn two_items_of_one_key_are_a_conflict(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    let before = seen_by_servers(&deployment);
    let seam = deployment.open();
    let load = Load::begin(&seam, &table, "New");
    load.stage().unwrap();
    load.file(0, &table.items[..10]).unwrap();
    let second = load.file(1, &table.items[9..20]);
    let error = second.and_then(|()| load.finish().map(|_| ())).expect_err("two items of one key were taken");
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(seen_by_servers(&deployment), before);
}

fn discarding_leaves_no_trace(kind: Kind) {
    for shape in shapes(kind) {
        let deployment = Deployment::released(kind, shape);
        let table = tables::orders();
        deployment.add(&table);
        let (tables_before, seen_before) = (deployment.data().tables(), seen_by_servers(&deployment));
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        load.file(0, &table.items).unwrap();
        seam.wait(seam.backend.discard(load.claim.fence(), &load.plan)).unwrap();
        seam.wait(seam.backend.discard(load.claim.fence(), &load.plan)).unwrap();
        let ours = |name: &String| name.starts_with("extenddb_admin");
        let after: Vec<_> = deployment.data().tables().into_iter().filter(|t| !ours(t)).collect();
        let expected: Vec<_> = tables_before.into_iter().filter(|t| !ours(t)).collect();
        assert_eq!(after, expected, "{shape}");
        assert_eq!(seen_by_servers(&deployment), seen_before);
        assert_eq!(deployment.catalog().count("SELECT count(*) FROM tables"), 1, "{shape}");
        for table in ["load_progress", "staged_tables"] {
            let left = deployment.data().count(&format!("SELECT count(*) FROM {}", admin_table(kind, table)));
            assert_eq!(left, 0, "{table} of {shape}");
        }
    }
}

fn a_name_taken_meanwhile_is_a_conflict(kind: Kind) {
    for shape in ["0.0.2", "0.0.4"] {
        let deployment = Deployment::released(kind, shape);
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let load = Load::begin(&seam, &table, "New");
        load.stage().unwrap();
        load.file(0, &table.items).unwrap();
        load.finish().unwrap();
        let mut rival = tables::nothing();
        rival.name = "New".into();
        deployment.add(&rival);
        let before = seen_by_servers(&deployment);
        let error = load.publish().expect_err("published over a table");
        assert_eq!(error.kind(), ErrorKind::Conflict, "{shape}: {error}");
        assert_eq!(seen_by_servers(&deployment), before);
    }
}

fn a_target_that_exists_or_has_no_account_is_refused(kind: Kind) {
    let deployment = Deployment::newest(kind);
    deployment.add(&tables::orders());
    let seam = deployment.open();
    let check = |account: &str, name: &str| {
        let target = TableKey { account_id: account.into(), table_name: name.into() };
        seam.wait(seam.backend.check_target(&target)).map_err(|e| e.kind())
    };
    assert_eq!(check(ACCOUNT, "New"), Ok(()));
    assert_eq!(check(ACCOUNT, "Orders"), Err(ErrorKind::Conflict));
    assert_eq!(check("000000000000", "New"), Err(ErrorKind::NotFound));
}

on_every_backend!(
    a_restored_table_is_what_the_server_would_have_made,
    nothing_is_visible_before_publication,
    a_batch_of_a_lost_claim_leaves_nothing,
    a_lost_claim_neither_publishes_nor_discards,
    a_torn_file_leaves_nothing_and_is_loaded_again,
    the_next_claim_goes_on_where_the_last_one_died,
    two_items_of_one_key_are_a_conflict,
    discarding_leaves_no_trace,
    a_name_taken_meanwhile_is_a_conflict,
    a_target_that_exists_or_has_no_account_is_refused,
);
