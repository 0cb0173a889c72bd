//! What only PostgreSQL has: two databases, row locks, roles, exported snapshots, COPY, and the server's own locks.

use std::time::Duration;

use extenddb_admin::backend::registry::{OpenOptions, by_url};
use extenddb_admin::backend::snapshot::{ScanRange, SnapshotOptions, block_channel};
use extenddb_admin::backend::{ErrorKind, loader::StagePlan};
use extenddb_admin::domain::claim::{WriteOutcome, Writer};
use extenddb_admin::domain::item::ControlChars;
use extenddb_admin::domain::store_ref::StoreRef;
use extenddb_admin::domain::table::TableKey;
use serde_json::json;

use crate::support::deployment::ACCOUNT;
use crate::support::seam::{Seam, digest_of, key, restore_job};
use crate::support::table::Table;
use crate::support::{Db, Deployment, Kind, digest, servers, tables};

/// Runs a test when the server is there.
fn with_server(test: impl FnOnce()) {
    if Kind::Postgres.reachable() {
        test();
    }
}

/// A table whose items lie partly in the table's blocks and partly outside of them.
fn mixed() -> Table {
    let noise = |n: usize| -> String {
        let mut x = n as u64 * 2_654_435_761 + 1;
        (0..n * 40)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                char::from(b'!' + (x % 90) as u8)
            })
            .collect()
    };
    let items = (0..400).map(|i| json!({"id": {"S": format!("{i}")}, "line\nfeed": {"S": format!("a\nb{}", noise(if i % 7 == 0 { i } else { 2 }))}}));
    Table::new("Mixed", 77, ("id", "S"), None).items(items)
}

fn sessions(db: &mut Db, database: &str) -> i64 {
    db.count(&format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'extenddb-admin' AND datname = '{database}'"
    ))
}

fn data_name(deployment: &Deployment) -> String {
    deployment.data_url().rsplit_once('/').unwrap().1.to_owned()
}

#[test]
fn large_and_small_items_are_read_once_and_line_feeds_do_no_harm() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = mixed();
        deployment.add(&table);
        let toast = format!("SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = '_ddb_{}'", table.id);
        assert!(deployment.data().count(&toast) > 0, "some values must lie outside of the table's blocks");
        let seam = deployment.open();
        let snapshot = seam.snapshot(&[&table]).unwrap();
        let info = snapshot.tables()[0].clone();
        assert_eq!(seam.digest(&*snapshot, &info, 4), digest::digest(&table.items));
        // Ranges of any size, the last one open, cover every item once.
        for cut in [1, 3, 8, 9, 17] {
            let (sink, source) = block_channel(4);
            let reader = std::thread::spawn(move || {
                let mut texts: Vec<Vec<u8>> = Vec::new();
                while let Some(block) = source.next_blocking() {
                    texts.extend(block.texts().map(<[u8]>::to_vec));
                    source.recycle(block);
                }
                texts
            });
            for range in [ScanRange { from: 0, to: cut - 1 }, ScanRange { from: cut, to: i64::MAX }] {
                seam.wait(snapshot.scan(&info, &range, &sink)).unwrap();
            }
            drop(sink);
            let texts = reader.join().unwrap();
            assert_eq!(digest_of(&texts, ControlChars::Plain), digest::digest(&table.items), "cut at {cut}");
        }
        seam.wait(snapshot.close()).unwrap();
    });
}

#[test]
fn a_row_that_a_server_is_changing_makes_a_snapshot_busy_and_is_free_once_it_is_open() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let mut server = deployment.catalog();
        server.exec("BEGIN; SELECT 1 FROM tables FOR UPDATE");
        let error = seam.snapshot(&[&table]).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
        server.exec("ROLLBACK");
        let snapshot = seam.snapshot(&[&table]).unwrap();
        server.exec("SET lock_timeout = '1s'; UPDATE tables SET table_status = 'DELETING'");
        let info = snapshot.tables()[0].clone();
        assert_eq!(seam.digest(&*snapshot, &info, 2), digest::digest(&table.items));
        seam.wait(snapshot.close()).unwrap();
        let error = seam.snapshot(&[&table]).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!(error.to_string().contains("DELETING"), "{error}");
    });
}

#[test]
fn a_role_that_may_only_read_gets_a_snapshot_without_row_locks() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = tables::orders();
        deployment.add(&table);
        let role = format!("reader_{}", std::process::id());
        let mut root = Db::postgres(servers::postgres_superuser_url().unwrap());
        root.exec(&format!("CREATE ROLE {role} LOGIN PASSWORD 'extenddb-test'"));
        for mut db in [deployment.catalog(), deployment.data()] {
            db.exec(&format!(
                "GRANT USAGE ON SCHEMA public TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
            ));
        }
        let as_reader = |url: String| url.replace("extenddb:extenddb-test@", &format!("{role}:extenddb-test@"));
        let options = OpenOptions {
            url: as_reader(deployment.url()),
            data_url: Some(as_reader(deployment.data_url())),
            read_only: false,
            lock_timeout: Duration::from_secs(5),
            writer: Writer("reader".into()),
            region: None,
        };
        let seam = deployment.open();
        let backend = seam.wait((by_url(&options.url).unwrap().open)(options)).unwrap();
        let reader = Seam { backend, ..seam };
        let snapshot = reader.snapshot(&[&table]).unwrap();
        let info = snapshot.tables()[0].clone();
        assert_eq!(reader.digest(&*snapshot, &info, 2), digest::digest(&table.items));
        reader.wait(snapshot.close()).unwrap();
        drop(reader);
        for mut db in [deployment.catalog(), deployment.data()] {
            db.exec(&format!(
                "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}; REVOKE ALL ON SCHEMA public FROM {role}"
            ));
        }
        root.exec(&format!("DROP ROLE {role}"));
    });
}

