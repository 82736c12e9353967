//! Attempts to sign in with a provider, and the identities that sign users in.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_accounts::oauth::{Attempt, KnownIdentity, Provider};
use kalends_accounts::ports::{Identities, OauthAttempts};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{Located, open_attempt_secret, places};

#[async_trait]
impl OauthAttempts for PostgresStore {
    async fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError> {
        let place = |column| places::attempt_secret("oauth_attempts", column, attempt.key);
        let nonce = self.cipher.seal(place("nonce"), attempt.nonce.as_bytes());
        let verifier = self.cipher.seal(place("verifier"), attempt.verifier.as_bytes());
        sqlx::query!(
            "INSERT INTO oauth_attempts (state_hash, provider, nonce, verifier, redirect_uri, terms_version, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            attempt.key.0.as_slice(),
            attempt.provider.as_str(),
            nonce,
            verifier,
            attempt.redirect_uri,
            attempt.terms_version,
            attempt.expires_at.as_micros(),
        )
        .execute(&self.connections)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn use_attempt(&self, key: TokenHash) -> Result<Option<Attempt>, StoreError> {
        let row = sqlx::query!(
            "DELETE FROM oauth_attempts WHERE state_hash = $1
             RETURNING provider, nonce, verifier, redirect_uri, terms_version, expires_at",
            key.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let open = |column, stored| {
            open_attempt_secret(places::attempt_secret("oauth_attempts", column, key), stored, &*self.cipher)
        };
        let (Some(nonce), Some(verifier)) = (open("nonce", row.nonce), open("verifier", row.verifier)) else {
            return Ok(None);
        };
        let located = Located { table: "oauth_attempts", id: "an attempt" };
        Ok(Some(Attempt {
            key,
            provider: located.named("provider", &row.provider, Provider::from_name)?,
            nonce,
            verifier,
            redirect_uri: row.redirect_uri,
            terms_version: row.terms_version,
            expires_at: Timestamp::from_micros(row.expires_at),
        }))
    }

    async fn forget_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM oauth_attempts WHERE state_hash IN (
                     SELECT state_hash FROM oauth_attempts WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}

#[async_trait]
impl Identities for PostgresStore {
    async fn identities_of(&self, user: UserId) -> Result<Vec<KnownIdentity>, StoreError> {
        let rows = sqlx::query!(
            "SELECT provider, issuer, subject, since FROM user_identities WHERE user_id = $1
             ORDER BY since, provider, issuer, subject",
            user.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let located = Located { table: "user_identities", id: user };
        let identities = rows.into_iter().map(|row| {
            let provider = located.named("provider", &row.provider, Provider::from_name)?;
            let (issuer, subject, since) = (row.issuer, row.subject, Timestamp::from_micros(row.since));
            Ok(KnownIdentity { provider, issuer, subject, user, since })
        });
        identities.collect()
    }

    async fn find_identity(
        &self,
        provider: Provider,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<KnownIdentity>, StoreError> {
        let row = sqlx::query!(
            "SELECT user_id, since FROM user_identities WHERE provider = $1 AND issuer = $2 AND subject = $3",
            provider.as_str(),
            issuer,
            subject,
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(row.map(|row| KnownIdentity {
            provider,
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            user: UserId::from_uuid(row.user_id),
            since: Timestamp::from_micros(row.since),
        }))
    }
}
