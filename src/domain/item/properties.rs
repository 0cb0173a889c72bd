//! Random items, written in every way JSON allows, end in one canonical form.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::*;
use crate::domain::digest::TableDigest;

/// A value as plain data.
#[derive(Debug, Clone)]
enum Model {
    S(String),
    N(i64, u8),
    B(Vec<u8>),
    Ss(BTreeSet<String>),
    Ns(BTreeSet<i64>),
    Bs(BTreeSet<Vec<u8>>),
    Bool(bool),
    Null,
    L(Vec<Model>),
    M(BTreeMap<String, Model>),
}

type Members = BTreeMap<String, Model>;

fn strings() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{0,12}",
        1 => any::<String>(),
        1 => "[\\x00-\\x1f\"\\\\/\u{7f}\u{2028}é漢🧪]{0,6}",
        1 => "[a-z ]{30,90}",
    ]
}

fn models() -> impl Strategy<Value = Model> {
    let leaf = prop_oneof![
        strings().prop_map(Model::S),
        (any::<i64>(), 0u8..30).prop_map(|(n, zeros)| Model::N(n, zeros)),
        (-20i64..20, 0u8..3).prop_map(|(n, zeros)| Model::N(n, zeros)),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Model::B),
        proptest::collection::btree_set(strings(), 1..5).prop_map(Model::Ss),
        proptest::collection::btree_set(-100i64..100, 1..6).prop_map(Model::Ns),
        proptest::collection::btree_set(proptest::collection::vec(any::<u8>(), 0..5), 1..5).prop_map(Model::Bs),
        any::<bool>().prop_map(Model::Bool),
        Just(Model::Null),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Model::L),
            proptest::collection::btree_map(strings(), inner, 0..5).prop_map(Model::M),
        ]
    })
}

fn items() -> impl Strategy<Value = Members> {
    proptest::collection::btree_map(strings(), models(), 0..8)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

fn decimal(n: i64, zeros: u8) -> String {
    let zeros = if n == 0 { 0 } else { usize::from(zeros) };
    format!("{n}{}", "0".repeat(zeros))
}

fn array<'a>(members: impl Iterator<Item = String> + 'a) -> String {
    format!("[{}]", members.collect::<Vec<_>>().join(","))
}

/// The canonical form by the book.
fn canonical(value: &Model) -> String {
    match value {
        Model::S(text) => format!("{{\"S\":{}}}", json(text)),
        Model::N(n, zeros) => format!("{{\"N\":\"{}\"}}", decimal(*n, *zeros)),
        Model::B(bytes) => format!("{{\"B\":\"{}\"}}", STANDARD.encode(bytes)),
        Model::Ss(set) => format!("{{\"SS\":{}}}", array(set.iter().map(|s| json(s)))),
        Model::Ns(set) => {
            let mut texts: Vec<_> = set.iter().map(i64::to_string).collect();
            texts.sort();
            format!("{{\"NS\":{}}}", array(texts.iter().map(|t| json(t))))
        }
        Model::Bs(set) => format!("{{\"BS\":{}}}", array(set.iter().map(|b| json(&STANDARD.encode(b))))),
        Model::Bool(value) => format!("{{\"BOOL\":{value}}}"),
        Model::Null => "{\"NULL\":true}".to_owned(),
        Model::L(list) => format!("{{\"L\":{}}}", array(list.iter().map(canonical))),
        Model::M(map) => format!("{{\"M\":{}}}", canonical_members(map)),
    }
}

fn canonical_members(map: &Members) -> String {
    let members: Vec<_> = map.iter().map(|(name, value)| format!("{}:{}", json(name), canonical(value))).collect();
    format!("{{{}}}", members.join(","))
}

/// Writes the same item in another way, as a stream of choices says.
struct Noise(u64);

impl Noise {
    fn pick(&mut self, of: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % of
    }

    fn blank(&mut self, out: &mut String) {
        const BLANKS: [&str; 8] = ["", "", "", "", " ", "  ", "\n", "\t\r "];
        out.push_str(BLANKS[usize::try_from(self.pick(8)).expect("small")]);
    }

