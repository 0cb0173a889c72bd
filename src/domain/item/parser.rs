//! The single pass over an item's JSON.
//!
//! What is canonical already is copied in runs: `run..pos` of the text is pending until something
//! differs (a blank, an escape, a number not normalized), so compact input costs one copy.
//! Objects and sets found out of order are put in order in the output once they end.
//!
//! Errors come in two grades. Text that is no JSON ends the pass. A value that is JSON but no
//! attribute value ([`Fail::Line`], [`Fail::Bad`]) is skipped by the rules of JSON and noted, since the
//! rest of the text decides what the verdict is: JSON errors come before shape errors, shape errors before
//! invalid numbers, and a value superseded by a later one of the same name does not count.

use std::cmp::Ordering;

use super::scan::{
    base64_decoded_len, compare_base64, compare_contents, find_special, hex4, order_prefix, push_canonical,
};
use super::{AttrType, ControlChars, ItemError, ItemFlags};
use crate::domain::number;

/// Deepest nesting of JSON that a line may have.
const MAX_JSON_DEPTH: u32 = 127;

/// Buffers that live longer than one item.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) out: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    elements: Vec<Element>,
    scratch: Vec<u8>,
    order: Vec<usize>,
}

/// One member of an item or map, by positions in the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Content of the name, without quotes.
    pub(super) name: (usize, usize),
    pub(super) name_escaped: bool,
    /// Orders like the beginning of the name.
    prefix: u64,
    pub(super) ty: AttrType,
    /// The payload.
    pub(super) payload: (usize, usize),
    /// End of the member.
    pub(super) end: usize,
    /// Size of name and value by DynamoDB's counting.
    size: u64,
    /// Index of its error in the parser's list.
    error: Option<usize>,
}

/// One member of a set: content without quotes.
#[derive(Debug, Clone, Copy)]
struct Element {
    content: (usize, usize),
    escaped: bool,
}

/// Why the pass, or one value, failed.
#[derive(Debug, Clone)]
enum Fail {
    /// Not JSON.
    Syntax(String),
    /// JSON, but no attribute value.
    Line(String),
    /// An attribute value with an invalid number.
    Bad(String),
}

type Pass<T> = Result<T, Box<Fail>>;

fn syntax<T>(what: impl Into<String>) -> Pass<T> {
    Err(Box::new(Fail::Syntax(what.into())))
}

fn line<T>(what: impl Into<String>) -> Pass<T> {
    Err(Box::new(Fail::Line(what.into())))
}

struct Text {
    decoded_len: usize,
    escaped: bool,
}

