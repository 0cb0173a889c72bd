//! The binary COPY format, both ways.
//!
//! Source: PostgreSQL manual, COPY, "Binary Format": an 11-byte signature, flags, an extension; then rows
//! of a 16-bit field count and fields of a 32-bit length and bytes; -1 instead of a count ends it.

use crate::backend::{Error, ErrorKind};

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Signature, flags and length of the extension.
const HEADER_BYTES: usize = 19;

/// Takes rows of one field out of a stream that is cut anywhere. Nulls are passed over.
#[derive(Debug, Default)]
pub struct FieldReader {
    /// What a cut left unfinished; empty most of the time.
    carry: Vec<u8>,
    header_done: bool,
    ended: bool,
}

/// Progress of a parse at the front of a buffer.
enum Step<'a> {
    /// A field, and the bytes its row used.
    Field(&'a [u8], usize),
    /// A null, and the bytes its row used.
    Null(usize),
    /// The header, and the bytes it used.
    Header(usize),
    /// The end mark.
    End,
    /// The buffer ends in the middle.
    NeedMore,
}

impl FieldReader {
    /// Hands every complete field to `on_field`.
    ///
    /// # Errors
    /// `Damaged` for bytes that are not this format.
    pub fn feed(&mut self, bytes: &[u8], mut on_field: impl FnMut(&[u8])) -> Result<(), Error> {
        if self.carry.is_empty() {
            let used = self.drain(bytes, &mut on_field)?;
            self.carry.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        let mut carry = std::mem::take(&mut self.carry);
        carry.extend_from_slice(bytes);
        let used = self.drain(&carry, &mut on_field)?;
        carry.drain(..used);
        self.carry = carry;
        Ok(())
    }

    /// Checks that the stream ended with its mark.
    ///
    /// # Errors
    /// `Damaged` when it did not.
    pub fn finish(&self) -> Result<(), Error> {
        if self.ended && self.carry.is_empty() { Ok(()) } else { Err(broken("the stream ended early")) }
    }

    fn drain(&mut self, bytes: &[u8], on_field: &mut impl FnMut(&[u8])) -> Result<usize, Error> {
        let mut used = 0;
        while !self.ended {
            match self.step(&bytes[used..])? {
                Step::Field(field, n) => {
                    on_field(field);
                    used += n;
                }
                Step::Null(n) => used += n,
                Step::Header(n) => {
                    self.header_done = true;
                    used += n;
                }
                Step::End => {
                    self.ended = true;
                    used += 2;
                }
                Step::NeedMore => break,
            }
        }
        Ok(used)
    }

    fn step<'a>(&self, bytes: &'a [u8]) -> Result<Step<'a>, Error> {
        if !self.header_done {
            let Some(header) = bytes.get(..HEADER_BYTES) else { return Ok(Step::NeedMore) };
            if &header[..SIGNATURE.len()] != SIGNATURE {
                return Err(broken("it does not begin with the signature"));
            }
            let extension = length(&header[15..19]).ok_or_else(|| broken("the header's length is negative"))?;
            let total = HEADER_BYTES + extension;
            return Ok(if bytes.len() < total { Step::NeedMore } else { Step::Header(total) });
        }
        let Some(count) = bytes.get(..2) else { return Ok(Step::NeedMore) };
        match count {
            [0xff, 0xff] => return Ok(Step::End),
            [0, 1] => {}
            other => return Err(broken(format!("a row has {other:?} fields, expected one"))),
        }
        let Some(prefix) = bytes.get(2..6) else { return Ok(Step::NeedMore) };
        if prefix == [0xff; 4] {
            return Ok(Step::Null(6));
        }
        let len = length(prefix).ok_or_else(|| broken("a field's length is negative"))?;
        Ok(bytes.get(6..6 + len).map_or(Step::NeedMore, |field| Step::Field(field, 6 + len)))
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    let bytes: [u8; 4] = bytes.try_into().ok()?;
    usize::try_from(i32::from_be_bytes(bytes)).ok()
}

fn broken(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::Damaged, "read COPY data", problem)
}

/// Writes rows for `COPY … FROM STDIN (FORMAT binary)` into a buffer of its own.
#[derive(Debug)]
pub struct RowWriter {
    bytes: Vec<u8>,
    started: bool,
}

impl RowWriter {
    /// An empty stream.
    pub fn new() -> Self {
        Self { bytes: Vec::new(), started: false }
    }

    /// Bytes waiting to be sent.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The waiting bytes, with the header before the first and the end mark after them: one whole stream.
    /// The buffer keeps its memory and is ready for the next.
    pub fn take_stream(&mut self, out: &mut Vec<u8>) {
        out.clear();
        if self.started {
            self.bytes.extend_from_slice(&(-1i16).to_be_bytes());
            std::mem::swap(out, &mut self.bytes);
            self.bytes.clear();
            self.started = false;
        }
    }

    /// Begins a row.
    pub fn row(&mut self, fields: i16) {
        if !self.started {
            self.started = true;
            self.bytes.extend_from_slice(SIGNATURE);
            self.bytes.extend_from_slice(&[0; 8]);
        }
        self.bytes.extend_from_slice(&fields.to_be_bytes());
    }

