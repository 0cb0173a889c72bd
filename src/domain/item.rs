//! Items: reading DynamoDB JSON into the canonical form without building a tree.
//!
//! Source: backup format, sections 6, 7 and 12. The canonical form is compact JSON with
//! attribute names and map names in code point order at every level, sets sorted, numbers
//! normalized. A data line is `{"Item":` + canonical form + `}` + LF, so one pass serves the
//! file, the digest and the key.

mod parser;
mod scan;

use std::borrow::Cow;

use base64::Engine as _;

use parser::{Buffers, Entry, Parser};

/// How strings are held by the place that an item is read from or written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ControlChars {
    /// As they are.
    #[default]
    Plain,
    /// U+0000 and U+0001 are escaped as U+0001 U+0001 and U+0001 U+0002
    /// (PostgreSQL data layout, section 3.2).
    Escaped,
}

/// Type tag of an attribute value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the tags are the names
pub enum AttrType {
    S,
    N,
    B,
    Ss,
    Ns,
    Bs,
    Bool,
    Null,
    L,
    M,
}

impl AttrType {
    /// The tag as it stands in DynamoDB JSON.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
            Self::Ss => "SS",
            Self::Ns => "NS",
            Self::Bs => "BS",
            Self::Bool => "BOOL",
            Self::Null => "NULL",
            Self::L => "L",
            Self::M => "M",
        }
    }

    fn from_tag(tag: &[u8]) -> Option<Self> {
        const ALL: [AttrType; 10] = [
            AttrType::S,
            AttrType::N,
            AttrType::B,
            AttrType::Ss,
            AttrType::Ns,
            AttrType::Bs,
            AttrType::Bool,
            AttrType::Null,
            AttrType::L,
            AttrType::M,
        ];
        ALL.into_iter().find(|ty| ty.tag().as_bytes() == tag)
    }
}

/// Why a text is not an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// Not JSON, not the typed form, invalid UTF-8, nested too deep: `line_malformed`.
    #[error("{0}")]
    Malformed(String),
    /// A number breaks a rule of section 7: `item_invalid`.
    #[error("{0}")]
    Invalid(String),
}

/// Reusable buffers of one worker. Parsing one item invalidates the one before.
#[derive(Debug, Default)]
pub struct ItemParser {
    buffers: Buffers,
}

/// One parsed item, borrowed from its parser.
#[derive(Debug, Clone, Copy)]
pub struct Item<'p> {
    canonical: &'p [u8],
    attrs: &'p [Entry],
    flags: ItemFlags,
}

/// What was noticed while parsing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ItemFlags {
    /// Some string or name holds U+0000.
    pub has_nul: bool,
    /// Some string or name holds U+0001.
    pub has_u0001: bool,
    /// An attribute name occurred twice; the last one won.
    pub duplicate_name: bool,
    /// The line had members beside `Item`, which were ignored.
    pub extra_line_member: bool,
    /// Deepest nesting of attribute values; 1 for an item without lists and maps.
    pub depth: u32,
    /// Size by DynamoDB's counting, in bytes.
    pub size_bytes: u64,
}

/// Value of a top-level attribute: its type and its payload in canonical JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttrValue<'p> {
    /// Type tag.
    pub ty: AttrType,
    /// Payload, for example `"abc"` with its quotes, `true`, `["a"]`, `{"k":{"S":"v"}}`.
    pub json: &'p [u8],
}

impl ItemParser {
    /// A parser with empty buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses the JSON text of one item as a backend stores it.
    ///
    /// # Errors
    /// [`ItemError::Malformed`] and [`ItemError::Invalid`] as described there.
    pub fn parse(&mut self, text: &[u8], encoding: ControlChars) -> Result<Item<'_>, ItemError> {
        let flags = Parser::new(text, encoding, &mut self.buffers).item()?;
        Ok(self.parsed(flags))
    }

    /// Parses one data line, `{"Item":{...}}`, without its line end.
    ///
    /// # Errors
    /// As [`ItemParser::parse`]; a blank line or one without `Item` is malformed.
    pub fn parse_line(&mut self, line: &[u8]) -> Result<Item<'_>, ItemError> {
        let flags = Parser::new(line, ControlChars::Plain, &mut self.buffers).data_line()?;
        Ok(self.parsed(flags))
    }

    fn parsed(&self, flags: ItemFlags) -> Item<'_> {
        Item { canonical: &self.buffers.out, attrs: &self.buffers.entries, flags }
    }
}

