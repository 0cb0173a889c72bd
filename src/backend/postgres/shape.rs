//! Which tables and columns a database has: what is there decides, never the recorded version.

use std::collections::HashMap;

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};

/// Tables of schema `public` with their columns' types, without the physical tables of items.
#[derive(Debug, Clone)]
pub struct Shape {
    columns: HashMap<String, HashMap<String, String>>,
}

impl Shape {
    /// Reads it.
    ///
    /// # Errors
    /// Database errors.
    pub async fn read(conn: &mut PgConnection) -> Result<Self> {
        const OPERATION: &str = "read which tables there are";
        let rows = sqlx::query(
            "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod) \
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') \
             AND c.relname NOT LIKE '\\_ddb\\_%' AND a.attnum > 0 AND NOT a.attisdropped",
        )
        .fetch_all(conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
        let mut columns: HashMap<String, HashMap<String, String>> = HashMap::new();
        for row in rows {
            let get = |i: usize| row.try_get::<String, _>(i).map_err(|e| driver(OPERATION, e));
            columns.entry(get(0)?).or_default().insert(get(1)?, get(2)?);
        }
        Ok(Self { columns })
    }

    /// Reads the shape of a catalog database.
    ///
    /// # Errors
    /// `NotInitialized` where there is no catalog.
    pub async fn of_catalog(conn: &mut PgConnection) -> Result<Self> {
        let shape = Self::read(conn).await?;
        if shape.has_table("settings") && shape.has_table("tables") && shape.has_table("indexes") {
            return Ok(shape);
        }
        Err(Error::new(
            ErrorKind::NotInitialized,
            "read the catalog",
            "this database has no ExtendDB catalog (no tables settings, tables and indexes): run migrate up",
        ))
    }

    /// A table is there.
    pub fn has_table(&self, table: &str) -> bool {
        self.columns.contains_key(table)
    }

    /// A column is there.
    pub fn has(&self, table: &str, column: &str) -> bool {
        self.type_of(table, column).is_some()
    }

    /// Type of a column, as PostgreSQL writes it.
    pub fn type_of(&self, table: &str, column: &str) -> Option<&str> {
        self.columns.get(table)?.get(column).map(String::as_str)
    }

    /// The column as text in a SELECT list, or a null of type text where it is missing.
    pub fn text(&self, table: &str, column: &str) -> String {
        if self.has(table, column) { format!("{table}.{column}::text") } else { "NULL::text".to_owned() }
    }

    /// The catalog index is there, with the job columns of `table_restores` (0.0.5).
    pub fn has_backup_index(&self) -> bool {
        self.has_table("backup_index") && self.has("table_restores", "owner_generation")
    }

    /// Restores are registered (0.0.4 on).
    pub fn has_table_restores(&self) -> bool {
        self.has_table("table_restores")
    }

    /// Physical tables are named by account and table (the oldest 0.0.2).
    pub fn named_by_table(&self) -> bool {
        !self.has("indexes", "index_id")
    }
}
