//! A legacy backup written out into an archive on local disk, so that one path restores every source.
//!
//! The archive lies in a folder of its own below the spool path, named by the job's seed, and is removed when the job
//! ends. Its table bears a name of the spool's, since a legacy backup's name may be one that no archive can carry.

use std::path::PathBuf;
use std::sync::Arc;

use super::request::RestoreRequest;
use crate::archive::BackupPrefix;
use crate::archive::writer::{BackupMeta, BackupWriter, SealOutcome};
use crate::backend::snapshot::Snapshot;
use crate::domain::arn::{BackupArn, region_of};
use crate::domain::manifest::SnapshotMeta;
use crate::ops::backup::stream::Lanes;
use crate::ops::backup::sweep::{Found, look};
use crate::ops::clock;
use crate::ops::error::{Error, Result};
use crate::ops::heart::Counters;
use crate::ops::settings::{Run, Settings};
use crate::store::Store;
use crate::store::registry::{self, StoreConfig};

/// Name of every spooled table.
const TABLE: &str = "spooled";
/// Region of a spooled ARN where the legacy one has none that an ARN can carry.
const FALLBACK_REGION: &str = "us-east-1";
/// Account of a spooled ARN; it is no part of the restored table.
const ACCOUNT: &str = "000000000000";

/// Where spooled data goes.
#[must_use]
pub fn base(settings: &Settings) -> PathBuf {
    settings.spool_path.clone().unwrap_or_else(std::env::temp_dir)
}

fn folder(settings: &Settings, request: &RestoreRequest) -> PathBuf {
    base(settings).join(format!("extenddb-admin-spool-{}", request.seed))
}

/// The spooled archive of one legacy backup, written now or by an earlier attempt.
///
/// # Errors
/// `NotFound` when the legacy backup is gone; what cannot be read or written.
pub async fn spool(
    run: &Run,
    request: &RestoreRequest,
    ordinal: usize,
) -> Result<(Arc<dyn Store>, BackupPrefix, BackupArn)> {
    let legacy_arn = &request.tables[ordinal].backup_arn;
    let store = open(run, request).await?;
    let region = region_of(legacy_arn).unwrap_or(FALLBACK_REGION);
    let id = format!("{ordinal:014}-00000000");
    let arn = BackupArn::new(region, ACCOUNT, TABLE, &id)
        .or_else(|_| BackupArn::new(FALLBACK_REGION, ACCOUNT, TABLE, &id))
        .map_err(|e| Error::Failed(e.to_string()))?;
    let prefix = BackupPrefix::of_arn(&arn).map_err(Error::Failed)?;
    if let Found::Complete(_) = look(&*store, &prefix).await? {
        return Ok((store, prefix, arn));
    }
    store.delete_prefix(prefix.key()).await?;
    run.observer
        .note(&format!("{legacy_arn} lies in the catalog: it is spooled to {} first", base(&run.settings).display()));
    let snapshot = run.cancel.guard(run.backend.open_legacy_backup(legacy_arn)).await?;
    write(run, snapshot, &store, &prefix, &arn).await?;
    Ok((store, prefix, arn))
}

async fn write(
    run: &Run,
    snapshot: Box<dyn Snapshot>,
    store: &Arc<dyn Store>,
    prefix: &BackupPrefix,
    arn: &BackupArn,
) -> Result<()> {
    let created = clock::now();
    let info = snapshot.info().clone();
    let table = snapshot.tables().first().cloned().expect("a legacy backup shows one table");
    let snapshot = Arc::new(snapshot);
    let lanes = Lanes::new(run, Arc::clone(&snapshot), Arc::new(Counters::default()), None);
    let writer = BackupWriter::new(Arc::clone(store), prefix.clone(), run.settings.data_file_target_bytes);
    let lane = run.cancel.guard(async { Ok::<_, Error>(lanes.admit().await) }).await?;
    lanes.stream(table.clone(), &writer, lane).await?;
    drop(lanes);
    match Arc::try_unwrap(snapshot) {
        Ok(snapshot) => snapshot.close().await?,
        Err(_) => unreachable!("every lane has ended"),
    }
    let mut source_table = table.definition;
    TABLE.clone_into(&mut source_table.table_name);
    source_table.table_arn = arn.table_arn();
    let meta = BackupMeta {
        arn: arn.clone(),
        name: TABLE.to_owned(),
        created,
        ended: clock::now(),
        source_backend: run.backend.name().to_owned(),
        snapshot: SnapshotMeta { kind: info.kind.to_owned(), marker: info.marker },
        source_table,
    };
    match writer.seal::<Error>(meta, async { run.cancel.check() }).await? {
        SealOutcome::Committed { .. } => Ok(()),
        SealOutcome::Exists => Err(Error::Busy(format!("another process spools to {prefix}"))),
    }
}

async fn open(run: &Run, request: &RestoreRequest) -> Result<Arc<dyn Store>> {
    let folder = folder(&run.settings, request);
    let failed = |e: std::io::Error| {
        Error::Failed(format!("cannot make the spool folder {}: {e}; set backup.spool_path", folder.display()))
    };
    match std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        other => other.map_err(failed)?,
    }
    let config = StoreConfig { kind: "filesystem".into(), root: Some(folder), ..StoreConfig::default() };
    Ok(registry::open(config).await?)
}

/// Removes what a job spooled. Says so where it cannot.
pub fn remove(run: &Run, request: &RestoreRequest) {
    let folder = folder(&run.settings, request);
    match std::fs::remove_dir_all(&folder) {
        Ok(()) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => run.observer.warn(&format!("the spool folder {} is still there: {e}", folder.display())),
    }
}
