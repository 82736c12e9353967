//! Due timers of all organizations.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::{
    EmittedUntil, Event, Reminders, Timer,
    ports::{ClaimedTimer, TimerQueue, Timers},
};
use kalends_kernel::{CalendarId, EventId, OrgId, StoreError, Version};
use kalends_time::Timestamp;
use sqlx::{Connection as _, SqliteConnection};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{Located, event_row, row_id},
};

/// An event with the default reminders of its calendar.
type Found = (Event, Option<Reminders>);

/// A row of `timers` that was claimed.
struct ClaimedRow {
    org_id: Uuid,
    calendar_id: Uuid,
    event_id: Uuid,
    due_at: i64,
    emitted_until: i64,
    reminded_until: i64,
    version: i64,
}

#[async_trait]
impl Timers for SqliteStore {
    async fn claim_timers(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedTimer>, StoreError> {
        // If nothing is due, which is nearly always the case, write nothing.
        if !self.is_due(queue, now).await? {
            return Ok(Vec::new());
        }
        let mut writing = self.database.writer.take().await?;
        let rows = match claim(&mut writing.connection, queue, now, until, limit).await {
            Ok(rows) => {
                writing.hand_back();
                rows
            }
            Err(error) => {
                writing.close().await;
                return Err(store_error(error));
            }
        };
        let mut found = self.events_of(&rows).await?;
        let claimed = rows.into_iter().filter_map(|row| {
            let (seen, defaults) = match found.remove(&(row.org_id, row.event_id)) {
                None => (None, None),
                Some(Ok((event, defaults))) => (Some(event), defaults),
                // An unreadable event must not hold up the others.
                Some(Err(error)) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "an event with a due timer cannot be read"
                    );
                    return None;
                }
            };
            Some(ClaimedTimer {
                org: OrgId::from_uuid(row.org_id),
                calendar: CalendarId::from_uuid(row.calendar_id),
                event: EventId::from_uuid(row.event_id),
                due_at: Timestamp::from_micros(row.due_at),
                emitted_until: EmittedUntil {
                    all: Timestamp::from_micros(row.emitted_until),
                    reminders: Timestamp::from_micros(row.reminded_until),
                },
                version: Version(row.version),
                seen,
                defaults,
            })
        });
        let mut claimed: Vec<ClaimedTimer> = claimed.collect();
        claimed.sort_unstable_by_key(|timer| (timer.due_at, timer.event));
        Ok(claimed)
    }

    async fn seed_timers(&self, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let done = sqlx::query_scalar!("select done from timer_seeding where id = 1")
            .fetch_one(self.readers())
            .await
            .map_err(store_error)?;
        if done {
            return Ok(true);
        }
        let mut writing = self.database.writer.take().await?;
        match self.seed(&mut writing.connection, now, limit).await {
            Ok(all) => {
                writing.hand_back();
                Ok(all)
            }
            Err(error) => {
                writing.close().await;
                Err(error)
            }
        }
    }

    async fn forget_timers(&self, limit: u32) -> Result<u64, StoreError> {
        let mut writing = self.database.writer.take().await?;
        let forgotten = sqlx::query!(
            "delete from timers where rowid in (
                select t.rowid
                from calendars c indexed by calendars_deleted
                    cross join timers t on t.org_id = c.org_id and t.calendar_id = c.id
                where c.deleted_at is not null
                union all
                select t.rowid
                from agents a indexed by agents_decommissioned
                    cross join calendars c on c.org_id = a.org_id and c.agent_id = a.id
                    cross join timers t on t.org_id = c.org_id and t.calendar_id = c.id
                where a.status = 'decommissioned'
                limit ?1)",
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(forgotten).await
    }
}

