//! Properties of all feeds.

use std::fs;

use kalends_feeds::limits::STEPS_MAX;
use kalends_feeds::read::read;
use kalends_time::testing::config;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::corpus::feeds;
use super::{context, span};

fn corpus() -> Vec<Vec<u8>> {
    feeds().into_iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Reads a feed twice and computes its busy times. Nothing may panic or exceed the limit of steps.
fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let context = context("America/New_York");
    let feed = read(bytes, &context);
    prop_assert_eq!(&feed, &read(bytes, &context));
    let Ok(feed) = feed else { return Ok(()) };
    prop_assert!(feed.steps <= STEPS_MAX);
    prop_assert!(feed.items.windows(2).all(|pair| pair[0].key() < pair[1].key()));
    for item in &feed.items {
        prop_assert!(!item.title.is_empty() && item.title.chars().count() <= 500);
        prop_assert!(!item.uid.is_empty() && !item.uid.contains('\0') && !item.title.contains('\0'));
    }
    let window = span("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
    let busy = feed.busy(window);
    prop_assert!(busy.windows(2).all(|pair| pair[0].end() < pair[1].start()));
    prop_assert!(busy.iter().all(|span| window.start() <= span.start() && span.end() <= window.end()));
    Ok(())
}

/// Lines that are meaningful in combination, and some with meaningless values.
fn line() -> impl Strategy<Value = String> {
    let names = [
        "DTSTART",
        "DTEND",
        "DTSTART;TZID=Europe/Berlin",
        "DTSTART;VALUE=DATE",
        "DURATION",
        "RRULE",
        "EXRULE",
        "EXDATE",
        "RDATE",
        "RDATE;VALUE=PERIOD",
        "RECURRENCE-ID",
        "RECURRENCE-ID;RANGE=THISANDFUTURE",
        "SEQUENCE",
        "STATUS",
        "SUMMARY",
        "UID",
        "TRANSP",
        "BEGIN",
        "END",
        "TZID",
        "TZOFFSETFROM",
        "TZOFFSETTO",
        "DTSTART;TZID=Odd",
    ];
    let values = [
        "20260310T090000Z",
        "20260310T090000",
        "20260310",
        "99991231T235959",
        "00010101",
        "19691231T235959Z",
        "21000101T000000Z",
        "P1D",
        "-PT1H",
        "PT0S",
        "P9999999999W",
        "FREQ=DAILY",
        "FREQ=SECONDLY;COUNT=5",
        "FREQ=YEARLY;BYWEEKNO=-53;BYSETPOS=-366",
        "FREQ=MONTHLY;BYMONTHDAY=-31;INTERVAL=1000000000",
        "FREQ=WEEKLY;UNTIL=20260401;WKST=SU",
        "FREQ=HOURLY;INTERVAL=7;BYMINUTE=0,59;BYSETPOS=-1",
        "CANCELLED",
        "TRANSPARENT",
        "4294967295",
        "VEVENT",
        "VTIMEZONE",
        "STANDARD",
        "VCALENDAR",
        "Odd",
        "+2359",
        "-2359",
        "",
        "20260310T090000Z/PT1H,20260310T090000Z/20250101T000000Z",
        "FREQ=DAILY;COUNT=3;UNTIL=20260312",
        "a\\,\\",
    ];
    (select(names.to_vec()), select(values.to_vec())).prop_map(|(name, value)| format!("{name}:{value}\r\n"))
}

fn event() -> impl Strategy<Value = String> {
    (0..4_u8, prop::collection::vec(line(), 0..8)).prop_map(|(uid, lines)| {
        let lines: String =
            lines.into_iter().filter(|line| !line.starts_with("BEGIN") && !line.starts_with("END")).collect();
        format!("BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTART:20260309T090000Z\r\n{lines}END:VEVENT\r\n")
    })
}

proptest! {
    #![proptest_config(config(256))]

    /// Any bytes, also inside an event, are read or refused with bounded work.
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        holds(&bytes)?;
        let mut inside = b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260310T090000Z\n".to_vec();
        inside.extend(&bytes);
        inside.extend(b"\nEND:VEVENT\nEND:VCALENDAR\n");
        holds(&inside)?;
    }

    /// Any lines of an event, known and unknown, are read or refused with bounded work.
    #[test]
    fn arbitrary_lines_do_no_harm(lines in prop::collection::vec(line(), 0..40)) {
        holds(format!("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n{}END:VEVENT\r\nEND:VCALENDAR\r\n", lines.concat()).as_bytes())?;
    }

    /// A real feed with changed and removed bytes is read or refused with bounded work.
    #[test]
    fn feeds_with_changed_and_removed_bytes_do_no_harm(
        feed in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>(), any::<bool>()), 1..12),
    ) {
        let corpus = corpus();
        let mut bytes = feed.get(&corpus).clone();
        for (place, byte, remove) in changes {
            let place = place.index(bytes.len());
            if remove { bytes.remove(place); } else { bytes[place] = byte; }
        }
        holds(&bytes)?;
    }

    /// A real feed that is cut off anywhere is read or refused with bounded work.
    #[test]
    fn truncated_feeds_do_no_harm(feed in any::<Index>(), at in any::<Index>()) {
        let corpus = corpus();
        let bytes = feed.get(&corpus);
        holds(&bytes[..at.index(bytes.len())])?;
    }

    /// The order of the events in a file does not change what is read.
    #[test]
    fn the_order_of_events_does_not_matter(events in prop::collection::vec(event(), 0..8).prop_flat_map(|events| (Just(events.clone()), Just(events).prop_shuffle()))) {
        let (one, other) = events;
        let file_of = |events: Vec<String>| format!("BEGIN:VCALENDAR\r\n{}END:VCALENDAR\r\n", events.concat());
        let read = |events| read(file_of(events).as_bytes(), &context("Europe/Berlin"));
        prop_assert_eq!(read(one), read(other));
    }
}
