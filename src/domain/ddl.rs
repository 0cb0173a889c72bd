//! The statements that bring one object of a schema to what it should be, without touching a row's content.
//!
//! PostgreSQL and SQLite read the same text for all of it but collations, which only PostgreSQL can change.

use super::difference::{Difference, Kind, Subject};
use super::schema::{Column, Index, Schema};

/// Statements that mend a difference; none where that could lose or invent something, or needs more than a
/// statement.
#[must_use]
pub fn mend(expected: &Schema, difference: &Difference) -> Option<Vec<String>> {
    match (&difference.subject, difference.kind) {
        (Subject::Column(table, name), Kind::Missing) => {
            let column = expected.column(table, name).filter(|c| c.can_be_added() && c.generated.is_none())?;
            Some(vec![format!("ALTER TABLE {} ADD COLUMN {} {}", quote(table), quote(name), declaration(column))])
        }
        (Subject::Column(table, name), Kind::Collation) => {
            let column = expected.column(table, name)?;
            let collation = column.collation.as_ref()?;
            Some(vec![format!(
                "ALTER TABLE {} ALTER COLUMN {} TYPE {} COLLATE {}",
                quote(table),
                quote(name),
                column.kind,
                quote(collation)
            )])
        }
        (Subject::Index(_, name), Kind::Missing) => Some(vec![create_index(expected, name)?]),
        (Subject::Index(_, name), Kind::Definition | Kind::Invalid) => {
            Some(vec![format!("DROP INDEX {}", quote(name)), create_index(expected, name)?])
        }
        _ => None,
    }
}

fn declaration(column: &Column) -> String {
    let mut text = column.kind.clone();
    if let Some(collation) = &column.collation {
        text.push_str(&format!(" COLLATE {}", quote(collation)));
    }
    if !column.nullable {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        // In brackets an expression and a literal are read alike by both.
        text.push_str(&format!(" DEFAULT ({default})"));
    }
    text
}

fn create_index(expected: &Schema, name: &str) -> Option<String> {
    let (table, index) = expected.index(name)?;
    let Index { columns, unique, predicate, include, method, invalid: _ } = index;
    let columns: Vec<String> = columns
        .iter()
        .map(|c| {
            let mut text = if c.name.starts_with('(') { c.name.clone() } else { quote(&c.name) };
            if let Some(collation) = &c.collation {
                text.push_str(&format!(" COLLATE {}", quote(collation)));
            }
            if let Some(class) = &c.operator_class {
                text.push_str(&format!(" {class}"));
            }
            if c.desc {
                text.push_str(" DESC");
            }
            if let Some(nulls) = &c.nulls {
                text.push_str(&format!(" NULLS {nulls}"));
            }
            text
        })
        .collect();
    let unique = if *unique { "UNIQUE " } else { "" };
    let mut text = format!("CREATE {unique}INDEX {} ON {}", quote(name), quote(table));
    if let Some(method) = method {
        text.push_str(&format!(" USING {method}"));
    }
    text.push_str(&format!(" ({})", columns.join(", ")));
    if !include.is_empty() {
        let include: Vec<String> = include.iter().map(|c| quote(c)).collect();
        text.push_str(&format!(" INCLUDE ({})", include.join(", ")));
    }
    if let Some(predicate) = predicate {
        text.push_str(&format!(" WHERE {predicate}"));
    }
    Some(text)
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
