//! Agents, calendars and events.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::Guard;
use kalends_calendars::{Agent, AgentStatus, Calendar, Change, Event, Recurrence, calendars_revised};
use kalends_kernel::{CalendarId, Revision};
use kalends_rows::{AgentWrite, CalendarWrite, EventWrite, SealedChangeSet};
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use super::event_metadata::Digests;
use super::{
    busy_days, moves, placed, publications,
    reservations::{self, Revisions},
    rules, timers,
};
use crate::error::{ApplyError, all_written};
use crate::rows::{Located, reminders_json};

/// What the first statement of a transaction locks.
pub(crate) struct Locked {
    /// The visible calendars with their revisions.
    calendars: BTreeMap<(Uuid, Uuid), i64>,
    /// The organizations of those calendars.
    pub(crate) organizations: BTreeSet<Uuid>,
}

/// Locks the existing calendars that the change-sets revise, guard, update or publish, in the order of their
/// identifiers, and the organizations of those calendars against deletion.
///
/// This comes first in a transaction: every later statement sees what previous holders of the locks have committed.
pub(crate) async fn lock(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<Locked, ApplyError> {
    let mut wanted: BTreeSet<_> = batch.iter().flat_map(calendars_to_lock).collect();
    wanted.extend(publications::calendars_to_wake(connection, batch).await?);
    if wanted.is_empty() {
        return Ok(Locked { calendars: BTreeMap::new(), organizations: BTreeSet::new() });
    }
    let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = wanted.into_iter().unzip();
    let rows = sqlx::query!(
        r#"SELECT c.org_id, c.id, c.revision,
             c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned') AS visible
         FROM unnest($1::uuid[], $2::uuid[]) AS wanted (org_id, id)
         JOIN calendars c ON c.org_id = wanted.org_id AND c.id = wanted.id
         JOIN organizations o ON o.id = c.org_id
         LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         ORDER BY c.org_id, c.id
         FOR UPDATE OF c
         FOR KEY SHARE OF o"#,
        &orgs,
        &ids,
    )
    .fetch_all(connection)
    .await?;
    let organizations = rows.iter().map(|row| row.org_id).collect();
    let visible = rows.into_iter().filter(|row| row.visible == Some(true));
    let calendars = visible.map(|row| ((row.org_id, row.id), row.revision)).collect();
    Ok(Locked { calendars, organizations })
}

impl Locked {
    /// Checks [`Guard::CalendarRevision`] of all change-sets.
    pub(crate) fn check_revisions(&self, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
        for changes in batch.iter().map(SealedChangeSet::changes) {
            for guard in &changes.guards {
                if let Guard::CalendarRevision { calendar, seen: Revision(seen) } = guard
                    && self.calendars.get(&(changes.org.uuid(), calendar.uuid())) != Some(seen)
                {
                    return Err(ApplyError::STALE);
                }
            }
        }
        Ok(())
    }
}

/// Checks [`Guard::CalendarTime`] of all change-sets. The calendars are locked, so nobody writes to them in between.
pub(crate) async fn check_times(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
    locked: &Locked,
) -> Result<(), ApplyError> {
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for guard in &changes.guards {
            let Guard::CalendarTime { calendar, seen: Revision(seen), window } = *guard else { continue };
            match locked.calendars.get(&(changes.org.uuid(), calendar.uuid())) {
                None => return Err(ApplyError::STALE),
                Some(revision) if *revision == seen => continue,
                Some(_) => {}
            }
            let written = sqlx::query_scalar!(
                r#"SELECT EXISTS (
                     SELECT 1 FROM events
                     WHERE org_id = $1 AND calendar_id = $2 AND revision > $3 AND deleted_at IS NULL
                         AND status <> 'cancelled' AND start_at < $5 AND coalesce(reaches, end_at) > $4
                 ) OR EXISTS (
                     SELECT 1 FROM reservations
                     WHERE org_id = $1 AND calendar_id = $2 AND revision > $3 AND start_at < $5 AND end_at > $4
                 ) AS "exists!""#,
                changes.org.uuid(),
                calendar.uuid(),
                seen,
                window.start().as_micros(),
                window.end().as_micros(),
            )
            .fetch_one(&mut *connection)
            .await?;
            if written {
                return Err(ApplyError::STALE);
            }
        }
    }
    Ok(())
}

