//! Databases that are there for a short while.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::Postgres;
use super::error::driver;
use crate::backend::ledger::{SCRATCH_PREFIX, Scratch};
use crate::backend::registry::OpenOptions;
use crate::backend::{Error, ErrorKind, Result};

impl Postgres {
    /// Makes two empty databases on the catalog's server, one for a catalog and one for its data.
    ///
    /// # Errors
    /// `PermissionDenied` where the role may make no databases.
    pub async fn create_scratch(&self) -> Result<Scratch> {
        let unique = uuid::Uuid::new_v4().simple().to_string();
        let names = ["catalog", "data"].map(|what| format!("{SCRATCH_PREFIX}{}_{what}", &unique[..16]));
        let mut conn = self.catalog_connection().await?;
        for name in &names {
            let sql = format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'");
            conn.execute(AssertSqlSafe(sql)).await.map_err(|e| driver("make a scratch database", e))?;
        }
        conn.close().await.map_err(|e| driver("close a connection", e))?;
        let [catalog, data] = &names;
        let own = self.connector.options();
        let options = OpenOptions {
            url: with_database(&own.url, catalog),
            data_url: Some(with_database(&own.url, data)),
            read_only: false,
            lock_timeout: own.lock_timeout,
            writer: own.writer.clone(),
            region: own.region.clone(),
        };
        Ok(Scratch { options, names: names.to_vec() })
    }

    /// Drops the databases of a scratch deployment, whoever is still connected.
    ///
    /// # Errors
    /// Database errors.
    pub async fn remove_scratch(&self, scratch: &Scratch) -> Result<()> {
        let mut conn = self.catalog_connection().await?;
        for name in &scratch.names {
            let plain = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
            if !name.starts_with(SCRATCH_PREFIX) || !plain {
                let message = format!("{name:?} is no name of a scratch database");
                return Err(Error::new(ErrorKind::Internal, "drop a scratch database", message));
            }
            let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
            conn.execute(AssertSqlSafe(sql)).await.map_err(|e| driver("drop a scratch database", e))?;
        }
        conn.close().await.map_err(|e| driver("close a connection", e))
    }
}

/// The same URL with another database.
fn with_database(url: &str, database: &str) -> String {
    let (before, query) = url.split_once('?').map_or((url, None), |(before, query)| (before, Some(query)));
    let authority = before.find("://").map_or(0, |at| at + 3);
    let server = before[authority..].find('/').map_or(before, |at| &before[..authority + at]);
    match query {
        Some(query) => format!("{server}/{database}?{query}"),
        None => format!("{server}/{database}"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn only_the_database_of_a_url_changes() {
        assert_eq!(with_database("postgres://u:p@h:5/a", "b"), "postgres://u:p@h:5/b");
        assert_eq!(with_database("postgres://u@h/a?sslmode=disable", "b"), "postgres://u@h/b?sslmode=disable");
        assert_eq!(with_database("postgres://h", "b"), "postgres://h/b");
        assert_eq!(with_database("postgres://h?host=/tmp", "b"), "postgres://h/b?host=/tmp");
    }
}
