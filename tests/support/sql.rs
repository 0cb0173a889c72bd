//! A plain connection to a scratch database, for looking at what a command left and for making what
//! it should find. Values come back as text, whatever their type.

use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Row as _, ValueRef as _};

/// One row: a text or null for each column. SQLite blobs come as lower-case hex with a `\x` before
/// it, as PostgreSQL shows them.
pub type Row = Vec<Option<String>>;

/// A connection of SQLite or PostgreSQL.
pub enum Db {
    Sqlite(rusqlite::Connection),
    Postgres { runtime: tokio::runtime::Runtime, conn: Option<sqlx::PgConnection> },
}

impl Db {
    /// Opens a SQLite file, foreign keys on, as the server does.
    pub fn sqlite(path: &std::path::Path) -> Self {
        let conn = rusqlite::Connection::open(path).unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        conn.pragma_update(None, "foreign_keys", true).unwrap();
        Self::Sqlite(conn)
    }

    /// Connects to PostgreSQL.
    pub fn postgres(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options: sqlx::postgres::PgConnectOptions = url.parse().unwrap();
        let options = options.log_statements(tracing::log::LevelFilter::Off).application_name("a test");
        let conn = runtime.block_on(options.connect()).unwrap_or_else(|e| panic!("connect to PostgreSQL: {e}"));
        Self::Postgres { runtime, conn: Some(conn) }
    }

    /// Runs statements.
    pub fn exec(&mut self, sql: &str) {
        self.try_exec(sql).unwrap_or_else(|e| panic!("{e}\nin {}", shortened(sql)));
    }

    /// Runs statements and returns what the database answered.
    pub fn try_exec(&mut self, sql: &str) -> Result<(), String> {
        match self {
            Self::Sqlite(conn) => conn.execute_batch(sql).map_err(|e| e.to_string()),
            Self::Postgres { runtime, conn } => runtime
                .block_on(async {
                    conn.as_mut().unwrap().execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned()))).await
                })
                .map(|_| ())
                .map_err(|e| e.to_string()),
        }
    }

    /// Every row of a query.
    pub fn rows(&mut self, sql: &str) -> Vec<Row> {
        match self {
            Self::Sqlite(conn) => {
                let mut statement = conn.prepare(sql).unwrap_or_else(|e| panic!("{e}\nin {}", shortened(sql)));
                let columns = statement.column_count();
                let rows =
                    statement.query_map([], |row| (0..columns).map(|i| Ok(sqlite_text(row.get_ref(i)?))).collect());
                rows.unwrap().map(Result::unwrap).collect()
            }
            Self::Postgres { runtime, conn } => {
                let sql_text = sqlx::AssertSqlSafe(sql.to_owned());
                let rows = runtime.block_on(async { sqlx::raw_sql(sql_text).fetch_all(conn.as_mut().unwrap()).await });
                let rows = rows.unwrap_or_else(|e| panic!("{e}\nin {}", shortened(sql)));
                let text = |row: &sqlx::postgres::PgRow, i| {
                    let value = row.try_get_raw(i).unwrap();
                    (!value.is_null()).then(|| value.as_str().unwrap().to_owned())
                };
                rows.iter().map(|row| (0..row.len()).map(|i| text(row, i)).collect()).collect()
            }
        }
    }

    /// The first column of the only row.
    pub fn one(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert!(rows.len() == 1 && rows[0].len() == 1, "expected one value, found {rows:?}\nin {}", shortened(sql));
        rows[0][0].clone().unwrap_or_else(|| panic!("expected a value, found null\nin {}", shortened(sql)))
    }

    /// [`Db::one`] as a number.
    pub fn count(&mut self, sql: &str) -> i64 {
        self.one(sql).parse().unwrap()
    }

    /// Names of the tables, in byte order, without the database's own.
    pub fn tables(&mut self) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            }
            Self::Postgres { .. } => {
                "SELECT CASE schemaname WHEN 'public' THEN '' ELSE schemaname || '.' END || tablename FROM pg_tables \
                 WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            }
        };
        let mut names: Vec<String> = self.rows(sql).into_iter().map(|row| row[0].clone().unwrap()).collect();
        names.sort();
        names
    }

    /// Names of a table's columns; empty when there is no such table.
    pub fn columns(&mut self, table: &str) -> Vec<String> {
        let sql = match self {
            Self::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}')"),
            Self::Postgres { .. } => format!(
                "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass('public.\"{table}\"') \
                 AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
            ),
        };
        self.rows(&sql).into_iter().map(|row| row[0].clone().unwrap()).collect()
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        if let Self::Postgres { runtime, conn } = self
            && let Some(conn) = conn.take()
        {
            let _ = runtime.block_on(conn.close());
        }
    }
}

fn sqlite_text(value: rusqlite::types::ValueRef<'_>) -> Option<String> {
    use rusqlite::types::ValueRef;
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(i) => Some(i.to_string()),
        ValueRef::Real(r) => Some(r.to_string()),
        ValueRef::Text(t) => Some(String::from_utf8(t.to_vec()).unwrap()),
        ValueRef::Blob(b) => Some(format!("\\x{}", hex(b))),
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn shortened(sql: &str) -> String {
    sql.chars().take(400).collect()
}
