//! Migrations: what is there, what is to be done, doing it under the lock, and going back.

pub mod apply;
pub mod gate;
pub mod history;
pub mod plan;
pub mod status;
pub mod up;

/// How this program names itself in our ledger.
pub const TOOL_VERSION: &str = concat!("extenddb-admin ", env!("CARGO_PKG_VERSION"));
