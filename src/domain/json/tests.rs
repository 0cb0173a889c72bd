//! What the strict reader takes and what it refuses.

use super::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    Yes,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Shape {
    n: i64,
    #[serde(default)]
    u: Option<u32>,
    f: f64,
    w: Word,
    list: Vec<Option<String>>,
}

const GOOD: &str =
    r#" {"n":-5,"f":1,"w":"Yes","list":["a\u00e9\ud83d\ude00\n",null],"extra":{"deep":[1e400,{"x":null}]}} "#;

#[test]
fn a_document_is_read_into_its_shape() {
    let shape: Shape = from_slice(GOOD.as_bytes()).expect("good");
    assert_eq!(shape, Shape { n: -5, u: None, f: 1.0, w: Word::Yes, list: vec![Some("aé😀\n".into()), None] });
    let other: Shape =
        from_slice(GOOD.replace("Yes", "No").replace("{\"n\"", "{\"u\":null,\"n\"").as_bytes()).expect("good");
    assert_eq!((other.w, other.u), (Word::Unknown, None));
}

#[test]
fn what_is_not_exactly_that_is_refused() {
    for (from, to) in [
        ("-5", "-0"),
        ("-5", "5.0"),
        ("-5", "5e0"),
        ("-5", "\"5\""),
        ("-5", "05"),
        ("-5", "9223372036854775808"),
        ("-5", "true"),
        ("\"f\":1", "\"f\":1e400"),
        ("\"f\":1", "\"f\":null"),
        ("\"f\":1", "\"f\":\"1\""),
        ("\"f\":1", "\"f\":1,\"f\":1"),
        ("\"f\":1", "\"g\":1"),
        ("\"Yes\"", "{\"Yes\":null}"),
        ("\"Yes\"", "1"),
        ("[\"a", "[1,\"a"),
        ("{\"x\":null}", "{\"x\":nul}"),
        ("{\"x\":null}", "{\"x\":\"\\ud800\"}"),
        ("{\"x\":null}", "{\"x\":null,}"),
        ("{\"x\":null}", "[01]"),
        ("\\n", "\n"),
        ("}} ", "}} x"),
        (" {", "\u{feff}{"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        assert!(from_slice::<Shape>(text.as_bytes()).is_err(), "{text}");
    }
    assert!(from_slice::<Shape>(br#"[-5,null,1.0,"Yes",[]]"#).is_err(), "an array is no struct");
    assert!(from_slice::<Shape>(b"{\"n\":\"\xff\"}").is_err());
    let deep =
        |n: usize| format!("{{\"n\":1,\"f\":1,\"w\":\"Yes\",\"list\":[],\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
    assert!(from_slice::<Shape>(deep(126).as_bytes()).is_ok());
    assert!(from_slice::<Shape>(deep(127).as_bytes()).is_err());
}

#[test]
fn every_cut_of_a_document_is_refused() {
    let text = GOOD.trim().as_bytes();
    for end in 0..text.len() {
        assert!(from_slice::<Shape>(&text[..end]).is_err(), "cut at {end}");
    }
}
