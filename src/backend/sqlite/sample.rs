//! A small deployment as a server of the oldest release left it, for the demonstration.
//!
//! The rows lie in `sample.sql`: they are data of this backend's layout, so they lie in its folder, and they
//! are written as texts, so that the demonstration does not prove this program's encoders with themselves.

use super::Sqlite;
use super::error::driver;
use crate::backend::Result;
use crate::backend::registry::Sample;

/// Name and version of what [`write()`] leaves.
pub const SAMPLE: Sample = Sample {
    catalog_version: "0.0.2",
    table: "Orders",
    write: |options| Box::pin(async move { Sqlite::open(options)?.run(write).await }),
};

/// Writes the rows into an empty catalog of version 0.0.2, all or none.
fn write(sqlite: &Sqlite) -> Result<()> {
    let conn = sqlite.writer()?;
    let sql = format!("BEGIN IMMEDIATE;\n{}COMMIT;", include_str!("sample.sql"));
    conn.execute_batch(&sql).map_err(|e| driver("write the sample deployment", e))
}
