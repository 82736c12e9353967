//! The secrets that give access to a booking page and to a booking.

use std::fmt;

use kalends_kernel::{Entropy, FieldError, base64url, random_bytes};
use sha2::{Digest as _, Sha256};

/// The fewest characters of a slug that the owner chooses.
pub const SLUG_MIN: usize = 3;
/// The maximum number of characters of a slug that the owner chooses.
pub const SLUG_MAX: usize = 60;
/// Slugs that nobody can choose: names of parts of the service, now or later.
const RESERVED: [&str; 25] = [
    "about", "account", "admin", "api", "app", "asset", "assets", "book", "booking", "bookings", "console", "docs",
    "emails", "embed", "health", "help", "kalends", "login", "mcp", "new", "rsvp", "settings", "slots", "static",
    "support",
];

/// The last part of the address of a page. Anyone who has it may book on the page. A generated slug is a secret. A slug
/// that the owner chose can be guessed.
#[derive(Clone, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// A slug with 128 random bits, in 22 characters of base64url.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<16>(entropy)))
    }

    /// Checks a slug that the owner of a page chose: [`SLUG_MIN`] to [`SLUG_MAX`] of `a-z`, `0-9` and `-`.
    ///
    /// # Errors
    /// Names the field.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        let plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
        if !(SLUG_MIN..=SLUG_MAX).contains(&text.len()) || !text.bytes().all(plain) {
            return Err(FieldError::new(param, format!("must be {SLUG_MIN} to {SLUG_MAX} of a-z, 0-9 and -")));
        }
        if RESERVED.contains(&text) {
            return Err(FieldError::new(param, format!("must be another one: {text} is reserved")));
        }
        Ok(Self(text.to_owned()))
    }

    /// Wraps a slug that a store kept.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text for the address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash by which a store looks the slug up.
    pub fn hash(&self) -> SecretHash {
        SecretHash::of(&self.0)
    }
}

impl fmt::Debug for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slug(…)")
    }
}

/// The purpose of a booking token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Cancelling the booking.
    Cancel,
    /// Moving the booking to another slot.
    Move,
}

/// A token with which a guest cancels or moves a booking. The tokens are in the answer to the booking and in the emails to
/// the guest. Stores find bookings by hashes of the two. A booking that sends reminders also keeps the one that moves it,
/// sealed.
#[derive(Clone, PartialEq, Eq)]
pub struct BookingToken(String);

impl BookingToken {
    /// The token to move a new booking, with 128 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<16>(entropy)))
    }

    /// Wraps a token that a guest presents.
    pub fn presented(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The token to cancel the booking that this token moves. It is derived, so that the email about a move can repeat
    /// it although it need not be stored. The token to move cannot be derived from it.
    #[must_use]
    pub fn to_cancel(&self) -> Self {
        let digest = Sha256::new().chain_update("kalends: cancel a booking\n").chain_update(&self.0).finalize();
        let (half, _) = digest.split_at(16);
        Self(base64url(half))
    }

    /// The text for an address.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash by which a store looks the token up.
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
    /// The hash of a slug or token that a caller presents.
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

    use rstest::rstest;

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
    fn secrets_are_url_safe_and_differ() {
        let entropy = Counting::default();
        let (slug, other) = (Slug::generate(&entropy), Slug::generate(&entropy));
        assert_eq!(slug.reveal(), "AAECAwQFBgcICQoLDA0ODw");
        assert_ne!(slug, other);
        let moves = BookingToken::generate(&entropy);
        let cancels = moves.to_cancel();
        assert_eq!((moves.reveal().len(), cancels.reveal().len()), (22, 22));
        assert_ne!(moves.hash(), cancels.hash());
        assert_eq!(BookingToken::presented(moves.reveal()).to_cancel(), cancels, "the derivation is deterministic");
        assert_ne!(BookingToken::generate(&entropy).to_cancel(), cancels);
    }

    #[rstest]
    #[case::shortest("a-1", true)]
    #[case::longest(&"a".repeat(SLUG_MAX), true)]
    #[case::too_short("ab", false)]
    #[case::too_long(&"a".repeat(SLUG_MAX + 1), false)]
    #[case::upper_case("Intro-call", false)]
    #[case::underscore("intro_call", false)]
    #[case::slash("intro/call", false)]
    #[case::dots("..a", false)]
    #[case::letters("büro", false)]
    #[case::reserved("assets", false)]
    #[case::like_a_reserved_one("assets-1", true)]
    fn chosen_slugs_are_plain(#[case] text: &str, #[case] fits: bool) {
        let slug = Slug::parse("slug", text);
        let slug = slug.as_ref().map(Slug::reveal).map_err(|error| error.param.as_str());
        assert_eq!(slug, if fits { Ok(text) } else { Err("slug") });
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let (slug, token) = (Slug::from_stored("planted".into()), BookingToken::presented("planted"));
        let printed = format!("{slug:?} {token:?} {:?}", slug.hash());
        assert_eq!(printed, "Slug(…) BookingToken(…) SecretHash(…)");
    }
}
