//! Importing third-party iCalendar files as native events, for example to move a calendar to Kalends.
//!
//! A file is read and compared like a feed (`syncing`), with what was imported into the calendar before. So importing
//! the same file again changes only what is different in it. An event in the file replaces or cancels an earlier import
//! of the same event. Events that are not in the file are not deleted.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use kalends_calendars::{Calendar, Change as Write, Event, EventSource};
use kalends_feeds::{
    Change, Origin,
    read::{Context, What},
    sync::{Chunk, Counts, Ending, ItemKey, KnownItem, KnownItems, Planned},
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

/// What the calendar refused, because something else blocks the time.
#[derive(Default)]
struct Refused {
    events: Vec<wire::RefusedEvent>,
    /// The new series among them. Their overrides are not written either.
    series: BTreeSet<EventId>,
}

/// The result of writing a chunk.
struct Taken {
    counts: Counts,
    refused: Refused,
}

impl App {
    /// Imports a file into a calendar: its events become native events, up to 500 in a change-set. Each new event
    /// counts as if a request had created it; a series counts once. Events that a calendar refuses because their time is
    /// taken are reported and not written. What was committed before a refusal stays, and is
    /// recognized when the file is imported again.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Invalid`] if it is not an iCalendar file; [`Refusal::LimitReached`];
    /// [`Refusal::PlanRequired`] for a long-running series.
    pub async fn import_calendar(
        &self,
        actor: &Actor,
        id: &str,
        file: Bytes,
    ) -> Result<Answered<wire::ImportReport>, Refusal> {
        let calendar = self.calendar(actor, id).await?;
        let origin = Origin::Files(calendar.id);
        let known: KnownItems = self.parts.store.known_items(actor.org(), origin).await?.into_iter().collect();
        let context = Context { calendar_zone: calendar.zone, now: self.now() };
        let compared = self.read_and_compare(origin, file, context, known, true).await;
        let Compared { diff, mut report, withheld: _ } =
            compared.map_err(|error| FieldError::new("body", error.to_string()))?;
        report.counts.untouched = diff.untouched;
        // New series: no occurrence of them can have been changed here.
        let fresh: BTreeSet<EventId> =
            diff.chunks.iter().flat_map(|chunk| &chunk.planned).filter_map(fresh_series).collect();
        let mut refused = Refused::default();
        for chunk in &diff.chunks {
            let turn = Turn::new();
            let taken =
                retry_stale(|| self.take_over(actor, &calendar, chunk, (&fresh, &refused.series), &turn)).await?;
            report.counts.created += taken.counts.created;
            report.counts.updated += taken.counts.updated;
            refused.events.extend(taken.refused.events);
            refused.series.extend(taken.refused.series);
        }
        let answer = wire::ImportReport::new(report, refused.events);
        let answer = Answered::shows(&actor.request, answer, None);
        let done = ChangeSet::new(actor.org());
        let committed = self.commit_for(actor, calendar.agent, calendar.id.to_string(), done, answer).await;
        committed.map_err(Attempt::into_refusal)
    }

    /// Writes items of a file as native events, all or none of them. Items whose time the calendar refuses are left
    /// out, and so are the occurrences of series that it refused.
    async fn take_over<'a>(
        &'a self,
        actor: &Actor,
        calendar: &Calendar,
        chunk: &Chunk,
        (fresh, refused_series): (&BTreeSet<EventId>, &BTreeSet<EventId>),
        turn: &Turn<'a>,
    ) -> Result<Taken, Attempt> {
        let (org, now) = (actor.org(), self.now());
        let known = chunk.planned.iter().filter(|planned| !planned.is_new).map(|planned| planned.known.event);
        let former = chunk.former.iter().map(|former| former.known.event);
        let seen = self.seen_events(calendar, &known.chain(former).collect::<Vec<_>>()).await?;
        let (mut changes, mut counts, mut charged) = (ChangeSet::new(org), Counts::default(), 0_u32);
        let mut items: Vec<KnownItem> = Vec::with_capacity(chunk.len());
        let (mut written, mut refused) = (Written::default(), Refused::default());
        for former in &chunk.former {
            let seen = seen.get(&former.known.event);
            let ends = |seen: &&Event| matches!(former.applied_to(seen, now), Ending::Deleted(_) | Ending::Cancelled);
            seen.filter(ends).into_iter().for_each(|seen| written.end(seen));
        }
        for planned in &chunk.planned {
            let series = planned.occurrence.map(|occurrence| occurrence.series);
            if series.is_some_and(|series| refused_series.contains(&series) || refused.series.contains(&series)) {
                continue;
            }
            let before = match seen.get(&planned.known.event) {
                Some(seen) => Some(seen.clone()),
                // It was deleted after the file was compared.
                None if !planned.is_new => return Err(Attempt::Stale),
                None => self.changed_here(calendar, planned, fresh).await?,
            };
            let (event, about) = match &before {
                Some(seen) => (planned.updated(seen, now), EventType::EventUpdated),
                // An occurrence belongs to a series that was announced before. It is announced like one that a
                // request changes.
                None if planned.occurrence.is_some() => {
                    (planned.created(calendar, EventSource::Internal, now), EventType::EventUpdated)
                }
                None => (planned.created(calendar, EventSource::Internal, now), EventType::EventCreated),
            };
            let placed = Placed {
                calendar,
                event: &event,
                before: before.as_ref(),
                // If it changed since it was read, the commit is stale.
                row: None,
                if_free: false,
                written: &written,
            };
            match self.require_free(&placed, turn, now, &mut changes).await {
                Ok(()) => written.add(before.as_ref(), &event),
                Err(Attempt::Refused(Refusal::SlotTaken(found))) => {
                    refused.series.extend(event.recurrence().filter(|_| before.is_none()).map(|_| event.id));
                    refused.events.push(wire::RefusedEvent::new(&planned.item.uid, &event, found.conflicts));
                    continue;
                }
                Err(other) => return Err(other),
            }
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
        if charged > 0 {
            limit(actor, &mut changes, Metric::Events, charged.into(), now);
        }
        let keys = self.end_items(&mut changes, chunk, &seen, &mut items, &mut counts, now).await?;
        let origin = Origin::Files(calendar.id);
        if !keys.is_empty() {
            changes.feeds.push(Change::ForgetItems { org, origin, keys });
        }
        changes.feeds.push(Change::KeepItems { org, origin, items });
        self.store_changes(changes).await.map_err(|error| self.refused_commit(error))?;
        Ok(Taken { counts, refused })
    }

    /// Deletes or cancels former items that the file replaces or ends without containing a new version of them.
    /// Returns the keys to forget.
    async fn end_items(
        &self,
        changes: &mut ChangeSet,
        chunk: &Chunk,
        seen: &BTreeMap<EventId, Event>,
        items: &mut Vec<KnownItem>,
        counts: &mut Counts,
        now: Timestamp,
    ) -> Result<Vec<ItemKey>, Attempt> {
        let mut forgotten = Vec::new();
        for former in &chunk.former {
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
