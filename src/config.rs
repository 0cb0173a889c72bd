//! The configuration file and the server's own, as plain structs.
//!
//! Our file is YAML and unknown keys are refused with their line. The server's `extenddb.toml` is only read:
//! its `[storage]`, `[server] region` and `[backup]`. Values may hold `${ENV_VAR}`, and a whole value may be
//! `file:PATH`; both are resolved only when the value is needed, so that a secret that is missing disturbs
//! nobody who does not use it. Structs that may hold a secret have no `Debug`.
//! Source: the command surface, choosing a deployment.

mod backup;
mod secret;
mod server;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use backup::{BackupSection, BackupSettings};
pub use secret::expand;
pub use server::ServerConfig;

use crate::domain::redact::redact;
use crate::store::registry::StoreConfig;

/// Name of the environment variable that names the file.
pub const CONFIG_VARIABLE: &str = "EXTENDDB_ADMIN_CONFIG";

/// Result of reading configuration.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Configuration that cannot be used: which file, what was found, what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
    hint: Option<String>,
}

impl Error {
    /// A new error; passwords in the message are hidden.
    pub fn new(message: impl AsRef<str>) -> Self {
        Self { message: redact(message.as_ref()), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

/// One deployment of our file: exactly one of `url` and `server_config`.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeploymentConfig {
    /// How to reach the catalog; may hold a secret.
    pub url: Option<String>,
    /// Where the items are, when the address in the catalog cannot be reached from here; may hold a secret.
    pub data_url: Option<String>,
    /// The server's own file.
    pub server_config: Option<PathBuf>,
    /// Region of new tables where there is none to go by.
    pub region: Option<String>,
}

/// Our file.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where it was read from; none when there is no file.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// The deployment meant when none is named.
    pub default_deployment: Option<String>,
    /// Deployments by name.
    pub deployments: BTreeMap<String, DeploymentConfig>,
    /// Stores by name.
    pub stores: BTreeMap<String, StoreConfig>,
    /// The store meant when none is named.
    pub default_store: Option<String>,
    /// Settings of backups and jobs.
    pub backup: BackupSection,
}

impl Config {
    /// Reads the file that `explicit` names, else the first that exists of `./extenddb-admin.yaml` and
    /// `$XDG_CONFIG_HOME/extenddb-admin/config.yaml`. No file at all is an empty configuration.
    ///
    /// # Errors
    /// An explicit file that cannot be read; anything unknown or contradictory in it, with its line.
    pub fn load(explicit: Option<&Path>) -> Result<Self> {
        let path = match explicit {
            Some(path) => Some(path.to_owned()),
            None => search_path().into_iter().find(|path| path.exists()),
        };
        match path {
            None => Ok(Self::default()),
            Some(path) => {
                let text = std::fs::read_to_string(&path)
                    .map_err(|e| Error::new(format!("cannot read the configuration file {}: {e}", path.display())))?;
                Self::parse(&text, path)
            }
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str, path: PathBuf) -> Result<Self> {
        let is_empty = text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
        let mut config: Self = if is_empty {
            Self::default()
        } else {
            serde_yaml::from_str(text).map_err(|e| {
                let line = line_of(&e, text).map(|line| format!(" at line {line}")).unwrap_or_default();
                Error::new(format!("configuration file {}: {e}{line}", path.display()))
            })?
        };
        config.path = Some(path);
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let at = self.origin();
        for (name, deployment) in &self.deployments {
            if deployment.url.is_some() == deployment.server_config.is_some() {
                return Err(Error::new(format!(
                    "{at}: deployments.{name} needs exactly one of url and server_config, found {}",
                    if deployment.url.is_some() { "both" } else { "neither" }
                )));
            }
        }
        if let Some(name) = &self.default_deployment
            && !self.deployments.contains_key(name)
        {
            return Err(Error::new(format!(
                "{at}: default_deployment is {name:?}, and deployments has {}",
                names(self.deployments.keys())
            )));
        }
        if self.stores.contains_key(SERVER_STORE) {
            return Err(Error::new(format!(
                "{at}: stores.{SERVER_STORE}: this name means the store of a --server-config; choose another"
            )));
        }
        if let Some(name) = &self.default_store
            && name != SERVER_STORE
            && !self.stores.contains_key(name)
        {
            return Err(Error::new(format!(
                "{at}: default_store is {name:?}, and stores has {}",
                names(self.stores.keys())
            )));
        }
        BackupSettings::resolve(&[(&at, &self.backup)]).map(|_| ())
    }

    /// The file, for messages.
    #[must_use]
    pub fn origin(&self) -> String {
        match &self.path {
            Some(path) => format!("configuration file {}", path.display()),
            None => "no configuration file".to_owned(),
        }
    }
}

/// Name of the store that a server's configuration describes.
pub const SERVER_STORE: &str = "server";

/// Names in a list for a message; `none` for no names.
pub fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<_> = names.map(String::as_str).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The line of an unknown key where the parser gives none, as it does for the very first key.
fn line_of(error: &serde_yaml::Error, text: &str) -> Option<usize> {
    let message = error.to_string();
    if message.contains(" at line ") {
        return None;
    }
    let key = message.split_once("unknown field `")?.1.split_once('`')?.0;
    let is_key = |line: &str| line.trim_start().trim_start_matches(['"', '\'']).starts_with(key);
    text.lines().position(is_key).map(|at| at + 1)
}

fn search_path() -> Vec<PathBuf> {
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let mut paths = vec![PathBuf::from("./extenddb-admin.yaml")];
    paths.extend(home.map(|dir| dir.join("extenddb-admin").join("config.yaml")));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        match Config::parse(text, PathBuf::from("c.yaml")) {
            Ok(_) => panic!("accepted: {text}"),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn the_documented_example_is_accepted() {
        let config = Config::parse(
            r#"
default_deployment: local
deployments:
  local: { url: "sqlite:./extenddb.db" }
  prod:  { server_config: /etc/extenddb/extenddb.toml }
stores:                       # named connections; a backup or restore always names one
  nightly: { kind: filesystem, root: /var/backups/extenddb }
  offsite: { kind: s3, bucket: my-backups, prefix: extenddb, region: eu-west-1 }
default_store: nightly
backup: { data_file_target_bytes: 64MiB, heartbeat_interval_secs: 15, stale_job_after_secs: 300, reconcile_interval_secs: 60, max_concurrent_jobs: 4, failed_row_retention_secs: 604800, spool_path: /var/tmp }
"#,
            PathBuf::from("c.yaml"),
        )
        .expect("the example is right");
        assert_eq!(config.stores["offsite"].bucket.as_deref(), Some("my-backups"));
        let settings = BackupSettings::resolve(&[("c", &config.backup)]).expect("within bounds");
        assert_eq!(settings.data_file_target_bytes, 64 << 20);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_name() {
        let message = refusal("default_store: a\nstores:\n  a:\n    kind: filesystem\n    rot: /x\n");
        assert!(message.contains("line 5") && message.contains("`rot`"), "{message}");
        let message = refusal("defalt_store: a\n");
        assert!(message.contains("line 1") && message.contains("`defalt_store`"), "{message}");
    }

    #[test]
    fn a_deployment_has_exactly_one_way_in() {
        assert!(refusal("deployments: { a: {} }").contains("found neither"));
        assert!(refusal("deployments: { a: { url: 'sqlite:x', server_config: y } }").contains("found both"));
    }

    #[test]
    fn defaults_must_name_what_exists() {
        assert!(refusal("default_deployment: x").contains("deployments has none"));
        assert!(refusal("default_store: x\nstores: { y: { kind: filesystem, root: / } }").contains("stores has y"));
    }

    #[test]
    fn a_violated_bound_is_named_with_its_file() {
        let message = refusal("backup: { stale_job_after_secs: 30 }");
        assert!(
            message.contains("c.yaml") && message.contains("stale_job_after_secs") && message.contains("45"),
            "{message}"
        );
    }

    #[test]
    fn a_file_of_comments_is_an_empty_configuration() {
        assert!(Config::parse("# nothing yet\n", PathBuf::from("c.yaml")).is_ok());
    }
}
