//! Loads the data files of a staged table in parallel, each in one transaction with its progress and its fence.
//!
//! Source: backup operations, section 8, step 2. Size and SHA-256 of a file are checked again while it is applied, and
//! a file that an earlier attempt has committed is skipped.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::verify::Source;
use crate::archive::data_file::DataFileReader;
use crate::backend::loader::{FileDone, StagePlan};
use crate::domain::claim::FenceToken;
use crate::domain::digest::TableDigest;
use crate::domain::finding::{Category, Finding};
use crate::domain::item::ItemParser;
use crate::domain::manifest::{DataFile, Manifest};
use crate::ops::error::{Error, Result};
use crate::ops::heart::Counters;
use crate::ops::settings::Run;

/// A file whose load met a temporary error is tried again this often.
const MAX_TRIES: u32 = 4;
/// Pause before the second try; doubled before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// A stop is looked for, and progress told, each time this many items were taken.
const ITEMS_BETWEEN_LOOKS: u64 = 1024;

/// What all loads of one run share.
#[derive(Clone)]
pub struct Loads {
    run: Run,
    fence: FenceToken,
    counters: Arc<Counters>,
    permits: Arc<Semaphore>,
}

impl Loads {
    /// Loads under a fence; as many files at once as there are workers, where the backend loads in parallel.
    #[must_use]
    pub fn new(run: &Run, fence: FenceToken, counters: Arc<Counters>) -> Self {
        let permits = if run.backend.capabilities().parallel_load { run.workers.get() } else { 1 };
        Self { run: run.clone(), fence, counters, permits: Arc::new(Semaphore::new(permits)) }
    }

    /// The fence of the job.
    #[must_use]
    pub fn fence(&self) -> &FenceToken {
        &self.fence
    }

    /// Loads what is not loaded yet. Returns the digest of all files.
    ///
    /// # Errors
    /// The first error of any file; files that were committed stay and are skipped by the next attempt.
    pub async fn load(&self, plan: &Arc<StagePlan>, source: &Source, manifest: &Manifest) -> Result<TableDigest> {
        let done = self.run.backend.load_progress(&self.fence, plan).await?;
        let mut digest = TableDigest::default();
        let mut waiting: Vec<bool> = vec![true; manifest.data_files.len()];
        for file in &done.files {
            let slot = usize::try_from(file.file_index).ok().and_then(|i| waiting.get_mut(i)).ok_or_else(|| {
                Error::Failed(format!("the recorded progress names data file {}, the backup has none", file.file_index))
            })?;
            *slot = false;
            let part: TableDigest = file.digest.parse().map_err(Error::Failed)?;
            digest.merge(&part);
            self.counters.files_done(1);
            self.counters.advance(file.items, 0);
            self.run.observer.advance(file.items, 0);
        }
        let mut tasks: JoinSet<Result<TableDigest>> = JoinSet::new();
        for (index, file) in manifest.data_files.iter().enumerate().filter(|(index, _)| waiting[*index]) {
            let permit = self
                .run
                .cancel
                .guard(async { Ok::<_, Error>(Arc::clone(&self.permits).acquire_owned().await.expect("never closed")) })
                .await;
            let permit = match permit {
                Ok(permit) => permit,
                Err(error) => return Err(self.end(tasks, error).await),
            };
            let one = OneFile {
                loads: self.clone(),
                plan: Arc::clone(plan),
                source: source.clone(),
                file: file.clone(),
                index: u32::try_from(index).map_err(|_| Error::Failed("too many data files".into()))?,
            };
            tasks.spawn(async move {
                let result = one.load().await;
                drop(permit);
                result
            });
            while let Some(ended) = tasks.try_join_next() {
                match join(ended) {
                    Ok(part) => digest.merge(&part),
                    Err(error) => return Err(self.end(tasks, error).await),
                }
            }
        }
        while let Some(ended) = tasks.join_next().await {
            match join(ended) {
                Ok(part) => digest.merge(&part),
                Err(error) => return Err(self.end(tasks, error).await),
            }
        }
        Ok(digest)
    }

