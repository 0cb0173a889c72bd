//! The portable backup: writing one into a store, reading and verifying it.
//!
//! Protocol of a writer: data files from any number of worker threads ([`writer`]), then the two
//! export manifests, then the commit record, created last and only if absent. A reader
//! ([`verify`]) looks at everything in the order of the backup format, section 9, before anybody
//! writes an item to a target, and [`data_file`] checks each file once more while it is applied.

pub mod data_file;
pub mod error;
pub mod layout;
mod lines;
pub mod list;
pub mod verify;
pub mod writer;

pub use error::{Error, Result};
pub use layout::BackupPrefix;
