//! What a command works with: configuration, deployment, store and output, each opened once and only if
//! the command asks for it.

mod check;
mod demo;
mod identity;
mod kinds;
mod stores;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::sync::OnceCell;

pub use demo::{demo_sample, write_demo_sample};
pub use kinds::{Backend, backend_by_name, backend_of_url};
pub use stores::ConfiguredStores;

use super::Globals;
use super::exit::{Exit, Failure};
use crate::backend;
use crate::backend::registry::{self as backends, OpenOptions};
use crate::config::{self, BackupSettings, Config, SERVER_STORE, ServerConfig};
use crate::domain::claim::Writer;
use crate::ops::cancel::{Cancel, Undertaking};
use crate::ops::observer::Observer;
use crate::ops::settings::{OpenStore, Run, Settings, Stores as _, default_workers};
use crate::ui::Ui;
use identity::{principal, this_process};

/// Whether a command may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The database is told to refuse writes.
    ReadOnly,
    /// Writes are allowed; a signal lets the running operation end by itself.
    Write,
}

/// Everything one run of the program shares.
pub struct Context {
    globals: Globals,
    ui: Ui,
    cancel: Cancel,
    writer: Writer,
    config: OnceCell<Config>,
    server: OnceCell<Option<ServerConfig>>,
    reader: OnceCell<Arc<dyn Backend>>,
    writing: OnceCell<(Arc<dyn Backend>, Undertaking)>,
}

/// A deployment as chosen. May hold a password, so there is no `Debug`.
pub struct Deployment {
    /// Its name in the configuration file, if it has one.
    pub name: Option<String>,
    /// What chose it, for people: `--url`, `EXTENDDB_ADMIN_URL`, `--deployment prod`, …
    pub chosen_by: String,
    /// How to reach the catalog.
    pub url: String,
    /// How to reach the items, when the catalog's own address is not to be used.
    pub data_url: Option<String>,
    /// Region of the configuration.
    pub region: Option<String>,
}

impl Context {
    /// Opens nothing yet.
    #[must_use]
    pub fn new(globals: Globals, ui: Ui, cancel: Cancel) -> Self {
        Self {
            globals,
            ui,
            cancel,
            writer: this_process(),
            config: OnceCell::new(),
            server: OnceCell::new(),
            reader: OnceCell::new(),
            writing: OnceCell::new(),
        }
    }

    /// Output.
    #[must_use]
    pub fn ui(&self) -> &Ui {
        &self.ui
    }

