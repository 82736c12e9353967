//! Due timers of all organizations.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kalends_calendars::ports::{ClaimedTimer, TimerQueue, Timers};
use kalends_calendars::{EmittedUntil, Event, Reminders, Timer};
use kalends_kernel::{CalendarId, EventId, OrgId, StoreError, Version};
use kalends_time::Timestamp;
use sqlx::{Connection as _, PgConnection};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::{ApplyError, store_error};
use crate::retry::retried;
use crate::rows::{Located, event_row};

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
impl Timers for PostgresStore {
    async fn claim_timers(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedTimer>, StoreError> {
        let rows = retried(|| self.claim(queue, now, until, limit)).await.map_err(store_error)?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let orgs: Vec<Uuid> = rows.iter().map(|row| row.org_id).collect();
        let events: Vec<Uuid> = rows.iter().map(|row| row.event_id).collect();
        let mut found = self.events_of(&orgs, &events).await?;
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
        let done = sqlx::query_scalar!("SELECT done FROM timer_seeding WHERE id = 1")
            .fetch_one(&self.connections)
            .await
            .map_err(store_error)?;
        if done {
            return Ok(true);
        }
        let mut connection = self.connections.acquire().await.map_err(store_error)?;
        let mut transaction =
            connection.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await.map_err(store_error)?;
        let all = self.seed(&mut transaction, now, limit).await?;
        transaction.commit().await.map_err(store_error)?;
        connection.keep();
        Ok(all)
    }

    async fn forget_timers(&self, limit: u32) -> Result<u64, StoreError> {
        let forgotten = retried(|| {
            sqlx::query!(
                "DELETE FROM timers WHERE (org_id, calendar_id, event_id) IN (
                     SELECT t.org_id, t.calendar_id, t.event_id
                     FROM calendars c
                     JOIN timers t ON t.org_id = c.org_id AND t.calendar_id = c.id
                     WHERE c.deleted_at IS NOT NULL
                     UNION ALL
                     SELECT t.org_id, t.calendar_id, t.event_id
                     FROM agents a
                     JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                     JOIN timers t ON t.org_id = c.org_id AND t.calendar_id = c.id
                     WHERE a.status = 'decommissioned'
                     LIMIT $1
                 )",
                i64::from(limit),
            )
            .execute(&self.connections)
        });
        Ok(forgotten.await.map_err(store_error)?.rows_affected())
    }
}

