//! Programs that act for agents by OAuth, and what they were granted.

use async_trait::async_trait;
use kalends_accounts::{AuthorizationCode, ConnectorClient, RefreshToken, ScopedKey, TokenHash, ports::Connectors};
use kalends_kernel::{ConnectorClientId, StoreError};
use kalends_rows::redirects_json;
use kalends_time::Timestamp;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{AuthorizationCodeRow, ConnectorClientRow, RefreshTokenRow, ScopedKeyRow},
};

#[async_trait]
impl Connectors for SqliteStore {
    async fn register_client(&self, client: &ConnectorClient, since: Timestamp, max: u32) -> Result<bool, StoreError> {
        let (id, redirects) = (client.id.uuid(), redirects_json(&client.redirects));
        let (created_at, used_at) = (client.created_at.as_micros(), client.used_at.as_micros());
        let since = since.as_micros();
        let mut writing = self.database.writer.take().await?;
        let registered = sqlx::query!(
            "insert into connector_clients (id, name, redirects, created_at, used_at)
             select ?1, ?2, ?3, ?4, ?5
             where (select count(*) from connector_clients where used_at = created_at and created_at > ?6) < ?7",
            id,
            client.name,
            redirects,
            created_at,
            used_at,
            since,
            max
        )
        .execute(&mut writing.connection)
        .await;
        Ok(writing.done(registered).await? > 0)
    }

    async fn find_client(&self, id: ConnectorClientId) -> Result<Option<ConnectorClient>, StoreError> {
        let id = id.uuid();
        sqlx::query_as!(
            ConnectorClientRow,
            "select id, name, redirects, created_at, used_at from connector_clients where id = ?1",
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(ConnectorClientRow::into_domain)
        .transpose()
    }

    async fn find_clients(&self, ids: &[ConnectorClientId]) -> Result<Vec<ConnectorClient>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = ids.iter().map(|id| Hex(id.uuid())).collect();
        let ids = json::rows(&ids).map_err(store_error)?;
        sqlx::query_as!(
            ConnectorClientRow,
            "select id, name, redirects, created_at, used_at from connector_clients
             where id in (select unhex(value) from json_each(?1))",
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(ConnectorClientRow::into_domain)
        .collect()
    }

    async fn note_client_use(&self, id: ConnectorClientId, at: Timestamp) -> Result<(), StoreError> {
        let (id, at) = (id.uuid(), at.as_micros());
        let mut writing = self.database.writer.take().await?;
        let noted = sqlx::query!("update connector_clients set used_at = ?2 where id = ?1 and used_at < ?2", id, at)
            .execute(&mut writing.connection)
            .await;
        writing.done(noted).await.map(drop)
    }

    async fn find_authorization_code(&self, hash: TokenHash) -> Result<Option<AuthorizationCode>, StoreError> {
        let bytes = hash.0.as_slice();
        sqlx::query_as!(
            AuthorizationCodeRow,
            "select org_id, client_id, redirect, challenge, agent_id, scopes, user_id, expires_at, key_id
             from authorization_codes where hash = ?1",
            bytes
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.into_domain(hash))
        .transpose()
    }

    async fn find_refresh_token(&self, hash: TokenHash) -> Result<Option<RefreshToken>, StoreError> {
        let bytes = hash.0.as_slice();
        sqlx::query_as!(
            RefreshTokenRow,
            "select org_id, key_id, client_id, created_at, expires_at, spent_at from refresh_tokens where hash = ?1",
            bytes
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.into_domain(hash))
        .transpose()
    }

    async fn lapsed_grants(&self, expired: Timestamp, limit: u32) -> Result<Vec<ScopedKey>, StoreError> {
        let expired = expired.as_micros();
        sqlx::query_as!(
            ScopedKeyRow,
            r#"select org_id, id, agent_id as "agent_id!", label, hash, prefix, created_at, created_by, last_used_on,
                scopes, requires_approval, approval_minutes, client_id, access_expires_at
             from api_keys
             where client_id is not null and agent_id is not null and revoked_at is null and access_expires_at <= ?1
             order by access_expires_at limit ?2"#,
            expired,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?
        .into_iter()
        .map(ScopedKeyRow::into_domain)
        .collect()
    }

    async fn forget_grants(&self, expired: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let expired = expired.as_micros();
        let mut writing = self.database.writer.take().await?;
        let codes = sqlx::query!(
            "delete from authorization_codes where rowid in (
                select rowid from authorization_codes where expires_at <= ?1 limit ?2)",
            expired,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        let codes = writing.done(codes).await?;
        let mut writing = self.database.writer.take().await?;
        let tokens = sqlx::query!(
            "delete from refresh_tokens where rowid in (
                select rowid from refresh_tokens where expires_at <= ?1 limit ?2)",
            expired,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        Ok(codes.max(writing.done(tokens).await?))
    }

    async fn forget_clients(&self, unused: Timestamp, never_used: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (unused, never_used) = (unused.as_micros(), never_used.as_micros());
        let mut writing = self.database.writer.take().await?;
        let clients = sqlx::query!(
            "delete from connector_clients where rowid in (
                select c.rowid from connector_clients c
                where c.used_at <= ?1 and not exists (
                    select 1 from api_keys k cross join agents a on a.org_id = k.org_id and a.id = k.agent_id
                    where k.client_id = c.id and k.revoked_at is null and a.status <> 'decommissioned')
                limit ?2)",
            unused,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        let clients = writing.done(clients).await?;
        let mut writing = self.database.writer.take().await?;
        let new = sqlx::query!(
            "delete from connector_clients where rowid in (
                select c.rowid from connector_clients c
                where c.used_at = c.created_at and c.created_at <= ?1 limit ?2)",
            never_used,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        Ok(clients.max(writing.done(new).await?))
    }
}
