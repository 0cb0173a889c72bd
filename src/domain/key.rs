//! Keys: which attributes make a key, and the key text and sort values that backends store.
//!
//! Source: PostgreSQL data layout, section 3; backup format, section 7.

use super::item::{ControlChars, Item};
use super::table::{AttributeDefinition, KeyElement, ScalarType};

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
    /// String, decoded.
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
        let _ = (schema, definitions);
        Err("not written".into())
    }

    /// The key of an item as the base table stores it.
    ///
    /// # Errors
    /// See [`KeyError`].
    pub fn key_of(&self, item: &Item<'_>, encoding: ControlChars) -> Result<KeyValues, KeyError> {
        let _ = (item, encoding);
        Err(KeyError::Missing { name: String::new() })
    }
}
