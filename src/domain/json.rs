//! A strict reader of JSON documents: what the derive of serde accepts, and nothing beside it.
//!
//! serde_json is lenient where a checksummed record must not be: it takes arrays for structs, objects for
//! enum words, and looks at neither surrogates nor nesting of what it ignores. Here a struct is an object, an enum
//! a string, an integer has neither fraction nor exponent, `-0` is no integer, and what is
//! ignored is checked like the rest. A listed member given twice is refused by the derive itself.
//! Source: backup format, section 4 (text rules) and section 9 (steps 2 and 4).

use std::borrow::Cow;
use std::fmt::Display;

use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

/// Deepest nesting of objects and arrays.
const MAX_DEPTH: u32 = 127;

/// Why a document was refused: `byte 12: expected ':'` or a complaint about its shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JsonError(String);

impl de::Error for JsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

type Result<T> = std::result::Result<T, JsonError>;

/// Reads one document from bytes that hold nothing else but blanks.
///
/// # Errors
/// Invalid UTF-8, a byte order mark, malformed JSON, another shape than `T`.
pub fn from_slice<'de, T: serde::Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    let text =
        std::str::from_utf8(bytes).map_err(|e| JsonError(format!("invalid UTF-8 at byte {}", e.valid_up_to())))?;
    let mut reader = Reader { text, pos: 0, depth: 0 };
    let value = T::deserialize(&mut reader)?;
    reader.blanks();
    if reader.pos < text.len() {
        return reader.fail("expected the end of the document");
    }
    Ok(value)
}

struct Reader<'de> {
    text: &'de str,
    pos: usize,
    depth: u32,
}

impl<'de> Reader<'de> {
    fn fail<T>(&self, what: &str) -> Result<T> {
        Err(JsonError(format!("byte {}: {what}", self.pos)))
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
    }

    fn expect(&mut self, token: u8) -> Result<()> {
        self.blanks();
        if self.peek() != token {
            return self.fail(&format!("expected {:?}", char::from(token)));
        }
        self.pos += 1;
        Ok(())
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.text[self.pos..].starts_with(word);
        if found {
            self.pos += word.len();
        }
        found
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("nested deeper than 127 levels");
        }
        self.pos += 1;
        Ok(())
    }

    /// Before a member: false past the closing token.
    fn next_member(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        self.blanks();
        let begins = std::mem::replace(first, false);
        match self.peek() {
            b if b == close => {
                self.pos += 1;
                self.depth -= 1;
                return Ok(false);
            }
            b',' if !begins => self.pos += 1,
            _ if begins => {}
            _ => return self.fail(&format!("expected ',' or {:?}", char::from(close))),
        }
        self.blanks();
        if self.peek() == close {
            return self.fail("a comma without a member after it");
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<Cow<'de, str>> {
        self.blanks();
        if self.peek() != b'"' {
            return self.fail("expected a string");
        }
        self.pos += 1;
        let mut start = self.pos;
        let mut owned = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.pos..];
            let Some(at) = rest.iter().position(|&b| b == b'"' || b == b'\\' || b < 0x20) else {
                return self.fail("a string without end");
            };
            self.pos += at;
            match rest[at] {
                b'"' => {
                    let tail = &self.text[start..self.pos];
                    self.pos += 1;
                    if owned.is_empty() {
                        return Ok(Cow::Borrowed(tail));
                    }
                    owned.push_str(tail);
                    return Ok(Cow::Owned(owned));
                }
                b'\\' => {
                    owned.push_str(&self.text[start..self.pos]);
                    let c = self.escape()?;
                    owned.push(c);
                    start = self.pos;
                }
                _ => return self.fail("a control character in a string"),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let kind = self.text.as_bytes().get(self.pos + 1).copied().unwrap_or(0);
        let c = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex(self.pos)?;
                let (code, len) = match high {
                    0xd800..=0xdbff => match self.hex(self.pos + 6)? {
                        low @ 0xdc00..=0xdfff => (0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12),
                        _ => return self.fail("a lone surrogate"),
                    },
                    _ => (high, 6),
                };
                let Some(c) = char::from_u32(code) else { return self.fail("a lone surrogate") };
                self.pos += len;
                return Ok(c);
            }
            _ => return self.fail("an unknown escape"),
        };
        self.pos += 2;
        Ok(c)
    }

    /// The number of a `\uXXXX` at a position.
    fn hex(&self, at: usize) -> Result<u32> {
        let digits = self.text.as_bytes().get(at..at + 6).filter(|d| d.starts_with(b"\\u"));
        let value = digits.and_then(|d| d[2..].iter().try_fold(0, |v, &b| Some(v * 16 + char::from(b).to_digit(16)?)));
        match value {
            Some(value) => Ok(value),
            None => self.fail("a malformed \\u escape"),
        }
    }

    /// The text of a number, and whether it is written as an integer.
    fn number(&mut self) -> Result<(&'de str, bool)> {
        let start = self.pos;
        let digits = |reader: &mut Self| {
            let from = reader.pos;
            while reader.peek().is_ascii_digit() {
                reader.pos += 1;
            }
            reader.pos - from
        };
        if self.peek() == b'-' {
            self.pos += 1;
        }
        let zero = self.peek() == b'0';
        let whole = digits(self);
        let mut good = whole > 0 && !(zero && whole > 1);
        let mut integer = true;
        if self.peek() == b'.' {
            self.pos += 1;
            integer = false;
            good &= digits(self) > 0;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            integer = false;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            good &= digits(self) > 0;
        }
        if good { Ok((&self.text[start..self.pos], integer)) } else { self.fail("a malformed number") }
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let (text, integer) = self.number()?;
        // Minus zero has no integer form of its own.
        if integer && text != "-0" {
            if let Ok(value) = text.parse::<u64>() {
                return visitor.visit_u64(value);
            }
            if let Ok(value) = text.parse::<i64>() {
                return visitor.visit_i64(value);
            }
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => visitor.visit_f64(value),
            _ => self.fail("a number out of range"),
        }
    }

    /// Skips a value, checking its form.
    fn ignore(&mut self) -> Result<()> {
        self.blanks();
        match self.peek() {
            b'"' => self.string().map(|_| ()),
            b'{' => {
                self.enter()?;
                let mut first = true;
                while self.next_member(&mut first, b'}')? {
                    self.string()?;
                    self.expect(b':')?;
                    self.ignore()?;
                }
                Ok(())
            }
            b'[' => {
                self.enter()?;
                let mut first = true;
                while self.next_member(&mut first, b']')? {
                    self.ignore()?;
                }
                Ok(())
            }
            b'-' | b'0'..=b'9' => self.number().map(|_| ()),
            _ if self.word("true") || self.word("false") || self.word("null") => Ok(()),
            _ => self.fail("expected a value"),
        }
    }

    /// A shape that is not there: the document is checked to the end of this value, then refused.
    fn expect_kind(&mut self, kind: &str, begins: u8) -> Result<()> {
        self.blanks();
        if self.peek() == begins { Ok(()) } else { self.fail(&format!("expected {kind}")) }
    }
}

