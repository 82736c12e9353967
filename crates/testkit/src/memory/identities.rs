//! Attempts to sign in with a provider, and the identities that sign users in.

use async_trait::async_trait;
use kalends_accounts::{
    TokenHash,
    oauth::{Attempt, KnownIdentity, Provider},
    ports::{Identities, OauthAttempts},
};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use super::{MemoryStore, account_data::remove};

#[async_trait]
impl OauthAttempts for MemoryStore {
    async fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError> {
        self.write(|state| state.attempts.insert(attempt.key, attempt.clone()));
        Ok(())
    }

    async fn use_attempt(&self, key: TokenHash) -> Result<Option<Attempt>, StoreError> {
        Ok(self.write(|state| state.attempts.remove(&key)))
    }

    async fn forget_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.attempts, limit, |(_, attempt)| attempt.expires_at <= now)))
    }
}

#[async_trait]
impl Identities for MemoryStore {
    async fn identities_of(&self, user: UserId) -> Result<Vec<KnownIdentity>, StoreError> {
        let mut known: Vec<_> = self.state().identities.iter().filter(|known| known.user == user).cloned().collect();
        known.sort_by(|one, other| {
            let of = |known: &KnownIdentity| (known.since, known.provider.as_str(), known.issuer.clone());
            of(one).cmp(&of(other)).then_with(|| one.subject.cmp(&other.subject))
        });
        Ok(known)
    }

    async fn find_identity(
        &self,
        provider: Provider,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<KnownIdentity>, StoreError> {
        let state = self.state();
        let mut found = state.identities.iter().filter(|known| {
            (known.provider, known.issuer.as_str(), known.subject.as_str()) == (provider, issuer, subject)
        });
        Ok(found.next().cloned())
    }
}
