//! Which store a backup lies in, as catalog rows and job records name it.

/// Identity of a store in catalog rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRef {
    /// `filesystem` or `s3`.
    pub kind: String,
    /// Canonical path or URL, for people.
    pub root: String,
    /// The store's own id.
    pub id: String,
}
