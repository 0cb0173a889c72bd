//! The canonical form, the verdicts and the flags of items.

use super::*;

fn canonical(text: &str) -> String {
    let mut parser = ItemParser::new();
    let item = parser.parse(text.as_bytes(), ControlChars::Plain).unwrap_or_else(|e| panic!("{text}: {e}"));
    String::from_utf8(item.canonical().to_vec()).expect("UTF-8")
}

fn verdict(text: &str) -> &'static str {
    match ItemParser::new().parse_line(format!("{{\"Item\":{text}}}").as_bytes()) {
        Ok(_) => "good",
        Err(ItemError::Malformed(_)) => "malformed",
        Err(ItemError::Invalid(_)) => "invalid",
    }
}

#[test]
fn names_sets_and_numbers_are_put_in_canonical_form() {
    for (from, to) in [
        (r#"{"b": {"S": "x"}, "a": {"N": "1.50"}}"#, r#"{"a":{"N":"1.5"},"b":{"S":"x"}}"#),
        (r#"{"a":{"SS":["b","a","é",""]}}"#, r#"{"a":{"SS":["","a","b","é"]}}"#),
        (r#"{"a":{"NS":["9", "10", "-1.5", "1e1000e"]}}"#, ""),
        (r#"{"a":{"NS":["9", "1e1", "-1.50"]}}"#, r#"{"a":{"NS":["-1.5","10","9"]}}"#),
        (r#"{"a":{"BS":["/wA=","AQ=="]}}"#, r#"{"a":{"BS":["AQ==","/wA="]}}"#),
        (
            r#" { "z" : { "M" : { "y" : { "L" : [ { "NULL" : true } , { "BOOL" : false } ] } , "x" : { "B" : "" } } } } "#,
            r#"{"z":{"M":{"x":{"B":""},"y":{"L":[{"NULL":true},{"BOOL":false}]}}}}"#,
        ),
        (r#"{"a":{"L":[]},"b":{"M":{}},"":{"S":""}}"#, r#"{"":{"S":""},"a":{"L":[]},"b":{"M":{}}}"#),
        (
            r#"{"a":{"S":"\/\u0041\u00e9\ud83d\ude00\u0009\u001F\u007f\"\\"}}"#,
            "{\"a\":{\"S\":\"/Aé😀\\t\\u001f\u{7f}\\\"\\\\\"}}",
        ),
        ("{}", "{}"),
        (r#"{"a":{"\u0053":"spelled"}}"#, r#"{"a":{"S":"spelled"}}"#),
    ] {
        if to.is_empty() {
            assert_eq!(verdict(from), "invalid");
        } else {
            assert_eq!(canonical(from), to, "{from}");
        }
    }
}

#[test]
fn names_are_ordered_by_what_they_stand_for() {
    // U+000A is written with a backslash, which lies after 'B'.
    assert_eq!(canonical(r#"{"aB":{"S":"2"},"a\n":{"S":"1"}}"#), r#"{"a\n":{"S":"1"},"aB":{"S":"2"}}"#);
    assert_eq!(
        canonical("{\"\u{ffff}\":{\"S\":\"\"},\"\u{10000}\":{\"S\":\"\"},\"é\":{\"S\":\"\"}}"),
        "{\"é\":{\"S\":\"\"},\"\u{ffff}\":{\"S\":\"\"},\"\u{10000}\":{\"S\":\"\"}}"
    );
}

#[test]
fn of_two_attributes_of_one_name_the_last_wins() {
    let mut parser = ItemParser::new();
    let text = br#"{"a":{"S":"first"},"b":{"M":{"x":{"N":"1"},"x":{"N":"2"}}},"a":{"X":0},"a":{"S":"last"}}"#;
    let item = parser.parse(text, ControlChars::Plain).expect("the superseded value does not count");
    assert_eq!(item.canonical(), br#"{"a":{"S":"last"},"b":{"M":{"x":{"N":"2"}}}}"#);
    assert!(item.flags().duplicate_name);
    assert_eq!(item.flags().size_bytes, 1 + 4 + 1 + 3 + 1 + 2 + 1);
    assert_eq!(verdict(r#"{"a":{"S":"x"},"a":{"N":"x"}}"#), "invalid");
}

#[test]
fn shape_errors_are_malformed_and_number_errors_invalid() {
    for bad in [
        r#"{"a":{}}"#,
        r#"{"a":{"S":"x","N":"1"}}"#,
        r#"{"a":{"S":"x","S":"y"}}"#,
        r#"{"a":{"N":"x","S":"y"}}"#,
        r#"{"a":{"T":"x"}}"#,
        r#"{"a":"x"}"#,
        r#"{"a":{"S":1}}"#,
        r#"{"a":{"N":1}}"#,
        r#"{"a":{"B":"A"}}"#,
        r#"{"a":{"B":"AB=="}}"#,
        r#"{"a":{"BOOL":"true"}}"#,
        r#"{"a":{"NULL":false}}"#,
        r#"{"a":{"SS":[]}}"#,
        r#"{"a":{"SS":["x","x"]}}"#,
        r#"{"a":{"NS":["1","1.0"]}}"#,
        r#"{"a":{"NS":["x",1]}}"#,
        r#"{"a":{"BS":["AA==","AA=="]}}"#,
        r#"{"a":{"L":{}}}"#,
        r#"{"a":{"M":[]}}"#,
        r#"{"a":{"N":"x"},"b":{"X":1}}"#,
        r#"{"a":{"N":"x"}"#,
        r#"{"a":{"S":"\ud800"}}"#,
        r#"{"a":{"S":"\udc00\ud800"}}"#,
        r#"{"a":{"S":"\q"}}"#,
        "{\"a\":{\"S\":\"\n\"}}",
        r#"{"a":{"S":"x"},}"#,
        r#"{"a":{"X":01}}"#,
        r#"["a"]"#,
        "null",
        "",
    ] {
        assert_eq!(verdict(bad), "malformed", "{bad}");
    }
    for bad in [
        r#"{"a":{"N":""}}"#,
        r#"{"a":{"N":"1e126"}}"#,
        r#"{"a":{"NS":["1","x"]}}"#,
        r#"{"a":{"L":[{"N":"x"},{"X":1}]}}"#,
        r#"{"a":{"M":{"b":{"N":"--1"}}}}"#,
    ] {
        assert_eq!(verdict(bad), "invalid", "{bad}");
    }
    assert_eq!(verdict(r#"{"a":{"M":{"b":{"N":"x"},"b":{"N":"1"}}}}"#), "good");
}

#[test]
fn a_line_is_one_object_with_one_item() {
    let mut parser = ItemParser::new();
    let line = br#" {"Extra":[1,-0.5e+3,{"x":null}],"Item" : {"a":{"S":"x"}} , "More":"\u0000"} "#;
    let item = parser.parse_line(line).expect("members beside Item are ignored");
    assert_eq!(item.canonical(), br#"{"a":{"S":"x"}}"#);
    assert!(item.flags().extra_line_member);
    assert!(!item.flags().has_nul);
    assert!(!parser.parse_line(br#"{"Item":{}}"#).expect("good").flags().extra_line_member);
    for bad in [
        "",
        " ",
        "{}",
        r#"{"item":{}}"#,
        r#"{"Item":{},"Item":{}}"#,
        r#"{"Item":{}} x"#,
        r#"{"Item":1}"#,
        "[]",
        r#"{"Item":{},"x":1e}"#,
        r#"{"Item":{},"x":"\ud800"}"#,
        "\u{feff}{\"Item\":{}}",
    ] {
        assert!(matches!(parser.parse_line(bad.as_bytes()), Err(ItemError::Malformed(_))), "{bad}");
    }
    assert!(parser.parse_line(b"{\"Item\":{\"a\":{\"S\":\"\xff\"}}}").is_err());
}

#[test]
fn nesting_ends_at_127_levels_of_json() {
    // The line, the item and each list with its value object.
    let nested =
        |levels: usize| format!("{{\"a\":{}{{\"S\":\"\"}}{}}}", "{\"L\":[".repeat(levels), "]}".repeat(levels));
    assert_eq!(verdict(&nested(62)), "good");
    assert_eq!(verdict(&nested(63)), "malformed");
    assert!(ItemParser::new().parse(nested(62).as_bytes(), ControlChars::Plain).is_ok());
    assert!(ItemParser::new().parse(nested(63).as_bytes(), ControlChars::Plain).is_err());
    let mut parser = ItemParser::new();
    assert_eq!(parser.parse(nested(40).as_bytes(), ControlChars::Plain).expect("good").flags().depth, 41);
    let hostile = "[".repeat(1 << 20);
    assert!(parser.parse_line(hostile.as_bytes()).is_err());
}

#[test]
fn control_characters_are_decoded_leniently_and_encoded_back() {
    let mut parser = ItemParser::new();
    let stored = r#"{"k\u0001\u0001": {"S": "a\u0001\u0002b\u0001c\u0001\u0001\u0002"}}"#;
    let item = parser.parse(stored.as_bytes(), ControlChars::Escaped).expect("good");
    assert_eq!(
        std::str::from_utf8(item.canonical()).expect("UTF-8"),
        r#"{"k\u0000":{"S":"a\u0001b\u0001c\u0000\u0002"}}"#
    );
    assert!(item.flags().has_nul && item.flags().has_u0001);
    assert_eq!(item.flags().size_bytes, 2 + 7);
    assert_eq!(item.attr("k\0").and_then(|a| a.text()).as_deref(), Some("a\u{1}b\u{1}c\0\u{2}"));
    let mut out = Vec::new();
    encode_for_storage(item.canonical(), ControlChars::Escaped, &mut out);
    assert_eq!(
        std::str::from_utf8(&out).expect("UTF-8"),
        r#"{"k\u0001\u0001":{"S":"a\u0001\u0002b\u0001\u0002c\u0001\u0001\u0002"}}"#
    );
    let item = parser.parse(stored.as_bytes(), ControlChars::Plain).expect("good");
    assert!(!item.flags().has_nul && item.flags().has_u0001);
    // A backslash before `u0000` is no escape of it.
    out.clear();
    encode_for_storage(br#"{"a":{"S":"\\u0000"}}"#, ControlChars::Escaped, &mut out);
    assert_eq!(out, br#"{"a":{"S":"\\u0000"}}"#);
    assert_eq!(encode_text("a\0b\u{1}", ControlChars::Escaped), "a\u{1}\u{1}b\u{1}\u{2}");
    assert_eq!(decode_text("a\u{1}\u{1}b\u{1}c\u{1}\u{2}", ControlChars::Escaped), "a\0b\u{1}c\u{1}");
}

#[test]
fn attributes_are_reached_by_name_with_their_scalars() {
    let mut parser = ItemParser::new();
    let text = r#"{"s": {"S": "a\"é"}, "n": {"N": "+1.0"}, "b": {"B": "AAEC"}, "q\"": {"BOOL": true}, "m": {"M": {"s": {"S": "inner"}}}}"#;
    let item = parser.parse(text.as_bytes(), ControlChars::Plain).expect("good");
    let attr = |name| item.attr(name).expect(name);
    assert_eq!(attr("s").text().as_deref(), Some("a\"é"));
    assert_eq!(attr("s").scalar_len(), Some(4));
    assert_eq!(attr("n").number(), Some("1"));
    assert_eq!(attr("b").binary(), Some(vec![0, 1, 2]));
    assert_eq!(attr("b").scalar_len(), Some(3));
    assert_eq!(attr("q\"").json, b"true");
    assert_eq!(attr("m").json, br#"{"s":{"S":"inner"}}"#);
    assert_eq!(attr("m").text(), None);
    assert!(item.attr("inner").is_none());
    let names: Vec<_> = item.attrs().map(|(name, _, _)| name.into_owned()).collect();
    assert_eq!(names, ["b", "m", "n", "q\"", "s"]);
    for (_, _, member) in item.attrs() {
        assert!(member.starts_with(b"\"") && member.ends_with(b"}"));
    }
}
