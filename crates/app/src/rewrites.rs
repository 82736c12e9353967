//! The writes of events that take a run back, and what they free and block together.

use std::collections::BTreeMap;

use kalends_calendars::{Calendar, Change, Event, EventStatus, PLACED_HOLDS_MAX};
use kalends_kernel::{AgentId, CalendarId, HoldSetId, OrgId};
use kalends_proposals::Proposal;
use kalends_runs::Resource;
use kalends_time::Timestamp;

use crate::{App, ChangeSet, Guard, Refusal, conflicts::Written};

/// The write that takes the changes of an event back.
pub(crate) struct Rewrite {
    pub(crate) resource: Resource,
    /// The event as it is stored.
    pub(crate) current: Event,
    pub(crate) after: Event,
    /// For an event that comes back or changes: since when it was as it was before the run, and until when.
    pub(crate) stood: Option<(Timestamp, Timestamp)>,
    /// Whether it comes back for a guest who booked it.
    pub(crate) is_booked: bool,
}

/// What takes a run back, as far as it concerns events.
pub(crate) struct Undoing<'a> {
    pub(crate) rewrites: &'a [Rewrite],
    /// The proposals that are cancelled.
    pub(crate) cancelled: &'a [&'a Proposal],
    pub(crate) calendars: &'a BTreeMap<CalendarId, Calendar>,
    pub(crate) now: Timestamp,
}

impl App {
    /// Refuses if an agent would have too many live holds on calendars of others, and adds guards against more of them.
    pub(crate) async fn check_placed(
        &self,
        org: OrgId,
        undoing: &Undoing<'_>,
        changes: &mut ChangeSet,
    ) -> Result<(), Refusal> {
        let Undoing { rewrites, calendars, now, .. } = *undoing;
        let mut placers: BTreeMap<HoldSetId, Option<AgentId>> = BTreeMap::new();
        // For each agent, how many of its holds come back, and how many end.
        let mut counts: BTreeMap<AgentId, (u64, u64)> = BTreeMap::new();
        for Rewrite { current, after, .. } in rewrites {
            let Some(set) = after.hold_set.or(current.hold_set) else { continue };
            let placer = match placers.get(&set) {
                Some(known) => *known,
                None => self.parts.store.placer_of_hold_set(org, set).await?,
            };
            placers.insert(set, placer);
            let Some(agent) = placer else { continue };
            let counts_for = |event: &Event| {
                let of_others = calendars.get(&event.calendar).is_some_and(|calendar| calendar.agent != Some(agent));
                of_others && event.deleted_at.is_none() && event.live_hold(now).is_ok()
            };
            let (back, ended) = counts.entry(agent).or_default();
            match (counts_for(current), counts_for(after)) {
                (false, true) => *back += 1,
                (true, false) => *ended += 1,
                (true, true) | (false, false) => {}
            }
        }
        for (agent, (back, ended)) in counts {
            if back <= ended {
                continue;
            }
            let alive = self.parts.store.count_placed_holds(org, agent, now).await?.saturating_sub(ended);
            if alive.saturating_add(back) > PLACED_HOLDS_MAX {
                return Err(Refusal::PlacedHolds { alive });
            }
            changes.guards.push(Guard::PlacedAtMost { agent, limit: PLACED_HOLDS_MAX, now });
        }
        Ok(())
    }
}

impl Rewrite {
    pub(crate) fn change(&self) -> Change {
        Change::update(&self.current, self.after.clone())
    }

    /// Whether its attendees get emails. Those of an override get them with its series, and those of a hold none.
    pub(crate) const fn is_sent(&self) -> bool {
        self.after.occurrence().is_none() && self.after.hold.is_none() && self.current.hold.is_none()
    }

    /// Whether the event was deleted, and is there again afterwards.
    pub(crate) const fn comes_back(&self) -> bool {
        self.current.deleted_at.is_some() && self.after.deleted_at.is_none()
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
