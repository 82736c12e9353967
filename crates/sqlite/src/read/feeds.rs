//! Calendars by the token of their feed, and the events that feeds show.

use async_trait::async_trait;
use kalends_calendars::{Calendar, Event, FeedTokenHash, ports::Feeds};
use kalends_kernel::{CalendarId, OrgId, Revision, StoreError};
use sqlx::SqliteConnection;

use super::event_pack::unpacked;
use crate::{
    SqliteStore,
    error::store_error,
    rows::{EventRow, calendar_row, row_id},
};

#[async_trait]
impl Feeds for SqliteStore {
    async fn calendar_of_feed(&self, token: &str) -> Result<Option<Calendar>, StoreError> {
        let FeedTokenHash(hash) = FeedTokenHash::of(token);
        let hash = hash.as_slice();
        let found = sqlx::query!(
            "select c.org_id, c.id, c.agent_id, c.name, c.timezone, c.metadata, c.external_id, c.provider,
                c.agent_status, c.default_reminders, c.conflicts, c.recurrence_default, c.publication_policy, c.feed_token, c.revision, c.version, c.created_at, c.updated_at
             from calendars c
                join organizations o on o.id = c.org_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
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
        let row = calendar_row!(record);
        let calendar = row.open(org, self.cipher.as_ref())?;
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
            let mut pack = next_pack(snapshot, org, calendar, None).await?;
            while let Some(rows) = pack {
                let last = rows.last().map(|row| (row.start_at, row.id.clone()));
                let process = async {
                    for row in rows {
                        each(row.open(org, self.cipher.as_ref())?);
                    }
                    Ok::<_, StoreError>(())
                };
                // The database reads the next pack while this one is processed.
                let (next, processed) = tokio::join!(next_pack(snapshot, org, calendar, last), process);
                (pack, ()) = (next?, processed?);
            }
            Ok(Some(Revision(revision)))
        })
        .await
    }
}

/// How many rows are read at once. Reading a row alone wakes two threads, which costs more than reading its content.
const PACK: u32 = 200;

/// The events of a feed after a start and identifier, or the first ones; `None` if there are no more.
async fn next_pack(
    snapshot: &mut SqliteConnection,
    org: OrgId,
    calendar: CalendarId,
    after: Option<(i64, Vec<u8>)>,
) -> Result<Option<Vec<EventRow>>, StoreError> {
    let (org_id, id) = (org.uuid(), calendar.uuid());
    // No event starts that early.
    let (start, last) = after.unwrap_or((i64::MIN, Vec::new()));
    let pack = sqlx::query_scalar!(
        r#"select json_group_array(json_array(hex(id), hex(calendar_id), content, start_at, end_at, all_day, status,
            source, reminders, version, created_at, updated_at, recurrence, hex(series_id), original_start,
            hold_expires_at, hold_priority, hold_scope, hex(hold_set_id), transparent)) as "pack!: String"
         from (
            select * from events
            where org_id = ?1 and calendar_id = ?2 and deleted_at is null and source = 'internal'
                and status in ('confirmed', 'tentative') and (start_at, id) > (?3, ?4)
            order by start_at, id limit ?5
         )"#,
        org_id,
        id,
        start,
        last,
        PACK
    )
    .fetch_one(snapshot)
    .await
    .map_err(store_error)?;
    let rows = unpacked(&pack)?;
    Ok((!rows.is_empty()).then_some(rows))
}
