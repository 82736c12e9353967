//! Taking the writes of a run back.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::{Calendar, ChangedOverride, Event, HoldScope};
use kalends_kernel::{CalendarId, EventId, HoldSetId, ProposalId};
use kalends_notifications::EventType;
use kalends_proposals::{CancelReason, Change as Proposed, Proposal};
use kalends_runs::{
    Change as Journaled, Kept, Reason, Resource, RunKey, Step, Written as WrittenByRun, collapse, undo_event,
    undo_proposal,
};
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Guard, Missing, Refusal,
    attempt::{Attempt, retry_stale},
    conflicts::{Placed, Turn},
    invitations::InvitedSeries,
    refusal::InTheWay,
    rewrites::{Rewrite, Undoing, blocking},
    runs::{events_of, resource_type, shown_id},
    series::series_limits,
};

/// What a run wrote and is not taken back yet, with the current state of it.
struct Found {
    /// How many writes these are.
    pending: u64,
    written: Vec<WrittenByRun>,
    kept: Vec<Kept>,
    proposals: BTreeMap<ProposalId, Proposal>,
    /// The calendars of the events, before the run and now, as far as they are visible.
    calendars: BTreeMap<CalendarId, Calendar>,
}

impl App {
    /// Takes all writes of a run back that are not taken back yet, or none of them.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::OutOfReach`] if the caller may not change one of the resources;
    /// [`Refusal::InTheWay`] if something else has changed one of them, or its time must be free and is not;
    /// [`Refusal::PlanRequired`] and [`Refusal::LimitReached`] for a series that comes back; [`Refusal::Unverified`] and
    /// [`Refusal::Invalid`] for emails to attendees; [`Refusal::PlacedHolds`] for holds that come back on calendars of
    /// others.
    pub async fn undo_run(
        &self,
        actor: &Actor,
        name: &str,
        agent: Option<&str>,
        send_invitations: bool,
    ) -> Result<Answered<wire::UndoneRun>, Refusal> {
        let run = self.run_key(actor, name, agent).await?;
        let entries = self.parts.store.run_writes(actor.org(), &run).await?;
        let _turn = self.changing.lock(events_of(&entries)).await;
        let turn = Turn::new();
        retry_stale(|| async {
            let found = self.written_by(actor, &run).await?;
            let now = self.now();
            let steps: Vec<(Resource, Step)> =
                found.written.iter().map(|written| (written.resource, found.step(written, now))).collect();
            let mut in_the_way: Vec<InTheWay> = steps.iter().filter_map(|step| found.blocked(step)).collect();
            let mut changes = ChangeSet::new(actor.org());
            let mut rewrites = found.rewrites(&steps, now)?;
            if send_invitations {
                rewrites.iter_mut().for_each(|rewrite| rewrite.link(self));
            }
            changes.calendars.extend(rewrites.iter().map(Rewrite::change));
            for rewrite in &mut rewrites {
                if !rewrite.comes_back() {
                    continue;
                }
                let Event { org, id, .. } = rewrite.current;
                let count = self.parts.store.count_guests(org, id).await?;
                rewrite.is_booked = count > 0;
                if rewrite.is_booked {
                    // A guest may cancel although the event is gone.
                    changes.guards.push(Guard::Guests { event: id, count });
                }
                if !rewrite.is_booked && self.parts.store.count_bookings(org, id).await? > 0 {
                    // All guests have cancelled.
                    in_the_way.push(found.in_the_way(rewrite.resource, Reason::Changed));
                }
            }
            let cancelled = found.cancelled(&steps);
            let undoing = Undoing { rewrites: &rewrites, cancelled: &cancelled, calendars: &found.calendars, now };
            for rewrite in &rewrites {
                if rewrite.after.deleted_at.is_some() {
                    continue;
                }
                let before = Some(&rewrite.current).filter(|current| current.deleted_at.is_none());
                series_limits(actor, &mut changes, before, &rewrite.after, now)?;
                if self.is_taken(actor, rewrite, &undoing, &turn, &mut changes).await? {
                    in_the_way.push(found.in_the_way(rewrite.resource, Reason::TimeTaken));
                }
            }
            if !in_the_way.is_empty() {
                return Err(Refusal::InTheWay { run: run.name.clone(), resources: in_the_way }.into());
            }
            self.check_placed(actor.org(), &undoing, &mut changes).await?;
            for rewrite in &rewrites {
                self.announce_rewrite(rewrite, &undoing, &mut changes);
                if send_invitations && rewrite.is_sent() {
                    self.invite_again(actor, rewrite, &undoing, &mut changes).await?;
                }
            }
            for (resource, step) in &steps {
                if let (Resource::Proposal(id), Step::Cancel) = (resource, step)
                    && let Some(seen) = found.proposals.get(id)
                {
                    let reason = CancelReason::OrganizerCancelled;
                    let proposal = self.add_cancellation(seen, reason, now, &mut changes).await?;
                    changes.proposals.push(Proposed::update(seen, proposal).map_err(|_| Attempt::Stale)?);
                }
            }
            if found.pending > 0 {
                changes.runs.push(Journaled::Undo { run: run.clone(), count: found.pending, at: now });
            }
            let undone = steps.iter().filter_map(|step| found.undone(step)).collect();
            let resource = wire::UndoneRun { name: run.name.to_string(), undone };
            let answer = Answered::shows(&actor.request, resource, None);
            self.commit_for(actor, run.owner, run.name.to_string(), changes, answer).await
        })
        .await
    }

