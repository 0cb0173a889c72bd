//! Points in time as milliseconds since the epoch, and their RFC 3339 text.

use serde::{Deserialize, Serialize, Serializer};

/// Milliseconds since 1970-01-01T00:00:00Z. Serializes as RFC 3339 UTC with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent)]
pub struct TimestampMs(pub i64);

impl TimestampMs {
    /// Epoch seconds with a fraction of whole milliseconds, as the commit record stores times.
    ///
    /// Exact for every time between the years -9999 and 9999: the millisecond count fits in
    /// 53 bits, and dividing it by 1000 gives the double nearest to the decimal text.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^53 for every representable year
    pub fn epoch_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Reads epoch seconds, rounding to the nearest millisecond.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // saturates, and such a time is refused on display
    pub fn from_epoch_seconds(seconds: f64) -> Self {
        Self((seconds * 1000.0).round() as i64)
    }
}

impl std::fmt::Display for TimestampMs {
    /// `2026-06-01T10:20:30.123Z`; a time that has no calendar form shows as `@<ms>`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(ts) => write!(f, "{ts:.3}"),
            Err(_) => write!(f, "@{}", self.0),
        }
    }
}

impl Serialize for TimestampMs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for TimestampMs {
    type Err = String;

    /// Accepts RFC 3339 and `YYYY-MM-DD HH:MM:SS[.fff]` (taken as UTC), as SQLite catalogs hold both.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fixed = if text.len() >= 19
            && text.as_bytes()[10] == b' '
            && !text.ends_with('Z')
            && !text.get(19..).is_none_or(|rest| rest.contains(['+', '-']))
        {
            format!("{}T{}Z", &text[..10], &text[11..])
        } else {
            text.to_owned()
        };
        fixed
            .parse::<jiff::Timestamp>()
            .map(|ts| Self(ts.as_millisecond()))
            .map_err(|e| format!("not a time: {text:?} ({e})"))
    }
}