    /// The request to stop. Long operations take a clone.
    #[must_use]
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Receives progress and warnings of an operation.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.ui.observer()
    }

    /// This process, as claims name it.
    #[must_use]
    pub fn writer(&self) -> &Writer {
        &self.writer
    }

    /// User and host, as our ledger names them.
    #[must_use]
    pub fn who(&self) -> String {
        format!("{}@{}", principal(), rustix::system::uname().nodename().to_string_lossy())
    }

    /// The global flags.
    #[must_use]
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// The configuration file, or an empty configuration.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub async fn config(&self) -> Result<&Config> {
        let load = async || Config::load(self.globals.config.as_deref());
        Ok(self.config.get_or_try_init(load).await?)
    }

    /// The server's configuration, when the deployment is chosen by one.
    ///
    /// # Errors
    /// What is wrong with either file.
    pub async fn server_config(&self) -> Result<Option<&ServerConfig>> {
        let load = async || -> Result<Option<ServerConfig>> {
            let Some(path) = self.server_config_path().await? else { return Ok(None) };
            let server = ServerConfig::load(&path)?;
            for key in &server.unknown_keys {
                self.ui.warn(&format!("{}: key {key} is not known to this build and is ignored", server.origin()));
            }
            Ok(Some(server))
        };
        Ok(self.server.get_or_try_init(load).await?.as_ref())
    }

    async fn server_config_path(&self) -> Result<Option<PathBuf>> {
        if self.globals.url.is_some() {
            return Ok(self.globals.server_config.clone());
        }
        if let Some(path) = &self.globals.server_config {
            return Ok(Some(path.clone()));
        }
        match self.chosen_name().await? {
            Some(name) => Ok(self.named_deployment(&name).await?.server_config.clone()),
            None => Ok(None),
        }
    }

    async fn chosen_name(&self) -> Result<Option<String>> {
        match &self.globals.deployment {
            Some(name) => Ok(Some(name.clone())),
            None => Ok(self.config().await?.default_deployment.clone()),
        }
    }

    async fn named_deployment(&self, name: &str) -> Result<&config::DeploymentConfig> {
        let config = self.config().await?;
        config.deployments.get(name).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "DEPLOYMENT_UNKNOWN",
                format!(
                    "there is no deployment {name:?} ({}; deployments: {})",
                    config.origin(),
                    config::names(config.deployments.keys())
                ),
            )
            .hint("name one of these, or pass --url or --server-config")
            .into()
        })
    }

    /// The deployment that the flags, the environment and the file choose: `--url`, `--server-config`,
    /// `--deployment`, `default_deployment`, the first that is there.
    ///
    /// # Errors
    /// None chosen; an unknown name; a secret that cannot be resolved.
    pub async fn deployment(&self) -> Result<Deployment> {
        let globals = &self.globals;
        let data_url = globals.data_url.clone();
        if let Some(url) = &globals.url {
            if let Some(other) = globals.passed_over_for_url() {
                self.ui.warn(&format!("the URL that is given wins over {other}"));
            }
            let region = self.server_config().await?.and_then(|server| server.region.clone());
            return Ok(Deployment { name: None, chosen_by: "--url".to_owned(), url: url.clone(), data_url, region });
        }
        if let Some(path) = &globals.server_config {
            let chosen_by = format!("--server-config {}", path.display());
            return self.server_deployment(None, chosen_by, data_url, None).await;
        }
        let Some(name) = self.chosen_name().await? else {
            return Err(Failure::new(Exit::Usage, "DEPLOYMENT_MISSING", "no deployment was chosen")
                .hint(format!(
                    "pass --url, --server-config or --deployment, or set default_deployment ({}; deployments: {})",
                    self.config().await?.origin(),
                    config::names(self.config().await?.deployments.keys())
                ))
                .into());
        };
        let chosen_by = match &globals.deployment {
            Some(_) => format!("--deployment {name}"),
            None => format!("default_deployment of {}", self.config().await?.origin()),
        };
        let entry = self.named_deployment(&name).await?.clone();
        let data_url = match (data_url, &entry.data_url) {
            (None, Some(url)) => Some(config::expand(&format!("deployments.{name}.data_url"), url)?),
            (flag, _) => flag,
        };
        match &entry.url {
            Some(url) => {
                let url = config::expand(&format!("deployments.{name}.url"), url)?;
                Ok(Deployment { name: Some(name), chosen_by, url, data_url, region: entry.region })
            }
            None => self.server_deployment(Some(name), chosen_by, data_url, entry.region).await,
        }
    }

    async fn server_deployment(
        &self,
        name: Option<String>,
        chosen_by: String,
        data_url: Option<String>,
        region: Option<String>,
    ) -> Result<Deployment> {
        let server = self.server_config().await?.expect("the deployment is chosen by a server's configuration");
        let entry = backends::by_name(&server.backend).ok_or_else(|| {
            let known: Vec<_> = backends::BACKENDS.iter().map(|entry| entry.name).collect();
            let (origin, found) = (server.origin(), &server.backend);
            Failure::usage(format!("{origin}: storage.backend is {found:?}, this build has {}", known.join(", ")))
        })?;
        let base = server.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
        let url = (entry.url_from_server_config)(&server.storage, base)?;
        Ok(Deployment { name, chosen_by, url, data_url, region: region.or_else(|| server.region.clone()) })
    }

    /// The deployment's database. Opened once for each kind of access.
    ///
    /// # Errors
    /// As [`Context::deployment`]; whatever the database says.
    pub async fn backend(&self, access: Access) -> Result<Arc<dyn Backend>> {
        match access {
            Access::ReadOnly => {
                Ok(self.reader.get_or_try_init(async || self.open_deployment(true).await).await?.clone())
            }
            Access::Write => {
                let open = async || -> Result<_> { Ok((self.open_deployment(false).await?, self.cancel.undertake())) };
                Ok(self.writing.get_or_try_init(open).await?.0.clone())
            }
        }
    }

    async fn open_deployment(&self, read_only: bool) -> Result<Arc<dyn Backend>> {
        let deployment = self.deployment().await?;
        Ok(self.open_url(deployment, read_only).await?)
    }

    /// Opens another deployment than the chosen one.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn open_url(&self, deployment: Deployment, read_only: bool) -> backend::Result<Arc<dyn Backend>> {
        let entry = backends::by_url(&deployment.url)?;
        (entry.open)(OpenOptions {
            url: deployment.url,
            data_url: deployment.data_url,
            read_only,
            lock_timeout: self.globals.lock_timeout,
            writer: self.writer.clone(),
            region: deployment.region,
        })
        .await
    }

    /// The settings of backups and jobs in force: our file, then the server's.
    ///
    /// # Errors
    /// Names the bound that is violated, and its file.
    pub async fn backup_settings(&self) -> Result<BackupSettings> {
        let config = self.config().await?;
        let ours = config.origin();
        Ok(match self.server_config().await? {
            Some(server) => BackupSettings::resolve(&[(&ours, &config.backup), (&server.origin(), &server.backup)])?,
            None => BackupSettings::resolve(&[(&ours, &config.backup)])?,
        })
    }

    /// The stores of the configuration, to be opened by name.
    ///
    /// # Errors
    /// What is wrong with a configuration.
    pub async fn stores(&self) -> Result<ConfiguredStores> {
        let mut known: Vec<_> = self.config().await?.stores.clone().into_iter().collect();
        if let Some(store) = self.server_config().await?.and_then(|server| server.store.clone()) {
            known.push((SERVER_STORE.to_owned(), store));
        }
        known.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(ConfiguredStores { known })
    }

    /// The store that is meant when a command names none: `--store`, `default_store`, the server's.
    ///
    /// # Errors
    /// What is wrong with a configuration.
    pub async fn default_store(&self) -> Result<Option<String>> {
        if let Some(name) = self.globals.store.clone().or(self.config().await?.default_store.clone()) {
            return Ok(Some(name));
        }
        let of_server = self.server_config().await?.is_some_and(|server| server.store.is_some());
        Ok(of_server.then(|| SERVER_STORE.to_owned()))
    }

    /// Whether the flags, the environment or the file choose a deployment.
    ///
    /// # Errors
    /// What is wrong with a configuration.
    pub async fn has_deployment(&self) -> Result<bool> {
        let direct = self.globals.url.is_some() || self.globals.server_config.is_some();
        Ok(direct || self.chosen_name().await?.is_some())
    }

    /// Opens a store: by name, path or `s3://` URL. Without one it is `--store`, then `default_store`, then the
    /// store of the server's configuration.
    ///
    /// # Errors
    /// None named; an unknown name, listing those there are; whatever the store says.
    pub async fn store(&self, name: Option<&str>) -> Result<OpenStore> {
        let stores = self.stores().await?;
        let default = self.default_store().await?;
        let Some(name) = name.or(default.as_deref()) else {
            return Err(Failure::new(Exit::Usage, "STORE_MISSING", "no store was named")
                .hint(format!(
                    "pass --store NAME, PATH or s3://BUCKET/PREFIX, or set default_store (stores: {})",
                    stores.names()
                ))
                .into());
        };
        Ok(stores.open(name).await?)
    }

    /// Everything a job works with. Opens the deployment for writing.
    ///
    /// # Errors
    /// As [`Context::backend`] and [`Context::backup_settings`].
    pub async fn run(&self, workers: Option<NonZeroUsize>) -> Result<Run> {
        let settings = self.backup_settings().await?;
        Ok(Run {
            backend: self.backend(Access::Write).await?,
            stores: Arc::new(self.stores().await?),
            observer: self.observer(),
            cancel: self.cancel.clone(),
            settings: Settings {
                data_file_target_bytes: settings.data_file_target_bytes,
                heartbeat_interval: Duration::from_secs(settings.heartbeat_interval_secs),
                stale_after: settings.stale_after(),
                max_concurrent_jobs: usize::try_from(settings.max_concurrent_jobs)?,
                spool_path: settings.spool_path,
            },
            writer: self.writer.clone(),
            principal: principal(),
            workers: workers.unwrap_or_else(default_workers),
        })
    }
}