    /// Reads what a run wrote. The caller must reach all of it.
    async fn written_by(&self, actor: &Actor, run: &RunKey) -> Result<Found, Refusal> {
        let org = actor.org();
        let entries = self.parts.store.run_writes(org, run).await?;
        if entries.is_empty() {
            return Err(Refusal::missing(Missing::Run, run.name.as_str()));
        }
        let pending: Vec<_> = entries.into_iter().filter(|entry| entry.undone_at.is_none()).collect();
        let written = collapse(&pending);
        let events = events_of(&pending);
        let kept = if events.is_empty() { Vec::new() } else { self.parts.store.kept_events(org, &events).await? };
        let (mut proposals, mut calendars) = (BTreeMap::new(), BTreeMap::new());
        for resource in written.iter().map(|written| written.resource) {
            if let Resource::Proposal(id) = resource
                && let Some(proposal) = self.parts.store.find_proposal(org, id).await?
            {
                actor.for_agent(Some(proposal.organizer()))?;
                proposals.insert(id, proposal);
            }
        }
        let before = written.iter().filter_map(|written| written.before.as_deref());
        let events: Vec<&Event> = before.chain(kept.iter().map(|kept| &kept.event)).collect();
        let mut wanted: Vec<CalendarId> = events.iter().map(|event| event.calendar).collect();
        wanted.sort_unstable();
        wanted.dedup();
        // The sets of which something is on calendars of others.
        let mut sets: BTreeSet<Option<HoldSetId>> = BTreeSet::new();
        for id in wanted {
            if let Some(calendar) = self.parts.store.find_calendar(org, id).await? {
                if !actor.sees_all_of(calendar.agent) {
                    let there = events.iter().filter(|event| event.calendar == id);
                    sets.extend(there.map(|event| event.hold_set));
                }
                calendars.insert(id, calendar);
            }
        }
        let of_others = kept.iter().filter(|kept| !actor.sees_all_of(kept.agent));
        sets.extend(of_others.map(|kept| kept.event.hold_set));
        for set in sets {
            self.require_placed(actor, set).await?;
        }
        Ok(Found { pending: pending.len() as u64, written, kept, proposals, calendars })
    }

    /// Whether something blocks a time that must be free for the event: the calendar refuses conflicts, it is a hold, or
    /// it comes back for a guest who booked it. Adds guards against anything else being scheduled there. Other events of
    /// the run count as they are after the undo, unless they were there together before the run.
    async fn is_taken<'a>(
        &'a self,
        actor: &Actor,
        rewrite: &Rewrite,
        undoing: &Undoing<'_>,
        turn: &Turn<'a>,
        changes: &mut ChangeSet,
    ) -> Result<bool, Attempt> {
        let Rewrite { current, after, .. } = rewrite;
        let Undoing { calendars, now, .. } = *undoing;
        let hold = after.live_hold(now).ok();
        let was_held = current.deleted_at.is_none() && current.live_hold(now).is_ok();
        if hold.is_some() && was_held && (current.times, current.calendar) == (after.times, after.calendar) {
            return Ok(false);
        }
        let mut places: Vec<Calendar> = calendars.get(&after.calendar).cloned().into_iter().collect();
        let agent = places.first().and_then(|calendar| calendar.agent);
        if let (Some(HoldScope::Agent), Some(agent)) = (hold.map(|hold| hold.scope), agent) {
            let sources = self.parts.store.sources_of_agents(after.org, &[agent]).await?;
            let count = u64::try_from(sources.len()).unwrap_or(u64::MAX);
            changes.guards.push(Guard::CalendarsOfAgent { agent, count });
            for source in sources.iter().filter(|source| source.calendar != after.calendar) {
                let other = self.parts.store.find_calendar(after.org, source.calendar).await?;
                places.push(other.ok_or(Attempt::Stale)?);
            }
        }
        let blocking = blocking(after, now);
        let before = Some(current).filter(|current| current.deleted_at.is_none());
        for calendar in &places {
            let written = undoing.others(rewrite, calendar.id);
            let placed = Placed {
                before,
                row: before.filter(|current| current.occurrence().is_none()),
                written: &written,
                ..Placed::new(calendar, &blocking, hold.is_some() || rewrite.is_booked)
            };
            match self.require_free(actor, &placed, turn, now, changes).await {
                Ok(()) => {}
                Err(Attempt::Refused(Refusal::SlotTaken(_))) => return Ok(true),
                Err(other) => return Err(other),
            }
        }
        Ok(false)
    }

    /// Adds the emails to the attendees of an event or series that an undo changes, with its overrides.
    async fn invite_again(
        &self,
        actor: &Actor,
        rewrite: &Rewrite,
        undoing: &Undoing<'_>,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let before = Some(&rewrite.current).filter(|current| current.deleted_at.is_none());
        let mut rows = match before {
            Some(current) => self.overrides(current).await?,
            None => Vec::new(),
        };
        let of_series = |other: &&Rewrite| {
            other.current.occurrence().is_some_and(|occurrence| occurrence.series == rewrite.current.id)
        };
        let mut changed = Vec::new();
        for Rewrite { current, after, .. } in undoing.rewrites.iter().filter(of_series) {
            if rows.iter().all(|row| row.id != current.id) {
                rows.push(current.clone());
            }
            let after = Some(after.clone()).filter(|after| after.deleted_at.is_none());
            changed.push(ChangedOverride { before: current.clone(), after });
        }
        let invited = InvitedSeries { before, event: &rewrite.after, rows, changed: &changed };
        self.invite_to_series(actor, invited, undoing.now, changes).await
    }

    /// Adds the message about an event that an undo changes: what happens to it in the eyes of a subscriber. An override
    /// that goes leaves the occurrence of its series.
    fn announce_rewrite(&self, rewrite: &Rewrite, undoing: &Undoing<'_>, changes: &mut ChangeSet) {
        let Rewrite { current, after, .. } = rewrite;
        let now = undoing.now;
        if let Some(occurrence) = after.occurrence() {
            let series = undoing.rewrites.iter().find(|other| other.after.id == occurrence.series);
            let series = series.map(|series| &series.after).filter(|series| series.deleted_at.is_none());
            let shown = match (after.deleted_at, series) {
                (None, Some(_)) => Some(after.clone()),
                (Some(_), Some(series)) => series.instance(occurrence.start),
                // The message about the series is enough.
                (_, None) => None,
            };
            if let Some(event) = shown {
                self.announced(event, EventType::EventUpdated, now, changes);
            }
            return;
        }
        let about = match (current.deleted_at, after.deleted_at) {
            (_, Some(_)) => EventType::EventDeleted,
            (Some(_), None) if after.live_hold(now).is_ok() => EventType::EventHoldCreated,
            (Some(_), None) => EventType::EventCreated,
            (None, None) => EventType::EventUpdated,
        };
        self.announced(after.clone().at(now), about, now, changes);
    }
}

