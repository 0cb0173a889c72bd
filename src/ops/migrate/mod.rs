//! Migrations: what is there, what is to be done, doing it under the lock, and going back.

pub mod status;
