//! Keys: which attributes make a key, and the key text and sort values that backends store.
//!
//! Source: PostgreSQL data layout, section 3; backup format, section 7.

use std::borrow::Cow;

use super::item::{AttrValue, ControlChars, Item, encode_text};
use super::table::{AttributeDefinition, KeyElement, KeyType, ScalarType, SourceTable};

/// Most bytes of a partition key attribute.
pub const MAX_HASH_BYTES: usize = 2048;
/// Most bytes of a sort key attribute.
pub const MAX_RANGE_BYTES: usize = 1024;

/// One attribute of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAttribute {
    /// Name of the attribute.
    pub name: String,
    /// Declared type.
    pub ty: ScalarType,
}

/// A key schema joined with the types of its attributes, in schema order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySpec {
    /// Partition attributes; at least one.
    pub hash: Vec<KeyAttribute>,
    /// Sort attributes.
    pub range: Vec<KeyAttribute>,
}

/// The value of one sort attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SortValue {
    /// String, control characters escaped where the place escapes them.
    S(String),
    /// Number, normalized decimal text.
    N(String),
    /// Raw bytes.
    B(Vec<u8>),
}

/// The stored key of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyValues {
    /// Partition key text: one part as it is, several as netstrings.
    pub pk: String,
    /// Sort values in schema order.
    pub sort: Vec<SortValue>,
}

/// Why an item has no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The attribute is not in the item.
    #[error("key attribute {name:?} is missing")]
    Missing {
        /// Name of the attribute.
        name: String,
    },
    /// The attribute has another type than its definition.
    #[error("key attribute {name:?} is of type {found}, the table says {expected}")]
    WrongType {
        /// Name of the attribute.
        name: String,
        /// Declared type.
        expected: &'static str,
        /// Type in the item.
        found: &'static str,
    },
    /// The value is empty.
    #[error("key attribute {name:?} is empty")]
    Empty {
        /// Name of the attribute.
        name: String,
    },
    /// The value is longer than the API allows.
    #[error("key attribute {name:?} has {bytes} bytes, more than {limit}")]
    TooLong {
        /// Name of the attribute.
        name: String,
        /// Its length.
        bytes: usize,
        /// 2048 for partition keys, 1024 for sort keys.
        limit: usize,
    },
}

impl KeySpec {
    /// Joins a key schema with the definitions of its attributes.
    ///
    /// # Errors
    /// Names the first attribute without a definition, or says that HASH is missing or out of order.
    pub fn new(schema: &[KeyElement], definitions: &[AttributeDefinition]) -> Result<Self, String> {
        let mut spec = Self { hash: Vec::new(), range: Vec::new() };
        for element in schema {
            let name = &element.attribute_name;
            let definition = definitions
                .iter()
                .find(|d| d.attribute_name == *name)
                .ok_or_else(|| format!("key attribute {name:?} has no definition"))?;
            let attribute = KeyAttribute { name: name.clone(), ty: definition.attribute_type };
            match element.key_type {
                KeyType::Hash if spec.range.is_empty() => spec.hash.push(attribute),
                KeyType::Hash => return Err(format!("HASH attribute {name:?} comes after a RANGE attribute")),
                KeyType::Range => spec.range.push(attribute),
            }
        }
        if spec.hash.is_empty() {
            return Err("the key schema has no HASH attribute".to_owned());
        }
        Ok(spec)
    }

    /// Partition attributes, then sort attributes, each with the most bytes its value may have.
    fn limited(&self) -> impl Iterator<Item = (&KeyAttribute, usize)> {
        let hash = self.hash.iter().map(|a| (a, MAX_HASH_BYTES));
        hash.chain(self.range.iter().map(|a| (a, MAX_RANGE_BYTES)))
    }

