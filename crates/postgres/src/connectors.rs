//! Programs that act for agents by OAuth, and what they were granted.

use async_trait::async_trait;
use kalends_accounts::ports::Connectors;
use kalends_accounts::{AuthorizationCode, ConnectorClient, RefreshToken, ScopedKey, TokenHash};
use kalends_kernel::{ConnectorClientId, StoreError};
use kalends_rows::redirects_json;
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::{AuthorizationCodeRow, ConnectorClientRow, RefreshTokenRow, ScopedKeyRow};

#[async_trait]
impl Connectors for PostgresStore {
    async fn register_client(&self, client: &ConnectorClient, since: Timestamp, max: u32) -> Result<bool, StoreError> {
        let registered = sqlx::query!(
            "INSERT INTO connector_clients (id, name, redirects, created_at, used_at)
             SELECT $1, $2, $3, $4, $5
             WHERE (SELECT count(*) FROM connector_clients WHERE used_at = created_at AND created_at > $6) < $7",
            client.id.uuid(),
            client.name,
            redirects_json(&client.redirects),
            client.created_at.as_micros(),
            client.used_at.as_micros(),
            since.as_micros(),
            i64::from(max),
        )
        .execute(&self.connections)
        .await
        .map_err(store_error)?;
        Ok(registered.rows_affected() > 0)
    }

    async fn find_client(&self, id: ConnectorClientId) -> Result<Option<ConnectorClient>, StoreError> {
        let row = sqlx::query_as!(
            ConnectorClientRow,
            "SELECT id, name, redirects, created_at, used_at FROM connector_clients WHERE id = $1",
            id.uuid(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(ConnectorClientRow::into_domain).transpose()
    }

    async fn find_clients(&self, ids: &[ConnectorClientId]) -> Result<Vec<ConnectorClient>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
        let rows = sqlx::query_as!(
            ConnectorClientRow,
            "SELECT id, name, redirects, created_at, used_at FROM connector_clients WHERE id = ANY($1::uuid[])",
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(ConnectorClientRow::into_domain).collect()
    }

    async fn note_client_use(&self, id: ConnectorClientId, at: Timestamp) -> Result<(), StoreError> {
        let noted = retried(|| {
            sqlx::query!(
                "UPDATE connector_clients SET used_at = $2 WHERE id = $1 AND used_at < $2",
                id.uuid(),
                at.as_micros(),
            )
            .execute(&self.connections)
        });
        noted.await.map_err(store_error)?;
        Ok(())
    }

    async fn find_authorization_code(&self, hash: TokenHash) -> Result<Option<AuthorizationCode>, StoreError> {
        let row = sqlx::query_as!(
            AuthorizationCodeRow,
            "SELECT org_id, client_id, redirect, challenge, agent_id, scopes, user_id, expires_at, key_id
             FROM authorization_codes WHERE hash = $1",
            hash.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.into_domain(hash)).transpose()
    }

    async fn find_refresh_token(&self, hash: TokenHash) -> Result<Option<RefreshToken>, StoreError> {
        let row = sqlx::query_as!(
            RefreshTokenRow,
            "SELECT org_id, key_id, client_id, created_at, expires_at, spent_at FROM refresh_tokens WHERE hash = $1",
            hash.0.as_slice(),
        );
        let row = row.fetch_optional(&self.connections).await.map_err(store_error)?;
        row.map(|row| row.into_domain(hash)).transpose()
    }

    async fn lapsed_grants(&self, expired: Timestamp, limit: u32) -> Result<Vec<ScopedKey>, StoreError> {
        let rows = sqlx::query_as!(
            ScopedKeyRow,
            r#"SELECT org_id, id, agent_id AS "agent_id!", label, hash, prefix, created_at, created_by, last_used_on,
                 scopes, requires_approval, approval_minutes, client_id, access_expires_at
             FROM api_keys
             WHERE client_id IS NOT NULL AND agent_id IS NOT NULL AND revoked_at IS NULL AND access_expires_at <= $1
             ORDER BY access_expires_at LIMIT $2"#,
            expired.as_micros(),
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(ScopedKeyRow::into_domain).collect()
    }

    async fn forget_grants(&self, expired: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (expired, limit) = (expired.as_micros(), i64::from(limit));
        let codes = retried(|| {
            sqlx::query!(
                "DELETE FROM authorization_codes WHERE hash IN (
                     SELECT hash FROM authorization_codes WHERE expires_at <= $1 LIMIT $2
                 )",
                expired,
                limit,
            )
            .execute(&self.connections)
        });
        let codes = codes.await.map_err(store_error)?.rows_affected();
        let tokens = retried(|| {
            sqlx::query!(
                "DELETE FROM refresh_tokens WHERE hash IN (
                     SELECT hash FROM refresh_tokens WHERE expires_at <= $1 LIMIT $2
                 )",
                expired,
                limit,
            )
            .execute(&self.connections)
        });
        Ok(codes.max(tokens.await.map_err(store_error)?.rows_affected()))
    }

    async fn forget_clients(&self, unused: Timestamp, never_used: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (unused, never_used, limit) = (unused.as_micros(), never_used.as_micros(), i64::from(limit));
        // The outer condition keeps a client whose use is noted at the same time.
        let clients = retried(|| {
            sqlx::query!(
                "DELETE FROM connector_clients WHERE used_at <= $1 AND id IN (
                     SELECT c.id FROM connector_clients c
                     WHERE c.used_at <= $1 AND NOT EXISTS (
                         SELECT 1 FROM api_keys k JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
                         WHERE k.client_id = c.id AND k.revoked_at IS NULL AND a.status <> 'decommissioned')
                     LIMIT $2
                 )",
                unused,
                limit,
            )
            .execute(&self.connections)
        });
        let clients = clients.await.map_err(store_error)?.rows_affected();
        let new = retried(|| {
            sqlx::query!(
                "DELETE FROM connector_clients WHERE used_at = created_at AND id IN (
                     SELECT c.id FROM connector_clients c
                     WHERE c.used_at = c.created_at AND c.created_at <= $1 LIMIT $2
                 )",
                never_used,
                limit,
            )
            .execute(&self.connections)
        });
        Ok(clients.max(new.await.map_err(store_error)?.rows_affected()))
    }
}
