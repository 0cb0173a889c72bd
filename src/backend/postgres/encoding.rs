//! Whether control characters in stored items are escaped: the data ledger decides, never the content.
//!
//! Source: PostgreSQL data layout, section 3.2.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Row as _};

use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::item::ControlChars;

const OPERATION: &str = "read how control characters are stored";
/// Row of the data ledger under which the items were rewritten.
const ESCAPE_MIGRATION: &str = "004_escape_control_chars";
const PROGRESS_TABLE: &str = "data_code_migration_progress";

/// How the strings of items, and of in-catalog backups, are stored.
///
/// # Errors
/// `CatalogRefused` when a rewrite was interrupted, so that both forms are there.
pub async fn of_items(data: &mut PgConnection, catalog: Option<&mut PgConnection>) -> Result<ControlChars> {
    if has_row(data, "schema_history", "filename").await? {
        return Ok(ControlChars::Escaped);
    }
    let mut interrupted = has_row(data, PROGRESS_TABLE, "migration_name").await?;
    if let Some(catalog) = catalog {
        interrupted |= has_row(catalog, PROGRESS_TABLE, "migration_name").await?;
    }
    if interrupted {
        return Err(Error::new(
            ErrorKind::CatalogRefused,
            OPERATION,
            format!(
                "{ESCAPE_MIGRATION} was interrupted half way ({PROGRESS_TABLE} has rows, schema_history has none), so \
                 stored texts are mixed: finish it with the server's own migrate"
            ),
        ));
    }
    Ok(ControlChars::Plain)
}

/// The data ledger has a row.
///
/// # Errors
/// Database errors.
pub async fn ledger_has(data: &mut PgConnection, filename: &str) -> Result<bool> {
    there_is(data, "schema_history", "filename", filename).await
}

async fn has_row(conn: &mut PgConnection, table: &str, column: &str) -> Result<bool> {
    there_is(conn, table, column, ESCAPE_MIGRATION).await
}

async fn there_is(conn: &mut PgConnection, table: &str, column: &str, value: &str) -> Result<bool> {
    let there: bool = sqlx::query("SELECT to_regclass($1) IS NOT NULL")
        .bind(format!("public.{table}"))
        .fetch_one(&mut *conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(OPERATION, e))?;
    if !there {
        return Ok(false);
    }
    let sql = format!("SELECT EXISTS (SELECT 1 FROM public.{table} WHERE {column} = $1)");
    sqlx::query(AssertSqlSafe(sql))
        .bind(value)
        .fetch_one(conn)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(OPERATION, e))
}
