//! Role `ledger` on this backend.

use super::Sqlite;
use crate::backend::Ledger;

#[async_trait::async_trait]
impl Ledger for Sqlite {}
