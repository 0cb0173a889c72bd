//! Diagnostics of this program's own code on standard error, for `-v` and `-vv`.
//!
//! Libraries are left out: their texts may hold what must not be printed.

use std::io::{self, Write};
use std::sync::Arc;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::progress::Progress;
use crate::domain::redact::redact;

/// Starts to show diagnostics: none for 0, information for 1, details for more.
pub(super) fn start(verbose: u8, color: bool, progress: Arc<Progress>) {
    let level = match verbose {
        0 => return,
        1 => "extenddb_admin=info",
        _ => "extenddb_admin=debug",
    };
    let started = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_ansi(color)
        .with_writer(Redacting(progress))
        .try_init();
    // Only a second start can fail, in a test; the first one stays.
    drop(started);
}

struct Redacting(Arc<Progress>);

impl<'a> MakeWriter<'a> for Redacting {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { progress: &self.0, text: Vec::new() }
    }
}

/// One event: collected, freed of secrets, written at once.
struct Line<'a> {
    progress: &'a Progress,
    text: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let text = redact(&String::from_utf8_lossy(&self.text));
        self.progress.suspend(|| {
            // Nobody is left to tell when standard error itself is gone.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        });
    }
}
