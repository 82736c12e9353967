//! Reads the events that the calendar shows.

use std::collections::BTreeMap;

use kalends_app::{Actor, App, Refusal};
use kalends_calendars::{Calendar, Event, EventSource, EventStatus, ports::InstanceFilter};
use kalends_kernel::{CalendarId, MetadataFilter, Page};
use kalends_time::{Span, Zone};
use kalends_web::{EVENTS_MAX, EventInView, EventKind, Viewed};
use kalends_wire::Listing;

/// What the calendar shows of each calendar.
const FIRST: Page = Page { limit: EVENTS_MAX, offset: 0 };

/// The events of some calendars.
#[derive(Default)]
pub(super) struct Found {
    pub events: Vec<EventInView>,
    /// Whether there are more than [`EVENTS_MAX`].
    pub is_cut: bool,
    /// The names of calendars with too many events to be read.
    pub overfull: Vec<String>,
}

/// Reads what takes place on the calendars, the first [`EVENTS_MAX`] events by start.
///
/// This is bounded, so that a user with large calendars does not keep the server busy: there are at most 20 calendars
/// and 42 days. They are read one after the other, each by one list of instances as the API has it, which is at most
/// 8 MiB and refuses more than 100,000 instances. From one read to the next, at most [`EVENTS_MAX`] events are kept.
///
/// # Errors
/// Only a failure of the service.
pub(super) async fn read(app: &App, caller: &Actor, viewed: &Viewed, chosen: &[&Calendar]) -> Result<Found, Refusal> {
    let mut found = Found::default();
    for calendar in chosen {
        let Some(window) = window(viewed, calendar.zone) else { continue };
        let filter = InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() };
        let listing = Listing::Instances(filter);
        match app.list_calendar_events(caller, &calendar.id.to_string(), listing, FIRST).await {
            Ok(listed) => {
                found.is_cut |= u64::try_from(listed.data.len()).unwrap_or(u64::MAX) < listed.total;
                found.events.extend(listed.data.into_iter().filter_map(|event| in_view(event, calendar)));
                found.keep_first();
            }
            // There are too many instances.
            Err(Refusal::Invalid(_)) => found.overfull.push(calendar.name.clone()),
            // It was deleted a moment ago.
            Err(Refusal::NotFound { .. }) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    if let Some(window) = viewed.span(viewed.zone) {
        found.events.extend(busy(app, caller, chosen, window).await?);
        found.keep_first();
    }
    Ok(found)
}

impl Found {
    fn keep_first(&mut self) {
        let most = usize::try_from(EVENTS_MAX).unwrap_or(usize::MAX);
        self.is_cut |= self.events.len() > most;
        self.events.sort_by_key(|event| event.span);
        self.events.truncate(most);
    }
}

/// The time in which events of a calendar may be shown. Events of whole days keep their dates, so it covers the days of
/// the calendar's zone too.
fn window(viewed: &Viewed, own: Zone) -> Option<Span> {
    match (viewed.span(viewed.zone), viewed.span(own)) {
        (Some(one), Some(other)) => Span::new(one.start().min(other.start()), one.end().max(other.end())).ok(),
        (one, other) => one.or(other),
    }
}

/// An event as the calendar shows it; `None` if it does not take place.
fn in_view(event: Event, calendar: &Calendar) -> Option<EventInView> {
    let kind = kind(&event)?;
    let span = event.times.span;
    Some(EventInView {
        id: identifier(&event),
        calendar: calendar.name.clone(),
        span,
        dates: event.times.all_day.then(|| EventInView::whole_days(span, calendar.zone)),
        kind,
        is_imported: event.source == EventSource::ExternalIcal,
        title: event.title,
    })
}

/// What an event is; `None` if it does not take place.
pub(super) fn kind(event: &Event) -> Option<EventKind> {
    match event.status {
        EventStatus::Confirmed => Some(EventKind::Confirmed),
        EventStatus::Tentative => Some(EventKind::Tentative),
        EventStatus::Hold => event.hold.map(|hold| EventKind::Hold(hold.expires_at)),
        EventStatus::Cancelled => None,
    }
}

/// The identifier of an event, or of an occurrence.
pub(super) fn identifier(event: &Event) -> String {
    event.occurrence().map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string())
}

/// The times in which connected calendars make the calendars busy. If one counts for several of them, it is shown once.
async fn busy(
    app: &App,
    caller: &Actor,
    chosen: &[&Calendar],
    window: Span,
) -> Result<impl Iterator<Item = EventInView>, Refusal> {
    let ids: Vec<CalendarId> = chosen.iter().map(|calendar| calendar.id).collect();
    let mut times: BTreeMap<Span, Vec<CalendarId>> = BTreeMap::new();
    for (calendar, span) in app.human_busy_of_calendars(caller, &ids, window).await? {
        times.entry(span).or_default().push(calendar);
    }
    let names: BTreeMap<CalendarId, String> =
        chosen.iter().map(|calendar| (calendar.id, calendar.name.clone())).collect();
    Ok(times.into_iter().map(move |(span, of)| EventInView {
        id: String::new(),
        title: String::new(),
        calendar: match of.as_slice() {
            [only] => names.get(only).cloned().unwrap_or_default(),
            several => format!("{} calendars", several.len()),
        },
        span,
        dates: None,
        kind: EventKind::Busy,
        is_imported: false,
    }))
}
