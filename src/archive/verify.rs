//! Verifies a backup: all findings, in the order of the backup format, section 9.

mod collect;
mod duplicates;
mod files;
mod keys;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::error::{Error, Result};
use super::layout::{BackupPrefix, COMMIT_RECORD, FILES_MANIFEST, SUMMARY};
use super::list::{Read, read_bounded, read_record};
use crate::domain::digest::TableDigest;
use crate::domain::export;
use crate::domain::finding::{Category, Finding, Severity};
use crate::domain::item::Item;
use crate::domain::key::{IndexKeyTypes, KeySpec};
use crate::domain::manifest::{MAX_BYTES, Manifest};
use crate::store::{Key, Oddity, Store};
use collect::Findings;
use files::FileChecker;

/// How far a verification goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The commit record, the export manifests and the listing: steps 1 to 6.
    Manifests,
    /// The stored bytes of every data file too: step 7. Nothing is inflated.
    Bytes,
    /// Every item too: steps 8 and 9.
    Items,
}

/// A further check of every item; an `Err` becomes a `target_cannot_represent` finding.
pub type ItemCheck = Arc<dyn Fn(&Item<'_>, &KeySpec) -> Result<(), String> + Send + Sync>;

/// Hears of progress: items and stored bytes since the last call. Called from several threads.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How to verify.
#[derive(Clone)]
pub struct VerifyOptions {
    /// How far.
    pub depth: Depth,
    /// Data files looked at at once, at least 1.
    pub jobs: usize,
    /// Where sorted runs of key hashes go once they no longer fit in memory.
    pub spool_dir: PathBuf,
    /// A further check of every item.
    pub item_check: Option<ItemCheck>,
    /// Hears of progress.
    pub progress: Option<Progress>,
    /// Set it to stop: the verification ends with [`super::Error::Stopped`].
    pub stop: Arc<AtomicBool>,
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub struct VerifyReport {
    /// All findings: errors first, in the order of the checks, then warnings.
    pub findings: Vec<Finding>,
    /// The commit record, if it could be read.
    pub manifest: Option<Manifest>,
    /// Digest of all items, when depth was [`Depth::Items`] and there is no error.
    pub digest: Option<TableDigest>,
    /// Items read.
    pub items: u64,
    /// Stored bytes read.
    pub bytes: u64,
}

impl VerifyReport {
    /// Whether there is no error.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.refusal().is_none()
    }

    /// The first error in the order of the checks.
    #[must_use]
    pub fn refusal(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| f.severity == Severity::Error)
    }
}

/// What the workers look at.
struct Shared {
    store: Arc<dyn Store>,
    prefix: BackupPrefix,
    options: VerifyOptions,
    manifest: Manifest,
    key: KeySpec,
    index_keys: IndexKeyTypes,
    /// `md5Checksum` of each data file that the export manifest lists.
    md5s: BTreeMap<String, String>,
    /// Links below or above the prefix, by path from the root.
    links: Vec<String>,
    /// Seed of the key hashes: nobody can prepare keys that collide.
    seed: u64,
}

impl Shared {
    fn is_behind_link(&self, key: &Key) -> bool {
        is_behind_link(&self.links, key)
    }
}

fn is_behind_link(links: &[String], key: &Key) -> bool {
    let below = |link: &String| key.as_str().strip_prefix(link.as_str()).is_some_and(|rest| rest.starts_with('/'));
    links.iter().any(|link| key.as_str() == link || below(link))
}

