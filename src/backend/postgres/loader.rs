//! Role `loader` on this backend.

use super::Postgres;
use crate::backend::Loader;

#[async_trait::async_trait]
impl Loader for Postgres {}
