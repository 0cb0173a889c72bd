//! One suite of behaviours on every backend: what makes a backend one of this tool's.

#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod backup_rows;
mod catalog;
mod fixtures;
mod jobs;
mod loader;
mod postgres_only;
mod sample;
mod snapshot;

use support::{Deployment, Kind, on_every_backend};

/// The suite's own ground: a scratch deployment is there, empty, and gone afterwards.
fn a_scratch_deployment_starts_empty(kind: Kind) {
    let deployment = Deployment::empty(kind);
    assert_eq!(deployment.catalog().tables(), Vec::<String>::new());
}

on_every_backend!(a_scratch_deployment_starts_empty);
