//! Migrations: what is there, what is to be done, doing it under the lock, and going back.

pub mod adopt;
pub mod apply;
pub mod check;
pub mod down;
pub mod gate;
pub mod history;
pub mod plan;
pub mod rehearse;
pub mod repair;
pub mod status;
pub mod up;

pub use crate::backend::ledger::SessionOptions;
