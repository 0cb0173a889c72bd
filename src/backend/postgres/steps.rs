//! Asking and running migration steps on one connection.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};

use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::migration::{CatalogVersion, Condition, Step};

/// Whether every condition of a step holds. Asked in order; the first that does not ends it, so a query
/// may rely on the tables of the conditions before it.
pub async fn is_done(conn: &mut PgConnection, step: &Step) -> Result<bool> {
    for condition in &step.done_when {
        let holds = match condition {
            Condition::Version(version) => at_least(conn, *version).await?,
            other => ask(conn, &question(other)).await.map_err(|e| e.with("step", step.name.clone()))?,
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs the statements of a step.
pub async fn run_sql(conn: &mut PgConnection, step: &Step, sql: &str) -> Result<()> {
    conn.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned())))
        .await
        .map(drop)
        .map_err(|e| driver("run a migration step", e).with("step", step.name.clone()))
}

/// A query of one row and one boolean column; null counts as false.
pub async fn ask(conn: &mut PgConnection, query: &str) -> Result<bool> {
    let operation = "look at a migration step";
    let row =
        sqlx::raw_sql(AssertSqlSafe(query.to_owned())).fetch_optional(conn).await.map_err(|e| driver(operation, e))?;
    let Some(row) = row else { return Ok(false) };
    Ok(row.try_get::<Option<bool>, _>(0).map_err(|e| driver(operation, e))?.unwrap_or(false))
}

async fn at_least(conn: &mut PgConnection, version: CatalogVersion) -> Result<bool> {
    if !ask(conn, &question(&Condition::Table("settings".into()))).await? {
        return Ok(false);
    }
    let operation = "read settings.catalog_version";
    let row = sqlx::raw_sql("SELECT value FROM settings WHERE key = 'catalog_version'")
        .fetch_optional(conn)
        .await
        .map_err(|e| driver(operation, e))?;
    let text: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(operation, e))?;
    let Some(text) = text else { return Ok(false) };
    let recorded: CatalogVersion = text.parse().map_err(|e: String| Error::new(ErrorKind::Damaged, operation, e))?;
    Ok(recorded >= version)
}

/// A condition as a query; `to_regclass` takes names with and without a schema.
fn question(condition: &Condition) -> String {
    let relation = |name: &str, kinds: &str| {
        format!(
            "SELECT EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass({}) AND relkind IN ({kinds}))",
            literal(name)
        )
    };
    let column = |table: &str, column: &str, and: &str| {
        format!(
            "SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass({}) AND attname = {} \
             AND attnum > 0 AND NOT attisdropped{and})",
            literal(table),
            literal(column)
        )
    };
    let negated = |query: String| query.replacen("SELECT EXISTS", "SELECT NOT EXISTS", 1);
    match condition {
        Condition::Table(name) => relation(name, "'r', 'p'"),
        Condition::NoTable(name) => negated(relation(name, "'r', 'p'")),
        Condition::Sequence(name) => relation(name, "'S'"),
        Condition::Column { table, column: name, not_null } => {
            column(table, name, if *not_null { " AND attnotnull" } else { "" })
        }
        Condition::NoColumn { table, column: name } => negated(column(table, name, "")),
        Condition::Constraint { table, constraint } => format!(
            "SELECT EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = to_regclass({}) AND conname = {})",
            literal(table),
            literal(constraint)
        ),
        Condition::Index(name) => format!(
            "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass({}) AND indisvalid AND indisready)",
            literal(name)
        ),
        Condition::NoIndex(name) => negated(relation(name, "'i', 'I'")),
        Condition::Query(query) => query.clone(),
        Condition::Version(version) => unreachable!("the version {version} is read, not asked for"),
    }
}

/// A text as a literal of SQL, whatever `standard_conforming_strings` says.
pub fn literal(text: &str) -> String {
    if text.contains('\\') {
        format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// A name in double quotes.
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
