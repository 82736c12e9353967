//! The writes of events that take a run back, and what they free and block together.

use std::collections::BTreeMap;

use kalends_calendars::{Calendar, Change, Event, EventStatus};
use kalends_kernel::CalendarId;
use kalends_proposals::Proposal;
use kalends_runs::Resource;
use kalends_time::Timestamp;

use crate::{App, conflicts::Written};

/// The write that takes the changes of an event back.
pub(crate) struct Rewrite {
    pub(crate) resource: Resource,
    /// The event as it is stored.
    pub(crate) current: Event,
    pub(crate) after: Event,
    /// For an event that comes back or changes: since when it was as it was before the run, and until when.
    pub(crate) stood: Option<(Timestamp, Timestamp)>,
}

/// What takes a run back, as far as it concerns events.
pub(crate) struct Undoing<'a> {
    pub(crate) rewrites: &'a [Rewrite],
    /// The proposals that are cancelled.
    pub(crate) cancelled: &'a [&'a Proposal],
    pub(crate) calendars: &'a BTreeMap<CalendarId, Calendar>,
    pub(crate) now: Timestamp,
}

impl Rewrite {
    pub(crate) fn change(&self) -> Change {
        Change::update(&self.current, self.after.clone())
    }

    /// Whether its attendees get emails. Those of an override get them with its series, and those of a hold none.
    pub(crate) const fn is_sent(&self) -> bool {
        self.after.occurrence().is_none() && self.after.hold.is_none() && self.current.hold.is_none()
    }

    /// Whether both events were there together before the run, or belong to one series. Then they may overlap.
    fn stood_with(&self, other: &Self) -> bool {
        let series = |event: &Event| event.occurrence().map_or(event.id, |occurrence| occurrence.series);
        let together = self.stood.zip(other.stood);
        let together = together
            .is_some_and(|((since, until), (since_too, until_too))| since.max(since_too) < until.min(until_too));
        together || series(&self.current) == series(&other.current)
    }

    /// Gives every attendee a link, if the event is there afterwards.
    pub(crate) fn link(&mut self, app: &App) {
        if self.after.deleted_at.is_none() && self.after.hold.is_none() {
            self.after = app.linked(self.after.clone(), true);
        }
    }
}

impl Undoing<'_> {
    /// What the undo writes to a calendar besides the event itself and, if it is a series, its overrides.
    pub(crate) fn others(&self, of: &Rewrite, calendar: CalendarId) -> Written {
        let mut written = Written::default();
        for other in self.rewrites {
            let Rewrite { current, after, .. } = other;
            let is_own = current.id == of.current.id
                || current.occurrence().is_some_and(|occurrence| occurrence.series == of.current.id);
            if is_own {
                continue;
            }
            if current.calendar == calendar && current.deleted_at.is_none() {
                written.end(current);
                if current.live_hold(self.now).is_ok() {
                    written.free(current);
                }
            }
            if after.calendar == calendar && after.deleted_at.is_none() && !of.stood_with(other) {
                written.add(None, &blocking(after, self.now));
            }
        }
        let own = &of.current;
        if own.calendar == calendar && own.deleted_at.is_none() && own.live_hold(self.now).is_ok() {
            written.free(own);
        }
        let reserved = self.cancelled.iter().filter_map(|proposal| proposal.reserves().remove(&calendar));
        reserved.flatten().for_each(|span| written.unreserve(span));
        written
    }
}

/// The event as it blocks at `now`: a live hold blocks its time like an event.
pub(crate) fn blocking(event: &Event, now: Timestamp) -> Event {
    if event.live_hold(now).is_err() {
        return event.clone();
    }
    Event { status: EventStatus::Confirmed, hold: None, ..event.clone() }
}
