//! Finds keys that occur twice, in flat memory.
//!
//! Each item leaves a 128-bit hash of its key and where it stands. Hashes gather in a buffer of fixed size;
//! full buffers are sorted and appended to a spool file as runs, and at the end all runs are merged.
//! Two equal hashes are a suspicion: whoever asked reads the two lines again and compares the keys.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::archive::error::{Error, Result};

/// Memory of all workers' buffers together, and again of the merge, in bytes.
pub(super) const MEMORY_BYTES: usize = 8 << 20;

/// One hash as it lies in a run: hash and place, both big-endian so that bytes sort as values.
const ENTRY_BYTES: usize = 24;

/// Most suspicions that are kept; further ones are only counted.
pub(super) const MAX_SUSPECTS: usize = 128;

/// Where an item stands. `Ord` is the order in which files are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// Index of the file in the commit record.
    pub(super) file: u32,
    /// Line in it, from 1.
    pub(super) line: u64,
}

const LINE_BITS: u32 = 40;

impl Place {
    fn pack(self) -> u64 {
        // A file of 2^40 lines is far beyond what a store holds, and a commit record lists no 2^24 files.
        (u64::from(self.file) << LINE_BITS) | (self.line & ((1 << LINE_BITS) - 1))
    }

    fn unpack(packed: u64) -> Self {
        let file = u32::try_from(packed >> LINE_BITS).expect("24 bits");
        Self { file, line: packed & ((1 << LINE_BITS) - 1) }
    }
}

type Entry = (u128, u64);

/// Hashes of one worker.
pub(super) struct KeyHashes<'d> {
    entries: Vec<Entry>,
    capacity: usize,
    spool_dir: &'d Path,
    spool: Option<Spool>,
}

/// A file of sorted runs. It has no name any more, so nothing of it outlives the process.
struct Spool {
    file: File,
    /// End of each run, in entries.
    runs: Vec<u64>,
}

fn spool_error(directory: &Path, message: impl std::fmt::Display) -> Error {
    Error::Spool { directory: directory.display().to_string(), message: message.to_string() }
}

/// Refuses a verification whose hashes will not fit into the spool directory.
///
/// `items` is what the commit record says, `stored_bytes` bounds what it can be at all.
pub(super) fn check_space(spool_dir: &Path, items: u64, stored_bytes: u64) -> Result<()> {
    // An item takes at least 11 bytes of line, and deflate packs at most 1032 to 1.
    const MOST_ITEMS_PER_STORED_BYTE: u64 = 1032 / 11 + 1;
    let items = items.min(stored_bytes.saturating_mul(MOST_ITEMS_PER_STORED_BYTE));
    let needed = items.saturating_mul(ENTRY_BYTES as u64);
    if needed <= MEMORY_BYTES as u64 {
        return Ok(());
    }
    let stat = rustix::fs::statvfs(spool_dir).map_err(|e| spool_error(spool_dir, e))?;
    let available = stat.f_bavail.saturating_mul(stat.f_frsize);
    if needed > available {
        let message = format!("{needed} bytes are needed to look for keys that occur twice, {available} are free");
        return Err(spool_error(spool_dir, message));
    }
    Ok(())
}

impl<'d> KeyHashes<'d> {
    /// Hashes of one of `workers` workers.
    pub(super) fn new(spool_dir: &'d Path, workers: usize) -> Self {
        let capacity = (MEMORY_BYTES / std::mem::size_of::<Entry>() / workers.max(1)).max(1024);
        Self { entries: Vec::new(), capacity, spool_dir, spool: None }
    }

