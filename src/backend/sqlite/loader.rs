//! Role `loader` on this backend.

use super::Sqlite;
use crate::backend::Loader;

#[async_trait::async_trait]
impl Loader for Sqlite {}
