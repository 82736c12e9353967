//! Random bytes that are the same in every run.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use kalends_kernel::Entropy;

/// Bytes from a seed: the same seed gives the same bytes in the same order. Clones draw from one sequence.
///
/// The generator is SplitMix64. It maps its counter one to one, so no two draws of eight bytes are equal, whichever
/// threads draw them.
#[derive(Debug, Clone)]
pub struct SeededEntropy(Arc<AtomicU64>);

/// The odd step between two states: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SeededEntropy {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    fn draw(&self) -> u64 {
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Default for SeededEntropy {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.draw().to_le_bytes();
            for (byte, random) in chunk.iter_mut().zip(drawn) {
                *byte = random;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kalends_kernel::random_bytes;

    use super::*;

    #[test]
    fn agrees_with_the_published_sequence() {
        let entropy = SeededEntropy::new(1_234_567);
        assert_eq!(entropy.draw(), 6_457_827_717_110_365_317);
        assert_eq!(entropy.draw(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn draws_are_distinct_across_threads() {
        let entropy = SeededEntropy::default();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let entropy = entropy.clone();
                std::thread::spawn(move || (0..1_000).map(|_| random_bytes::<10>(&entropy)).collect::<Vec<_>>())
            })
            .collect();
        let drawn: HashSet<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(drawn.len(), 4_000);
    }
}
