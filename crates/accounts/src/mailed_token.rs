//! The secrets in the links that Kalends mails.

use std::fmt;

use kalends_kernel::{Entropy, base64url, random_bytes};

use crate::TokenHash;

/// A secret that is sent by mail and shown nowhere else. Only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct MailedToken(pub(crate) String);

impl MailedToken {
    /// A token with 256 random bits: 43 characters of base64url.
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

impl fmt::Debug for MailedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MailedToken(…)")
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
    fn a_token_is_never_shown() {
        let token = MailedToken::generate(&Sevens);
        assert_eq!(token.hash(), TokenHash::of(token.reveal()));
        assert_eq!((token.reveal().len(), format!("{token:?}")), (43, "MailedToken(…)".to_owned()));
    }
}
