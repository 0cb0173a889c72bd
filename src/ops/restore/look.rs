//! The look at one table of a restore: published already, or checked, planned and ready to be staged.

use std::sync::Arc;

use super::prepare::plan;
use super::request::RestoreRequest;
use super::run::Restore;
use super::spool;
use super::verify::{Checked, Source, check_all, check_record};
use crate::archive::BackupPrefix;
use crate::backend;
use crate::backend::jobs::BackupMemory;
use crate::backend::loader::{StagePlan, TargetRules};
use crate::domain::arn::BackupArn;
use crate::domain::digest::TableDigest;
use crate::domain::job::JobRecord;
use crate::domain::store_ref::StoreRef;
use crate::domain::table::{TableInfo, TableStatus};
use crate::ops::error::{Error, Result};
use crate::ops::settings::OpenStore;

/// One table that is ready to be staged.
pub struct Ready {
    pub ordinal: usize,
    pub plan: Arc<StagePlan>,
    pub source: Source,
    pub checked: Checked,
}

/// What the look at one table said.
pub enum Looked {
    /// It can be staged.
    Ready(Box<Ready>),
    /// An earlier attempt published it.
    Published,
}

/// What the look at one table needs.
pub struct Look<'a> {
    pub job: &'a JobRecord,
    pub request: &'a RestoreRequest,
    pub ordinal: usize,
    pub store: Option<&'a OpenStore>,
    pub store_ref: &'a Option<StoreRef>,
    pub rules: &'a TargetRules,
}

impl Restore {
    /// Checks one table and plans it.
    pub(super) async fn look(&self, look: Look<'_>) -> Result<Looked> {
        let wanted = &look.request.tables[look.ordinal];
        let target = wanted.target.key();
        let planned_id = look.request.new_id(look.ordinal, None);
        match self.run.backend.table(&target).await {
            Ok(info) if is_published(&info, &planned_id) => return Ok(Looked::Published),
            Ok(info) if info.definition.table_id == planned_id => {}
            Ok(_) => {
                return Err(Error::Conflict(format!(
                    "table {} exists in account {}: restore under another name",
                    target.table_name, target.account_id
                )));
            }
            Err(error) if error.kind() == backend::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let source = self.source(&look).await?;
        let before = look
            .request
            .decided
            .as_ref()
            .and_then(|d| Some((d.checksums.get(look.ordinal)?.clone()?, d.digests.get(look.ordinal)?.clone()?)));
        let checked = match before {
            Some((checksum, digest)) => self.again(&look, &source, checksum, &digest).await?,
            None => {
                if look.request.decided.is_none() {
                    self.run.backend.check_target(&target).await?;
                }
                self.check(&look, &source).await?
            }
        };
        let plan = self.plan(&look, &source, &checked)?;
        Ok(Looked::Ready(Box::new(Ready { ordinal: look.ordinal, plan: Arc::new(plan), source, checked })))
    }

    fn plan(&self, look: &Look<'_>, source: &Source, checked: &Checked) -> Result<StagePlan> {
        plan(
            look.request,
            look.ordinal,
            &checked.manifest.source_table,
            &source.arn,
            look.rules.region.as_deref(),
            look.job.created_at,
            look.store_ref.clone(),
        )
        .map_err(Error::Usage)
    }

    async fn source(&self, look: &Look<'_>) -> Result<Source> {
        let wanted = &look.request.tables[look.ordinal];
        if wanted.legacy {
            let (store, prefix, arn) = spool::spool(&self.run, look.request, look.ordinal).await?;
            return Ok(Source { store, prefix, arn });
        }
        let store = look.store.ok_or_else(|| Error::Usage(format!("backup {} lies in a store", wanted.backup_arn)))?;
        let arn: BackupArn = wanted.backup_arn.parse().map_err(|e| Error::Usage(format!("{e}")))?;
        let prefix = BackupPrefix::of_arn(&arn).map_err(Error::Usage)?;
        Ok(Source { store: store.store.clone(), prefix, arn })
    }

    /// Verifies everything, and remembers the digest beside the backup.
    async fn check(&self, look: &Look<'_>, source: &Source) -> Result<Checked> {
        let wanted = &look.request.tables[look.ordinal];
        let checked = check_all(&self.run, source, look.rules, &wanted.backup_arn).await?;
        if let (false, Some(store)) = (wanted.legacy, look.store_ref) {
            let memory = BackupMemory {
                store_id: store.id.clone(),
                backup_arn: wanted.backup_arn.clone(),
                manifest_sha256: checked.manifest.manifest_sha256.clone(),
                digest: Some(checked.digest.to_string()),
                verified_at: None,
                verified_ok: Some(true),
                verified_deep: true,
            };
            if let Err(error) = self.run.backend.remember_backup(&memory).await {
                self.run.observer.warn(&format!("the verification of {} was not recorded: {error}", wanted.backup_arn));
            }
        }
        Ok(checked)
    }

    /// The commit record once more, for a table that an earlier attempt verified.
    async fn again(&self, look: &Look<'_>, source: &Source, checksum: String, digest: &str) -> Result<Checked> {
        let wanted = &look.request.tables[look.ordinal];
        let manifest = check_record(source, look.rules, &wanted.backup_arn).await?;
        if manifest.manifest_sha256 == checksum {
            let digest: TableDigest = digest.parse().map_err(Error::Failed)?;
            return Ok(Checked { manifest, digest });
        }
        let old = Checked { manifest, digest: TableDigest::default() };
        let fence = self.heart.job().fence().clone();
        let plan = self.plan(look, source, &old)?;
        self.heart.renew(None).await?;
        self.run.backend.discard(&fence, &plan).await?;
        if wanted.legacy {
            // Spooled anew: the same items, other files. What was loaded of the old ones is void.
            return self.check(look, source).await;
        }
        Err(Error::CheckFailed {
            code: "BACKUP_CHANGED",
            message: format!(
                "the commit record of {} was replaced since this job verified it (checksum {checksum} then, {} now): \
                 what was loaded is removed",
                wanted.backup_arn, old.manifest.manifest_sha256
            ),
            hint: Some("verify the backup, then restore it anew".to_owned()),
        })
    }
}

/// The table of this id is there for everybody.
#[must_use]
pub fn is_published(info: &TableInfo, id: &str) -> bool {
    info.definition.table_id == id && info.status != TableStatus::Creating
}
