//! Attempts to get a user's consent at a calendar provider.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_accounts::oauth::{Attempt, Provider};
use kalends_bridge::ports::ConnectAttempts;
use kalends_bridge::{ConnectAttempt, Purpose};
use kalends_kernel::{ConnectionId, ConnectionLinkId, OrgId, StoreError, Timestamp, UserId};

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::Located;
use crate::sealed::{attempt_secret, open_attempt_secret};

#[async_trait]
impl ConnectAttempts for PostgresStore {
    async fn keep_connect_attempt(&self, attempt: &ConnectAttempt) -> Result<(), StoreError> {
        let ConnectAttempt { org, human, purpose, oauth } = attempt;
        let (link, connection) = match purpose {
            Purpose::Connect { link } => (*link, None),
            Purpose::Reauthorize { connection } => (None, Some(*connection)),
        };
        let place = attempt_secret("connection_attempts", "verifier", oauth.key);
        let verifier = self.cipher.seal(place, oauth.verifier.as_bytes());
        // Nothing is added to an organization whose deletion is committed. The user who completes the attempt then
        // gets the error.
        sqlx::query!(
            "INSERT INTO connection_attempts (state_hash, org_id, human_id, link_id, connection_id, provider, verifier,
                 redirect_uri, expires_at)
             SELECT $1, o.id, $3, $4, $5, $6, $7, $8, $9 FROM organizations o WHERE o.id = $2 FOR KEY SHARE",
            oauth.key.0.as_slice(),
            org.uuid(),
            human.uuid(),
            link.map(|link| link.uuid()),
            connection.map(|connection| connection.uuid()),
            oauth.provider.as_str(),
            verifier,
            oauth.redirect_uri,
            oauth.expires_at.as_micros(),
        )
        .execute(&self.connections)
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn use_connect_attempt(&self, key: TokenHash) -> Result<Option<ConnectAttempt>, StoreError> {
        let row = sqlx::query!(
            "DELETE FROM connection_attempts WHERE state_hash = $1
             RETURNING org_id, human_id, link_id, connection_id, provider, verifier, redirect_uri, expires_at",
            key.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(None) };
        let place = attempt_secret("connection_attempts", "verifier", key);
        let Some(verifier) = open_attempt_secret(place, row.verifier, &*self.cipher) else { return Ok(None) };
        let located = Located { table: "connection_attempts", id: "an attempt" };
        let purpose = match (row.link_id, row.connection_id) {
            (link, None) => Purpose::Connect { link: link.map(ConnectionLinkId::from_uuid) },
            (None, Some(connection)) => Purpose::Reauthorize { connection: ConnectionId::from_uuid(connection) },
            (Some(_), Some(_)) => {
                return Err(located.corrupt("connection_id", "an attempt is for a link or a connection, not both"));
            }
        };
        Ok(Some(ConnectAttempt {
            org: OrgId::from_uuid(row.org_id),
            human: UserId::from_uuid(row.human_id),
            purpose,
            oauth: Attempt {
                key,
                provider: located.named("provider", &row.provider, Provider::from_name)?,
                nonce: String::new(),
                verifier,
                redirect_uri: row.redirect_uri,
                terms_version: None,
                expires_at: Timestamp::from_micros(row.expires_at),
            },
        }))
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
