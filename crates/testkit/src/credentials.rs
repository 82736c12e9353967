//! Passwords and tokens without cryptography.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use async_trait::async_trait;
use kalends_accounts::{Password, PasswordHash, SessionClaims};
use kalends_app::ports::{CredentialsError, PasswordHasher, SessionTokens, Verdict};

/// Stores passwords in the clear, and counts its calls. Clones are the same hasher.
#[derive(Debug, Clone, Default)]
pub struct TestPasswords(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    hashes: AtomicU32,
    checks: AtomicU32,
    outdated: AtomicBool,
}

impl TestPasswords {
    /// How many passwords were hashed, and how many were checked.
    pub fn counts(&self) -> (u32, u32) {
        (self.0.hashes.load(Ordering::Relaxed), self.0.checks.load(Ordering::Relaxed))
    }

    /// Sets whether all hashes count as outdated from now on.
    pub fn outdate(&self, outdated: bool) {
        self.0.outdated.store(outdated, Ordering::Relaxed);
    }
}

#[async_trait]
impl PasswordHasher for TestPasswords {
    async fn hash(&self, password: Password) -> Result<PasswordHash, CredentialsError> {
        let number = self.0.hashes.fetch_add(1, Ordering::Relaxed);
        // The number serves as a salt.
        Ok(PasswordHash::new(format!("{number}:{}", password.reveal())))
    }

    async fn verify(&self, password: Password, known: Option<PasswordHash>) -> Result<Verdict, CredentialsError> {
        self.0.checks.fetch_add(1, Ordering::Relaxed);
        let right =
            known.is_some_and(|known| known.as_str().split_once(':').map(|(_, text)| text) == Some(password.reveal()));
        Ok(if right { Verdict::Right { outdated: self.0.outdated.load(Ordering::Relaxed) } } else { Verdict::Wrong })
    }
}

/// Tokens that anyone can forge: the claims as JSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct TestTokens;

impl SessionTokens for TestTokens {
    fn sign(&self, claims: &SessionClaims) -> Result<String, CredentialsError> {
        serde_json::to_string(claims).map_err(CredentialsError::failed)
    }

    fn read(&self, token: &str) -> Option<SessionClaims> {
        serde_json::from_str(token).ok()
    }
}
