//! Calendars by the token of their feed, and what feeds show.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use kalends_calendars::{Calendar, Event, FeedTokenHash, ports::Feeds};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    rows::{calendar::CalendarRow, event::EventRow, row_id},
};

#[async_trait]
impl Feeds for SqliteStore {
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError> {
        let FeedTokenHash(hash) = FeedTokenHash::of(token);
        let hash = hash.as_slice();
        let found = sqlx::query!(
            "select c.org_id, c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                c.agent_status, c.default_reminders, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where (c.feed_token_hash = ?1 or c.feed_token = ?2) and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            hash,
            token
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(record) = found else { return Ok(None) };
        let org = OrgId::from_uuid(row_id("calendars", "org_id", &record.org_id)?);
        let row = CalendarRow {
            id: record.id,
            agent_id: record.agent_id,
            name: record.name,
            timezone: record.timezone,
            metadata: record.metadata,
            external_id: record.external_id,
            provider: record.provider,
            agent_status: record.agent_status,
            default_reminders: record.default_reminders,
            feed_token: record.feed_token,
            revision: record.revision,
            version: record.version,
            created_at: record.created_at,
            updated_at: record.updated_at,
        };
        let calendar = row.read(org, self.cipher.as_ref())?;
        // Sealed text is no token. And a node of before, which does not know the hash, leaves that of the old token
        // behind when it gives the calendar a new one.
        Ok((calendar.feed_token.reveal() == token).then_some(calendar))
    }

    async fn read_feed(
        &self,
        org: OrgId,
        calendar: CalendarId,
        each: &mut (dyn FnMut(Event) + Send),
    ) -> Result<Option<Revision>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        self.snapshot(async |snapshot| {
            let revision = sqlx::query_scalar!(
                "select c.revision
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')",
                org_id,
                id
            )
            .fetch_optional(&mut *snapshot)
            .await
            .map_err(store_error)?;
            let Some(revision) = revision else { return Ok(None) };
            let mut rows = sqlx::query_as!(
                EventRow,
                "select id, calendar_id, content, start_at, end_at, all_day, status, source, reminders, version,
                    created_at, updated_at, recurrence, series_id, original_start,
                    hold_expires_at, hold_priority, hold_scope, hold_set_id, transparent
                 from events
                 where org_id = ?1 and calendar_id = ?2 and deleted_at is null and source = 'internal'
                    and status in ('confirmed', 'tentative')
                 order by start_at, id",
                org_id,
                id
            )
            .fetch(snapshot);
            while let Some(row) = rows.try_next().await.map_err(store_error)? {
                each(row.read(org, self.cipher.as_ref())?);
            }
            Ok(Some(Revision(revision)))
        })
        .await
    }
}
