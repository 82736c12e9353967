//! Agents, calendars and events.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{
    Agent, AgentStatus, Calendar, Change, Event, FeedTokenHash, Recurrence, Repeats, calendars_revised,
};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, Version};
use kalends_rows::{AgentWrite, CalendarWrite, EventWrite, SealedChangeSet};
use kalends_time::{Span, Timestamp};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::{
    busy_days::Touched,
    event_metadata, moves, placed, publishing,
    reservations::{self, Revisions, revision_of},
    rules, timers,
};
use crate::busy_text::busy_text;
use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
    rows::{Located, reminders_json},
};

/// Refuses as stale if something was scheduled on a guarded calendar since it was read, or if the calendar is not
/// visible any more.
pub(crate) async fn check_guards(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    for sealed in group {
        for guard in &sealed.changes().guards {
            let org_id = sealed.changes().org.uuid();
            let (calendar, seen) = match *guard {
                Guard::CalendarRevision { calendar, seen: Revision(seen) } => (calendar, seen),
                Guard::CalendarTime { calendar, seen, window } => {
                    check_time(connection, sealed.changes().org, calendar, seen, window).await?;
                    continue;
                }
                Guard::CalendarsOfAgent { agent, count } => {
                    check_calendars_of(connection, sealed.changes().org, agent, count).await?;
                    continue;
                }
                Guard::AtMost { .. }
                | Guard::SeriesAtMost { .. }
                | Guard::PlacedAtMost { .. }
                | Guard::Guests { .. } => continue,
            };
            let id = calendar.uuid();
            let unchanged = sqlx::query_scalar!(
                "select count(*)
                 from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                 where c.org_id = ?1 and c.id = ?2 and c.revision = ?3 and c.deleted_at is null
                    and (c.agent_id is null or a.status <> 'decommissioned')",
                org_id,
                id,
                seen
            )
            .fetch_one(&mut *connection)
            .await?;
            if unchanged != 1 {
                return Err(CommitError::Stale.into());
            }
        }
    }
    Ok(())
}

/// Refuses as stale if an event or reservation in the window was written since the calendar was read, or if the
/// calendar is not visible any more.
async fn check_time(
    connection: &mut SqliteConnection,
    org: OrgId,
    calendar: CalendarId,
    seen: Revision,
    window: Span,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), calendar.uuid());
    let (from, to) = (window.start().as_micros(), window.end().as_micros());
    let unchanged = sqlx::query_scalar!(
        "select count(*)
         from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
            and (c.agent_id is null or a.status <> 'decommissioned')
            and not exists (
                select 1 from events e
                where e.org_id = ?1 and e.calendar_id = ?2 and e.revision > ?3 and +e.deleted_at is null
                    and +e.status <> 'cancelled' and +e.start_at < ?5 and coalesce(e.reaches, e.end_at) > ?4
            )
            and not exists (
                select 1 from reservations v
                where v.org_id = ?1 and v.calendar_id = ?2 and v.revision > ?3 and v.start_at < ?5 and v.end_at > ?4
            )",
        org_id,
        id,
        seen.0,
        from,
        to
    )
    .fetch_one(connection)
    .await?;
    if unchanged == 1 { Ok(()) } else { Err(CommitError::Stale.into()) }
}

/// Refuses as stale if the agent does not own exactly `count` visible calendars.
async fn check_calendars_of(
    connection: &mut SqliteConnection,
    org: OrgId,
    agent: AgentId,
    count: u64,
) -> Result<(), Failure> {
    let (org_id, agent_id) = (org.uuid(), agent.uuid());
    let owned = sqlx::query_scalar!(
        "select count(*) from calendars c join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.org_id = ?1 and c.agent_id = ?2 and c.deleted_at is null and a.status <> 'decommissioned'",
        org_id,
        agent_id
    )
    .fetch_one(connection)
    .await?;
    if u64::try_from(owned) == Ok(count) { Ok(()) } else { Err(CommitError::Stale.into()) }
}

