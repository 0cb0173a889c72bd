//! The tables that the suite takes through everything: between them every attribute type, every key
//! type, every kind of index, the limits of numbers and sizes, and text that trips careless code.

use serde_json::{Value, json};

use super::table::Table;

/// All of them.
pub fn every_table() -> Vec<Table> {
    vec![everything(), orders(), blobs(), ledger(), nothing(), large()]
}

/// Every attribute type, the limits of numbers, empty values, odd names; string and number key; a
/// stream, a TTL and tags, which no backup keeps.
pub fn everything() -> Table {
    let mut table = Table::new("Every.thing-1_x", 1, ("who", "S"), Some(("at", "N")))
        .column("stream_specification", json!({"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}))
        .column("stream_label", json!("2026-06-01T10:20:30"))
        .column("ttl_attribute", json!("expires"))
        .column("ttl_index_ready", json!(true))
        .column("deletion_protection_enabled", json!(true));
    table.tags.insert("team", "o'ps");
    let tiny = format!("0.{}1", "0".repeat(129));
    let huge = format!("{}{}", "9".repeat(38), "0".repeat(88));
    let mut items = vec![
        json!({"who": {"S": "types"}, "at": {"N": "0"}, "s": {"S": "text"}, "n": {"N": "-0.5"}, "b": {"B": "AAEC/w=="},
            "yes": {"BOOL": true}, "no": {"BOOL": false}, "null": {"NULL": true}, "expires": {"N": "1893456000"},
            "ss": {"SS": ["A", "a", "z", "ä"]}, "ns": {"NS": ["-1.0001", "-9", "10", "9"]}, "bs": {"BS": ["", "AA==", "AAE=", "/w=="]},
            "l": {"L": [{"S": "x"}, {"N": "1"}, {"L": [{"L": []}]}]}, "m": {"M": {"k": {"S": "v"}, "deep": {"M": {"er": {"NULL": true}}}}}}),
        json!({"who": {"S": "empty"}, "at": {"N": "1"}, "s": {"S": ""}, "b": {"B": ""}, "l": {"L": []}, "m": {"M": {}}, "in": {"M": {"": {"S": ""}}}}),
        json!({"who": {"S": "names"}, "at": {"N": "1"}, "a.b": {"S": "dot"}, "$set": {"S": "dollar"}, "\"q\"": {"S": "quote"}, "back\\slash": {"S": "\\"},
            "Item": {"S": "not the wrapper"}, "S": {"N": "1"}, " ": {"S": " "}, "ключ": {"S": "значение"}, "m": {"M": {"$": {"S": "$"}, "a.b": {"S": "."}}}}),
        json!({"who": {"S": "üñí 漢字 😀 e\u{301}"}, "at": {"N": "-1"}, "s": {"S": "\u{2028}\u{2029}\u{7f}\u{feff}\u{10ffff}\t\r\n\u{8}\u{c}\u{1f}\"\\/"}}),
        json!({"who": {"S": "who'; DROP TABLE x; --"}, "at": {"N": "2"}, "s": {"S": "%s {} \\N \\. \u{85}"}}),
        json!({"who": {"S": "x".repeat(2048)}, "at": {"N": "3"}}),
        json!({"who": {"S": "nested"}, "at": {"N": "0"}, "l": nested(32)}),
    ];
    for number in [
        "99999999999999999999999999999999999999",
        "-99999999999999999999999999999999999999",
        &tiny,
        &format!("-{tiny}"),
        &huge,
        &format!("-{huge}"),
        "1.2345678901234567890123456789012345678",
        "0.00000012345678901234567890123456789012345678",
        "10",
        "9",
        "-10",
        "-9",
    ] {
        items.push(
            json!({"who": {"S": "numbers"}, "at": {"N": number}, "same": {"N": number}, "set": {"NS": [number]}}),
        );
    }
    table.items(items)
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({"L": []}), |inner, _| json!({"L": [inner]}))
}

/// Composite string key; a sparse global index, one with several key parts, a local one; on demand
/// with limits.
pub fn orders() -> Table {
    let table = Table::new("Orders", 2, ("customer", "S"), Some(("order", "S")))
        .column("on_demand_throughput", json!({"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50}))
        .index("GSI", "by_status", &[("status", "S")], &[("total", "N")], json!({"ProjectionType": "ALL"}))
        .index(
            "GSI",
            "by_place",
            &[("country", "S"), ("zip", "N")],
            &[("order", "S"), ("total", "N")],
            json!({"ProjectionType": "KEYS_ONLY"}),
        )
        .index(
            "GSI",
            "by_total",
            &[("total", "N")],
            &[],
            json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "absent"]}),
        )
        .index(
            "LSI",
            "by_customer_total",
            &[("customer", "S")],
            &[("total", "N")],
            json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}),
        );
    let items = (0..300i32).map(|i| {
        let mut item = json!({"customer": {"S": format!("c{}", i % 17)}, "order": {"S": format!("o-{i:05}")}, "note": {"S": "né".repeat(usize::try_from(i % 5).unwrap())}});
        // Sparse: some attributes are absent, or of another type than the index wants.
        if i % 2 == 0 {
            item["total"] = json!({"N": format!("{}.5", i * 10 - 700)});
        }
        if i % 3 == 0 {
            item["status"] = json!({"S": if i % 2 == 0 { "paid" } else { "sent" }});
        }
        if i % 5 == 0 {
            item["country"] = json!({"S": "é"});
            item["zip"] = json!({"N": format!("{}", i + 1)});
        }
        item
    });
    table.items(items)
}

