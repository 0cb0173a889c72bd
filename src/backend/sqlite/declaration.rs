//! Reads what SQLite's pragmas do not tell out of a declaration's text: checks, names of
//! constraints, collations, AUTOINCREMENT, and the parts of an index.
//!
//! The text is the one that `sqlite_schema` keeps, so it has been parsed by SQLite already: only
//! its shape matters here, and whatever is not recognised is passed over.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::expression::{Token, closing, normalise_tokens, split_at_commas};

/// What the text of a `CREATE TABLE` says beyond the pragmas.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableDeclaration {
    /// Checks: name if there is one, and the condition's tokens.
    pub checks: Vec<(Option<String>, Vec<Token>)>,
    /// Names of unique constraints that have one, by their columns.
    pub unique_names: BTreeMap<Vec<String>, String>,
    /// Names of foreign keys that have one, by their columns.
    pub foreign_key_names: BTreeMap<Vec<String>, String>,
    /// Foreign keys that are checked at commit, by their columns.
    pub deferred: BTreeSet<Vec<String>>,
    /// Collations by column.
    pub collations: BTreeMap<String, String>,
    /// Expressions of generated columns, by column.
    pub generated: BTreeMap<String, String>,
    /// The column that is AUTOINCREMENT.
    pub autoincrement: Option<String>,
}

/// What the text of a `CREATE INDEX` says beyond the pragmas.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct IndexDeclaration {
    /// The expression of each position, normalised and without its collation and direction.
    pub positions: Vec<String>,
    /// The condition of a partial index, normalised.
    pub predicate: Option<String>,
}

/// Reads a `CREATE TABLE`.
#[must_use]
pub fn table(tokens: &[Token]) -> TableDeclaration {
    let mut out = TableDeclaration::default();
    let Some(open) = tokens.iter().position(|t| *t == Token::Open('(')) else { return out };
    let end = closing(tokens, open).unwrap_or(tokens.len());
    for part in split_at_commas(&tokens[open + 1..end]) {
        let starts_constraint = part.first().is_some_and(|t| {
            ["constraint", "primary", "unique", "check", "foreign"].iter().any(|word| t.is_word(word))
        });
        if starts_constraint {
            constraints(part, None, &mut out);
        } else if let Some(column) = part.first().and_then(Token::name) {
            constraints(&part[1..], Some(column), &mut out);
        }
    }
    out
}

/// Reads a `CREATE INDEX`.
#[must_use]
pub fn index(tokens: &[Token]) -> IndexDeclaration {
    let mut out = IndexDeclaration::default();
    let Some(open) = tokens.iter().position(|t| *t == Token::Open('(')) else { return out };
    let Some(end) = closing(tokens, open) else { return out };
    for part in split_at_commas(&tokens[open + 1..end]) {
        let mut part = part;
        while let [rest @ .., last] = part {
            if last.is_word("asc") || last.is_word("desc") {
                part = rest;
            } else if rest.last().is_some_and(|t| t.is_word("collate")) {
                part = &rest[..rest.len() - 1];
            } else {
                break;
            }
        }
        out.positions.push(normalise_tokens(part));
    }
    if tokens.get(end + 1).is_some_and(|t| t.is_word("where")) {
        let condition = &tokens[end + 2..];
        let length = condition.iter().position(|t| t.is_sign(";")).unwrap_or(condition.len());
        out.predicate = Some(normalise_tokens(&condition[..length]));
    }
    out
}

