//! Reads calendars by the token of their feed, and the events that feeds show.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use kalends_calendars::ports::Feeds;
use kalends_calendars::{Calendar, Event, FeedTokenHash};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError};
use sqlx::Connection as _;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{EventRow, calendar_row};

#[async_trait]
impl Feeds for PostgresStore {
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError> {
        let FeedTokenHash(hash) = FeedTokenHash::of(token);
        let record = sqlx::query!(
            "SELECT c.org_id, c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                 c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy,
                 c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             FROM calendars c
             JOIN organizations o ON o.id = c.org_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE (c.feed_token_hash = $1 OR c.feed_token = $2) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            hash.as_slice(),
            token,
        );
        let record = record.fetch_optional(&self.connections).await.map_err(store_error)?;
        let Some(record) = record else { return Ok(None) };
        let calendar = calendar_row!(record).open(OrgId::from_uuid(record.org_id), &*self.cipher)?;
        // The sealed text is not a valid token. The comparison is also needed because an older node does not know the
        // hash: when it gives the calendar a new token, it leaves the hash of the old one behind.
        Ok((calendar.feed_token.reveal() == token).then_some(calendar))
    }

    async fn read_feed(
        &self,
        org: OrgId,
        calendar: CalendarId,
        each: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Option<Revision>, StoreError> {
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        let mut snapshot =
            connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await.map_err(store_error)?;
        let revision = sqlx::query_scalar!(
            "SELECT c.revision
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            calendar.uuid(),
        );
        let revision = revision.fetch_optional(&mut *snapshot).await.map_err(store_error)?;
        if revision.is_some() {
            let mut rows = sqlx::query_as!(
                EventRow,
                "SELECT id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                     created_at, updated_at, recurrence, series_id, original_start,
                     hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                 FROM events
                 WHERE org_id = $1 AND calendar_id = $2 AND deleted_at IS NULL AND source = 'internal'
                     AND status IN ('confirmed', 'tentative')
                 ORDER BY start_at, id",
                org.uuid(),
                calendar.uuid(),
            )
            .fetch(&mut *snapshot);
            while let Some(row) = rows.try_next().await.map_err(store_error)? {
                each(row.open(org, &*self.cipher)?);
            }
        }
        snapshot.rollback().await.map_err(store_error)?;
        connection.keep();
        Ok(revision.map(Revision))
    }
}
