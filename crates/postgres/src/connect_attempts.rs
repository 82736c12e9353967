//! Attempts to get a user's consent at a calendar provider.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_bridge::ports::ConnectAttempts;
use kalends_bridge::{ConnectAttempt, Purpose};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{AttemptRow, open_attempt_secret, places};

#[async_trait]
impl ConnectAttempts for PostgresStore {
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError> {
        let ConnectAttempt { org, human, purpose, publishing, oauth } = attempt;
        let (link, connection) = match purpose {
            Purpose::Connect { link } => (*link, None),
            Purpose::Reauthorize { connection } => (None, Some(*connection)),
        };
        let place = places::attempt_secret("connection_attempts", "verifier", oauth.key);
        let verifier = self.cipher.seal(place, oauth.verifier.as_bytes());
        // Nothing is added to an organization whose deletion is committed. The user who completes the attempt then
        // gets the error.
        sqlx::query!(
            "INSERT INTO connection_attempts (state_hash, org_id, human_id, link_id, connection_id, provider, verifier,
                 redirect_uri, publishing, expires_at)
             SELECT $1, o.id, $3, $4, $5, $6, $7, $8, $9, $10 FROM organizations o WHERE o.id = $2 FOR KEY SHARE",
            oauth.key.0.as_slice(),
            org.uuid(),
            human.uuid(),
            link.map(|link| link.uuid()),
            connection.map(|connection| connection.uuid()),
            oauth.provider.as_str(),
            verifier,
            oauth.redirect_uri,
            *publishing,
            oauth.expires_at.as_micros(),
        )
        .execute(&self.connections)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError> {
        let row = sqlx::query_as!(
            AttemptRow,
            "DELETE FROM connection_attempts WHERE state_hash = $1
             RETURNING org_id, human_id, link_id, connection_id, provider, verifier, redirect_uri, publishing,
                 expires_at",
            key.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let place = places::attempt_secret("connection_attempts", "verifier", key);
        let Some(verifier) = open_attempt_secret(place, row.verifier.clone(), &*self.cipher) else { return Ok(None) };
        AttemptRow { verifier, ..row }.into_domain(key).map(Some)
    }

    async fn forget_connect_attempts(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM connection_attempts WHERE state_hash IN (
                     SELECT state_hash FROM connection_attempts WHERE expires_at <= $1 LIMIT $2
                 )",
                now.as_micros(),
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}