/// Walks the constraints of a column, or one constraint of the table.
fn constraints(tokens: &[Token], column: Option<&str>, out: &mut TableDeclaration) {
    let of_column = |listed: Vec<String>| column.map_or(listed, |c| vec![c.to_lowercase()]);
    let mut name: Option<String> = None;
    let mut current: Option<Vec<String>> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let Token::Word(word) = token else {
            at = skip(tokens, at);
            continue;
        };
        match word.as_str() {
            "constraint" => {
                name = tokens.get(at + 1).and_then(Token::name).map(str::to_owned);
                at += 2;
                continue;
            }
            "check" => {
                let end = closing(tokens, at + 1).unwrap_or(tokens.len());
                out.checks.push((name.take(), tokens[(at + 2).min(end)..end].to_vec()));
                at = end + 1;
                continue;
            }
            "unique" => {
                if let Some(name) = name.take() {
                    out.unique_names.insert(of_column(listed(tokens, at + 1)), name);
                }
            }
            "primary" => name = None,
            "autoincrement" => out.autoincrement = column.map(str::to_owned),
            "foreign" => {
                let columns = listed(tokens, at + 2);
                if let Some(name) = name.take() {
                    out.foreign_key_names.insert(columns.clone(), name);
                }
                current = Some(columns);
            }
            "references" if column.is_some() => {
                let columns = of_column(Vec::new());
                if let Some(name) = name.take() {
                    out.foreign_key_names.insert(columns.clone(), name);
                }
                current = Some(columns);
            }
            "deferred" => out.deferred.extend(current.clone()),
            "collate" => {
                if let (Some(column), Some(collation)) = (column, tokens.get(at + 1).and_then(Token::name)) {
                    out.collations.insert(column.to_lowercase(), collation.to_uppercase());
                }
                at += 2;
                continue;
            }
            "as" => {
                if let (Some(column), Some(end)) = (column, closing(tokens, at + 1)) {
                    let stored = tokens.get(end + 1).is_some_and(|t| t.is_word("stored"));
                    let kind = if stored { "stored" } else { "virtual" };
                    let expression = normalise_tokens(&tokens[at + 2..end]);
                    out.generated.insert(column.to_lowercase(), format!("{expression} {kind}"));
                }
            }
            _ => {}
        }
        at = skip(tokens, at);
    }
}

/// The next position on this level: behind the bracket if one opens here or right after.
fn skip(tokens: &[Token], at: usize) -> usize {
    match tokens.get(at) {
        Some(Token::Open(_)) => closing(tokens, at).map_or(tokens.len(), |end| end + 1),
        _ => at + 1,
    }
}

/// Names in the bracket that opens at `open`, in lower case; empty where none opens.
fn listed(tokens: &[Token], open: usize) -> Vec<String> {
    if tokens.get(open) != Some(&Token::Open('(')) {
        return Vec::new();
    }
    let end = closing(tokens, open).unwrap_or(tokens.len());
    split_at_commas(&tokens[open + 1..end])
        .into_iter()
        .filter_map(|part| part.first().and_then(Token::name))
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::expression::tokens;

    #[test]
    fn checks_names_collations_and_autoincrement_are_read() {
        let sql = "CREATE TABLE \"t\" ( -- a comment, with a comma\n id INTEGER PRIMARY KEY AUTOINCREMENT, /* x) */
            a TEXT COLLATE nocase NOT NULL DEFAULT (strftime('%Y,%m','now')) CHECK (a IN ('x','y)')),
            b TEXT CONSTRAINT b_ref REFERENCES u(b) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, [c d] DECIMAL(10,2) UNIQUE,
            e TEXT GENERATED ALWAYS AS (a || b) STORED,
            CONSTRAINT chk_a CHECK (b IS NULL OR b >= 0), CONSTRAINT one UNIQUE (a, b),
            CONSTRAINT fk FOREIGN KEY (a, b) REFERENCES u (a, b)) WITHOUT ROWID";
        let d = table(&tokens(sql));
        assert_eq!(d.autoincrement.as_deref(), Some("id"));
        assert_eq!(d.collations, BTreeMap::from([("a".to_owned(), "NOCASE".to_owned())]));
        let checks: Vec<_> = d.checks.iter().map(|(n, t)| (n.clone(), normalise_tokens(t))).collect();
        assert_eq!(
            checks,
            [(None, "a in ('x', 'y)')".to_owned()), (Some("chk_a".to_owned()), "b is null or b >= 0".to_owned())]
        );
        assert_eq!(d.unique_names, BTreeMap::from([(vec!["a".to_owned(), "b".to_owned()], "one".to_owned())]));
        assert_eq!(
            d.foreign_key_names,
            BTreeMap::from([
                (vec!["a".to_owned(), "b".to_owned()], "fk".to_owned()),
                (vec!["b".to_owned()], "b_ref".to_owned()),
            ])
        );
        assert_eq!(d.deferred, BTreeSet::from([vec!["b".to_owned()]]));
        assert_eq!(d.generated["e"], "a || b stored");
    }

    #[test]
    fn the_positions_and_the_predicate_of_an_index_are_read() {
        let d = index(&tokens("CREATE UNIQUE INDEX i ON t (a DESC, lower(b) COLLATE nocase ASC) WHERE a IS NOT NULL;"));
        assert_eq!(d.positions, ["a", "lower(b)"]);
        assert_eq!(d.predicate.as_deref(), Some("a is not null"));
        assert_eq!(index(&tokens("CREATE INDEX i ON t (a)")).predicate, None);
    }
}
