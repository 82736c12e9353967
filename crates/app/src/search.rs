//! Searching events by words.

use std::collections::BTreeSet;

use kalends_calendars::{
    Candidate, Event, SEARCHED_MAX, SearchPosition, SearchToken, Words, finds_series, ports::SearchFilter,
};
use kalends_kernel::{CalendarId, EventId, OrgId, PAGE_BYTES_MAX};
use kalends_time::Span;
use kalends_wire::{self as wire, FirstOccurrence, FoundEvent, FoundEvents, WantedSearch};

use crate::{Actor, App, Refusal, answered::json};

/// How many events one read opens. Other requests have their turn in between.
const CHUNK: usize = 500;
/// How often a request reads. Reads of large events return fewer than they may.
const READS_MAX: usize = SEARCHED_MAX / CHUNK;
/// The largest size of the events of an answer as JSON, in bytes. The rest is for their occurrences and local times.
const FOUND_BYTES_MAX: usize = PAGE_BYTES_MAX - (128 << 10);

impl App {
    /// The events that have all words of a search, by calendar and then by start. A call opens at most
    /// [`SEARCHED_MAX`] events. An organization searches once at a time in each process, so that its searches take no
    /// more memory.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] for the calendar or the agent; [`Refusal::OutOfReach`].
    pub async fn search_events(&self, actor: &Actor, wanted: &WantedSearch) -> Result<FoundEvents, Refusal> {
        let calendar = match &wanted.calendar {
            Some(id) => Some(self.calendar(actor, id).await?.id),
            None => None,
        };
        let agent = match &wanted.agent {
            Some(id) => Some(self.agent(actor, id).await?.id),
            None => actor.narrowed_to(),
        };
        let filter = SearchFilter { calendar, agent, window: wanted.window };
        let (org, limit) = (actor.org(), wanted.limit as usize);
        let _turn = self.searching.lock([org]).await;
        let mut found: Vec<Candidate> = Vec::new();
        let mut after = wanted.cursor.map(|cursor| cursor.after);
        let (mut reads, mut bytes, mut more) = (0, 0, true);
        while more && found.len() < limit && reads < READS_MAX {
            let read = self.parts.store.events_to_search(org, filter, after, CHUNK).await?;
            more = read.more;
            reads += 1;
            let last = read.data.last().map(Candidate::position);
            let matching = self.found_in(org, &wanted.words, wanted.window, read.data).await?;
            let full = take_up_to(limit, matching, &mut found, &mut bytes);
            after = full.or(last).or(after);
            if full.is_some() {
                more = true;
                break;
            }
        }
        let now = self.now();
        let (events, firsts): (Vec<Event>, Vec<Option<Span>>) =
            found.into_iter().map(|Candidate { event, first }| (event.at(now), first)).unzip();
        let zones = self.local_zones(actor, &events).await?;
        let shown = |(event, first): (Event, Option<Span>)| FoundEvent {
            event: zones.to_wire(event),
            first_occurrence: first.map(FirstOccurrence::from),
        };
        let data = events.into_iter().zip(firsts).map(shown).collect();
        let next = after.filter(|_| more).map(|after| SearchToken { window: wanted.window, after }.to_text());
        Ok(FoundEvents { data, next })
    }

    /// The events that have the words. An override is left out if its series is found too.
    async fn found_in(
        &self,
        org: OrgId,
        words: &Words,
        window: Span,
        mut candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>, Refusal> {
        candidates.retain(|candidate| words.are_in(&candidate.event));
        let overridden = candidates.iter().map(|candidate| &candidate.event);
        let (calendars, series): (BTreeSet<CalendarId>, BTreeSet<EventId>) =
            overridden.filter_map(|event| Some((event.calendar, event.occurrence()?.series))).unzip();
        if series.is_empty() {
            return Ok(candidates);
        }
        let (calendars, series) = (Vec::from_iter(calendars), Vec::from_iter(series));
        let series = self.parts.store.events_of(org, &calendars, &series).await?;
        let found = series.iter().filter(|series| finds_series(words, series, window)).map(|series| series.id);
        let found: BTreeSet<EventId> = found.collect();
        let of_found = |event: &Event| event.occurrence().is_some_and(|occurrence| found.contains(&occurrence.series));
        candidates.retain(|candidate| !of_found(&candidate.event));
        Ok(candidates)
    }
}

/// Adds events up to the limits of an answer. If they do not all fit, returns the position of the last one that does.
fn take_up_to(
    limit: usize,
    matching: Vec<Candidate>,
    found: &mut Vec<Candidate>,
    bytes: &mut usize,
) -> Option<SearchPosition> {
    for candidate in matching {
        let size = json(&wire::Event::from(candidate.event.clone())).len();
        if let Some(last) = found.last().filter(|_| found.len() >= limit || *bytes + size > FOUND_BYTES_MAX) {
            return Some(last.position());
        }
        *bytes += size;
        found.push(candidate);
    }
    None
}
