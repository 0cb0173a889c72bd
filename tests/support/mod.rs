//! What the tests share: servers, scratch deployments, the binary, and tables written the way a
//! server of the backend writes them.
//!
//! A test takes a [`Kind`] and is made for every backend by [`on_every_backend!`]; a further backend
//! joins by a line there and an arm wherever [`Kind`] is matched. Nothing here calls the product's
//! own encoders: a fixture made with them could not show their faults.
#![allow(dead_code, unused_macros, unused_imports, clippy::unwrap_used)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

pub mod deployment;
pub mod digest;
pub mod rows;
pub mod run;
pub mod sample;
pub mod seam;
pub mod servers;
pub mod sql;
pub mod table;
pub mod tables;

pub use deployment::Deployment;
pub use run::Run;
pub use servers::Kind;
pub use sql::Db;

/// Makes one test a backend of each function, which takes a [`Kind`]. A function's backend that has
/// no server is skipped, visibly, or fails where servers are required.
macro_rules! on_every_backend {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        mod sqlite { $($(#[$meta])* #[test] fn $name() { $crate::support::Kind::Sqlite.run(super::$name) })+ }
        mod postgres { $($(#[$meta])* #[test] fn $name() { $crate::support::Kind::Postgres.run(super::$name) })+ }
    };
}
pub(crate) use on_every_backend;