/// Checks [`Guard::CalendarsOfAgent`] of all change-sets. The calendars themselves are guarded too and their rows are
/// locked, so the number can differ only if a new calendar was added.
pub(crate) async fn check_calendars_of_agents(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
) -> Result<(), ApplyError> {
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for guard in &changes.guards {
            let Guard::CalendarsOfAgent { agent, count } = *guard else { continue };
            let owned = sqlx::query_scalar!(
                r#"SELECT count(*) AS "count!"
                 FROM calendars c
                 JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                 WHERE c.org_id = $1 AND c.agent_id = $2 AND c.deleted_at IS NULL AND a.status <> 'decommissioned'"#,
                changes.org.uuid(),
                agent.uuid(),
            )
            .fetch_one(&mut *connection)
            .await?;
            if u64::try_from(owned) != Ok(count) {
                return Err(ApplyError::STALE);
            }
        }
    }
    Ok(())
}

/// The existing calendars that are revised, guarded, updated or published.
fn calendars_to_lock(sealed: &SealedChangeSet) -> BTreeSet<(Uuid, Uuid)> {
    let changes = sealed.changes();
    let mut ids: BTreeSet<CalendarId> = calendars_revised(&changes.calendars);
    ids.extend(changes.bridge.iter().filter_map(publications::calendar_to_lock));
    ids.extend(changes.guards.iter().filter_map(|guard| match guard {
        Guard::CalendarRevision { calendar, .. } | Guard::CalendarTime { calendar, .. } => Some(*calendar),
        Guard::CalendarsOfAgent { .. }
        | Guard::AtMost { .. }
        | Guard::SeriesAtMost { .. }
        | Guard::PlacedAtMost { .. }
        | Guard::Guests { .. } => None,
    }));
    for change in &changes.calendars {
        if let Change::UpdateCalendar { calendar, .. } = change {
            ids.insert(calendar.id);
        }
    }
    for change in &changes.calendars {
        if let Change::CreateCalendar(calendar) = change {
            ids.remove(&calendar.id);
        }
    }
    ids.into_iter().map(|id| (changes.org.uuid(), id.uuid())).collect()
}

/// Writes the rows: first agents, then calendars, then events, and new ones before changed ones.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let (new_agents, changed_agents): (Vec<_>, Vec<_>) =
        batch.iter().flat_map(SealedChangeSet::agents).partition(|write| write.seen.is_none());
    create_agents(connection, &new_agents).await?;
    update_agents(connection, &changed_agents).await?;
    publications::wake_of_agents(connection, batch).await?;
    let (created, updated): (Vec<_>, Vec<_>) =
        batch.iter().flat_map(SealedChangeSet::calendars).partition(|write| write.seen.is_none());
    create_calendars(connection, &created).await?;
    update_calendars(connection, &updated).await?;
    let (revisions, defaults) = revise(connection, batch).await?;
    rules::apply(connection, batch).await?;
    reservations::apply(connection, batch, &revisions).await?;
    let (created, updated): (Vec<_>, Vec<_>) =
        batch.iter().flat_map(SealedChangeSet::events).partition(|write| write.seen.is_none());
    create_events(connection, &created, &revisions).await?;
    busy_days::add(connection, &created).await?;
    let days = busy_days::before_update(connection, &updated).await?;
    moves::apply(connection, &updated, &revisions).await?;
    update_events(connection, &updated, &revisions).await?;
    placed::apply(connection, batch).await?;
    busy_days::renew(connection, days).await?;
    timers::keep(connection, &created, &defaults).await?;
    timers::keep(connection, &updated, &defaults).await?;
    timers::advance(connection, batch).await
}

