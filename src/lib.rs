//! Administration of ExtendDB deployments: migrations, backups, restores and inspection.
//!
//! Data flows one way, in the order of this list read from the bottom: the
//! command line calls operations, operations call the archive and the two seams
//! (backends and stores), and everything speaks in the plain types of [`domain`].
//! `tests/tidy.rs` keeps the imports to that direction; `ARCHITECTURE.md` says why.

pub mod archive;
pub mod backend;
pub mod cli;
pub mod config;
pub mod domain;
pub mod migrations;
pub mod ops;
pub mod store;
pub mod ui;