impl<'p> Item<'p> {
    /// The canonical JSON.
    #[must_use]
    pub fn canonical(&self) -> &'p [u8] {
        self.canonical
    }

    /// What was noticed while parsing.
    #[must_use]
    pub fn flags(&self) -> ItemFlags {
        self.flags
    }

    /// The value of a top-level attribute, if it is there.
    #[must_use]
    pub fn attr(&self, name: &str) -> Option<AttrValue<'p>> {
        self.attrs.iter().find(|entry| self.is_named(entry, name)).map(|entry| self.value_of(entry))
    }

    fn is_named(&self, entry: &Entry, name: &str) -> bool {
        let content = &self.canonical[entry.name.0..entry.name.1];
        if entry.name_escaped { scan::Unescaped::new(content).eq(name.bytes()) } else { content == name.as_bytes() }
    }

    fn value_of(&self, entry: &Entry) -> AttrValue<'p> {
        AttrValue { ty: entry.ty, json: &self.canonical[entry.payload.0..entry.payload.1] }
    }

    /// All top-level attributes in name order: name, value, and the whole member as canonical JSON
    /// (`"name":{"S":"text"}`).
    pub fn attrs(&self) -> impl Iterator<Item = (Cow<'p, str>, AttrValue<'p>, &'p [u8])> + '_ {
        self.attrs.iter().map(|entry| {
            let name = unescape(&self.canonical[entry.name.0..entry.name.1]);
            (name, self.value_of(entry), &self.canonical[entry.name.0 - 1..entry.end])
        })
    }
}

impl<'p> AttrValue<'p> {
    fn content(&self) -> Option<&'p [u8]> {
        self.json.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    /// Text of an `S`, unescaped.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'p, str>> {
        if self.ty != AttrType::S { None } else { self.content().map(unescape) }
    }

    /// Normalized text of an `N`.
    #[must_use]
    pub fn number(&self) -> Option<&'p str> {
        if self.ty != AttrType::N { None } else { self.content().map(utf8) }
    }

    /// Standard base64 text of a `B`.
    #[must_use]
    pub fn base64(&self) -> Option<&'p str> {
        if self.ty != AttrType::B { None } else { self.content().map(utf8) }
    }

    /// Bytes of a `B`.
    #[must_use]
    pub fn binary(&self) -> Option<Vec<u8>> {
        let text = self.base64()?;
        Some(base64::engine::general_purpose::STANDARD.decode(text).expect("the parser checked the base64"))
    }

    /// Length of a scalar as DynamoDB limits keys: bytes of text, of normalized number text, of binary.
    #[must_use]
    pub fn scalar_len(&self) -> Option<usize> {
        let content = self.content()?;
        match self.ty {
            AttrType::S if memchr::memchr(b'\\', content).is_some() => Some(scan::Unescaped::new(content).count()),
            AttrType::S | AttrType::N => Some(content.len()),
            AttrType::B => scan::base64_decoded_len(content),
            _ => None,
        }
    }
}

fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the parser checked the encoding")
}

/// Undoes the escapes of a canonical JSON string's content.
fn unescape(content: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', content).is_none() {
        return Cow::Borrowed(utf8(content));
    }
    let bytes: Vec<u8> = scan::Unescaped::new(content).collect();
    Cow::Owned(String::from_utf8(bytes).expect("unescaping keeps the encoding"))
}

/// Appends a text as a canonical JSON string, quotes included.
pub fn push_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        scan::push_canonical(c, out);
    }
    out.push(b'"');
}

/// Rewrites canonical JSON for a place that escapes control characters (names and strings).
///
/// Appends to `out`. With [`ControlChars::Plain`] it copies.
pub fn encode_for_storage(canonical: &[u8], encoding: ControlChars, out: &mut Vec<u8>) {
    let mut rest = canonical;
    if encoding == ControlChars::Escaped {
        while let Some(at) = memchr::memchr(b'\\', rest) {
            // Canonical JSON writes these two characters in exactly one way.
            let (escape, stored): (usize, &[u8]) = match rest.get(at..at + 6) {
                Some(b"\\u0000") => (6, b"\\u0001\\u0001"),
                Some(b"\\u0001") => (6, b"\\u0001\\u0002"),
                _ => (2, &rest[at..at + 2]),
            };
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(stored);
            rest = &rest[at + escape..];
        }
    }
    out.extend_from_slice(rest);
}

/// A text as a place stores it that escapes control characters.
#[must_use]
pub fn encode_text(text: &str, encoding: ControlChars) -> Cow<'_, str> {
    if encoding == ControlChars::Plain || !text.contains(['\0', '\u{1}']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => out.push_str("\u{1}\u{1}"),
            '\u{1}' => out.push_str("\u{1}\u{2}"),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Undoes [`encode_text`]; lenient: U+0001 followed by neither U+0001 nor U+0002 stands for itself.
#[must_use]
pub fn decode_text(text: &str, encoding: ControlChars) -> Cow<'_, str> {
    if encoding == ControlChars::Plain || !text.contains('\u{1}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let second = if c == '\u{1}' { chars.peek().copied() } else { None };
        match second {
            Some('\u{1}') => out.push('\0'),
            Some('\u{2}') => out.push('\u{1}'),
            _ => {
                out.push(c);
                continue;
            }
        }
        chars.next();
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
