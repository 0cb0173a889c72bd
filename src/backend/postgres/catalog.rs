//! Role `catalog` on this backend.

use super::Postgres;
use crate::backend::Catalog;

#[async_trait::async_trait]
impl Catalog for Postgres {}