/// The calendars whose revision rises, and by how much: by one for each change-set.
type Revised = BTreeMap<(OrgId, CalendarId), i64>;

/// Applies the changes to agents, calendars and events of all change-sets of the group.
///
/// Refuses as stale if a row's version is not the one that was seen, or if a calendar is not visible.
pub(crate) async fn apply(connection: &mut SqliteConnection, group: &[&SealedChangeSet]) -> Result<(), Failure> {
    let (mut revised, mut created_and_revised) = (Revised::new(), Revised::new());
    for sealed in group {
        let changes = &sealed.changes();
        let created: BTreeSet<CalendarId> = changes.calendars.iter().filter_map(created_calendar).collect();
        for calendar in calendars_revised(&changes.calendars) {
            let of = if created.contains(&calendar) { &mut created_and_revised } else { &mut revised };
            *of.entry((changes.org, calendar)).or_default() += 1;
        }
    }
    let mut defaults = timers::Defaults::new();
    let mut revisions = revise(connection, &revised, &mut defaults).await?;
    for sealed in group {
        for AgentWrite { agent, metadata, seen } in sealed.agents() {
            match seen {
                None => create_agent(connection, agent, metadata).await?,
                Some(seen) => update_agent(connection, agent, metadata, seen).await?,
            }
        }
        for CalendarWrite { calendar, metadata, token, seen } in sealed.calendars() {
            match seen {
                None => create_calendar(connection, calendar, (metadata, token)).await?,
                Some(seen) => update_calendar(connection, calendar, (metadata, token), seen).await?,
            }
        }
    }
    // A calendar must exist before anything is scheduled on it.
    revisions.append(&mut revise(connection, &created_and_revised, &mut defaults).await?);
    rules::apply(connection, group).await?;
    reservations::apply(connection, group, &revisions).await?;
    let mut touched = Touched::default();
    create_events(connection, group, &revisions, &mut touched).await?;
    update_events(connection, group, &revisions, &mut touched).await?;
    placed::apply(connection, group).await?;
    touched.write(connection).await?;
    timers::keep(connection, written_events(group).map(|write| (write.event, write.seen)), &defaults).await?;
    timers::advance(connection, group).await
}

const fn created_calendar(change: &Change) -> Option<CalendarId> {
    match change {
        Change::CreateCalendar(calendar) => Some(calendar.id),
        _ => None,
    }
}

/// Raises the revisions of visible calendars and returns them. Refuses as stale if a calendar is not visible. Adds
/// the default reminders of the calendars to `defaults`. Calendars with a destination are due for publication.
async fn revise(
    connection: &mut SqliteConnection,
    revised: &Revised,
    defaults: &mut timers::Defaults,
) -> Result<Revisions, Failure> {
    if revised.is_empty() {
        return Ok(Revisions::new());
    }
    let rows: Vec<_> =
        revised.iter().map(|((org, calendar), times)| (Hex(org.uuid()), Hex(calendar.uuid()), times)).collect();
    let (count, rows) = (rows.len() as u64, json::rows(&rows)?);
    let raised = sqlx::query!(
        r#"update or fail calendars set revision = revision + (raised.value ->> 2),
            publication_due_at = min(publication_due_at, 0)
         from jsonb_each(?1) raised
         where calendars.org_id = unhex(raised.value ->> 0) and calendars.id = unhex(raised.value ->> 1)
            and calendars.deleted_at is null
            and (calendars.agent_id is null or exists (select 1 from agents a
                where a.org_id = calendars.org_id and a.id = calendars.agent_id and a.status <> 'decommissioned'))
         returning org_id as "org_id: Uuid", id as "id: Uuid", revision, default_reminders"#,
        rows
    )
    .fetch_all(connection)
    .await?;
    fresh(raised.len() as u64, count)?;
    let mut revisions = Revisions::new();
    for row in raised {
        let (org, calendar) = (OrgId::from_uuid(row.org_id), CalendarId::from_uuid(row.id));
        let of = Located { table: "calendars", id: &calendar };
        let reminders = of.reminders("default_reminders", row.default_reminders.as_deref());
        defaults.insert((org, calendar), reminders.map_err(CommitError::Store)?);
        revisions.insert((org, calendar), row.revision);
    }
    Ok(revisions)
}

