//! Members of items and maps: kept where they stand while they come in order, put in order otherwise.

use std::cmp::Ordering;

use super::{Buffers, Entry, Fail, Parser, Pass};
use crate::domain::item::AttrType;
use crate::domain::item::scan::{compare_contents, order_prefix};

impl Parser<'_> {
    /// The members of an item or map, at its `{`. Returns the summed size of the members.
    pub(super) fn members(&mut self, level: u32) -> Pass<u64> {
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
    pub(super) fn member(&mut self, level: u32) -> Pass<Entry> {
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

    pub(super) fn in_attribute(&self, name: (usize, usize), what: &str) -> String {
        let name = String::from_utf8_lossy(self.output(name.0, name.1));
        let short: String = name.chars().take(80).collect();
        format!("attribute \"{short}\": {what}")
    }

    /// The first error among the members of a map, which then is the map's.
    pub(super) fn raise_nested(&mut self, base: usize) -> Pass<()> {
        let first = self.buffers.entries[base..].iter().filter_map(|e| e.error).min();
        match first {
            Some(index) => Err(Box::new(self.errors[index].clone())),
            None => Ok(()),
        }
    }

    #[inline]
    pub(super) fn compare_names(&self, a: &Entry, b: &Entry) -> Ordering {
        match a.prefix.cmp(&b.prefix) {
            Ordering::Equal => self.compare_whole_names(a, b),
            decided => decided,
        }
    }

    pub(super) fn compare_whole_names(&self, a: &Entry, b: &Entry) -> Ordering {
        compare_contents(
            self.output(a.name.0, a.name.1),
            self.output(b.name.0, b.name.1),
            a.name_escaped || b.name_escaped,
        )
    }

    /// Puts the members from `base` in order, the last of each name kept. Returns their summed size.
    pub(super) fn sort_members(&mut self, base: usize, start: usize) -> u64 {
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
}
