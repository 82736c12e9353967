//! Lists and contexts that show series as instances.

use std::collections::BTreeMap;

use kalends_kernel::{EventId, Listed, Page};
use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{ContextEvents, Event, Occurrence, RECENT_MAX, Repeating, UPCOMING_MAX, UPCOMING_WITHIN};

/// The longest window of a list of instances.
pub const EXPANDED_MAX: SignedDuration = SignedDuration::days(366);
/// The maximum number of instances in one window.
pub const INSTANCES_MAX: usize = 100_000;

/// An instance with a row of its own: a one-off event or an override.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingleInstance {
    /// The event.
    pub id: EventId,
    /// The start.
    pub start: Timestamp,
    /// The occurrence that it is, if it is one.
    pub occurrence: Option<Occurrence>,
}

/// An entry of a list of instances, before its row is read in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A one-off event or an override.
    SingleInstance(EventId),
    /// The instance of a series in this span.
    Instance(EventId, Span),
}

impl Entry {
    /// The event whose row holds the content of the entry.
    pub const fn row(&self) -> EventId {
        match self {
            Self::SingleInstance(id) | Self::Instance(id, _) => *id,
        }
    }

    /// The entry as an event; `None` if its row is not in `rows`.
    pub fn event(&self, rows: &BTreeMap<EventId, Event>) -> Option<Event> {
        let row = rows.get(&self.row())?;
        Some(match self {
            Self::SingleInstance(_) => row.clone(),
            Self::Instance(_, span) => row.instance_on(*span),
        })
    }
}

/// The identifier that an instance shows. It orders instances with the same start.
type Name = (EventId, Option<Timestamp>);

/// A page of all events in `singles` and of the instances of `repeating` that overlap `window`, by start and then by
/// identifier. `None` if there are more than [`INSTANCES_MAX`] of them.
pub fn page_of_instances(
    repeating: &[Repeating],
    singles: &[SingleInstance],
    window: Span,
    page: Page,
) -> Option<Listed<Entry>> {
    let mut all: Vec<(Timestamp, Name, Entry)> = Vec::with_capacity(singles.len());
    for SingleInstance { id, start, occurrence } in singles {
        let name = occurrence.map_or((*id, None), |occurrence| (occurrence.series, Some(occurrence.start)));
        all.push((*start, name, Entry::SingleInstance(*id)));
    }
    let instances = repeating.iter().flat_map(|series| {
        let id = series.id;
        series.occurrences(window).map(move |span| (span.start(), (id, Some(span.start())), Entry::Instance(id, span)))
    });
    all.extend(instances.take((INSTANCES_MAX + 1).saturating_sub(all.len())));
    if all.len() > INSTANCES_MAX {
        return None;
    }
    all.sort_unstable_by_key(|(start, name, _)| (*start, *name));
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let (offset, limit) = (usize::try_from(page.offset), usize::try_from(page.limit));
    let entries = all.into_iter().skip(offset.unwrap_or(usize::MAX)).take(limit.unwrap_or(usize::MAX));
    Some(Listed { data: entries.map(|(.., entry)| entry).collect(), total })
}

/// An instance around an instant, before its row is read in full.
enum Near<'a> {
    SingleInstance(&'a Event),
    Instance(EventId, Span),
}

impl Near<'_> {
    const fn span(&self) -> Span {
        match self {
            Self::SingleInstance(event) => event.times.span,
            Self::Instance(_, span) => *span,
        }
    }

    fn name(&self) -> Name {
        match self {
            Self::SingleInstance(event) => match event.occurrence() {
                None => (event.id, None),
                Some(occurrence) => (occurrence.series, Some(occurrence.start)),
            },
            Self::Instance(id, span) => (*id, Some(span.start())),
        }
    }
}

