//! The fixtures themselves: what they are written with agrees with the known answers, and what they
//! claim about an item is what the database holds.

use serde_json::{Value, json};

use crate::support::deployment::{NEWEST, released};
use crate::support::rows::Census;
use crate::support::table::number_key;
use crate::support::{Deployment, Kind, digest, on_every_backend, sample};

fn known(name: &str) -> Value {
    let path = format!("{}/tests/data/known/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn number_keys_have_the_known_texts() {
    let known = known("number-keys.json");
    let mut tried = 0;
    for pair in known["pairs"].as_array().unwrap() {
        let (number, text) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        // The fixtures hold normalised numbers only.
        let exponent_or_sign = number.contains(['+', 'E', 'e']);
        let trailing_zero = number.contains('.') && number.ends_with('0');
        let odd_zero = number != "0" && number.trim_start_matches('-') == "0";
        let normalised = !(exponent_or_sign || trailing_zero || odd_zero);
        if normalised {
            assert_eq!(number_key(number), text, "{number}");
            tried += 1;
        }
    }
    assert!(tried > 30, "only {tried} numbers were tried");
}

#[test]
fn the_digest_of_one_item_is_its_hash() {
    // SHA-256 of {"id":{"S":"a"}}, by sha256sum.
    let item = json!({"id": {"S": "a"}});
    assert_eq!(
        digest::digest([&item]),
        format!("1:{}", "749b5c1af783257792b1d09113f0f74675b8152acbb10024a848f8029f898d87")
    );
    assert_eq!(digest::digest([]), format!("0:{}", "0".repeat(64)));
}

/// Migration tests count on it.
fn every_catalog_table_can_be_given_rows(kind: Kind) {
    for shape in released(kind).iter().filter(|s| **s != NEWEST) {
        let deployment = Deployment::released(kind, shape);
        deployment.add_rows_everywhere();
        let census = Census::take(&mut deployment.catalog(), &[]);
        // Nothing writes the ledger of SQLite up to 0.0.4.
        let expected: &[&str] = if kind == Kind::Sqlite { &["schema_history"] } else { &[] };
        assert_eq!(census.empty_tables(), expected, "{shape}");
        census.assert_kept(&mut deployment.catalog());
    }
}

on_every_backend!(every_catalog_table_can_be_given_rows);

#[test]
fn the_sample_of_a_real_server_can_be_loaded() {
    if !Kind::Postgres.reachable() {
        return;
    }
    let deployment = Deployment::sample();
    let rows = deployment.catalog().rows("SELECT table_name, table_id FROM tables ORDER BY table_name COLLATE \"C\"");
    let mut found = Vec::new();
    for row in rows {
        let (name, id) = (row[0].clone().unwrap(), row[1].clone().unwrap());
        let count = deployment.data().count(&format!("SELECT count(*) FROM \"_ddb_{id}\""));
        assert_eq!(sample::items(&name).len(), usize::try_from(count).unwrap());
        found.push((name, usize::try_from(count).unwrap()));
    }
    let expected: Vec<_> = sample::TABLES.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    assert_eq!(found, expected);
}
