//! Examples of edge cases, and properties.

use kalends_time::testing::config;
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::{
    Hold, HoldScope, Repeats,
    series::examples::{all, at, made, overridden, series, weekly},
};

fn reminders(minutes: &[i64]) -> Reminders {
    Reminders::parse("reminders", minutes).unwrap()
}

fn emitted(text: &str) -> EmittedUntil {
    EmittedUntil::both(at(text))
}

/// A one-off event.
fn once(start: &str, end: &str) -> Event {
    let mut event = weekly();
    event.times.span = Span::new(at(start), at(end)).unwrap();
    event.repeats = Repeats::Once;
    event
}

/// Checks the happenings between `after` and `until`, one line each.
#[track_caller]
fn check_happenings(event: &Event, minutes: &[i64], after: &str, until: &str, expected: &[&str]) {
    let found = event.happenings(&reminders(minutes), emitted(after), at(until));
    let described: Vec<String> = found.iter().map(|found| format!("{} {:?}", found.at, found.kind)).collect();
    assert_eq!(described, expected);
    for found in &found {
        let event_then = event.event_of(found).unwrap();
        let span = event_then.times.span;
        match found.kind {
            HappeningKind::Start => assert_eq!(span.start(), found.at),
            HappeningKind::End => assert_eq!(span.end(), found.at),
            HappeningKind::GuestReminder => {
                assert!(
                    event
                        .guest_reminders
                        .minutes()
                        .iter()
                        .any(|minutes| { span.start() - SignedDuration::minutes((*minutes).into()) == found.at })
                );
            }
            HappeningKind::Reminder => {
                assert!(minutes.iter().any(|m| span.start() - SignedDuration::minutes(*m) == found.at));
            }
        }
    }
}

#[test]
fn an_event_emits_its_reminders_start_and_end() {
    let event = once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let all = [
        "2026-05-04T08:45:00Z Reminder",
        "2026-05-04T08:50:00Z Reminder",
        "2026-05-04T09:00:00Z Start",
        "2026-05-04T09:30:00Z End",
    ];
    check_happenings(&event, &[10, 15], "2026-05-04T08:40:00Z", "2026-05-04T09:30:00Z", &all);
    // The bounds are half-open in the opposite way to spans: a happening that is due now is emitted.
    check_happenings(&event, &[10, 15], "2026-05-04T08:45:00Z", "2026-05-04T09:00:00Z", &all[1..3]);
    check_happenings(&event, &[], "2026-05-04T08:30:00Z", "2026-05-04T09:29:59Z", &all[2..3]);
    // Happenings that are an hour old or older are dropped.
    check_happenings(&event, &[10, 15], "2026-05-01T00:00:00Z", "2026-05-04T09:50:00Z", &all[2..]);
    check_happenings(&event, &[10, 15], "2026-05-01T00:00:00Z", "2026-05-04T10:30:00Z", &[]);
    // An occurrence ends before the one that directly follows begins.
    let kinds = [HappeningKind::End, HappeningKind::Reminder, HappeningKind::Start];
    assert!(kinds.is_sorted());
}

