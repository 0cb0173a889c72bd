//! The commit record of one backup, and what its answer means.
//!
//! Source: backup operations, section 5, steps 5 to 8. The heartbeat is renewed directly before the commit record is
//! created; after an unclear answer the record is looked for before anything is decided.

use std::sync::Arc;

use super::sweep::{Found, look};
use crate::archive::BackupPrefix;
use crate::archive::writer::{BackupMeta, BackupWriter, SealOutcome};
use crate::domain::digest::TableDigest;
use crate::domain::manifest::Manifest;
use crate::ops::error::Error;
use crate::ops::heart::{Heart, RowClaim};
use crate::store::Store;

/// How the sealing of one backup ended.
pub enum Sealed {
    /// It is a backup now. The digest is missing when the answer got lost and the record was found afterwards.
    Committed(Box<Manifest>, Option<TableDigest>),
    /// No commit record: what is under the prefix may be removed.
    Undone(Error),
    /// The prefix must not be touched: another writer committed it, the claim is lost, or nobody can tell.
    HandsOff(Error),
}

/// Writes the two export manifests and the commit record.
pub async fn seal(
    store: &Arc<dyn Store>,
    prefix: &BackupPrefix,
    writer: BackupWriter,
    meta: BackupMeta,
    heart: &Heart,
    row: Option<&RowClaim>,
) -> Sealed {
    let arn = meta.arn.to_string();
    let error = match writer.seal::<Error>(meta, heart.renew(row)).await {
        Ok(SealOutcome::Committed { manifest, digest }) => return Sealed::Committed(manifest, Some(digest)),
        Ok(SealOutcome::Exists) => {
            return Sealed::HandsOff(Error::Conflict(format!(
                "another writer committed {prefix} first; its backup was not touched"
            )));
        }
        Err(error) if error.is_fenced() => return Sealed::HandsOff(error),
        Err(error) => error,
    };
    match look(&**store, prefix).await {
        Ok(Found::Complete(manifest)) if manifest.backup_arn == arn => Sealed::Committed(manifest, None),
        Ok(Found::Incomplete) => Sealed::Undone(error),
        Ok(Found::Complete(_) | Found::Damaged(_)) => Sealed::HandsOff(error),
        Err(read) => Sealed::HandsOff(Error::Failed(format!(
            "{error}; whether the commit record of {prefix} was written is not known ({read}): run the same command \
             again once the store answers"
        ))),
    }
}
