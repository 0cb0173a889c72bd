//! What commands may know of the backends there are: their names, and which one a URL means.

use anyhow::Result;

pub use crate::backend::Backend;
use crate::backend::registry;

/// The backend of a name, for a flag.
///
/// # Errors
/// Lists the names there are.
pub fn backend_by_name(name: &str) -> Result<&'static str, String> {
    registry::by_name(name).map(|entry| entry.name).ok_or_else(|| {
        let names: Vec<_> = registry::BACKENDS.iter().map(|entry| entry.name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The backend that a URL means.
///
/// # Errors
/// Lists the schemes there are; the URL is not repeated.
pub fn backend_of_url(url: &str) -> Result<&'static str> {
    Ok(registry::by_url(url)?.name)
}
