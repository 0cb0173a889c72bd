//! Strings: scanned in words, kept as they are or rewritten to their canonical escapes.

use super::{Parser, Pass, Text, syntax};
use crate::domain::item::ControlChars;
use crate::domain::item::scan::{find_special, hex4, push_canonical};

impl Parser<'_> {
    /// A string at `pos`, known to begin with a quote.
    #[inline]
    pub(super) fn string(&mut self) -> Pass<Text> {
        let start = self.pos + 1;
        let at = find_special(self.text, start);
        if self.text.get(at) == Some(&b'"') {
            self.pos = at + 1;
            return Ok(Text { decoded_len: at - start, escaped: false });
        }
        self.string_with_escapes(start, at)
    }

    pub(super) fn string_with_escapes(&mut self, start: usize, first: usize) -> Pass<Text> {
        let mut text = Text { decoded_len: first - start, escaped: false };
        let mut flushed = false;
        self.pos = first;
        loop {
            match self.text.get(self.pos) {
                Some(b'"') => {
                    self.pos += 1;
                    if flushed {
                        // A name or element never lies half in the output and half in the run.
                        self.flush();
                    }
                    return Ok(text);
                }
                Some(b'\\') => {
                    let begin = self.pos;
                    let decoded = self.escape()?;
                    let c = self.unescape_control(decoded);
                    self.note_control(c);
                    text.decoded_len += c.len_utf8();
                    let before = self.buffers.scratch.len();
                    push_canonical(c, &mut self.buffers.scratch);
                    let canonical = &self.buffers.scratch[before..];
                    text.escaped |= canonical[0] == b'\\';
                    if canonical != &self.text[begin..self.pos] {
                        self.buffers.out.extend_from_slice(&self.text[self.run..begin]);
                        self.buffers.out.extend_from_slice(canonical);
                        self.run = self.pos;
                        flushed = true;
                    }
                    self.buffers.scratch.truncate(before);
                }
                Some(_) => return syntax(format!("byte {}: a control character stands in a string", self.pos)),
                None => return syntax("the text ends inside a string"),
            }
            let next = find_special(self.text, self.pos);
            text.decoded_len += next - self.pos;
            self.pos = next;
        }
    }

    pub(super) fn note_control(&mut self, c: char) {
        self.flags.has_nul |= c == '\0';
        self.flags.has_u0001 |= c == '\u{1}';
    }

    /// The escape at `pos`, which is left behind it.
    pub(super) fn escape(&mut self) -> Pass<char> {
        let kind = self.text.get(self.pos + 1).copied().unwrap_or(0);
        let c = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return syntax(format!("byte {}: unknown escape", self.pos)),
        };
        self.pos += 2;
        Ok(c)
    }

    pub(super) fn unicode_escape(&mut self) -> Pass<char> {
        let at = self.pos;
        let Some(high) = hex4(&self.text[at + 2..]) else {
            return syntax(format!("byte {at}: \\u needs four hex digits"));
        };
        if let Some(c) = char::from_u32(high) {
            self.pos = at + 6;
            return Ok(c);
        }
        let low = self.text[at + 6..].strip_prefix(b"\\u").and_then(hex4).filter(|l| (0xdc00..0xe000).contains(l));
        match (high, low) {
            (0xd800..=0xdbff, Some(low)) => {
                self.pos = at + 12;
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                Ok(char::from_u32(code).expect("a surrogate pair is a character"))
            }
            _ => syntax(format!("byte {at}: lone surrogate")),
        }
    }

    /// Undoes the control-character escape. A U+0001 followed by neither U+0001 nor U+0002 stands for itself.
    pub(super) fn unescape_control(&mut self, c: char) -> char {
        if self.encoding == ControlChars::Plain || c != '\u{1}' {
            return c;
        }
        let second = match self.text[self.pos..].strip_prefix(b"\\u").and_then(hex4) {
            Some(1) => '\0',
            Some(2) => '\u{1}',
            _ => return c,
        };
        self.pos += 6;
        second
    }
}
