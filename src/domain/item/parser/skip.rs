//! JSON that is looked at for its form only: values that are no attribute values, members beside the item.

use super::{Parser, Pass, syntax};

impl Parser<'_> {
    /// Skips any JSON value; of an object it tells the number of members. Nothing of it is kept.
    pub(super) fn skip_value(&mut self) -> Pass<Option<u32>> {
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

    pub(super) fn skip_members(&mut self, close: u8, named: bool) -> Pass<u32> {
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

    pub(super) fn skip_string(&mut self) -> Pass<()> {
        let (kept, flags) = (self.buffers.out.len(), self.flags);
        self.run = self.pos;
        let done = self.string();
        self.run = self.pos;
        self.buffers.out.truncate(kept);
        self.flags = flags;
        done.map(|_| ())
    }

    pub(super) fn skip_number(&mut self) -> Pass<()> {
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
