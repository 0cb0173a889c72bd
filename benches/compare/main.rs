//! Measures against what somebody would run instead: `pg_dump -Fd -j2` and `pg_restore -j2`,
//! `sqlite3 .backup` with `gzip -6`, a plain loader.
//!
//! ```text
//! cargo bench --bench compare                       everything, full size, medians of five
//! cargo bench --bench compare -- --only postgres    parts: postgres, sqlite
//! cargo bench --bench compare -- --items 200000 --runs 3
//! cargo bench --bench compare -- --smoke            tiny, once: only that it runs
//! ```
//!
//! Every pair of rivals takes turns, so that a change of the machine's speed meets both; a ratio is
//! that of their medians, above one when ours is faster. Peak memory is the kernel's high-water mark
//! of our process. The servers are those of `scripts/test-servers`, where nothing is synced to disk:
//! that favours neither side, as both write through the same server.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod generate;
mod measure;
mod postgres;
mod sqlite;

use measure::Report;

/// What to measure.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Items of about 400 bytes.
    pub items: u64,
    /// Items of about 100 KB.
    pub large_items: u64,
    /// Runs of each command; the median counts.
    pub runs: usize,
    /// Parts to run.
    pub only: Option<String>,
}

impl Plan {
    fn from_args() -> Self {
        let mut plan = Self { items: 2_000_000, large_items: 20_000, runs: 5, only: None };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| panic!("{arg} needs a value"));
            match arg.as_str() {
                "--items" => plan.items = value().parse().expect("a number of items"),
                "--large-items" => plan.large_items = value().parse().expect("a number of items"),
                "--runs" => plan.runs = value().parse().expect("a number of runs"),
                "--only" => plan.only = Some(value()),
                "--smoke" => plan = Self { items: 2_000, large_items: 20, runs: 1, only: plan.only },
                // Given by cargo.
                "--bench" | "--test" => {}
                other => panic!("unknown argument {other}; see the head of benches/compare/main.rs"),
            }
        }
        plan
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only.split(',').any(|o| o == part))
    }
}

fn main() {
    let plan = Plan::from_args();
    let mut report = Report::default();
    if plan.wants("postgres") {
        if support::Kind::Postgres.reachable() {
            postgres::measure(&plan, &mut report);
        } else {
            println!("PostgreSQL is not measured: scripts/test-servers up");
        }
    }
    if plan.wants("sqlite") {
        sqlite::measure(&plan, &mut report);
    }
    println!("{report}");
}
