//! Reads the events that the calendar shows.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::{Actor, App, Refusal};
use kalends_calendars::{Calendar, Event, EventSource, EventStatus, ports::InstanceFilter};
use kalends_kernel::{CalendarId, EventId, LIMIT_MAX, MetadataFilter, Page, Version};
use kalends_time::{SignedDuration, Span, Timestamp};
use kalends_web::{EVENTS_MAX, EventInView, EventKind, Viewed};

/// The events that are kept while calendars are read: one more than are shown, to know whether there are more.
const KEPT: usize = EVENTS_MAX + 1;
/// At most this many lists are read of all calendars together, and then of each calendar alone. Cancelled events are on
/// them too.
const LISTS_MAX: u32 = 10;

/// The events of some calendars.
#[derive(Default)]
pub(super) struct Found {
    pub events: Vec<EventInView>,
    /// Whether there are more than [`EVENTS_MAX`].
    pub is_cut: bool,
    /// The names of calendars with too many events to be read.
    pub overfull: Vec<String>,
    /// Whether busy times of connected calendars are unknown or old.
    pub is_out_of_date: bool,
}

/// Reads what takes place on the calendars, the first [`EVENTS_MAX`] events by start.
///
/// This is bounded, so that a user with large calendars does not keep the server busy: there are at most 20 calendars
/// and 42 days. The calendars are read together, in at most [`LISTS_MAX`] lists as long as those of the API. If they
/// have too many events for that, each calendar is read alone, in at most as many lists. A list is read twice if it has
/// occurrences that were changed on their own. After each list, only what the calendar shows is kept, without
/// descriptions and attendees, of at most [`KEPT`] events.
///
/// # Errors
/// Only a failure of the service.
pub(super) async fn read(app: &App, caller: &Actor, viewed: &Viewed, chosen: &[&Calendar]) -> Result<Found, Refusal> {
    let mut found = Found::of(app, caller, viewed, chosen).await?;
    if let Some(window) = viewed.span(viewed.zone) {
        found.add_busy(app, caller, chosen, window).await?;
    }
    found.cut();
    Ok(found)
}

impl Found {
    /// The events of the calendars.
    async fn of(app: &App, caller: &Actor, viewed: &Viewed, chosen: &[&Calendar]) -> Result<Self, Refusal> {
        let mut together = Self::default();
        if chosen.len() > 1 && together.add_events(app, caller, viewed, chosen).await? {
            return Ok(together);
        }
        // Reads each calendar alone, to find out which ones have too many events.
        let mut found = Self::default();
        for &calendar in chosen {
            if !found.add_events(app, caller, viewed, &[calendar]).await? {
                found.overfull.push(calendar.name.clone());
            }
        }
        Ok(found)
    }

    /// Reads the events of some calendars together. Returns whether all of them were read, as far as they can be shown.
    async fn add_events(
        &mut self,
        app: &App,
        caller: &Actor,
        viewed: &Viewed,
        calendars: &[&Calendar],
    ) -> Result<bool, Refusal> {
        match self.add_lists(app, caller, viewed, calendars).await {
            // There are too many instances.
            Err(Refusal::Invalid(_)) => Ok(false),
            read => read,
        }
    }

