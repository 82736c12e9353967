//! Series: single occurrences, the exceptions that change with a series, and limits.

use kalends_calendars::{CancelError, Change, Event, EventPatch, Occurrence, ports::OwnedEvent};
use kalends_kernel::{EventId, FieldError};
use kalends_notifications::EventType;
use kalends_plans::{Feature, Metric};
use kalends_time::Timestamp;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, Guard, IfMatch, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    changed_event::ChangedEvent,
    conflicts::{Placed, Turn},
    invitations::Invited,
};

/// An occurrence and its series.
pub(crate) struct FoundOccurrence {
    pub(crate) series: OwnedEvent,
    /// The occurrence as it is now, either changed individually or as the rule generates it.
    pub(crate) event: Event,
}

/// The error for an `occurrence_start` if the event is not a series.
pub(crate) fn not_a_series() -> FieldError {
    FieldError::new("occurrence_start", "is for a series only; leave it out to delete the event itself")
}

/// Checks that the plan allows `after` if it is a series, and adds a guard if it is one more series to count. A series
/// whose recurrence does not change is not checked.
pub(crate) fn series_limits(
    actor: &Actor,
    changes: &mut ChangeSet,
    before: Option<&Event>,
    after: &Event,
    now: Timestamp,
) -> Result<(), Refusal> {
    if after.recurs_for_long() && after.repeats_otherwise_than(before) {
        actor.needs(Feature::UnboundedRecurrence)?;
    }
    if !before.is_some_and(|before| before.recurs_after(now)) {
        one_more_series(actor, changes, after, now);
    }
    Ok(())
}

/// Adds a guard that the plan allows one more series to count, if `after` counts.
pub(crate) fn one_more_series(actor: &Actor, changes: &mut ChangeSet, after: &Event, now: Timestamp) {
    if let Some(limit) = actor.limit(Metric::RecurringEvents)
        && after.recurs_after(now)
    {
        let guard = Guard::SeriesAtMost { limit, now };
        if !changes.guards.contains(&guard) {
            changes.guards.push(guard);
        }
    }
}

impl App {
    /// The occurrence that `path` names. Stale if the series changes while it is read.
    pub(crate) async fn occurrence(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        occurrence: Occurrence,
    ) -> Result<FoundOccurrence, Attempt> {
        let series = self.owned_event(actor, path, occurrence.series).await?;
        let overridden = series.event.recurrence().map_or(&[][..], |recurrence| recurrence.overridden());
        let event = if overridden.binary_search(&occurrence.start).is_ok() {
            self.parts.store.find_override(actor.org(), occurrence).await?.ok_or(Attempt::Stale)?
        } else {
            series.event.instance(occurrence.start).ok_or_else(|| path.missing())?
        };
        Ok(FoundOccurrence { series, event })
    }

    /// Deletes the overrides that a series no longer has. The version of the series guards that the list is complete,
    /// because every write of an override raises it.
    pub(crate) async fn drop_overrides(
        &self,
        changes: &mut ChangeSet,
        before: &Event,
        after: &Event,
        now: Timestamp,
    ) -> Result<(), Attempt> {
        let dropped = before.overrides_dropped_by(after);
        if dropped.is_empty() {
            return Ok(());
        }
        for event in self.overrides(before).await? {
            if event.occurrence().is_some_and(|occurrence| dropped.binary_search(&occurrence.start).is_ok()) {
                changes.calendars.push(Change::UpdateEvent { event: event.deleted(now)?, seen: event.version });
            }
        }
        Ok(())
    }

    /// The overrides of a series, all of which it names. Stale if the series changed since it was read.
    pub(crate) async fn overrides(&self, series: &Event) -> Result<Vec<Event>, Attempt> {
        let named = series.recurrence().map_or(&[][..], |recurrence| recurrence.overridden());
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.parts.store.list_overrides(series.org, series.id).await?;
        let starts = rows.iter().filter_map(|row| row.occurrence()).map(|occurrence| occurrence.start);
        if starts.eq(named.iter().copied()) { Ok(rows) } else { Err(Attempt::Stale) }
    }

