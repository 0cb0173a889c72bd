//! Role `ledger` on this backend.

use super::Postgres;
use crate::backend::Ledger;

#[async_trait::async_trait]
impl Ledger for Postgres {}
