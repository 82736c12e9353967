//! A clock that stands still until it is moved.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use kalends_kernel::{Clock, Elapsed, Instant};

/// A clock that a test moves by hand. Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that stands at `start`.
    pub fn new(start: Instant) -> Self {
        Self(Arc::new(AtomicI64::new(start.as_micros())))
    }

    /// Puts the clock to `now`, back as well as forth.
    pub fn set(&self, now: Instant) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Lets time pass and returns the new present.
    pub fn advance(&self, by: Elapsed) -> Instant {
        let before = self.0.fetch_add(by.as_micros(), Ordering::SeqCst);
        Instant::from_micros(before) + by
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_show_the_same_time() {
        let clock = ManualClock::new(Instant::from_micros(5));
        let shown = clock.clone();
        assert_eq!(clock.advance(Elapsed::micros(2)), Instant::from_micros(7));
        assert_eq!(shown.now(), Instant::from_micros(7));
        shown.set(Instant::from_micros(1));
        assert_eq!(clock.now(), Instant::from_micros(1));
    }
}
