//! Limits how fast items are read: a bucket that all workers of a run share.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Longest uninterrupted sleep, so that a stop is noticed.
const NAP: Duration = Duration::from_millis(100);

/// A rate of bytes a second, over all who share it. Blocks, so it is for threads of their own.
#[derive(Debug)]
pub struct RateLimit {
    bytes_per_second: u64,
    free_at: Mutex<Instant>,
}

impl RateLimit {
    /// A limit of at least one byte a second.
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second: bytes_per_second.max(1), free_at: Mutex::new(Instant::now()) }
    }

    /// Waits until that many bytes may pass, or until `stopped` answers true.
    ///
    /// # Panics
    /// When another thread panicked while it held the clock.
    pub fn pass(&self, bytes: usize, stopped: impl Fn() -> bool) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second);
        let cost = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        let start = {
            let mut free_at = self.free_at.lock().expect("no holder of this lock panics");
            let start = (*free_at).max(Instant::now());
            *free_at = start + cost;
            start
        };
        while let Some(left) = start.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stopped() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_rate_wait_and_a_stop_ends_the_wait() {
        let limit = RateLimit::new(1_000_000);
        let begin = Instant::now();
        limit.pass(50_000, || false);
        limit.pass(1_000_000, || false);
        assert!(begin.elapsed() >= Duration::from_millis(50));
        limit.pass(1, || true);
        assert!(begin.elapsed() < Duration::from_millis(900));
    }
}
