//! Migration steps that are code: work across the two databases, and over tables found by their shape.

use sqlx::postgres::PgConnection;

use super::{physical_names, reverse_index};
use crate::backend::Result;
use crate::domain::migration::Operation;

/// Whether there is nothing left to do.
pub async fn is_done(operation: Operation, catalog: &mut PgConnection, data: &mut PgConnection) -> Result<bool> {
    match operation {
        Operation::RenamePhysicalTables => physical_names::is_done(catalog, data).await,
        Operation::BuildReverseIndexes => reverse_index::is_done(data).await,
    }
}

/// Runs an operation; converges.
pub async fn run(operation: Operation, catalog: &mut PgConnection, data: &mut PgConnection) -> Result<()> {
    match operation {
        Operation::RenamePhysicalTables => physical_names::rename(catalog, data).await,
        Operation::BuildReverseIndexes => reverse_index::build_missing(data).await,
    }
}
