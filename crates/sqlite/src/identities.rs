//! Attempts to sign in with a provider, and the identities that sign users in.

use async_trait::async_trait;
use kalends_accounts::{
    TokenHash,
    oauth::{Attempt, KnownIdentity, Provider},
    ports::{Identities, OauthAttempts},
};
use kalends_kernel::{StoreError, UserId};
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{Located, open_attempt_secret, places},
};

#[async_trait]
impl OauthAttempts for SqliteStore {
    async fn keep_attempt(&self, attempt: &Attempt) -> Result<(), StoreError> {
        let (key, provider) = (attempt.key.0.as_slice(), attempt.provider.as_str());
        let expires_at = attempt.expires_at.as_micros();
        let place = |column| places::attempt_secret("oauth_attempts", column, attempt.key);
        let nonce = self.cipher.seal(place("nonce"), attempt.nonce.as_bytes());
        let verifier = self.cipher.seal(place("verifier"), attempt.verifier.as_bytes());
        let mut writing = self.database.writer.take().await?;
        let kept = sqlx::query!(
            "insert into oauth_attempts (state_hash, provider, nonce, verifier, redirect_uri, terms_version, expires_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            key,
            provider,
            nonce,
            verifier,
            attempt.redirect_uri,
            attempt.terms_version,
            expires_at
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(kept).await.map(drop)
    }

    async fn use_attempt(&self, key: TokenHash) -> Result<Option<Attempt>, StoreError> {
        let hash = key.0.as_slice();
        let row = sqlx::query!(
            "select provider, nonce, verifier, redirect_uri, terms_version, expires_at
             from oauth_attempts where state_hash = ?1",
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        // A made-up state must not take a turn of the writer.
        let Some(row) = row else { return Ok(None) };
        let mut writing = self.database.writer.take().await?;
        let used = sqlx::query!("delete from oauth_attempts where state_hash = ?1", hash)
            .execute(&mut writing.connection)
            .await;
        // If several callers use the attempt at once, only one removes it.
        if writing.done(used).await? == 0 {
            return Ok(None);
        }
        let open = |column, stored| {
            open_attempt_secret(places::attempt_secret("oauth_attempts", column, key), stored, self.cipher.as_ref())
        };
        let (Some(nonce), Some(verifier)) = (open("nonce", row.nonce), open("verifier", row.verifier)) else {
            return Ok(None);
        };
        let located = Located { table: "oauth_attempts", id: &"an attempt" };
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
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from oauth_attempts where rowid in (
                select rowid from oauth_attempts where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}

#[async_trait]
impl Identities for SqliteStore {
    async fn identities_of(&self, user: UserId) -> Result<Vec<KnownIdentity>, StoreError> {
        let id = user.uuid();
        let id = id.as_bytes().as_slice();
        let rows = sqlx::query!(
            "select provider, issuer, subject, since from user_identities where user_id = ?1
             order by since, provider, issuer, subject",
            id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let located = Located { table: "user_identities", id: &user };
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
        let name = provider.as_str();
        let row = sqlx::query!(
            "select user_id, since from user_identities where provider = ?1 and issuer = ?2 and subject = ?3",
            name,
            issuer,
            subject
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let located = Located { table: "user_identities", id: &subject };
        Ok(Some(KnownIdentity {
            provider,
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            user: UserId::from_uuid(located.uuid("user_id", &row.user_id)?),
            since: Timestamp::from_micros(row.since),
        }))
    }
}
