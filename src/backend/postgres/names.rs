//! Names of physical tables. Source: PostgreSQL data layout, section 1.

use crate::domain::table::TableInfo;

/// Longest identifier that PostgreSQL keeps, in bytes; it cuts longer ones off.
pub const MAX_IDENTIFIER_BYTES: usize = 63;

/// A physical name before quoting. Everything lies in schema `public`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Physical(String);

impl Physical {
    /// Base or index table of an id.
    pub fn of_id(id: &str) -> Self {
        Self(format!("_ddb_{id}"))
    }

    /// Base table of a table, under either naming scheme.
    pub fn base(info: &TableInfo) -> Self {
        if info.named_by_table {
            Self::by_table(&info.account_id, &info.definition.table_name)
        } else {
            Self::of_id(&info.definition.table_id)
        }
    }

    /// Base table as the oldest releases named it, cut off as PostgreSQL does it.
    pub fn by_table(account_id: &str, table_name: &str) -> Self {
        Self(cut(format!("_ddb_{account_id}_{table_name}")))
    }

    /// Index table as the oldest releases named it.
    pub fn index_by_table(account_id: &str, table_name: &str, index_name: &str) -> Self {
        Self(cut(format!("_ddb_{account_id}_{table_name}__gsi__{index_name}")))
    }

    /// The reverse index of an index table.
    pub fn reverse_index(&self) -> Self {
        Self(format!("{}_base_key_idx", self.0))
    }

    /// As it stands in `pg_class.relname`.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Quoted and with its schema, for SQL.
    pub fn sql(&self) -> String {
        format!("public.{}", identifier(&self.0))
    }
}

impl std::fmt::Display for Physical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

fn cut(mut name: String) -> String {
    let mut end = name.len().min(MAX_IDENTIFIER_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}

/// An identifier in double quotes.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text literal, for statements that take no parameters (COPY).
pub fn literal(text: &str) -> String {
    // The E form means the same whatever standard_conforming_strings is.
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_off_where_postgresql_cuts_them() {
        let name = Physical::by_table("000000000000", &"t".repeat(80));
        assert_eq!(name.name().len(), MAX_IDENTIFIER_BYTES);
        assert_eq!(Physical::of_id("a\"b").sql(), "public.\"_ddb_a\"\"b\"");
        assert_eq!(literal(r"it's \ here"), r"E'it\'s \\ here'");
    }
}