async fn create_agent(connection: &mut SqliteConnection, agent: &Agent, metadata: &str) -> Result<(), Failure> {
    let (org_id, id) = (agent.org.uuid(), agent.id.uuid());
    let (kind, status) = (agent.kind.as_str(), agent.status.as_str());
    let (created_at, updated_at) = (agent.created_at.as_micros(), agent.updated_at.as_micros());
    sqlx::query!(
        "insert into agents (org_id, id, name, type, description, status, metadata, version, created_at, updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        org_id,
        id,
        agent.name,
        kind,
        agent.description,
        status,
        metadata,
        agent.version.0,
        created_at,
        updated_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update_agent(
    connection: &mut SqliteConnection,
    agent: &Agent,
    metadata: &str,
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id) = (agent.org.uuid(), agent.id.uuid());
    let (kind, status) = (agent.kind.as_str(), agent.status.as_str());
    let updated_at = agent.updated_at.as_micros();
    let updated = sqlx::query!(
        "update agents set name = ?4, type = ?5, description = ?6, status = ?7, metadata = ?8, version = ?9,
            updated_at = ?10
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        agent.name,
        kind,
        agent.description,
        status,
        metadata,
        agent.version.0,
        updated_at
    )
    .execute(&mut *connection)
    .await?;
    fresh(updated.rows_affected(), 1)?;
    if agent.status == AgentStatus::Decommissioned {
        publishing::decommission(connection, agent.org, agent.id).await?;
    }
    Ok(())
}

async fn create_calendar(
    connection: &mut SqliteConnection,
    calendar: &Calendar,
    (metadata, token): (&str, &str),
) -> Result<(), Failure> {
    let (org_id, id, agent_id) = (calendar.org.uuid(), calendar.id.uuid(), calendar.agent.map(|agent| agent.uuid()));
    let timezone = calendar.zone.name();
    let provider = calendar.provider.map(|provider| provider.as_str());
    let activity = calendar.activity.as_str();
    let reminders = reminders_json(calendar.default_reminders.as_ref());
    let conflicts = calendar.conflicts.as_str();
    let recurrence_default = calendar.recurrence_default.map(|default| default.as_str());
    let (created_at, updated_at) = (calendar.created_at.as_micros(), calendar.updated_at.as_micros());
    let deleted_at = calendar.deleted_at.map(Timestamp::as_micros);
    let FeedTokenHash(token_hash) = calendar.feed_token.hash();
    let token_hash = token_hash.as_slice();
    let created = sqlx::query!(
        "insert into calendars (org_id, id, agent_id, name, timezone, metadata, external_id, provider, agent_status,
            default_reminders, feed_token, revision, version, created_at, updated_at, deleted_at, feed_token_hash,
            conflicts, recurrence_default)
         select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19
         where ?3 is null
            or exists (select 1 from agents where org_id = ?1 and id = ?3 and status <> 'decommissioned')",
        org_id,
        id,
        agent_id,
        calendar.name,
        timezone,
        metadata,
        calendar.external_id,
        provider,
        activity,
        reminders,
        token,
        calendar.revision.0,
        calendar.version.0,
        created_at,
        updated_at,
        deleted_at,
        token_hash,
        conflicts,
        recurrence_default
    )
    .execute(connection)
    .await?;
    fresh(created.rows_affected(), 1)
}

