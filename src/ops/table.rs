//! Views of the live catalog's tables, and the digest of one.

mod digest;

use serde::Serialize;

pub use digest::{DigestReport, digest};

use super::backup::plan::{Selection, select};
use super::{Error, Result};
use crate::backend::Backend;
use crate::domain::table::{IndexInfo, SourceTable, TableInfo};
use crate::domain::timestamp::TimestampMs;

/// Report of [`list`].
#[derive(Debug, Serialize)]
pub struct TableList {
    /// Ordered by `(account_id, table)` in byte order.
    pub tables: Vec<TableRow>,
}

/// One table of a list. Counts and sizes are what the catalog last recorded, no measurement.
#[derive(Debug, Serialize)]
pub struct TableRow {
    /// Account.
    pub account_id: String,
    /// Name.
    pub table: String,
    /// Physical identity.
    pub table_id: String,
    /// The catalog's word.
    pub status: String,
    /// Recorded number of items.
    pub item_count: i64,
    /// Recorded size.
    pub size_bytes: i64,
    /// Number of secondary indexes.
    pub indexes: usize,
    /// When it was made.
    pub created_at: TimestampMs,
}

impl From<&TableInfo> for TableRow {
    fn from(info: &TableInfo) -> Self {
        let table = &info.definition;
        Self {
            account_id: info.account_id.clone(),
            table: table.table_name.clone(),
            table_id: table.table_id.clone(),
            status: info.status.word().to_owned(),
            item_count: table.item_count,
            size_bytes: table.table_size_bytes,
            indexes: info.indexes.len(),
            created_at: TimestampMs::from_epoch_seconds(table.table_creation_date_time),
        }
    }
}

/// Report of [`describe`].
#[derive(Debug, Serialize)]
pub struct TableDescription {
    /// The same facts as in a list.
    #[serde(flatten)]
    pub row: TableRow,
    /// The definition in DynamoDB's own form.
    pub definition: SourceTable,
    /// Secondary indexes, by name in byte order.
    pub secondary_indexes: Vec<IndexInfo>,
    /// What was repaired or could not be kept while reading the definition.
    pub notes: Vec<String>,
}

/// Lists tables of one account or of all.
///
/// # Errors
/// Those of the catalog.
pub async fn list(backend: &dyn Backend, account_id: Option<&str>) -> Result<TableList> {
    let tables = backend.list_tables(account_id).await?;
    Ok(TableList { tables: tables.iter().map(TableRow::from).collect() })
}

/// The one table of a name, in one account or in whichever has one.
///
/// # Errors
/// `NotFound`; `Usage` listing the accounts when several have such a table.
pub async fn find(backend: &dyn Backend, name: &str, account_id: Option<&str>) -> Result<TableInfo> {
    let tables = backend.list_tables(account_id).await?;
    match select(&tables, &Selection::Named(vec![name.to_owned()]))?.pop() {
        Some(Ok(info)) => Ok(info),
        Some(Err((_, error))) => Err(error),
        None => Err(Error::NotFound(format!("there is no table {name:?}"))),
    }
}

/// Describes one table.
///
/// # Errors
/// As [`find`].
pub async fn describe(backend: &dyn Backend, name: &str, account_id: Option<&str>) -> Result<TableDescription> {
    let info = find(backend, name, account_id).await?;
    Ok(TableDescription {
        row: TableRow::from(&info),
        definition: info.definition,
        secondary_indexes: info.indexes,
        notes: info.notes,
    })
}
