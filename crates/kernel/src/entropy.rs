//! The port for random bytes.

/// Supplies random bytes from the operating system (or, in tests, from a seed).
///
/// ```
/// use kalends_kernel::{Entropy, random_bytes};
///
/// /// Always the same byte, for a test.
/// struct Fixed(u8);
///
/// impl Entropy for Fixed {
///     fn fill(&self, bytes: &mut [u8]) {
///         bytes.fill(self.0);
///     }
/// }
///
/// assert_eq!(random_bytes::<3>(&Fixed(7)), [7, 7, 7]);
/// ```
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with unpredictable values. [`Entropy`] has an example.
    fn fill(&self, bytes: &mut [u8]);
}

/// `N` random bytes. [`Entropy`] has an example.
pub fn random_bytes<const N: usize>(entropy: &dyn Entropy) -> [u8; N] {
    let mut bytes = [0u8; N];
    entropy.fill(&mut bytes);
    bytes
}
