//! The system clock and the system's random bytes. No other module reads them.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::SystemTime,
};

use kalends_kernel::Entropy;
use kalends_time::{Clock, SignedDuration, Timestamp};

/// How far the system clock may be set back, as time daemons do, without this clock going backwards. This clock then
/// stands still until the system clock has caught up. After a larger step back, this clock follows the system clock,
/// since a step of that size means that the time was wrong before. Leases measured with this clock last at most this
/// much longer.
const CORRECTION: SignedDuration = SignedDuration::micros(100_000);

/// The system clock, shifted by the configured offset.
pub(crate) struct SystemClock {
    offset: SignedDuration,
    /// The last value returned, in microseconds without the offset.
    last_returned: AtomicI64,
}

impl SystemClock {
    pub(crate) const fn new(offset: SignedDuration) -> Self {
        Self { offset, last_returned: AtomicI64::new(i64::MIN) }
    }

    /// The value to return when the system clock reads `micros`.
    fn steady(&self, micros: i64) -> i64 {
        let last_returned = self.last_returned.load(Ordering::Relaxed);
        if micros < last_returned && last_returned.saturating_sub(micros) <= CORRECTION.as_micros() {
            return last_returned;
        }
        self.last_returned.store(micros, Ordering::Relaxed);
        micros
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the adapter of the clock port")]
    fn now(&self) -> Timestamp {
        let now = SystemTime::now();
        let micros = match now.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Timestamp::from_micros(self.steady(micros)) + self.offset
    }
}

/// Random bytes of the operating system.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the adapter of the entropy port")]
    #[expect(clippy::expect_used, reason = "without random bytes no secret can be made, so nothing may continue")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system supplies random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_shifted() {
        let (plain, shifted) = (SystemClock::new(SignedDuration::ZERO), SystemClock::new(SignedDuration::days(40)));
        let began = plain.now();
        let between = shifted.now() - began;
        assert!((SignedDuration::days(40)..SignedDuration::days(41)).contains(&between));
        assert!(plain.now() > "2026-01-01T00:00:00Z".parse().unwrap());
    }

    #[test]
    fn a_small_correction_does_not_turn_time_back() {
        let clock = SystemClock::new(SignedDuration::ZERO);
        let most = CORRECTION.as_micros();
        let system = [5 * most, 5 * most - 1, 4 * most, 5 * most + 1, 4 * most, 9 * most];
        let returned = system.map(|at| clock.steady(at));
        assert_eq!(returned, [5 * most, 5 * most, 5 * most, 5 * most + 1, 4 * most, 9 * most]);
    }

    #[test]
    fn random_bytes_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut a);
        SystemEntropy.fill(&mut b);
        assert_ne!(a, b);
    }
}
