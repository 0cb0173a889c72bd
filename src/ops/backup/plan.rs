//! Which tables a backup takes and which it refuses, decided before anything is written.
//!
//! Source: backup operations, section 5, order of refusals: the table exists and is ACTIVE; its ARN can be formed,
//! region first, then the name; vector indexes that cannot be kept. (A job slot comes last, in `create`.)

use crate::domain::arn::{ArnError, BackupArn, new_backup_id, region_of};
use crate::domain::table::{TableInfo, TableKey, TableStatus};
use crate::domain::timestamp::TimestampMs;
use crate::ops::error::{Error, Result};

/// Longest backup name in bytes. Source: backup operations, section 9.
pub const MAX_NAME_BYTES: usize = 255;

/// What the operator named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Tables by name, of one account or of whichever account has one of that name.
    Named(Vec<String>),
    /// Every table.
    All,
}

/// One table to be backed up: everything that is decided before the snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The table.
    pub table: TableKey,
    /// ARN of the new backup; its id and prefix are in it.
    pub arn: BackupArn,
    /// Name of the new backup.
    pub name: String,
    /// Creation time of the new backup.
    pub created_at: TimestampMs,
    /// The table as the catalog described it before the snapshot.
    pub info: TableInfo,
}

/// Resolves names to tables. Names that occur in several accounts are refused listing them.
///
/// # Errors
/// `Usage` for an ambiguous or repeated name and for nothing at all; `NotFound` for a name that is not there.
pub fn select(tables: &[TableInfo], selection: &Selection) -> Result<Vec<Result<TableInfo, (String, Error)>>> {
    let Selection::Named(names) = selection else {
        return Ok(tables.iter().cloned().map(Ok).collect());
    };
    if names.is_empty() {
        return Err(Error::Usage("name at least one table, or use --all".into()));
    }
    let mut chosen = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(Error::Usage(format!("table {name:?} is named twice")));
        }
        let found: Vec<&TableInfo> = tables.iter().filter(|t| t.definition.table_name == *name).collect();
        match found[..] {
            [] => chosen.push(Err((
                name.clone(),
                Error::NotFound(format!("there is no table {name:?}: `extenddb-admin table list` shows what there is")),
            ))),
            [one] => chosen.push(Ok(one.clone())),
            _ => {
                let accounts: Vec<&str> = found.iter().map(|t| t.account_id.as_str()).collect();
                return Err(Error::Usage(format!(
                    "table {name:?} occurs in several accounts: say which with --account ({})",
                    accounts.join(", ")
                )));
            }
        }
    }
    Ok(chosen)
}

/// Decides about one table, in the contract's order of refusals.
///
/// `name` is the operator's name for the backup, `random` makes its id unique within the millisecond.
///
/// # Errors
/// `Busy` for a table that is not ACTIVE; `Usage` for a name or region that no ARN can carry;
/// `CheckFailed` for vector indexes that cannot be kept.
pub fn attempt(info: &TableInfo, name: Option<&str>, now: TimestampMs, random: u32) -> Result<Attempt> {
    let table = info.key();
    let shown = format!("{}/{}", table.account_id, table.table_name);
    if info.status != TableStatus::Active {
        return Err(Error::Busy(format!("table {shown} is {}, not ACTIVE: try again once it is", info.status.word())));
    }
    let region = region_of(&info.definition.table_arn).unwrap_or_default();
    let arn = BackupArn::new(region, &table.account_id, &table.table_name, &new_backup_id(now, random))
        .map_err(|e| Error::Usage(arn_refusal(&shown, &e)))?;
    if let Some(notes) = unkept(info) {
        return Err(Error::CheckFailed {
            code: "CANNOT_BE_KEPT",
            message: format!("table {shown} has what a backup cannot keep: {notes}"),
            hint: None,
        });
    }
    let name = name.map_or_else(|| default_name(&table.table_name, now), str::to_owned);
    Ok(Attempt { table, arn, name, created_at: now, info: info.clone() })
}

/// Says why a table's backup would have no ARN, naming the part.
#[must_use]
pub fn arn_refusal(table: &str, error: &ArnError) -> String {
    match error {
        ArnError::Region(region) => format!(
            "table {table} lies in region {region:?}, which no backup ARN can carry: a region matches [a-z0-9-]+"
        ),
        other => format!("table {table} cannot be backed up: {other}"),
    }
}

/// Names the vector indexes that could not be read into the form that a backup keeps.
fn unkept(info: &TableInfo) -> Option<String> {
    let lost: Vec<&str> =
        info.notes.iter().filter(|note| note.starts_with("vector index ")).map(String::as_str).collect();
    (!lost.is_empty()).then(|| lost.join("; "))
}

/// `<table>-<UTC time>` of what a name may hold, cut to what it may be.
fn default_name(table: &str, now: TimestampMs) -> String {
    let time: String = now.to_string().chars().filter(|c| c.is_ascii_digit() || matches!(c, 'T' | 'Z')).collect();
    let plain = table.chars().map(|c| if is_name_char(c) { c } else { '_' });
    let kept: String = plain.take(MAX_NAME_BYTES - time.len() - 1).collect();
    format!("{kept}-{time}")
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// Refuses a backup name that the API could not show.
///
/// # Errors
/// `Usage` naming the rule.
pub fn check_name(name: &str) -> Result<()> {
    if (3..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(is_name_char) {
        return Ok(());
    }
    Err(Error::Usage(format!("backup name {name:?}: expected 3 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ . -")))
}
