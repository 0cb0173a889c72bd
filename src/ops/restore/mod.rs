//! Restores: verify everything, admit a durable job, stage, load, compare, publish.
//!
//! The phases, each in its file: which backup becomes which table ([`request`]); the new table's definition and what the
//! target cannot hold ([`prepare`], [`rules`]); all checks before any write ([`verify`]); a legacy backup spooled into an
//! archive first ([`spool`]); data files loaded in parallel ([`load`]); comparison and publication ([`activate`]).
//! [`admit()`] records the job, [`run()`] works on a claimed one, also on one that another process left.
//!
//! Source: backup operations, section 8.

pub mod activate;
pub mod admit;
pub mod load;
mod look;
pub mod prepare;
pub mod request;
pub mod rules;
pub mod run;
pub mod spool;
pub mod verify;

pub use admit::{Admitted, RestoreOptions, admit};
pub use run::{RestoreReport, run};