    fn token(&mut self, token: &str, out: &mut String) {
        self.blank(out);
        out.push_str(token);
        self.blank(out);
    }

    fn string(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            if self.pick(6) == 0 {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = if self.pick(2) == 0 { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
                }
            } else if c == '/' && self.pick(2) == 0 {
                out.push_str("\\/");
            } else {
                let quoted = json(c.to_string().as_str());
                out.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        out.push('"');
    }

    fn number(&mut self, text: &str, out: &mut String) {
        let spelled = match self.pick(6) {
            0 => format!("{text}.00"),
            1 => format!("{text}e+0"),
            2 if !text.starts_with('-') => format!("+0{text}"),
            3 => format!("{text}0E-1"),
            _ => text.to_owned(),
        };
        self.string(&spelled, out);
    }

    fn shuffled<T>(&mut self, mut all: Vec<T>) -> Vec<T> {
        for i in (1..all.len()).rev() {
            let j = usize::try_from(self.pick(i as u64 + 1)).expect("small");
            all.swap(i, j);
        }
        all
    }

    fn list<T>(&mut self, all: Vec<T>, out: &mut String, mut each: impl FnMut(&mut Self, T, &mut String)) {
        self.token("[", out);
        for (i, one) in all.into_iter().enumerate() {
            if i > 0 {
                self.token(",", out);
            }
            each(self, one, out);
        }
        self.token("]", out);
    }

    fn members(&mut self, map: &Members, out: &mut String) {
        self.token("{", out);
        for (i, (name, value)) in self.shuffled(map.iter().collect()).into_iter().enumerate() {
            if i > 0 {
                self.token(",", out);
            }
            self.string(name, out);
            self.token(":", out);
            self.value(value, out);
        }
        self.token("}", out);
    }

    fn value(&mut self, value: &Model, out: &mut String) {
        let tag = match value {
            Model::S(_) => "S",
            Model::N(..) => "N",
            Model::B(_) => "B",
            Model::Ss(_) => "SS",
            Model::Ns(_) => "NS",
            Model::Bs(_) => "BS",
            Model::Bool(_) => "BOOL",
            Model::Null => "NULL",
            Model::L(_) => "L",
            Model::M(_) => "M",
        };
        self.token("{", out);
        self.string(tag, out);
        self.token(":", out);
        match value {
            Model::S(text) => self.string(text, out),
            Model::N(n, zeros) => self.number(&decimal(*n, *zeros), out),
            Model::B(bytes) => self.string(&STANDARD.encode(bytes), out),
            Model::Ss(set) => {
                let all = self.shuffled(set.iter().collect());
                self.list(all, out, |noise, text, out| noise.string(text, out));
            }
            Model::Ns(set) => {
                let all = self.shuffled(set.iter().collect());
                self.list(all, out, |noise, n, out| noise.number(&n.to_string(), out));
            }
            Model::Bs(set) => {
                let all = self.shuffled(set.iter().collect());
                self.list(all, out, |noise, bytes, out| noise.string(&STANDARD.encode(bytes), out));
            }
            Model::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Model::Null => out.push_str("true"),
            Model::L(list) => self.list(list.iter().collect(), out, |noise, value, out| noise.value(value, out)),
            Model::M(map) => self.members(map, out),
        }
        self.token("}", out);
    }
}

fn parsed(text: &str, encoding: ControlChars) -> String {
    let mut parser = ItemParser::new();
    let item = parser.parse(text.as_bytes(), encoding).unwrap_or_else(|e| panic!("{text}: {e}"));
    String::from_utf8(item.canonical().to_vec()).expect("UTF-8")
}

proptest! {
    #[test]
    fn every_spelling_of_an_item_has_one_canonical_form(members in items(), seed in any::<u64>()) {
        let wanted = canonical_members(&members);
        let mut spelled = String::new();
        Noise(seed).members(&members, &mut spelled);
        prop_assert_eq!(&parsed(&spelled, ControlChars::Plain), &wanted);
        prop_assert_eq!(&parsed(&wanted, ControlChars::Plain), &wanted);
        let mut parser = ItemParser::new();
        let line = format!("{{\"Item\":{spelled}}}");
        let item = parser.parse_line(line.as_bytes()).expect("good");
        prop_assert_eq!(item.canonical(), wanted.as_bytes());
        let flags = item.flags();
        prop_assert!(!flags.duplicate_name && !flags.extra_line_member);
        prop_assert_eq!(flags.has_nul, wanted.replace("\\\\", "").contains("\\u0000"));
        for (name, value) in &members {
            let found = item.attr(name).expect("there");
            let whole = format!("{{\"{}\":{}}}", found.ty.tag(), std::str::from_utf8(found.json).expect("UTF-8"));
            prop_assert_eq!(whole, canonical(value));
            match value {
                Model::S(text) => prop_assert_eq!(found.text().expect("S"), text.as_str()),
                Model::B(bytes) => prop_assert_eq!(&found.binary().expect("B"), bytes),
                _ => {}
            }
        }
        prop_assert_eq!(item.attrs().count(), members.len());
    }

    #[test]
    fn what_is_stored_with_escapes_is_read_back(members in items()) {
        let wanted = canonical_members(&members);
        let mut stored = Vec::new();
        encode_for_storage(wanted.as_bytes(), ControlChars::Escaped, &mut stored);
        let stored = String::from_utf8(stored).expect("UTF-8");
        prop_assert!(!stored.replace("\\\\", "").contains("\\u0000"));
        prop_assert_eq!(parsed(&stored, ControlChars::Escaped), wanted);
    }

    #[test]
    fn texts_stored_with_escapes_are_read_back(text in strings()) {
        let stored = encode_text(&text, ControlChars::Escaped).into_owned();
        prop_assert!(!stored.contains('\0'));
        prop_assert_eq!(decode_text(&stored, ControlChars::Escaped), text);
    }

    #[test]
    fn the_digest_does_not_know_the_order(all in proptest::collection::vec(items(), 0..12), seed in any::<u64>()) {
        let texts: Vec<_> = all.iter().map(canonical_members).collect();
        let digest = |texts: &[String]| {
            let mut digest = TableDigest::default();
            texts.iter().for_each(|t| digest.add(t.as_bytes()));
            digest
        };
        let (left, right) = texts.split_at(texts.len() / 2);
        let mut merged = digest(right);
        merged.merge(&digest(left));
        prop_assert_eq!(merged, digest(&texts));
        prop_assert_eq!(digest(&Noise(seed).shuffled(texts.clone())), merged);
        let mut twice = merged;
        twice.merge(&merged);
        prop_assert!(texts.is_empty() || twice != TableDigest::default(), "equal items do not cancel");
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = ItemParser::new();
        let _ = parser.parse(&bytes, ControlChars::Escaped);
        let _ = parser.parse_line(&bytes);
    }

    #[test]
    fn no_damage_to_an_item_makes_the_parser_panic(members in items(), seed in any::<u64>()) {
        let mut noise = Noise(seed);
        let mut spelled = String::from("{\"Item\":");
        noise.members(&members, &mut spelled);
        spelled.push('}');
        let mut bytes = spelled.into_bytes();
        let mut parser = ItemParser::new();
        for _ in 0..8 {
            let at = usize::try_from(noise.pick(bytes.len() as u64)).expect("small");
            match noise.pick(4) {
                0 => bytes[at] = u8::try_from(noise.pick(256)).expect("a byte"),
                1 => bytes.truncate(at.max(1)),
                2 => bytes[at] = b"{}[]\",:\\"[usize::try_from(noise.pick(8)).expect("small")],
                _ => bytes.insert(at, b"{}[]\",:\\"[usize::try_from(noise.pick(8)).expect("small")]),
            }
            if let Ok(item) = parser.parse_line(&bytes) {
                // What is accepted after all has a canonical form that is its own.
                let text = String::from_utf8(item.canonical().to_vec()).expect("UTF-8");
                prop_assert_eq!(parsed(&text, ControlChars::Plain), text);
            }
            let _ = parser.parse(&bytes, ControlChars::Escaped);
        }
    }
}
