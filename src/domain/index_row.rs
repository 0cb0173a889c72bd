//! What a secondary index holds for an item: the one place that decides, for every backend.
//!
//! Source: PostgreSQL data layout, section 5. An item has a row only if it holds every key
//! attribute of the index with the declared type.

use super::item::{ControlChars, Item, encode_for_storage};
use super::key::{KeyError, KeySpec, KeyValues};
use super::table::{IndexKind, KeyElement, Projection, ProjectionType, SourceTable};

/// One secondary index, ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSpec {
    /// Name.
    pub index_name: String,
    /// Global or local.
    pub kind: IndexKind,
    /// Key of the index.
    pub key: KeySpec,
    /// Projection.
    pub projection: Projection,
}

/// Why an item is not in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skipped {
    /// A key attribute of the index is absent.
    AttributeAbsent,
    /// A key attribute of the index has another type.
    WrongType,
    /// A key attribute of the index is empty or too long.
    Unindexable,
}

impl IndexSpec {
    /// The secondary indexes of a table: global ones, then local ones, in definition order.
    ///
    /// # Errors
    /// Says which index has a key attribute without a definition.
    pub fn of_table(table: &SourceTable) -> Result<Vec<Self>, String> {
        let spec = |kind, name: &str, schema: &[KeyElement], projection: &Projection| {
            let key = KeySpec::new(schema, &table.attribute_definitions).map_err(|e| format!("index {name:?}: {e}"))?;
            Ok(Self { index_name: name.to_owned(), kind, key, projection: projection.clone() })
        };
        let global = table.global_secondary_indexes.iter().flatten();
        let global = global.map(|ix| spec(IndexKind::Gsi, &ix.index_name, &ix.key_schema, &ix.projection));
        let local = table.local_secondary_indexes.iter().flatten();
        let local = local.map(|ix| spec(IndexKind::Lsi, &ix.index_name, &ix.key_schema, &ix.projection));
        global.chain(local).collect()
    }

    /// The index key of an item, or why it has none. The projected item, canonical and encoded for
    /// storage, is appended to `projected` only when there is a row.
    ///
    /// # Errors
    /// The reason for skipping.
    pub fn row_of(
        &self,
        item: &Item<'_>,
        table_key: &KeySpec,
        encoding: ControlChars,
        projected: &mut Vec<u8>,
    ) -> Result<KeyValues, Skipped> {
        let key = self.key.key_of(item, encoding).map_err(|e| match e {
            KeyError::Missing { .. } => Skipped::AttributeAbsent,
            KeyError::WrongType { .. } => Skipped::WrongType,
            KeyError::Empty { .. } | KeyError::TooLong { .. } => Skipped::Unindexable,
        })?;
        if self.projection.projection_type == ProjectionType::All {
            encode_for_storage(item.canonical(), encoding, projected);
            return Ok(key);
        }
        projected.push(b'{');
        let start = projected.len();
        for (name, _, member) in item.attrs() {
            if self.projects(&name, table_key) {
                if projected.len() > start {
                    projected.push(b',');
                }
                encode_for_storage(member, encoding, projected);
            }
        }
        projected.push(b'}');
        Ok(key)
    }

    fn projects(&self, name: &str, table_key: &KeySpec) -> bool {
        let extra = match self.projection.projection_type {
            ProjectionType::All => return true,
            ProjectionType::KeysOnly => None,
            ProjectionType::Include => self.projection.non_key_attributes.as_ref(),
        };
        self.key.contains(name) || table_key.contains(name) || extra.is_some_and(|e| e.iter().any(|n| n == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::item::ItemParser;
    use crate::domain::key::{KeyAttribute, SortValue};
    use crate::domain::table::ScalarType;

    fn index(projection_type: ProjectionType, extra: &[&str]) -> (IndexSpec, KeySpec) {
        let attribute = |name: &str, ty| KeyAttribute { name: name.into(), ty };
        let extra: Vec<String> = extra.iter().map(|&s| s.to_owned()).collect();
        let spec = IndexSpec {
            index_name: "by_kind".into(),
            kind: IndexKind::Gsi,
            key: KeySpec { hash: vec![attribute("kind", ScalarType::S)], range: vec![attribute("n", ScalarType::N)] },
            projection: Projection { projection_type, non_key_attributes: (!extra.is_empty()).then_some(extra) },
        };
        (spec, KeySpec { hash: vec![attribute("id", ScalarType::S)], range: vec![] })
    }

    fn row(spec: &(IndexSpec, KeySpec), text: &str) -> Result<(KeyValues, String), Skipped> {
        let mut parser = ItemParser::new();
        let item = parser.parse(text.as_bytes(), ControlChars::Plain).expect("a good item");
        let mut projected = Vec::new();
        let key = spec.0.row_of(&item, &spec.1, ControlChars::Escaped, &mut projected);
        assert!(key.is_ok() || projected.is_empty(), "nothing is projected without a row");
        key.map(|key| (key, String::from_utf8(projected).expect("UTF-8")))
    }

    const ITEM: &str = r#"{"id":{"S":"1"},"kind":{"S":"k\u0000"},"n":{"N":"7"},"a":{"S":"x"},"b":{"S":"y"}}"#;

    #[test]
    fn the_projection_decides_what_a_row_holds() {
        let (key, all) = row(&index(ProjectionType::All, &[]), ITEM).expect("a row");
        assert_eq!(key, KeyValues { pk: "k\u{1}\u{1}".into(), sort: vec![SortValue::N("7".into())] });
        assert_eq!(all, r#"{"a":{"S":"x"},"b":{"S":"y"},"id":{"S":"1"},"kind":{"S":"k\u0001\u0001"},"n":{"N":"7"}}"#);
        let (_, keys) = row(&index(ProjectionType::KeysOnly, &[]), ITEM).expect("a row");
        assert_eq!(keys, r#"{"id":{"S":"1"},"kind":{"S":"k\u0001\u0001"},"n":{"N":"7"}}"#);
        let (_, some) = row(&index(ProjectionType::Include, &["b", "absent", "n"]), ITEM).expect("a row");
        assert_eq!(some, r#"{"b":{"S":"y"},"id":{"S":"1"},"kind":{"S":"k\u0001\u0001"},"n":{"N":"7"}}"#);
    }

    #[test]
    fn an_item_without_the_declared_key_has_no_row() {
        let spec = index(ProjectionType::All, &[]);
        let skipped = |text: &str| row(&spec, text).expect_err(text);
        assert_eq!(skipped(r#"{"kind":{"S":"k"}}"#), Skipped::AttributeAbsent);
        assert_eq!(skipped(r#"{"kind":{"S":"k"},"n":{"S":"7"}}"#), Skipped::WrongType);
        assert_eq!(skipped(r#"{"kind":{"S":""},"n":{"N":"7"}}"#), Skipped::Unindexable);
    }
}