struct Members<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
    name: String,
}

impl<'de> de::MapAccess<'de> for Members<'_, 'de> {
    type Error = JsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.reader.next_member(&mut self.first, b'}')? {
            return Ok(None);
        }
        let name = self.reader.string()?;
        self.reader.expect(b':')?;
        self.name.clear();
        self.name.push_str(&name);
        match name {
            Cow::Borrowed(name) => seed.deserialize(de::value::BorrowedStrDeserializer::new(name)).map(Some),
            Cow::Owned(name) => seed.deserialize(name.into_deserializer()).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(&mut *self.reader).map_err(|e| JsonError(format!("{}: {e}", self.name)))
    }
}

struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
    index: usize,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = JsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.reader.next_member(&mut self.first, b']')? {
            return Ok(None);
        }
        let index = self.index;
        self.index += 1;
        seed.deserialize(&mut *self.reader).map(Some).map_err(|e| JsonError(format!("[{index}]: {e}")))
    }
}

macro_rules! through_any {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.blanks();
        match self.peek() {
            b'"' => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            b'{' => {
                self.enter()?;
                visitor.visit_map(Members { reader: self, first: true, name: String::new() })
            }
            b'[' => {
                self.enter()?;
                visitor.visit_seq(Elements { reader: self, first: true, index: 0 })
            }
            b'-' | b'0'..=b'9' => self.visit_number(visitor),
            b't' if self.word("true") => visitor.visit_bool(true),
            b'f' if self.word("false") => visitor.visit_bool(false),
            b'n' if self.word("null") => visitor.visit_unit(),
            _ => self.fail("expected a value"),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.blanks();
        if self.word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.expect_kind("an object", b'{')?;
        self.deserialize_any(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.expect_kind("an object", b'{')?;
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let word = self.string()?;
        visitor.visit_enum(word.into_owned().into_deserializer())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.ignore()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_any(visitor)
    }

    through_any! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_seq deserialize_identifier
    }
}

#[cfg(test)]
mod tests;
