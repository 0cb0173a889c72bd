//! Writes an in-catalog (legacy) backup out into a store as a backup like any other.
//!
//! It keeps its name, its creation time and, where it may, its id. The legacy backup stays where it is.

use super::create::{Source, run_attempts};
use super::plan::{Attempt, arn_refusal};
use super::report::CreateReport;
use super::resolve::id_of;
use super::sweep::{Found, look, row_key};
use crate::archive::BackupPrefix;
use crate::archive::layout::CHANGELOG;
use crate::backend::catalog::LegacyBackup;
use crate::domain::arn::{ArnError, BackupArn, is_component, new_backup_id, region_of};
use crate::domain::table::{TableInfo, TableKey, TableStatus};
use crate::ops::clock;
use crate::ops::error::{Error, Result};
use crate::ops::settings::{OpenStore, Run};

/// Writes one legacy backup into a store.
///
/// # Errors
/// `Usage` for a name that no backup ARN can carry; `Conflict` when it was promoted before; otherwise as
/// [`super::create::create`].
pub async fn promote(run: &Run, store: &OpenStore, legacy: &LegacyBackup) -> Result<CreateReport> {
    if legacy.status != "AVAILABLE" {
        return Err(Error::Busy(format!("backup {} is {}, not AVAILABLE", legacy.backup_arn, legacy.status)));
    }
    let arn = new_arn(run, store, legacy).await?;
    for note in &legacy.notes {
        run.observer.warn(&format!("{}: {note}", legacy.backup_arn));
    }
    let attempt = Attempt {
        table: TableKey { account_id: legacy.account_id.clone(), table_name: legacy.table.table_name.clone() },
        arn,
        name: legacy.backup_name.clone(),
        created_at: legacy.created_at,
        info: TableInfo {
            account_id: legacy.account_id.clone(),
            status: TableStatus::Active,
            definition: legacy.table.clone(),
            indexes: Vec::new(),
            named_by_table: false,
            notes: legacy.notes.clone(),
        },
    };
    let source = Source::Legacy(legacy.backup_arn.clone());
    run_attempts(run, store, Some(legacy.backup_name.clone()), None, source, vec![attempt], CreateReport::default())
        .await
}

/// The ARN under which a legacy backup lies in a store: its own where that is one, else with a new id.
async fn new_arn(run: &Run, store: &OpenStore, legacy: &LegacyBackup) -> Result<BackupArn> {
    let table = &legacy.table.table_name;
    let shown = format!("{}/{table}", legacy.account_id);
    let region = region_of(&legacy.backup_arn).or_else(|| region_of(&legacy.table.table_arn)).unwrap_or_default();
    let fresh = new_backup_id(clock::now(), clock::random());
    let own = id_of(&legacy.backup_arn).filter(|id| is_component(id) && *id != CHANGELOG);
    let arn = |id: &str| {
        BackupArn::new(region, &legacy.account_id, table, id)
            .map_err(|e: ArnError| Error::Usage(arn_refusal(&shown, &e)))
    };
    let Some(own) = own else { return arn(&fresh) };
    let arn_with_own = arn(own)?;
    let prefix = BackupPrefix::of_arn(&arn_with_own).map_err(Error::Usage)?;
    match look(&*store.store, &prefix).await? {
        Found::Complete(_) => {
            return Err(Error::Conflict(format!("backup {arn_with_own} is in store {} already", store.name)));
        }
        Found::Damaged(why) => {
            return Err(Error::Conflict(format!("{prefix} holds a commit record that is refused: {why}")));
        }
        Found::Incomplete => {}
    }
    let key = row_key(&arn_with_own);
    let used = run.backend.backup_rows(Some(&legacy.account_id)).await?.iter().any(|row| row.key == key);
    if used { arn(&fresh) } else { Ok(arn_with_own) }
}