#[test]
fn a_guest_is_reminded_of_a_one_off_event() {
    let event = Event { guest_reminders: reminders(&[60, 5]), ..once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z") };
    let all =
        ["2026-05-04T08:00:00Z GuestReminder", "2026-05-04T08:55:00Z GuestReminder", "2026-05-04T09:00:00Z Start"];
    check_happenings(&event, &[], "2026-05-04T07:59:59Z", "2026-05-04T08:55:00Z", &all[..2]);
    check_happenings(&event, &[], "2026-05-04T08:00:00Z", "2026-05-04T09:00:00Z", &all[1..]);
    assert_eq!(
        event.next_happening(&reminders(&[]), emitted("2026-05-04T07:00:00Z")),
        Some(at("2026-05-04T08:00:00Z"))
    );
    assert_eq!(
        event.next_happening(&reminders(&[]), emitted("2026-05-04T08:00:00Z")),
        Some(at("2026-05-04T08:55:00Z"))
    );
    // New default reminders of the calendar do not change when guests are reminded.
    let changed = EmittedUntil { all: at("2026-05-04T08:00:00Z"), reminders: at("2026-05-04T08:58:00Z") };
    assert_eq!(event.next_happening(&reminders(&[]), changed), Some(at("2026-05-04T08:55:00Z")));
    let series = Event { repeats: weekly().repeats, ..event.clone() };
    check_happenings(&series, &[], "2026-05-04T07:59:59Z", "2026-05-04T08:59:00Z", &[]);
    assert_ne!(event.timing(), Event { guest_reminders: Reminders::default(), ..event.clone() }.timing());
    assert_ne!(event.timing(), Event { reminders: Some(reminders(&[60, 5])), ..event }.timing());
}

#[rstest]
#[case(EventStatus::Tentative, &["2026-05-04T08:50:00Z Reminder"])]
#[case(EventStatus::Cancelled, &[])]
#[case(EventStatus::Hold, &[])]
fn only_confirmed_events_emit_starts_and_ends(#[case] status: EventStatus, #[case] expected: &[&str]) {
    let event = Event { status, ..once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z") };
    check_happenings(&event, &[10], "2026-05-04T08:30:00Z", "2026-05-04T09:30:00Z", expected);
}

#[test]
fn imported_and_deleted_events_emit_nothing() {
    let event = once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let imported = Event { source: EventSource::ExternalIcal, ..event.clone() };
    let deleted = event.deleted(event.created_at).unwrap();
    for silent in [imported, deleted] {
        check_happenings(&silent, &[10], "2026-05-04T08:40:00Z", "2026-05-04T09:30:00Z", &[]);
        assert_eq!(silent.next_happening(&reminders(&[10]), emitted("2026-05-01T00:00:00Z")), None);
        assert_eq!(silent.timer(None, at("2026-05-01T00:00:00Z")), None);
    }
}

#[test]
fn a_series_keeps_its_wall_clock_across_a_change_of_clocks() {
    let daily = made("2026-03-27T08:00:00Z", "2026-03-27T09:00:00Z", "FREQ=DAILY", Some("Europe/Berlin"), &[]).unwrap();
    check_happenings(
        &daily,
        &[30],
        "2026-03-28T07:00:00Z",
        "2026-03-28T08:00:00Z",
        &["2026-03-28T07:30:00Z Reminder", "2026-03-28T08:00:00Z Start"],
    );
    check_happenings(
        &daily,
        &[30],
        "2026-03-29T06:00:00Z",
        "2026-03-29T07:00:00Z",
        &["2026-03-29T06:30:00Z Reminder", "2026-03-29T07:00:00Z Start"],
    );
    // The reminder of the day after the clock change is before the change.
    let day = [24 * 60];
    let next = |after| daily.next_happening(&reminders(&day), emitted(after)).unwrap().to_string();
    assert_eq!(next("2026-03-28T06:59:59Z"), "2026-03-28T07:00:00Z");
    assert_eq!(next("2026-03-28T07:00:00Z"), "2026-03-28T08:00:00Z");
    // All-day events start at midnight in the calendar's zone. The day of the change lasts 23 hours.
    let days = made("2026-03-28", "2026-03-29", "FREQ=DAILY;COUNT=3", None, &[]).unwrap();
    check_happenings(
        &days,
        &[10],
        "2026-03-29T21:30:00Z",
        "2026-03-29T22:00:00Z",
        &["2026-03-29T21:50:00Z Reminder", "2026-03-29T22:00:00Z End", "2026-03-29T22:00:00Z Start"],
    );
}

#[test]
fn months_without_the_day_emit_nothing() {
    let rule = "FREQ=MONTHLY;BYMONTHDAY=31";
    let event = made("2026-01-31T09:00:00Z", "2026-01-31T10:00:00Z", rule, None, &[]).unwrap();
    let next = |after| event.next_happening(&reminders(&[]), emitted(after)).unwrap().to_string();
    assert_eq!(next("2026-01-31T10:00:00Z"), "2026-03-31T09:00:00Z");
    assert_eq!(next("2026-03-31T09:00:00Z"), "2026-03-31T10:00:00Z");
    assert_eq!(next("2026-03-31T10:00:00Z"), "2026-05-31T09:00:00Z");
}

#[test]
fn a_series_ends_with_the_supported_years() {
    let event = made("2026-01-01T23:00:00Z", "2026-01-02T01:00:00Z", "FREQ=DAILY", None, &[]).unwrap();
    let next = |after| event.next_happening(&reminders(&[]), emitted(after)).map(|next| next.to_string());
    assert_eq!(next("2099-12-31T22:59:59Z").as_deref(), Some("2099-12-31T23:00:00Z"));
    assert_eq!(next("2099-12-31T23:00:00Z").unwrap(), (Timestamp::HORIZON + SignedDuration::hours(1)).to_string());
    let after = EmittedUntil::both(Timestamp::HORIZON + SignedDuration::hours(1));
    assert_eq!(event.next_happening(&reminders(&[10]), after), None);
    let late = event.happenings(&reminders(&[10]), after, Timestamp::HORIZON + SignedDuration::days(400));
    assert_eq!(late, []);
}

#[test]
fn a_series_does_not_emit_for_cancelled_or_changed_occurrences() {
    let series = weekly();
    let window = ("2026-03-09T08:30:00Z", "2026-03-09T09:00:00Z");
    let one = ["2026-03-09T08:50:00Z Reminder", "2026-03-09T09:00:00Z Start"];
    check_happenings(&series, &[10], window.0, window.1, &one);
    let (rest, own) = overridden(&series, "2026-03-09T09:00:00Z");
    check_happenings(&rest, &[10], window.0, window.1, &[]);
    check_happenings(&own, &[10], window.0, window.1, &one);
    let gone = series.without_occurrence(at("2026-03-09T09:00:00Z"), series.created_at).unwrap();
    check_happenings(&gone, &[10], window.0, window.1, &[]);
    let next = gone.next_happening(&reminders(&[]), emitted("2026-03-02T10:00:00Z"));
    assert_eq!(next, Some(at("2026-03-16T09:00:00Z")));
}

#[test]
fn a_timer_is_due_at_the_next_happening_after_the_write() {
    let event = once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let due = |event: &Event, defaults: Option<&Reminders>, now| {
        event.timer(defaults, at(now)).map(|timer| timer.due_at.to_string())
    };
    assert_eq!(due(&event, None, "2026-05-01T00:00:00Z").unwrap(), "2026-05-04T08:50:00Z", "the service's own default");
    assert_eq!(due(&event, Some(&reminders(&[60])), "2026-05-01T00:00:00Z").unwrap(), "2026-05-04T08:00:00Z");
    assert_eq!(due(&event, Some(&reminders(&[60])), "2026-05-04T08:30:00Z").unwrap(), "2026-05-04T09:00:00Z");
    assert_eq!(due(&event, None, "2026-05-04T09:10:00Z").unwrap(), "2026-05-04T09:30:00Z", "the start is past");
    assert_eq!(due(&event, None, "2026-05-04T09:30:00Z"), None);
    let own = Event { reminders: Some(reminders(&[5])), ..event.clone() };
    assert_eq!(due(&own, Some(&reminders(&[60])), "2026-05-01T00:00:00Z").unwrap(), "2026-05-04T08:55:00Z");
    assert!(
        event.timer(None, event.created_at).unwrap().inherits && !own.timer(None, own.created_at).unwrap().inherits
    );

    // A tentative event may inherit reminders until it begins.
    let maybe = Event { status: EventStatus::Tentative, ..event.clone() };
    assert_eq!(due(&maybe, Some(&reminders(&[])), "2026-05-01T00:00:00Z").unwrap(), "2026-05-04T09:00:00Z");
    assert_eq!(due(&maybe, Some(&reminders(&[])), "2026-05-04T09:00:00Z"), None);

    let hold = Hold { expires_at: at("2026-05-01T00:05:00Z"), priority: 0, scope: HoldScope::Calendar };
    let held = Event { status: EventStatus::Hold, hold: Some(hold), ..event.clone() };
    let timer = held.timer(None, at("2026-05-01T00:00:00Z")).unwrap();
    assert_eq!((timer.hold, timer.due_at), (true, hold.expires_at));
}

#[test]
fn the_timing_changes_only_with_fields_that_determine_happenings() {
    let event = weekly();
    let title = Event { title: "Other".into(), version: event.version.next(), ..event.clone() };
    assert_eq!(event.timing(), title.timing());
    let moved = once("2026-05-04T09:00:00Z", "2026-05-04T09:31:00Z");
    let (exdate, _) = overridden(&event, "2026-03-09T09:00:00Z");
    let others = [
        moved.clone(),
        exdate,
        Event { status: EventStatus::Tentative, ..event.clone() },
        Event { reminders: Some(reminders(&[])), ..event.clone() },
        Event { reminders: Some(reminders(&[10])), ..event.clone() },
        event.deleted(event.created_at).unwrap(),
    ];
    let marks: std::collections::BTreeSet<i64> = others.iter().chain([&event]).map(Event::timing).collect();
    assert_eq!(marks.len(), 7);
    // Rows written by one release are read by the next.
    assert_eq!(moved.timing(), TIMING_OF_MOVED);
}

const TIMING_OF_MOVED: i64 = -1_176_624_945_552_030_605;

#[test]
fn changed_reminders_are_not_emitted_for_the_past() {
    let event = once("2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let emitted_until = EmittedUntil { all: at("2026-05-04T08:00:00Z"), reminders: at("2026-05-04T08:50:00Z") };
    let found = event.happenings(&reminders(&[5, 10, 15]), emitted_until, at("2026-05-04T09:00:00Z"));
    assert_eq!(
        found.iter().map(|found| found.at).collect::<Vec<_>>(),
        [at("2026-05-04T08:55:00Z"), at("2026-05-04T09:00:00Z")]
    );
    assert_eq!(event.next_happening(&reminders(&[5, 10, 15]), emitted_until), Some(at("2026-05-04T08:55:00Z")));
}

/// A series, or a one-off event at the time of its first occurrence. Either has reminders of a guest.
fn events() -> impl Strategy<Value = Event> {
    let guest = proptest::collection::vec(1..=40_320_i64, 0..=3);
    (series(), any::<bool>(), guest).prop_map(|(event, once, guest)| Event {
        repeats: if once { Repeats::Once } else { event.repeats },
        guest_reminders: reminders(&guest),
        ..event
    })
}

/// The happenings, computed from every occurrence.
fn model(event: &Event, minutes: &[u16], after: Timestamp, until: Timestamp) -> Vec<Happening> {
    let mut found = Vec::new();
    let once = event.repeats == Repeats::Once;
    for span in if once { vec![event.times.span] } else { all(event) } {
        let mut add = |kind, at: Timestamp| {
            if after < at && at <= until {
                found.push(Happening { at, kind, occurrence: (!once).then_some(span.start()) });
            }
        };
        for minutes in event.guest_reminders.minutes().iter().filter(|_| once) {
            add(HappeningKind::GuestReminder, span.start() - SignedDuration::minutes((*minutes).into()));
        }
        for minutes in minutes {
            add(HappeningKind::Reminder, span.start() - SignedDuration::minutes((*minutes).into()));
        }
        if event.status == EventStatus::Confirmed {
            add(HappeningKind::Start, span.start());
            add(HappeningKind::End, span.end());
        }
    }
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(config(128))]

    /// The reminders, starts and ends of an event that are found step by step are those of the model.
    #[test]
    fn happenings_in_slices_agree_with_the_model(
        event in events(),
        tentative in any::<bool>(),
        minutes in proptest::collection::vec(1..=40_320_i64, 0..=5),
        day in -40..200_i64,
        steps in proptest::collection::vec(1..60_i64, 1..30),
    ) {
        let status = if tentative { EventStatus::Tentative } else { EventStatus::Confirmed };
        let (event, reminders) = (Event { status, ..event }, reminders(&minutes));
        let from = at("2026-03-02T00:00:00Z") + SignedDuration::days(day);
        let (mut sliced, mut here) = (Vec::new(), from);
        for step in steps {
            // Slices of at most an hour, because older happenings are dropped.
            let next = here + SignedDuration::minutes(step);
            let emitted_until = EmittedUntil::both(here);
            let slice = event.happenings(&reminders, emitted_until, next);
            let first = event.next_happening(&reminders, emitted_until);
            prop_assert_eq!(slice.first().map(|found| found.at), first.filter(|first| *first <= next));
            for found in &slice {
                let event_then = event.event_of(found).unwrap();
                prop_assert_eq!(event_then.occurrence().map(|occurrence| occurrence.start), found.occurrence);
            }
            sliced.extend(slice);
            here = next;
        }
        prop_assert_eq!(sliced, model(&event, reminders.minutes(), from, here));
    }

    /// The next reminder, start or end of an event is the first of the model.
    #[test]
    fn the_next_happening_is_the_first_of_the_model(
        event in events(),
        minutes in proptest::collection::vec(1..=40_320_i64, 0..=5),
        hour in -1_000..10_000_i64,
        later in 0..100_i64,
    ) {
        let reminders = reminders(&minutes);
        let from = at("2026-03-02T00:00:00Z") + SignedDuration::hours(hour);
        let ever = Timestamp::HORIZON + SignedDuration::days(400);
        let first = model(&event, reminders.minutes(), from, ever).first().map(|found| found.at);
        prop_assert_eq!(event.next_happening(&reminders, EmittedUntil::both(from)), first);
        let emitted_until = EmittedUntil { all: from, reminders: from + SignedDuration::hours(later) };
        let all = model(&event, reminders.minutes(), from, ever);
        let first = all.iter().find(|found| found.kind != HappeningKind::Reminder || found.at > emitted_until.reminders);
        prop_assert_eq!(event.next_happening(&reminders, emitted_until), first.map(|found| found.at));
    }
}