/// Verifies the backup under a prefix. Writes nothing to the store.
///
/// # Errors
/// When the verification could not be made: store errors other than what the findings name, the spool.
pub async fn verify(store: Arc<dyn Store>, prefix: &BackupPrefix, options: &VerifyOptions) -> Result<VerifyReport> {
    let mut findings = Findings::of_report();
    let links = oddities(&*store, prefix, &mut findings).await?;
    if is_behind_link(&links, &prefix.object(COMMIT_RECORD)) {
        return Ok(VerifyReport { findings: findings.into_list(), ..VerifyReport::default() });
    }
    let manifest = match read_record(&*store, prefix).await? {
        Ok(manifest) => manifest,
        Err(refused) => {
            refused.into_iter().for_each(|finding| findings.add((0, 0), finding));
            return Ok(VerifyReport { findings: findings.into_list(), ..VerifyReport::default() });
        }
    };
    manifest.warnings().into_iter().for_each(|finding| findings.add((0, 0), finding));
    let md5s = export_manifests(&*store, prefix, &manifest, &links, &mut findings).await?;
    unlisted(&*store, prefix, &manifest, &mut findings).await?;
    if options.depth == Depth::Manifests {
        return Ok(VerifyReport {
            findings: findings.into_list(),
            manifest: Some(manifest),
            ..VerifyReport::default()
        });
    }
    let table = &manifest.source_table;
    let key = KeySpec::new(&table.key_schema, &table.attribute_definitions).expect("the record's schema was checked");
    let index_keys = IndexKeyTypes::of_table(table);
    let shared = Arc::new(Shared {
        store,
        prefix: prefix.clone(),
        options: options.clone(),
        key,
        index_keys,
        md5s,
        links,
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
        manifest,
    });
    let files = check_files(&shared, &mut findings).await?;
    let manifest = match Arc::try_unwrap(shared) {
        Ok(shared) => shared.manifest,
        Err(shared) => shared.manifest.clone(),
    };
    let findings = findings.into_list();
    let whole = options.depth == Depth::Items && findings.iter().all(|f| f.severity != Severity::Error);
    Ok(VerifyReport {
        findings,
        manifest: Some(manifest),
        digest: whole.then_some(files.digest),
        items: files.items,
        bytes: files.bytes,
    })
}

/// Links and temporaries below a prefix. Returns the links.
async fn oddities(store: &dyn Store, prefix: &BackupPrefix, findings: &mut Findings) -> Result<Vec<String>> {
    let relative = |path: &str| {
        let below = path.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(path).to_owned()
    };
    let mut links = Vec::new();
    for oddity in store.oddities(prefix.as_str()).await? {
        match oddity {
            Oddity::Link(path) => {
                let message = "symbolic link in the prefix";
                findings.add((0, 0), Finding::new(Category::SymlinkRefused, relative(&path), message));
                links.push(path);
            }
            Oddity::Temporary(path) => {
                findings.add((0, 0), Finding::new(Category::TemporaryLeft, relative(&path), "interrupted write"));
            }
        }
    }
    Ok(links)
}

/// Compares the two export manifests with the record. Returns the MD5 checksums of the files.
async fn export_manifests(
    store: &dyn Store,
    prefix: &BackupPrefix,
    manifest: &Manifest,
    links: &[String],
    findings: &mut Findings,
) -> Result<BTreeMap<String, String>> {
    let mut md5s = BTreeMap::new();
    for (name, missing, malformed) in [
        (FILES_MANIFEST, Category::FilesManifestMissing, Category::FilesManifestMalformed),
        (SUMMARY, Category::SummaryMissing, Category::SummaryMalformed),
    ] {
        let key = prefix.object(name);
        let read = if is_behind_link(links, &key) { None } else { read_bounded(store, &key, MAX_BYTES).await? };
        let mut add = |finding| findings.add((0, 0), finding);
        match read {
            None => add(Finding::new(missing, name, "object missing")),
            Some(Read::TooLong) => add(Finding::new(malformed, name, format!("larger than {MAX_BYTES} bytes"))),
            Some(Read::Whole(bytes)) if name == SUMMARY => {
                export::check_summary(&bytes, manifest).into_iter().for_each(add);
            }
            Some(Read::Whole(bytes)) => {
                let (listed, found) = export::check_files(&bytes, manifest);
                md5s = listed;
                found.into_iter().for_each(add);
            }
        }
    }
    Ok(md5s)
}

