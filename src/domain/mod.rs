//! Pure types, state machines and canonical forms: no input or output, no clock, no async.

pub mod applied;
pub mod arn;
pub mod catalog_row;
pub mod claim;
pub mod difference;
pub mod digest;
pub mod export;
pub mod expression;
pub mod finding;
pub mod fingerprint;
pub mod index_row;
pub mod item;
pub mod job;
pub mod key;
pub mod manifest;
pub mod migration;
pub mod number;
pub mod quantity;
pub mod recorded;
pub mod redact;
pub mod schema;
pub mod sql_text;
pub mod store_ref;
pub mod table;
pub mod timestamp;
pub mod tolerance;
