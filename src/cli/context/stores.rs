//! The stores of the configuration, opened by name, path or URL.

use std::path::PathBuf;

use crate::config;
use crate::ops;
use crate::ops::settings::{OpenStore, Stores};
use crate::store::registry::{self as stores, StoreConfig};

/// The stores of the configuration, for operations that open those which a job recorded.
#[derive(Clone, Default)]
pub struct ConfiguredStores {
    pub(super) known: Vec<(String, StoreConfig)>,
}

impl ConfiguredStores {
    /// Names and places, in byte order of names.
    pub fn places(&self) -> impl Iterator<Item = (&str, &StoreConfig)> {
        self.known.iter().map(|(name, place)| (name.as_str(), place))
    }

    /// The names there are, for a message.
    pub(super) fn names(&self) -> String {
        config::names(self.known.iter().map(|(name, _)| name))
    }
}

#[async_trait::async_trait]
impl Stores for ConfiguredStores {
    async fn open(&self, name: &str) -> ops::Result<OpenStore> {
        let found = self.known.iter().find(|(known, _)| known == name).map(|(_, store)| store.clone());
        let Some(mut place) = found.or_else(|| stores::by_location(name)) else {
            return Err(ops::Error::NotFound(format!(
                "there is no store {name:?}: the configuration has {} (a path must hold a slash, as in ./{name})",
                self.names()
            )));
        };
        expand_store(name, &mut place).map_err(|e| ops::Error::Usage(e.to_string()))?;
        Ok(OpenStore { name: name.to_owned(), store: stores::open(place).await? })
    }
}

/// Resolves `${ENV_VAR}` in the texts of a store.
fn expand_store(name: &str, store: &mut StoreConfig) -> config::Result<()> {
    let StoreConfig { bucket, prefix, region, endpoint, root, .. } = store;
    let texts = [("bucket", bucket), ("prefix", prefix), ("region", region), ("endpoint", endpoint)];
    for (key, text) in texts {
        if let Some(text) = text {
            *text = config::expand(&format!("stores.{name}.{key}"), text)?;
        }
    }
    if let Some(path) = root
        && let Some(text) = path.to_str()
    {
        *path = PathBuf::from(config::expand(&format!("stores.{name}.root"), text)?);
    }
    Ok(())
}