#[test]
fn no_more_sessions_than_allowed_read_and_an_abandoned_scan_harms_no_other() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = mixed();
        deployment.add(&table);
        let seam = deployment.open();
        let options = SnapshotOptions { connections: 1, hold_rows: true };
        let snapshot = seam.wait(seam.backend.open_snapshot(&[key(&table)], &options)).unwrap();
        let info = snapshot.tables()[0].clone();
        let mut root = Db::postgres(servers::postgres_superuser_url().unwrap());
        let whole = ScanRange { from: 0, to: i64::MAX };
        // A worker that goes away in the middle of a COPY.
        let (sink, source) = block_channel(1);
        drop(source);
        seam.wait(snapshot.scan(&info, &whole, &sink)).unwrap();
        for _ in 0..2 {
            assert_eq!(seam.digest(&*snapshot, &info, 8), digest::digest(&table.items));
            assert!(sessions(&mut root, &data_name(&deployment)) <= 2, "one exports, one reads");
        }
        seam.wait(snapshot.close()).unwrap();
    });
}

#[test]
fn a_lost_exporter_is_told_at_the_end() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let snapshot = seam.snapshot(&[&table]).unwrap();
        let mut root = Db::postgres(servers::postgres_superuser_url().unwrap());
        root.rows(&format!(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
             WHERE application_name = 'extenddb-admin' AND datname = '{}'",
            data_name(&deployment)
        ));
        let error = seam.wait(snapshot.close()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.to_string().contains("cannot be trusted"), "{error}");
    });
}

#[test]
fn the_data_ledger_says_whether_control_characters_are_escaped() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let encoding = || -> Result<ControlChars, ErrorKind> {
            let snapshot = seam.snapshot(&[&table]).map_err(|e| e.kind())?;
            let encoding = snapshot.encoding();
            seam.wait(snapshot.close()).unwrap();
            Ok(encoding)
        };
        assert_eq!(encoding(), Ok(ControlChars::Plain));
        assert!(!seam.wait(seam.backend.target_rules()).unwrap().nul_allowed);
        let mut data = deployment.data();
        data.exec(
            "CREATE TABLE data_code_migration_progress (migration_name text, table_name text, completed_at timestamptz, \
             PRIMARY KEY (migration_name, table_name)); \
             INSERT INTO data_code_migration_progress VALUES ('004_escape_control_chars', 'x', now())",
        );
        assert_eq!(encoding(), Err(ErrorKind::CatalogRefused), "half way through: mixed");
        assert_eq!(seam.wait(seam.backend.target_rules()).unwrap_err().kind(), ErrorKind::CatalogRefused);
        data.exec("INSERT INTO schema_history (filename) VALUES ('004_escape_control_chars')");
        assert_eq!(encoding(), Ok(ControlChars::Escaped));
        assert!(seam.wait(seam.backend.target_rules()).unwrap().nul_allowed);
    });
}

#[test]
fn tables_beyond_the_lock_table_are_split_into_groups_in_order() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let seam = deployment.open();
        let keys: Vec<TableKey> =
            (0..5000).map(|i| TableKey { account_id: ACCOUNT.into(), table_name: format!("T{i}") }).collect();
        let groups = seam.wait(seam.backend.snapshot_groups(&keys)).unwrap();
        let slots = deployment.data().count(
            "SELECT current_setting('max_locks_per_transaction')::bigint * current_setting('max_connections')::bigint",
        );
        assert!(groups.len() > 1);
        assert!(groups.iter().all(|g| i64::try_from(g.len()).unwrap() * 4 <= slots / 2 + 4));
        assert_eq!(groups.concat(), keys);
    });
}

/// A claim and a plan for a copy of a table that is there.
fn plan(seam: &Seam, of: &Table, name: &str) -> StagePlan {
    let mut definition = seam.wait(seam.backend.table(&key(of))).unwrap().definition;
    definition.table_name = name.into();
    definition.table_arn = of.arn().replace(&of.name, name);
    definition.table_id = "7ab1e000-0000-4000-8000-b00000000001".into();
    StagePlan {
        target: TableKey { account_id: ACCOUNT.into(), table_name: name.into() },
        index_ids: (0..of.indexes.len()).map(|i| format!("1dec5000-0000-4000-8000-b0000000000{i}")).collect(),
        definition,
        source_backup_arn: format!("{}/backup/01780309230123-0a0b0c0d", of.arn()),
        store: Some(StoreRef { kind: "filesystem".into(), root: "/store".into(), id: "one".into() }),
    }
}

