//! What a person or a script sees: results on standard output, everything else on standard error.
//!
//! A [`Ui`] is made once from the global flags. A command hands it one serialisable report and a function
//! that lays the same report out as a [`Page`]; nothing else reaches standard output. With JSON output
//! standard error holds one object at most when the command fails: warnings wait until the end and travel
//! inside it. Terminal crates are used in this folder only.

mod log;
mod page;
mod progress;
mod prompt;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

pub use page::Page;
pub use progress::ProgressMode;
pub use prompt::{PromptError, leave as leave_prompt};

use crate::domain::redact::redact;
use crate::ops::observer::Observer;
use progress::Progress;

/// Form of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Table,
    /// For scripts; errors become one object on standard error
    Json,
    /// For scripts and people
    Yaml,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorMode {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

/// What the global flags say about the output.
#[derive(Debug, Clone, Copy, Default)]
pub struct UiOptions {
    /// Form of results.
    pub format: Format,
    /// Form of progress.
    pub progress: ProgressMode,
    /// Colors.
    pub color: ColorMode,
    /// Answer every prompt with yes.
    pub yes: bool,
    /// Refuse to prompt.
    pub no_input: bool,
    /// Print no notes and no progress.
    pub quiet: bool,
    /// How much to say of what this program does: 0, 1, more.
    pub verbose: u8,
}

/// An error as people and scripts see it.
#[derive(Debug, Serialize)]
pub struct ErrorView<'a> {
    /// Stable upper-case word.
    pub code: &'a str,
    /// What happened.
    pub message: &'a str,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'a str>,
    /// Warnings that came before it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub warnings: &'a [String],
}

#[derive(Serialize)]
struct Wrapped<'a> {
    error: ErrorView<'a>,
}

/// Most warnings kept for the end; the rest is counted.
const WARNINGS_KEPT: usize = 100;

/// The two output streams of this process.
pub struct Ui {
    options: UiOptions,
    err: Arc<ErrStream>,
    progress: Arc<Progress>,
    asking: Arc<AtomicBool>,
    /// Reports are kept here instead of being printed.
    captured: Option<Mutex<Vec<Captured>>>,
}

/// A report that was not printed.
#[derive(Debug, Clone, Serialize)]
pub struct Captured {
    /// As it serialises.
    pub report: serde_json::Value,
    /// As people would see it.
    #[serde(skip)]
    pub text: String,
}

/// Standard error: one writer, so that lines and bars do not cross.
struct ErrStream {
    json: bool,
    color: bool,
    quiet: bool,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    warnings: Vec<String>,
    more: u64,
}