    pub(super) fn add(&mut self, hash: u128, place: Place) -> Result<()> {
        if self.entries.len() >= self.capacity {
            self.spill()?;
        }
        self.entries.push((hash, place.pack()));
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let fail = |e: &dyn std::fmt::Display| spool_error(self.spool_dir, e);
        self.entries.sort_unstable();
        let spool = match &mut self.spool {
            Some(spool) => spool,
            None => self.spool.insert(Spool { file: nameless_file(self.spool_dir)?, runs: Vec::new() }),
        };
        let mut out = std::io::BufWriter::with_capacity(256 << 10, &spool.file);
        for (hash, place) in &self.entries {
            out.write_all(&hash.to_be_bytes())
                .and_then(|()| out.write_all(&place.to_be_bytes()))
                .map_err(|e| fail(&e))?;
        }
        out.flush().map_err(|e| fail(&e))?;
        drop(out);
        let before = spool.runs.last().copied().unwrap_or(0);
        spool.runs.push(before + self.entries.len() as u64);
        self.entries.clear();
        Ok(())
    }

    /// Sorts what is still in memory.
    pub(super) fn finish(mut self) -> Finished {
        self.entries.sort_unstable();
        Finished { entries: self.entries, spool: self.spool, spool_dir: self.spool_dir.to_owned() }
    }
}

/// Sorted hashes of one worker.
pub(super) struct Finished {
    entries: Vec<Entry>,
    spool: Option<Spool>,
    spool_dir: std::path::PathBuf,
}

fn nameless_file(directory: &Path) -> Result<File> {
    let path = directory.join(format!("extenddb-admin-keys-{}.tmp", uuid::Uuid::new_v4()));
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| spool_error(directory, e))?;
    rustix::fs::unlink(&path).map_err(|e| spool_error(directory, e))?;
    Ok(File::from(fd))
}

/// Places whose keys have equal hashes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Suspects {
    /// Places of one hash each, in order; at least two. At most [`MAX_SUSPECTS`] groups.
    pub(super) groups: Vec<Vec<Place>>,
    /// Groups beyond those.
    pub(super) more: u64,
}

/// One sorted run being merged.
struct Run<'f> {
    source: Source<'f>,
    buffer: std::vec::IntoIter<Entry>,
}

enum Source<'f> {
    Memory,
    Spool { file: &'f File, directory: &'f Path, next: u64, end: u64, chunk: usize },
}

impl Run<'_> {
    fn next(&mut self) -> Result<Option<Entry>> {
        if let Some(entry) = self.buffer.next() {
            return Ok(Some(entry));
        }
        let Source::Spool { file, directory, next, end, chunk } = &mut self.source else { return Ok(None) };
        let count = (*end - *next).min(*chunk as u64);
        if count == 0 {
            return Ok(None);
        }
        let mut bytes = vec![0; usize::try_from(count).expect("a chunk") * ENTRY_BYTES];
        file.read_exact_at(&mut bytes, *next * ENTRY_BYTES as u64).map_err(|e| spool_error(directory, e))?;
        *next += count;
        let entries: Vec<Entry> = bytes.as_chunks::<ENTRY_BYTES>().0.iter().map(parse_entry).collect();
        self.buffer = entries.into_iter();
        Ok(self.buffer.next())
    }
}

fn parse_entry(bytes: &[u8; ENTRY_BYTES]) -> Entry {
    let (hash, place) = bytes.split_at(16);
    let hash = u128::from_be_bytes(hash.try_into().expect("16 bytes"));
    (hash, u64::from_be_bytes(place.try_into().expect("8 bytes")))
}

