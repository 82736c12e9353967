//! A clock that moves only when a test moves it.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use kalends_time::{Clock, SignedDuration, Timestamp};

/// A clock that a test moves by hand. Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows `start`.
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(start.as_micros())))
    }

    /// Sets the clock to `now`, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Advances the clock and returns the new time.
    pub fn advance(&self, by: SignedDuration) -> Timestamp {
        let before = self.0.fetch_add(by.as_micros(), Ordering::SeqCst);
        Timestamp::from_micros(before) + by
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_show_the_same_time() {
        let clock = ManualClock::new(Timestamp::from_micros(5));
        let same = clock.clone();
        assert_eq!(clock.advance(SignedDuration::micros(2)), Timestamp::from_micros(7));
        assert_eq!(same.now(), Timestamp::from_micros(7));
        same.set(Timestamp::from_micros(1));
        assert_eq!(clock.now(), Timestamp::from_micros(1));
    }
}
