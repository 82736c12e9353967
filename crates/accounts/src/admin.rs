//! The operator's token, which opens the administration routes.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The token as the server keeps it: its SHA-256, so that a comparison does not reveal its length either.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Hashes the configured token.
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether `presented` is the token, in constant time.
    pub fn opens(&self, presented: &str) -> bool {
        self.0.ct_eq(&Self::new(presented).0).into()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_opens_and_nothing_else_does() {
        let token = AdminToken::new("a-long-enough-token");
        assert!(token.opens("a-long-enough-token"));
        for other in ["", "a-long-enough-toke", "a-long-enough-token ", "A-long-enough-token"] {
            assert!(!token.opens(other), "{other:?}");
        }
        assert_eq!(format!("{token:?}"), "AdminToken(…)");
    }
}
