//! Reads the lines of one data file in bounded memory, checking its stored bytes as they pass.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::error::{Error, Result};
use super::layout::BackupPrefix;
use super::lines::{LineBuffer, Lines, Stop, StoredBytes, Sums};
use crate::domain::finding::{Category, Finding};
use crate::domain::manifest::DataFile;
use crate::store::{ErrorKind, Store};

pub use super::lines::MAX_LINE_BYTES;

/// Lines of one data file, for a thread of its own (it blocks; open it inside the runtime's context).
///
/// The end is only told once size and SHA-256 of what was read equal the commit record's.
pub struct DataFileReader {
    lines: Option<Lines>,
    file: DataFile,
    number: u64,
}

impl DataFileReader {
    /// Opens a data file of a verified backup.
    ///
    /// # Errors
    /// `missing_data_file`; store errors.
    pub fn open(runtime: &Handle, store: &Arc<dyn Store>, prefix: &BackupPrefix, file: &DataFile) -> Result<Self> {
        let missing = || Error::refused(Finding::new(Category::MissingDataFile, file.key.as_str(), "object missing"));
        let key = prefix.data_file(&file.key).ok_or_else(missing)?;
        let object = match runtime.block_on(store.get(&key)) {
            Ok(object) => object,
            Err(e) if e.kind == ErrorKind::NotFound => return Err(missing()),
            Err(e) => return Err(e.into()),
        };
        let stored = StoredBytes::new(runtime.clone(), object, false);
        Ok(Self { lines: Some(Lines::new(stored, LineBuffer::default())), file: file.clone(), number: 0 })
    }

    /// The next line without its line end, or `None` at the end of an intact file.
    ///
    /// # Errors
    /// `data_file_undecodable`, `line_too_long`, `data_file_size_mismatch`, `data_file_checksum_mismatch`,
    /// `item_count_mismatch` as [`super::Error::Refused`]; store errors.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let stop = match lines.advance() {
            Ok(true) => {
                self.number += 1;
                return Ok(self.lines.as_ref().map(Lines::current));
            }
            Ok(false) => None,
            Err(stop) => Some(stop),
        };
        let stored = self.lines.take().map(|lines| lines.into_parts().0);
        let sums = match stored {
            Some(stored) => stored.drain::<Error>(|_| Ok(()))?,
            None => return Ok(None),
        };
        match end_of_file(&self.file, &sums, stop.as_ref(), self.number) {
            None => Ok(None),
            Some(finding) => Err(Error::refused(finding)),
        }
    }

    /// Number of the line that [`DataFileReader::next_line`] gave last, from 1.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.number
    }
}

/// What is wrong with a file that was read to its end, or to where it could not be read further.
pub(super) fn end_of_file(file: &DataFile, sums: &Sums, stop: Option<&Stop>, lines: u64) -> Option<Finding> {
    let key = file.key.as_str();
    if let Some(finding) = stored_mismatch(file, sums) {
        return Some(finding);
    }
    let next_line = || format!("{key} line {}", lines + 1);
    match stop {
        Some(Stop::Undecodable(why)) => Some(Finding::new(Category::DataFileUndecodable, key, why.as_str())),
        Some(Stop::LineTooLong) => {
            let message = format!("a line is longer than {MAX_LINE_BYTES} bytes");
            Some(Finding::new(Category::LineTooLong, next_line(), message))
        }
        None if lines != file.item_count => {
            let message = format!("{lines} items, the commit record says {}", file.item_count);
            Some(Finding::new(Category::ItemCountMismatch, key, message))
        }
        None => None,
    }
}

/// What is wrong with the stored bytes of a file.
pub(super) fn stored_mismatch(file: &DataFile, sums: &Sums) -> Option<Finding> {
    let key = file.key.as_str();
    if sums.bytes != file.bytes {
        return Some(size_mismatch(file, sums.bytes));
    }
    if sums.sha256 != file.sha256 {
        let message = format!("sha256 {}, the commit record says {}", sums.sha256, file.sha256);
        return Some(Finding::new(Category::DataFileChecksumMismatch, key, message));
    }
    None
}

/// The finding of another size than recorded.
pub(super) fn size_mismatch(file: &DataFile, found: u64) -> Finding {
    let message = format!("{found} bytes, the commit record says {}", file.bytes);
    Finding::new(Category::DataFileSizeMismatch, file.key.as_str(), message)
}
