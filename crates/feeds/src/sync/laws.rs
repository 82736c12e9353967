//! Laws of applying one feed after another.

use std::collections::BTreeMap;

use kalends_calendars::{AgentActivity, Calendar, Event, EventSource, NewCalendar, Repeats};
use kalends_kernel::{CalendarId, Elapsed, EventId, Instant, Metadata, OrgId, Zone};
use proptest::prelude::*;

use super::{Diff, KnownItem, KnownItems, diff, ends_withheld};
use crate::read::{Context, Item, What, read};

const NOW: Instant = Instant::from_micros(1_772_438_400_000_000);

/// What one `UID` of a feed is: its kind, at which hour it is, and its title.
type Drawn = (u8, u8, u8);

fn calendar() -> Calendar {
    let new = NewCalendar {
        name: "Work".into(),
        zone: Zone::UTC,
        activity: AgentActivity::Idle,
        default_reminders: None,
        metadata: Metadata::default(),
    };
    let (id, org) = (CalendarId::from_bytes([1; 16]), OrgId::from_bytes([2; 16]));
    Calendar::create(id, org, None, new, "token".into(), NOW)
}

/// The items of a feed in which each `UID` is as drawn: an event, a transparent one, a series, a series with changed and
/// cancelled occurrences, or one that is expanded.
fn items(drawn: &BTreeMap<u8, Drawn>) -> Vec<Item> {
    let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n");
    for (uid, (kind, hour, title)) in drawn {
        let event = |rest: String| {
            format!(
                "BEGIN:VEVENT\r\nUID:{uid}@x\r\nDTSTART:202603{:02}T{:02}0000Z\r\nDURATION:PT1H\r\nSUMMARY:{title}\r\n{rest}END:VEVENT\r\n",
                uid % 20 + 1,
                hour % 20,
            )
        };
        let changed = |day: u8| {
            format!(
                "BEGIN:VEVENT\r\nUID:{uid}@x\r\nRECURRENCE-ID:202603{:02}T{:02}0000Z\r\nDTSTART:20260401T{:02}3000Z\r\n\
                 DURATION:PT15M\r\nSUMMARY:Changed {title}\r\nEND:VEVENT\r\n",
                uid % 20 + 1 + day,
                hour % 20,
                hour % 20
            )
        };
        match kind % 5 {
            0 => text.push_str(&event(String::new())),
            1 => text.push_str(&event("TRANSP:TRANSPARENT\r\n".into())),
            2 => text.push_str(&event("RRULE:FREQ=DAILY;COUNT=5\r\n".into())),
            3 => {
                text.push_str(&event("RRULE:FREQ=DAILY;COUNT=9\r\n".into()));
                text.push_str(&changed(1));
                text.push_str(&changed(3));
            }
            _ => text.push_str(&event("RRULE:FREQ=YEARLY;BYYEARDAY=60,61,62,63;COUNT=6\r\n".into())),
        }
    }
    text.push_str("END:VCALENDAR\r\n");
    let feed = read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW }).unwrap();
    assert_eq!(feed.skipped, []);
    feed.items
}

/// What a store would hold.
#[derive(Default)]
struct Applied {
    events: BTreeMap<EventId, Event>,
    known: Vec<KnownItem>,
    made: u8,
}

impl Applied {
    fn compared(&mut self, items: Vec<Item>) -> Diff {
        let known: KnownItems = self.known.iter().copied().collect();
        let made = &mut self.made;
        diff(items, &known, || {
            *made += 1;
            EventId::from_bytes([*made; 16])
        })
    }

    /// Writes what a feed changes.
    fn apply(&mut self, diff: &Diff, now: Instant) {
        let calendar = calendar();
        for planned in diff.chunks.iter().flatten() {
            let id = planned.known.event;
            let event = if planned.is_new {
                let made = planned.created(&calendar, EventSource::ExternalIcal, now);
                assert!(!self.events.contains_key(&id), "no identifier is given twice");
                made
            } else {
                planned.updated(&self.events[&id], now)
            };
            if let Repeats::Instance(occurrence) = event.repeats {
                assert!(self.events.contains_key(&occurrence.series), "a series comes before its occurrences");
            }
            self.events.insert(id, event);
            self.known.retain(|item| item.key != planned.known.key);
            self.known.push(planned.known);
        }
        for gone in &diff.gone {
            self.events.remove(&gone.event);
            self.known.retain(|item| item.key != gone.key);
        }
    }

