//! Role `ledger` on this backend.

use super::Postgres;
use crate::backend::{Ledger, Result};
use crate::domain::recorded::{Introspection, Recorded};
use crate::domain::schema::Lineage;

#[async_trait::async_trait]
impl Ledger for Postgres {
    async fn introspect(&self, lineage: Lineage) -> Result<Introspection> {
        self.read_schema(lineage).await
    }

    async fn recorded(&self) -> Result<Recorded> {
        self.read_recorded().await
    }

    fn lineages(&self) -> &'static [Lineage] {
        &[Lineage::Catalog, Lineage::Data, Lineage::Admin]
    }
}
