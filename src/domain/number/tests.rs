//! Numbers: normalized text, limits and number-key text.

use super::*;
use proptest::prelude::*;

const KNOWN: &str = include_str!("../../../tests/data/number-keys.txt");

fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.lines().filter(|l| !l.starts_with('#')).map(|l| l.split_once(' ').expect("two columns"))
}

#[test]
fn every_known_number_key_is_written_and_read() {
    assert!(known().count() > 40);
    for (number, key) in known() {
        assert_eq!(encode_number_key(number).as_deref(), Ok(key), "{number}");
        assert_eq!(decode_number_key(key).expect(key), normalize(number).expect(number));
    }
}

#[test]
fn numbers_are_normalized() {
    for (from, to) in [
        ("1E2", "100"),
        ("5.0", "5"),
        ("-0.50", "-0.5"),
        ("1E-3", "0.001"),
        ("-0", "0"),
        ("0e5", "0"),
        ("+007.10", "7.1"),
        (".5", "0.5"),
        ("5.", "5"),
        ("100.00e-2", "1"),
        ("10203", "10203"),
        ("0.00102e4", "10.2"),
        ("000", "0"),
        ("1e0000000000003", "1000"),
    ] {
        assert_eq!(normalize(from).as_deref(), Ok(to), "{from}");
    }
    for bad in ["", "-", ".", "+.", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "1_0", "0x1", "NaN", "١", "--1", "1e5.0"] {
        assert_eq!(normalize(bad), Err(NumberError::Form), "{bad:?}");
    }
}

#[test]
fn limits_are_exact() {
    let ones = "1".repeat(38);
    assert_eq!(normalize(&ones).as_deref(), Ok(ones.as_str()));
    assert_eq!(normalize(&format!("{ones}1")), Err(NumberError::Digits));
    assert!(normalize(&format!("000{ones}.000")).is_ok());
    assert!(normalize(&format!("{ones}000")).is_ok());
    assert_eq!(normalize(&format!("1{}1", "0".repeat(37))), Err(NumberError::Digits));
    assert!(normalize("9.9999999999999999999999999999999999999E+125").is_ok());
    assert_eq!(normalize("1E126"), Err(NumberError::TooLarge));
    assert!(normalize("1E-130").is_ok());
    assert_eq!(normalize("9.9E-131"), Err(NumberError::TooSmall));
    assert_eq!(normalize("1e2147483648"), Err(NumberError::Exponent));
    assert_eq!(normalize("0e2147483647").as_deref(), Ok("0"));
}

#[test]
fn damaged_number_keys_are_refused() {
    for bad in [
        "",
        "0",
        "2",
        "11",
        "2100001",
        "21000010",
        "210000110",
        "00999998",
        "00999989:",
        "300000011",
        "2999999911",
        "2１00001",
    ] {
        assert!(decode_number_key(bad).is_err(), "{bad:?}");
    }
}

fn numbers() -> impl Strategy<Value = String> {
    (any::<bool>(), "[0-9]{1,20}", "[0-9]{0,18}", -130i32..100).prop_map(|(neg, whole, frac, exp)| {
        let sign = if neg { "-" } else { "" };
        format!("{sign}{whole}.{frac}E{exp}")
    })
}

proptest! {
    #[test]
    fn normalizing_twice_is_normalizing_once(text in numbers()) {
        if let Ok(once) = normalize(&text) {
            prop_assert_eq!(normalize(&once), Ok(once.clone()));
            let mut fast = Vec::new();
            normalize_into(once.as_bytes(), &mut fast).expect("valid");
            prop_assert_eq!(fast, once.into_bytes());
        }
    }

    #[test]
    fn what_looks_normalized_is(text in "-?[0-9.]{1,40}") {
        if let Some((len, size)) = plain_prefix(text.as_bytes()) {
            prop_assert_eq!(normalize(&text[..len]), Ok(text[..len].to_owned()));
            prop_assert_eq!(size_bytes(&text.as_bytes()[..len]), size);
        }
    }

    #[test]
    fn order_of_number_keys_is_numeric_order(a in -1_000_000_000i64..1_000_000_000, b in -1_000_000_000i64..1_000_000_000, e in 0usize..7) {
        // The same shift of the point keeps the order of the integers.
        let shift = |n: i64| format!("{n}E-{e}");
        let (ka, kb) = (encode_number_key(&shift(a)).expect("valid"), encode_number_key(&shift(b)).expect("valid"));
        prop_assert_eq!(a.cmp(&b), ka.cmp(&kb));
    }

    #[test]
    fn number_keys_round_trip(text in numbers()) {
        if let Ok(key) = encode_number_key(&text) {
            prop_assert_eq!(decode_number_key(&key).expect("just written"), normalize(&text).expect("valid"));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,50}") {
        let _ = normalize(&text);
        let _ = decode_number_key(&text);
    }
}