impl ContextEvents {
    /// The context at `now` of the events in `single_events` and of the instances of `repeating`. `row` reads a series,
    /// and is called only for series that the context shows.
    ///
    /// Neither list may include cancelled events. `single_events` needs to contain only the events that the context
    /// would show if there were no series. `repeating` needs to contain only the series that have not ended and the
    /// [`RECENT_MAX`] that ended last.
    ///
    /// # Errors
    /// The errors of `row`.
    pub fn around<E>(
        single_events: &[Event],
        repeating: &[Repeating],
        now: Timestamp,
        mut row: impl FnMut(EventId) -> Result<Option<Event>, E>,
    ) -> Result<Self, E> {
        let mut near: Vec<Near<'_>> = single_events.iter().map(Near::SingleInstance).collect();
        for series in repeating {
            let instance = |span| Near::Instance(series.id, span);
            let after = now + SignedDuration::micros(1);
            // Only the occurrence that began last can be current, although thousands may be in progress.
            let present = Span::new(now, after).ok().and_then(|window| series.occurrences(window).last());
            near.extend(present.map(instance));
            near.extend(series.ended(now, RECENT_MAX as usize).into_iter().map(instance));
            near.extend(series.after(now).take(UPCOMING_MAX as usize).map(instance));
        }
        near.sort_by_key(|near| (near.span().start(), near.name()));
        let mut event = |near: &Near<'_>| match near {
            Near::SingleInstance(event) => Ok(Some((*event).clone())),
            Near::Instance(id, span) => Ok(row(*id)?.map(|series| series.instance_on(*span))),
        };
        let (begun, coming) = near.split_at(near.partition_point(|near| near.span().start() <= now));
        let current = begun.iter().rev().find(|near| near.span().contains(now));
        let mut ended: Vec<&Near<'_>> = begun.iter().filter(|near| near.span().end() <= now).collect();
        ended.sort_by_key(|near| std::cmp::Reverse((near.span().end(), near.name())));
        let soon = coming.iter().filter(|near| near.span().start() <= now + UPCOMING_WITHIN);

        let mut context = Self { current: current.map(&mut event).transpose()?.flatten(), ..Self::default() };
        context.next = coming.first().map(&mut event).transpose()?.flatten();
        for near in ended.into_iter().take(RECENT_MAX as usize) {
            context.recent.extend(event(near)?);
        }
        for near in soon.take(UPCOMING_MAX as usize) {
            context.upcoming.extend(event(near)?);
        }
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{CalendarId, Metadata, OrgId, Version};
    use kalends_time::Zone;
    use kalends_time::testing::config;
    use proptest::prelude::*;

    use super::*;
    use crate::{Attendees, EventSource, EventStatus, Moment, NewRecurrence, Reminders, Repeats, Times};