impl Found {
    fn current(&self, id: EventId) -> Option<&Event> {
        self.kept.iter().map(|kept| &kept.event).find(|event| event.id == id)
    }

    fn step(&self, written: &WrittenByRun, now: Timestamp) -> Step {
        match written.resource {
            Resource::Event(id) => {
                undo_event(written, self.current(id), |calendar| self.calendars.contains_key(&calendar), now)
            }
            Resource::Proposal(id) => undo_proposal(written, self.proposals.get(&id), now),
        }
    }

    fn rewrites(&self, steps: &[(Resource, Step)], now: Timestamp) -> Result<Vec<Rewrite>, Refusal> {
        let mut rewrites = Vec::new();
        for (resource, step) in steps {
            let Resource::Event(id) = resource else { continue };
            let Some(current) = self.current(*id) else { continue };
            let after = match step {
                Step::Remove => current.deleted(now)?,
                Step::Restore(event) => Event::clone(event),
                Step::Nothing | Step::Cancel | Step::Blocked(_) => continue,
            };
            let written = self.written.iter().find(|written| written.resource == *resource);
            let stood = written.and_then(|written| Some((written.before.as_ref()?.updated_at, written.since)));
            rewrites.push(Rewrite { resource: *resource, current: current.clone(), after, stood, is_booked: false });
        }
        Ok(rewrites)
    }

    /// The proposals that the steps cancel.
    fn cancelled(&self, steps: &[(Resource, Step)]) -> Vec<&Proposal> {
        let cancelled = steps.iter().filter_map(|step| match step {
            (Resource::Proposal(id), Step::Cancel) => self.proposals.get(id),
            _ => None,
        });
        cancelled.collect()
    }

    fn in_the_way(&self, resource: Resource, reason: Reason) -> InTheWay {
        InTheWay { resource, id: shown_id(resource, &self.kept), reason }
    }

    fn blocked(&self, (resource, step): &(Resource, Step)) -> Option<InTheWay> {
        match step {
            Step::Blocked(reason) => Some(self.in_the_way(*resource, *reason)),
            Step::Nothing | Step::Remove | Step::Restore(_) | Step::Cancel => None,
        }
    }

    fn undone(&self, (resource, step): &(Resource, Step)) -> Option<wire::UndoneResource> {
        let action = match step {
            Step::Remove => wire::UndoAction::Removed,
            Step::Restore(_) => wire::UndoAction::Restored,
            Step::Cancel => wire::UndoAction::Cancelled,
            Step::Nothing | Step::Blocked(_) => return None,
        };
        let (resource_type, resource_id) = (resource_type(*resource), shown_id(*resource, &self.kept));
        Some(wire::UndoneResource { resource_type, resource_id, action })
    }
}
