//! Importing third-party iCalendar files as native events, for example to move a calendar to Kalends.
//!
//! A file is read and compared like a feed (`syncing`), with what was imported into the calendar before. So importing
//! the same file again changes only what is different in it. An event in the file replaces or cancels an earlier import
//! of the same event. Events that are not in the file are not deleted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use kalends_calendars::{Calendar, Change as Write, Conflicts, Event, EventSource};
use kalends_feeds::{
    Change, Origin,
    limits::REPORTED_MAX,
    read::{Context, What},
    sync::{CHUNK_MAX, Chunk, Counts, Diff, Ending, Former, ItemKey, KnownItem, KnownItems, Planned},
};
use kalends_kernel::{EventId, FieldError, Version};
use kalends_notifications::EventType;
use kalends_plans::Metric;
use kalends_time::Timestamp;
use kalends_wire as wire;

use crate::{
    Actor, Answered, App, ChangeSet, Refusal,
    attempt::{Attempt, retry_stale},
    commits::limit,
    conflicts::{Placed, Turn, Written},
    series::series_limits,
    syncing::Compared,
};

/// The series, if the file contains it for the first time.
fn fresh_series(planned: &Planned) -> Option<EventId> {
    (planned.is_new && matches!(planned.item.what, What::Series(_))).then_some(planned.known.event)
}

/// The series that the file contains for the first time: no occurrence of them can have been changed here.
pub(crate) fn fresh_in(diff: &Diff) -> BTreeSet<EventId> {
    diff.chunks.iter().flat_map(|chunk| &chunk.planned).filter_map(fresh_series).collect()
}

/// What the calendar refused, because something else blocks the time.
#[derive(Default)]
pub(crate) struct Refused {
    /// The first events, at most [`REPORTED_MAX`].
    pub(crate) events: Vec<wire::RefusedEvent>,
    pub(crate) count: u32,
    /// Nothing of the file with one of these `UID`s is written.
    pub(crate) uids: BTreeSet<Arc<str>>,
}

impl Refused {
    pub(crate) fn extend(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        let room = REPORTED_MAX.saturating_sub(self.events.len());
        self.events.extend(other.events.into_iter().take(room));
        self.uids.extend(other.uids);
    }
}

/// The result of writing a chunk.
pub(crate) struct Taken {
    pub(crate) counts: Counts,
    pub(crate) refused: Refused,
}

/// What a chunk changes, before it is written.
pub(crate) struct Decided {
    pub(crate) changes: ChangeSet,
    /// The result, once the changes are written.
    pub(crate) taken: Taken,
}

/// An item of a file, as it is about to be written.
struct Ready<'a> {
    planned: &'a Planned,
    before: Option<Event>,
    event: Event,
    about: EventType,
}

impl App {
    /// Imports a file into a calendar: its events become native events, up to 500 in a change-set. Each new event
    /// counts as if a request had created it; a series counts once. Events whose time is taken, on a calendar that
    /// refuses conflicts, are reported and not written. If an error ends the import, what was committed before stays,
    /// and is recognized when the file is imported again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Invalid`] if it is not an iCalendar file, and for a dry run of a file with more
    /// changes than fit in a change-set; [`Refusal::LimitReached`]; [`Refusal::PlanRequired`] for a long-running series.
    pub async fn import_calendar(
        &self,
        actor: &Actor,
        id: &str,
        file: Bytes,
    ) -> Result<Answered<wire::ImportReport>, Refusal> {
        let calendar = self.calendar(actor, id).await?;
        let Compared { diff, mut report, withheld: _ } = self.compared_file(actor, &calendar, file).await?;
        if actor.request.dry_run && diff.chunks.len() > 1 {
            // Each part depends on what those before it wrote.
            let message = format!(
                "is for files that change at most {CHUNK_MAX} events, including occurrences; split the file, or leave it out"
            );
            return Err(FieldError::new("dry_run", message).into());
        }
        let fresh = fresh_in(&diff);
        let mut refused = Refused::default();
        for chunk in &diff.chunks {
            let turn = Turn::new();
            let taken = retry_stale(|| self.take_over(actor, &calendar, chunk, (&fresh, &refused.uids), &turn)).await?;
            report.counts.created += taken.counts.created;
            report.counts.updated += taken.counts.updated;
            refused.extend(taken.refused);
        }
        let answer = wire::ImportReport::new(report, refused.events, refused.count);
        let answer = Answered::shows(&actor.request, answer, None);
        let done = ChangeSet::new(actor.org());
        let committed = self.commit_for(actor, calendar.agent, calendar.id.to_string(), done, answer).await;
        committed.map_err(Attempt::into_refusal)
    }