    /// Whether an attribute is part of the key.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.hash.iter().chain(&self.range).any(|a| a.name == name)
    }

    /// Checks that an item has the key, without building it.
    ///
    /// # Errors
    /// See [`KeyError`]: the first attribute in schema order that is wrong.
    pub fn check(&self, item: &Item<'_>) -> Result<(), KeyError> {
        self.limited().try_for_each(|(attribute, limit)| checked(attribute, limit, item).map(|_| ()))
    }

    /// The key of an item as the base table stores it: its strings are escaped where `encoding` says so.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn key_of(&self, item: &Item<'_>, encoding: ControlChars) -> Result<KeyValues, KeyError> {
        let mut pk = String::new();
        for attribute in &self.hash {
            let value = checked(attribute, MAX_HASH_BYTES, item)?;
            let text = key_text(&value, encoding);
            if self.hash.len() == 1 {
                pk = text.into_owned();
            } else {
                pk.push_str(&format!("{}:{text},", text.len()));
            }
        }
        let sort = self.range.iter().map(|attribute| {
            let value = checked(attribute, MAX_RANGE_BYTES, item)?;
            Ok(match attribute.ty {
                ScalarType::B => SortValue::B(value.binary().expect("the type was checked")),
                ScalarType::S => SortValue::S(key_text(&value, encoding).into_owned()),
                ScalarType::N => SortValue::N(key_text(&value, encoding).into_owned()),
            })
        });
        let sort = sort.collect::<Result<_, KeyError>>()?;
        Ok(KeyValues { pk, sort })
    }

    /// A 128-bit hash of an item's key; equal keys have equal hashes under one seed.
    ///
    /// The canonical payloads stand for the values, so nothing is decoded.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn hash_of(&self, item: &Item<'_>, seed: u64) -> Result<u128, KeyError> {
        let mut hash = 0u128;
        for (attribute, limit) in self.limited() {
            let value = checked(attribute, limit, item)?;
            // One call for each part costs less than a hasher with state.
            hash = hash.rotate_left(1) ^ xxhash_rust::xxh3::xxh3_128_with_seed(value.json, seed);
        }
        Ok(hash)
    }
}

/// The text of one scalar as it stands in a partition key. Source: PostgreSQL data layout, section 3.
fn key_text<'p>(value: &AttrValue<'p>, encoding: ControlChars) -> Cow<'p, str> {
    match value.text() {
        Some(Cow::Borrowed(text)) => encode_text(text, encoding),
        Some(Cow::Owned(text)) => Cow::Owned(encode_text(&text, encoding).into_owned()),
        None => Cow::Borrowed(value.number().or(value.base64()).expect("a key value is S, N or B")),
    }
}

fn checked<'p>(attribute: &KeyAttribute, limit: usize, item: &Item<'p>) -> Result<AttrValue<'p>, KeyError> {
    let name = || attribute.name.clone();
    let value = item.attr(&attribute.name).ok_or_else(|| KeyError::Missing { name: name() })?;
    if value.ty != attribute.ty.attr_type() {
        return Err(KeyError::WrongType { name: name(), expected: attribute.ty.tag(), found: value.ty.tag() });
    }
    let bytes = value.scalar_len().expect("a key value is a scalar");
    if bytes == 0 {
        return Err(KeyError::Empty { name: name() });
    }
    if bytes > limit {
        return Err(KeyError::TooLong { name: name(), bytes, limit });
    }
    Ok(value)
}

/// Declared types of attributes that are keys of secondary indexes: present with another type, an item is
/// invalid. Source: backup format, section 7.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexKeyTypes(Vec<KeyAttribute>);

impl IndexKeyTypes {
    /// The key attributes of all secondary indexes of a table.
    #[must_use]
    pub fn of_table(table: &SourceTable) -> Self {
        let global = table.global_secondary_indexes.iter().flatten().map(|ix| &ix.key_schema);
        let local = table.local_secondary_indexes.iter().flatten().map(|ix| &ix.key_schema);
        let mut out: Vec<KeyAttribute> = Vec::new();
        for element in global.chain(local).flatten() {
            let definition = table.attribute_definitions.iter().find(|d| d.attribute_name == element.attribute_name);
            if let Some(definition) = definition
                && out.iter().all(|a| a.name != definition.attribute_name)
            {
                out.push(KeyAttribute { name: definition.attribute_name.clone(), ty: definition.attribute_type });
            }
        }
        Self(out)
    }