/// Binary keys and a binary index key; provisioned, encrypted, infrequent access.
pub fn blobs() -> Table {
    use base64::Engine as _;
    let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let table = Table::new("Blobs", 3, ("digest", "B"), Some(("part", "B")))
        .column("billing_mode", json!("PROVISIONED"))
        .column("provisioned_throughput", json!({"ReadCapacityUnits": 50, "WriteCapacityUnits": 20}))
        .column("table_class", json!("STANDARD_INFREQUENT_ACCESS"))
        .column(
            "sse_specification",
            json!({"Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "arn:aws:kms:eu-west-1:123456789012:key/k"}),
        )
        .index("GSI", "by_kind", &[("kind", "B")], &[("part", "B")], json!({"ProjectionType": "ALL"}));
    let items = (0..=255u8).step_by(5).map(|i| {
        json!({"digest": {"B": base64(&[i, 0, 255])}, "part": {"B": base64(&[255 - i])}, "kind": {"B": base64(&[i % 3])}, "body": {"B": base64(&vec![i; usize::from(i)])}})
    });
    table.items(items)
}

/// Number keys, partition and sort, with 38 digits.
pub fn ledger() -> Table {
    let items = (0..60).map(|i: i64| {
        // Up to two digits before the point and 36 after it.
        let position = format!("{}.{i:035}1", i - 30);
        json!({"account": {"N": (i % 7 - 3).to_string()}, "position": {"N": position}, "v": {"N": i.to_string()}})
    });
    Table::new("Ledger", 4, ("account", "N"), Some(("position", "N"))).items(items)
}

/// A table without items, with an index; partition key only.
pub fn nothing() -> Table {
    Table::new("Nothing", 5, ("id", "S"), None).index(
        "GSI",
        "by_x",
        &[("x", "S")],
        &[],
        json!({"ProjectionType": "ALL"}),
    )
}

/// Items close to 400 KiB, as text and as binary; partition key only.
pub fn large() -> Table {
    let text: String = (0..40_000)
        .map(|i| char::from(b'a' + u8::try_from((i * i + i / 7) % 26).unwrap()))
        .cycle()
        .take(409_000)
        .collect();
    let binary = "A".repeat(409_000 / 3 * 4);
    Table::new("Large", 6, ("id", "S"), None).items([
        json!({"id": {"S": "text"}, "body": {"S": text}}),
        json!({"id": {"S": "binary"}, "body": {"B": binary}}),
        json!({"id": {"S": "escapes"}, "body": {"S": "\"".repeat(409_000)}}),
        json!({"id": {"S": "wide"}, "list": {"L": (0..20_000).map(|i| json!({"N": i.to_string()})).collect::<Vec<_>>()}}),
    ])
}
