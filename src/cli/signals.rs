//! SIGINT and SIGTERM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::Exit;
use crate::ui::leave_prompt;

/// The signals that arrive.
pub struct Signals(mpsc::UnboundedReceiver<&'static str>);

/// Starts to listen, in a task of its own: while a person is asked (`asking`), the command waits for the
/// answer and cannot look at signals. Nothing has been begun then, so the process ends at once.
///
/// # Errors
/// When the system refuses.
pub fn listen(asking: Arc<AtomicBool>) -> std::io::Result<Signals> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            if asking.load(Ordering::SeqCst) {
                leave_prompt(&format!("error: {name} at the prompt: nothing was changed"));
                std::process::exit(Exit::Interrupted.code().into());
            }
            if sender.send(name).is_err() {
                return;
            }
        }
    });
    Ok(Signals(receiver))
}

impl Signals {
    /// The name of the next one.
    pub async fn next(&mut self) -> &'static str {
        match self.0.recv().await {
            Some(name) => name,
            // The listening task ends with the process only.
            None => std::future::pending().await,
        }
    }
}
