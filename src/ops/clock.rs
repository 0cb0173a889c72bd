//! This host's clock and randomness, for names and times that no decision rests on.
//!
//! Ages are never measured with it: those are measured on the database's clock.

use crate::domain::timestamp::TimestampMs;

/// Now, on this host's clock.
#[must_use]
pub fn now() -> TimestampMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    TimestampMs(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A random number for backup ids.
#[must_use]
pub fn random() -> u32 {
    uuid::Uuid::new_v4().as_fields().0
}
