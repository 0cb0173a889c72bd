//! Connections: to the catalog database, and to the data database it names.
//!
//! Every connection is single and unpooled: sessions carry locks, snapshots and COPY streams, and
//! the server's own pool must keep its room.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use super::Postgres;
use super::error::driver;
use crate::backend::registry::OpenOptions;
use crate::backend::{Capabilities, Error, ErrorKind, Result};

/// What this process calls itself in `pg_stat_activity`.
pub const APPLICATION_NAME: &str = "extenddb-admin";

/// Longest single statement unless a caller lifts it (COPY and index builds do).
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// How to reach the two databases. Clones share what they found out.
#[derive(Clone)]
pub struct Connector {
    options: Arc<OpenOptions>,
    catalog: PgConnectOptions,
    data: Arc<tokio::sync::OnceCell<PgConnectOptions>>,
}

impl Postgres {
    /// Parses the URL and connects once, so that a wrong one fails here.
    ///
    /// # Errors
    /// `Config`, `Unavailable`, `PermissionDenied`.
    pub async fn open(options: OpenOptions) -> Result<Self> {
        let catalog = parse_url(&options.url)?;
        let connector = Connector { options: Arc::new(options), catalog, data: Arc::default() };
        let this = Self {
            connector,
            held: super::held::Held::default(),
            row_session: super::row_claim::RowSession::default(),
            capabilities: Capabilities {
                shared_snapshot: true,
                parallel_scan: true,
                parallel_load: true,
                transactional_ddl: true,
                fenced_writes: true,
            },
        };
        this.catalog_connection().await?.close().await.map_err(|e| driver("close a connection", e))?;
        Ok(this)
    }

    /// A fresh connection to the catalog database.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`.
    pub async fn catalog_connection(&self) -> Result<PgConnection> {
        self.connector.catalog_connection().await
    }

    /// A fresh connection to the data database.
    ///
    /// # Errors
    /// As [`Postgres::catalog_connection`]; the message says that the stored host may be reachable
    /// from the server only.
    pub async fn data_connection(&self) -> Result<PgConnection> {
        self.connector.data_connection().await
    }
}

impl Connector {
    /// What the deployment was opened with.
    pub fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// Where the catalog is.
    pub fn catalog_options(&self) -> &PgConnectOptions {
        &self.catalog
    }

    /// A fresh connection to the catalog database.
    ///
    /// # Errors
    /// `Unavailable`, `PermissionDenied`.
    pub async fn catalog_connection(&self) -> Result<PgConnection> {
        self.connect(&self.catalog).await
    }

    /// A fresh connection to the data database.
    ///
    /// # Errors
    /// As [`Connector::catalog_connection`].
    pub async fn data_connection(&self) -> Result<PgConnection> {
        let options = self.data.get_or_try_init(|| self.find_data_options()).await?;
        self.connect(options).await.map_err(|e| {
            if e.kind() == ErrorKind::Unavailable && options.get_host() != self.catalog.get_host() {
                return e.with("data database", format!("on host {}, as the catalog has it; it may be reachable from the server only: name it as seen from here", options.get_host()));
            }
            e
        })
    }

    /// Where the data are.
    ///
    /// # Errors
    /// As [`Connector::catalog_connection`].
    pub async fn data_options(&self) -> Result<PgConnectOptions> {
        self.data.get_or_try_init(|| self.find_data_options()).await.cloned()
    }

    async fn find_data_options(&self) -> Result<PgConnectOptions> {
        if let Some(url) = &self.options.data_url {
            return parse_url(url);
        }
        let operation = "read settings.data_database_connection_string";
        let mut conn = self.catalog_connection().await?;
        // Before a catalog is made there are no settings: then there is but the one database.
        if !super::steps::ask(&mut conn, "SELECT to_regclass('settings') IS NOT NULL").await? {
            return Ok(self.catalog.clone());
        }
        let row = sqlx::query("SELECT value FROM settings WHERE key = 'data_database_connection_string'")
            .fetch_optional(&mut conn)
            .await
            .map_err(|e| driver(operation, e))?;
        let url: Option<String> = row.map(|r| r.try_get(0)).transpose().map_err(|e| driver(operation, e))?;
        match url.as_deref() {
            None | Some("") => Ok(self.catalog.clone()),
            Some(url) => parse_url(url),
        }
    }

    async fn connect(&self, options: &PgConnectOptions) -> Result<PgConnection> {
        let lock_timeout = self.options.lock_timeout.as_millis().to_string();
        let statement_timeout = STATEMENT_TIMEOUT.as_millis().to_string();
        let mut settings = vec![
            ("lock_timeout", lock_timeout.as_str()),
            ("statement_timeout", statement_timeout.as_str()),
            ("idle_session_timeout", "0"),
            ("idle_in_transaction_session_timeout", "0"),
            ("search_path", "public"),
            ("DateStyle", "ISO"),
            ("TimeZone", "UTC"),
        ];
        if self.options.read_only {
            settings.push(("default_transaction_read_only", "on"));
        }
        options
            .clone()
            .application_name(APPLICATION_NAME)
            .options(settings)
            .connect()
            .await
            .map_err(|e| driver("connect to PostgreSQL", e))
    }
}

/// Parses a URL; the error never repeats it.
pub(super) fn parse_url(url: &str) -> Result<PgConnectOptions> {
    PgConnectOptions::from_str(url)
        .map(|o| o.log_statements(tracing::log::LevelFilter::Off))
        .map_err(|e| Error::new(ErrorKind::Config, "read the PostgreSQL URL", e.to_string()))
}

/// `[storage.postgres] connection_string`.
///
/// # Errors
/// `Config` when the key is missing.
pub fn url_from_server_config(section: &toml::Table, _folder: &std::path::Path) -> Result<String> {
    section.get("connection_string").and_then(toml::Value::as_str).map(str::to_owned).ok_or_else(|| {
        Error::new(ErrorKind::Config, "read the server's configuration", "[storage.postgres] has no connection_string")
    })
}
