//! Backups: create, list, describe, verify, delete, promote.
//!
//! A creation is one job over any number of tables, in these phases, each in its file: refuse what cannot be
//! kept ([`plan`]), clean up dead attempts ([`sweep`]), claim ([`claim`]), read one snapshot into data files
//! ([`stream`]), write the commit records ([`seal`]). [`create()`] admits the job and runs them.
//!
//! Source: backup operations, section 5. The store is the truth about backups; catalog rows are a cache.

pub mod claim;
pub mod create;
mod creation;
pub mod delete;
pub mod describe;
mod group;
pub mod list;
pub mod plan;
pub mod promote;
pub mod rate;
pub mod report;
pub mod request;
pub mod resolve;
pub mod seal;
pub mod stream;
pub mod sweep;
pub mod verify;

pub use create::{CreateOptions, create};
pub use report::{CreateReport, CreatedBackup, FailedTable};