impl Ui {
    /// Looks at the terminal once.
    #[must_use]
    pub fn new(options: UiOptions) -> Self {
        let color = match options.color {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => {
                io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        let json = options.format == Format::Json;
        let err = Arc::new(ErrStream { json, color, quiet: options.quiet, held: Mutex::default() });
        let mode = match options.progress {
            _ if options.quiet => ProgressMode::None,
            ProgressMode::Auto if io::stderr().is_terminal() => ProgressMode::Bar,
            // Lines of text would stand between a script and its one error object.
            ProgressMode::Auto if json => ProgressMode::None,
            ProgressMode::Auto => ProgressMode::Plain,
            asked => asked,
        };
        let progress = Arc::new(Progress::new(mode));
        log::start(options.verbose, color, progress.clone());
        Self { options, err, progress, asking: Arc::default(), captured: None }
    }

    /// An output that keeps the reports of a command that another one runs, shares standard error with this
    /// one, and answers every prompt with yes.
    #[must_use]
    pub fn capturing(&self) -> Self {
        let options = UiOptions { yes: true, ..self.options };
        let (err, progress, asking) = (self.err.clone(), self.progress.clone(), self.asking.clone());
        Self { options, err, progress, asking, captured: Some(Mutex::default()) }
    }

    /// What [`Ui::capturing`] kept, in order.
    #[must_use]
    pub fn take_captured(&self) -> Vec<Captured> {
        let kept = self.captured.as_ref();
        kept.map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))).unwrap_or_default()
    }

    /// Prints a report: as JSON or YAML as it serialises, as a table the way `page` lays it out.
    /// A reader who went away is no error.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print<R: Serialize>(&self, report: &R, page: impl FnOnce(&R) -> Page) -> io::Result<()> {
        if let Some(captured) = &self.captured {
            let report_value = serde_json::to_value(report).map_err(io::Error::other)?;
            let kept = Captured { report: report_value, text: page(report).render(false) };
            captured.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
            return Ok(());
        }
        let text = match self.options.format {
            Format::Table => page(report).render(io::stdout().is_terminal()),
            Format::Json => {
                let mut text = serde_json::to_string_pretty(report).map_err(io::Error::other)?;
                text.push('\n');
                text
            }
            Format::Yaml => serde_yaml::to_string(report).map_err(io::Error::other)?,
        };
        self.print_raw(text.as_bytes())
    }

    /// Prints bytes that have one form only, such as a completion script.
    ///
    /// # Errors
    /// When standard output cannot be written. A reader who went away is no error.
    pub fn print_raw(&self, bytes: &[u8]) -> io::Result<()> {
        self.progress.clear();
        let mut out = io::stdout().lock();
        match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    /// The form of results.
    #[must_use]
    pub fn format(&self) -> Format {
        self.options.format
    }

    /// Receives progress and warnings of an operation and shows them here.
    #[must_use]
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(UiObserver { err: self.err.clone(), progress: self.progress.clone() })
    }

    /// A line that did not stop the run.
    pub fn warn(&self, message: &str) {
        self.err.warn(&self.progress, message);
    }

    /// A line worth reading; quiet runs leave it out.
    pub fn note(&self, message: &str) {
        self.err.note(&self.progress, message);
    }

    /// Prints the error a command ends with.
    pub fn error(&self, code: &str, message: &str, hint: Option<&str>) {
        self.progress.clear();
        let message = redact(message);
        let hint = hint.map(redact);
        if self.err.json {
            let held = self.err.take();
            let view = ErrorView { code, message: &message, hint: hint.as_deref(), warnings: &held };
            let object = serde_json::to_string(&Wrapped { error: view });
            self.err.line(&object.expect("an error view is plain text"));
            return;
        }
        self.err.line(&format!("{} {message}", self.err.paint("error:", "1;31")));
        if let Some(hint) = hint {
            self.err.line(&format!("{} {hint}", self.err.paint("hint:", "1;36")));
        }
    }

    /// Asks whether to go on. `--yes` answers; without a terminal, or with `--no-input`, it refuses to ask.
    ///
    /// # Errors
    /// [`PromptError`] when the answer is no or there is nobody to ask.
    pub fn confirm(&self, question: &str) -> Result<(), PromptError> {
        if self.options.yes {
            return Ok(());
        }
        self.may_ask(question)?;
        self.ask(|| prompt::confirm(&redact(question)))
    }

    /// Asks for a word to be typed, for what cannot be undone. `--yes` answers it as well.
    ///
    /// # Errors
    /// As [`Ui::confirm`].
    pub fn confirm_by_typing(&self, question: &str, expected: &str) -> Result<(), PromptError> {
        if self.options.yes {
            return Ok(());
        }
        self.may_ask(question)?;
        self.ask(|| prompt::confirm_by_typing(&redact(question), expected))
    }

    fn ask(&self, ask: impl FnOnce() -> Result<(), PromptError>) -> Result<(), PromptError> {
        self.progress.clear();
        self.asking.store(true, Ordering::SeqCst);
        let answer = ask();
        self.asking.store(false, Ordering::SeqCst);
        answer
    }

    /// Says whether a person is being asked, from another thread: then a signal may end the process, as
    /// nothing has been begun, and nobody waits for the answer.
    #[must_use]
    pub fn asking(&self) -> Arc<AtomicBool> {
        self.asking.clone()
    }

    fn may_ask(&self, question: &str) -> Result<(), PromptError> {
        if self.options.no_input {
            return Err(PromptError::NoInput { question: question.to_owned() });
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(PromptError::NoTerminal { question: question.to_owned() });
        }
        Ok(())
    }

    /// Ends progress and prints what waited.
    pub fn finish(&self) {
        self.progress.clear();
        self.flush_warnings();
    }

    fn flush_warnings(&self) {
        for message in self.err.take() {
            self.err.line(&serde_json::json!({ "warning": { "message": message } }).to_string());
        }
    }
}

impl ErrStream {
    fn line(&self, line: &str) {
        // Nobody is left to tell when standard error itself is gone.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    fn paint(&self, text: &str, style: &str) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn warn(&self, progress: &Progress, message: &str) {
        let message = redact(message);
        if progress.json_line("warning", &message) {
            return;
        }
        if self.json {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if held.warnings.len() < WARNINGS_KEPT {
                held.warnings.push(message);
            } else {
                held.more += 1;
            }
            return;
        }
        progress.suspend(|| self.line(&format!("{} {message}", self.paint("warning:", "1;33"))));
    }

    fn note(&self, progress: &Progress, message: &str) {
        let message = redact(message);
        if self.quiet || progress.json_line("note", &message) || self.json {
            return;
        }
        progress.suspend(|| self.line(&message));
    }

    fn take(&self) -> Vec<String> {
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        let mut warnings = held.warnings;
        if held.more > 0 {
            warnings.push(format!("and {} more warnings; --output table prints them all", held.more));
        }
        warnings
    }
}

struct UiObserver {
    err: Arc<ErrStream>,
    progress: Arc<Progress>,
}

impl Observer for UiObserver {
    fn phase(&self, name: &str, total: Option<u64>) {
        self.progress.phase(name, total);
    }

    fn advance(&self, units: u64, bytes: u64) {
        self.progress.advance(units, bytes);
    }

    fn warn(&self, message: &str) {
        self.err.warn(&self.progress, message);
    }

    fn note(&self, message: &str) {
        self.err.note(&self.progress, message);
    }
}
