//! Role `jobs` on this backend.

use super::Postgres;
use crate::backend::Jobs;

#[async_trait::async_trait]
impl Jobs for Postgres {}
