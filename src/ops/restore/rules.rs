//! What a target cannot hold: from the definition alone, and item by item.
//!
//! Source: backup operations, section 10. Empty keys and keys over the limits are refused by the verification itself,
//! for every target.

use std::sync::Arc;

use crate::archive::verify::ItemCheck;
use crate::backend::loader::TargetRules;
use crate::domain::finding::{Category, Finding};
use crate::domain::item::{AttrType, Item};
use crate::domain::key::KeySpec;
use crate::domain::table::{KeyElement, KeyType, ScalarType, SourceTable};

/// Numbers of at most this many digits are all there are.
const MAX_DIGITS: u32 = 38;

/// What the target cannot hold of a definition.
#[must_use]
pub fn check_definition(rules: &TargetRules, table: &SourceTable) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut refuse = |message: String| {
        found.push(Finding::new(Category::TargetCannotRepresent, "source_table", message));
    };
    let count = |kind: KeyType| table.key_schema.iter().filter(|element| element.key_type == kind).count();
    if count(KeyType::Hash) > 1 || count(KeyType::Range) > 1 {
        refuse(format!(
            "table {:?} has a key of several HASH or RANGE attributes, which no target takes",
            table.table_name
        ));
    }
    if !rules.vector_indexes {
        for index in table.vector_indexes.iter().flatten() {
            refuse(format!("vector index {:?} cannot be built by this deployment", index.index_name));
        }
    }
    if !rules.nul_allowed
        && let Some(name) = names(table).find(|name| name.contains('\0'))
    {
        refuse(format!("the name {name:?} holds U+0000, which this deployment cannot store"));
    }
    found
}

/// Names in a definition.
fn names(table: &SourceTable) -> impl Iterator<Item = &str> {
    let global = table.global_secondary_indexes.iter().flatten().map(|index| index.index_name.as_str());
    let local = table.local_secondary_indexes.iter().flatten().map(|index| index.index_name.as_str());
    let attributes = table.attribute_definitions.iter().map(|d| d.attribute_name.as_str());
    attributes.chain(global).chain(local)
}

/// The check of every item, or none where the target holds everything there is.
#[must_use]
pub fn item_check(rules: &TargetRules, table: &SourceTable) -> Option<ItemCheck> {
    let sort_numbers = if rules.sort_number_digits < MAX_DIGITS { sort_numbers(table) } else { Vec::new() };
    if rules.nul_allowed && sort_numbers.is_empty() {
        return None;
    }
    let (nul_allowed, digits) = (rules.nul_allowed, rules.sort_number_digits);
    Some(Arc::new(move |item: &Item<'_>, key: &KeySpec| {
        if !nul_allowed && item.flags().has_nul {
            return Err(format!(
                "item {} has a string or name with U+0000, which this deployment cannot store",
                shown_key(item, key)
            ));
        }
        for name in &sort_numbers {
            let Some(value) = item.attr(name).filter(|value| value.ty == AttrType::N) else { continue };
            let found = significant_digits(value.json);
            if found > digits {
                return Err(format!(
                    "item {} has {found} significant digits in sort key {name:?}, this deployment keeps {digits}",
                    shown_key(item, key)
                ));
            }
        }
        Ok(())
    }))
}

/// The key of an item as people read it: `pk "a", sk "1"`.
fn shown_key(item: &Item<'_>, key: &KeySpec) -> String {
    let value = |name: &str| item.attr(name).map(|v| String::from_utf8_lossy(v.json).into_owned()).unwrap_or_default();
    let parts =
        key.hash.iter().chain(&key.range).map(|attribute| format!("{} {}", attribute.name, value(&attribute.name)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Attributes of type N that sort the table or one of its indexes.
fn sort_numbers(table: &SourceTable) -> Vec<String> {
    let global = table.global_secondary_indexes.iter().flatten().map(|index| &index.key_schema);
    let local = table.local_secondary_indexes.iter().flatten().map(|index| &index.key_schema);
    let schemas = std::iter::once(&table.key_schema).chain(global).chain(local);
    let is_number = |element: &KeyElement| {
        table
            .attribute_definitions
            .iter()
            .any(|d| d.attribute_name == element.attribute_name && d.attribute_type == ScalarType::N)
    };
    let mut names: Vec<String> = schemas
        .flatten()
        .filter(|element| element.key_type == KeyType::Range && is_number(element))
        .map(|element| element.attribute_name.clone())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Significant digits of a normalized number in quotes.
fn significant_digits(json: &[u8]) -> u32 {
    let digits: Vec<u8> = json.iter().copied().filter(u8::is_ascii_digit).collect();
    let leading = digits.iter().take_while(|d| **d == b'0').count();
    let trailing = digits.iter().rev().take_while(|d| **d == b'0').count();
    u32::try_from(digits.len().saturating_sub(leading + trailing)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_after_normalization() {
        for (text, digits) in [("\"0\"", 0), ("\"1200\"", 2), ("\"-0.0012\"", 2), ("\"10.5\"", 3), ("\"1.0001\"", 5)] {
            assert_eq!(significant_digits(text.as_bytes()), digits, "{text}");
        }
    }
}