    /// Does what [`Self::add_events`] does, but refuses calendars that have too many instances.
    async fn add_lists(
        &mut self,
        app: &App,
        caller: &Actor,
        viewed: &Viewed,
        calendars: &[&Calendar],
    ) -> Result<bool, Refusal> {
        let Some(window) = window(viewed, calendars) else { return Ok(true) };
        let window = self.before_the_last(window);
        let all = || InstanceFilter { window, status: None, source: None, metadata: MetadataFilter::default() };
        let mut versions = BTreeMap::new();
        for list in 0..LISTS_MAX {
            let page = Page { limit: LIMIT_MAX, offset: list * LIMIT_MAX };
            let mut listed = app.list_events_of_calendars(caller, calendars, all(), page).await?;
            let series = series_of_changed(&listed.data, &versions);
            if !series.is_empty() {
                // The versions are not newer than what is shown. An older one only has a change refused.
                versions.extend(app.series_versions(caller, calendars, &series).await?);
                listed = app.list_events_of_calendars(caller, calendars, all(), page).await?;
            }
            let read = listed.data.last().map(|event| event.times.span.start());
            let is_end = u64::from(page.offset + page.limit) >= listed.total;
            let live = listed.data.into_iter().filter_map(|event| in_view(event, calendars, &versions));
            self.keep(live.filter(|event| viewed.shows(event)));
            let is_full = self.last().is_some_and(|last| read.is_some_and(|read| read >= last));
            if is_end || is_full {
                return Ok(true);
            }
            // Events of several calendars are dropped if they are incomplete. Those of one calendar are shown.
            if calendars.len() > 1 && !self.can_complete(listed.total, list) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Adds the times in which connected calendars make the calendars busy. If one counts for several of them, it is
    /// shown once.
    async fn add_busy(&mut self, app: &App, caller: &Actor, chosen: &[&Calendar], window: Span) -> Result<(), Refusal> {
        let ids: Vec<CalendarId> = chosen.iter().map(|calendar| calendar.id).collect();
        let known = app.human_busy_of_calendars(caller, &ids, window).await?;
        self.is_out_of_date = !known.is_complete;
        let mut times: BTreeMap<Span, Vec<CalendarId>> = BTreeMap::new();
        for (calendar, span) in known.busy {
            times.entry(span).or_default().push(calendar);
        }
        let names: BTreeMap<CalendarId, &str> =
            chosen.iter().map(|calendar| (calendar.id, calendar.name.as_str())).collect();
        self.keep(times.into_iter().map(|(span, of)| EventInView {
            id: String::new(),
            title: String::new(),
            calendar: match of.as_slice() {
                [only] => names.get(only).copied().unwrap_or_default().to_owned(),
                several => format!("{} calendars", several.len()),
            },
            span,
            dates: None,
            kind: EventKind::Busy,
            is_imported: false,
            version: 0,
            series_version: None,
        }));
        Ok(())
    }

    /// Whether the lists after `list` can still reach the end of `total` events, or fill the page. A list adds at most
    /// [`LIMIT_MAX`] events, and fewer if the calendar does not show all of them.
    fn can_complete(&self, total: u64, list: u32) -> bool {
        let left = (LISTS_MAX - list - 1) * LIMIT_MAX;
        total <= u64::from(LISTS_MAX * LIMIT_MAX) || self.events.len() + left as usize >= KEPT
    }

    /// Adds events, and keeps the first [`KEPT`] of all. Those of the same time are in the order of their calendars and
    /// identifiers, whether calendars were read together or alone.
    fn keep(&mut self, events: impl Iterator<Item = EventInView>) {
        self.events.extend(events);
        self.events.sort_by(|one, other| place(one).cmp(&place(other)));
        self.events.truncate(KEPT);
    }

    /// The start of the last event that is kept, if there are [`KEPT`] of them. Later events cannot be shown.
    fn last(&self) -> Option<Timestamp> {
        self.events.get(EVENTS_MAX).map(|event| event.span.start())
    }

    /// The part of the window in which events can begin that are shown.
    fn before_the_last(&self, window: Span) -> Span {
        let Some(last) = self.last() else { return window };
        let end = last.max(window.start()) + SignedDuration::micros(1);
        Span::new(window.start(), end.min(window.end())).unwrap_or(window)
    }

    fn cut(&mut self) {
        self.is_cut = self.events.len() > EVENTS_MAX;
        self.events.truncate(EVENTS_MAX);
    }
}

/// What events are sorted by.
fn place(event: &EventInView) -> (Span, &str, &str) {
    (event.span, event.calendar.as_str(), event.id.as_str())
}

/// The time in which events of the calendars may be shown. Events of whole days keep their dates, so it covers the days
/// of the zones of the calendars too.
fn window(viewed: &Viewed, calendars: &[&Calendar]) -> Option<Span> {
    let zones = calendars.iter().map(|calendar| calendar.zone).chain([viewed.zone]);
    let spans = zones.filter_map(|zone| viewed.span(zone));
    spans.reduce(|one, other| Span::new(one.start().min(other.start()), one.end().max(other.end())).unwrap_or(one))
}

/// The series of the occurrences that were changed on their own, except for those with `known` versions. The others have
/// the identifier and the version of their series.
fn series_of_changed(events: &[Event], known: &BTreeMap<EventId, Version>) -> Vec<EventId> {
    let series = events.iter().filter_map(|event| Some((event.id, event.occurrence()?.series)));
    let changed = series.filter(|(id, series)| id != series).map(|(_, series)| series);
    let series: BTreeSet<EventId> = changed.filter(|series| !known.contains_key(series)).collect();
    series.into_iter().collect()
}

/// An event of one of the calendars as the page shows it; `None` if it does not take place. `versions` are those of
/// series.
fn in_view(event: Event, calendars: &[&Calendar], versions: &BTreeMap<EventId, Version>) -> Option<EventInView> {
    let calendar = calendars.iter().find(|calendar| calendar.id == event.calendar)?;
    let kind = kind(&event)?;
    let span = event.times.span;
    Some(EventInView {
        id: identifier(&event),
        calendar: calendar.name.clone(),
        span,
        dates: event.times.all_day.then(|| EventInView::whole_days(span, calendar.zone)),
        kind,
        is_imported: event.source == EventSource::ExternalIcal,
        version: event.version.0,
        series_version: event.occurrence().map(|occurrence| {
            // A series that has gone, or appeared a moment ago, has no version.
            let known = (event.id == occurrence.series).then_some(event.version);
            known.or_else(|| versions.get(&occurrence.series).copied()).map_or(0, |version| version.0)
        }),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::EPOCH + SignedDuration::minutes(minute)
    }

    /// Events of a minute, each a minute after the one before.
    fn events(minutes: std::ops::Range<i64>) -> impl Iterator<Item = EventInView> {
        minutes.map(|minute| EventInView {
            id: minute.to_string(),
            title: String::new(),
            calendar: String::new(),
            span: Span::new(at(minute), at(minute + 1)).unwrap(),
            dates: None,
            kind: EventKind::Confirmed,
            is_imported: false,
            version: 1,
            series_version: None,
        })
    }

    #[test]
    fn the_first_events_of_all_calendars_are_kept() {
        let mut found = Found::default();
        let window = Span::new(at(0), at(9_000)).unwrap();
        found.keep(events(500..1_499));
        assert_eq!((found.last(), found.before_the_last(window)), (None, window));
        found.keep(events(0..2));
        assert_eq!(found.last(), Some(at(1_498)));
        assert_eq!(found.before_the_last(window).end(), at(1_498) + SignedDuration::micros(1));
        found.keep(events(100..200));
        assert_eq!((found.events.len(), found.last()), (KEPT, Some(at(1_398))));
        found.cut();
        let last = found.events.last().map(|event| event.span.start());
        assert_eq!((found.events.len(), found.is_cut, last), (EVENTS_MAX, true, Some(at(1_397))));
    }

    #[test]
    fn the_order_of_events_does_not_depend_on_how_calendars_were_read() {
        let event = |calendar: &str, id: &str| {
            let (calendar, id) = (calendar.to_owned(), id.to_owned());
            events(0..1).map(move |it| EventInView { calendar: calendar.clone(), id: id.clone(), ..it })
        };
        let (mut together, mut alone) = (Found::default(), Found::default());
        together.keep(event("Work", "1").chain(event("Home", "3")).chain(event("Home", "2")));
        for one in [event("Work", "1"), event("Home", "2"), event("Home", "3")] {
            alone.keep(one);
        }
        assert_eq!(together.events, alone.events);
        let ids: Vec<&str> = together.events.iter().map(|event| event.id.as_str()).collect();
        assert_eq!(ids, ["2", "3", "1"]);
    }

    #[test]
    fn calendars_are_read_together_as_long_as_that_can_succeed() {
        let most = u64::from(LISTS_MAX * LIMIT_MAX);
        let mut found = Found::default();
        assert!(found.can_complete(most, 8), "all are read");
        assert!(found.can_complete(most + 1, 3), "1,200 events are left");
        assert!(!found.can_complete(most + 1, 4), "1,000 events are left");
        found.keep(events(0..1));
        assert!(found.can_complete(most + 1, 4));
        assert!(!found.can_complete(most + 1, 5));
        assert!(!found.can_complete(most + 1, 9));
    }

    #[test]
    fn as_many_events_as_fit_are_all_shown() {
        let mut found = Found::default();
        found.keep(events(0..1_000));
        found.cut();
        assert_eq!((found.events.len(), found.is_cut), (1_000, false));
    }
}
