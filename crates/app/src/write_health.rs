//! Whether the store takes writes.

use std::sync::atomic::{AtomicI64, Ordering};

use kalends_time::Timestamp;

/// The value that means "no write has failed".
const NEVER: i64 = i64::MIN;

/// When the store last failed to take a write, in microseconds; [`NEVER`] if a write has succeeded since.
pub(crate) struct WriteHealth(AtomicI64);

impl WriteHealth {
    pub(crate) const fn new() -> Self {
        Self(AtomicI64::new(NEVER))
    }

    /// When the last write failed; `None` if a write has succeeded since.
    pub(crate) fn failed_at(&self) -> Option<Timestamp> {
        Some(self.0.load(Ordering::Relaxed)).filter(|at| *at != NEVER).map(Timestamp::from_micros)
    }

    /// Records a failed write.
    pub(crate) fn fails(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::Relaxed);
    }

    /// Records a write that succeeded.
    pub(crate) fn works(&self) {
        if self.0.load(Ordering::Relaxed) != NEVER {
            self.0.store(NEVER, Ordering::Relaxed);
        }
    }

    /// Records that writes work again after the failure at `failed_at`. A later failure stays recorded.
    pub(crate) fn works_since(&self, failed_at: Timestamp) {
        let _ = self.0.compare_exchange(failed_at.as_micros(), NEVER, Ordering::Relaxed, Ordering::Relaxed);
    }
}
