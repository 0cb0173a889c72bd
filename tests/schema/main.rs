//! What is there, and what it is taken for: golden schemas, introspection, recognition and drift.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod contract;
mod drift;
mod golden;
mod property;
mod recognition;
mod worn;