impl PostgresStore {
    /// Claims up to `limit` timers. The three queues differ in the index that they follow. Timers that another node
    /// is claiming are skipped, not waited for.
    async fn claim(
        &self,
        queue: TimerQueue,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ClaimedRow>, sqlx::Error> {
        let (now, until, limit) = (now.as_micros(), until.as_micros(), i64::from(limit));
        match queue {
            TimerQueue::Holds => {
                let claim = sqlx::query_as!(
                    ClaimedRow,
                    "UPDATE timers SET claimed_until = $2
                     WHERE (org_id, calendar_id, event_id) IN (
                         SELECT org_id, calendar_id, event_id FROM timers
                         WHERE hold AND due_at <= $1 AND claimed_until <= $1
                         ORDER BY due_at LIMIT $3
                         FOR UPDATE SKIP LOCKED
                     )
                     RETURNING org_id, calendar_id, event_id, due_at, told_until AS emitted_until, reminded_until,
                         version",
                    now,
                    until,
                    limit,
                );
                claim.fetch_all(&self.connections).await
            }
            TimerQueue::Events => {
                let claim = sqlx::query_as!(
                    ClaimedRow,
                    "UPDATE timers SET claimed_until = $2
                     WHERE (org_id, calendar_id, event_id) IN (
                         SELECT org_id, calendar_id, event_id FROM timers
                         WHERE NOT hold AND due_at <= $1 AND claimed_until <= $1
                         ORDER BY due_at LIMIT $3
                         FOR UPDATE SKIP LOCKED
                     )
                     RETURNING org_id, calendar_id, event_id, due_at, told_until AS emitted_until, reminded_until,
                         version",
                    now,
                    until,
                    limit,
                );
                claim.fetch_all(&self.connections).await
            }
            TimerQueue::Again => {
                let claim = sqlx::query_as!(
                    ClaimedRow,
                    "UPDATE timers SET claimed_until = $2
                     WHERE (org_id, calendar_id, event_id) IN (
                         SELECT org_id, calendar_id, event_id FROM timers
                         WHERE again AND claimed_until <= $1
                         LIMIT $3
                         FOR UPDATE SKIP LOCKED
                     )
                     RETURNING org_id, calendar_id, event_id, due_at, told_until AS emitted_until, reminded_until,
                         version",
                    now,
                    until,
                    limit,
                );
                claim.fetch_all(&self.connections).await
            }
        }
    }

    /// Those events that are visible, by organization and identifier.
    async fn events_of(
        &self,
        orgs: &[Uuid],
        events: &[Uuid],
    ) -> Result<BTreeMap<(Uuid, Uuid), Result<Found, StoreError>>, StoreError> {
        let records = sqlx::query!(
            "SELECT e.org_id, e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.default_reminders
             FROM unnest($1::uuid[], $2::uuid[]) AS wanted (org_id, id)
             JOIN events e ON e.org_id = wanted.org_id AND e.id = wanted.id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE e.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            orgs,
            events,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = records.into_iter().map(|record| {
            let key = (record.org_id, record.id);
            let defaults = default_reminders(record.calendar_id, record.default_reminders.as_deref());
            let event = event_row!(record).open(OrgId::from_uuid(key.0), &*self.cipher);
            (key, event.and_then(|event| Ok((event, defaults?))))
        });
        Ok(read.collect())
    }

    /// Writes the timers of the next events that lack one. If another node is doing this, it is left to that node.
    async fn seed(&self, connection: &mut PgConnection, now: Timestamp, limit: u32) -> Result<bool, StoreError> {
        let place = sqlx::query!(
            "SELECT seeded_org, seeded_event FROM timer_seeding WHERE id = 1 AND NOT done FOR UPDATE SKIP LOCKED"
        );
        let Some(place) = place.fetch_optional(&mut *connection).await.map_err(store_error)? else { return Ok(true) };
        let records = sqlx::query!(
            r#"SELECT e.org_id, e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source,
                 e.reminders, e.version, e.created_at, e.updated_at, e.recurrence, e.series_id,
                 e.original_start, e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent,
                 c.default_reminders,
                 e.deleted_at IS NULL AND c.deleted_at IS NULL
                     AND (c.agent_id IS NULL OR a.status <> 'decommissioned') AS visible
             FROM events e
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE (e.org_id, e.id) > ($1, $2)
             ORDER BY e.org_id, e.id
             LIMIT $3"#,
            place.seeded_org,
            place.seeded_event,
            i64::from(limit),
        );
        let records = records.fetch_all(&mut *connection).await.map_err(store_error)?;
        let count = records.len();
        let last = records.last().map(|record| (record.org_id, record.id));
        let mut timers: Vec<Timer> = Vec::new();
        for record in records {
            let (org, visible) = (OrgId::from_uuid(record.org_id), record.visible == Some(true));
            let defaults = default_reminders(record.calendar_id, record.default_reminders.as_deref());
            let event = event_row!(record).open(org, &*self.cipher);
            match event.and_then(|event| Ok(event.timer(defaults?.as_ref(), now))) {
                Ok(timer) => timers.extend(timer.filter(|_| visible)),
                Err(error) => {
                    tracing::error!(%org, error = &error as &dyn std::error::Error, "cannot make the timer of an event");
                }
            }
        }
        crate::apply::timers::seed(&mut *connection, &timers).await.map_err(|error| match error {
            ApplyError::Driver(error) => store_error(error),
            ApplyError::Refused(error) => StoreError::Failed(Box::new(error)),
        })?;
        let all = count < usize::try_from(limit).unwrap_or(usize::MAX);
        let (org, event) = last.unwrap_or((place.seeded_org, place.seeded_event));
        sqlx::query!(
            "UPDATE timer_seeding SET seeded_org = $1, seeded_event = $2, done = $3 WHERE id = 1",
            org,
            event,
            all
        )
        .execute(connection)
        .await
        .map_err(store_error)?;
        Ok(all)
    }
}

fn default_reminders(calendar: Uuid, text: Option<&str>) -> Result<Option<Reminders>, StoreError> {
    Located { table: "calendars", id: CalendarId::from_uuid(calendar) }.reminders("default_reminders", text)
}
