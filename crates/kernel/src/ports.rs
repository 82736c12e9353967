//! The two ports that every use case needs: the time and random bytes.

use crate::Timestamp;

/// A source of the time. Production reads the system's clock; tests set it by hand.
pub trait Clock: Send + Sync {
    /// The current time, to the microsecond.
    fn now(&self) -> Timestamp;
}

/// Supplies random bytes from the operating system (or, in tests, from a seed).
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable values.
    fn fill(&self, bytes: &mut [u8]);
}

/// `N` random bytes.
pub fn random_bytes<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut bytes = [0u8; N];
    entropy.fill(&mut bytes);
    bytes
}
