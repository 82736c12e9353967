//! Changes of an occurrence and all later ones, and of all occurrences of a series.

use std::collections::BTreeMap;

use kalends_calendars::{
    Change, ChangedOverride, ChangedSeries, Event, EventError, EventPatch, Occurrence, SeriesScope, ports::OwnedEvent,
};
use kalends_kernel::{EventId, FieldError};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_time::Timestamp;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, IfMatch, Refusal,
    as_of::NOT_FOR_SERIES,
    attempt::retry_stale,
    changed_event::ChangedEvent,
    commits::limit,
    conflicts::{Placed, Turn, Written},
    invitations::InvitedSeries,
    series::{FoundOccurrence, one_more_series, series_limits},
};

impl App {
    /// Changes all occurrences of a series, or those from `occurrence` on, which become a series of their own. `scope` is
    /// not [`SeriesScope::This`].
    pub(crate) async fn update_occurrences(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        occurrence: Occurrence,
        scope: SeriesScope,
        patch: EventPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        if patch.if_as_of.is_some() {
            return Err(FieldError::new("if_as_of", NOT_FOR_SERIES).into());
        }
        let turn = Turn::new();
        let changed = retry_stale(|| async {
            let FoundOccurrence { series: OwnedEvent { event: seen, agent, .. }, event: instance } =
                self.occurrence(actor, path, occurrence).await?;
            if_match.check(instance.version)?;
            if_match.check_series(seen.version)?;
            let calendar = self.parts.store.find_calendar(actor.org(), seen.calendar).await?;
            let calendar = calendar.ok_or_else(|| path.missing())?;
            let now = self.now();
            let mut next_id = || EventId::new(now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            let mut rows = self.overrides(&seen).await?;
            let halves = match scope {
                SeriesScope::Following => seen
                    .split(occurrence.start, next_id(), now)?
                    .map(|(ended, rest)| (self.linked(ended, patch.send_invitations), rest)),
                SeriesScope::All | SeriesScope::This => None,
            };
            let mut written = Written::default();
            if let Some((ended, _)) = &halves {
                if patch.send_invitations {
                    let invited = InvitedSeries { before: Some(&seen), event: ended, rows: rows.clone(), changed: &[] };
                    self.invite_to_series(actor, invited, now, &mut changes).await?;
                }
                rows.retain(|row| row.occurrence().is_some_and(|row| row.start >= occurrence.start));
                written.add(Some(&seen), ended);
                rows.iter().for_each(|row| written.end(row));
                changes.calendars.push(Change::UpdateEvent { event: ended.clone(), seen: seen.version });
                self.announced(ended.clone(), EventType::EventUpdated, now, &mut changes);
                limit(actor, &mut changes, Metric::Events, 1, now);
            }
            let before = halves.as_ref().map_or(&seen, |(_, rest)| rest);
            let kept = if patch.send_invitations { rows.clone() } else { Vec::new() };
            let changed = before.with_all_patched(rows, &instance, &patch, self.zones(&calendar), now, &mut next_id)?;
            let ChangedSeries { series, overrides } = changed;
            let series = self.linked(series, patch.send_invitations);
            let overrides = self.linked_overrides(overrides, patch.send_invitations);
            self.know_agents(actor, &before.attendees, &series.attendees).await?;
            series_limits(actor, &mut changes, Some(before), &series, now)?;
            if halves.as_ref().is_some_and(|(ended, _)| ended.recurs_after(now)) {
                one_more_series(actor, &mut changes, &series, now);
            }
            let placed = Placed {
                before: Some(before),
                row: Some(&seen),
                overrides: &overrides,
                written: &written,
                ..Placed::new(&calendar, &series, patch.if_free)
            };
            self.require_free(actor, &placed, &turn, now, &mut changes).await?;
            if patch.send_invitations {
                let before = halves.is_none().then_some(&seen);
                let invited = InvitedSeries { before, event: &series, rows: kept, changed: &overrides };
                self.invite_to_series(actor, invited, now, &mut changes).await?;
            }
            let (change, about) = match halves {
                Some(_) => (Change::CreateEvent(series.clone()), EventType::EventCreated),
                None => (Change::UpdateEvent { event: series.clone(), seen: seen.version }, EventType::EventUpdated),
            };
            changes.calendars.push(change);
            changes.calendars.extend(override_writes(overrides, now)?);
            let (resource, zone) = (series.id.to_string(), Some(calendar.zone));
            let publication = Some((&calendar).into());
            let changed = ChangedEvent { event: series, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, changed).await
    }

    /// Deletes all occurrences of a series, or those from `occurrence` on. `scope` is not [`SeriesScope::This`].
    pub(crate) async fn delete_occurrences(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        (occurrence, scope): (Occurrence, SeriesScope),
        send_invitations: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let found = self.occurrence(actor, path, occurrence).await?;
            if_match.check(found.event.version)?;
            if_match.check_series(found.series.event.version)?;
            let now = self.now();
            let OwnedEvent { event: seen, agent, .. } = &found.series;
            let ended = match scope {
                SeriesScope::Following => {
                    let ended = seen.ended_before(occurrence.start, now)?;
                    ended.map(|ended| self.linked(ended, send_invitations))
                }
                SeriesScope::All | SeriesScope::This => None,
            };
            let Some(ended) = ended else { return self.delete_whole(actor, &found.series, send_invitations).await };
            let mut changes = ChangeSet::new(actor.org());
            self.drop_overrides(&mut changes, seen, &ended, now).await?;
            if send_invitations {
                let rows = self.overrides(seen).await?;
                let invited = InvitedSeries { before: Some(seen), event: &ended, rows, changed: &[] };
                self.invite_to_series(actor, invited, now, &mut changes).await?;
            }
            changes.calendars.push(Change::UpdateEvent { event: ended.clone(), seen: seen.version });
            self.announced(ended, EventType::EventUpdated, now, &mut changes);
            self.commit_for(actor, *agent, seen.id.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await
    }
}

/// The writes of changed overrides. A row is written once, although one override can get the row of another.
pub(crate) fn override_writes(overrides: Vec<ChangedOverride>, now: Timestamp) -> Result<Vec<Change>, EventError> {
    let mut rows: BTreeMap<EventId, Event> = BTreeMap::new();
    let mut after = Vec::with_capacity(overrides.len());
    for changed in overrides {
        rows.insert(changed.before.id, changed.before);
        after.extend(changed.after);
    }
    let mut changes = Vec::with_capacity(rows.len());
    for event in after {
        changes.push(match rows.remove(&event.id) {
            Some(row) => Change::update(&row, event),
            None => Change::CreateEvent(event),
        });
    }
    for row in rows.into_values() {
        changes.push(Change::UpdateEvent { event: row.deleted(now)?, seen: row.version });
    }
    Ok(changes)
}
