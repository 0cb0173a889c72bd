//! The right to write: epochs, writers, and what a conditional write can answer.

use serde::{Deserialize, Serialize};

/// Ownership number of a claim. Stored signed by every backend, so it ends at `i64::MAX`.
///
/// Called *owner generation* on ExtendDB's own rows and *epoch* on our fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(u64);

impl Epoch {
    /// Before anybody held the claim.
    pub const ZERO: Self = Self(0);

    /// Reads a stored number.
    ///
    /// # Errors
    /// A negative number is damage and is named, never wrapped.
    pub fn from_stored(stored: i64) -> Result<Self, String> {
        u64::try_from(stored).map(Self).map_err(|_| format!("epoch {stored} is negative"))
    }

    /// The number to store.
    #[must_use]
    pub fn stored(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }

    /// The next number above this one and above `floor`.
    ///
    /// # Errors
    /// When there is none left.
    pub fn mint_above(self, floor: Self) -> Result<Self, String> {
        let top = self.0.max(floor.0);
        match top.checked_add(1) {
            Some(next) if i64::try_from(next).is_ok() => Ok(Self(next)),
            _ => Err(format!("epoch {top} cannot be raised: the counter is at its end")),
        }
    }
}

impl std::fmt::Display for Epoch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Identity of one process: made afresh at start, never the host's.
///
/// Text form `<uuid>@<host>:<pid>`; only the UUID identifies, the rest is for people.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Writer(pub String);

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What a holder shows with every write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FenceToken {
    /// Key of the protected thing; holds the job's id, so it is never used again.
    pub key: String,
    /// Epoch under which the holder claimed.
    pub epoch: Epoch,
    /// The holder.
    pub writer: Writer,
}

/// Answer of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The condition held and the write landed.
    Matched,
    /// The condition did not hold; nothing was written. The claim is lost.
    NotMatched,
    /// The connection failed after the write was sent: it may have landed.
    Unknown,
}