    /// Checks an item.
    ///
    /// # Errors
    /// [`KeyError::WrongType`] for the first that is there with another type.
    pub fn check(&self, item: &Item<'_>) -> Result<(), KeyError> {
        for attribute in &self.0 {
            if let Some(value) = item.attr(&attribute.name)
                && value.ty != attribute.ty.attr_type()
            {
                let name = attribute.name.clone();
                return Err(KeyError::WrongType { name, expected: attribute.ty.tag(), found: value.ty.tag() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::item::ItemParser;

    fn spec(hash: &[(&str, ScalarType)], range: &[(&str, ScalarType)]) -> KeySpec {
        let attributes = |list: &[(&str, ScalarType)]| {
            list.iter().map(|&(name, ty)| KeyAttribute { name: name.to_owned(), ty }).collect()
        };
        KeySpec { hash: attributes(hash), range: attributes(range) }
    }

    fn key(spec: &KeySpec, text: &str, encoding: ControlChars) -> Result<KeyValues, KeyError> {
        let mut parser = ItemParser::new();
        let item = parser.parse(text.as_bytes(), ControlChars::Plain).expect("a good item");
        assert_eq!(spec.check(&item).is_ok(), spec.key_of(&item, encoding).is_ok());
        assert_eq!(spec.check(&item).is_ok(), spec.hash_of(&item, 7).is_ok());
        spec.key_of(&item, encoding)
    }

    #[test]
    fn several_partition_attributes_are_netstrings() {
        use ScalarType::{B, N, S};
        for (types, item, pk) in [
            ([("a", S), ("b", S)], r#"{"a":{"S":"abc"},"b":{"S":"de"}}"#, "3:abc,2:de,"),
            ([("a", S), ("b", N)], r#"{"a":{"S":"é"},"b":{"N":"10.0"}}"#, "2:é,2:10,"),
            ([("a", B), ("b", S)], r#"{"a":{"B":"AAEC"},"b":{"S":"k"}}"#, "4:AAEC,1:k,"),
        ] {
            assert_eq!(key(&spec(&types, &[]), item, ControlChars::Plain).expect("good").pk, pk);
        }
        let one = key(
            &spec(&[("a", S)], &[("n", N), ("b", B)]),
            r#"{"a":{"S":"abc"},"b":{"B":"AAEC"},"n":{"N":"-0.50"}}"#,
            ControlChars::Plain,
        );
        let one = one.expect("good");
        assert_eq!(one.pk, "abc");
        assert_eq!(one.sort, [SortValue::N("-0.5".into()), SortValue::B(vec![0, 1, 2])]);
    }

    #[test]
    fn control_characters_are_escaped_before_the_netstring() {
        use ScalarType::S;
        let item = r#"{"a":{"S":"\u0000"},"b":{"S":"x\u0001"}}"#;
        let escaped = key(&spec(&[("a", S), ("b", S)], &[("b", S)]), item, ControlChars::Escaped).expect("good");
        assert_eq!(escaped.pk, "2:\u{1}\u{1},3:x\u{1}\u{2},");
        assert_eq!(escaped.sort, [SortValue::S("x\u{1}\u{2}".into())]);
        assert_eq!(key(&spec(&[("a", S)], &[]), item, ControlChars::Plain).expect("good").pk, "\0");
    }

    #[test]
    fn keys_out_of_their_limits_are_refused() {
        use ScalarType::{B, N, S};
        let spec = spec(&[("h", S)], &[("r", B)]);
        let item = |h: &str, r: &str| format!(r#"{{"h":{h},"r":{r}}}"#);
        let refused = |text: &str| key(&spec, text, ControlChars::Plain).expect_err(text);
        let long = |n: usize| format!(r#"{{"S":"{}"}}"#, "x".repeat(n));
        let bin = |n: usize| format!(r#"{{"B":"{}"}}"#, "AAAA".repeat(n));
        assert!(key(&spec, &item(&long(2048), &bin(341)), ControlChars::Plain).is_ok());
        assert!(matches!(refused(&item(&long(2049), &bin(1))), KeyError::TooLong { bytes: 2049, limit: 2048, .. }));
        assert!(matches!(refused(&item(&long(1), &bin(342))), KeyError::TooLong { bytes: 1026, limit: 1024, .. }));
        assert!(matches!(refused(&item(r#"{"S":""}"#, &bin(1))), KeyError::Empty { .. }));
        assert!(matches!(
            refused(&item(r#"{"N":"1"}"#, &bin(1))),
            KeyError::WrongType { expected: "S", found: "N", .. }
        ));
        assert!(matches!(refused(r#"{"h":{"S":"x"}}"#), KeyError::Missing { .. }));
        let _ = N;
    }

    #[test]
    fn a_key_schema_lists_hash_before_range() {
        let element = |name: &str, key_type| KeyElement { attribute_name: name.into(), key_type };
        let defs = [AttributeDefinition { attribute_name: "a".into(), attribute_type: ScalarType::S }];
        assert!(KeySpec::new(&[element("a", KeyType::Hash)], &defs).is_ok());
        assert!(KeySpec::new(&[], &defs).is_err());
        assert!(KeySpec::new(&[element("a", KeyType::Range)], &defs).is_err());
        assert!(KeySpec::new(&[element("a", KeyType::Range), element("a", KeyType::Hash)], &defs).is_err());
        assert!(KeySpec::new(&[element("b", KeyType::Hash)], &defs).expect_err("no definition").contains("\"b\""));
    }
}
