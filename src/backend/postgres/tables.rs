//! Reads the catalog's rows about tables, and tells the types that older builds forgot.

use std::collections::HashMap;

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row as _};

use super::connect::Connector;
use super::error::{damaged_row, driver};
use super::names::Physical;
use super::shape::Shape;
use crate::backend::Result;
use crate::domain::catalog_row::{
    IndexColumns, MissingKeyType, TableColumns, VectorColumns, missing_key_types, sort_column_type, table_info,
};
use crate::domain::table::{AttributeDefinition, ScalarType, TableInfo, TableKey};
use crate::domain::timestamp::TimestampMs;

const OPERATION: &str = "read the catalog's tables";

/// Milliseconds since the epoch of a timestamptz expression, rounded.
pub fn epoch_ms(expression: &str) -> String {
    format!("round(extract(epoch FROM {expression}) * 1000)::bigint")
}

/// Which rows of `tables` to read.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// All of them.
    All,
    /// Those of one account.
    Account(&'a str),
    /// Those named.
    Keys(&'a [TableKey]),
}

/// The rows of one table, not yet joined.
struct Rows {
    table: TableColumns,
    indexes: Vec<IndexColumns>,
    vectors: Vec<VectorColumns>,
}

/// Reads tables, ordered by `(account_id, table_name)` in byte order. The data database is asked only for
/// tables whose row lacks the type of a key.
///
/// # Errors
/// `Damaged` names the row and column.
pub async fn read_tables(
    conn: &mut PgConnection,
    shape: &Shape,
    which: Which<'_>,
    connector: &Connector,
) -> Result<Vec<TableInfo>> {
    let mut out = Vec::new();
    let mut data: Option<PgConnection> = None;
    for rows in read_rows(conn, shape, which).await? {
        let missing = missing_key_types(&rows.table, &rows.indexes).map_err(|e| damaged_row(OPERATION, &e))?;
        let mut found = Vec::new();
        if !missing.is_empty() {
            let data = match &mut data {
                Some(data) => data,
                none => none.insert(connector.data_connection().await?),
            };
            for missing in &missing {
                if let Some(attribute_type) = tell_type(data, &rows, missing, shape.named_by_table()).await? {
                    found.push(AttributeDefinition { attribute_name: missing.attribute.clone(), attribute_type });
                }
            }
        }
        let info = table_info(&rows.table, &rows.indexes, &rows.vectors, &found, shape.named_by_table());
        out.push(info.map_err(|e| damaged_row(OPERATION, &e))?);
    }
    Ok(out)
}

async fn read_rows(conn: &mut PgConnection, shape: &Shape, which: Which<'_>) -> Result<Vec<Rows>> {
    let (accounts, names): (Vec<&str>, Vec<&str>) = match which {
        Which::All => (Vec::new(), Vec::new()),
        Which::Account(account) => (vec![account], Vec::new()),
        Which::Keys(keys) => keys.iter().map(|k| (k.account_id.as_str(), k.table_name.as_str())).unzip(),
    };
    let filter = match which {
        Which::All => "cardinality($1::text[]) = 0 AND cardinality($2::text[]) = 0",
        Which::Account(_) => "tables.account_id = ANY($1::text[]) AND cardinality($2::text[]) = 0",
        Which::Keys(_) => "(tables.account_id, tables.table_name) IN (SELECT * FROM unnest($1::text[], $2::text[]))",
    };
    let sql = format!(
        "SELECT account_id, table_name, table_id, table_arn, table_status, {created}, key_schema::text, \
         attribute_definitions::text, billing_mode, {throughput}, {on_demand}, {sse}, {class}, \
         item_count, table_size_bytes FROM tables WHERE {filter} \
         ORDER BY account_id COLLATE \"C\", table_name COLLATE \"C\"",
        created = epoch_ms("creation_date_time"),
        throughput = shape.text("tables", "provisioned_throughput"),
        on_demand = shape.text("tables", "on_demand_throughput"),
        sse = shape.text("tables", "sse_specification"),
        class = shape.text("tables", "table_class"),
    );
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(&accounts)
        .bind(&names)
        .fetch_all(&mut *conn)
        .await
        .map_err(|e| driver(OPERATION, e))?;
    let mut tables = Vec::with_capacity(rows.len());
    for row in &rows {
        tables.push(table_columns(row).map_err(|e| driver(OPERATION, e))?);
    }
    let ids: Vec<String> = tables.iter().map(|t| t.table_id.clone()).collect();
    let mut indexes = read_indexes(conn, shape, &ids).await?;
    let mut vectors = read_vectors(conn, shape, &ids).await?;
    let with_indexes = tables.into_iter().map(|table| Rows {
        indexes: indexes.remove(&table.table_id).unwrap_or_default(),
        vectors: vectors.remove(&table.table_id).unwrap_or_default(),
        table,
    });
    Ok(with_indexes.collect())
}

fn table_columns(row: &PgRow) -> Result<TableColumns, sqlx::Error> {
    Ok(TableColumns {
        account_id: row.try_get(0)?,
        table_name: row.try_get(1)?,
        table_id: row.try_get(2)?,
        table_arn: row.try_get(3)?,
        table_status: row.try_get(4)?,
        creation_date_time: TimestampMs(row.try_get(5)?),
        key_schema: row.try_get(6)?,
        attribute_definitions: row.try_get(7)?,
        billing_mode: row.try_get(8)?,
        provisioned_throughput: row.try_get(9)?,
        on_demand_throughput: row.try_get(10)?,
        sse_specification: row.try_get(11)?,
        table_class: row.try_get(12)?,
        item_count: row.try_get(13)?,
        table_size_bytes: row.try_get(14)?,
    })
}

async fn read_indexes(
    conn: &mut PgConnection,
    shape: &Shape,
    ids: &[String],
) -> Result<HashMap<String, Vec<IndexColumns>>> {
    let sql = format!(
        "SELECT table_id, index_name, {id}, index_type, key_schema::text, projection::text, index_status, \
         {throughput} FROM indexes WHERE table_id = ANY($1) ORDER BY table_id, index_name COLLATE \"C\"",
        id = shape.text("indexes", "index_id"),
        throughput = shape.text("indexes", "provisioned_throughput"),
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(ids).fetch_all(conn).await.map_err(|e| driver(OPERATION, e))?;
    let mut found: HashMap<String, Vec<IndexColumns>> = HashMap::new();
    for row in rows {
        let read = || -> Result<(String, IndexColumns), sqlx::Error> {
            let index = IndexColumns {
                index_name: row.try_get(1)?,
                index_id: row.try_get::<Option<String>, _>(2)?.unwrap_or_default(),
                index_type: row.try_get(3)?,
                key_schema: row.try_get(4)?,
                projection: row.try_get(5)?,
                index_status: row.try_get(6)?,
                provisioned_throughput: row.try_get(7)?,
            };
            Ok((row.try_get(0)?, index))
        };
        let (table_id, index) = read().map_err(|e| driver(OPERATION, e))?;
        found.entry(table_id).or_default().push(index);
    }
    Ok(found)
}

async fn read_vectors(
    conn: &mut PgConnection,
    shape: &Shape,
    ids: &[String],
) -> Result<HashMap<String, Vec<VectorColumns>>> {
    let mut found: HashMap<String, Vec<VectorColumns>> = HashMap::new();
    if !shape.has_table("vector_indexes") {
        return Ok(found);
    }
    let rows = sqlx::query(
        "SELECT table_id, index_name, dimensions::bigint, distance_function, vector_attribute::text, \
         search_schema::text, projection::text, index_status, backfilling FROM vector_indexes \
         WHERE table_id = ANY($1) ORDER BY table_id, index_name COLLATE \"C\"",
    )
    .bind(ids)
    .fetch_all(conn)
    .await
    .map_err(|e| driver(OPERATION, e))?;
    for row in rows {
        let read = || -> Result<(String, VectorColumns), sqlx::Error> {
            let vector = VectorColumns {
                index_name: row.try_get(1)?,
                dimensions: row.try_get(2)?,
                distance_function: row.try_get(3)?,
                vector_attribute: row.try_get(4)?,
                search_schema: row.try_get(5)?,
                projection: row.try_get(6)?,
                index_status: row.try_get(7)?,
                backfilling: row.try_get(8)?,
            };
            Ok((row.try_get(0)?, vector))
        };
        let (table_id, vector) = read().map_err(|e| driver(OPERATION, e))?;
        found.entry(table_id).or_default().push(vector);
    }
    Ok(found)
}

/// Tells the type of a key attribute from what is stored: a sort attribute from the columns of the
/// primary key or of the ordering index, a partition attribute from an item.
async fn tell_type(
    data: &mut PgConnection,
    rows: &Rows,
    missing: &MissingKeyType,
    named_by_table: bool,
) -> Result<Option<ScalarType>> {
    let table = &rows.table;
    let base = if named_by_table {
        Physical::by_table(&table.account_id, &table.table_name)
    } else {
        Physical::of_id(&table.table_id)
    };
    let physical = match missing.index.and_then(|i| rows.indexes.get(i)) {
        None => base.clone(),
        Some(index) if named_by_table => {
            Physical::index_by_table(&table.account_id, &table.table_name, &index.index_name)
        }
        Some(index) => Physical::of_id(&index.index_id),
    };
    match missing.sort_position {
        Some(position) => sort_type(data, &physical, position).await,
        None => item_type(data, &base, &missing.attribute).await,
    }
}

async fn sort_type(data: &mut PgConnection, physical: &Physical, position: usize) -> Result<Option<ScalarType>> {
    let prefix = if position == 0 { "sk".to_owned() } else { format!("sk{}", position + 1) };
    let candidates: Vec<String> = ["s", "n", "b"].iter().map(|t| format!("{prefix}_{t}")).collect();
    let row = sqlx::query(
        "SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid \
         AND a.attnum = ANY(i.indkey::int2[]) WHERE i.indrelid = to_regclass($1) AND a.attname = ANY($2) LIMIT 1",
    )
    .bind(physical.sql())
    .bind(&candidates)
    .fetch_optional(data)
    .await
    .map_err(|e| driver(OPERATION, e))?;
    let name: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(OPERATION, e))?;
    Ok(name.as_deref().and_then(sort_column_type))
}

async fn item_type(data: &mut PgConnection, base: &Physical, attribute: &str) -> Result<Option<ScalarType>> {
    let there: Option<String> = sqlx::query("SELECT to_regclass($1)::text")
        .bind(base.sql())
        .fetch_one(&mut *data)
        .await
        .and_then(|r| r.try_get(0))
        .map_err(|e| driver(OPERATION, e))?;
    if there.is_none() {
        return Ok(None);
    }
    let sql = format!(
        "SELECT k.tag FROM {} t, LATERAL jsonb_object_keys(t.item_data -> $1) AS k(tag) \
         WHERE t.item_data ? $1 LIMIT 1",
        base.sql()
    );
    let row =
        sqlx::query(AssertSqlSafe(sql)).bind(attribute).fetch_optional(data).await.map_err(|e| driver(OPERATION, e))?;
    let tag: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(OPERATION, e))?;
    Ok(match tag.as_deref() {
        Some("S") => Some(ScalarType::S),
        Some("N") => Some(ScalarType::N),
        Some("B") => Some(ScalarType::B),
        _ => None,
    })
}

/// Physical columns that hold the sort values of a key schema, in order.
///
/// `prefix` is `sk` for a table's own key and `base_sk` for the base key inside an index table.
pub fn sort_columns(prefix: &str, types: &[ScalarType]) -> Vec<String> {
    let mut names = Vec::with_capacity(types.len());
    for (position, ty) in types.iter().enumerate() {
        let number = if position == 0 { String::new() } else { (position + 1).to_string() };
        names.push(format!("{prefix}{number}_{}", ty.tag().to_ascii_lowercase()));
    }
    names
}