struct Value {
    ty: AttrType,
    payload: (usize, usize),
    size: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SetKind {
    Strings,
    Numbers,
    Binaries,
}

pub(super) struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    run: usize,
    depth: u32,
    encoding: ControlChars,
    buffers: &'a mut Buffers,
    errors: Vec<Fail>,
    flags: ItemFlags,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8], encoding: ControlChars, buffers: &'a mut Buffers) -> Self {
        buffers.out.clear();
        buffers.out.reserve(text.len() + 64);
        buffers.entries.clear();
        buffers.elements.clear();
        Self { text, pos: 0, run: 0, depth: 0, encoding, buffers, errors: Vec::new(), flags: ItemFlags::default() }
    }

    /// Parses the text of one item. The output holds its canonical form, the entries its attributes.
    pub(super) fn item(mut self) -> Result<ItemFlags, ItemError> {
        self.check_utf8()?;
        // As deep as it will lie in its line.
        self.depth = 1;
        self.drop_blanks();
        self.item_object().and_then(|()| self.end_of_text()).map_err(|e| to_item_error(*e))?;
        self.verdict()
    }

    /// Parses one data line.
    pub(super) fn data_line(mut self) -> Result<ItemFlags, ItemError> {
        self.check_utf8()?;
        self.line_object().map_err(|e| to_item_error(*e))?;
        self.verdict()
    }

    fn check_utf8(&self) -> Result<(), ItemError> {
        match std::str::from_utf8(self.text) {
            Ok(_) => Ok(()),
            Err(e) => Err(ItemError::Malformed(format!("invalid UTF-8 at byte {}", e.valid_up_to()))),
        }
    }

    fn line_object(&mut self) -> Pass<()> {
        self.drop_blanks();
        if self.peek() != b'{' {
            return if self.pos == self.text.len() {
                syntax("the line is blank")
            } else {
                self.skip_value()?;
                self.end_of_text()?;
                line("the line is not an object")
            };
        }
        self.enter()?;
        self.pos += 1;
        self.drop_blanks();
        let (mut items, mut members) = (0u32, 0u32);
        if self.peek() == b'}' {
            self.pos += 1;
        } else {
            loop {
                members += 1;
                if self.member_name()? == b"Item" {
                    items += 1;
                    if items == 1 {
                        self.run = self.pos;
                        self.item_object()?;
                        self.run = self.pos;
                    } else {
                        self.skip_value()?;
                    }
                } else {
                    self.skip_value()?;
                }
                self.drop_blanks();
                if !self.another(b'}')? {
                    break;
                }
                self.drop_blanks();
            }
        }
        self.end_of_text()?;
        if items != 1 {
            return line("the line is not an object with one Item member");
        }
        self.flags.extra_line_member = members > 1;
        Ok(())
    }

    /// A member's name and colon where nothing goes to the output.
    fn member_name(&mut self) -> Pass<Vec<u8>> {
        let start = self.buffers.out.len();
        self.run = self.pos;
        if self.peek() != b'"' {
            return self.unexpected("a member name");
        }
        self.string()?;
        self.flush();
        let name = self.buffers.out[start + 1..self.buffers.out.len() - 1].to_vec();
        self.buffers.out.truncate(start);
        self.drop_blanks();
        self.expect(b':')?;
        self.drop_blanks();
        Ok(name)
    }

    /// The item: an object of attributes, at `pos`, ending with everything in the output.
    fn item_object(&mut self) -> Pass<()> {
        if self.peek() != b'{' {
            self.skip_value()?;
            self.errors.push(Fail::Line("Item is not an object".to_owned()));
            self.run = self.pos;
            return Ok(());
        }
        let size = self.members(1)?;
        self.flush();
        self.flags.size_bytes = size;
        Ok(())
    }

    fn verdict(self) -> Result<ItemFlags, ItemError> {
        if self.errors.is_empty() {
            return Ok(self.flags);
        }
        let entries = &self.buffers.entries;
        let mut surviving: Vec<usize> = entries.iter().filter_map(|e| e.error).collect();
        if entries.is_empty() {
            surviving.push(0);
        }
        surviving.sort_unstable();
        let fails = || surviving.iter().map(|&i| &self.errors[i]);
        match fails().find(|f| !matches!(f, Fail::Bad(_))).or_else(|| fails().next()) {
            Some(fail) => Err(to_item_error(fail.clone())),
            None => Ok(self.flags),
        }
    }

    // ---- the text

    fn peek(&self) -> u8 {
        // No valid token begins with U+0000.
        self.text.get(self.pos).copied().unwrap_or(0)
    }

    fn unexpected<T>(&self, wanted: &str) -> Pass<T> {
        match self.text.get(self.pos) {
            Some(&b) => syntax(format!("byte {}: expected {wanted}, found {:?}", self.pos, char::from(b))),
            None => syntax(format!("the text ends where {wanted} should be")),
        }
    }

    fn expect(&mut self, token: u8) -> Pass<()> {
        if self.peek() == token {
            self.pos += 1;
            Ok(())
        } else {
            self.unexpected(&format!("{:?}", char::from(token)))
        }
    }

    /// After a member: true past a comma, false past the closing token.
    fn another(&mut self, close: u8) -> Pass<bool> {
        let b = self.peek();
        if b == b',' || b == close {
            self.pos += 1;
            Ok(b == b',')
        } else {
            self.unexpected(&format!("',' or {:?}", char::from(close)))
        }
    }

    fn enter(&mut self) -> Pass<()> {
        self.depth += 1;
        if self.depth > MAX_JSON_DEPTH {
            return syntax(format!("nested deeper than {MAX_JSON_DEPTH} levels"));
        }
        Ok(())
    }

    /// Position in the output of what comes next.
    fn here(&self) -> usize {
        self.buffers.out.len() + (self.pos - self.run)
    }

    fn flush(&mut self) {
        self.buffers.out.extend_from_slice(&self.text[self.run..self.pos]);
        self.run = self.pos;
    }

    /// Leaves blanks out of the output.
    #[inline]
    fn blanks(&mut self) {
        if self.peek() <= b' ' {
            self.skip_blanks();
        }
    }

    fn skip_blanks(&mut self) {
        let start = self.pos;
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
        if self.pos > start {
            self.buffers.out.extend_from_slice(&self.text[self.run..start]);
            self.run = self.pos;
        }
    }

    /// Blanks where no run is pending.
    fn drop_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.pos += 1;
        }
        self.run = self.pos;
    }

    fn end_of_text(&mut self) -> Pass<()> {
        self.drop_blanks();
        if self.pos == self.text.len() { Ok(()) } else { self.unexpected("the end of the text") }
    }

    /// Bytes of the output from `from` to `to`, which lie wholly before or wholly in the pending run.
    fn output(&self, from: usize, to: usize) -> &[u8] {
        match from.checked_sub(self.buffers.out.len()) {
            Some(ahead) => &self.text[self.run + ahead..self.run + ahead + (to - from)],
            None => &self.buffers.out[from..to],
        }
    }

    // ---- strings

    /// A string at `pos`, known to begin with a quote.
    #[inline]
    fn string(&mut self) -> Pass<Text> {
        let start = self.pos + 1;
        let at = find_special(self.text, start);
        if self.text.get(at) == Some(&b'"') {
            self.pos = at + 1;
            return Ok(Text { decoded_len: at - start, escaped: false });
        }
        self.string_with_escapes(start, at)
    }

    fn string_with_escapes(&mut self, start: usize, first: usize) -> Pass<Text> {
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

    fn note_control(&mut self, c: char) {
        self.flags.has_nul |= c == '\0';
        self.flags.has_u0001 |= c == '\u{1}';
    }

    /// The escape at `pos`, which is left behind it.
    fn escape(&mut self) -> Pass<char> {
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

    fn unicode_escape(&mut self) -> Pass<char> {
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
    fn unescape_control(&mut self, c: char) -> char {
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

    // ---- objects of attributes

    /// The members of an item or map, at its `{`. Returns the summed size of the members.
    fn members(&mut self, level: u32) -> Pass<u64> {
        self.enter()?;
        self.pos += 1;
        let base = self.buffers.entries.len();
        let start = self.here();
        let mut sorted = true;
        self.blanks();
        if self.peek() == b'}' {
            self.pos += 1;
            self.depth -= 1;
            return Ok(0);
        }
        let mut size = 0;
        loop {
            let entry = self.member(level)?;
            if let Some(last) = self.buffers.entries[base..].last() {
                sorted = sorted && self.compare_names(last, &entry) == Ordering::Less;
            }
            sorted &= entry.error.is_none();
            size += entry.size;
            self.buffers.entries.push(entry);
            self.blanks();
            if !self.another(b'}')? {
                break;
            }
            self.blanks();
        }
        self.depth -= 1;
        if !sorted {
            size = self.sort_members(base, start);
        }
        if level > 1 {
            if !self.errors.is_empty() {
                self.raise_nested(base)?;
            }
            size += (self.buffers.entries.len() - base) as u64;
            self.buffers.entries.truncate(base);
        }
        Ok(size)
    }

    /// One member: name, colon, value. An error of the value is kept in the entry.
    fn member(&mut self, level: u32) -> Pass<Entry> {
        if self.peek() != b'"' {
            return self.unexpected("an attribute name");
        }
        let name_start = self.here() + 1;
        let name = self.string()?;
        let name_span = (name_start, self.here() - 1);
        let prefix = order_prefix(self.output(name_span.0, name_span.1), name.escaped);
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        let mut entry = Entry {
            name: name_span,
            name_escaped: name.escaped,
            prefix,
            ty: AttrType::Null,
            payload: (0, 0),
            end: 0,
            size: name.decoded_len as u64,
            error: None,
        };
        let above = (self.buffers.entries.len(), self.buffers.elements.len());
        match self.value(level) {
            Ok(value) => {
                entry.ty = value.ty;
                entry.payload = value.payload;
                entry.size += value.size;
            }
            Err(fail) => {
                let fail = match *fail {
                    Fail::Syntax(_) => return Err(fail),
                    Fail::Line(what) => Fail::Line(self.in_attribute(name_span, &what)),
                    Fail::Bad(what) => Fail::Bad(self.in_attribute(name_span, &what)),
                };
                self.buffers.entries.truncate(above.0);
                self.buffers.elements.truncate(above.1);
                entry.error = Some(self.errors.len());
                self.errors.push(fail);
            }
        }
        entry.end = self.here();
        Ok(entry)
    }

    fn in_attribute(&self, name: (usize, usize), what: &str) -> String {
        let name = String::from_utf8_lossy(self.output(name.0, name.1));
        let short: String = name.chars().take(80).collect();
        format!("attribute \"{short}\": {what}")
    }

    /// The first error among the members of a map, which then is the map's.
    fn raise_nested(&mut self, base: usize) -> Pass<()> {
        let first = self.buffers.entries[base..].iter().filter_map(|e| e.error).min();
        match first {
            Some(index) => Err(Box::new(self.errors[index].clone())),
            None => Ok(()),
        }
    }

    #[inline]
    fn compare_names(&self, a: &Entry, b: &Entry) -> Ordering {
        match a.prefix.cmp(&b.prefix) {
            Ordering::Equal => self.compare_whole_names(a, b),
            decided => decided,
        }
    }

    fn compare_whole_names(&self, a: &Entry, b: &Entry) -> Ordering {
        compare_contents(
            self.output(a.name.0, a.name.1),
            self.output(b.name.0, b.name.1),
            a.name_escaped || b.name_escaped,
        )
    }

    /// Puts the members from `base` in order, the last of each name kept. Returns their summed size.
    fn sort_members(&mut self, base: usize, start: usize) -> u64 {
        self.flush();
        let mut order = std::mem::take(&mut self.buffers.order);
        order.clear();
        order.extend(base..self.buffers.entries.len());
        let entries = &self.buffers.entries;
        order.sort_unstable_by(|&a, &b| self.compare_names(&entries[a], &entries[b]).then(a.cmp(&b)));
        let before = order.len();
        // Of equal names the last stays.
        let mut kept = 0;
        for i in 0..before {
            let superseded =
                order.get(i + 1).is_some_and(|&next| self.compare_names(&entries[order[i]], &entries[next]).is_eq());
            if !superseded {
                order[kept] = order[i];
                kept += 1;
            }
        }
        order.truncate(kept);
        self.flags.duplicate_name |= kept < before;
        let Buffers { out, entries, scratch, .. } = &mut *self.buffers;
        scratch.clear();
        let mut size = 0;
        let first_new = entries.len();
        for &index in &order {
            let mut entry = entries[index];
            if !scratch.is_empty() {
                scratch.push(b',');
            }
            let (from, to) = (entry.name.0 - 1, start + scratch.len());
            scratch.extend_from_slice(&out[from..entry.end]);
            let moved = |at: usize| at.wrapping_sub(from).wrapping_add(to);
            entry.name = (moved(entry.name.0), moved(entry.name.1));
            entry.payload = (moved(entry.payload.0), moved(entry.payload.1));
            entry.end = moved(entry.end);
            size += entry.size;
            entries.push(entry);
        }
        entries.drain(base..first_new);
        out.truncate(start);
        out.extend_from_slice(scratch);
        out.push(b'}');
        self.buffers.order = order;
        size
    }

    // ---- values

    /// An attribute value at `pos`. After an error that is none of JSON, `pos` is behind the value.
    fn value(&mut self, level: u32) -> Pass<Value> {
        let (start, depth) = (self.pos, self.depth);
        match self.typed_value(level) {
            Ok(value) => Ok(value),
            Err(fail) if matches!(*fail, Fail::Syntax(_)) => Err(fail),
            Err(fail) => {
                if self.run < start {
                    self.pos = start;
                    self.flush();
                }
                self.pos = start;
                self.depth = depth;
                let members = self.skip_value()?;
                self.run = self.pos;
                if members == Some(1) {
                    Err(fail)
                } else {
                    line("an attribute value must have exactly one type member")
                }
            }
        }
    }

    fn typed_value(&mut self, level: u32) -> Pass<Value> {
        if self.peek() != b'{' {
            return line("an attribute value must be an object");
        }
        self.enter()?;
        self.pos += 1;
        self.blanks();
        self.flags.depth = self.flags.depth.max(level);
        let ty = self.type_tag()?;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        let from = self.here();
        let size = self.payload(ty, level)?;
        let payload = (from, self.here());
        self.blanks();
        if self.peek() == b',' {
            return line("an attribute value must have exactly one type member");
        }
        self.expect(b'}')?;
        self.depth -= 1;
        Ok(Value { ty, payload, size })
    }

    fn type_tag(&mut self) -> Pass<AttrType> {
        let rest = &self.text[self.pos..];
        let (ty, len) = match rest {
            [b'"', b'S', b'"', ..] => (AttrType::S, 3),
            [b'"', b'N', b'"', ..] => (AttrType::N, 3),
            [b'"', b'B', b'"', ..] => (AttrType::B, 3),
            [b'"', b'M', b'"', ..] => (AttrType::M, 3),
            [b'"', b'L', b'"', ..] => (AttrType::L, 3),
            [b'"', b'S', b'S', b'"', ..] => (AttrType::Ss, 4),
            [b'"', b'N', b'S', b'"', ..] => (AttrType::Ns, 4),
            [b'"', b'B', b'S', b'"', ..] => (AttrType::Bs, 4),
            [b'"', b'B', b'O', b'O', b'L', b'"', ..] => (AttrType::Bool, 6),
            [b'"', b'N', b'U', b'L', b'L', b'"', ..] => (AttrType::Null, 6),
            [b'"', ..] => return self.escaped_type_tag(),
            [b'}', ..] => return line("an attribute value must have exactly one type member"),
            _ => return self.unexpected("a type"),
        };
        self.pos += len;
        Ok(ty)
    }

    /// A tag that is not written plainly: unknown, or spelled with escapes.
    fn escaped_type_tag(&mut self) -> Pass<AttrType> {
        let from = self.here();
        self.string()?;
        let (from, to) = (from + 1, self.here() - 1);
        let tag = self.output(from, to);
        match AttrType::from_tag(tag) {
            Some(ty) => Ok(ty),
            None => line(format!("unknown attribute type {:?}", String::from_utf8_lossy(&tag[..tag.len().min(20)]))),
        }
    }

    fn payload(&mut self, ty: AttrType, level: u32) -> Pass<u64> {
        match ty {
            AttrType::S => {
                if self.peek() != b'"' {
                    return line("S is not a string");
                }
                Ok(self.string()?.decoded_len as u64)
            }
            AttrType::N => {
                if self.peek() != b'"' {
                    return line("N is not a string");
                }
                self.number().map(|(_, size)| size)
            }
            AttrType::B => {
                if self.peek() != b'"' {
                    return line("B is not a string");
                }
                self.binary()
            }
            AttrType::Bool => self
                .literal(b"true")
                .or_else(|| self.literal(b"false"))
                .map_or_else(|| line("BOOL is not a boolean"), |()| Ok(1)),
            AttrType::Null => self.literal(b"true").map_or_else(|| line("NULL is not true"), |()| Ok(1)),
            AttrType::Ss => self.set(SetKind::Strings),
            AttrType::Ns => self.set(SetKind::Numbers),
            AttrType::Bs => self.set(SetKind::Binaries),
            AttrType::L => self.list(level),
            AttrType::M => {
                if self.peek() != b'{' {
                    return line("M is not an object");
                }
                Ok(3 + self.members(level + 1)?)
            }
        }
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.pos..].starts_with(word).then(|| self.pos += word.len())
    }

    /// A number at its quote. Returns the length of its normalized text and its size.
    fn number(&mut self) -> Pass<(usize, u64)> {
        let start = self.pos + 1;
        if let Some((len, size)) = number::plain_prefix(&self.text[start..])
            && self.text.get(start + len) == Some(&b'"')
        {
            self.pos = start + len + 1;
            return Ok((len, size));
        }
        // The long way: the string goes to the output and is replaced there.
        self.flush();
        let from = self.buffers.out.len() + 1;
        self.string()?;
        self.flush();
        let to = self.buffers.out.len() - 1;
        match number::Decimal::parse(&self.buffers.out[from..to]) {
            Ok(decimal) => {
                self.buffers.out.truncate(from);
                decimal.write_normalized(&mut self.buffers.out);
                let size = number::size_bytes(&self.buffers.out[from..]);
                let len = self.buffers.out.len() - from;
                self.buffers.out.push(b'"');
                Ok((len, size))
            }
            Err(e) => Err(Box::new(Fail::Bad(e.to_string()))),
        }
    }

    /// A binary at its quote. Returns its decoded length.
    fn binary(&mut self) -> Pass<u64> {
        let from = self.here() + 1;
        self.string()?;
        let to = self.here() - 1;
        match base64_decoded_len(self.output(from, to)) {
            Some(len) => Ok(len as u64),
            None => line("not base64 with canonical padding"),
        }
    }

    fn list(&mut self, level: u32) -> Pass<u64> {
        if self.peek() != b'[' {
            return line("L is not an array");
        }
        self.enter()?;
        self.pos += 1;
        self.blanks();
        let mut size = 3;
        if self.peek() == b']' {
            self.pos += 1;
        } else {
            loop {
                size += self.value(level + 1)?.size + 1;
                self.blanks();
                if !self.another(b']')? {
                    break;
                }
                self.blanks();
            }
        }
        self.depth -= 1;
        Ok(size)
    }

    fn set(&mut self, kind: SetKind) -> Pass<u64> {
        if self.peek() != b'[' {
            return line("a set is not an array");
        }
        self.enter()?;
        self.pos += 1;
        let start = self.here();
        let base = self.buffers.elements.len();
        let (mut sorted, mut size, mut bad) = (true, 0, None);
        loop {
            self.blanks();
            if self.peek() != b'"' {
                return line("a set must be a non-empty array of strings");
            }
            let from = self.here() + 1;
            let mut escaped = false;
            let counted = match kind {
                SetKind::Strings => self.string().map(|t| {
                    escaped = t.escaped;
                    t.decoded_len as u64
                }),
                SetKind::Numbers => self.number().map(|(_, size)| size),
                SetKind::Binaries => self.binary(),
            };
            match counted {
                Ok(counted) => size += counted,
                // A member that is no string comes before an invalid number.
                Err(fail) if matches!(*fail, Fail::Bad(_)) => bad = bad.or(Some(fail)),
                Err(fail) => return Err(fail),
            }
            let element = Element { content: (from, self.here() - 1), escaped };
            if let Some(last) = self.buffers.elements[base..].last() {
                sorted = sorted && self.compare_elements(kind, last, &element) == Ordering::Less;
            }
            self.buffers.elements.push(element);
            self.blanks();
            if !self.another(b']')? {
                break;
            }
        }
        self.depth -= 1;
        if let Some(bad) = bad {
            return Err(bad);
        }
        if !sorted {
            self.sort_set(kind, base, start)?;
        }
        self.buffers.elements.truncate(base);
        Ok(size)
    }

    fn compare_elements(&self, kind: SetKind, a: &Element, b: &Element) -> Ordering {
        let (left, right) = (self.output(a.content.0, a.content.1), self.output(b.content.0, b.content.1));
        match kind {
            SetKind::Binaries => compare_base64(left, right),
            _ => compare_contents(left, right, a.escaped || b.escaped),
        }
    }

    fn sort_set(&mut self, kind: SetKind, base: usize, start: usize) -> Pass<()> {
        self.flush();
        let mut elements = std::mem::take(&mut self.buffers.elements);
        elements[base..].sort_unstable_by(|a, b| self.compare_elements(kind, a, b));
        let duplicate = elements[base..].windows(2).any(|w| self.compare_elements(kind, &w[0], &w[1]).is_eq());
        if !duplicate {
            let Buffers { out, scratch, .. } = &mut *self.buffers;
            scratch.clear();
            for element in &elements[base..] {
                if !scratch.is_empty() {
                    scratch.push(b',');
                }
                scratch.extend_from_slice(&out[element.content.0 - 1..=element.content.1]);
            }
            out.truncate(start);
            out.extend_from_slice(scratch);
            out.push(b']');
        }
        self.buffers.elements = elements;
        if duplicate { line("a set has duplicates") } else { Ok(()) }
    }

    // ---- JSON that is looked at for its form only

    /// Skips any JSON value; of an object it tells the number of members. Nothing of it is kept.
    fn skip_value(&mut self) -> Pass<Option<u32>> {
        match self.peek() {
            b'"' => self.skip_string().map(|()| None),
            b'{' => {
                self.enter()?;
                self.pos += 1;
                let members = self.skip_members(b'}', true)?;
                self.depth -= 1;
                Ok(Some(members))
            }
            b'[' => {
                self.enter()?;
                self.pos += 1;
                self.skip_members(b']', false)?;
                self.depth -= 1;
                Ok(None)
            }
            b't' if self.literal(b"true").is_some() => Ok(None),
            b'f' if self.literal(b"false").is_some() => Ok(None),
            b'n' if self.literal(b"null").is_some() => Ok(None),
            b'-' | b'0'..=b'9' => self.skip_number().map(|()| None),
            _ => self.unexpected("a value"),
        }
    }

    fn skip_members(&mut self, close: u8, named: bool) -> Pass<u32> {
        self.drop_blanks();
        if self.peek() == close {
            self.pos += 1;
            return Ok(0);
        }
        let mut members = 0;
        loop {
            members += 1;
            if named {
                if self.peek() != b'"' {
                    return self.unexpected("a member name");
                }
                self.skip_string()?;
                self.drop_blanks();
                self.expect(b':')?;
                self.drop_blanks();
            }
            self.skip_value()?;
            self.drop_blanks();
            if !self.another(close)? {
                return Ok(members);
            }
            self.drop_blanks();
        }
    }

    fn skip_string(&mut self) -> Pass<()> {
        let (kept, flags) = (self.buffers.out.len(), self.flags);
        self.run = self.pos;
        let done = self.string();
        self.run = self.pos;
        self.buffers.out.truncate(kept);
        self.flags = flags;
        done.map(|_| ())
    }

    fn skip_number(&mut self) -> Pass<()> {
        let digits = |parser: &mut Self| {
            let start = parser.pos;
            while parser.peek().is_ascii_digit() {
                parser.pos += 1;
            }
            parser.pos > start
        };
        if self.peek() == b'-' {
            self.pos += 1;
        }
        let leading_zero = self.peek() == b'0';
        let start = self.pos;
        let mut good = digits(self) && !(leading_zero && self.pos - start > 1);
        if self.peek() == b'.' {
            self.pos += 1;
            good &= digits(self);
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            good &= digits(self);
        }
        if good { Ok(()) } else { syntax(format!("byte {start}: malformed number")) }
    }
}

fn to_item_error(fail: Fail) -> ItemError {
    match fail {
        Fail::Syntax(what) | Fail::Line(what) => ItemError::Malformed(what),
        Fail::Bad(what) => ItemError::Invalid(what),
    }
}