    /// Reads a file and compares it with what was imported into the calendar before. The report counts the events that
    /// are not written: the unchanged and the skipped ones.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if it is not an iCalendar file.
    pub(crate) async fn compared_file(
        &self,
        actor: &Actor,
        calendar: &Calendar,
        file: Bytes,
    ) -> Result<Compared, Refusal> {
        let origin = Origin::Files(calendar.id);
        let known: KnownItems = self.parts.store.known_items(actor.org(), origin).await?.into_iter().collect();
        let context = Context { calendar_zone: calendar.zone, now: self.now() };
        let compared = self.read_and_compare(origin, file, context, known, (true, false)).await;
        let mut compared = compared.map_err(|error| FieldError::new("body", error.to_string()))?;
        compared.report.counts.untouched = compared.diff.untouched;
        Ok(compared)
    }

    /// Writes items of a file as native events, all or none of them, except those that the calendar refuses.
    async fn take_over<'a>(
        &'a self,
        actor: &Actor,
        calendar: &Calendar,
        chunk: &Chunk,
        known: (&BTreeSet<EventId>, &BTreeSet<Arc<str>>),
        turn: &Turn<'a>,
    ) -> Result<Taken, Attempt> {
        let Decided { mut changes, taken } = self.decide(actor, calendar, chunk, known, turn).await?;
        changes.dry_run = actor.request.dry_run;
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        Ok(taken)
    }

    /// Decides what items of a file change, and writes nothing. A series and its overrides have one `UID`. If one of
    /// them is refused, none of them is written. `fresh` are the series that are new, and `refused_before` the `UID`s
    /// that earlier chunks refused.
    pub(crate) async fn decide<'a>(
        &'a self,
        actor: &Actor,
        calendar: &Calendar,
        chunk: &Chunk,
        (fresh, refused_before): (&BTreeSet<EventId>, &BTreeSet<Arc<str>>),
        turn: &Turn<'a>,
    ) -> Result<Decided, Attempt> {
        let (org, now) = (actor.org(), self.now());
        let known = chunk.planned.iter().filter(|planned| !planned.is_new).map(|planned| planned.known.event);
        let former = chunk.former.iter().map(|former| former.known.event);
        let seen = self.seen_events(calendar, &known.chain(former).collect::<Vec<_>>()).await?;
        let (mut changes, mut counts, mut charged) = (ChangeSet::new(org), Counts::default(), 0_u32);
        let mut items: Vec<KnownItem> = Vec::with_capacity(chunk.len());
        let (mut written, mut refused) = (Written::default(), Refused::default());
        let mut refused_keys: Vec<ItemKey> = Vec::new();
        // What the file only ends frees its time first.
        let is_planned =
            |former: &&Former| chunk.planned.iter().any(|planned| planned.known.key.shares_uid(former.known.key));
        let only_ended = chunk.former.iter().filter(|former| !is_planned(former));
        let only_ended = only_ended.filter_map(|former| Some((former, seen.get(&former.known.event)?)));
        only_ended.filter(|(former, seen)| former.frees(seen, now)).for_each(|(_, seen)| written.end(seen));
        for group in chunk.planned.chunk_by(|one, next| one.item.uid == next.item.uid) {
            let Some(first) = group.first() else { continue };
            if refused_before.contains(&first.item.uid) {
                refused_keys.push(first.known.key);
                continue;
            }
            let mut ready = Vec::with_capacity(group.len());
            for planned in group {
                ready.push(self.prepared(calendar, planned, &seen, fresh, now).await?);
            }
            let extent = written.extent();
            let met =
                self.met_by(actor, calendar, (&ready, chunk), &seen, (turn, now), (&mut written, &mut changes)).await?;
            if let Some(met) = met {
                written.restore(extent);
                refused_keys.push(first.known.key);
                refused.extend(Refused { events: vec![met], count: 1, uids: [Arc::clone(&first.item.uid)].into() });
                continue;
            }
            for Ready { planned, before, event, about } in ready {
                if about == EventType::EventCreated {
                    charged += 1;
                }
                series_limits(actor, &mut changes, before.as_ref(), &event, now)?;
                items.push(KnownItem { event: event.id, ..planned.known });
                if let Some(seen) = &before {
                    counts.updated += 1;
                    self.drop_overrides(&mut changes, seen, &event, now).await?;
                } else {
                    counts.created += 1;
                }
                self.announce(&mut changes, &event, about, now);
                changes.calendars.push(match before {
                    Some(seen) => Write::UpdateEvent { event, seen: seen.version },
                    None => Write::CreateEvent(event),
                });
            }
        }
        if charged > 0 {
            limit(actor, &mut changes, Metric::Events, charged.into(), now);
        }
        let is_refused = |former: &&Former| refused_keys.iter().any(|key| key.shares_uid(former.known.key));
        let former: Vec<&Former> = chunk.former.iter().filter(|former| !is_refused(former)).collect();
        let keys = self.end_items(&mut changes, &former, &seen, &mut items, &mut counts, now).await?;
        let origin = Origin::Files(calendar.id);
        if !keys.is_empty() {
            changes.feeds.push(Change::ForgetItems { org, origin, keys });
        }
        changes.feeds.push(Change::KeepItems { org, origin, items });
        Ok(Decided { changes, taken: Taken { counts, refused } })
    }

    /// An item with the event that it becomes.
    async fn prepared<'a>(
        &self,
        calendar: &Calendar,
        planned: &'a Planned,
        seen: &BTreeMap<EventId, Event>,
        fresh: &BTreeSet<EventId>,
        now: Timestamp,
    ) -> Result<Ready<'a>, Attempt> {
        let before = match seen.get(&planned.known.event) {
            Some(seen) => Some(seen.clone()),
            // It was deleted after the file was compared.
            None if !planned.is_new => return Err(Attempt::Stale),
            None => self.changed_here(calendar, planned, fresh).await?,
        };
        let (event, about) = match &before {
            Some(seen) => (planned.updated(seen, now), EventType::EventUpdated),
            // An occurrence belongs to a series that was announced before. It is announced like one that a request
            // changes.
            None if planned.occurrence.is_some() => {
                (planned.created(calendar, EventSource::Internal, now), EventType::EventUpdated)
            }
            None => (planned.created(calendar, EventSource::Internal, now), EventType::EventCreated),
        };
        Ok(Ready { planned, before, event, about })
    }

    /// What the items with one `UID` meet on a calendar that refuses conflicts. Adds them to `written`.
    async fn met_by<'a>(
        &'a self,
        actor: &Actor,
        calendar: &Calendar,
        (ready, chunk): (&[Ready<'_>], &Chunk),
        seen: &BTreeMap<EventId, Event>,
        (turn, now): (&Turn<'a>, Timestamp),
        (written, changes): (&mut Written, &mut ChangeSet),
    ) -> Result<Option<wire::RefusedEvent>, Attempt> {
        if calendar.conflicts == Conflicts::Allow {
            return Ok(None);
        }
        for former in &chunk.former {
            let is_of_it = ready.iter().any(|ready| ready.planned.known.key.shares_uid(former.known.key));
            if let Some(seen) = seen.get(&former.known.event)
                && is_of_it
                && former.frees(seen, now)
            {
                written.end(seen);
            }
        }
        for Ready { planned, before, event, .. } in ready {
            let occurrence = planned.occurrence.filter(|_| before.is_none());
            let is_here = |series| ready.iter().any(|ready| ready.event.id == series);
            if occurrence.is_some_and(|occurrence| !is_here(occurrence.series)) {
                // Its series is in an earlier chunk, and cannot be without it.
                continue;
            }
            // The occurrence as the stored series generates it.
            let generated = occurrence.and_then(|of| seen.get(&of.series)?.instance(of.start));
            let placed = Placed {
                calendar,
                event,
                before: before.as_ref().or(generated.as_ref()),
                // If it changed since it was read, the commit is stale.
                row: None,
                overrides: &[],
                if_free: false,
                written,
            };
            match self.require_free(actor, &placed, turn, now, changes).await {
                Ok(()) => written.add(before.as_ref(), event),
                Err(Attempt::Refused(Refusal::SlotTaken(found))) => {
                    return Ok(Some(wire::RefusedEvent::new(&planned.item.uid, event, found.conflicts)));
                }
                Err(other) => return Err(other),
            }
        }
        Ok(None)
    }

    /// Deletes or cancels former items that the file replaces or ends without containing a new version of them.
    /// Returns the keys to forget.
    async fn end_items(
        &self,
        changes: &mut ChangeSet,
        former: &[&Former],
        seen: &BTreeMap<EventId, Event>,
        items: &mut Vec<KnownItem>,
        counts: &mut Counts,
        now: Timestamp,
    ) -> Result<Vec<ItemKey>, Attempt> {
        let mut forgotten = Vec::new();
        for former in former {
            // It was deleted after the file was compared, so it has ended too.
            let Some(seen) = seen.get(&former.known.event) else {
                forgotten.push(former.known.key);
                continue;
            };
            match former.applied_to(seen, now) {
                Ending::Stays => {}
                Ending::OfItsSeries => forgotten.push(former.known.key),
                Ending::Deleted(event) => {
                    forgotten.push(former.known.key);
                    self.drop_overrides(changes, seen, &event, now).await?;
                    self.announce(changes, &event, EventType::EventDeleted, now);
                    changes.calendars.push(Write::UpdateEvent { event: *event, seen: seen.version });
                }
                Ending::Cancelled => {
                    items.push(former.known);
                    for (event, seen) in self.cancelled_with(seen, now).await? {
                        counts.updated += 1;
                        self.announce(changes, &event, EventType::EventUpdated, now);
                        changes.calendars.push(Write::UpdateEvent { event, seen });
                    }
                }
                Ending::CancelledWithItsSeries => items.push(former.known),
            }
        }
        Ok(forgotten)
    }

    /// The events that are cancelled with an event, including the event itself, each with the version that was read.
    /// The overrides of a series are cancelled with it. The version of the series guards that the list is complete.
    async fn cancelled_with(&self, seen: &Event, now: Timestamp) -> Result<Vec<(Event, Version)>, Attempt> {
        let mut all = vec![seen.clone()];
        if seen.recurrence().is_some_and(|recurrence| !recurrence.overridden().is_empty()) {
            all.extend(self.parts.store.list_overrides(seen.org, seen.id).await?);
        }
        let live = all.iter().filter(|event| event.takes_place());
        Ok(live.map(|event| (event.cancelled(now), event.version)).collect())
    }

    /// The existing event of a new item: an occurrence that was changed here before the file changed it.
    async fn changed_here(
        &self,
        calendar: &Calendar,
        planned: &Planned,
        fresh: &BTreeSet<EventId>,
    ) -> Result<Option<Event>, Attempt> {
        match planned.occurrence {
            Some(occurrence) if !fresh.contains(&occurrence.series) => {
                Ok(self.parts.store.find_override(calendar.org, occurrence).await?)
            }
            _ => Ok(None),
        }
    }

    fn announce(&self, changes: &mut ChangeSet, event: &Event, about: EventType, now: Timestamp) {
        let resource = wire::Event::from(event.clone());
        changes.messages.push(self.message(event.org, about, &resource, event.version, now));
    }
}
