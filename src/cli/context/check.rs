//! Looks for everything that is wrong with a configuration, without connecting anywhere.

use anyhow::{Error, Result};

use super::Context;
use crate::backend::registry as backends;
use crate::config::{self, BackupSettings, DeploymentConfig, ServerConfig};
use crate::store::registry as stores;

impl Context {
    /// What is wrong, each once: secrets that cannot be resolved, URLs and stores of no kind there is, files of
    /// servers that cannot be read, bounds that are violated.
    ///
    /// # Errors
    /// When our own file cannot be read.
    pub async fn problems(&self) -> Result<Vec<Error>> {
        let config = self.config().await?;
        let mut found = Vec::new();
        for (name, deployment) in &config.deployments {
            found.extend(self.problems_of(name, deployment).await?);
        }
        for (name, place) in self.stores().await?.places() {
            found.extend(stores::check(place).err().map(|e| Error::from(e).context(format!("stores.{name}"))));
        }
        if self.has_deployment().await? {
            found.extend(self.deployment().await.err());
        }
        let mut texts = Vec::new();
        found.retain(|error| {
            let text = format!("{error:#}");
            let new = !texts.contains(&text);
            texts.push(text);
            new
        });
        Ok(found)
    }

    async fn problems_of(&self, name: &str, deployment: &DeploymentConfig) -> Result<Vec<Error>> {
        let config = self.config().await?;
        let mut found = Vec::new();
        for (key, value) in [("url", &deployment.url), ("data_url", &deployment.data_url)] {
            let Some(value) = value else { continue };
            let what = format!("deployments.{name}.{key}");
            match config::expand(&what, value) {
                Err(error) => found.push(error.into()),
                Ok(url) => found.extend(backends::by_url(&url).err().map(|e| Error::from(e).context(what))),
            }
        }
        if let Some(path) = &deployment.server_config {
            let read = ServerConfig::load(path).and_then(|server| {
                let sections = [(&*config.origin(), &config.backup), (&*server.origin(), &server.backup)];
                BackupSettings::resolve(&sections).map(|_| ())
            });
            let what = format!("deployments.{name}.server_config");
            found.extend(read.err().map(|e| Error::from(e).context(what)));
        }
        Ok(found)
    }
}
