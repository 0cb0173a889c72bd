//! Role `catalog` on this backend.

use super::Sqlite;
use crate::backend::Catalog;

#[async_trait::async_trait]
impl Catalog for Sqlite {}
