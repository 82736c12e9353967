//! Reproducible random numbers, and fresh seeds.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// The splitmix64 generator, which is good enough to choose times and samples.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // The bounds here are far too small for the bias to matter.
        self.next() % bound
    }

    /// Returns true with a chance of one in `odds`.
    pub(crate) fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    /// A time from `least` up to but not including `most`.
    pub(crate) fn between(&mut self, least: Duration, most: Duration) -> Duration {
        let range = most.saturating_sub(least).as_micros().max(1);
        least + Duration::from_micros(self.below(u64::try_from(range).unwrap_or(u64::MAX)))
    }
}

/// A seed that differs from run to run.
pub(crate) fn fresh_seed() -> u64 {
    // The standard library seeds its hash maps with random numbers from the operating system.
    RandomState::new().build_hasher().finish() & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_numbers() {
        let drawn = |seed| {
            let mut random = Random::new(seed);
            [random.next(), random.below(10), random.next()]
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
    }

    #[test]
    fn times_stay_between_their_bounds() {
        let (least, most) = (Duration::from_millis(50), Duration::from_millis(600));
        let mut random = Random::new(1);
        for _ in 0..1000 {
            let drawn = random.between(least, most);
            assert!(least <= drawn && drawn < most, "{drawn:?}");
        }
    }
}