async fn create_agents(connection: &mut PgConnection, writes: &[AgentWrite<'_>]) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let agents: Vec<&Agent> = writes.iter().map(|write| write.agent).collect();
    let orgs: Vec<Uuid> = agents.iter().map(|agent| agent.org.uuid()).collect();
    let ids: Vec<Uuid> = agents.iter().map(|agent| agent.id.uuid()).collect();
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    let kinds: Vec<&str> = agents.iter().map(|agent| agent.kind.as_str()).collect();
    let descriptions: Vec<Option<&str>> = agents.iter().map(|agent| agent.description.as_deref()).collect();
    let statuses: Vec<&str> = agents.iter().map(|agent| agent.status.as_str()).collect();
    let metadata: Vec<&str> = writes.iter().map(|write| write.metadata).collect();
    let versions: Vec<i64> = agents.iter().map(|agent| agent.version.0).collect();
    let created: Vec<i64> = agents.iter().map(|agent| agent.created_at.as_micros()).collect();
    let updated: Vec<i64> = agents.iter().map(|agent| agent.updated_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO agents (org_id, id, name, type, description, status, metadata, version, created_at, updated_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
             $8::bigint[], $9::bigint[], $10::bigint[])",
        &orgs,
        &ids,
        &names as &[&str],
        &kinds as &[&str],
        &descriptions as &[Option<&str>],
        &statuses as &[&str],
        &metadata as &[&str],
        &versions,
        &created,
        &updated,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn update_agents(connection: &mut PgConnection, writes: &[AgentWrite<'_>]) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let agents: Vec<&Agent> = writes.iter().map(|write| write.agent).collect();
    let orgs: Vec<Uuid> = agents.iter().map(|agent| agent.org.uuid()).collect();
    let ids: Vec<Uuid> = agents.iter().map(|agent| agent.id.uuid()).collect();
    let seen: Vec<Option<i64>> = writes.iter().map(|write| write.seen.map(|seen| seen.0)).collect();
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    let kinds: Vec<&str> = agents.iter().map(|agent| agent.kind.as_str()).collect();
    let descriptions: Vec<Option<&str>> = agents.iter().map(|agent| agent.description.as_deref()).collect();
    let statuses: Vec<&str> = agents.iter().map(|agent| agent.status.as_str()).collect();
    let metadata: Vec<&str> = writes.iter().map(|write| write.metadata).collect();
    let versions: Vec<i64> = agents.iter().map(|agent| agent.version.0).collect();
    let updated: Vec<i64> = agents.iter().map(|agent| agent.updated_at.as_micros()).collect();
    let written = sqlx::query!(
        "UPDATE agents SET name = row.name, type = row.type, description = row.description, status = row.status,
             metadata = row.metadata, version = row.version, updated_at = row.updated_at
         FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                 $9::bigint[], $10::bigint[])
             AS row (org_id, id, seen, name, type, description, status, metadata, version, updated_at)
         WHERE agents.org_id = row.org_id AND agents.id = row.id AND agents.version = row.seen",
        &orgs,
        &ids,
        &seen as &[Option<i64>],
        &names as &[&str],
        &kinds as &[&str],
        &descriptions as &[Option<&str>],
        &statuses as &[&str],
        &metadata as &[&str],
        &versions,
        &updated,
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), agents.len())
}

/// Checks that the agents of new calendars are not decommissioned, and locks them until the calendars are committed.
async fn owners_live(connection: &mut PgConnection, calendars: &[&Calendar]) -> Result<(), ApplyError> {
    let owners: BTreeSet<(Uuid, Uuid)> =
        calendars.iter().filter_map(|calendar| Some((calendar.org.uuid(), calendar.agent?.uuid()))).collect();
    if owners.is_empty() {
        return Ok(());
    }
    let (orgs, ids): (Vec<Uuid>, Vec<Uuid>) = owners.iter().copied().unzip();
    let statuses = sqlx::query_scalar!(
        "SELECT a.status
         FROM unnest($1::uuid[], $2::uuid[]) AS owner (org_id, id)
         JOIN agents a ON a.org_id = owner.org_id AND a.id = owner.id
         ORDER BY a.org_id, a.id
         FOR SHARE OF a",
        &orgs,
        &ids,
    )
    .fetch_all(connection)
    .await?;
    let live = statuses.iter().filter(|status| *status != AgentStatus::Decommissioned.as_str()).count();
    if live == owners.len() { Ok(()) } else { Err(ApplyError::STALE) }
}

async fn create_calendars(connection: &mut PgConnection, writes: &[CalendarWrite<'_>]) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let calendars: Vec<&Calendar> = writes.iter().map(|write| write.calendar).collect();
    owners_live(connection, &calendars).await?;
    let orgs: Vec<Uuid> = calendars.iter().map(|calendar| calendar.org.uuid()).collect();
    let ids: Vec<Uuid> = calendars.iter().map(|calendar| calendar.id.uuid()).collect();
    let agents: Vec<Option<Uuid>> = calendars.iter().map(|calendar| calendar.agent.map(|agent| agent.uuid())).collect();
    let names: Vec<&str> = calendars.iter().map(|calendar| calendar.name.as_str()).collect();
    let zones: Vec<&str> = calendars.iter().map(|calendar| calendar.zone.name()).collect();
    let metadata: Vec<&str> = writes.iter().map(|write| write.metadata).collect();
    let external: Vec<Option<&str>> = calendars.iter().map(|calendar| calendar.external_id.as_deref()).collect();
    let providers: Vec<Option<&str>> =
        calendars.iter().map(|calendar| calendar.provider.map(|provider| provider.as_str())).collect();
    let activities: Vec<&str> = calendars.iter().map(|calendar| calendar.activity.as_str()).collect();
    let reminders: Vec<Option<String>> =
        calendars.iter().map(|calendar| reminders_json(calendar.default_reminders.as_ref())).collect();
    let conflicts: Vec<&str> = calendars.iter().map(|calendar| calendar.conflicts.as_str()).collect();
    let recurrence_defaults: Vec<Option<&str>> =
        calendars.iter().map(|calendar| calendar.recurrence_default.map(|default| default.as_str())).collect();
    let (tokens, token_hashes) = feed_tokens(writes);
    let revisions: Vec<i64> = calendars.iter().map(|calendar| calendar.revision.0).collect();
    let versions: Vec<i64> = calendars.iter().map(|calendar| calendar.version.0).collect();
    let created: Vec<i64> = calendars.iter().map(|calendar| calendar.created_at.as_micros()).collect();
    let updated: Vec<i64> = calendars.iter().map(|calendar| calendar.updated_at.as_micros()).collect();
    let deleted: Vec<Option<i64>> =
        calendars.iter().map(|calendar| calendar.deleted_at.map(|at| at.as_micros())).collect();
    sqlx::query!(
        "INSERT INTO calendars (org_id, id, agent_id, name, timezone, metadata, external_id, provider, agent_status,
             default_reminders, feed_token, feed_token_hash, revision, version, created_at, updated_at, deleted_at,
             conflicts, recurrence_default)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
             $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[], $13::bigint[], $14::bigint[],
             $15::bigint[], $16::bigint[], $17::bigint[], $18::text[], $19::text[])",
        &orgs,
        &ids,
        &agents as &[Option<Uuid>],
        &names as &[&str],
        &zones as &[&str],
        &metadata as &[&str],
        &external as &[Option<&str>],
        &providers as &[Option<&str>],
        &activities as &[&str],
        &reminders as &[Option<String>],
        &tokens as &[&str],
        &token_hashes,
        &revisions,
        &versions,
        &created,
        &updated,
        &deleted as &[Option<i64>],
        &conflicts as &[&str],
        &recurrence_defaults as &[Option<&str>],
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes all of a calendar except its owner, its policy of publication, and its revision, which [`revise`] raises. A
/// deleted calendar becomes due, so that its copies are deleted. So does one whose zone changes: copies of whole days
/// follow it.
async fn update_calendars(connection: &mut PgConnection, writes: &[CalendarWrite<'_>]) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let calendars: Vec<&Calendar> = writes.iter().map(|write| write.calendar).collect();
    timers::mark_for_recompute(connection, &calendars).await?;
    let orgs: Vec<Uuid> = calendars.iter().map(|calendar| calendar.org.uuid()).collect();
    let ids: Vec<Uuid> = calendars.iter().map(|calendar| calendar.id.uuid()).collect();
    let seen: Vec<Option<i64>> = writes.iter().map(|write| write.seen.map(|seen| seen.0)).collect();
    let names: Vec<&str> = calendars.iter().map(|calendar| calendar.name.as_str()).collect();
    let zones: Vec<&str> = calendars.iter().map(|calendar| calendar.zone.name()).collect();
    let metadata: Vec<&str> = writes.iter().map(|write| write.metadata).collect();
    let external: Vec<Option<&str>> = calendars.iter().map(|calendar| calendar.external_id.as_deref()).collect();
    let providers: Vec<Option<&str>> =
        calendars.iter().map(|calendar| calendar.provider.map(|provider| provider.as_str())).collect();
    let activities: Vec<&str> = calendars.iter().map(|calendar| calendar.activity.as_str()).collect();
    let reminders: Vec<Option<String>> =
        calendars.iter().map(|calendar| reminders_json(calendar.default_reminders.as_ref())).collect();
    let conflicts: Vec<&str> = calendars.iter().map(|calendar| calendar.conflicts.as_str()).collect();
    let recurrence_defaults: Vec<Option<&str>> =
        calendars.iter().map(|calendar| calendar.recurrence_default.map(|default| default.as_str())).collect();
    let (tokens, token_hashes) = feed_tokens(writes);
    let versions: Vec<i64> = calendars.iter().map(|calendar| calendar.version.0).collect();
    let updated: Vec<i64> = calendars.iter().map(|calendar| calendar.updated_at.as_micros()).collect();
    let deleted: Vec<Option<i64>> =
        calendars.iter().map(|calendar| calendar.deleted_at.map(|at| at.as_micros())).collect();
    let written = sqlx::query!(
        "UPDATE calendars SET name = row.name, timezone = row.timezone, metadata = row.metadata,
             external_id = row.external_id, provider = row.provider, agent_status = row.agent_status,
             default_reminders = row.default_reminders, feed_token = row.feed_token,
             feed_token_hash = row.feed_token_hash, version = row.version, updated_at = row.updated_at,
             deleted_at = row.deleted_at, conflicts = row.conflicts,
             recurrence_default = row.recurrence_default,
             publication_due_at = CASE
                 WHEN publication_due_at IS NOT NULL
                     AND (row.deleted_at IS NOT NULL OR calendars.timezone <> row.timezone) THEN -1
                 ELSE publication_due_at END
         FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                 $9::text[], $10::text[], $11::text[], $12::bytea[], $13::bigint[], $14::bigint[], $15::bigint[],
                 $16::text[], $17::text[])
             AS row (org_id, id, seen, name, timezone, metadata, external_id, provider, agent_status,
                 default_reminders, feed_token, feed_token_hash, version, updated_at, deleted_at, conflicts,
                 recurrence_default)
         WHERE calendars.org_id = row.org_id AND calendars.id = row.id AND calendars.version = row.seen",
        &orgs,
        &ids,
        &seen as &[Option<i64>],
        &names as &[&str],
        &zones as &[&str],
        &metadata as &[&str],
        &external as &[Option<&str>],
        &providers as &[Option<&str>],
        &activities as &[&str],
        &reminders as &[Option<String>],
        &tokens as &[&str],
        &token_hashes,
        &versions,
        &updated,
        &deleted as &[Option<i64>],
        &conflicts as &[&str],
        &recurrence_defaults as &[Option<&str>],
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), calendars.len())
}

/// The sealed tokens of the calendars' feeds, and the hashes by which they are found.
fn feed_tokens<'a>(writes: &[CalendarWrite<'a>]) -> (Vec<&'a str>, Vec<Vec<u8>>) {
    writes.iter().map(|write| (write.token, write.calendar.feed_token.hash().0.to_vec())).unzip()
}

