//! Connection links.

use async_trait::async_trait;
use kalends_accounts::TokenHash;
use kalends_bridge::{ConnectionLink, ports::ConnectionLinks};
use kalends_kernel::{CalendarId, ConnectionLinkId, OrgId, StoreError};
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::LinkRow};

#[async_trait]
impl ConnectionLinks for SqliteStore {
    async fn find_link(&self, org: OrgId, link: ConnectionLinkId) -> Result<Option<ConnectionLink>, StoreError> {
        let (org_id, id) = (org.uuid(), link.uuid());
        sqlx::query_as!(
            LinkRow,
            "select org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                expires_at, version, created_at, updated_at
             from connection_links where org_id = ?1 and id = ?2",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(LinkRow::into_domain)
        .transpose()
    }

    async fn find_link_by_secret(&self, secret: TokenHash) -> Result<Option<ConnectionLink>, StoreError> {
        let hash = secret.0.as_slice();
        sqlx::query_as!(
            LinkRow,
            "select org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                expires_at, version, created_at, updated_at
             from connection_links where secret_hash = ?1",
            hash
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(LinkRow::into_domain)
        .transpose()
    }

    async fn waiting_link(&self, org: OrgId, calendar: CalendarId) -> Result<Option<ConnectionLink>, StoreError> {
        let (org_id, calendar_id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            LinkRow,
            "select org_id, id, agent_id, calendar_id, secret_hash, publishing, policy, state, human_id, connection_id,
                expires_at, version, created_at, updated_at
             from connection_links where org_id = ?1 and calendar_id = ?2 and state = 'awaiting_human'",
            org_id,
            calendar_id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(LinkRow::into_domain)
        .transpose()
    }

    async fn forget_links(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from connection_links where rowid in (
                select rowid from connection_links where expires_at < ?1 limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}
