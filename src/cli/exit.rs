//! The one table from errors to exit status, code word and hint.
//!
//! Below the command line errors are typed; commands pass them up through `anyhow`, and [`Failure::of`]
//! finds the typed one again. A command that found something wrong but has a report prints the report and
//! returns its [`Exit`] instead of an error.

use std::process::ExitCode;

use crate::ops::error::{backend_code, store_code};
use crate::ui::PromptError;
use crate::{archive, backend, config, ops, store};

/// Exit status of the process. Source: the command surface, exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// It failed.
    Failed,
    /// Usage or configuration.
    Usage,
    /// A check found a difference.
    Difference,
    /// The catalog is refused.
    Refused,
    /// A claim, lock or bound stands in the way.
    Busy,
    /// No such table, backup, job, store.
    NotFound,
    /// The target exists, or an idempotency key was used otherwise.
    Conflict,
    /// The run lost its claim.
    Fenced,
    /// Of several targets some failed, or items were left out on request.
    Partly,
    /// Interrupted or cancelled.
    Interrupted,
}

impl Exit {
    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Difference => 3,
            Self::Refused => 4,
            Self::Busy => 5,
            Self::NotFound => 6,
            Self::Conflict => 7,
            Self::Fenced => 8,
            Self::Partly => 9,
            Self::Interrupted => 130,
        }
    }

    /// The one that stands when two fit: 130, then 8, 4, 3, 9, 1, then any other, then 0.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let rank = |exit: Self| match exit {
            Self::Interrupted => 7,
            Self::Fenced => 6,
            Self::Refused => 5,
            Self::Difference => 4,
            Self::Partly => 3,
            Self::Failed => 2,
            Self::Usage | Self::Busy | Self::NotFound | Self::Conflict => 1,
            Self::Done => 0,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error with everything the edge shows of it. Commands make one for what only they can see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Exit status.
    pub exit: Exit,
    /// Stable upper-case word.
    pub code: &'static str,
    /// Object, expected, found.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without hint.
    pub fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "USAGE", message)
    }

    /// What the edge shows of an error. Contexts that were added on the way stand before its message.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        let found = error
            .chain()
            .find_map(|cause| {
                if let Some(e) = cause.downcast_ref::<Failure>() {
                    return Some(e.clone());
                }
                cause
                    .downcast_ref::<ops::Error>()
                    .map(of_operation)
                    .or_else(|| cause.downcast_ref::<backend::Error>().map(of_backend))
                    .or_else(|| cause.downcast_ref::<store::Error>().map(of_store))
                    .or_else(|| cause.downcast_ref::<archive::Error>().map(of_archive))
                    .or_else(|| cause.downcast_ref::<config::Error>().map(of_config))
                    .or_else(|| cause.downcast_ref::<PromptError>().map(of_prompt))
                    .or_else(|| cause.downcast_ref::<std::io::Error>().map(of_io))
            })
            .unwrap_or_else(|| Self::new(Exit::Failed, "FAILED", ""));
        Self { message: format!("{error:#}"), ..found }
    }
}

impl From<&ops::Error> for Failure {
    fn from(error: &ops::Error) -> Self {
        of_operation(error)
    }
}

fn of_operation(error: &ops::Error) -> Failure {
    use ops::Error as E;
    let (exit, hint) = match error {
        E::Backend(e) => return of_backend(e),
        E::Store(e) => return of_store(e),
        E::Archive(e) => return of_archive(e),
        E::Usage(_) => (Exit::Usage, None),
        E::CheckFailed { hint, .. } => (Exit::Difference, hint.as_deref()),
        E::CatalogRefused { hint, .. } => (Exit::Refused, Some(hint.as_deref().unwrap_or(MIGRATE_STATUS))),
        E::Busy(_) => (Exit::Busy, Some(BUSY)),
        E::NotFound(_) => (Exit::NotFound, None),
        E::Conflict(_) => (Exit::Conflict, None),
        E::Fenced(_) => (Exit::Fenced, Some(FENCED)),
        E::Interrupted(_) => (Exit::Interrupted, None),
        E::Failed(_) => (Exit::Failed, None),
    };
    failure(exit, error.code(), error, hint)
}

fn failure(exit: Exit, code: &'static str, error: &dyn std::error::Error, hint: Option<&str>) -> Failure {
    Failure { exit, code, message: error.to_string(), hint: hint.map(str::to_owned) }
}

const MIGRATE_STATUS: &str = "`extenddb-admin migrate status` says what this catalog is and what would be applied";
const BUSY: &str = "wait for the holder that is named and run the same command again; \
    `extenddb-admin job list` shows who is at work";
const FENCED: &str = "another process took this work over and this one wrote nothing after that; \
    `extenddb-admin job list` shows who holds it now";
const CONFIG_SHOW: &str = "`extenddb-admin config show` prints what is in force";

