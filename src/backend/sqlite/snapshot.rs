//! Role `snapshot` on this backend.

use super::Sqlite;
use crate::backend::Snapshots;

#[async_trait::async_trait]
impl Snapshots for Sqlite {}
