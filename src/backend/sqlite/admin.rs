//! Makes the admin tables when a command first needs them.

use rusqlite::TransactionBehavior;
use serde::Deserialize;

use super::Sqlite;
use super::error::driver;
use crate::backend::{Error, ErrorKind, Result};

const BODY: &str = include_str!("../../../migrations/admin/0001_initial/sqlite.yaml");

#[derive(Deserialize)]
struct Body {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    sql: String,
}

impl Sqlite {
    /// Makes the tables where they are missing.
    ///
    /// # Errors
    /// Database errors.
    pub(super) async fn ensure_admin_tables(&self) -> Result<()> {
        self.run(|this| {
            let operation = "make the admin tables";
            let fail = |e| driver(operation, e);
            let body: Body =
                serde_yaml::from_str(BODY).map_err(|e| Error::new(ErrorKind::Internal, operation, e.to_string()))?;
            if super::shape::has_table(&this.reader()?, "extenddb_admin_staged_tables")? {
                return Ok(());
            }
            let mut conn = this.writer()?;
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
            for step in body.steps {
                tx.execute_batch(&step.sql).map_err(fail)?;
            }
            tx.commit().map_err(fail)
        })
        .await
    }
}