    /// Lets files that are under way come to their end, so that nothing writes after this.
    async fn end(&self, mut tasks: JoinSet<Result<TableDigest>>, first: Error) -> Error {
        let mut error = first;
        while let Some(ended) = tasks.join_next().await {
            if let Err(other) = join(ended)
                && other.is_fenced()
            {
                error = other;
            }
        }
        error
    }
}

fn join(ended: std::result::Result<Result<TableDigest>, tokio::task::JoinError>) -> Result<TableDigest> {
    match ended {
        Ok(result) => result,
        Err(join) => std::panic::resume_unwind(join.into_panic()),
    }
}

/// One data file of one table.
struct OneFile {
    loads: Loads,
    plan: Arc<StagePlan>,
    source: Source,
    file: DataFile,
    index: u32,
}

impl OneFile {
    async fn load(self) -> Result<TableDigest> {
        let one = Arc::new(self);
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            tries += 1;
            let (worker, runtime) = (Arc::clone(&one), Handle::current());
            let ended = tokio::task::spawn_blocking(move || worker.apply(&runtime)).await;
            let error = match ended {
                Ok(Ok(digest)) => return Ok(digest),
                Ok(Err(error)) => error,
                Err(join) => std::panic::resume_unwind(join.into_panic()),
            };
            let temporary = matches!(&error, Error::Backend(e) if e.is_temporary());
            if !temporary || tries >= MAX_TRIES {
                return Err(error);
            }
            // The answer to the commit may be what was lost.
            let progress = one.loads.run.backend.load_progress(&one.loads.fence, &one.plan).await;
            let landed = progress.ok().and_then(|p| p.files.into_iter().find(|f| f.file_index == one.index));
            if let Some(file) = landed {
                return file.digest.parse().map_err(Error::Failed);
            }
            tracing::warn!(%error, tries, file = %one.file.key, "a data file is loaded again");
            tokio::select! {
                stop = one.loads.run.cancel.stopped() => return Err(stop.into()),
                () = tokio::time::sleep(pause) => {}
            }
            pause *= 2;
        }
    }

    /// Applies the file in one transaction. On any error the transaction is dropped and leaves nothing.
    fn apply(&self, runtime: &Handle) -> Result<TableDigest> {
        let run = &self.loads.run;
        let mut reader = DataFileReader::open(runtime, &self.source.store, &self.source.prefix, &self.file)?;
        let mut batch = runtime.block_on(run.backend.begin_load(&self.loads.fence, &self.plan))?;
        let mut parser = ItemParser::new();
        let mut digest = TableDigest::default();
        let mut told = 0;
        let mut bytes = 0u64;
        loop {
            let number = reader.line_number() + 1;
            let Some(line) = reader.next_line()? else { break };
            let item = parser.parse_line(line).map_err(|e| self.malformed(number, &e.to_string()))?;
            bytes += u64::try_from(line.len()).unwrap_or(0);
            digest.add(item.canonical());
            if batch.push(&item)? {
                runtime.block_on(batch.flush())?;
            }
            if digest.count - told >= ITEMS_BETWEEN_LOOKS {
                run.cancel.check()?;
                run.observer.advance(digest.count - told, std::mem::take(&mut bytes));
                told = digest.count;
            }
        }
        run.cancel.check()?;
        let done = FileDone { file_index: self.index, items: digest.count, digest: digest.to_string() };
        runtime.block_on(batch.commit(&done))?;
        run.observer.advance(digest.count - told, bytes);
        self.loads.counters.advance(digest.count, self.file.bytes);
        self.loads.counters.files_done(1);
        Ok(digest)
    }

    fn malformed(&self, line: u64, why: &str) -> Error {
        let finding = Finding::new(Category::LineMalformed, format!("{} line {line}", self.file.key), why);
        crate::archive::Error::refused(finding).into()
    }
}
