//! The canonical schema of a PostgreSQL database, through the system catalogs.
//!
//! Every function reads on the connection it is given, so that a migration sees what its own open
//! transaction has done; [`Postgres::read_schema`] and [`Postgres::read_recorded`] open a read-only
//! transaction of their own.

use std::collections::BTreeMap;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{Connection as _, Row as _};

use super::Postgres;
use super::error::driver;
use crate::backend::{ErrorKind, Result};
use crate::domain::expression;
use crate::domain::recorded::{self, Introspection, LedgerRow, Recorded};
use crate::domain::schema::{Check, Column, ForeignKey, IndexColumn, Lineage, Schema, Sequence, Table, Unique};

/// Schema of ExtendDB's tables, in both databases.
const PUBLIC: &str = "public";
/// Schema of our own tables, in both databases.
const ADMIN: &str = "extenddb_admin";
/// Longest ledger that is read; a released one has a handful of rows.
const LEDGER_ROWS_MAX: i64 = 10_000;

const READ_ONLY: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const OPERATION: &str = "read the schema";
const OPERATION_RECORDED: &str = "read the ledgers";

/// Relations of the schema that belong to nobody's extension and are no tables of items.
const OURS: &str = "n.nspname = $1 AND c.relname NOT LIKE '\\_ddb\\_%' AND NOT EXISTS (SELECT 1 FROM pg_depend e \
     WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')";

impl Postgres {
    /// One lineage's schema, read in one read-only transaction of each database it lies in.
    ///
    /// # Errors
    /// Database errors.
    pub async fn read_schema(&self, lineage: Lineage) -> Result<Introspection> {
        match lineage {
            Lineage::Catalog => {
                let mut conn = self.catalog_connection().await?;
                read_only(&mut conn, lineage).await
            }
            Lineage::Data => {
                let mut conn = self.data_or_catalog_connection().await?;
                read_only(&mut conn, lineage).await
            }
            Lineage::Admin => {
                let mut conn = self.catalog_connection().await?;
                let mut out = read_only(&mut conn, lineage).await?;
                let mut conn = self.data_or_catalog_connection().await?;
                let data = read_only(&mut conn, lineage).await?;
                out.schema.tables.extend(data.schema.tables);
                out.schema.sequences.extend(data.schema.sequences);
                out.extras.extend(data.extras);
                out.extras.sort();
                out.extras.dedup();
                Ok(out)
            }
        }
    }

    /// Versions, ledgers and settings of both databases.
    ///
    /// # Errors
    /// Database errors of the catalog; a data database that cannot be reached is a fact in the answer.
    pub async fn read_recorded(&self) -> Result<Recorded> {
        let mut out = Recorded::default();
        let mut conn = self.catalog_connection().await?;
        let catalog = identity(&mut conn).await?;
        {
            let mut tx = conn.begin_with(READ_ONLY).await.map_err(|e| driver(OPERATION_RECORDED, e))?;
            read_settings(&mut tx, &mut out).await?;
            out.ledger = read_ledger(&mut tx).await?;
            out.data_progress = read_progress(&mut tx).await?;
            out.foreign_ledgers = existing(&mut tx, &recorded::FOREIGN_LEDGERS).await?;
        }
        let mut conn = match self.data_or_catalog_connection().await {
            Ok(conn) => conn,
            Err(e) => {
                out.data_unreachable = Some(e.to_string());
                return Ok(out);
            }
        };
        out.one_database = identity(&mut conn).await? == catalog;
        let mut tx = conn.begin_with(READ_ONLY).await.map_err(|e| driver(OPERATION_RECORDED, e))?;
        out.data_ledger = read_ledger(&mut tx).await?;
        out.data_progress.extend(read_progress(&mut tx).await?);
        out.data_progress.sort();
        out.data_progress.dedup();
        out.legacy_physical_names = count_legacy_names(&mut tx).await?;
        Ok(out)
    }

    /// The data database, or the catalog's where no catalog is there yet to name another.
    async fn data_or_catalog_connection(&self) -> Result<PgConnection> {
        match self.data_connection().await {
            Err(e) if e.kind() == ErrorKind::NotInitialized => self.catalog_connection().await,
            answer => answer,
        }
    }
}

async fn read_only(conn: &mut PgConnection, lineage: Lineage) -> Result<Introspection> {
    let mut tx = conn.begin_with(READ_ONLY).await.map_err(|e| driver(OPERATION, e))?;
    read_on(&mut tx, lineage).await
}

