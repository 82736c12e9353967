//! The secret part of a feed's address.

use std::fmt;

use kalends_kernel::{Entropy, base64url, random_bytes};
use sha2::{Digest as _, Sha256};

/// The last part of the address of a calendar's feed. Anyone who has it can read the calendar.
#[derive(Clone, PartialEq, Eq)]
pub struct FeedToken(String);

impl FeedToken {
    /// A token with 128 random bits, in 22 characters of base64url.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<16>(entropy)))
    }

    /// The text for the address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash by which a store looks the token up.
    pub fn hash(&self) -> FeedTokenHash {
        FeedTokenHash::of(&self.0)
    }
}

/// Wraps a token that was generated before.
impl From<String> for FeedToken {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Wraps a token that was generated before.
impl From<&str> for FeedToken {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for FeedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FeedToken(…)")
    }
}

/// The SHA-256 of a feed's token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeedTokenHash(pub [u8; 32]);

impl FeedTokenHash {
    /// The hash of a token that a caller presents.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl fmt::Debug for FeedTokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FeedTokenHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// Counts upwards, so that no two tokens are equal.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.iter_mut().for_each(|byte| *byte = self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    #[test]
    fn tokens_are_url_safe_and_differ() {
        let entropy = Counting::default();
        let (one, other) = (FeedToken::generate(&entropy), FeedToken::generate(&entropy));
        assert_eq!(one.reveal(), "AAECAwQFBgcICQoLDA0ODw");
        assert_ne!(one, other);
        assert_ne!(one.hash(), other.hash());
        assert_eq!(FeedToken::from(one.reveal()), one);
    }

    #[test]
    fn the_hash_is_sha_256() {
        let FeedTokenHash(hash) = FeedToken::from("abc").hash();
        assert_eq!(&hash[..4], [0xba, 0x78, 0x16, 0xbf], "FIPS 180-4, the example of one block");
    }

    #[test]
    fn debug_output_shows_neither_token_nor_hash() {
        let token = FeedToken::from("planted");
        assert_eq!(format!("{token:?} {:?}", token.hash()), "FeedToken(…) FeedTokenHash(…)");
    }
}
