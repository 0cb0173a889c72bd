//! Scanning of JSON strings and base64, and comparison of strings that are held escaped.

use std::cmp::Ordering;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[inline]
fn word_at(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

/// The high bit of each byte that is a quote, a backslash or a control character; above the lowest set bit there may
/// be others by mistake, since a borrow spoils bytes above the first hit.
#[inline]
fn special_bytes(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = word ^ (ONES * u64::from(b'"'));
    let backslash = word ^ (ONES * u64::from(b'\\'));
    ((control & !word) | (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash)) & HIGHS
}

/// The first eight bytes that a canonical JSON string's content stands for, as a number that orders like them; equal
/// numbers decide nothing.
#[inline]
pub(super) fn order_prefix(content: &[u8], escaped: bool) -> u64 {
    if escaped {
        return Unescaped::new(content)
            .take(8)
            .zip([56, 48, 40, 32, 24, 16, 8, 0])
            .fold(0, |n, (b, shift)| n | (u64::from(b) << shift));
    }
    if let Some(word) = content.first_chunk::<8>() {
        return u64::from_be_bytes(*word);
    }
    content.iter().zip([56, 48, 40, 32, 24, 16, 8]).fold(0, |n, (&b, shift)| n | (u64::from(b) << shift))
}

/// Position of the first quote, backslash or control character at or after `from`; the length if none.
#[inline]
pub(super) fn find_special(text: &[u8], from: usize) -> usize {
    let mut at = from;
    // Most strings end within two words.
    for _ in 0..2 {
        let Some(word) = word_at(text, at) else { break };
        let hits = special_bytes(word);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // Long strings: 32 bytes at a time, in a form that compiles to vector instructions.
    while let Some(chunk) = text.get(at..at + 32) {
        if chunk.iter().fold(false, |found, &b| found | (b == b'"') | (b == b'\\') | (b < 0x20)) {
            break;
        }
        at += 32;
    }
    while let Some(word) = word_at(text, at) {
        let hits = special_bytes(word);
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&b) = text.get(at) {
        if b == b'"' || b == b'\\' || b < 0x20 {
            return at;
        }
        at += 1;
    }
    at
}

/// Four hex digits at the start of `text`.
pub(super) fn hex4(text: &[u8]) -> Option<u32> {
    let digits = text.get(..4)?;
    let mut value = 0;
    for &b in digits {
        value = value * 16 + char::from(b).to_digit(16)?;
    }
    Some(value)
}

/// Appends a character as canonical JSON writes it inside a string.
pub(super) fn push_canonical(c: char, out: &mut Vec<u8>) {
    match c {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\0'..='\u{1f}' => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let code = u32::from(c) as usize;
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[code >> 4], HEX[code & 15]]);
        }
        _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// The bytes of a canonical JSON string's content, unescaped.
pub(super) struct Unescaped<'a>(&'a [u8]);

impl<'a> Unescaped<'a> {
    pub(super) fn new(content: &'a [u8]) -> Self {
        Self(content)
    }
}

impl Iterator for Unescaped<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        if first != b'\\' {
            self.0 = rest;
            return Some(first);
        }
        let (&kind, rest) = rest.split_first()?;
        self.0 = rest;
        Some(match kind {
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 12,
            b'r' => b'\r',
            b'u' => {
                let code = hex4(rest)?;
                self.0 = &rest[4..];
                // Canonical text uses this form for control characters only.
                u8::try_from(code).ok()?
            }
            other => other,
        })
    }
}

/// Compares two canonical JSON strings' contents by the characters they stand for.
pub(super) fn compare_contents(a: &[u8], b: &[u8], any_escape: bool) -> Ordering {
    if any_escape { Unescaped::new(a).cmp(Unescaped::new(b)) } else { a.cmp(b) }
}

const INVALID: u8 = 0x80;

const SEXTETS: [u8; 256] = {
    let mut table = [INVALID; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut i = 0u8;
    while i < 64 {
        table[alphabet[i as usize] as usize] = i;
        i += 1;
    }
    table
};

/// Length in bytes of what a text decodes to, if it is standard base64 with canonical padding.
pub(super) fn base64_decoded_len(text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = if text.ends_with(b"==") { 2 } else { usize::from(text.ends_with(b"=")) };
    let body = &text[..text.len() - padding];
    let seen = body.iter().fold(0u8, |seen, &b| seen | SEXTETS[usize::from(b)]);
    // The bits of the last symbol that stand for nothing must be zero.
    let spare = match padding {
        1 => 0b11,
        2 => 0b1111,
        _ => 0,
    };
    let last = SEXTETS[usize::from(*body.last()?)];
    (seen & INVALID == 0 && last & spare == 0).then_some(text.len() / 4 * 3 - padding)
}

/// Compares two canonical base64 texts by the bytes they stand for.
pub(super) fn compare_base64(a: &[u8], b: &[u8]) -> Ordering {
    let sextets = |text: &[u8]| text.iter().rposition(|&b| b != b'=').map_or(0, |p| p + 1);
    let (a, b) = (&a[..sextets(a)], &b[..sextets(b)]);
    // Spare bits are zero, so the order of sextets is the order of the bytes.
    a.iter().map(|&b| SEXTETS[usize::from(b)]).cmp(b.iter().map(|&b| SEXTETS[usize::from(b)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn special_bytes_are_found_wherever_they_stand(text in proptest::collection::vec(prop_oneof![9 => 0x20u8..=255, 1 => any::<u8>()], 0..90), from in 0usize..20) {
            let want = text.iter().enumerate().skip(from).find(|&(_, &b)| b == b'"' || b == b'\\' || b < 0x20);
            prop_assert_eq!(find_special(&text, from.min(text.len())), want.map_or(text.len().max(from.min(text.len())), |(i, _)| i));
        }

        #[test]
        fn base64_is_accepted_exactly_when_it_is_what_an_encoder_writes(text in "[A-Za-z0-9+/=]{0,12}") {
            let want = STANDARD.decode(&text).ok().filter(|raw| STANDARD.encode(raw) == text).map(|raw| raw.len());
            prop_assert_eq!(base64_decoded_len(text.as_bytes()), want);
        }

        #[test]
        fn base64_texts_compare_as_their_bytes(a in proptest::collection::vec(any::<u8>(), 0..6), b in proptest::collection::vec(any::<u8>(), 0..6)) {
            prop_assert_eq!(compare_base64(STANDARD.encode(&a).as_bytes(), STANDARD.encode(&b).as_bytes()), a.cmp(&b));
        }

        #[test]
        fn escaped_texts_compare_as_their_characters(a in any::<String>(), b in any::<String>()) {
            let (mut ea, mut eb) = (Vec::new(), Vec::new());
            a.chars().for_each(|c| push_canonical(c, &mut ea));
            b.chars().for_each(|c| push_canonical(c, &mut eb));
            prop_assert_eq!(compare_contents(&ea, &eb, true), a.cmp(&b));
            let escaped = |text: &[u8]| text.contains(&b'\\');
            let prefixes = order_prefix(&ea, escaped(&ea)).cmp(&order_prefix(&eb, escaped(&eb)));
            prop_assert!(prefixes.is_eq() || prefixes == a.cmp(&b));
            prop_assert_eq!(Unescaped::new(&ea).collect::<Vec<_>>(), a.into_bytes());
        }
    }
}
