//! Sets: sorted, without repeats, never empty.

use std::cmp::Ordering;

use super::{Buffers, Element, Fail, Parser, Pass, line};
use crate::domain::item::scan::{compare_base64, compare_contents};

/// What a set holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SetKind {
    Strings,
    Numbers,
    Binaries,
}

impl Parser<'_> {
    pub(super) fn set(&mut self, kind: SetKind) -> Pass<u64> {
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

    pub(super) fn compare_elements(&self, kind: SetKind, a: &Element, b: &Element) -> Ordering {
        let (left, right) = (self.output(a.content.0, a.content.1), self.output(b.content.0, b.content.1));
        match kind {
            SetKind::Binaries => compare_base64(left, right),
            _ => compare_contents(left, right, a.escaped || b.escaped),
        }
    }

    pub(super) fn sort_set(&mut self, kind: SetKind, base: usize, start: usize) -> Pass<()> {
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
}
