//! Gathers findings, bounded: of each kind so many are shown and the rest is counted.

use std::collections::BTreeMap;

use crate::domain::finding::{Category, Finding};

/// Most findings of one category that one data file contributes.
pub(super) const PER_FILE: usize = 8;

/// Most findings of one category in a report.
const PER_REPORT: usize = 100;

/// Findings by category, each with the order in which it is shown.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kinds: BTreeMap<Category, Kind>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Kind {
    /// Sorted by order.
    shown: Vec<((u64, u64), Finding)>,
    omitted: u64,
}

impl Findings {
    /// Of a whole report.
    pub(super) fn of_report() -> Self {
        Self { kinds: BTreeMap::new(), limit: PER_REPORT }
    }

    /// Of one data file.
    pub(super) fn of_file() -> Self {
        Self { kinds: BTreeMap::new(), limit: PER_FILE }
    }

    /// Adds one. `order` says where it stands among those of its kind: file, then line.
    pub(super) fn add(&mut self, order: (u64, u64), finding: Finding) {
        let limit = self.limit;
        let kind = self.kinds.entry(finding.category).or_default();
        let at = kind.shown.partition_point(|(o, _)| *o <= order);
        kind.shown.insert(at, (order, finding));
        if kind.shown.len() > limit {
            kind.shown.pop();
            kind.omitted += 1;
        }
    }

    /// Counts findings that were not kept.
    pub(super) fn omit(&mut self, category: Category, count: u64) {
        self.kinds.entry(category).or_default().omitted += count;
    }

    /// Whether one more of this kind would only be counted, so that its text need not be made.
    pub(super) fn is_full(&self, category: Category) -> bool {
        self.kinds.get(&category).is_some_and(|kind| kind.shown.len() >= self.limit)
    }

    /// Whether something of this kind was found.
    pub(super) fn has(&self, category: Category) -> bool {
        self.kinds.contains_key(&category)
    }

    /// Adds those of another.
    pub(super) fn merge(&mut self, other: Self) {
        for (category, kind) in other.kinds {
            for (order, finding) in kind.shown {
                self.add(order, finding);
            }
            if kind.omitted > 0 {
                self.omit(category, kind.omitted);
            }
        }
    }

    /// All, errors first and in the order of the checks; what was left out is said.
    pub(super) fn into_list(self) -> Vec<Finding> {
        let mut list = Vec::new();
        for (category, kind) in self.kinds {
            list.extend(kind.shown.into_iter().map(|(_, finding)| finding));
            if kind.omitted > 0 {
                let message = format!("{} more of this kind are not shown", kind.omitted);
                list.push(Finding::new(category, "", message));
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_ordered_bounded_and_counted() {
        let mut all = Findings::of_report();
        for file in (0..3u64).rev() {
            let mut one = Findings::of_file();
            for line in 0..20 {
                one.add((file, line), Finding::new(Category::LineMalformed, format!("{file}:{line}"), ""));
            }
            one.add((file, 0), Finding::new(Category::ItemDeep, format!("{file}"), ""));
            one.add((file, 0), Finding::new(Category::MissingDataFile, format!("{file}"), ""));
            assert!(one.is_full(Category::LineMalformed));
            all.merge(one);
        }
        let list = all.into_list();
        assert_eq!(list[0].object, "0");
        assert_eq!(list[3].object, "0:0");
        assert_eq!(list[3 + 8].object, "1:0");
        assert_eq!(list[3 + 24].message, "36 more of this kind are not shown");
        assert_eq!(list.last().map(|f| f.category), Some(Category::ItemDeep));
    }
}
