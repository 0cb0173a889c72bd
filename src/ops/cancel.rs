//! Asking a running operation to stop, and saying why it stopped.
//!
//! The first reason stays, but a lost claim replaces any other: after it nothing may be written,
//! not even to undo.
//!
//! An operation that looks at the request and ends by itself, with its work undone or resumable, holds an
//! [`Undertaking`] from before its first write; while there is none, the command line drops a command that
//! is asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use super::error::{Error, Result};

/// Why an operation should stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// SIGINT or SIGTERM.
    Signal,
    /// Somebody asked the job to stop.
    CancelRequested,
    /// The claim cannot be renewed: the database does not answer.
    Unreachable(String),
    /// The claim was lost; the message holds both numbers and both writers where they are known.
    Fenced(String),
}

/// A request to stop, shared by everyone who works on one operation. Clones share the request.
#[derive(Debug, Clone)]
pub struct Cancel {
    reason: Arc<watch::Sender<Option<Stop>>>,
    undertakings: Arc<AtomicUsize>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

impl Cancel {
    /// Nobody asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self { reason: Arc::new(watch::Sender::new(None)), undertakings: Arc::default() }
    }

    /// Asks to stop. Later reasons are ignored, except that a lost claim replaces every other.
    pub fn stop(&self, why: Stop) {
        self.reason.send_if_modified(|reason| {
            let replace = match (&reason, &why) {
                (None, _) => true,
                (Some(Stop::Fenced(_)), _) => false,
                (Some(_), Stop::Fenced(_)) => true,
                (Some(_), _) => false,
            };
            if replace {
                *reason = Some(why);
            }
            replace
        });
    }

    /// The reason, if somebody asked.
    #[must_use]
    pub fn reason(&self) -> Option<Stop> {
        self.reason.borrow().clone()
    }

    /// Somebody asked.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.reason.borrow().is_some()
    }

    /// The claim is lost: write nothing any more.
    #[must_use]
    pub fn is_fenced(&self) -> bool {
        matches!(*self.reason.borrow(), Some(Stop::Fenced(_)))
    }

    /// Waits until somebody asks.
    pub async fn stopped(&self) -> Stop {
        let mut receiver = self.reason.subscribe();
        let reason = receiver.wait_for(Option::is_some).await.expect("the sender lives as long as self");
        (*reason).clone().expect("waited for a reason")
    }

    /// Goes on only if nobody asked.
    ///
    /// # Errors
    /// `Fenced`, `Interrupted` or `Failed`, as the reason says.
    pub fn check(&self) -> Result<()> {
        match self.reason() {
            None => Ok(()),
            Some(stop) => Err(stop.into()),
        }
    }

    /// Declares that the operation will notice the request and end by itself. Hold it until nothing is left
    /// to undo.
    #[must_use]
    pub fn undertake(&self) -> Undertaking {
        self.undertakings.fetch_add(1, Ordering::SeqCst);
        Undertaking(self.undertakings.clone())
    }

    /// Whether some operation will end by itself.
    #[must_use]
    pub fn is_undertaken(&self) -> bool {
        self.undertakings.load(Ordering::SeqCst) > 0
    }

    /// A request of its own for one of several jobs of a process: asked with this one, but not the other way round.
    /// The link lasts until it is dropped.
    #[must_use]
    pub fn linked(&self) -> (Self, Link) {
        let (parent, child) = (self.clone(), Self::new());
        let other = child.clone();
        let task = tokio::spawn(async move { other.stop(parent.stopped().await) });
        if let Some(reason) = self.reason() {
            child.stop(reason);
        }
        (child, Link(task))
    }

    /// Runs a future unless, or until, somebody asks to stop. What is given up is dropped.
    ///
    /// # Errors
    /// As [`Cancel::check`], and the future's own.
    pub async fn guard<T, E: Into<Error>>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T> {
        tokio::select! {
            biased;
            stop = self.stopped() => Err(stop.into()),
            done = work => done.map_err(Into::into),
        }
    }
}

/// Hands a request to stop on, until it is dropped.
#[derive(Debug)]
pub struct Link(tokio::task::JoinHandle<()>);

impl Drop for Link {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The promise of an operation to end by itself.
#[derive(Debug)]
pub struct Undertaking(Arc<AtomicUsize>);

impl Drop for Undertaking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Signal => Self::Interrupted("interrupted".to_owned()),
            Stop::CancelRequested => Self::Interrupted("cancelled on request".to_owned()),
            Stop::Unreachable(message) => Self::Failed(message),
            Stop::Fenced(message) => Self::Fenced(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays_and_a_lost_claim_replaces_it() {
        let cancel = Cancel::new();
        assert!(cancel.check().is_ok());
        cancel.stop(Stop::Signal);
        cancel.stop(Stop::CancelRequested);
        assert_eq!(cancel.reason(), Some(Stop::Signal));
        cancel.stop(Stop::Fenced("epoch 3".into()));
        cancel.stop(Stop::Signal);
        assert_eq!(cancel.reason(), Some(Stop::Fenced("epoch 3".into())));
        assert!(cancel.is_fenced());
    }

    #[tokio::test]
    async fn guarded_work_ends_when_asked() {
        let cancel = Cancel::new();
        let other = cancel.clone();
        let work = async move {
            other.stop(Stop::Signal);
            std::future::pending::<Result<()>>().await
        };
        assert!(matches!(cancel.guard(work).await, Err(Error::Interrupted(_))));
    }

    #[tokio::test]
    async fn a_linked_request_follows_and_does_not_lead() {
        let parent = Cancel::new();
        let (child, _link) = parent.linked();
        child.stop(Stop::CancelRequested);
        assert!(!parent.is_stopped());
        let (second, _link) = parent.linked();
        parent.stop(Stop::Signal);
        assert_eq!(second.stopped().await, Stop::Signal);
    }

    #[test]
    fn an_undertaking_lasts_until_it_is_dropped() {
        let cancel = Cancel::new();
        let first = cancel.undertake();
        let second = cancel.clone().undertake();
        drop(first);
        assert!(cancel.is_undertaken());
        drop(second);
        assert!(!cancel.is_undertaken());
    }
}
