//! Passwords and the tokens of sessions.

use async_trait::async_trait;
use kalends_accounts::{Password, PasswordHash, SessionClaims};

/// Why a password could not be hashed or checked, or a token could not be signed.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// Too many requests are already waiting.
    #[error("too many passwords are waiting to be checked")]
    Busy,
    /// The operation failed.
    #[error("a credential could not be processed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl CredentialsError {
    /// Wraps an error of the adapter.
    pub fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }
}

/// The result of checking a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The password is right.
    Right {
        /// Whether the hash was made with outdated parameters and should be replaced.
        outdated: bool,
    },
    /// The password is wrong.
    Wrong,
}

/// Hashes and checks passwords. Hashing is slow on purpose, and the number of concurrent hashes is bounded.
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// A fresh hash of the password.
    async fn hash(&self, password: Password) -> Result<PasswordHash, CredentialsError>;

    /// Checks the password against the hash. Without a hash the result is [`Verdict::Wrong`], after the same time as
    /// with one.
    async fn verify(&self, password: Password, known: Option<PasswordHash>) -> Result<Verdict, CredentialsError>;
}

/// Signs the claims of session tokens, and reads them back.
pub trait SessionTokens: Send + Sync {
    /// Signs these claims as a token.
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError>;

    /// The claims of a token that this node, or a node with the same key, signed; `None` for any other text. Check
    /// them with [`SessionClaims::check`].
    fn read(&self, token: &str) -> Option<SessionClaims>;
}
