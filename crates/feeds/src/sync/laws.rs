//! Properties of applying one feed after another.

use std::collections::{BTreeMap, BTreeSet};

use kalends_calendars::{AgentActivity, Calendar, Conflicts, Event, EventSource, NewCalendar, Repeats};
use kalends_kernel::{CalendarId, EventId, Metadata, OrgId};
use kalends_time::testing::config;
use kalends_time::{SignedDuration, Timestamp, Zone};
use proptest::prelude::*;

use super::{
    Chunk, Diff, Ending, Fate, Fingerprint, Former, ItemKey, KnownItem, KnownItems, diff, diff_file, ends_withheld,
};
use crate::{
    limits::EXPANDED_BACK,
    read::{Context, Edition, Feed, Item, What, read},
};

const NOW: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);

/// The event of one `UID`: its kind, its hour, and its title.
type Drawn = (u8, u8, u8);

fn calendar() -> Calendar {
    let new = NewCalendar {
        name: "Work".into(),
        zone: Zone::UTC,
        activity: AgentActivity::Idle,
        default_reminders: None,
        conflicts: Conflicts::Allow,
        recurrence_default: None,
        metadata: Metadata::default(),
    };
    let (id, org) = (CalendarId::from_bytes([1; 16]), OrgId::from_bytes([2; 16]));
    Calendar::create(id, org, None, new, "token".into(), NOW)
}

/// A feed in which each `UID` is as drawn: an event, a transparent event, a series, a series with changed and cancelled
/// occurrences, a series that is expanded, one of several items, or one that is cancelled.
fn feed(drawn: &BTreeMap<u8, Drawn>) -> Feed {
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
        match kind {
            0 => text.push_str(&event(String::new())),
            1 => text.push_str(&event("TRANSP:TRANSPARENT\r\n".into())),
            2 => text.push_str(&event("RRULE:FREQ=DAILY;COUNT=5\r\n".into())),
            3 => {
                text.push_str(&event("RRULE:FREQ=DAILY;COUNT=9\r\n".into()));
                text.push_str(&changed(1));
                text.push_str(&changed(3));
            }
            4 => text.push_str(&event("RRULE:FREQ=YEARLY;BYYEARDAY=60,61,62,63;COUNT=6\r\n".into())),
            5 => {
                text.push_str(&event("RRULE:FREQ=DAILY;COUNT=9\r\n".into()));
                text.push_str(&changed(2).replace("RECURRENCE-ID", "RECURRENCE-ID;RANGE=THISANDFUTURE"));
                text.push_str(&changed(4));
            }
            _ => text.push_str(&event("RRULE:FREQ=DAILY;COUNT=9\r\nSTATUS:CANCELLED\r\n".into())),
        }
    }
    text.push_str("END:VCALENDAR\r\n");
    let feed = read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW }).unwrap();
    assert_eq!(feed.skipped, []);
    feed
}

fn items(drawn: &BTreeMap<u8, Drawn>) -> Vec<Item> {
    feed(drawn).items
}

