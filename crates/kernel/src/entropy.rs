//! The port for random bytes.

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
