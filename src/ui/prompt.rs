//! Questions to the person at the terminal.

use std::io;

use dialoguer::console::Term;
use dialoguer::{Confirm, Input};

/// Why there is no yes.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// `--no-input` was given.
    #[error("confirmation is needed and --no-input forbids to ask: {question}")]
    NoInput {
        /// What would have been asked.
        question: String,
    },
    /// Standard input or error is no terminal.
    #[error("confirmation is needed and there is no terminal to ask on: {question}")]
    NoTerminal {
        /// What would have been asked.
        question: String,
    },
    /// The answer was no.
    #[error("declined: nothing was changed")]
    Declined,
    /// Ctrl-C at the prompt.
    #[error("interrupted at the prompt: nothing was changed")]
    Interrupted,
    /// The terminal failed.
    #[error("cannot ask: {0}")]
    Failed(String),
}

/// Asks a yes-or-no question, no being the default.
pub(super) fn confirm(question: &str) -> Result<(), PromptError> {
    match Confirm::new().with_prompt(question).default(false).interact() {
        Ok(true) => Ok(()),
        Ok(false) => Err(PromptError::Declined),
        Err(e) => Err(failed(&e)),
    }
}

/// Asks for a word to be typed exactly.
pub(super) fn confirm_by_typing(question: &str, expected: &str) -> Result<(), PromptError> {
    let prompt = format!("{question}\nType {expected} to go on");
    match Input::<String>::new().with_prompt(prompt).allow_empty(true).interact_text() {
        Ok(answer) if answer.trim() == expected => Ok(()),
        Ok(_) => Err(PromptError::Declined),
        Err(e) => Err(failed(&e)),
    }
}

fn failed(error: &dialoguer::Error) -> PromptError {
    leave("");
    let dialoguer::Error::IO(error) = error;
    match error.kind() {
        io::ErrorKind::Interrupted => PromptError::Interrupted,
        _ => PromptError::Failed(error.to_string()),
    }
}

/// Gives the terminal back as it was (a prompt hides the cursor and stays on its line), and says why.
pub fn leave(why: &str) {
    // A terminal that is gone needs nothing back.
    let term = Term::stderr();
    let _ = term.show_cursor();
    let _ = term.write_line("");
    if !why.is_empty() {
        let _ = term.write_line(why);
    }
}
