//! What only the demonstration needs: a context inside another one, and the sample deployment.

use std::path::PathBuf;

use anyhow::Result;

use super::{Context, Globals};
use crate::backend::registry::{self as backends, OpenOptions, Sample};

impl Context {
    /// A context for a command that this one runs: only `config` and the given flags choose what it works
    /// with; its reports are kept, its prompts answered, its signals are ours.
    #[must_use]
    pub fn within(&self, globals: Globals, config: PathBuf) -> Self {
        let globals = Globals {
            config: Some(config),
            url: None,
            data_url: None,
            deployment: None,
            server_config: None,
            store: None,
            yes: true,
            ..globals
        };
        Self::new(globals, self.ui.capturing(), self.cancel.clone())
    }
}

fn sample() -> &'static Sample {
    let found = backends::BACKENDS.iter().find_map(|entry| entry.sample.as_ref());
    found.expect("the backend that needs no server has a sample")
}

/// Version of the sample's catalog, and name of its table.
#[must_use]
pub fn demo_sample() -> (&'static str, &'static str) {
    (sample().catalog_version, sample().table)
}

/// Writes the sample into the chosen deployment, whose catalog is empty and of the sample's version.
///
/// # Errors
/// Whatever the database says.
pub async fn write_demo_sample(ctx: &Context) -> Result<()> {
    let deployment = ctx.deployment().await?;
    let options = OpenOptions {
        url: deployment.url,
        data_url: deployment.data_url,
        read_only: false,
        lock_timeout: ctx.globals.lock_timeout,
        writer: ctx.writer.clone(),
        region: deployment.region,
    };
    Ok((sample().write)(options).await?)
}
