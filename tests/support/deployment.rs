//! Scratch deployments: a catalog and its data in databases of their own, gone when dropped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::run::{self, Run};
use super::servers::{self, Kind};
use super::sql::Db;

/// The versions of the catalog that every backend here released, oldest first.
pub const VERSIONS: &[&str] = &["0.0.2", "0.0.3", "0.0.4", "0.0.5"];

/// Account of the fixtures.
pub const ACCOUNT: &str = "123456789012";

/// A deployment of one test.
pub struct Deployment {
    pub kind: Kind,
    dir: tempfile::TempDir,
    /// Names of the databases on the server, to be dropped; empty on SQLite.
    databases: Vec<String>,
}

impl Deployment {
    /// Databases without anything in them.
    pub fn empty(kind: Kind) -> Self {
        let dir = tempfile::Builder::new().prefix("extenddb-admin-test-").tempdir().unwrap();
        std::fs::create_dir(dir.path().join("store")).unwrap();
        let mut this = Self { kind, dir, databases: Vec::new() };
        if kind == Kind::Postgres {
            this.create_database("catalog");
        }
        this
    }

    /// A catalog of a version, made by the project's own migrations, with the fixtures' account in it.
    pub fn at(kind: Kind, version: &str) -> Self {
        let this = Self::empty(kind);
        this.run(["migrate", "up", "--to", version, "--yes"]).succeeds();
        this.add_account(ACCOUNT, "fixtures");
        this
    }

    /// A catalog of the newest version.
    pub fn newest(kind: Kind) -> Self {
        Self::at(kind, VERSIONS.last().unwrap())
    }

    /// What `--url` takes.
    pub fn url(&self) -> String {
        match self.kind {
            Kind::Sqlite => format!("sqlite:{}", self.sqlite_path().display()),
            Kind::Postgres => on_database(servers::postgres_url().unwrap(), &self.databases[0]),
        }
    }

    /// The folder of this test: home of the commands it runs.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// An empty folder for backups.
    pub fn store(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    /// The SQLite file, whether it is there yet or not.
    pub fn sqlite_path(&self) -> PathBuf {
        self.dir.path().join("extenddb.sqlite")
    }

    /// A connection to the catalog.
    pub fn catalog(&self) -> Db {
        match self.kind {
            Kind::Sqlite => Db::sqlite(&self.sqlite_path()),
            Kind::Postgres => Db::postgres(&self.url()),
        }
    }

    /// A connection to where the items are.
    pub fn data(&self) -> Db {
        match self.databases.get(1) {
            Some(name) => Db::postgres(&on_database(servers::postgres_url().unwrap(), name)),
            None => self.catalog(),
        }
    }

    /// The binary, pointed at this deployment by the environment.
    pub fn command<I: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Command {
        let mut command = run::command(self.dir());
        command.env("EXTENDDB_ADMIN_URL", self.url()).args(args);
        command
    }

    /// Runs the binary against this deployment.
    pub fn run<I: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = I>) -> Run {
        run::run(self.command(args))
    }

    /// Adds an account.
    pub fn add_account(&self, id: &str, name: &str) {
        self.catalog().exec(&format!("INSERT INTO accounts (account_id, account_name) VALUES ('{id}', '{name}')"));
    }

    /// Makes a further database beside the catalog's (PostgreSQL), owned by the ordinary role.
    pub fn create_database(&mut self, what: &str) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let name = format!("t{}_{counter}_{nanos:x}_{what}", std::process::id());
        Db::postgres(servers::postgres_url().unwrap()).exec(&format!("CREATE DATABASE {name}"));
        self.databases.push(name.clone());
        on_database(servers::postgres_url().unwrap(), &name)
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        if std::env::var_os("EXTENDDB_TEST_KEEP").is_some() {
            let dir = std::mem::replace(&mut self.dir, tempfile::tempdir().unwrap()).keep();
            eprintln!("kept {} and {:?}", dir.display(), self.databases);
            return;
        }
        if self.databases.is_empty() {
            return;
        }
        let mut server = Db::postgres(servers::postgres_url().unwrap());
        for name in &self.databases {
            let _ = server.try_exec(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// A server's URL with another database.
fn on_database(url: &str, database: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{database}")
}