/// Raises the revision of every calendar on which something is scheduled, by one for each change-set. Returns the new
/// revisions, at which the batch writes everything on those calendars, and the default reminders of the calendars.
/// Refuses as stale if a calendar is not visible.
async fn revise(
    connection: &mut PgConnection,
    batch: &[SealedChangeSet],
) -> Result<(Revisions, timers::Defaults), ApplyError> {
    let mut revised: BTreeMap<(Uuid, Uuid), i64> = BTreeMap::new();
    for changes in batch.iter().map(SealedChangeSet::changes) {
        for calendar in calendars_revised(&changes.calendars) {
            *revised.entry((changes.org.uuid(), calendar.uuid())).or_default() += 1;
        }
    }
    if revised.is_empty() {
        return Ok((Revisions::new(), timers::Defaults::new()));
    }
    let orgs: Vec<Uuid> = revised.keys().map(|(org, _)| *org).collect();
    let ids: Vec<Uuid> = revised.keys().map(|(_, id)| *id).collect();
    let times: Vec<i64> = revised.values().copied().collect();
    let written = sqlx::query!(
        "UPDATE calendars SET revision = revision + revised.times,
             publication_due_at = CASE WHEN publication_due_at > 0 THEN 0 ELSE publication_due_at END
         FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS revised (org_id, id, times)
         WHERE calendars.org_id = revised.org_id AND calendars.id = revised.id AND deleted_at IS NULL
             AND (agent_id IS NULL OR EXISTS (
                 SELECT 1 FROM agents a
                 WHERE a.org_id = calendars.org_id AND a.id = calendars.agent_id AND a.status <> 'decommissioned'
             ))
         RETURNING calendars.org_id, calendars.id, calendars.revision, calendars.default_reminders",
        &orgs,
        &ids,
        &times,
    )
    .fetch_all(connection)
    .await?;
    all_written(written.len() as u64, revised.len())?;
    let (mut revisions, mut defaults) = (Revisions::new(), timers::Defaults::new());
    for row in written {
        let key = (row.org_id, row.id);
        let calendar = Located { table: "calendars", id: CalendarId::from_uuid(row.id) };
        revisions.insert(key, row.revision);
        defaults.insert(key, calendar.reminders("default_reminders", row.default_reminders.as_deref())?);
    }
    Ok((revisions, defaults))
}

