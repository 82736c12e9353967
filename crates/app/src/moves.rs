//! Moving events between calendars.

use kalends_calendars::{Calendar, Change, ChangedSeries, Event, EventError, HoldScope, ports::OwnedEvent};
use kalends_kernel::{EventId, FieldError, FieldErrors};
use kalends_notifications::EventType;
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, EventPath, IfMatch, Refusal,
    attempt::{Attempt, retry_stale},
    changed_event::ChangedEvent,
    conflicts::{Placed, Turn},
    event_path::Named,
    local::shown_in,
    series_scopes::override_writes,
};

impl App {
    /// Moves an event, or a series with its overrides, to another calendar of the organization. It keeps its
    /// identifier. An event that is there already stays as it is.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for the event or the calendar; [`Refusal::OutOfReach`] if the key reaches only one of the
    /// calendars; [`Refusal::ReadOnly`], [`Refusal::Stale`]; [`Refusal::Invalid`] for an instance of a series;
    /// [`Refusal::Hold`] for an expired hold; [`Refusal::SlotTaken`] if its time must be free there, or it is a hold.
    pub async fn move_event(
        &self,
        actor: &Actor,
        id: &str,
        to: &wire::MoveEvent,
        if_match: &IfMatch,
    ) -> Result<Answered<wire::Event>, Refusal> {
        let path = EventPath { calendar: None, id };
        let id = match path.named()? {
            Named::Event(id) => id,
            Named::Occurrence(occurrence) => return Err(moves_with_its_series(occurrence.series).into()),
        };
        let _turn = self.changing.lock([id]).await;
        let turn = Turn::new();
        let moved = retry_stale(|| async {
            let OwnedEvent { event: seen, .. } = self.owned_event(actor, path, id).await?;
            if_match.check(seen.version)?;
            let calendar = self.calendar(actor, &to.calendar_id).await?;
            let (now, agent) = (self.now(), calendar.agent);
            let mut changes = ChangeSet::new(actor.org());
            if calendar.id == seen.calendar {
                let (resource, version) = (seen.id.to_string(), seen.version);
                let event = seen.at(now);
                let sync = self.sync_of(Some((&calendar).into()), &event).await?;
                let event = wire::Event::from(event).with_external_sync(sync);
                let answer = Answered::shows(&actor.request, shown_in(actor, event, calendar.zone), Some(version));
                return self.commit_for(actor, agent, resource, changes, answer).await;
            }
            let ChangedSeries { series: event, overrides } = self.on_calendar(&seen, &calendar, now).await?;
            if let Ok(hold) = event.live_hold(now) {
                if hold.scope == HoldScope::Agent && agent.is_none() {
                    return Err(needs_an_agent().into());
                }
                // A hold must fit there too.
                self.fit(actor, (&event, agent), (hold, None), Some(&seen), now, &mut changes).await?;
            }
            let placed = Placed {
                before: Some(&seen),
                row: Some(&seen),
                overrides: &overrides,
                ..Placed::new(&calendar, &event, to.if_free)
            };
            self.require_free(actor, &placed, &turn, now, &mut changes).await?;
            changes.calendars.push(Change::update(&seen, event.clone()));
            changes.calendars.extend(override_writes(overrides, now)?);
            let (resource, about, zone) = (event.id.to_string(), EventType::EventUpdated, Some(calendar.zone));
            let (event, publication) = (event.at(now), Some((&calendar).into()));
            let changed = ChangedEvent { event, about, resource, agent, zone, publication };
            self.commit_event(actor, changed, now, changes).await
        })
        .await;
        drop(turn);
        self.with_nearest_free(actor, moved).await
    }

    /// An event or series on another calendar. Stale if its own calendar is no longer visible.
    pub(crate) async fn on_calendar(
        &self,
        event: &Event,
        calendar: &Calendar,
        now: Timestamp,
    ) -> Result<ChangedSeries, Attempt> {
        let left = self.parts.store.find_calendar(event.org, event.calendar).await?.ok_or(Attempt::Stale)?;
        let rows = self.overrides(event).await?;
        let mut next_id = || EventId::new(now, self.entropy());
        Ok(event.moved_to_calendar(rows, left.zone, calendar, now, &mut next_id).map_err(about_calendar)?)
    }
}

fn moves_with_its_series(series: EventId) -> FieldError {
    let message = format!("is an instance of a series, which moves as a whole; move {series} instead");
    FieldError::new("id", message)
}

fn needs_an_agent() -> FieldError {
    let message = "must be a calendar of an agent: the hold has scope agent, so it must fit all calendars of its agent";
    FieldError::new("calendar_id", message)
}

/// The request names only the calendar, so its zone is what is wrong with the times.
fn about_calendar(error: EventError) -> EventError {
    match error {
        EventError::Invalid(errors) => {
            let reason = errors.first().message;
            let message =
                format!("must be in a zone in which the event can take place on its dates: the event {reason}");
            EventError::Invalid(FieldErrors::from(FieldError::new("calendar_id", message)))
        }
        error => error,
    }
}
