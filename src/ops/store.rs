//! Looks at a store, and gives it its identity.

use serde::Serialize;

use super::Result;
use super::settings::OpenStore;
use crate::domain::store_ref::StoreRef;
use crate::store::Oddity;

/// Most oddities listed by path; the rest is counted.
const LISTED: usize = 8;

/// Name of the object that holds a store's identity. Source: backup stores, section 5.
const IDENTITY: &str = "extenddb-store.json";

/// One thing a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreFinding {
    /// Stable upper-case word.
    pub code: &'static str,
    /// What was found.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Report of [`check`].
#[derive(Debug, Serialize)]
pub struct StoreReport {
    /// Name it was opened by.
    pub store: String,
    /// `filesystem` or `s3`.
    pub kind: String,
    /// Canonical path or URL.
    pub root: String,
    /// Identity, once it has one.
    pub id: Option<String>,
    /// Nothing that needs a hand was found.
    pub ok: bool,
    /// What needs a hand.
    pub findings: Vec<StoreFinding>,
    /// Worth knowing, no fault: temporaries of a writer that may still be at work, no identity yet.
    pub notes: Vec<String>,
}

/// Reads, writes and removes a probe, reads the identity, looks for links and temporaries.
///
/// # Errors
/// When the store cannot be used at all.
pub async fn check(open: &OpenStore) -> Result<StoreReport> {
    let store = &*open.store;
    store.validate().await?;
    let identity = store.identity().await?;
    let mut report = StoreReport {
        store: open.name.clone(),
        kind: store.kind().to_owned(),
        root: store.root(),
        id: identity.map(|identity| identity.id),
        ok: true,
        findings: Vec::new(),
        notes: Vec::new(),
    };
    if report.id.is_none() {
        let holds_something = store.children("").await?.iter().any(|name| name != IDENTITY);
        if holds_something {
            report.findings.push(StoreFinding {
                code: "STORE_NOT_EMPTY",
                message: "the store holds objects and has no identity: nothing is written to it".to_owned(),
                hint: Some(format!("if it is a backup store: extenddb-admin store adopt {}", open.name)),
            });
        } else {
            report.notes.push("empty, without identity yet: `store init` or the first backup gives it one".to_owned());
        }
    }
    let (links, temporaries): (Vec<_>, Vec<_>) =
        store.oddities("").await?.into_iter().partition(|oddity| matches!(oddity, Oddity::Link(_)));
    if !links.is_empty() {
        report.findings.push(StoreFinding {
            code: "LINKS",
            message: format!("symbolic links, which are never followed: {}", paths(&links)),
            hint: Some("remove them, or put the objects themselves in their place".to_owned()),
        });
    }
    if !temporaries.is_empty() {
        report.notes.push(format!("temporaries of a writer that is at work or died: {}", paths(&temporaries)));
    }
    report.ok = report.findings.is_empty();
    Ok(report)
}

fn paths(oddities: &[Oddity]) -> String {
    let path = |oddity: &Oddity| match oddity {
        Oddity::Link(path) | Oddity::Temporary(path) => path.clone(),
    };
    let listed: Vec<_> = oddities.iter().take(LISTED).map(path).collect();
    match oddities.len().checked_sub(LISTED) {
        None | Some(0) => listed.join(", "),
        Some(more) => format!("{} and {more} more", listed.join(", ")),
    }
}

/// Report of [`initialise`].
#[derive(Debug, Serialize)]
pub struct StoreIdentity {
    /// Name it was opened by.
    pub store: String,
    /// `filesystem` or `s3`.
    pub kind: String,
    /// Canonical path or URL.
    pub root: String,
    /// Identity.
    pub id: String,
    /// It was given just now; otherwise it was there.
    pub created: bool,
}

/// Gives a store its identity, or answers the one it has. A store that holds objects and has none is only
/// adopted when `adopt` is set.
///
/// # Errors
/// `NotEmpty`; a malformed identity; whatever the store says.
pub async fn initialise(open: &OpenStore, adopt: bool) -> Result<StoreIdentity> {
    let store = &*open.store;
    let before = store.identity().await?;
    let created = before.is_none();
    let StoreRef { kind, root, id } = match before {
        Some(identity) => identity,
        None => store.initialise(adopt).await?,
    };
    Ok(StoreIdentity { store: open.name.clone(), kind, root, id, created })
}
