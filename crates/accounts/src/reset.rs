//! A human sets a password, another or a first one, with a token that was mailed to them.

use std::fmt;

use kalends_kernel::{Entropy, SignedDuration, Timestamp, UserId, base64url, random_bytes};

use crate::TokenHash;

/// How long a token works.
pub const RESET_LASTS: SignedDuration = SignedDuration::hours(1);
/// What is said of a token that sets no password.
pub const RESET_REFUSED: &str =
    "is unknown, used or more than an hour old; ask for another with POST /v1/auth/password/forgot";

/// What is mailed: who has it sets the password of its account, once.
#[derive(Clone, PartialEq, Eq)]
pub struct ResetToken(String);

impl ResetToken {
    /// A token with 256 random bits.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(base64url(&random_bytes::<32>(entropy)))
    }

    /// The text, for the mail.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

impl fmt::Debug for ResetToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResetToken(…)")
    }
}

/// A token as stored. A human has one at most: a new one voids the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordReset {
    /// The hash of the token.
    pub token: TokenHash,
    /// Whose password it sets.
    pub user: UserId,
    /// From when on it sets none.
    pub expires_at: Timestamp,
}

impl PasswordReset {
    /// A fresh token of a human.
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
