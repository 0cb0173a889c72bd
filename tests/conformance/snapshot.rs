//! A snapshot holds every item once, of one instant, whatever a writer does meanwhile.

use std::collections::BTreeSet;

use extenddb_admin::backend::ErrorKind;
use serde_json::{Value, json};

use crate::support::deployment::released;
use crate::support::seam::digest_of;
use crate::support::{Deployment, Kind, digest, on_every_backend, tables};

fn every_item_of_every_type_is_read_once_in_every_shape(kind: Kind) {
    for shape in released(kind) {
        let deployment = Deployment::released(kind, shape);
        let all = tables::every_table();
        all.iter().for_each(|table| deployment.add(table));
        let seam = deployment.open_read_only();
        let snapshot = seam.snapshot(&all.iter().collect::<Vec<_>>()).unwrap();
        let infos = snapshot.tables().to_vec();
        assert_eq!(infos.len(), all.len());
        for (info, table) in infos.iter().zip(&all) {
            assert_eq!(info.definition.table_name, table.name, "tables come in the order asked for");
            for parts in [1, 7] {
                let found = seam.digest(&*snapshot, info, parts);
                assert_eq!(found, digest::digest(&table.items), "{} of {shape} in {parts} parts", table.name);
            }
        }
        seam.wait(snapshot.close()).unwrap();
    }
}

/// The same items, the same digest: also where the stored texts differ (blanks, order, escapes).
fn the_digest_is_a_function_of_the_items_alone(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let mut table = tables::everything();
    let expected = digest::digest(&table.items);
    table.items.reverse();
    deployment.add(&table);
    let seam = deployment.open_read_only();
    let snapshot = seam.snapshot(&[&table]).unwrap();
    let info = snapshot.tables()[0].clone();
    assert_eq!(seam.digest(&*snapshot, &info, 2), expected);
    let dropped: Vec<_> = seam.scan(&*snapshot, &info, 2).split_off(1);
    assert_ne!(digest_of(&dropped, snapshot.encoding()), expected, "a lost item shows");
}

fn a_writer_is_not_seen_and_not_held_up(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    let seam = deployment.open_read_only();
    let snapshot = seam.snapshot(&[&table]).unwrap();
    let info = snapshot.tables()[0].clone();
    let before = digest::digest(&table.items);

    // The writer adds, changes and removes, and commits each while the snapshot is open.
    let name = format!("_ddb_{}", table.id);
    let added: Vec<Value> =
        (0..50).map(|i| json!({"customer": {"S": "new"}, "order": {"S": format!("n-{i}")}})).collect();
    deployment.put(&table, &added);
    let mut data = deployment.data();
    data.exec(&format!("DELETE FROM \"{name}\" WHERE pk = 'c1'"));
    data.exec(&format!("UPDATE \"{name}\" SET item_data = '{{\"customer\":{{\"S\":\"c2\"}}}}' WHERE pk = 'c2'"));
    assert_eq!(seam.digest(&*snapshot, &info, 3), before);
    assert_eq!(seam.digest(&*snapshot, &info, 3), before, "and again");
    seam.wait(snapshot.close()).unwrap();

    let snapshot = seam.snapshot(&[&table]).unwrap();
    assert_ne!(seam.digest(&*snapshot, &info, 3), before, "a new snapshot sees the writer's work");
}

fn several_tables_share_one_instant(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let (orders, ledger) = (tables::orders(), tables::ledger());
    deployment.add(&orders);
    deployment.add(&ledger);
    let seam = deployment.open_read_only();
    let snapshot = seam.snapshot(&[&orders, &ledger]).unwrap();
    let infos = snapshot.tables().to_vec();
    // The first is read, then the writer touches the second.
    assert_eq!(seam.digest(&*snapshot, &infos[0], 2), digest::digest(&orders.items));
    deployment.data().exec(&format!("DELETE FROM \"_ddb_{}\"", ledger.id));
    assert_eq!(seam.digest(&*snapshot, &infos[1], 2), digest::digest(&ledger.items));
}

/// Ranges neither overlap nor leave a gap: every row, also in a table with holes and many blocks.
fn ranges_cover_a_table_with_holes(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let mut table = tables::nothing();
    table.items = (0..5000).map(|i| json!({"id": {"S": format!("{i:05}")}, "pad": {"S": "p".repeat(300)}})).collect();
    deployment.add(&table);
    deployment.data().exec(&format!("DELETE FROM \"_ddb_{}\" WHERE pk BETWEEN '01000' AND '03999'", table.id));
    let seam = deployment.open_read_only();
    let snapshot = seam.snapshot(&[&table]).unwrap();
    let info = snapshot.tables()[0].clone();
    for parts in [1, 2, 5, 16, 64] {
        let texts = seam.scan(&*snapshot, &info, parts);
        let distinct: BTreeSet<_> = texts.iter().collect();
        assert_eq!((texts.len(), distinct.len()), (2000, 2000), "{parts} parts");
    }
}

fn a_table_that_is_not_active_is_busy(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    for status in ["CREATING", "UPDATING", "DELETING", "SOMETHING"] {
        deployment.catalog().exec(&format!("UPDATE tables SET table_status = '{status}'"));
        let seam = deployment.open_read_only();
        let error = seam.snapshot(&[&table]).err().unwrap_or_else(|| panic!("a {status} table was opened"));
        assert_eq!(error.kind(), ErrorKind::Busy, "{status}: {error}");
        assert!(error.to_string().contains("Orders") && error.to_string().contains(status), "{error}");
    }
}

fn an_absent_table_is_not_found(kind: Kind) {
    let deployment = Deployment::newest(kind);
    deployment.add(&tables::orders());
    let seam = deployment.open_read_only();
    let error = seam.snapshot(&[&tables::orders(), &tables::ledger()]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("Ledger"), "{error}");
}

/// A reading command cannot write: the database sees to it.
fn reading_leaves_the_database_as_it_was(kind: Kind) {
    let deployment = Deployment::newest(kind);
    let table = tables::orders();
    deployment.add(&table);
    let before = crate::support::rows::Census::take(&mut deployment.catalog(), &[]);
    let seam = deployment.open_read_only();
    seam.wait(seam.backend.catalog_info()).unwrap();
    seam.wait(seam.backend.legacy_backups(None)).unwrap();
    let snapshot = seam.snapshot(&[&table]).unwrap();
    let info = snapshot.tables()[0].clone();
    seam.digest(&*snapshot, &info, 2);
    seam.wait(snapshot.close()).unwrap();
    assert_eq!(crate::support::rows::Census::take(&mut deployment.catalog(), &[]), before);
}

on_every_backend!(
    every_item_of_every_type_is_read_once_in_every_shape,
    the_digest_is_a_function_of_the_items_alone,
    a_writer_is_not_seen_and_not_held_up,
    several_tables_share_one_instant,
    ranges_cover_a_table_with_holes,
    a_table_that_is_not_active_is_busy,
    an_absent_table_is_not_found,
    reading_leaves_the_database_as_it_was,
);