#[test]
fn at_0_0_4_the_servers_restore_lock_is_held_from_staging_to_the_end() {
    with_server(|| {
        let deployment = Deployment::released(Kind::Postgres, "0.0.4");
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let plan = plan(&seam, &table, "Copy");
        let job = seam.wait(seam.backend.admit_job(&restore_job("Copy"))).unwrap();
        let claim = seam.wait(seam.backend.claim_job(&job.id, &seam.writer)).unwrap();
        seam.wait(seam.backend.stage(claim.fence(), &plan)).unwrap();
        let mut server = deployment.catalog();
        let free = format!("SELECT pg_try_advisory_lock(hashtextextended('{ACCOUNT}/Copy', 4539474))::text");
        assert_eq!(server.one(&free), "false");
        let other = deployment.open();
        assert_eq!(other.wait(other.backend.check_target(&plan.target)).unwrap_err().kind(), ErrorKind::Busy);
        assert_eq!(
            server.count("SELECT count(*) FROM tables WHERE table_name = 'Copy'"),
            0,
            "no row before publication"
        );
        seam.wait(seam.backend.discard(claim.fence(), &plan)).unwrap();
        assert_eq!(server.one(&free), "true");
    });
}

#[test]
fn at_0_0_5_the_record_runs_beats_and_a_failed_one_ends_the_claim() {
    with_server(|| {
        let deployment = Deployment::newest(Kind::Postgres);
        let table = tables::orders();
        deployment.add(&table);
        let seam = deployment.open();
        let plan = plan(&seam, &table, "Copy");
        let job = seam.wait(seam.backend.admit_job(&restore_job("Copy"))).unwrap();
        let claim = seam.wait(seam.backend.claim_job(&job.id, &seam.writer)).unwrap();
        seam.wait(seam.backend.stage(claim.fence(), &plan)).unwrap();
        let mut catalog = deployment.catalog();
        let id = &plan.definition.table_id;
        let record = catalog.rows(&format!(
            "SELECT status, kind, owner_generation, store_kind, t.table_status, t.status_transition_at \
             FROM table_restores r JOIN tables t ON t.table_id = r.table_id WHERE r.table_id = '{id}'"
        ));
        let epoch = claim.fence().epoch.to_string();
        let expected =
            [Some("RUNNING"), Some("manifest"), Some(epoch.as_str()), Some("filesystem"), Some("CREATING"), None];
        assert_eq!(record[0], expected.map(|t| t.map(str::to_owned)));
        catalog.exec("UPDATE table_restores SET heartbeat_at = 'epoch'");
        assert_eq!(seam.wait(claim.heartbeat()).unwrap().outcome, WriteOutcome::Matched);
        assert_eq!(
            catalog.count("SELECT count(*) FROM table_restores WHERE heartbeat_at > now() - interval '1 minute'"),
            1
        );
        // A server's reconciler gives the record up: this run may write no more.
        catalog.exec(&format!("UPDATE table_restores SET status = 'FAILED' WHERE table_id = '{id}'"));
        assert_eq!(seam.wait(claim.heartbeat()).unwrap().outcome, WriteOutcome::NotMatched);
        let error = seam.wait(seam.backend.begin_load(claim.fence(), &plan)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Fenced, "the refusal latches for the load as well: {error}");
    });
}

#[test]
fn the_new_tables_belong_to_the_role_that_serves_the_old_ones() {
    with_server(|| {
        let deployment = Deployment::newest(Kind::Postgres);
        let table = tables::orders();
        deployment.add(&table);
        let root = |url: String| {
            let root = servers::postgres_superuser_url().unwrap();
            format!("{}/{}", root.rsplit_once('/').unwrap().0, url.rsplit_once('/').unwrap().1)
        };
        let options = OpenOptions {
            url: root(deployment.url()),
            data_url: Some(root(deployment.data_url())),
            read_only: false,
            lock_timeout: Duration::from_secs(5),
            writer: Writer("root".into()),
            region: None,
        };
        let seam = deployment.open();
        let backend = seam.wait((by_url(&options.url).unwrap().open)(options)).unwrap();
        let seam = Seam { backend, ..seam };
        let plan = plan(&seam, &table, "Copy");
        let job = seam.wait(seam.backend.admit_job(&restore_job("Copy"))).unwrap();
        let claim = seam.wait(seam.backend.claim_job(&job.id, &seam.writer)).unwrap();
        seam.wait(seam.backend.stage(claim.fence(), &plan)).unwrap();
        let owners = "SELECT count(DISTINCT relowner) FROM pg_class WHERE relname LIKE '\\_ddb\\_%' AND relkind = 'r' \
                      OR relname = 'stream_shards'";
        assert_eq!(deployment.data().count(owners), 1);
    });
}