async fn update_calendar(
    connection: &mut SqliteConnection,
    calendar: &Calendar,
    (metadata, token): (&str, &str),
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id) = (calendar.org.uuid(), calendar.id.uuid());
    let timezone = calendar.zone.name();
    let provider = calendar.provider.map(|provider| provider.as_str());
    let activity = calendar.activity.as_str();
    let reminders = reminders_json(calendar.default_reminders.as_ref());
    let conflicts = calendar.conflicts.as_str();
    let recurrence_default = calendar.recurrence_default.map(|default| default.as_str());
    let updated_at = calendar.updated_at.as_micros();
    let deleted_at = calendar.deleted_at.map(Timestamp::as_micros);
    let FeedTokenHash(token_hash) = calendar.feed_token.hash();
    let token_hash = token_hash.as_slice();
    timers::mark_for_recompute(&mut *connection, calendar).await?;
    // The decision does not write the revision or the policy. Copies of a deleted calendar are deleted, and copies of
    // whole days follow the zone.
    let updated = sqlx::query!(
        "update calendars set name = ?4, timezone = ?5, metadata = ?6, external_id = ?7, provider = ?8,
            agent_status = ?9, default_reminders = ?10, feed_token = ?11, version = ?12, updated_at = ?13,
            deleted_at = ?14, feed_token_hash = ?15, conflicts = ?16, recurrence_default = ?17,
            publication_due_at = iif(?14 is null and timezone = ?5, publication_due_at,
                 min(publication_due_at, -1))
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        calendar.name,
        timezone,
        metadata,
        calendar.external_id,
        provider,
        activity,
        reminders,
        token,
        calendar.version.0,
        updated_at,
        deleted_at,
        token_hash,
        conflicts,
        recurrence_default
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

/// The events that the group writes.
fn written_events<'a>(group: &'a [&SealedChangeSet]) -> impl Iterator<Item = EventWrite<'a>> {
    group.iter().flat_map(|sealed| sealed.events())
}

async fn create_events(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
    revisions: &Revisions,
    touched: &mut Touched,
) -> Result<(), Failure> {
    let writes: Vec<EventWrite<'_>> = written_events(group).filter(|write| write.seen.is_none()).collect();
    let rows: Vec<_> = writes
        .iter()
        .inspect(|write| touched.created(write.event))
        .map(|EventWrite { event, content, .. }| {
            let (recurrence, reaches, series, original_start) = series_columns(event);
            let more = || {
                let (expires_at, priority, scope) = hold_columns(event);
                let set = event.hold_set.map(|set| Hex(set.uuid()));
                (recurrence, reaches, series.map(Hex), original_start, expires_at, priority, scope, set)
            };
            let plain = event.repeats == Repeats::Once && event.hold.is_none() && event.hold_set.is_none();
            Ok((
                Hex(event.org.uuid()),
                Hex(event.id.uuid()),
                (Hex(event.calendar.uuid()), revision_of(revisions, event.org, event.calendar)?, event.transparent),
                content,
                event.times.span.start().as_micros(),
                event.times.span.end().as_micros(),
                event.busy().map(busy_text),
                event.times.all_day,
                event.status.as_str(),
                event.source.as_str(),
                reminders_json(event.reminders.as_ref()),
                event.version.0,
                event.created_at.as_micros(),
                event.updated_at.as_micros(),
                event.deleted_at.map(Timestamp::as_micros),
                // Tuples serialize with 16 elements at most, and most events need no more.
                (!plain).then(more),
            ))
        })
        .collect::<Result<_, Failure>>()?;
    if rows.is_empty() {
        return Ok(());
    }
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into events (org_id, id, calendar_id, content, start_at, end_at, busy, all_day, status, source,
            reminders, version, created_at, updated_at, deleted_at, recurrence, reaches, series_id, original_start,
            hold_expires_at, hold_priority, hold_scope, hold_set_id, revision, transparent, indexed_version)
         select unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> '$[2][0]'), value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11, value ->> 12,
            value ->> 13, value ->> 14, value ->> '$[15][0]', value ->> '$[15][1]', unhex(value ->> '$[15][2]'),
            value ->> '$[15][3]', value ->> '$[15][4]', value ->> '$[15][5]', value ->> '$[15][6]',
            unhex(value ->> '$[15][7]'), value ->> '$[2][1]', value ->> '$[2][2]', value ->> 11
         from jsonb_each(?1)",
        rows
    )
    .execute(&mut *connection)
    .await?;
    event_metadata::add(connection, &writes).await
}