async fn create_events(
    connection: &mut PgConnection,
    writes: &[EventWrite<'_>],
    revisions: &Revisions,
) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let columns = EventColumns::of(writes, revisions)?;
    let calendars: Vec<Uuid> = writes.iter().map(|write| write.event.calendar.uuid()).collect();
    let sources: Vec<&str> = writes.iter().map(|write| write.event.source.as_str()).collect();
    let created: Vec<i64> = writes.iter().map(|write| write.event.created_at.as_micros()).collect();
    let occurrences = || writes.iter().map(|write| write.event.occurrence());
    let series: Vec<Option<Uuid>> = occurrences().map(|occurrence| Some(occurrence?.series.uuid())).collect();
    let original_starts: Vec<Option<i64>> =
        occurrences().map(|occurrence| Some(occurrence?.start.as_micros())).collect();
    let hold_sets: Vec<Option<Uuid>> = writes.iter().map(|write| Some(write.event.hold_set?.uuid())).collect();
    let digests = Digests::of(writes);
    sqlx::query!(
        "WITH created AS (
             INSERT INTO events (org_id, id, calendar_id, content, start_at, end_at, all_day, status, source, reminders,
                 version, created_at, updated_at, deleted_at, busy, recurrence, reaches, series_id, original_start,
                 hold_expires_at, hold_priority, hold_scope, hold_set_id, revision, transparent, indexed_version)
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[],
                 $7::boolean[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[],
                 $14::bigint[], $15::bytea[], $16::text[], $17::bigint[], $18::uuid[], $19::bigint[], $20::bigint[],
                 $21::smallint[], $22::text[], $23::uuid[], $24::bigint[], $25::boolean[], $11::bigint[])
         )
         INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
         SELECT * FROM unnest($26::uuid[], $27::uuid[], $28::bigint[], $29::uuid[])",
        &columns.orgs,
        &columns.ids,
        &calendars,
        &columns.contents as &[&str],
        &columns.starts,
        &columns.ends,
        &columns.all_day,
        &columns.statuses as &[&str],
        &sources as &[&str],
        &columns.reminders as &[Option<String>],
        &columns.versions,
        &created,
        &columns.updated,
        &columns.deleted as &[Option<i64>],
        &columns.busy as &[Option<Vec<u8>>],
        &columns.recurrences as &[Option<String>],
        &columns.reaches as &[Option<i64>],
        &series as &[Option<Uuid>],
        &original_starts as &[Option<i64>],
        &columns.hold_expiries as &[Option<i64>],
        &columns.hold_priorities as &[Option<i16>],
        &columns.hold_scopes as &[Option<&'static str>],
        &hold_sets as &[Option<Uuid>],
        &columns.revisions,
        &columns.transparent,
        &digests.orgs,
        &digests.events,
        &digests.digests,
        &digests.calendars,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes all of an event except its calendar, its source, its creation, its series and its hold set: these never
/// change, except for the calendar of an event that moves ([`moves`]).
async fn update_events(
    connection: &mut PgConnection,
    writes: &[EventWrite<'_>],
    revisions: &Revisions,
) -> Result<(), ApplyError> {
    if writes.is_empty() {
        return Ok(());
    }
    let columns = EventColumns::of(writes, revisions)?;
    let seen: Vec<Option<i64>> = writes.iter().map(|write| write.seen.map(|seen| seen.0)).collect();
    let digests = Digests::of(writes);
    let written = sqlx::query_scalar!(
        r#"WITH written AS (
             UPDATE events SET content = row.content, start_at = row.start_at, end_at = row.end_at,
                 all_day = row.all_day, status = row.status, reminders = row.reminders, version = row.version,
                 updated_at = row.updated_at, deleted_at = row.deleted_at, busy = row.busy,
                 recurrence = row.recurrence, reaches = row.reaches, hold_expires_at = row.hold_expires_at,
                 hold_priority = row.hold_priority, hold_scope = row.hold_scope, revision = row.revision,
                 transparent = row.transparent, indexed_version = row.version
             FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[],
                     $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bytea[], $14::text[],
                     $15::bigint[], $16::bigint[], $17::smallint[], $18::text[], $19::bigint[], $20::boolean[])
                 AS row (org_id, id, seen, content, start_at, end_at, all_day, status, reminders, version, updated_at,
                     deleted_at, busy, recurrence, reaches, hold_expires_at, hold_priority, hold_scope,
                     revision, transparent)
             WHERE events.org_id = row.org_id AND events.id = row.id AND events.version = row.seen
             RETURNING events.org_id, events.id
         ), gone AS (
             DELETE FROM event_metadata m USING written
             WHERE m.org_id = written.org_id AND m.event_id = written.id AND NOT EXISTS (
                 SELECT 1 FROM unnest($21::uuid[], $22::uuid[], $23::bigint[]) AS kept (org_id, id, digest)
                 WHERE kept.org_id = m.org_id AND kept.id = m.event_id AND kept.digest = m.digest
             )
         ), added AS (
             INSERT INTO event_metadata (org_id, event_id, digest, calendar_id)
             SELECT * FROM unnest($21::uuid[], $22::uuid[], $23::bigint[], $24::uuid[])
             ON CONFLICT (org_id, event_id, digest) DO NOTHING
         )
         SELECT count(*) AS "written!" FROM written"#,
        &columns.orgs,
        &columns.ids,
        &seen as &[Option<i64>],
        &columns.contents as &[&str],
        &columns.starts,
        &columns.ends,
        &columns.all_day,
        &columns.statuses as &[&str],
        &columns.reminders as &[Option<String>],
        &columns.versions,
        &columns.updated,
        &columns.deleted as &[Option<i64>],
        &columns.busy as &[Option<Vec<u8>>],
        &columns.recurrences as &[Option<String>],
        &columns.reaches as &[Option<i64>],
        &columns.hold_expiries as &[Option<i64>],
        &columns.hold_priorities as &[Option<i16>],
        &columns.hold_scopes as &[Option<&'static str>],
        &columns.revisions,
        &columns.transparent,
        &digests.orgs,
        &digests.events,
        &digests.digests,
        &digests.calendars,
    )
    .fetch_one(connection)
    .await?;
    all_written(written.cast_unsigned(), writes.len())
}

/// The parameters that both statements on events take.
struct EventColumns<'a> {
    orgs: Vec<Uuid>,
    ids: Vec<Uuid>,
    contents: Vec<&'a str>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    busy: Vec<Option<Vec<u8>>>,
    all_day: Vec<bool>,
    statuses: Vec<&'static str>,
    reminders: Vec<Option<String>>,
    versions: Vec<i64>,
    updated: Vec<i64>,
    deleted: Vec<Option<i64>>,
    recurrences: Vec<Option<String>>,
    reaches: Vec<Option<i64>>,
    hold_expiries: Vec<Option<i64>>,
    hold_priorities: Vec<Option<i16>>,
    hold_scopes: Vec<Option<&'static str>>,
    /// The revision of each event's calendar, at which the event is written.
    revisions: Vec<i64>,
    transparent: Vec<bool>,
}

impl<'a> EventColumns<'a> {
    fn of(writes: &[EventWrite<'a>], revisions: &Revisions) -> Result<Self, ApplyError> {
        let events = || writes.iter().map(|write| write.event);
        // Every write on a calendar raises its revision, so there is one.
        let revision = |event: &Event| revisions.get(&(event.org.uuid(), event.calendar.uuid())).copied();
        Ok(Self {
            revisions: events().map(revision).collect::<Option<_>>().ok_or(ApplyError::STALE)?,
            orgs: events().map(|event| event.org.uuid()).collect(),
            ids: events().map(|event| event.id.uuid()).collect(),
            contents: writes.iter().map(|write| write.content).collect(),
            starts: events().map(|event| event.times.span.start().as_micros()).collect(),
            ends: events().map(|event| event.times.span.end().as_micros()).collect(),
            busy: events().map(|event| Some(<[u8; 16]>::from(event.busy()?).to_vec())).collect(),
            all_day: events().map(|event| event.times.all_day).collect(),
            statuses: events().map(|event| event.status.as_str()).collect(),
            reminders: events().map(|event| reminders_json(event.reminders.as_ref())).collect(),
            versions: events().map(|event| event.version.0).collect(),
            updated: events().map(|event| event.updated_at.as_micros()).collect(),
            deleted: events().map(|event| event.deleted_at.map(|at| at.as_micros())).collect(),
            recurrences: events().map(|event| event.recurrence().map(Recurrence::to_json)).collect(),
            reaches: events().map(|event| Some(reach(event.repeating()?.reaches()))).collect(),
            hold_expiries: events().map(|event| Some(event.hold?.expires_at.as_micros())).collect(),
            hold_priorities: events().map(|event| Some(event.hold?.priority.into())).collect(),
            hold_scopes: events().map(|event| Some(event.hold?.scope.as_str())).collect(),
            transparent: events().map(|event| event.transparent).collect(),
        })
    }
}

/// How far a series reaches, as stored: the largest number if it does not end.
fn reach(end: Option<Timestamp>) -> i64 {
    end.map_or(i64::MAX, Timestamp::as_micros)
}