/// Claims up to `limit` timers. The three queues differ in the index that they follow.
async fn claim(
    connection: &mut SqliteConnection,
    queue: TimerQueue,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<ClaimedRow>, sqlx::Error> {
    let (now, until) = (now.as_micros(), until.as_micros());
    match queue {
        TimerQueue::Holds => {
            let claim = sqlx::query_as!(
                ClaimedRow,
                r#"update timers set claimed_until = ?2
                 where rowid in (select rowid from timers indexed by timers_of_holds
                    where hold and due_at <= ?1 and claimed_until <= ?1 order by due_at limit ?3)
                 returning org_id as "org_id: Uuid", calendar_id as "calendar_id: Uuid", event_id as "event_id: Uuid",
                    due_at, told_until as emitted_until, reminded_until, version"#,
                now,
                until,
                limit
            );
            claim.fetch_all(connection).await
        }
        TimerQueue::Events => {
            let claim = sqlx::query_as!(
                ClaimedRow,
                r#"update timers set claimed_until = ?2
                 where rowid in (select rowid from timers indexed by timers_due
                    where not hold and due_at <= ?1 and claimed_until <= ?1 order by due_at limit ?3)
                 returning org_id as "org_id: Uuid", calendar_id as "calendar_id: Uuid", event_id as "event_id: Uuid",
                    due_at, told_until as emitted_until, reminded_until, version"#,
                now,
                until,
                limit
            );
            claim.fetch_all(connection).await
        }
        TimerQueue::Again => {
            let claim = sqlx::query_as!(
                ClaimedRow,
                r#"update timers set claimed_until = ?2
                 where rowid in (select rowid from timers indexed by timers_again
                    where again and claimed_until <= ?1 limit ?3)
                 returning org_id as "org_id: Uuid", calendar_id as "calendar_id: Uuid", event_id as "event_id: Uuid",
                    due_at, told_until as emitted_until, reminded_until, version"#,
                now,
                until,
                limit
            );
            claim.fetch_all(connection).await
        }
    }
}

impl SqliteStore {
    /// Whether there is something to claim.
    async fn is_due(&self, queue: TimerQueue, now: Timestamp) -> Result<bool, StoreError> {
        let now = now.as_micros();
        let found = match queue {
            TimerQueue::Holds => {
                let due = sqlx::query_scalar!(
                    r#"select exists (select 1 from timers indexed by timers_of_holds
                     where hold and due_at <= ?1 and claimed_until <= ?1) as "due!: bool""#,
                    now
                );
                due.fetch_one(self.readers()).await
            }
            TimerQueue::Events => {
                let due = sqlx::query_scalar!(
                    r#"select exists (select 1 from timers indexed by timers_due
                     where not hold and due_at <= ?1 and claimed_until <= ?1) as "due!: bool""#,
                    now
                );
                due.fetch_one(self.readers()).await
            }
            TimerQueue::Again => {
                let due = sqlx::query_scalar!(
                    r#"select exists (select 1 from timers indexed by timers_again
                     where again and claimed_until <= ?1) as "due!: bool""#,
                    now
                );
                due.fetch_one(self.readers()).await
            }
        };
        found.map_err(store_error)
    }

    /// Those events that are visible, by organization and identifier.
    async fn events_of(
        &self,
        rows: &[ClaimedRow],
    ) -> Result<BTreeMap<(Uuid, Uuid), Result<Found, StoreError>>, StoreError> {
        let wanted: Vec<_> = rows.iter().map(|row| (Hex(row.org_id), Hex(row.event_id))).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let records = sqlx::query!(
            "select e.org_id, e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent, c.default_reminders
             from jsonb_each(?1) wanted
                cross join events e on e.org_id = unhex(wanted.value ->> 0) and e.id = unhex(wanted.value ->> 1)
                cross join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.deleted_at is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut found = BTreeMap::new();
        for record in records {
            let org = OrgId::from_uuid(row_id("events", "org_id", &record.org_id)?);
            let key = (org.uuid(), row_id("events", "id", &record.id)?);
            let defaults = default_reminders(&record.calendar_id, record.default_reminders.as_deref());
            let event = event_row!(record).open(org, self.cipher.as_ref());
            found.insert(key, event.and_then(|event| Ok((event, defaults?))));
        }
        Ok(found)
    }

    /// Writes the timers of the next events that lack one.
    async fn seed(&self, connection: &mut SqliteConnection, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let mut transaction = connection.begin_with("begin immediate").await.map_err(store_error)?;
        let place = sqlx::query!("select seeded_org, seeded_event from timer_seeding where id = 1 and not done")
            .fetch_optional(&mut *transaction)
            .await
            .map_err(store_error)?;
        let Some(place) = place else { return Ok(true) };
        let records = sqlx::query!(
            "select e.org_id, e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent, e.deleted_at, c.default_reminders
             from events e cross join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
             where (e.org_id, e.id) > (?1, ?2) order by e.org_id, e.id limit ?3",
            place.seeded_org,
            place.seeded_event,
            limit
        )
        .fetch_all(&mut *transaction)
        .await
        .map_err(store_error)?;
        let count = records.len();
        let last = records.last().map(|record| (record.org_id.clone(), record.id.clone()));
        let mut timers: Vec<Timer> = Vec::new();
        for record in records {
            if record.deleted_at.is_some() {
                continue;
            }
            let org = OrgId::from_uuid(row_id("events", "org_id", &record.org_id)?);
            let defaults = default_reminders(&record.calendar_id, record.default_reminders.as_deref());
            let event = event_row!(record).open(org, self.cipher.as_ref());
            match event.and_then(|event| Ok(event.timer(defaults?.as_ref(), now))) {
                // A timer of an invisible calendar is removed later, with those of the calendar's other events.
                Ok(timer) => timers.extend(timer),
                Err(error) => {
                    tracing::error!(%org, error = &error as &dyn std::error::Error, "cannot make the timer of an event");
                }
            }
        }
        crate::apply::timers::seed(&mut transaction, &timers).await.map_err(store_error)?;
        let all = count < usize::try_from(limit).unwrap_or(usize::MAX);
        let (org, event) = last.unwrap_or((place.seeded_org, place.seeded_event));
        sqlx::query!(
            "update timer_seeding set seeded_org = ?1, seeded_event = ?2, done = ?3 where id = 1",
            org,
            event,
            all
        )
        .execute(&mut *transaction)
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(all)
    }
}

fn default_reminders(calendar: &[u8], json: Option<&str>) -> Result<Option<Reminders>, StoreError> {
    let id = CalendarId::from_uuid(row_id("events", "calendar_id", calendar)?);
    Located { table: "calendars", id: &id }.reminders("default_reminders", json)
}
