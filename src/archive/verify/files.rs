//! Steps 7 to 9 for one data file: its stored bytes, and every line of it.

use std::sync::atomic::Ordering;

use tokio::runtime::Handle;

use super::collect::Findings;
use super::keys::{KeyHashes, Place};
use super::{Depth, Shared};
use crate::archive::data_file::{end_of_file, size_mismatch, stored_mismatch};
use crate::archive::error::{Error, Result};
use crate::archive::lines::{LineBuffer, Lines, Stop, StoredBytes, Sums};
use crate::domain::digest::TableDigest;
use crate::domain::finding::{Category, Finding};
use crate::domain::item::{Item, ItemError, ItemParser};
use crate::domain::manifest::DataFile;
use crate::store::{self, ErrorKind, Key, ObjectReader};

/// Item size above which there is a warning, in bytes.
const LARGE_ITEM_BYTES: u64 = 409_600;
/// Nesting above which there is a warning: 32 levels below the attribute.
const DEEP_ITEM: u32 = 33;
/// Lines between two looks at the request to stop.
const LINES_PER_LOOK: u64 = 1024;

/// What one data file turned out to hold.
pub(super) struct FileOutcome {
    pub(super) findings: Findings,
    /// Its bytes are those that were recorded, so its keys count.
    pub(super) intact: bool,
    pub(super) items: u64,
    pub(super) bytes: u64,
    pub(super) digest: TableDigest,
}

/// One worker: its buffers and the hashes it gathered.
pub(super) struct FileChecker<'s> {
    shared: &'s Shared,
    runtime: Handle,
    parser: ItemParser,
    buffer: LineBuffer,
    pub(super) keys: KeyHashes<'s>,
}

impl<'s> FileChecker<'s> {
    pub(super) fn new(shared: &'s Shared, runtime: Handle, workers: usize) -> Self {
        let keys = KeyHashes::new(&shared.options.spool_dir, workers);
        Self { shared, runtime, parser: ItemParser::new(), buffer: LineBuffer::default(), keys }
    }

    /// Checks the data file of that index.
    pub(super) fn check(&mut self, index: usize) -> Result<FileOutcome> {
        let file = &self.shared.manifest.data_files[index];
        let mut outcome = FileOutcome {
            findings: Findings::of_file(),
            intact: false,
            items: 0,
            bytes: 0,
            digest: TableDigest::default(),
        };
        let number = index as u64;
        match self.open(file)? {
            Err(finding) => outcome.findings.extend(number, finding),
            Ok(object) => {
                let with_md5 = self.shared.md5s.contains_key(&file.key);
                let stored = StoredBytes::new(self.runtime.clone(), object, with_md5);
                let (sums, stop) = if self.shared.options.depth == Depth::Items {
                    self.read_items(index, stored, &mut outcome)?
                } else {
                    (self.drain(stored)?, None)
                };
                self.conclude(number, file, &sums, stop.as_ref(), &mut outcome);
            }
        }
        Ok(outcome)
    }

    /// Opens a file whose size is right; a finding otherwise, or nothing where a link was found already.
    fn open(&self, file: &DataFile) -> Result<Result<Box<dyn ObjectReader>, Option<Finding>>> {
        let missing = || Ok(Err(Some(Finding::new(Category::MissingDataFile, file.key.as_str(), "object missing"))));
        let Some(key) = self.shared.prefix.data_file(&file.key) else { return missing() };
        if self.shared.is_behind_link(&key) {
            return Ok(Err(None));
        }
        let head = match self.runtime.block_on(self.shared.store.head(&key))? {
            Some(head) => head,
            None => return missing(),
        };
        if head.size_bytes != file.bytes {
            return Ok(Err(Some(size_mismatch(file, head.size_bytes))));
        }
        match self.get(&key) {
            Ok(object) => Ok(Ok(object)),
            Err(e) if e.kind == ErrorKind::NotFound => missing(),
            Err(e) => Err(e.into()),
        }
    }

    fn get(&self, key: &Key) -> store::Result<Box<dyn ObjectReader>> {
        self.runtime.block_on(self.shared.store.get(key))
    }

    fn drain(&self, stored: StoredBytes) -> Result<Sums> {
        stored.drain(|bytes| {
            self.shared.tell(0, bytes);
            self.shared.check_stop()
        })
    }

