//! Which servers there are, and what happens to a test whose server is not.

use std::io::Write as _;
use std::process::Command;
use std::sync::OnceLock;

/// A backend under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    /// Every backend.
    pub const ALL: &'static [Self] = &[Self::Sqlite, Self::Postgres];

    /// The project's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Runs a test on this backend, or skips it.
    pub fn run(self, test: fn(Self)) {
        if self.reachable() {
            test(self);
        }
    }

    /// Whether the backend's server answers. Where servers are required, an absent one is a failure.
    pub fn reachable(self) -> bool {
        match self {
            Self::Sqlite => true,
            Self::Postgres => postgres_url().is_some() || absent("PostgreSQL"),
        }
    }
}

/// Says that a test is skipped, past the capture of the test harness.
pub fn skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

fn absent(server: &str) -> bool {
    assert!(!required(), "{server} is not reachable and this run requires it: scripts/test-servers up");
    skipped(&format!("{server} is not reachable (scripts/test-servers up)"));
    false
}

fn required() -> bool {
    std::env::var("CI").is_ok_and(|v| v == "true") || std::env::var_os("EXTENDDB_TEST_REQUIRE_SERVERS").is_some()
}

/// URL of the ordinary role of the PostgreSQL server, which owns the databases that it makes.
pub fn postgres_url() -> Option<&'static str> {
    static URL: OnceLock<Option<String>> = OnceLock::new();
    URL.get_or_init(|| variable("postgres", "EXTENDDB_TEST_POSTGRES_ROLE_URL")).as_deref()
}

/// URL of the superuser of the PostgreSQL server.
pub fn postgres_superuser_url() -> Option<&'static str> {
    static URL: OnceLock<Option<String>> = OnceLock::new();
    URL.get_or_init(|| variable("postgres", "EXTENDDB_TEST_POSTGRES_URL")).as_deref()
}

/// A variable of the environment, or what `scripts/test-servers env` says: so that a plain
/// `cargo test` finds servers that are up.
fn variable(server: &str, name: &str) -> Option<String> {
    if let Ok(value) = std::env::var(name) {
        return Some(value);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/test-servers");
    let output = Command::new(script).args(["env", server]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| {
        let value = line.strip_prefix("export ")?.strip_prefix(name)?.strip_prefix("='")?;
        Some(value.strip_suffix('\'')?.to_owned())
    })
}