    /// A field of text or bytes.
    ///
    /// # Errors
    /// `Unrepresentable` for one of 2 GiB or more.
    pub fn field(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let len = i32::try_from(bytes.len()).map_err(|_| {
            Error::new(ErrorKind::Unrepresentable, "write COPY data", format!("a value has {} bytes", bytes.len()))
        })?;
        self.bytes.extend_from_slice(&len.to_be_bytes());
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// A field whose bytes `write` appends; the length is filled in after it.
    ///
    /// # Errors
    /// `Unrepresentable` for one of 2 GiB or more.
    pub fn field_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        let written = self.bytes.len() - at - 4;
        let len = i32::try_from(written).map_err(|_| {
            Error::new(ErrorKind::Unrepresentable, "write COPY data", format!("a value has {written} bytes"))
        })?;
        self.bytes[at..at + 4].copy_from_slice(&len.to_be_bytes());
        Ok(())
    }
}

/// Appends the binary form of a `numeric` from normalized decimal text (`-12.5`, `0`, `100`).
///
/// Source: PostgreSQL's `numeric_recv`: count of base-10000 digits, weight of the first, sign, decimals shown.
///
/// # Errors
/// A text that is no such number.
pub fn numeric(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let bad = || format!("not a plain decimal number: {text:?}");
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let at = out.len();
    out.extend_from_slice(&[0; 8]);
    let whole = whole.trim_start_matches('0');
    // Whole digits are grouped from the point to the left, decimals from the point to the right.
    let first = whole.len() % 4;
    let (head, rest) = whole.as_bytes().split_at(first);
    let mut weight = i16::try_from(whole.len().div_ceil(4)).map_err(|_| bad())? - 1;
    let mut groups = 0i16;
    let mut trailing_zeros = 0i16;
    let value = |group: &[u8]| group.iter().fold(0i16, |acc, b| acc * 10 + i16::from(b - b'0'));
    let head = (!head.is_empty()).then_some(head);
    let before = head.into_iter().chain(rest.chunks(4)).map(value);
    // The last group of decimals is filled up with zeros on the right.
    let after = fraction.as_bytes().chunks(4).map(|group| value(group) * [1, 1000, 100, 10][group.len() % 4]);
    for value in before.chain(after) {
        if value == 0 && groups == 0 {
            // A leading zero group, as in 0.00001: it only moves the weight.
            weight -= 1;
            continue;
        }
        trailing_zeros = if value == 0 { trailing_zeros + 1 } else { 0 };
        groups += 1;
        out.extend_from_slice(&value.to_be_bytes());
    }
    groups -= trailing_zeros;
    out.truncate(at + 8 + 2 * usize::try_from(groups).unwrap_or_default());
    if groups == 0 {
        weight = 0;
    }
    let sign: u16 = if negative && groups > 0 { 0x4000 } else { 0 };
    let scale = u16::try_from(fraction.len()).map_err(|_| bad())?;
    out[at..at + 2].copy_from_slice(&groups.to_be_bytes());
    out[at + 2..at + 4].copy_from_slice(&weight.to_be_bytes());
    out[at + 4..at + 6].copy_from_slice(&sign.to_be_bytes());
    out[at + 6..at + 8].copy_from_slice(&scale.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(fields: &[&[u8]]) -> Vec<u8> {
        let mut writer = RowWriter::new();
        for field in fields {
            writer.row(1);
            writer.field(field).unwrap();
        }
        let mut out = Vec::new();
        writer.take_stream(&mut out);
        out
    }

    #[test]
    fn fields_come_out_whole_wherever_the_stream_is_cut() {
        let fields: [&[u8]; 3] = [b"one", b"", b"three\xff\xff"];
        let bytes = stream(&fields);
        for size in 1..bytes.len() {
            let mut reader = FieldReader::default();
            let mut seen = Vec::new();
            for chunk in bytes.chunks(size) {
                reader.feed(chunk, |f| seen.push(f.to_vec())).unwrap();
            }
            reader.finish().unwrap();
            assert_eq!(seen, fields);
        }
    }

    #[test]
    fn a_stream_that_ends_early_or_is_none_is_refused() {
        let bytes = stream(&[b"one"]);
        let mut reader = FieldReader::default();
        reader.feed(&bytes[..bytes.len() - 1], |_| {}).unwrap();
        assert!(reader.finish().is_err());
        assert!(FieldReader::default().feed(&[0; 40], |_| {}).is_err());
    }

    fn parts(text: &str) -> (Vec<i16>, Vec<i16>) {
        let mut out = Vec::new();
        numeric(text, &mut out).unwrap();
        let words: Vec<i16> = out.chunks(2).map(|c| i16::from_be_bytes([c[0], c[1]])).collect();
        (words[..4].to_vec(), words[4..].to_vec())
    }

    #[test]
    fn numbers_are_grouped_around_the_point() {
        assert_eq!(parts("0"), (vec![0, 0, 0, 0], vec![]));
        assert_eq!(parts("12345.678"), (vec![3, 1, 0, 3], vec![1, 2345, 6780]));
        assert_eq!(parts("-0.00001"), (vec![1, -2, 0x4000, 5], vec![1000]));
        assert_eq!(parts("100000000"), (vec![1, 2, 0, 0], vec![1]));
        assert_eq!(parts("7"), (vec![1, 0, 0, 0], vec![7]));
        assert_eq!(parts("0.5"), (vec![1, -1, 0, 1], vec![5000]));
        assert!(numeric("1e5", &mut Vec::new()).is_err());
        assert!(numeric(".5", &mut Vec::new()).is_err());
    }
}
