//! What opens a booking page and a booking to whoever has it.

use std::fmt;

use kalends_kernel::{Entropy, base64url, random_bytes};
use sha2::{Digest as _, Sha256};

/// What the address of a page ends with: whoever has it may book there.
#[derive(Clone, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// A slug with 128 random bits (ruling 2.6): 22 characters of base64url.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<16>(entropy)))
    }

    /// The slug as a store kept it.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text, for the address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the slug is found by.
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(&self.0)
    }
}

impl fmt::Debug for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slug(…)")
    }
}

/// What a token of a booking is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Calling it off.
    Cancel,
    /// Moving it to another slot.
    Move,
}

/// What a guest shows to cancel a booking, or to move it. Of the two only hashes are stored: the letters to the guest
/// are the only place where they stand.
#[derive(Clone, PartialEq, Eq)]
pub struct BookingToken(String);

impl BookingToken {
    /// The token to move a fresh booking, with 128 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<16>(entropy)))
    }

    /// The token as a guest presents it.
    pub fn presented(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The token to cancel the booking that this one moves: the letter about the move repeats it, although nobody has
    /// kept it. It does not lead back, so that it is good for nothing else.
    #[must_use]
    pub fn to_cancel(&self) -> Self {
        let digest = Sha256::new().chain_update("kalends: cancel a booking\n").chain_update(&self.0).finalize();
        let (half, _) = digest.split_at(16);
        Self(base64url(half))
    }

    /// The text, for an address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the token is found by.
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(&self.0)
    }
}

impl fmt::Debug for BookingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BookingToken(…)")
    }
}

/// The SHA-256 of a slug or a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretHash(pub [u8; 32]);

impl SecretHash {
    /// The hash of what somebody presents.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl fmt::Debug for SecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    /// Counts upwards, so that no two secrets are equal.
    #[derive(Default)]
    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.iter_mut().for_each(|byte| *byte = self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    #[test]
    fn secrets_are_text_for_an_address_and_differ() {
        let entropy = Counting::default();
        let (slug, other) = (Slug::generate(&entropy), Slug::generate(&entropy));
        assert_eq!(slug.reveal(), "AAECAwQFBgcICQoLDA0ODw");
        assert_ne!(slug, other);
        let moves = BookingToken::generate(&entropy);
        let cancels = moves.to_cancel();
        assert_eq!((moves.reveal().len(), cancels.reveal().len()), (22, 22));
        assert_ne!(moves.hash(), cancels.hash());
        assert_eq!(BookingToken::presented(moves.reveal()).to_cancel(), cancels, "it is told again alike");
        assert_ne!(BookingToken::generate(&entropy).to_cancel(), cancels);
    }

    #[test]
    fn printing_shows_no_secret() {
        let (slug, token) = (Slug::from_stored("planted".into()), BookingToken::presented("planted"));
        let shown = format!("{slug:?} {token:?} {:?}", slug.hash());
        assert_eq!(shown, "Slug(…) BookingToken(…) SecretHash(…)");
    }
}
