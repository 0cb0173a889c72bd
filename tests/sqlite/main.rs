//! The SQLite backend through its seam, against files as servers of each release left them.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod claims;
mod ground;
mod legacy;
mod restore;
mod rows;
mod snapshot;