    /// Changes one occurrence, which becomes an override.
    pub(crate) async fn update_occurrence(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        occurrence: Occurrence,
        patch: EventPatch,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        let turn = Turn::new();
        let changed = retry_stale(|| async {
            let FoundOccurrence { series: OwnedEvent { event: seen, agent, .. }, event: seen_occurrence } =
                self.occurrence(actor, path, occurrence).await?;
            if_match.check(seen_occurrence.version)?;
            let calendar = self.parts.store.find_calendar(actor.org(), seen.calendar).await?;
            let calendar = calendar.ok_or_else(|| path.missing())?;
            let now = self.now();
            let id = EventId::new(now, self.entropy());
            let (series, changed) =
                seen.with_occurrence_patched(&seen_occurrence, id, patch.clone(), calendar.zone, now)?;
            let changed = self.linked(changed, patch.send_invitations);
            self.know_agents(actor, &seen_occurrence.attendees, &changed.attendees).await?;
            let mut changes = ChangeSet::new(actor.org());
            let placed = Placed {
                before: Some(&seen_occurrence),
                row: Some(&seen),
                ..Placed::new(&calendar, &changed, patch.if_free)
            };
            self.require_free(actor, &placed, &turn, now, &mut changes).await?;
            let as_of = patch.if_as_of.as_ref();
            self.require_unchanged(actor, as_of, (&changed, Some(&seen_occurrence)), now, &mut changes).await?;
            if patch.send_invitations {
                let before = Some(&seen_occurrence);
                let invited = Invited { before, event: &changed, series: Some(&series), overrides: &[] };
                self.invite(actor, invited, now, &mut changes).await?;
            }
            changes.calendars.push(Change::UpdateEvent { event: series, seen: seen.version });
            changes.calendars.push(if changed.id == id {
                Change::CreateEvent(changed.clone())
            } else {
                Change::UpdateEvent { event: changed.clone(), seen: seen_occurrence.version }
            });
            let (resource, about, zone) = (occurrence.to_string(), EventType::EventUpdated, Some(calendar.zone));
            let publication = Some((&calendar).into());
            let changed = ChangedEvent { event: changed, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, changed).await
    }

    /// Deletes one occurrence. The series then has an exdate for it.
    pub(crate) async fn delete_occurrence(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        occurrence: Occurrence,
        send_invitations: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<()>, Refusal> {
        retry_stale(|| async {
            let found = self.occurrence(actor, path, occurrence).await?;
            if_match.check(found.event.version)?;
            let now = self.now();
            let (mut changes, series) = self.without(actor, &found.series.event, occurrence, now).await?;
            let gone = found.event.deleted(now)?;
            if send_invitations {
                let before = Some(&found.event);
                let invited = Invited { before, event: &gone, series: Some(&series), overrides: &[] };
                self.invite(actor, invited, now, &mut changes).await?;
            }
            let resource = kalends_wire::Event::from(gone);
            let message = self.message(actor.org(), EventType::EventDeleted, &resource, series.version, now);
            let changes = ChangeSet { messages: vec![message], ..changes };
            self.commit_for(
                actor,
                found.series.agent,
                occurrence.to_string(),
                changes,
                Answered::nothing(&actor.request),
            )
            .await
        })
        .await
    }

    /// Cancels one occurrence and returns the series.
    pub(crate) async fn cancel_occurrence(
        &self,
        actor: &Actor,
        path: EventPath<'_>,
        occurrence: Occurrence,
        send_invitations: bool,
        if_match: &IfMatch,
    ) -> Result<Answered<kalends_wire::Event>, Refusal> {
        retry_stale(|| async {
            let OwnedEvent { event: seen, agent, .. } = self.owned_event(actor, path, occurrence.series).await?;
            if seen.recurrence().is_none() {
                return Err(not_a_series().into());
            }
            if_match.check(seen.version)?;
            let now = self.now();
            let (mut changes, series) = self.without(actor, &seen, occurrence, now).await?;
            if send_invitations {
                let before = self.occurrence(actor, path, occurrence).await?.event;
                let gone = before.deleted(now)?;
                let invited = Invited { before: Some(&before), event: &gone, series: Some(&series), overrides: &[] };
                self.invite(actor, invited, now, &mut changes).await?;
            }
            let (id, version) = (series.id, series.version);
            let calendar = self.parts.store.find_calendar(actor.org(), seen.calendar).await?;
            let calendar = calendar.ok_or_else(|| path.missing())?;
            let sync = self.sync_of(Some((&calendar).into()), &series).await?;
            let mut resource =
                self.announced(series, EventType::EventUpdated, now, &mut changes).with_external_sync(sync);
            if actor.request.local {
                resource = resource.with_local(calendar.zone);
            }
            // The operation answers 204 if it deletes. Here it answers 200, because it returns the series.
            let answer = Answered::with_status(200, resource, Some(version));
            self.commit_for(actor, agent, id.to_string(), changes, answer).await
        })
        .await
    }

    /// The writes that remove an occurrence from a series, and the resulting series.
    async fn without(
        &self,
        actor: &Actor,
        seen: &Event,
        occurrence: Occurrence,
        now: Timestamp,
    ) -> Result<(ChangeSet, Event), Attempt> {
        let series = seen.without_occurrence(occurrence.start, now).map_err(|error| match error {
            CancelError::NoSuchOccurrence => Refusal::missing(Missing::Event, &occurrence.to_string()),
            CancelError::Event(error) => error.into(),
        })?;
        let mut changes = ChangeSet::new(actor.org());
        changes.calendars.push(Change::UpdateEvent { event: series.clone(), seen: seen.version });
        self.drop_overrides(&mut changes, seen, &series, now).await?;
        Ok((changes, series))
    }
}
