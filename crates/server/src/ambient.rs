//! The time and the random bytes of the machine: the one place that asks for them.

use std::time::SystemTime;

use kalends_kernel::{Clock, Elapsed, Entropy, Instant};

/// The system's clock, shifted by what the operator chose.
pub(crate) struct SystemClock {
    offset: Elapsed,
}

impl SystemClock {
    pub(crate) const fn new(offset: Elapsed) -> Self {
        Self { offset }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the adapter of the port through which all others ask the time")]
    fn now(&self) -> Instant {
        let now = SystemTime::now();
        let micros = match now.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        };
        Instant::from_micros(micros) + self.offset
    }
}

/// Random bytes of the operating system.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the adapter of the port through which all others draw random bytes")]
    #[expect(clippy::expect_used, reason = "a system without random bytes can make no secret, so nothing may go on")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system supplies random bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_shifted() {
        let (plain, shifted) = (SystemClock::new(Elapsed::ZERO), SystemClock::new(Elapsed::days(40)));
        let began = plain.now();
        let between = shifted.now() - began;
        assert!((Elapsed::days(40)..Elapsed::days(41)).contains(&between));
        assert!(plain.now() > "2026-01-01T00:00:00Z".parse().unwrap());
    }

    #[test]
    fn bytes_differ() {
        let (mut a, mut b) = ([0; 32], [0; 32]);
        SystemEntropy.fill(&mut a);
        SystemEntropy.fill(&mut b);
        assert_ne!(a, b);
    }
}