/// Merges the hashes of all workers. Places for which `counts` says no are passed over.
pub(super) fn merge(workers: &mut [Finished], counts: &dyn Fn(Place) -> bool) -> Result<Suspects> {
    let spooled: usize = workers.iter().filter_map(|w| w.spool.as_ref()).map(|s| s.runs.len()).sum();
    let chunk = (MEMORY_BYTES / std::mem::size_of::<Entry>() / 2 / spooled.max(1)).clamp(64, 16 << 10);
    let mut runs = Vec::new();
    for worker in workers {
        runs.push(Run { source: Source::Memory, buffer: std::mem::take(&mut worker.entries).into_iter() });
        let Some(spool) = &worker.spool else { continue };
        let mut start = 0;
        for &end in &spool.runs {
            let source = Source::Spool { file: &spool.file, directory: &worker.spool_dir, next: start, end, chunk };
            runs.push(Run { source, buffer: Vec::new().into_iter() });
            start = end;
        }
    }
    let mut heads = BinaryHeap::new();
    for (index, run) in runs.iter_mut().enumerate() {
        if let Some(entry) = run.next()? {
            heads.push(Reverse((entry, index)));
        }
    }
    let mut suspects = Suspects::default();
    let mut group: Vec<Place> = Vec::new();
    let mut current = None;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse(((hash, place), index)) = *head;
        match runs[index].next()? {
            // Replacing the head costs half of a pop and a push.
            Some(entry) => *head = Reverse((entry, index)),
            None => {
                std::collections::binary_heap::PeekMut::pop(head);
            }
        }
        if current != Some(hash) {
            suspects.keep(&mut group);
            current = Some(hash);
        }
        let place = Place::unpack(place);
        // A key that occurs everywhere must not fill the memory.
        if group.len() < MAX_SUSPECTS && counts(place) {
            group.push(place);
        }
    }
    suspects.keep(&mut group);
    Ok(suspects)
}

impl Suspects {
    fn keep(&mut self, group: &mut Vec<Place>) {
        if group.len() > 1 {
            if self.groups.len() < MAX_SUSPECTS {
                self.groups.push(std::mem::take(group));
            } else {
                self.more += 1;
            }
        }
        group.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: u32, line: u64) -> Place {
        Place { file, line }
    }

    fn hash(n: u64) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&n.to_le_bytes())
    }

    #[test]
    fn places_survive_packing() {
        for p in [place(0, 1), place((1 << 24) - 1, (1 << 40) - 1)] {
            assert_eq!(Place::unpack(p.pack()), p);
        }
    }

    #[test]
    fn duplicates_are_found_across_memory_and_spilled_runs() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut workers = Vec::new();
        for file in 0..3u32 {
            let mut hashes = KeyHashes::new(dir.path(), 1);
            hashes.capacity = 100;
            for line in 1..=1050u64 {
                hashes.add(hash(u64::from(file) * 10_000 + line), place(file, line)).expect("room");
            }
            // 7 occurs in each file, 10_008 in the first two.
            hashes.add(hash(7), place(file, 2000)).expect("room");
            if file == 0 {
                hashes.add(hash(10_008), place(file, 3000)).expect("room");
            }
            workers.push(hashes.finish());
        }
        assert!(workers.iter().all(|w| w.spool.as_ref().is_some_and(|s| s.runs.len() == 10)));
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), 0, "spool files have no name");
        let mut found = merge(&mut workers, &|_| true).expect("merged");
        found.groups.sort();
        assert_eq!(
            found.groups,
            [vec![place(0, 7), place(0, 2000), place(1, 2000), place(2, 2000)], vec![place(0, 3000), place(1, 8)],]
        );
    }

    #[test]
    fn what_does_not_count_is_passed_over_and_the_rest_bounded() {
        let dir = tempfile::tempdir().expect("a directory");
        let twice = |file: u32| {
            let mut hashes = KeyHashes::new(dir.path(), 1);
            for line in 1..=300 {
                hashes.add(hash(line), place(file, line)).expect("room");
            }
            hashes.finish()
        };
        let found = merge(&mut [twice(0), twice(1)], &|p| p.file == 0).expect("merged");
        assert_eq!(found, Suspects::default());
        let found = merge(&mut [twice(0), twice(1)], &|_| true).expect("merged");
        assert_eq!((found.groups.len(), found.more), (MAX_SUSPECTS, 300 - MAX_SUSPECTS as u64));
    }

    #[test]
    fn a_spool_that_is_too_small_is_refused_before_anything_is_read() {
        let dir = tempfile::tempdir().expect("a directory");
        check_space(dir.path(), 1_000_000, 1 << 30).expect("some room");
        let refused = check_space(dir.path(), u64::MAX, u64::MAX).expect_err("refused");
        assert!(matches!(refused, Error::Spool { .. }), "{refused}");
        // A count that no data file can hold is damage to be found, no reason to refuse.
        check_space(dir.path(), u64::MAX, 1000).expect("bounded by the bytes");
    }
}