fn of_backend(error: &backend::Error) -> Failure {
    use backend::ErrorKind as K;
    let (exit, hint) = match error.kind() {
        K::Config => (Exit::Usage, CONFIG_SHOW),
        K::Unavailable => {
            (Exit::Failed, "check that the database runs and can be reached from here, then run the same command again")
        }
        K::PermissionDenied => {
            (Exit::Failed, "use the role that the server connects with, or grant what the message names")
        }
        K::NotInitialized => {
            (Exit::Refused, "check the URL; `extenddb-admin migrate` makes a catalog in an empty database")
        }
        K::NotFound => (Exit::NotFound, ""),
        K::Conflict => (Exit::Conflict, ""),
        K::Busy => (Exit::Busy, BUSY),
        K::Fenced => (Exit::Fenced, FENCED),
        K::CatalogRefused => (Exit::Refused, MIGRATE_STATUS),
        K::Damaged => (
            Exit::Failed,
            "the row breaks the catalog's own rules: look at it with the database's own client before going on",
        ),
        K::Unrepresentable => (
            Exit::Difference,
            "nothing was written; restore into a deployment whose backend can hold what the message names",
        ),
        K::Timeout => {
            (Exit::Failed, "run the same command again when the database is less busy, or raise --lock-timeout")
        }
        K::Unsupported => (Exit::Usage, ""),
        K::Internal => (Exit::Failed, ""),
    };
    failure(exit, backend_code(error.kind()), error, Some(hint).filter(|hint| !hint.is_empty()))
}

fn of_store(error: &store::Error) -> Failure {
    use store::ErrorKind as K;
    let (exit, hint) = match error.kind {
        K::Config => (Exit::Usage, "`extenddb-admin store list` shows the stores there are"),
        K::NotFound => (Exit::NotFound, ""),
        K::PermissionDenied => {
            (Exit::Failed, "links inside a store are never followed; `extenddb-admin store check` lists them")
        }
        K::InvalidKey => (Exit::Usage, ""),
        K::NotEmpty => (Exit::Conflict, "if it is a backup store, `extenddb-admin store adopt` gives it an identity"),
        K::BadIdentity => (
            Exit::Failed,
            "nothing is written to a store whose extenddb-store.json cannot be read: put the right file back",
        ),
        K::Io => (Exit::Failed, "check the path and its free space, then run the same command again"),
        K::Transport => {
            (Exit::Failed, "check that the store can be reached from here, then run the same command again")
        }
    };
    failure(exit, store_code(error.kind), error, Some(hint).filter(|hint| !hint.is_empty()))
}

fn of_archive(error: &archive::Error) -> Failure {
    use archive::Error as E;
    match error {
        E::Store(e) => of_store(e),
        E::Unfinished => failure(Exit::Failed, "FAILED", error, None),
        E::Refused(_) => failure(
            Exit::Difference,
            "BACKUP_REFUSED",
            error,
            Some("`extenddb-admin backup verify --deep ID` lists everything that is wrong with it"),
        ),
        E::Item(_) => failure(
            Exit::Failed,
            "ITEM_INVALID",
            error,
            Some("the item breaks DynamoDB's own rules: correct or remove it in the source table"),
        ),
        E::Spool { .. } => failure(
            Exit::Failed,
            "SPOOL",
            error,
            Some("set backup.spool_path to a directory with more room, then run the same command again"),
        ),
        E::Stopped => failure(Exit::Interrupted, "INTERRUPTED", error, None),
    }
}

fn of_config(error: &config::Error) -> Failure {
    Failure { hint: error.hint(), ..Failure::new(Exit::Usage, "CONFIG", error.to_string()) }
}

fn of_prompt(error: &PromptError) -> Failure {
    let text = error.to_string();
    match error {
        PromptError::NoInput { .. } | PromptError::NoTerminal { .. } => {
            Failure::new(Exit::Usage, "CONFIRMATION_NEEDED", text).hint("pass --yes to answer it")
        }
        PromptError::Interrupted => Failure::new(Exit::Interrupted, "INTERRUPTED", text),
        PromptError::Declined => Failure::new(Exit::Failed, "DECLINED", text),
        PromptError::Failed(_) => Failure::new(Exit::Failed, "FAILED", text),
    }
}

fn of_io(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, "IO", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_precedence_of_two_that_fit_is_8_4_3_9_1() {
        let order = [Exit::Fenced, Exit::Refused, Exit::Difference, Exit::Partly, Exit::Failed, Exit::Done];
        for pair in order.windows(2) {
            assert_eq!(pair[0].or(pair[1]), pair[0]);
            assert_eq!(pair[1].or(pair[0]), pair[0]);
        }
    }

    #[test]
    fn a_typed_error_keeps_its_status_under_added_context() {
        let error = anyhow::Error::new(ops::Error::Conflict("table \"A\" exists".into())).context("table Orders");
        let failure = Failure::of(&error);
        assert_eq!((failure.exit, failure.code), (Exit::Conflict, "CONFLICT"));
        assert_eq!(failure.message, "table Orders: table \"A\" exists");
    }

    #[test]
    fn a_backend_error_inside_an_operation_has_the_same_status_as_alone() {
        let inner = || backend::Error::new(backend::ErrorKind::Fenced, "write", "lost");
        let alone = Failure::of(&anyhow::Error::new(inner()));
        let inside = Failure::of(&anyhow::Error::new(ops::Error::Backend(inner())));
        assert_eq!(alone, inside);
        assert_eq!(alone.exit.code(), 8);
    }
}