/// Writes all of an event except its calendar, its creation, its series and its hold set: these never change, except
/// for the calendar of an event that moves ([`moves`]).
async fn update_events(
    connection: &mut SqliteConnection,
    group: &[&SealedChangeSet],
    revisions: &Revisions,
    touched: &mut Touched,
) -> Result<(), Failure> {
    let writes: Vec<EventWrite<'_>> = written_events(group).filter(|write| write.seen.is_some()).collect();
    if writes.is_empty() {
        return Ok(());
    }
    touched.before_update(connection, &writes).await?;
    moves::apply(connection, &writes, revisions).await?;
    let rows: Vec<_> = writes
        .iter()
        .map(|EventWrite { event, content, seen, .. }| {
            let (recurrence, reaches, ..) = series_columns(event);
            Ok((
                (Hex(event.org.uuid()), Hex(event.id.uuid()), Hex(event.calendar.uuid()), seen.map(|seen| seen.0)),
                content,
                event.times.span.start().as_micros(),
                event.times.span.end().as_micros(),
                event.busy().map(busy_text),
                event.times.all_day,
                event.status.as_str(),
                event.source.as_str(),
                reminders_json(event.reminders.as_ref()),
                event.version.0,
                event.updated_at.as_micros(),
                event.deleted_at.map(Timestamp::as_micros),
                (recurrence, reaches),
                hold_columns(event),
                revision_of(revisions, event.org, event.calendar)?,
                event.transparent,
            ))
        })
        .collect::<Result<_, Failure>>()?;
    let (count, rows) = (rows.len() as u64, json::rows(&rows)?);
    let updated = sqlx::query!(
        "update or fail events set content = row.value ->> 1, start_at = row.value ->> 2, end_at = row.value ->> 3,
            busy = row.value ->> 4, all_day = row.value ->> 5, status = row.value ->> 6, source = row.value ->> 7,
            reminders = row.value ->> 8, version = row.value ->> 9, updated_at = row.value ->> 10,
            deleted_at = row.value ->> 11, recurrence = row.value ->> '$[12][0]', reaches = row.value ->> '$[12][1]',
            hold_expires_at = row.value ->> '$[13][0]', hold_priority = row.value ->> '$[13][1]',
            hold_scope = row.value ->> '$[13][2]', revision = row.value ->> 14, transparent = row.value ->> 15,
            indexed_version = row.value ->> 9
         from jsonb_each(?1) row
         where events.org_id = unhex(row.value ->> '$[0][0]') and events.id = unhex(row.value ->> '$[0][1]')
            and events.calendar_id = unhex(row.value ->> '$[0][2]') and events.version = (row.value ->> '$[0][3]')",
        rows
    )
    .execute(&mut *connection)
    .await?;
    fresh(updated.rows_affected(), count)?;
    event_metadata::replace(connection, &writes).await
}

/// The repetition as columns: recurrence, reaches, series_id and original_start.
fn series_columns(event: &Event) -> (Option<String>, Option<i64>, Option<Uuid>, Option<i64>) {
    let reaches = event.repeating().map(|series| series.reaches().map_or(i64::MAX, Timestamp::as_micros));
    let occurrence = event.occurrence();
    (
        event.recurrence().map(Recurrence::to_json),
        reaches,
        occurrence.map(|occurrence| occurrence.series.uuid()),
        occurrence.map(|occurrence| occurrence.start.as_micros()),
    )
}

/// The hold as columns: hold_expires_at, hold_priority and hold_scope.
fn hold_columns(event: &Event) -> (Option<i64>, Option<i64>, Option<&'static str>) {
    let hold = event.hold.as_ref();
    (
        hold.map(|hold| hold.expires_at.as_micros()),
        hold.map(|hold| hold.priority.into()),
        hold.map(|hold| hold.scope.as_str()),
    )
}