    /// What the sums, and the end of the lines, say about the file.
    fn conclude(&self, number: u64, file: &DataFile, sums: &Sums, stop: Option<&Stop>, outcome: &mut FileOutcome) {
        outcome.bytes = sums.bytes;
        if let Some(finding) = stored_mismatch(file, sums) {
            // Wrong bytes explain everything that was found in them.
            outcome.findings = Findings::of_file();
            outcome.findings.add((number, 0), finding);
            return;
        }
        outcome.intact = true;
        if let (Some(listed), Some(computed)) = (self.shared.md5s.get(&file.key), &sums.md5)
            && listed != computed
        {
            let message = format!("md5Checksum {listed}, computed {computed}");
            outcome
                .findings
                .add((number, 0), Finding::new(Category::FilesManifestMismatch, file.key.as_str(), message));
        }
        if self.shared.options.depth == Depth::Items
            && let Some(finding) = end_of_file(file, sums, stop, outcome.items)
        {
            outcome.findings.add((number, u64::MAX), finding);
        }
    }

    /// Reads every line, then the rest of the stored bytes.
    fn read_items(
        &mut self,
        index: usize,
        stored: StoredBytes,
        outcome: &mut FileOutcome,
    ) -> Result<(Sums, Option<Stop>)> {
        let mut lines = Lines::new(stored, std::mem::take(&mut self.buffer));
        let mut told = (0, 0);
        let stop = loop {
            match lines.advance() {
                Ok(true) => {}
                Ok(false) => break None,
                Err(stop) => break Some(stop),
            }
            outcome.items += 1;
            self.check_line(index, lines.current(), outcome)?;
            if outcome.items.is_multiple_of(LINES_PER_LOOK) {
                self.shared.check_stop()?;
                self.shared.tell(outcome.items - told.0, lines.stored_bytes() - told.1);
                told = (outcome.items, lines.stored_bytes());
            }
        };
        self.shared.tell(outcome.items - told.0, lines.stored_bytes() - told.1);
        let (stored, buffer) = lines.into_parts();
        self.buffer = buffer;
        Ok((self.drain(stored)?, stop))
    }

    fn check_line(&mut self, index: usize, line: &[u8], outcome: &mut FileOutcome) -> Result<()> {
        let shared = self.shared;
        let order = (index as u64, outcome.items);
        let mut found = |category, message: &dyn Fn() -> String| {
            if outcome.findings.is_full(category) {
                outcome.findings.omit(category, 1);
            } else {
                let object = format!("{} line {}", shared.manifest.data_files[index].key, order.1);
                outcome.findings.add(order, Finding::new(category, object, message()));
            }
        };
        let item = match self.parser.parse_line(line) {
            Ok(item) => item,
            Err(ItemError::Malformed(what)) => {
                found(Category::LineMalformed, &|| what.clone());
                return Ok(());
            }
            Err(ItemError::Invalid(what)) => {
                found(Category::ItemInvalid, &|| what.clone());
                return Ok(());
            }
        };
        match shared.key.hash_of(&item, shared.seed).and_then(|hash| shared.index_keys.check(&item).map(|()| hash)) {
            Ok(hash) => {
                let place = Place { file: u32::try_from(index).expect("a record lists fewer files"), line: order.1 };
                self.keys.add(hash, place)?;
            }
            Err(e) => found(Category::ItemInvalid, &|| e.to_string()),
        }
        if let Some(check) = &shared.options.item_check
            && let Err(what) = check(&item, &shared.key)
        {
            found(Category::TargetCannotRepresent, &|| what.clone());
        }
        warn_about(&item, &mut found);
        outcome.digest.add(item.canonical());
        Ok(())
    }
}

fn warn_about(item: &Item<'_>, found: &mut dyn FnMut(Category, &dyn Fn() -> String)) {
    let flags = item.flags();
    if flags.depth > DEEP_ITEM {
        found(Category::ItemDeep, &|| format!("nested {} levels", flags.depth));
    }
    if flags.size_bytes > LARGE_ITEM_BYTES {
        found(Category::ItemLarge, &|| format!("about {} bytes", flags.size_bytes));
    }
    if flags.duplicate_name {
        found(Category::DuplicateAttributeName, &|| "the last value was taken".to_owned());
    }
    if flags.extra_line_member {
        found(Category::ExtraLineMember, &|| "members beside Item are ignored".to_owned());
    }
}

impl Findings {
    fn extend(&mut self, number: u64, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.add((number, 0), finding);
        }
    }
}

impl Shared {
    pub(super) fn check_stop(&self) -> Result<()> {
        if self.options.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    fn tell(&self, items: u64, bytes: u64) {
        if let Some(progress) = &self.options.progress {
            progress(items, bytes);
        }
    }
}
