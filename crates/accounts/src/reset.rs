//! Setting a password, the first or a new one, with a token that was mailed to the user.

use std::fmt;

use kalends_kernel::{Entropy, UserId, base64url, random_bytes};
use kalends_time::{SignedDuration, Timestamp};

use crate::TokenHash;

/// How long a token works.
pub const RESET_LASTS: SignedDuration = SignedDuration::hours(1);
/// The message for a token that cannot set a password. It follows the name of the field.
pub const RESET_REFUSED: &str =
    "is unknown, used or more than an hour old; ask for another with POST /v1/auth/password/forgot";

/// The token in the email. Its holder can set the account's password, once.
#[derive(Clone, PartialEq, Eq)]
pub struct ResetToken(String);

impl ResetToken {
    /// A token with 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<32>(entropy)))
    }

    /// The text, for the email.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash to store.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for ResetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResetToken(…)")
    }
}

/// A token as stored. A user has one at most: a new one replaces the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordReset {
    /// The hash of the token.
    pub token: TokenHash,
    /// The user whose password it sets.
    pub user: UserId,
    /// When it stops working.
    pub expires_at: Timestamp,
}

impl PasswordReset {
    /// A new token for a user.
    pub fn issue(token: &ResetToken, user: UserId, now: Timestamp) -> Self {
        Self { token: token.hash(), user, expires_at: now + RESET_LASTS }
    }

    /// Whether it still works.
    pub fn holds(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sevens;
    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn a_token_works_for_an_hour_and_is_never_shown() {
        let (token, now) = (ResetToken::generate(&Sevens), Timestamp::from_micros(1_800_000_000_000_000));
        let reset = PasswordReset::issue(&token, UserId::from_bytes([1; 16]), now);
        assert_eq!(reset.token, TokenHash::of(token.reveal()));
        assert!(reset.holds(now) && reset.holds(now + SignedDuration::hours(1) - SignedDuration::micros(1)));
        assert!(!reset.holds(now + SignedDuration::hours(1)));
        assert_eq!((token.reveal().len(), format!("{token:?}")), (43, "ResetToken(…)".to_owned()));
    }
}
