//! Reading series and their instances, the plain way: everything is expanded, then filtered.

use async_trait::async_trait;
use kalends_calendars::{
    Calendar, Candidate, Candidates, Event, INSTANCES_MAX, Occurrence, SearchPosition,
    ports::{BlockingSeries, InstanceFilter, InstanceScope, Instances, SearchFilter},
};
use kalends_kernel::{CalendarId, EventId, Listed, OrgId, Page, StoreError};
use kalends_time::{SignedDuration, Span, Timestamp};

use super::{
    MemoryStore,
    state::{has_status, page_of},
};

/// The order of events with the same start: the identifier that they show.
pub(super) fn name(event: &Event) -> (EventId, Option<Timestamp>) {
    event.occurrence().map_or((event.id, None), |occurrence| (occurrence.series, Some(occurrence.start)))
}

/// The event itself, or the instances of a series that overlap the window.
fn instances(event: &Event, window: Span) -> Vec<Event> {
    match event.repeating() {
        None => Vec::from_iter(event.times.span.overlaps(window).then(|| event.clone())),
        Some(series) => series.occurrences(window).filter_map(|span| event.instance(span.start())).collect(),
    }
}

/// The event itself, or the instances of a series within ten years of `now`, which is enough for tests.
pub(super) fn instances_near(event: &Event, now: Timestamp) -> Vec<Event> {
    let years = SignedDuration::days(3_660);
    match Span::new(now - years, now + years) {
        Ok(window) if event.recurrence().is_some() => instances(event, window),
        _ => vec![event.clone()],
    }
}

#[async_trait]
impl Instances for MemoryStore {
    async fn find_override(&self, org: OrgId, occurrence: Occurrence) -> Result<Option<Event>, StoreError> {
        let state = self.state();
        let found = state.visible_events(org).find(|(event, _)| event.occurrence() == Some(occurrence));
        Ok(found.map(|(event, _)| event.clone()))
    }

    async fn list_overrides(&self, org: OrgId, series: EventId) -> Result<Vec<Event>, StoreError> {
        let state = self.state();
        let of_it = |event: &&Event| event.occurrence().is_some_and(|occurrence| occurrence.series == series);
        let mut found: Vec<Event> = state.visible_events(org).map(|(event, _)| event).filter(of_it).cloned().collect();
        found.sort_by_key(Event::occurrence);
        Ok(found)
    }

    async fn list_instances(
        &self,
        org: OrgId,
        scope: InstanceScope<'_>,
        filter: InstanceFilter,
        page: Page,
    ) -> Result<Option<Listed<Event>>, StoreError> {
        let state = self.state();
        let inside = |calendar: &Calendar| match scope {
            InstanceScope::Calendars(ids) => ids.contains(&calendar.id),
            InstanceScope::Agent(agent) => calendar.agent == Some(agent),
        };
        let found: Vec<Event> = state
            .visible_events(org)
            .filter(|(event, calendar)| {
                inside(calendar)
                    && filter.status.is_none_or(|at| has_status(event, at))
                    && filter.source.is_none_or(|source| event.source == source)
                    && filter.metadata.matches(&event.metadata)
            })
            .flat_map(|(event, _)| instances(event, filter.window))
            .collect();
        if found.len() > INSTANCES_MAX {
            return Ok(None);
        }
        Ok(Some(page_of(found.iter(), |event| (event.times.span.start(), name(event)), page)))
    }

    async fn events_to_search(
        &self,
        org: OrgId,
        filter: SearchFilter,
        after: Option<SearchPosition>,
        limit: usize,
    ) -> Result<Candidates, StoreError> {
        let state = self.state();
        let inside = |calendar: &Calendar| {
            filter.calendar.is_none_or(|id| calendar.id == id)
                && filter.agent.is_none_or(|agent| calendar.agent == Some(agent))
        };
        let begins = |span: &Span| filter.window.contains(span.start());
        let mut data: Vec<Candidate> = state
            .visible_events(org)
            .filter(|(_, calendar)| inside(calendar))
            .filter_map(|(event, _)| match event.repeating() {
                None => begins(&event.times.span).then(|| Candidate::single(event.clone())),
                Some(series) => {
                    let first = series.occurrences(filter.window).find(begins)?;
                    Some(Candidate { event: event.clone(), first: Some(first) })
                }
            })
            .filter(|candidate| after.is_none_or(|after| candidate.position() > after))
            .collect();
        data.sort_by_key(Candidate::position);
        let more = data.len() > limit;
        data.truncate(limit);
        Ok(Candidates { data, more })
    }

    async fn blocking_series(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
        window: Span,
    ) -> Result<Vec<BlockingSeries>, StoreError> {
        let state = self.state();
        let queried = state.visible_calendars(org).filter(|calendar| calendars.contains(&calendar.id));
        let blocking = queried.map(|calendar| BlockingSeries {
            calendar: calendar.id,
            revision: calendar.revision,
            series: state
                .visible_events(org)
                .filter(|(event, on)| on.id == calendar.id && event.blocks() && !instances(event, window).is_empty())
                .filter_map(|(event, _)| event.repeating())
                .collect(),
        });
        Ok(blocking.collect())
    }
}
