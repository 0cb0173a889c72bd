//! Scratch deployments: a catalog and its data in databases of their own, gone when dropped.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use super::run::{self, Run};
use super::servers::{self, Kind};
use super::sql::Db;
use super::table::Layout;

/// Every shape in which servers left a catalog, oldest first: a version, and a variant where several
/// shapes call themselves so. Sources: the catalog pages of each backend.
pub fn released(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Sqlite => &["0.0.2", "0.0.3", "0.0.4", "0.0.5"],
        Kind::Postgres => &[
            "0.0.2-a",
            "0.0.2-b",
            "0.0.2",
            "0.0.3-a",
            "0.0.3-b",
            "0.0.3",
            "0.0.4-a",
            "0.0.4-b",
            "0.0.4",
            "0.0.4-rival",
            "0.0.5",
        ],
    }
}

/// The newest version of the catalog.
pub const NEWEST: &str = "0.0.5";

/// Account of the fixtures.
pub const ACCOUNT: &str = "123456789012";

/// A deployment of one test.
pub struct Deployment {
    pub kind: Kind,
    dir: tempfile::TempDir,
    /// Names of the databases on the server, to be dropped; empty on SQLite. The catalog's, then the data's.
    databases: Vec<String>,
    /// How the builds that made this deployment lay out tables.
    pub layout: Layout,
}

impl Deployment {
    /// Databases without anything in them.
    pub fn empty(kind: Kind) -> Self {
        let mut this = Self::bare(kind);
        if kind == Kind::Postgres {
            this.create_database("catalog");
        }
        this
    }

    /// A folder, and no database.
    fn bare(kind: Kind) -> Self {
        let dir = tempfile::Builder::new().prefix("extenddb-admin-test-").tempdir().unwrap();
        std::fs::create_dir(dir.path().join("store")).unwrap();
        Self { kind, dir, databases: Vec::new(), layout: Layout::NEW }
    }

    /// A deployment of one of the [`released`] shapes as its servers left it, with the fixtures' account
    /// in it. Up to 0.0.4 nothing of this project has touched it; 0.0.5 is what `migrate up` made of 0.0.4.
    /// On PostgreSQL catalog and data are two databases. Made once, then copied.
    pub fn released(kind: Kind, shape: &str) -> Self {
        match kind {
            Kind::Sqlite => {
                static FILES: Mutex<BTreeMap<String, Arc<OnceLock<Vec<u8>>>>> = Mutex::new(BTreeMap::new());
                let cell = FILES.lock().unwrap().entry(shape.to_owned()).or_default().clone();
                let bytes = cell.get_or_init(|| {
                    let made = Self::make(kind, shape);
                    made.catalog().rows("PRAGMA wal_checkpoint(TRUNCATE)");
                    std::fs::read(made.sqlite_path()).unwrap()
                });
                let this = Self::empty(kind);
                std::fs::write(this.sqlite_path(), bytes).unwrap();
                let path = this.sqlite_path();
                let path = path.display();
                this.catalog().exec(&format!("UPDATE settings SET value = '{path}' WHERE key = 'data_database_name'"));
                this
            }
            Kind::Postgres => {
                let (template, layout) = template(shape);
                let mut this = Self::bare(kind);
                this.layout = layout;
                this.copy_database(&format!("{template}_catalog"), "catalog");
                let url = this.copy_database(&format!("{template}_data"), "data");
                let name = this.databases[1].clone();
                this.catalog().exec(&format!(
                    "UPDATE settings SET value = '{url}' WHERE key = 'data_database_connection_string'; \
                     UPDATE settings SET value = '{name}' WHERE key = 'data_database_name'"
                ));
                this
            }
        }
    }

    fn make(kind: Kind, shape: &str) -> Self {
        let mut this = Self::empty(kind);
        let (version, variant) = shape.split_once('-').unwrap_or((shape, ""));
        let base = if version == "0.0.5" { "0.0.4" } else { version };
        let base = if variant == "rival" { "0.0.3" } else { base };
        let mut catalog = this.catalog();
        if kind == Kind::Sqlite {
            catalog.rows("PRAGMA journal_mode = WAL"); // the server's mode, kept in the file
        }
        catalog.exec(&read(&format!("{}-{base}.sql", kind.name())));
        for (key, value) in
            [("encryption_key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="), ("default_account_id", ACCOUNT)]
        {
            catalog.exec(&format!("INSERT INTO settings (key, value) VALUES ('{key}', '{value}')"));
        }
        if matches!(variant, "a" | "b") {
            for column in ["table_class", "sse_specification", "on_demand_throughput"] {
                catalog.exec(&format!("ALTER TABLE tables DROP COLUMN {column}"));
            }
            this.layout = Layout { named_by_table: variant == "a", ..Layout::OLD };
        }
        match variant {
            "a" => catalog.exec("ALTER TABLE indexes DROP COLUMN index_id"),
            "rival" => catalog.exec(
                "DROP TABLE continuous_backups; UPDATE settings SET value = '0.0.4' WHERE key = 'catalog_version'; \
                 INSERT INTO schema_history (filename) VALUES ('003_drop_continuous_backups.sql')",
            ),
            _ => {}
        }
        if kind == Kind::Postgres {
            this.add_data_database(matches!(variant, "a" | "b"));
        } else {
            let path = this.sqlite_path();
            catalog.exec(&format!(
                "INSERT INTO settings (key, value) VALUES ('data_database_name', '{}')",
                path.display()
            ));
        }
        drop(catalog); // a connection counts as a running server
        this.add_account(ACCOUNT, "fixtures");
        if version == "0.0.5" {
            this.run(["migrate", "up", "--yes"]).succeeds();
        }
        this
    }

