//! Operations: each takes an options struct, returns a report struct and reports to an observer.
//!
//! Nothing here knows which backend or store it works on, and nothing prints.

pub mod admission;
pub mod backup;
pub mod cancel;
pub mod clock;
pub mod error;
pub mod golden;
pub mod heart;
pub mod job;
pub mod migrate;
pub mod observer;
pub mod restore;
pub mod schema;
pub mod settings;
pub mod store;
pub mod table;

pub use error::{Error, Result};
