//! Role `snapshot` on this backend.

use super::Postgres;
use crate::backend::Snapshots;

#[async_trait::async_trait]
impl Snapshots for Postgres {}
