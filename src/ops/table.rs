//! Views of the live catalog's tables.

use serde::Serialize;

use super::Result;
use crate::backend::Backend;
use crate::domain::table::TableInfo;
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

/// Lists tables of one account or of all.
///
/// # Errors
/// Those of the catalog.
pub async fn list(backend: &dyn Backend, account_id: Option<&str>) -> Result<TableList> {
    let tables = backend.list_tables(account_id).await?;
    Ok(TableList { tables: tables.iter().map(TableRow::from).collect() })
}
