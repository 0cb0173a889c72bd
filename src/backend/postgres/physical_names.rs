//! The oldest deployments named physical tables by account and table; this brings them to the id form.
//!
//! Source: data page of PostgreSQL, section 1; variant a of catalog 0.0.2.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::error::driver;
use super::steps::{ask, identifier};
use crate::backend::{Error, ErrorKind, Result};

/// PostgreSQL cuts identifiers to this many bytes.
const IDENTIFIER_BYTES: usize = 63;
/// At most this many names are listed in a refusal.
const NAMES_SHOWN: usize = 8;

/// One physical table and the name it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rename {
    /// Which catalog row it belongs to, for people.
    owner: String,
    /// Name by account and table, as PostgreSQL stores it.
    old: String,
    /// Name by id.
    new: String,
}

/// Whether no table of the catalog lies under its old name.
pub async fn is_done(catalog: &mut PgConnection, data: &mut PgConnection) -> Result<bool> {
    Ok(pending(catalog, data).await?.is_none())
}

/// Renames every table that the catalog names, in one transaction.
pub async fn rename(catalog: &mut PgConnection, data: &mut PgConnection) -> Result<()> {
    let operation = "rename physical tables";
    let renames = pending(catalog, data).await?.unwrap_or_default();
    let mut tx = data.begin().await.map_err(|e| driver(operation, e))?;
    for Rename { owner, old, new } in renames {
        let fail = |e| driver(operation, e).with("table", owner.clone()).with("physical name", old.clone());
        let sql = format!("ALTER TABLE {} RENAME TO {}", identifier(&old), identifier(&new));
        tx.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(fail)?;
        let query = "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
                     WHERE i.indrelid = to_regclass($1) AND c.relname LIKE 'idx\\_ttl\\_%'";
        let ttl: Option<String> = sqlx::query(query)
            .bind(identifier(&new))
            .fetch_optional(&mut *tx)
            .await
            .and_then(|row| row.map(|r| r.try_get(0)).transpose())
            .map_err(fail)?;
        if let Some(ttl) = ttl {
            let sql = format!("ALTER INDEX {} RENAME TO {}", identifier(&ttl), identifier(&format!("idx_ttl_{new}")));
            tx.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(fail)?;
        }
    }
    tx.commit().await.map_err(|e| driver(operation, e))
}

/// What is to be renamed: none where no table has an old name, and no list yet where indexes have no ids.
async fn pending(catalog: &mut PgConnection, data: &mut PgConnection) -> Result<Option<Vec<Rename>>> {
    let operation = "look for physical tables under old names";
    let names = sqlx::query("SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relname ~ '^_ddb_[0-9]{12}_'")
        .fetch_all(data)
        .await
        .map_err(|e| driver(operation, e))?;
    let names: BTreeSet<String> = names.iter().filter_map(|row| row.try_get(0).ok()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let ids =
        "SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('indexes') AND attname = 'index_id')";
    if !ask(catalog, ids).await? {
        return Ok(Some(Vec::new()));
    }
    let query = "SELECT account_id, table_name, NULL, table_id FROM tables UNION ALL \
                 SELECT t.account_id, t.table_name, i.index_name, i.index_id FROM indexes i JOIN tables t USING (table_id)";
    let rows = sqlx::query(query).fetch_all(catalog).await.map_err(|e| driver(operation, e))?;
    let mut renames = Vec::new();
    for row in rows {
        let text = |i| row.try_get::<Option<String>, usize>(i).map_err(|e| driver(operation, e));
        let (account, table, index, id) = (text(0)?, text(1)?, text(2)?, text(3)?);
        let (Some(account), Some(table), Some(id)) = (account, table, id) else { continue };
        renames.push(planned(&account, &table, index.as_deref(), &id));
    }
    let renames = unambiguous(renames, &names)?;
    Ok((!renames.is_empty()).then_some(renames))
}

fn planned(account: &str, table: &str, index: Option<&str>, id: &str) -> Rename {
    let (owner, full) = match index {
        None => (format!("{account}/{table}"), format!("_ddb_{account}_{table}")),
        Some(index) => (format!("{account}/{table} index {index}"), format!("_ddb_{account}_{table}__gsi__{index}")),
    };
    Rename { owner, old: cut(&full).to_owned(), new: format!("_ddb_{id}") }
}

/// Keeps the renames whose table is there; two owners of one name are refused.
fn unambiguous(renames: Vec<Rename>, names: &BTreeSet<String>) -> Result<Vec<Rename>> {
    let mut by_name: BTreeMap<String, Vec<Rename>> = BTreeMap::new();
    for rename in renames.into_iter().filter(|r| names.contains(&r.old)) {
        by_name.entry(rename.old.clone()).or_default().push(rename);
    }
    let ambiguous: Vec<String> = by_name
        .iter()
        .filter(|(_, owners)| owners.len() > 1)
        .map(|(name, owners)| {
            let owners: Vec<&str> = owners.iter().map(|o| o.owner.as_str()).collect();
            format!("{name} could be of {}", owners.join(" or "))
        })
        .collect();
    if ambiguous.is_empty() {
        return Ok(by_name.into_values().flatten().collect());
    }
    let shown = ambiguous.len().min(NAMES_SHOWN);
    let more = if shown < ambiguous.len() { format!(" and {} more", ambiguous.len() - shown) } else { String::new() };
    Err(Error::new(
        ErrorKind::CatalogRefused,
        "rename physical tables",
        format!(
            "names that PostgreSQL cut to {IDENTIFIER_BYTES} bytes have several owners, so whose items they hold cannot \
             be told: {}{more}. Rename them by hand to the ids in the catalog, then run the migration again",
            ambiguous[..shown].join("; ")
        ),
    ))
}

/// As PostgreSQL cuts a name: at most 63 bytes, whole characters.
fn cut(name: &str) -> &str {
    let mut end = name.len().min(IDENTIFIER_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_two_owners_is_refused_and_both_are_named() {
        let long = "x".repeat(60);
        let one = planned("123456789012", &long, None, "id-1");
        let two = planned("123456789012", &long, Some("i"), "id-2");
        assert_eq!(one.old.len(), IDENTIFIER_BYTES);
        let names = BTreeSet::from([one.old.clone()]);
        let error = unambiguous(vec![one.clone(), two], &names).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CatalogRefused);
        assert!(error.to_string().contains("index i"), "{error}");
        assert_eq!(unambiguous(vec![one.clone()], &names).unwrap(), vec![one]);
    }
}
