//! Stored bytes to lines: hashed as they come from the store, inflated, cut at line ends, all in bounded memory.
//!
//! Source: backup format, section 6 (content and line form). Several gzip members follow one another;
//! bytes after the last member that are no member, an early end and an empty object cannot be decoded.

use std::io::{BufRead, Read};

use bytes::{Buf as _, Bytes};
use flate2::bufread::MultiGzDecoder;
use md5::Md5;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use crate::domain::manifest::hex;
use crate::store::{self, ObjectReader};

/// Longest line a reader accepts, in bytes with its line end.
pub const MAX_LINE_BYTES: usize = 4 << 20;

/// Inflated bytes asked for at once.
const READ_BYTES: usize = 256 << 10;

/// The bytes of one object as the store holds them. Blocks on the runtime: for a thread of its own.
pub(super) struct StoredBytes {
    runtime: Handle,
    object: Box<dyn ObjectReader>,
    chunk: Bytes,
    sha256: Sha256,
    md5: Option<Md5>,
    bytes: u64,
    error: Option<store::Error>,
}

/// What the stored bytes of an object turned out to be.
pub(super) struct Sums {
    pub(super) bytes: u64,
    /// Lowercase hex.
    pub(super) sha256: String,
    /// Base64 of the MD5, where it was asked for.
    pub(super) md5: Option<String>,
}

impl StoredBytes {
    pub(super) fn new(runtime: Handle, object: Box<dyn ObjectReader>, with_md5: bool) -> Self {
        let md5 = with_md5.then(Md5::new);
        Self { runtime, object, chunk: Bytes::new(), sha256: Sha256::new(), md5, bytes: 0, error: None }
    }

    fn fetch(&mut self) -> store::Result<()> {
        if !self.chunk.is_empty() {
            return Ok(());
        }
        if let Some(chunk) = self.runtime.block_on(self.object.next())? {
            self.sha256.update(&chunk);
            if let Some(md5) = &mut self.md5 {
                md5.update(&chunk);
            }
            self.bytes += chunk.len() as u64;
            self.chunk = chunk;
        }
        Ok(())
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads what is left and tells what all of it was. `seen` hears of each chunk and may say stop by an error.
    pub(super) fn drain<E: From<store::Error>>(
        mut self,
        mut seen: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Sums, E> {
        if let Some(error) = self.error.take() {
            return Err(error.into());
        }
        loop {
            self.chunk.clear();
            self.fetch()?;
            if self.chunk.is_empty() {
                break;
            }
            seen(self.chunk.len() as u64)?;
        }
        let base64 = |md5: Md5| {
            use base64::Engine as _;
            base64::engine::general_purpose::STANDARD.encode(md5.finalize())
        };
        Ok(Sums { bytes: self.bytes, sha256: hex(&self.sha256.finalize()), md5: self.md5.map(base64) })
    }
}

impl BufRead for StoredBytes {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if let Err(e) = self.fetch() {
            // The decoder passes on an error of its own kind; the store's is kept beside it.
            self.error = Some(e);
            return Err(std::io::Error::other("the store failed"));
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, amount: usize) {
        self.chunk.advance(amount);
    }
}

impl Read for StoredBytes {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let available = self.fill_buf()?;
        let amount = available.len().min(out.len());
        out[..amount].copy_from_slice(&available[..amount]);
        self.consume(amount);
        Ok(amount)
    }
}

/// Why no further line can be read. The caller drains the stored bytes before it believes the first one: wrong bytes
/// explain what cannot be decoded.
#[derive(Debug)]
pub(super) enum Stop {
    /// Not gzip to its end.
    Undecodable(String),
    /// A line is longer than [`MAX_LINE_BYTES`].
    LineTooLong,
}

/// The buffer of a worker, handed from one file to the next.
#[derive(Default)]
pub(super) struct LineBuffer(Vec<u8>);

/// Lines of one object: [`Lines::advance`], then [`Lines::current`].
pub(super) struct Lines {
    decoder: MultiGzDecoder<StoredBytes>,
    buffer: Vec<u8>,
    /// The current line, line end left out.
    line: (usize, usize),
    start: usize,
    /// Bytes before this hold no line end.
    searched: usize,
    end: usize,
    eof: bool,
}

impl Lines {
    pub(super) fn new(stored: StoredBytes, buffer: LineBuffer) -> Self {
        let mut buffer = buffer.0;
        buffer.resize(buffer.len().max(2 * READ_BYTES), 0);
        let decoder = MultiGzDecoder::new(stored);
        Self { decoder, buffer, line: (0, 0), start: 0, searched: 0, end: 0, eof: false }
    }

    /// Stored bytes read so far.
    pub(super) fn stored_bytes(&self) -> u64 {
        self.decoder.get_ref().bytes()
    }

    /// The stored bytes, to be drained, and the buffer.
    pub(super) fn into_parts(self) -> (StoredBytes, LineBuffer) {
        (self.decoder.into_inner(), LineBuffer(self.buffer))
    }

    /// The line reached last, without its line end.
    pub(super) fn current(&self) -> &[u8] {
        let line = &self.buffer[self.line.0..self.line.1];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Goes to the next line; false after the last.
    pub(super) fn advance(&mut self) -> Result<bool, Stop> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
                self.line = (self.start, self.searched + at);
                self.start = self.line.1 + 1;
                self.searched = self.start;
                return if self.start - self.line.0 > MAX_LINE_BYTES { Err(Stop::LineTooLong) } else { Ok(true) };
            }
            self.searched = self.end;
            if self.end - self.start > MAX_LINE_BYTES {
                return Err(Stop::LineTooLong);
            }
            if self.eof {
                self.line = (self.start, self.end);
                self.start = self.end;
                return Ok(self.line.0 < self.line.1);
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<(), Stop> {
        if self.buffer.len() - self.end < READ_BYTES {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
            if self.buffer.len() - self.end < READ_BYTES {
                // At most the longest line and one read.
                let len = (self.buffer.len() * 2).min(MAX_LINE_BYTES + 2 * READ_BYTES);
                self.buffer.resize(len, 0);
            }
        }
        match self.decoder.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.eof = true,
            Ok(read) => self.end += read,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Stop::Undecodable(e.to_string())),
        }
        Ok(())
    }
}
