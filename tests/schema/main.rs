//! What is there, and what it is taken for: golden schemas, introspection, recognition and drift.

#[path = "../support/mod.rs"]
mod support;

mod contract;
mod drift;
mod golden;
mod property;
mod recognition;
mod worn;
