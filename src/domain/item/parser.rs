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

mod members;
mod sets;
mod skip;
mod strings;
mod values;

use super::{AttrType, ControlChars, ItemError, ItemFlags};

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
}

fn to_item_error(fail: Fail) -> ItemError {
    match fail {
        Fail::Syntax(what) | Fail::Line(what) => ItemError::Malformed(what),
        Fail::Bad(what) => ItemError::Invalid(what),
    }
}