/// Reads one lineage's part of the connected database, in the transaction that is open.
///
/// # Errors
/// Database errors.
pub async fn read_on(conn: &mut PgConnection, lineage: Lineage) -> Result<Introspection> {
    let namespace = if lineage == Lineage::Admin { ADMIN } else { PUBLIC };
    // Names are printed as the search path has them: every connection of ours has `public` alone.
    let mut found = read_namespace(conn, namespace).await?;
    if lineage == Lineage::Admin {
        found.schema = qualified(found.schema);
    }
    Ok(found)
}

/// Our own tables are called by schema and name, so that they cannot be taken for ExtendDB's.
fn qualified(schema: Schema) -> Schema {
    let with_schema = |name: String| format!("{ADMIN}.{name}");
    let tables = schema.tables.into_iter().map(|(name, mut table)| {
        table.indexes = table.indexes.into_iter().map(|(name, index)| (with_schema(name), index)).collect();
        (with_schema(name), table)
    });
    Schema {
        tables: tables.collect(),
        sequences: schema.sequences.into_iter().map(|(name, sequence)| (with_schema(name), sequence)).collect(),
    }
}

async fn read_namespace(conn: &mut PgConnection, namespace: &str) -> Result<Introspection> {
    let mut out = Introspection::default();
    read_relations(conn, namespace, &mut out).await?;
    read_columns(conn, namespace, &mut out.schema.tables).await?;
    read_constraints(conn, namespace, &mut out).await?;
    read_indexes(conn, namespace, &mut out.schema.tables).await?;
    read_sequences(conn, namespace, &mut out.schema).await?;
    read_triggers(conn, namespace, &mut out).await?;
    out.extras.sort();
    Ok(out)
}

