//! Tokens that are mailed to users, to prove their address or to set a password.

use kalends_kernel::UserId;
use kalends_time::{SignedDuration, Timestamp};

use crate::{MailedToken, TokenHash};

/// What a token of a user is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenPurpose {
    /// It sets the user's password, the first or a new one.
    Password,
    /// It proves that the user reads mail at their address.
    Address,
}

impl TokenPurpose {
    /// Every purpose.
    pub const ALL: [Self; 2] = [Self::Password, Self::Address];

    /// The name in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Address => "address",
        }
    }

    /// How long a token works.
    pub const fn lasts(self) -> SignedDuration {
        match self {
            Self::Password => SignedDuration::hours(1),
            Self::Address => SignedDuration::hours(24),
        }
    }

    /// The message for a token that does not work. It follows the name of the field.
    pub const fn refused(self) -> &'static str {
        match self {
            Self::Password => {
                "is unknown, used or more than an hour old; ask for another with POST /v1/auth/password/forgot"
            }
            Self::Address => {
                "is unknown or more than a day old; sign in and ask for another with POST /v1/auth/verify-email/resend"
            }
        }
    }
}

/// A token as stored. A user has one at most for each purpose: a new one replaces the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserToken {
    /// The hash of the token.
    pub token: TokenHash,
    /// The user.
    pub user: UserId,
    /// What it is for.
    pub purpose: TokenPurpose,
    /// When it stops working.
    pub expires_at: Timestamp,
}

impl UserToken {
    /// A new token of a user.
    pub fn issue(token: &MailedToken, purpose: TokenPurpose, user: UserId, now: Timestamp) -> Self {
        Self { token: token.hash(), user, purpose, expires_at: now + purpose.lasts() }
    }

    /// Whether it still works.
    pub fn holds(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(TokenPurpose::Password, 1)]
    #[case(TokenPurpose::Address, 24)]
    fn a_token_works_for_its_time(#[case] purpose: TokenPurpose, #[case] hours: i64) {
        let (mailed, now) = (MailedToken("token".to_owned()), Timestamp::from_micros(1_800_000_000_000_000));
        let token = UserToken::issue(&mailed, purpose, UserId::from_bytes([1; 16]), now);
        let end = now + SignedDuration::hours(hours);
        assert_eq!((token.token, token.purpose, token.expires_at), (TokenHash::of("token"), purpose, end));
        assert!(token.holds(now) && token.holds(end - SignedDuration::micros(1)) && !token.holds(end));
    }
}
