//! Attempts to get a user's consent at a calendar provider.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_bridge::{ConnectAttempt, Purpose, ports::ConnectAttempts};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    rows::{AttemptRow, open_attempt_secret, places},
};

#[async_trait]
impl ConnectAttempts for SqliteStore {
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError> {
        let (key, org_id, human_id) = (attempt.oauth.key.0.as_slice(), attempt.org.uuid(), attempt.human.uuid());
        let (link_id, connection_id) = match attempt.purpose {
            Purpose::Connect { link } => (link.map(|link| link.uuid()), None),
            Purpose::Reauthorize { connection } => (None, Some(connection.uuid())),
        };
        let (provider, expires_at) = (attempt.oauth.provider.as_str(), attempt.oauth.expires_at.as_micros());
        let place = places::attempt_secret("connection_attempts", "verifier", attempt.oauth.key);
        let verifier = self.cipher.seal(place, attempt.oauth.verifier.as_bytes());
        let mut writing = self.database.writer.take().await?;
        // Nothing is added to an account that has been deleted in the meantime.
        let kept = sqlx::query!(
            "insert into connection_attempts (state_hash, org_id, human_id, link_id, connection_id, provider, verifier,
                redirect_uri, expires_at, publishing)
             select ?1, o.id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 from organizations o where o.id = ?2",
            key,
            org_id,
            human_id,
            link_id,
            connection_id,
            provider,
            verifier,
            attempt.oauth.redirect_uri,
            expires_at,
            attempt.publishing
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(kept).await.map(drop)
    }

    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError> {
        let hash = key.0.as_slice();
        let row = sqlx::query_as!(
            AttemptRow,
            "select org_id, human_id, link_id, connection_id, provider, verifier, redirect_uri, publishing, expires_at
             from connection_attempts where state_hash = ?1",
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        // A made-up state must not take a turn of the writer.
        let Some(row) = row else { return Ok(None) };
        let mut writing = self.database.writer.take().await?;
        let used = sqlx::query!("delete from connection_attempts where state_hash = ?1", hash)
            .execute(&mut writing.connection)
            .await;
        // If several callers use the attempt at once, only one removes it.
        if writing.done(used).await? == 0 {
            return Ok(None);
        }
        let place = places::attempt_secret("connection_attempts", "verifier", key);
        let Some(verifier) = open_attempt_secret(place, row.verifier.clone(), self.cipher.as_ref()) else {
            return Ok(None);
        };
        AttemptRow { verifier, ..row }.into_domain(key).map(Some)
    }

    async fn forget_connect_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = now.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from connection_attempts where rowid in (
                select rowid from connection_attempts where expires_at <= ?1 limit ?2)",
            now,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