async fn read_relations(conn: &mut PgConnection, namespace: &str, out: &mut Introspection) -> Result<()> {
    let sql = format!(
        "SELECT c.relname::text, c.relkind::text, c.relpersistence::text, c.relrowsecurity, \
           (SELECT count(*) FROM pg_inherits i WHERE i.inhrelid = c.oid OR i.inhparent = c.oid) > 0 \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE {OURS} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    );
    for row in rows(conn, &sql, namespace).await? {
        let (name, kind): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        match kind.as_str() {
            "v" => out.extras.push(format!("view {name}")),
            "m" => out.extras.push(format!("materialized view {name}")),
            "f" => out.extras.push(format!("foreign table {name}")),
            _ => {
                let mut table = Table::default();
                if kind == "p" {
                    table.options.insert("partitioned".to_owned());
                }
                if get::<String>(&row, 2)? == "u" {
                    table.options.insert("unlogged".to_owned());
                }
                if get::<bool>(&row, 3)? {
                    table.options.insert("row security".to_owned());
                }
                if get::<bool>(&row, 4)? {
                    table.options.insert("inherits".to_owned());
                }
                out.schema.tables.insert(name, table);
            }
        }
    }
    Ok(())
}

async fn read_columns(conn: &mut PgConnection, namespace: &str, tables: &mut BTreeMap<String, Table>) -> Result<()> {
    let sql = format!(
        "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull, \
           pg_get_expr(d.adbin, d.adrelid), \
           (SELECT o.collname::text FROM pg_collation o WHERE o.oid = a.attcollation AND a.attcollation <> t.typcollation), \
           a.attidentity::text, a.attgenerated::text, \
           EXISTS (SELECT 1 FROM pg_depend p JOIN pg_class s ON s.oid = p.objid AND s.relkind = 'S' \
             WHERE p.classid = 'pg_class'::regclass AND p.refclassid = 'pg_class'::regclass AND p.refobjid = c.oid \
               AND p.refobjsubid = a.attnum AND p.deptype = 'a') \
         FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
         JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
         WHERE {OURS} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped"
    );
    for row in rows(conn, &sql, namespace).await? {
        let expression: Option<String> = get(&row, 4)?;
        let (identity, generated): (String, String) = (get(&row, 6)?, get(&row, 7)?);
        let owns_sequence: bool = get(&row, 8)?;
        let mut column = Column {
            kind: normal_type(&get::<String>(&row, 2)?),
            nullable: !get::<bool>(&row, 3)?,
            collation: get(&row, 5)?,
            ..Column::default()
        };
        let expression = expression.map(|e| normal_expression(&e));
        if generated.is_empty() {
            column.default = match identity.as_str() {
                "a" => Some("generated always as identity".to_owned()),
                "d" => Some("generated by default as identity".to_owned()),
                _ => {
                    expression.map(|e| if owns_sequence && e.starts_with("nextval(") { "serial".to_owned() } else { e })
                }
            };
        } else {
            column.generated =
                expression.map(|e| format!("{e} {}", if generated == "s" { "stored" } else { "virtual" }));
        }
        if let Some(table) = tables.get_mut(&get::<String>(&row, 0)?) {
            table.columns.insert(get(&row, 1)?, column);
        }
    }
    Ok(())
}

async fn read_constraints(conn: &mut PgConnection, namespace: &str, out: &mut Introspection) -> Result<()> {
    let columns_of = |relation: &str, key: &str| {
        format!(
            "ARRAY(SELECT a.attname::text FROM unnest(k.{key}) WITH ORDINALITY u(number, place) \
             JOIN pg_attribute a ON a.attrelid = k.{relation} AND a.attnum = u.number ORDER BY u.place)"
        )
    };
    let sql = format!(
        "SELECT c.relname::text, k.conname::text, k.contype::text, {}, coalesce(f.relname::text, ''), {}, \
           k.confdeltype::text, k.confupdtype::text, k.condeferred, k.convalidated, \
           coalesce(pg_get_expr(k.conbin, k.conrelid), '') \
         FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
         LEFT JOIN pg_class f ON f.oid = k.confrelid WHERE {OURS} AND k.contype IN ('p', 'u', 'f', 'c', 'x')",
        columns_of("conrelid", "conkey"),
        columns_of("confrelid", "confkey"),
    );
    for row in rows(conn, &sql, namespace).await? {
        let (relation, name): (String, String) = (get(&row, 0)?, get(&row, 1)?);
        let mut columns: Vec<String> = get(&row, 3)?;
        let Some(table) = out.schema.tables.get_mut(&relation) else { continue };
        let not_valid = !get::<bool>(&row, 9)?;
        match get::<String>(&row, 2)?.as_str() {
            "p" => table.primary_key = columns,
            "u" => {
                let name = chosen_name(name, &relation, &columns, "key");
                table.unique.insert(Unique { columns, name });
            }
            "f" => {
                let name = chosen_name(name, &relation, &columns, "fkey");
                table.foreign_keys.insert(ForeignKey {
                    columns,
                    references: get(&row, 4)?,
                    referenced_columns: get(&row, 5)?,
                    on_delete: action(&get::<String>(&row, 6)?),
                    on_update: action(&get::<String>(&row, 7)?),
                    name,
                    deferred: get(&row, 8)?,
                    not_valid,
                });
            }
            "c" => {
                let name = chosen_name(name, &relation, &columns, "check");
                columns.sort();
                let expression = normal_expression(&get::<String>(&row, 10)?);
                table.checks.insert(Check { columns, name, expression, not_valid });
            }
            _ => out.extras.push(format!("exclusion constraint {name} on table {relation}")),
        }
    }
    Ok(())
}

async fn read_indexes(conn: &mut PgConnection, namespace: &str, tables: &mut BTreeMap<String, Table>) -> Result<()> {
    let sql = format!(
        "SELECT c.relname::text, i.relname::text, x.indisunique, x.indisvalid AND x.indisready, m.amname::text, \
           pg_get_expr(x.indpred, x.indrelid), a.attname::text, pg_get_indexdef(x.indexrelid, p + 1, false), \
           p < x.indnkeyatts, coalesce(x.indoption[p] & 1, 0) = 1, coalesce(x.indoption[p] & 2, 0) = 2, \
           (SELECT o.collname::text FROM pg_collation o \
             WHERE o.oid = x.indcollation[p] AND o.oid <> coalesce(a.attcollation, 100)), \
           (SELECT o.opcname::text FROM pg_opclass o WHERE o.oid = x.indclass[p] AND NOT o.opcdefault) \
         FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
         JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am m ON m.oid = i.relam \
         CROSS JOIN LATERAL generate_series(0, x.indnatts - 1) p \
         LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[p] AND a.attnum > 0 \
         WHERE {OURS} AND NOT EXISTS (SELECT 1 FROM pg_constraint k \
           WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u', 'x')) ORDER BY 1, 2, p"
    );
    for row in rows(conn, &sql, namespace).await? {
        let Some(table) = tables.get_mut(&get::<String>(&row, 0)?) else { continue };
        let index = table.indexes.entry(get(&row, 1)?).or_default();
        index.unique = get(&row, 2)?;
        index.invalid = !get::<bool>(&row, 3)?;
        index.method = Some(get::<String>(&row, 4)?).filter(|m| m != "btree");
        index.predicate = get::<Option<String>>(&row, 5)?.map(|e| normal_expression(&e));
        let column: Option<String> = get(&row, 6)?;
        let name = match column {
            Some(column) => column,
            None => format!("({})", normal_expression(&get::<String>(&row, 7)?)),
        };
        if !get::<bool>(&row, 8)? {
            index.include.push(name);
            continue;
        }
        let (desc, nulls_first): (bool, bool) = (get(&row, 9)?, get(&row, 10)?);
        let nulls = match (desc, nulls_first) {
            (false, true) => Some("first".to_owned()),
            (true, false) => Some("last".to_owned()),
            _ => None,
        };
        index.columns.push(IndexColumn {
            name,
            desc,
            nulls,
            collation: get(&row, 11)?,
            operator_class: get(&row, 12)?,
        });
    }
    Ok(())
}

async fn read_sequences(conn: &mut PgConnection, namespace: &str, schema: &mut Schema) -> Result<()> {
    let sql = format!(
        "SELECT c.relname::text, format_type(s.seqtypid, NULL), s.seqincrement, s.seqcycle \
         FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE {OURS} AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass \
           AND d.objid = c.oid AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))"
    );
    for row in rows(conn, &sql, namespace).await? {
        let sequence =
            Sequence { kind: normal_type(&get::<String>(&row, 1)?), increment: get(&row, 2)?, cycle: get(&row, 3)? };
        schema.sequences.insert(get(&row, 0)?, sequence);
    }
    Ok(())
}

async fn read_triggers(conn: &mut PgConnection, namespace: &str, out: &mut Introspection) -> Result<()> {
    let sql = format!(
        "SELECT g.tgname::text, c.relname::text FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {OURS} AND NOT g.tgisinternal"
    );
    for row in rows(conn, &sql, namespace).await? {
        out.extras.push(format!("trigger {} on table {}", get::<String>(&row, 0)?, get::<String>(&row, 1)?));
    }
    Ok(())
}

async fn read_settings(conn: &mut PgConnection, out: &mut Recorded) -> Result<()> {
    if !has_columns(conn, "settings", &["key", "value"]).await? {
        return Ok(());
    }
    for key in recorded::READ_SETTINGS {
        let found = rows(conn, "SELECT value::text FROM public.settings WHERE key = $1 LIMIT 1000", key).await?;
        let values: Vec<Option<String>> = found.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        if !values.is_empty() {
            out.settings.insert(key.to_owned(), values);
        }
    }
    let nameless: i64 = one(conn, "SELECT count(*) FROM public.settings WHERE key IS NULL").await?;
    out.nameless_settings = u64::try_from(nameless).unwrap_or(0);
    Ok(())
}

async fn read_ledger(conn: &mut PgConnection) -> Result<Vec<LedgerRow>> {
    if !has_columns(conn, "schema_history", &["filename", "applied_at"]).await? {
        return Ok(Vec::new());
    }
    let sql = "SELECT filename::text, applied_at::text FROM public.schema_history ORDER BY 1 NULLS FIRST, 2 LIMIT $1";
    let found =
        sqlx::query(sql).bind(LEDGER_ROWS_MAX).fetch_all(conn).await.map_err(|e| driver(OPERATION_RECORDED, e))?;
    found.iter().map(|row| Ok(LedgerRow { filename: get(row, 0)?, applied_at: get(row, 1)? })).collect()
}

async fn read_progress(conn: &mut PgConnection) -> Result<Vec<String>> {
    if !has_columns(conn, "data_code_migration_progress", &["migration_name"]).await? {
        return Ok(Vec::new());
    }
    let sql = "SELECT DISTINCT migration_name::text FROM public.data_code_migration_progress \
               WHERE migration_name IS NOT NULL AND $1 <> '' ORDER BY 1";
    rows(conn, sql, PUBLIC).await?.iter().map(|row| get(row, 0)).collect()
}

/// Tables of items of the oldest builds: the account's twelve digits where others have an id.
async fn count_legacy_names(conn: &mut PgConnection) -> Result<u64> {
    let sql = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname ~ '^_ddb_[0-9]{12}_'";
    let count: i64 = one(conn, sql).await?;
    Ok(u64::try_from(count).unwrap_or(0))
}

async fn existing(conn: &mut PgConnection, names: &[&str]) -> Result<Vec<String>> {
    let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') ORDER BY 1";
    let found = rows(conn, sql, PUBLIC).await?;
    let found: Vec<String> = found.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Ok(found.into_iter().filter(|name| names.contains(&name.as_str())).collect())
}

async fn has_columns(conn: &mut PgConnection, table: &str, columns: &[&str]) -> Result<bool> {
    let sql = "SELECT a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
               JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = 'public' AND c.relname = $1 AND c.relkind IN ('r', 'p') \
                 AND a.attnum > 0 AND NOT a.attisdropped";
    let found = rows(conn, sql, table).await?;
    let found: Vec<String> = found.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
    Ok(columns.iter().all(|wanted| found.iter().any(|c| c == wanted)))
}

/// What tells one database of one running server from every other.
async fn identity(conn: &mut PgConnection) -> Result<String> {
    one(
        conn,
        "SELECT d.oid::text || ' ' || pg_postmaster_start_time()::text FROM pg_database d WHERE d.datname = current_database()",
    )
    .await
}

/// The name of a constraint if somebody chose it; PostgreSQL's own choice says nothing and may differ.
fn chosen_name(name: String, table: &str, columns: &[String], suffix: &str) -> Option<String> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let joined = columns.join("_");
    let first = columns.first().map_or("", String::as_str);
    let generated =
        [format!("{table}_{joined}_{suffix}"), format!("{table}_{first}_{suffix}"), format!("{table}_{suffix}")];
    // A name that would be longer than 63 bytes is cut in the middle.
    let cut = name.len() >= 60 && stem.ends_with(&format!("_{suffix}"));
    (!cut && !generated.iter().any(|g| g == stem)).then_some(name)
}

fn normal_type(printed: &str) -> String {
    match printed {
        "timestamp with time zone" => "timestamptz".to_owned(),
        "timestamp without time zone" => "timestamp".to_owned(),
        "time without time zone" => "time".to_owned(),
        other => other.replace("character varying", "varchar"),
    }
}

fn normal_expression(printed: &str) -> String {
    match expression::normalise(printed).as_str() {
        "current_timestamp" | "transaction_timestamp()" => "now()".to_owned(),
        other => other.to_owned(),
    }
}

fn action(letter: &str) -> String {
    match letter {
        "r" => "restrict",
        "c" => "cascade",
        "n" => "set null",
        "d" => "set default",
        _ => "no action",
    }
    .to_owned()
}

async fn rows(conn: &mut PgConnection, sql: &str, parameter: &str) -> Result<Vec<PgRow>> {
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned()))
        .bind(parameter)
        .fetch_all(conn)
        .await
        .map_err(|e| driver(OPERATION, e))
}