    /// What the events say, whatever their identifiers and versions.
    fn said(&self) -> Vec<String> {
        let series = |event: &Event| match &event.repeats {
            Repeats::Once => "once".to_owned(),
            Repeats::Series(recurrence) => recurrence.to_json(),
            Repeats::Instance(occurrence) => {
                let series = &self.events[&occurrence.series];
                format!("{} of {}", occurrence.start, series.times.span.start())
            }
        };
        let say = |event: &Event| {
            format!("{} {:?} {:?} {} {}", event.title, event.times, event.status, event.transparent, series(event))
        };
        let mut said: Vec<String> = self.events.values().map(say).collect();
        said.sort();
        said
    }
}

fn feeds() -> impl Strategy<Value = Vec<BTreeMap<u8, Drawn>>> {
    let feed = proptest::collection::btree_map(0_u8..9, (0_u8..5, 0_u8..3, 0_u8..2), 0..9);
    proptest::collection::vec(feed, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever feeds came before, what is there afterwards is what the last one says; what it does not change keeps its
    /// row as it is; and the same feed once more changes nothing.
    #[test]
    fn the_last_feed_is_what_is_there(feeds in feeds()) {
        let mut applied = Applied::default();
        for (feed, hour) in feeds.iter().zip(0..) {
            let items = items(feed);
            let count = items.len();
            let before = applied.events.clone();
            let diff = applied.compared(items.clone());
            let written: usize = diff.chunks.iter().map(Vec::len).sum();
            prop_assert_eq!(written + diff.untouched as usize, count);
            applied.apply(&diff, NOW + Elapsed::hours(hour));

            let mut fresh = Applied::default();
            let whole = fresh.compared(items.clone());
            fresh.apply(&whole, NOW);
            prop_assert_eq!(applied.said(), fresh.said());

            let touched: Vec<EventId> = diff.chunks.iter().flatten().map(|planned| planned.known.event).collect();
            for (id, event) in &applied.events {
                if !touched.contains(id) {
                    prop_assert_eq!(before.get(id), Some(event));
                } else if let Some(before) = before.get(id) {
                    prop_assert_eq!(event.version, before.version.next());
                }
            }
            let again = applied.compared(items);
            prop_assert!(again.chunks.is_empty() && again.gone.is_empty());
            prop_assert_eq!(again.untouched as usize, count);
        }
    }
}

fn plain(uids: impl Iterator<Item = u16>) -> Vec<Item> {
    let mut text = String::from("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n");
    for uid in uids {
        text.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:{uid:05}\r\nDTSTART:20260301T100000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\n"
        ));
    }
    text.push_str("END:VCALENDAR\r\n");
    read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW }).unwrap().items
}

fn fresh() -> impl FnMut() -> EventId {
    let mut made = 0_u128;
    move || {
        made += 1;
        EventId::from_bytes(made.to_be_bytes())
    }
}

#[test]
fn chunks_are_bounded_and_keep_a_uid_together() {
    let none = KnownItems::default();
    let many = diff(plain(0..1_201), &none, fresh());
    assert_eq!(many.chunks.iter().map(Vec::len).collect::<Vec<_>>(), [500, 500, 201]);

    // A series with three changed occurrences does not fit behind 498 others.
    let mut items = plain(0..498);
    let mut text = String::from(
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:z\r\nDTSTART:20260301T100000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=DAILY\r\nEND:VEVENT\r\n",
    );
    for day in 2..5 {
        text.push_str(&format!(
            "BEGIN:VEVENT\r\nUID:z\r\nRECURRENCE-ID:2026030{day}T100000Z\r\nDTSTART:2026030{day}T120000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\n"
        ));
    }
    text.push_str("END:VCALENDAR\r\n");
    items.extend(read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW }).unwrap().items);
    let together = diff(items, &none, fresh());
    assert_eq!(together.chunks.iter().map(Vec::len).collect::<Vec<_>>(), [498, 4]);
    let series = &together.chunks[1][0];
    assert!(matches!(series.item.what, What::Series(_)));
    let of: Vec<_> = together.chunks[1][1..].iter().map(|planned| planned.occurrence.unwrap().series).collect();
    assert_eq!(of, [series.known.event; 3]);
}

#[test]
fn a_feed_that_loses_more_than_half_is_asked_again() {
    let known: KnownItems = diff(plain(0..10), &KnownItems::default(), fresh())
        .chunks
        .into_iter()
        .flatten()
        .map(|planned| planned.known)
        .collect();
    assert_eq!(known.len(), 10);
    for (items, withheld) in [(10, false), (5, false), (4, true), (0, true), (99, false)] {
        assert_eq!(ends_withheld(items, &known, false), withheld, "{items}");
        assert!(!ends_withheld(items, &known, true), "{items}: the second says the same");
    }
    assert!(!ends_withheld(0, &KnownItems::default(), false));
}
