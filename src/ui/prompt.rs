//! Questions to the person at the terminal.

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
    /// The terminal failed.
    #[error("cannot ask: {0}")]
    Failed(String),
}

/// Asks a yes-or-no question, no being the default.
pub(super) fn confirm(question: &str) -> Result<(), PromptError> {
    match Confirm::new().with_prompt(question).default(false).interact() {
        Ok(true) => Ok(()),
        Ok(false) => Err(PromptError::Declined),
        Err(e) => Err(PromptError::Failed(e.to_string())),
    }
}

/// Asks for a word to be typed exactly.
pub(super) fn confirm_by_typing(question: &str, expected: &str) -> Result<(), PromptError> {
    let prompt = format!("{question}\nType {expected} to go on");
    match Input::<String>::new().with_prompt(prompt).allow_empty(true).interact_text() {
        Ok(answer) if answer.trim() == expected => Ok(()),
        Ok(_) => Err(PromptError::Declined),
        Err(e) => Err(PromptError::Failed(e.to_string())),
    }
}
