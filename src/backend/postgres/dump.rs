//! A dump of the catalog that is known to restore, and a copy of its shape for a rehearsal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::error::driver;
use super::introspect::read_on;
use super::steps::identifier;
use super::{Postgres, tools};
use crate::backend::ledger::{CopyReport, DumpReport, Scratch};
use crate::backend::{Error, ErrorKind, Result};
use crate::domain::schema::{Lineage, Schema};
use crate::domain::secret_columns::{is_secret_setting, masked};

const OPERATION: &str = "check a dump";
const COPY: &str = "copy rows for a rehearsal";

impl Postgres {
    /// Dumps the catalog database into a folder, restores it into a scratch database, and compares.
    ///
    /// # Errors
    /// `Unsupported` without PostgreSQL's client programs; `Damaged` when the dump does not restore to the same.
    pub(super) async fn write_dump(&self, folder: &Path, name: &str) -> Result<DumpReport> {
        let path = folder.join(format!("{name}.dump"));
        make_private(&path)?;
        tools::dump(self.connector.catalog_options(), &path, &[]).await?;
        let scratch = self.create_scratch().await?;
        let outcome = self.compare_dump(&scratch, &path).await;
        self.remove_scratch(&scratch).await?;
        let rows = outcome?;
        Ok(DumpReport { path: path.display().to_string(), rows })
    }

    async fn compare_dump(&self, scratch: &Scratch, path: &Path) -> Result<u64> {
        let options: PgConnectOptions = super::connect::parse_url(&scratch.options.url)?;
        tools::restore(&options, path).await?;
        let other = Self::open(scratch.options.clone()).await?;
        let (mut ours, mut theirs) = (self.catalog_connection().await?, other.catalog_connection().await?);
        let (before, after) = (census(&mut ours).await?, census(&mut theirs).await?);
        for conn in [ours, theirs] {
            conn.close().await.map_err(|e| driver("close a connection", e))?;
        }
        if before != after {
            let message = "restored into a scratch database it does not give the same tables and numbers of rows";
            return Err(Error::new(ErrorKind::Damaged, OPERATION, message).with("dump", path.display().to_string()));
        }
        Ok(after.1.values().sum())
    }

    /// Copies schema, ledgers and a sample of rows into scratch databases. Secrets are never copied.
    ///
    /// # Errors
    /// `Unsupported` without PostgreSQL's client programs; database errors.
    pub(super) async fn copy_into(&self, scratch: &Scratch, rows: u32) -> Result<CopyReport> {
        let other = Self::open(scratch.options.clone()).await?;
        let mut data = self.data_connection().await?;
        let mut catalog = self.catalog_connection().await?;
        let one_database = place(&mut data).await? == place(&mut catalog).await?;
        let mut into = other.catalog_connection().await?;
        empty(&mut into).await?;
        copy_shape(self.connector.catalog_options(), other.connector.catalog_options()).await?;
        if !one_database {
            empty(&mut other.data_connection().await?).await?;
            copy_shape(&self.connector.data_options().await?, &other.connector.data_options().await?).await?;
        }
        let mut report = copy_rows(&mut catalog, &mut into, rows).await?;
        if one_database {
            // One database there too: an empty second one would be taken for the data.
            report.data_is_catalog = true;
        } else {
            let mut into = other.data_connection().await?;
            let more = copy_rows(&mut data, &mut into, rows).await?;
            report.tables += more.tables;
            report.rows += more.rows;
            report.left_out += more.left_out;
        }
        Ok(report)
    }
}

/// The schema that every new database has comes with the copy.
async fn empty(scratch: &mut PgConnection) -> Result<()> {
    scratch.execute("DROP SCHEMA public").await.map(drop).map_err(|e| driver(COPY, e))
}

async fn place(conn: &mut PgConnection) -> Result<String> {
    sqlx::query(
        "SELECT current_database() || ' ' || coalesce(inet_server_addr()::text, '') || ' ' || inet_server_port()",
    )
    .fetch_one(conn)
    .await
    .and_then(|row| row.try_get(0))
    .map_err(|e| driver(COPY, e))
}

/// An empty file that nobody else can read.
fn make_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map(drop).map_err(|e| {
        Error::new(ErrorKind::Conflict, "write a dump", e.to_string()).with("path", path.display().to_string())
    })
}

/// The schema, and the number of rows of each table.
async fn census(conn: &mut PgConnection) -> Result<(Schema, BTreeMap<String, u64>)> {
    let mut tx =
        conn.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await.map_err(|e| driver(OPERATION, e))?;
    let schema = read_on(&mut tx, Lineage::Catalog).await?.schema;
    let mut rows = BTreeMap::new();
    for table in schema.tables.keys() {
        let query = format!("SELECT count(*) FROM public.{}", identifier(table));
        let count: i64 = sqlx::query(AssertSqlSafe(query))
            .fetch_one(&mut *tx)
            .await
            .and_then(|row| row.try_get(0))
            .map_err(|e| driver(OPERATION, e))?;
        rows.insert(table.clone(), u64::try_from(count).unwrap_or(0));
    }
    Ok((schema, rows))
}

