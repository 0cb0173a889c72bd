//! Role `jobs` on this backend.

use super::Sqlite;
use crate::backend::Jobs;

#[async_trait::async_trait]
impl Jobs for Sqlite {}