    /// A catalog of the newest version.
    pub fn newest(kind: Kind) -> Self {
        Self::released(kind, NEWEST)
    }

    /// Makes the data database and names it in the catalog, as a server's `init` does.
    fn add_data_database(&mut self, june_2026: bool) {
        let url = self.create_database("data");
        let mut data = self.data();
        data.exec(&read("postgres-data-june-2026.sql"));
        if !june_2026 {
            data.exec(&read("postgres-data-new.sql"));
        }
        let name = &self.databases[1];
        self.catalog().exec(&format!(
            "INSERT INTO settings (key, value) VALUES ('data_database_connection_string', '{url}'), ('data_database_name', '{name}')"
        ));
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
        match self.kind {
            Kind::Sqlite => self.catalog(),
            Kind::Postgres => Db::postgres(&self.data_url()),
        }
    }

    /// URL of the database that holds the items: the catalog's where there is no other.
    pub fn data_url(&self) -> String {
        match self.databases.get(1) {
            Some(name) => on_database(servers::postgres_url().unwrap(), name),
            None => self.url(),
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
        self.copy_database("template1", what)
    }

    fn copy_database(&mut self, template: &str, what: &str) -> String {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let name = format!("t{}_{counter}_{nanos:x}_{what}", std::process::id());
        let mut server = Db::postgres(servers::postgres_url().unwrap());
        server.exec(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
        self.databases.push(name.clone());
        on_database(servers::postgres_url().unwrap(), &name)
    }
}

/// A shape that is made once, by whoever asks first.
type Made = Arc<OnceLock<(String, Layout)>>;

/// Databases `<name>_catalog` and `<name>_data` on the server that hold a shape, for copying. They
/// belong to one build of the binary, and go when the next build of the same path makes its own.
fn template(shape: &str) -> (String, Layout) {
    static MADE: Mutex<BTreeMap<String, Made>> = Mutex::new(BTreeMap::new());
    let cell = MADE.lock().unwrap().entry(shape.to_owned()).or_default().clone();
    cell.get_or_init(|| {
        let binary = Path::new(env!("CARGO_BIN_EXE_extenddb-admin"));
        let mut hasher = std::hash::DefaultHasher::new();
        binary.hash(&mut hasher);
        let family = format!("tpl_{:016x}_", hasher.finish());
        let built = std::fs::metadata(binary).unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
        let build = format!("{family}{:x}_", built.as_millis());
        let name = format!("{build}{}", shape.replace(['.', '-'], "_"));
        let variant = shape.split_once('-').map_or("", |(_, variant)| variant);
        let layout = match variant {
            "a" | "b" => Layout { named_by_table: variant == "a", ..Layout::OLD },
            _ => Layout::NEW,
        };
        let mut server = Db::postgres(servers::postgres_url().unwrap());
        server.rows("SELECT pg_advisory_lock(hashtext('extenddb-admin test templates'))");
        let there = format!("SELECT count(*) FROM pg_database WHERE datname IN ('{name}_catalog', '{name}_data')");
        if server.count(&there) < 2 {
            let old = format!("SELECT datname FROM pg_database WHERE starts_with(datname, '{family}') AND NOT starts_with(datname, '{build}')");
            for row in server.rows(&old) {
                let _ = server.try_exec(&format!("DROP DATABASE IF EXISTS {}", row[0].as_ref().unwrap()));
            }
            let mut made = Deployment::make(Kind::Postgres, shape);
            for (database, what) in made.databases.drain(..).zip(["catalog", "data"]) {
                server.exec(&format!("DROP DATABASE IF EXISTS {name}_{what}"));
                server.exec(&format!("ALTER DATABASE {database} RENAME TO {name}_{what}"));
            }
        }
        (name, layout)
    })
    .clone()
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

/// One of the SQL texts under `tests/data/catalogs`.
fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/catalogs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