/// Objects that nobody listed: under `data/` an error, since an import would read them.
async fn unlisted(
    store: &dyn Store,
    prefix: &BackupPrefix,
    manifest: &Manifest,
    findings: &mut Findings,
) -> Result<()> {
    let mut known: HashSet<&str> = manifest.data_files.iter().map(|f| f.key.as_str()).collect();
    known.extend([COMMIT_RECORD, FILES_MANIFEST, SUMMARY]);
    for object in store.list(prefix.as_str()).await? {
        let path = object.key.as_str();
        let Some(name) = path.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('/')) else { continue };
        if known.contains(name) {
            continue;
        }
        let finding = if name.starts_with("data/") {
            Finding::new(Category::UnlistedDataObject, name, "an import of data/ would read it")
        } else {
            Finding::new(Category::UnexpectedObject, name, "not part of the layout")
        };
        findings.add((0, 0), finding);
    }
    Ok(())
}

/// What all data files hold together.
#[derive(Default)]
struct Totals {
    items: u64,
    bytes: u64,
    digest: TableDigest,
}

/// Steps 7 to 9 for all files, on threads of their own.
async fn check_files(shared: &Arc<Shared>, findings: &mut Findings) -> Result<Totals> {
    let files = shared.manifest.data_files.len();
    let deep = shared.options.depth == Depth::Items;
    if deep {
        let stored = shared.manifest.data_files.iter().fold(0u64, |sum, f| sum.saturating_add(f.bytes));
        keys::check_space(&shared.options.spool_dir, shared.manifest.item_count(), stored)?;
    }
    let workers = shared.options.jobs.clamp(1, files.max(1));
    let next = Arc::new(AtomicUsize::new(0));
    let mut threads = JoinSet::new();
    for _ in 0..workers {
        let (shared, next, runtime) = (Arc::clone(shared), Arc::clone(&next), Handle::current());
        threads.spawn_blocking(move || work(&shared, runtime, &next, workers));
    }
    let mut totals = Totals::default();
    let mut hashes = Vec::new();
    let mut damaged = HashSet::new();
    let mut failure = None;
    while let Some(joined) = threads.join_next().await {
        match joined {
            Ok(Ok(done)) => {
                totals.items += done.totals.items;
                totals.bytes += done.totals.bytes;
                totals.digest.merge(&done.totals.digest);
                findings.merge(done.findings);
                damaged.extend(done.damaged);
                hashes.push(done.hashes);
            }
            Ok(Err(error)) => {
                // The others need not go on.
                next.store(files, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
            Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
            Err(_) => return Err(Error::Stopped),
        }
    }
    if let Some(error) = failure {
        return Err(error);
    }
    if deep {
        let shared = Arc::clone(shared);
        let runtime = Handle::current();
        let merged = tokio::task::spawn_blocking(move || {
            let suspects = keys::merge(&mut hashes, &|place| !damaged.contains(&place.file))?;
            duplicates::confirm(&shared, &runtime, suspects)
        });
        match merged.await {
            Ok(confirmed) => findings.merge(confirmed?),
            Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
            Err(_) => return Err(Error::Stopped),
        }
    }
    Ok(totals)
}

/// What one worker found.
struct Worked {
    totals: Totals,
    findings: Findings,
    damaged: Vec<u32>,
    hashes: keys::Finished,
}

fn work(shared: &Shared, runtime: Handle, next: &AtomicUsize, workers: usize) -> Result<Worked> {
    let mut checker = FileChecker::new(shared, runtime, workers);
    let (mut totals, mut findings, mut damaged) = (Totals::default(), Findings::of_report(), Vec::new());
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= shared.manifest.data_files.len() {
            break;
        }
        shared.check_stop()?;
        let outcome = checker.check(index)?;
        findings.merge(outcome.findings);
        if !outcome.intact {
            damaged.push(u32::try_from(index).expect("a record lists fewer files"));
        }
        totals.items += outcome.items;
        totals.bytes += outcome.bytes;
        totals.digest.merge(&outcome.digest);
    }
    Ok(Worked { totals, findings, damaged, hashes: checker.keys.finish() })
}
