//! Operations: each takes an options struct, returns a report struct and reports to an observer.
//!
//! Nothing here knows which backend or store it works on, and nothing prints.

pub mod cancel;
pub mod error;
pub mod observer;
pub mod table;

pub use error::{Error, Result};