/// The content of a store.
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

    fn compared_file(&mut self, file: Feed) -> Diff {
        let known: KnownItems = self.known.iter().copied().collect();
        let made = &mut self.made;
        diff_file(file.items, &file.editions, &known, || {
            *made += 1;
            EventId::from_bytes([*made; 16])
        })
    }

    /// Applies the items that ended, and returns the number of events that changed.
    fn end(&mut self, diff: &Diff, now: Timestamp) -> usize {
        let mut changed = 0;
        for former in diff.chunks.iter().flat_map(|chunk| &chunk.former) {
            let known = former.known;
            match former.applied_to(&self.events[&known.event], now) {
                Ending::Stays => continue,
                Ending::Cancelled => {
                    let of_it = |other: &&mut Event| {
                        other.id == known.event || other.occurrence().is_some_and(|of| of.series == known.event)
                    };
                    self.events.values_mut().filter(of_it).for_each(|event| *event = event.cancelled(now));
                    changed += 1;
                }
                Ending::Deleted(event) => {
                    assert!(event.deleted_at.is_some());
                    self.events.remove(&known.event);
                    changed += 1;
                }
                Ending::OfItsSeries | Ending::CancelledWithItsSeries => {}
            }
            self.known.retain(|item| item.key != known.key);
            if let Fate::Cancelled = former.fate {
                self.known.push(known);
            }
        }
        // Overrides that the series no longer has are removed with it.
        let has = |event: &Event| match event.occurrence() {
            None => true,
            Some(of) => self
                .events
                .get(&of.series)
                .and_then(Event::recurrence)
                .is_some_and(|series| series.overridden().binary_search(&of.start).is_ok()),
        };
        let kept = self.events.values().filter(|event| has(event)).map(|event| (event.id, event.clone())).collect();
        self.events = kept;
        self.known.retain(|item| self.events.contains_key(&item.event));
        changed
    }

    /// The events that take place, as texts.
    fn takes_place(&self) -> Vec<String> {
        let events = self.events.iter().filter(|(_, event)| event.takes_place());
        Self { events: events.map(|(id, event)| (*id, event.clone())).collect(), ..Self::default() }.lines()
    }

    /// Applies the changes of a feed.
    fn apply(&mut self, diff: &Diff, now: Timestamp) {
        let calendar = calendar();
        for planned in diff.chunks.iter().flat_map(|chunk| &chunk.planned) {
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

    /// The content of the events as texts, without identifiers and versions.
    fn lines(&self) -> Vec<String> {
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
        let mut lines: Vec<String> = self.events.values().map(say).collect();
        lines.sort();
        lines
    }
}

fn feeds() -> impl Strategy<Value = Vec<BTreeMap<u8, Drawn>>> {
    let feed = proptest::collection::btree_map(0_u8..9, (0_u8..5, 0_u8..3, 0_u8..2), 0..9);
    proptest::collection::vec(feed, 1..5)
}

proptest! {
    #![proptest_config(config(256))]

    /// Whatever feeds came before, the events are those of the last one.
    ///
    /// Events that it does not change keep their rows. Applying the same feed again changes nothing.
    #[test]
    fn the_events_are_those_of_the_last_feed(feeds in feeds()) {
        let mut applied = Applied::default();
        for (feed, hour) in feeds.iter().zip(0..) {
            let items = items(feed);
            let count = items.len();
            let before = applied.events.clone();
            let diff = applied.compared(items.clone());
            let written: usize = diff.chunks.iter().map(Chunk::len).sum();
            prop_assert_eq!(written + diff.untouched as usize, count);
            applied.apply(&diff, NOW + SignedDuration::hours(hour));

            let mut fresh = Applied::default();
            let full = fresh.compared(items.clone());
            fresh.apply(&full, NOW);
            prop_assert_eq!(applied.lines(), fresh.lines());

            let touched: Vec<EventId> = diff.chunks.iter().flat_map(|chunk| &chunk.planned).map(|planned| planned.known.event).collect();
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

fn files() -> impl Strategy<Value = Vec<BTreeMap<u8, Drawn>>> {
    let file = proptest::collection::btree_map(0_u8..4, (0_u8..7, 0_u8..3, 0_u8..2), 0..4);
    proptest::collection::vec(file, 1..6)
}

proptest! {
    #![proptest_config(config(256))]

    /// Whatever files came before, the last edition of each event takes place, unless it is cancelled.
    ///
    /// Events that a file does not contain keep their rows. Applying the same file again changes nothing.
    #[test]
    fn the_last_edition_of_each_event_takes_place(files in files()) {
        let (mut applied, mut editions) = (Applied::default(), BTreeMap::new());
        for (file, hour) in files.iter().zip(0..) {
            let now = NOW + SignedDuration::hours(hour);
            let before = applied.events.clone();
            let diff = applied.compared_file(feed(file));
            prop_assert_eq!(&diff.gone, &[]);
            applied.apply(&diff, now);
            applied.end(&diff, now);

            editions.extend(file.iter().map(|(uid, drawn)| (*uid, *drawn)));
            let mut fresh = Applied::default();
            let full = fresh.compared(items(&editions));
            fresh.apply(&full, NOW);
            prop_assert_eq!(applied.takes_place(), fresh.lines());
            let others = |event: &&Event| before.get(&event.id).is_none_or(|before| before != *event);
            for event in applied.events.values().filter(others) {
                prop_assert_eq!(event.updated_at, now);
            }

            let again = applied.compared_file(feed(file));
            prop_assert_eq!(again.chunks.iter().map(|chunk| chunk.planned.len()).sum::<usize>(), 0);
            let events = applied.events.clone();
            prop_assert_eq!(applied.end(&again, now + SignedDuration::minutes(1)), 0);
            prop_assert_eq!(&applied.events, &events);
        }
    }

    /// A file changes no event whose `UID` it does not contain.
    #[test]
    fn events_that_a_file_does_not_contain_stay(files in files()) {
        let mut applied = Applied::default();
        for file in &files {
            let diff = applied.compared_file(feed(file));
            let keys: Vec<ItemKey> = applied.known.iter().map(|item| item.key).collect();
            for former in diff.chunks.iter().flat_map(|chunk| &chunk.former) {
                prop_assert!(keys.contains(&former.known.key));
                let of = file.keys().any(|uid| former.known.key.is_of(&format!("{uid}@x")));
                prop_assert!(of, "{former:?} is of no event of the file");
            }
            applied.apply(&diff, NOW);
            applied.end(&diff, NOW);
        }
    }
}

fn lone(rest: &str) -> Feed {
    let text = format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:a\r\nDURATION:PT1H\r\n{rest}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    );
    read(text.as_bytes(), &Context { calendar_zone: Zone::UTC, now: NOW }).unwrap()
}

#[test]
fn overrides_without_their_series_replace_nothing() {
    let mut applied = Applied::default();
    let series = applied.compared_file(lone("DTSTART:20260301T100000Z\r\nRRULE:FREQ=DAILY"));
    applied.apply(&series, NOW);
    let occurrence = lone("DTSTART:20260302T120000Z\r\nRECURRENCE-ID:20260302T100000Z");
    let compared = applied.compared_file(occurrence);
    assert!(compared.chunks.iter().all(|chunk| chunk.former.is_empty()), "{compared:?}");
    // An event that cannot be read replaces nothing either.
    let broken = applied.compared_file(lone("DTSTART:20260301T100000Z\r\nDTEND:20250301T100000Z"));
    assert!(broken.chunks.is_empty(), "{broken:?}");
}

#[test]
fn past_occurrences_that_a_file_no_longer_expands_stay() {
    let mut applied = Applied::default();
    let expanded = "DTSTART:20200301T100000Z\r\nRRULE:FREQ=HOURLY;BYHOUR=10;BYYEARDAY=60,61";
    let first = applied.compared_file(lone(expanded));
    applied.apply(&first, NOW);
    let since = NOW - EXPANDED_BACK;
    let former = |complete_since| {
        let replaced = Former { known: applied.known[0], fate: Fate::Replaced { complete_since } };
        replaced.applied_to(&applied.events[&applied.known[0].event], NOW)
    };
    let end = applied.events[&applied.known[0].event].times.span.end();
    assert!(end > since);
    assert_eq!(former(Some(end)), Ending::Stays);
    assert!(matches!(former(Some(end - SignedDuration::micros(1))), Ending::Deleted(_)));
    assert!(matches!(former(None), Ending::Deleted(_)));
    let editions = |rest| lone(rest).editions.into_values().collect::<Vec<_>>();
    assert_eq!(editions(expanded), [Edition::Since(since)]);
    assert_eq!(editions("DTSTART:20260301T100000Z\r\nRDATE:20260302T110000Z"), [Edition::Full]);
}

/// In earlier versions, the keys of one event's items had nothing in common.
#[test]
fn items_with_keys_of_earlier_versions_are_known() {
    let once = lone("DTSTART:20260301T100000Z").items;
    let event = EventId::from_bytes([9; 16]);
    let mut known = KnownItem { key: ItemKey::of_before(&once[0]), event, fingerprint: Fingerprint::of(&once[0]) };
    let compared =
        |known: KnownItem, file: Feed| diff_file(file.items, &file.editions, &[known].into_iter().collect(), fresh());
    assert_eq!(compared(known, lone("DTSTART:20260301T100000Z")), Diff { untouched: 1, ..Diff::default() });
    known.fingerprint = Fingerprint([7; 16]);
    let other = compared(known, lone("DTSTART:20260301T100000Z"));
    let planned = &other.chunks[0].planned[0];
    assert_eq!((planned.is_new, planned.known.key, planned.known.event), (false, known.key, event));
    let series = compared(known, lone("DTSTART:20260301T100000Z\r\nRRULE:FREQ=DAILY"));
    assert_eq!(series.chunks[0].former, [Former { known, fate: Fate::Replaced { complete_since: None } }]);
}

/// Items without a place keep the fingerprints that earlier versions stored, so that an upgrade changes no event.
#[test]
fn every_text_has_a_part_in_the_fingerprint() {
    let of = |texts: &str| Fingerprint::of(&lone(&format!("DTSTART:20260301T100000Z\r\n{texts}")).items[0]);
    let earlier = "bbea5f38fa544f24974c7377d9401271";
    assert_eq!(of("X-A:1").0.map(|byte| format!("{byte:02x}")).concat(), earlier);
    let texts = [
        "X-A:1",
        "DESCRIPTION:a",
        "LOCATION:a",
        "LOCATION:b",
        "CONFERENCE;VALUE=URI:https://a.example/",
        "CONFERENCE;VALUE=URI:https://b.example/",
        "LOCATION:a\r\nCONFERENCE;VALUE=URI:https://a.example/",
        "RRULE:FREQ=DAILY",
        "RRULE:FREQ=DAILY\r\nLOCATION:a",
    ];
    let different: BTreeSet<[u8; 16]> = texts.iter().map(|texts| of(texts).0).collect();
    assert_eq!(different.len(), texts.len());
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
    assert_eq!(many.chunks.iter().map(Chunk::len).collect::<Vec<_>>(), [500, 500, 201]);

    // A series with three overrides does not fit into a chunk with 498 others.
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
    assert_eq!(together.chunks.iter().map(Chunk::len).collect::<Vec<_>>(), [498, 4]);
    let series = &together.chunks[1].planned[0];
    assert!(matches!(series.item.what, What::Series(_)));
    let of: Vec<_> = together.chunks[1].planned[1..].iter().map(|planned| planned.occurrence.unwrap().series).collect();
    assert_eq!(of, [series.known.event; 3]);
}

#[test]
fn deletions_of_more_than_half_are_withheld_until_confirmed() {
    let known: KnownItems = diff(plain(0..10), &KnownItems::default(), fresh())
        .chunks
        .into_iter()
        .flat_map(|chunk| chunk.planned)
        .map(|planned| planned.known)
        .collect();
    assert_eq!(known.len(), 10);
    for (items, withheld) in [(10, false), (5, false), (4, true), (0, true), (99, false)] {
        assert_eq!(ends_withheld(items, &known, false), withheld, "{items}");
        assert!(!ends_withheld(items, &known, true), "{items}: the second fetch confirms it");
    }
    assert!(!ends_withheld(0, &KnownItems::default(), false));
}
