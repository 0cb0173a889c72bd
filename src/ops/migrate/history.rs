//! What was applied: our ledger, and the server's own beside it.

use serde::Serialize;

use crate::backend::Backend;
use crate::domain::applied::Entry;
use crate::domain::recorded::LedgerRow;
use crate::ops::Result;

/// Both ledgers.
#[derive(Debug, Clone, Serialize)]
pub struct HistoryReport {
    /// Ours, oldest first.
    pub entries: Vec<Entry>,
    /// The server's, by file name.
    pub server: Vec<ServerRow>,
}

/// One row of a `schema_history`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerRow {
    /// `catalog` or `data`.
    pub ledger: String,
    /// Its file name; empty in a worn row.
    pub row: String,
    /// When, as it stands.
    pub applied_at: String,
}

/// Reads both.
///
/// # Errors
/// Database errors; a row of ours that breaks its rules is named.
pub async fn history(backend: &dyn Backend) -> Result<HistoryReport> {
    let recorded = backend.recorded().await?;
    let rows = |name: &str, rows: Vec<LedgerRow>| -> Vec<ServerRow> {
        let row = |r: LedgerRow| ServerRow {
            ledger: name.to_owned(),
            row: r.filename.unwrap_or_default(),
            applied_at: r.applied_at.unwrap_or_default(),
        };
        rows.into_iter().map(row).collect()
    };
    let mut server = rows("catalog", recorded.ledger);
    if !recorded.one_database {
        server.extend(rows("data", recorded.data_ledger));
    }
    Ok(HistoryReport { entries: backend.history().await?, server })
}
