//! Attribute values: one type member each, its payload in canonical form.

use super::sets::SetKind;
use super::{Fail, Parser, Pass, Value, line};
use crate::domain::item::AttrType;
use crate::domain::item::scan::base64_decoded_len;
use crate::domain::number;

impl Parser<'_> {
    /// An attribute value at `pos`. After an error that is none of JSON, `pos` is behind the value.
    pub(super) fn value(&mut self, level: u32) -> Pass<Value> {
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

    pub(super) fn typed_value(&mut self, level: u32) -> Pass<Value> {
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

    pub(super) fn type_tag(&mut self) -> Pass<AttrType> {
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
    pub(super) fn escaped_type_tag(&mut self) -> Pass<AttrType> {
        let from = self.here();
        self.string()?;
        let (from, to) = (from + 1, self.here() - 1);
        let tag = self.output(from, to);
        match AttrType::from_tag(tag) {
            Some(ty) => Ok(ty),
            None => line(format!("unknown attribute type {:?}", String::from_utf8_lossy(&tag[..tag.len().min(20)]))),
        }
    }

    pub(super) fn payload(&mut self, ty: AttrType, level: u32) -> Pass<u64> {
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

    pub(super) fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.text[self.pos..].starts_with(word).then(|| self.pos += word.len())
    }

    /// A number at its quote. Returns the length of its normalized text and its size.
    pub(super) fn number(&mut self) -> Pass<(usize, u64)> {
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
    pub(super) fn binary(&mut self) -> Pass<u64> {
        let from = self.here() + 1;
        self.string()?;
        let to = self.here() - 1;
        match base64_decoded_len(self.output(from, to)) {
            Some(len) => Ok(len as u64),
            None => line("not base64 with canonical padding"),
        }
    }

    pub(super) fn list(&mut self, level: u32) -> Pass<u64> {
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
}