    fn id(number: u8) -> EventId {
        format!("evt_000000000000000000000000{number:02}").parse().unwrap()
    }

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_micros(0) + SignedDuration::days(20_000) + SignedDuration::hours(hour)
    }

    fn event(number: u8, start: i64, hours: i64, rule: Option<&str>) -> Event {
        let times = Times { span: Span::new(at(start), at(start + hours)).unwrap(), all_day: false };
        let repeats = rule.map_or(Repeats::Once, |rule| {
            let exdates = vec![Moment::At(at(start + 24))];
            NewRecurrence { rule: rule.parse().unwrap(), exdates, zone: None }
                .of(times, Zone::UTC.into())
                .unwrap()
                .into()
        });
        let (org, calendar): (OrgId, CalendarId) =
            ("org_00000000000000000000000001".parse().unwrap(), "cal_00000000000000000000000001".parse().unwrap());
        Event {
            id: id(number),
            org,
            calendar,
            title: "Standup".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            times,
            status: EventStatus::Confirmed,
            source: EventSource::Internal,
            metadata: Metadata::default(),
            reminders: None,
            repeats,
            hold: None,
            guest_reminders: Reminders::default(),
            seat_changes: 0,
            previous_series: None,
            hold_set: None,
            transparent: false,
            version: Version::FIRST,
            created_at: at(0),
            updated_at: at(0),
            deleted_at: None,
        }
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let rules = proptest::sample::select(vec![
            None,
            None,
            Some("FREQ=DAILY;COUNT=5"),
            Some("FREQ=DAILY;INTERVAL=2"),
            Some("FREQ=WEEKLY;COUNT=3"),
        ]);
        proptest::collection::vec((0..400_i64, 1..60_i64, rules), 0..7).prop_map(|made| {
            (0_u8..).zip(made).map(|(number, (start, hours, rule))| event(number, start, hours, rule)).collect()
        })
    }

    /// Every instance before `until`, expanded one by one.
    fn expanded(events: &[Event], until: Timestamp) -> Vec<Event> {
        let ever = Span::new(Timestamp::from_micros(0), until).unwrap();
        let each = |event: &Event| match event.repeating() {
            None => vec![event.clone()],
            Some(series) => series.occurrences(ever).map(|span| event.instance(span.start()).unwrap()).collect(),
        };
        events.iter().flat_map(each).collect()
    }

    fn name(event: &Event) -> String {
        event.occurrence().map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string())
    }

    fn apart(events: &[Event]) -> (Vec<Event>, Vec<Repeating>, BTreeMap<EventId, Event>) {
        let single_events = events.iter().filter(|event| event.recurrence().is_none()).cloned().collect();
        let rows = events.iter().map(|event| (event.id, event.clone())).collect();
        (single_events, events.iter().filter_map(Event::repeating).collect(), rows)
    }

    #[test]
    fn a_window_with_too_many_instances_has_no_page() {
        let endless: Vec<Repeating> =
            (0..30).map(|number| event(number, 0, 1_100_000, Some("FREQ=DAILY")).repeating().unwrap()).collect();
        let window = Span::new(at(1_000_000), at(1_000_001)).unwrap();
        // Every occurrence since the first lasts into the window.
        assert!(page_of_instances(&endless[..2], &[], window, Page::default()).is_some());
        assert_eq!(page_of_instances(&endless, &[], window, Page::default()), None);
    }

    proptest! {
        #![proptest_config(config(96))]

        /// A page of instances is a slice of all instances in the window, in their order.
        #[test]
        fn a_page_is_a_slice_of_all_instances(
            events in events(), from in 0..500_i64, hours in 1..400_i64, limit in 1..9_u32, offset in 0..9_u32,
        ) {
            let window = Span::new(at(from), at(from + hours)).unwrap();
            let (singles, repeating, rows) = apart(&events);
            let singles: Vec<SingleInstance> = singles
                .iter()
                .filter(|event| event.times.span.overlaps(window))
                .map(|event| SingleInstance { id: event.id, start: event.times.span.start(), occurrence: event.occurrence() })
                .collect();
            let listed = page_of_instances(&repeating, &singles, window, Page { limit, offset }).unwrap();
            let mut all = expanded(&events, window.end());
            all.retain(|event| event.times.span.overlaps(window));
            all.sort_by_key(|event| (event.times.span.start(), name(event)));
            prop_assert_eq!(listed.total, all.len() as u64);
            let expected: Vec<Event> = all.into_iter().skip(offset as usize).take(limit as usize).collect();
            let listed_events: Vec<Event> = listed.data.iter().map(|entry| entry.event(&rows).unwrap()).collect();
            prop_assert_eq!(listed_events, expected);
        }

        /// The current, recent and coming events of a calendar are those that expanding every series finds.
        #[test]
        fn a_context_agrees_with_expanding_every_series(events in events(), hour in 0..600_i64) {
            let (now, (single_events, repeating, rows)) = (at(hour), apart(&events));
            let row = |id: EventId| Ok::<_, ()>(rows.get(&id).cloned());
            let context = ContextEvents::around(&single_events, &repeating, now, row).unwrap();

            let mut all = expanded(&events, now + SignedDuration::days(30));
            all.sort_by_key(|event| (event.times.span.start(), name(event)));
            let current = all.iter().rev().find(|event| event.times.span.contains(now)).cloned();
            let coming: Vec<Event> =
                all.iter().filter(|event| event.times.span.start() > now).cloned().collect();
            let mut recent: Vec<Event> = all.into_iter().filter(|event| event.times.span.end() <= now).collect();
            recent.sort_by_key(|event| std::cmp::Reverse((event.times.span.end(), name(event))));
            recent.truncate(RECENT_MAX as usize);
            prop_assert_eq!(&context.current, &current);
            prop_assert_eq!(&context.recent, &recent);
            prop_assert_eq!(context.next.as_ref(), coming.first());
            let soon = coming.iter().filter(|event| event.times.span.start() <= now + UPCOMING_WITHIN);
            let soon: Vec<Event> = soon.take(UPCOMING_MAX as usize).cloned().collect();
            prop_assert_eq!(context.upcoming, soon);
        }
    }
}