async fn one<T>(conn: &mut PgConnection, sql: &'static str) -> Result<T>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    let row = sqlx::query(sql).fetch_one(conn).await.map_err(|e| driver(OPERATION, e))?;
    get(&row, 0)
}

fn get<'r, T>(row: &'r PgRow, index: usize) -> Result<T>
where
    T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    row.try_get(index).map_err(|e| driver(OPERATION, e))
}

#[cfg(test)]
mod tests {
    use super::chosen_name;

    #[test]
    fn names_that_postgresql_chose_are_dropped_and_chosen_ones_kept() {
        let columns = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let of =
            |name: &str, table, names: &[&str], suffix| chosen_name(name.to_owned(), table, &columns(names), suffix);
        assert_eq!(of("accounts_account_name_key", "accounts", &["account_name"], "key"), None);
        assert_eq!(of("t_a_b_fkey1", "t", &["a", "b"], "fkey"), None);
        assert_eq!(of("t_a_fkey", "t", &["a", "b"], "fkey"), None);
        assert_eq!(of("t_check", "t", &["a", "b"], "check"), None);
        assert_eq!(of("tables_table_id_unique", "tables", &["table_id"], "key"), Some("tables_table_id_unique".into()));
        assert_eq!(of("chk_x", "t", &["x"], "check"), Some("chk_x".into()));
    }
}
