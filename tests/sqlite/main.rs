//! The SQLite backend through its seam, against files as servers of each release left them.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "../support/mod.rs"]
mod support;

mod claims;
mod ground;
mod legacy;
mod restore;
mod rows;
mod snapshot;
mod speed;