async fn copy_shape(from: &PgConnectOptions, into: &PgConnectOptions) -> Result<()> {
    let file = std::env::temp_dir().join(format!("extenddb-admin-{}.dump", uuid::Uuid::new_v4().simple()));
    make_private(&file)?;
    let schemas = ["--schema-only", "--no-owner", "--no-privileges", "--schema=public", "--schema=extenddb_admin"];
    let outcome = match tools::dump(from, &file, &schemas).await {
        Ok(()) => tools::restore(into, &file).await,
        failed => failed,
    };
    let _ = std::fs::remove_file(&file);
    outcome
}

/// Copies rows table by table, parents first. A row whose parent was not sampled is left out.
async fn copy_rows(from: &mut PgConnection, into: &mut PgConnection, limit: u32) -> Result<CopyReport> {
    let mut tx =
        from.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await.map_err(|e| driver(COPY, e))?;
    let mut tables = parents_first(&read_on(&mut tx, Lineage::Catalog).await?.schema);
    let admin = read_on(&mut tx, Lineage::Admin).await?.schema;
    tables.extend(admin.tables.into_keys().filter(|name| name == "extenddb_admin.migrations"));
    let mut report = CopyReport::default();
    for table in tables {
        let whole = table == "schema_history" || table == "settings" || table.starts_with("extenddb_admin.");
        let name = table.split('.').map(identifier).collect::<Vec<_>>().join(".");
        let limited = if whole { String::new() } else { format!(" LIMIT {limit}") };
        let query = format!("SELECT row_to_json(t)::text FROM {name} t{limited}");
        let texts = sqlx::query(AssertSqlSafe(query)).fetch_all(&mut *tx).await.map_err(|e| driver(COPY, e))?;
        into.execute("BEGIN").await.map_err(|e| driver(COPY, e))?;
        report.tables += 1;
        for row in texts {
            let text: String = row.try_get(0).map_err(|e| driver(COPY, e))?;
            let Some(text) = without_secrets(&table, &text, report.rows)? else { continue };
            into.execute("SAVEPOINT a_row").await.map_err(|e| driver(COPY, e))?;
            let insert = format!(
                "INSERT INTO {name} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_record(NULL::{name}, $1::json)"
            );
            let end = match sqlx::query(AssertSqlSafe(insert)).bind(&text).execute(&mut *into).await {
                Ok(_) => {
                    report.rows += 1;
                    "RELEASE SAVEPOINT a_row"
                }
                Err(sqlx::Error::Database(_)) => {
                    report.left_out += 1;
                    "ROLLBACK TO SAVEPOINT a_row"
                }
                Err(e) => return Err(driver(COPY, e)),
            };
            into.execute(end).await.map_err(|e| driver(COPY, e))?;
        }
        into.execute("COMMIT").await.map_err(|e| driver(COPY, e))?;
    }
    Ok(report)
}

/// The row as JSON with its secrets masked; none for a setting that is one.
fn without_secrets(table: &str, text: &str, number: u64) -> Result<Option<String>> {
    let damaged = |e: serde_json::Error| Error::new(ErrorKind::Damaged, COPY, e.to_string()).with("table", table);
    let mut row: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(damaged)?;
    if table == "settings" && row.get("key").and_then(|k| k.as_str()).is_some_and(is_secret_setting) {
        return Ok(None);
    }
    for (column, value) in &mut row {
        if let Some(mask) = masked(column, number).filter(|_| !value.is_null()) {
            *value = serde_json::Value::String(mask);
        }
    }
    serde_json::to_string(&row).map(Some).map_err(damaged)
}

/// Tables so that every foreign key points to one before it, or to itself.
fn parents_first(schema: &Schema) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut left: BTreeSet<&String> = schema.tables.keys().collect();
    while !left.is_empty() {
        let ready: Vec<&String> = left
            .iter()
            .copied()
            .filter(|name| {
                schema.tables[*name]
                    .foreign_keys
                    .iter()
                    .all(|k| k.references == **name || !left.contains(&k.references))
            })
            .collect();
        // A circle of foreign keys is broken anywhere: rows that then fail are left out and counted.
        let ready = if ready.is_empty() { left.iter().copied().take(1).collect() } else { ready };
        for name in ready {
            left.remove(name);
            order.push(name.clone());
        }
    }
    order
}
