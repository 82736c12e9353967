//! Malicious feeds. Each of them takes bounded work.

use std::sync::Arc;

use kalends_feeds::limits::{
    BYTES_MAX, DATES_MAX, EVENT_STEPS_MAX, EVENTS_MAX, OCCURRENCES_IN_ALL_MAX, OCCURRENCES_MAX, REPORTED_MAX,
    STEPS_MAX, ZONE_STEPS_MAX,
};
use kalends_feeds::read::{Item, ReadError, SkipReason, Warning, read};
use rstest::rstest;

use super::{busy, calendar, context, event, feed, try_read};

const START: &str = "DTSTART:20160310T090000Z\nDURATION:PT1S\n";

#[rstest]
#[case::every_second("RRULE:FREQ=SECONDLY")]
#[case::every_second_of_an_hour("RRULE:FREQ=SECONDLY;BYHOUR=9")]
#[case::every_minute("RRULE:FREQ=MINUTELY;BYDAY=MO")]
#[case::all_times_of_a_year(
    "RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20;BYSECOND=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14"
)]
fn unbounded_rules_are_cut(#[case] rule: &str) {
    let feed = feed(&event(&format!("{START}{rule}")));
    assert_eq!(feed.items.len(), OCCURRENCES_MAX);
    assert_eq!(feed.warnings, [Warning::Shortened { uid: "one".into() }]);
    assert!(feed.steps < 10 * OCCURRENCES_MAX as u64, "{}", feed.steps);
}

#[rstest]
#[case::counted_seconds("RRULE:FREQ=SECONDLY;COUNT=2000000000")]
fn rules_that_take_too_much_work_are_skipped(#[case] rule: &str) {
    let feed = feed(&event(&format!("{START}{rule}")));
    assert_eq!((feed.items.len(), feed.skipped[0].reason), (0, SkipReason::Work));
    assert!(feed.steps <= EVENT_STEPS_MAX);
}

#[rstest]
#[case::february_30("RRULE:FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30")]
#[case::no_week("RRULE:FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7")]
#[case::seldom("RRULE:FREQ=SECONDLY;INTERVAL=1000000000;BYHOUR=3")]
fn rules_without_occurrences_take_bounded_steps(#[case] rule: &str) {
    let feed = feed(&event(&format!("{START}{rule}")));
    assert!(feed.items.is_empty());
    assert!(feed.steps < 20_000, "{}", feed.steps);
}

/// All events share one limit of steps. Events that would exceed it are skipped, and events that take no steps are
/// read.
#[test]
fn costly_events_share_the_steps_of_the_feed() {
    let costly = |index: usize| {
        format!("BEGIN:VEVENT\nUID:costly-{index:03}\n{START}RRULE:FREQ=SECONDLY;COUNT=2000000000\nEND:VEVENT\n")
    };
    let mut text: String = (0..20).map(costly).collect();
    text.push_str("BEGIN:VEVENT\nUID:plain\nDTSTART:20260310T090000Z\nDURATION:PT1H\nEND:VEVENT\n");
    let feed = feed(&calendar(&text));
    assert!(feed.steps <= STEPS_MAX);
    assert_eq!(feed.skipped_count, 20);
    assert_eq!(busy(&feed), ["2026-03-10T09:00/2026-03-10T10:00"]);
}

#[test]
fn occurrences_of_a_feed_are_bounded() {
    let hourly = |index: usize| {
        format!(
            "BEGIN:VEVENT\nUID:h-{index:03}\n{START}RRULE:FREQ=MINUTELY\nDESCRIPTION:{}\nLOCATION:{}\n\
             CONFERENCE;VALUE=URI:https://a.example/{}\nEND:VEVENT\n",
            "x".repeat(15_000),
            "y".repeat(500),
            "z".repeat(1_900)
        )
    };
    let feed = feed(&calendar(&(0..12).map(hourly).collect::<String>()));
    assert_eq!(feed.items.len(), OCCURRENCES_IN_ALL_MAX);
    assert_eq!(feed.skipped_count, 2);
    assert!(feed.skipped.iter().all(|skipped| skipped.reason == SkipReason::Occurrences));
    assert!(feed.warnings.contains(&Warning::Descriptions));
    let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
    let url = |item: &Item| item.conference_url.as_ref().map_or(0, |url| url.as_str().len());
    let bytes: usize = feed.items.iter().map(|item| text(&item.description) + text(&item.location) + url(item)).sum();
    assert!((15 * 1024 * 1024..=16 * 1024 * 1024).contains(&bytes), "{bytes}");
}

#[test]
fn an_event_with_too_many_exdates_is_skipped() {
    let dates = |count: usize| vec!["20260310T090000Z"; count].join(",");
    let series = |dates: &str| event(&format!("{START}RRULE:FREQ=DAILY\nEXDATE:{dates}"));
    let most = (BYTES_MAX - 1_000) / 17;
    let many = feed(&series(&dates(most)));
    assert_eq!(many.skipped[0].reason, SkipReason::Dates);
    assert!(many.steps < 10);
    let fits = feed(&series(&dates(DATES_MAX)));
    assert_eq!((fits.items.len(), fits.skipped_count), (1, 0));
}

#[rstest]
#[case::calendars("VCALENDAR")]
#[case::alarms("VALARM")]
#[case::events("VEVENT")]
#[case::zones("VTIMEZONE")]
#[case::unknown("X-COMPONENT")]
fn nested_components_do_no_harm(#[case] name: &str) {
    let nested = |inner: &str, depth: usize| {
        format!("{}{inner}{}", format!("BEGIN:{name}\n").repeat(depth), format!("END:{name}\n").repeat(depth))
    };
    let plain = "BEGIN:VEVENT\nUID:plain\nDTSTART:20260310T090000Z\nDURATION:PT1H\nEND:VEVENT\n";
    let feed = feed(&calendar(&format!("{}{plain}", nested("X-A:1\n", 10_000))));
    assert_eq!(busy(&feed), ["2026-03-10T09:00/2026-03-10T10:00"]);
    assert_eq!(feed.steps, 0);
    // A feed with unclosed calendars is cut short.
    let open = format!("{}{plain}", "BEGIN:VCALENDAR\n".repeat(100_000));
    assert_eq!(try_read(&open), Err(ReadError::Truncated));
}

#[rstest]
#[case::every_second("RRULE:FREQ=SECONDLY")]
#[case::every_day("RRULE:FREQ=DAILY")]
#[case::no_rule("RRULE:FREQ=NEVER")]
#[case::no_offset("TZOFFSETTO:+9900")]
fn absurd_zones_are_unknown(#[case] line: &str) {
    let zone = format!(
        "BEGIN:VTIMEZONE\nTZID:Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0100\n{line}\nEND:STANDARD\nEND:VTIMEZONE\n"
    );
    let event = "BEGIN:VEVENT\nUID:one\nDTSTART;TZID=Odd:20260310T100000\nDURATION:PT1H\nEND:VEVENT";
    let feed = feed(&calendar(&format!("{zone}{event}")));
    assert_eq!(busy(&feed), ["2026-03-10T09:00/2026-03-10T10:00"]);
    assert_eq!(feed.warnings, [Warning::UnknownZone { name: "Odd".into() }]);
    assert!(feed.steps <= ZONE_STEPS_MAX);
}

#[test]
fn thousands_of_zones_and_observances_take_bounded_steps() {
    let observance = "BEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0245\nRRULE:FREQ=YEARLY;BYDAY=MO,TU,WE\nEND:STANDARD\n";
    let event = |zone: usize| {
        format!("BEGIN:VEVENT\nUID:e{zone}\nDTSTART;TZID=Odd {zone}:20260310T100000\nDURATION:PT1H\nEND:VEVENT\n")
    };
    let mut text = String::new();
    for zone in 0..1_500 {
        let count = if zone == 0 { 5_000 } else { 1 };
        text.push_str(&format!(
            "BEGIN:VTIMEZONE\nTZID:Odd {zone}\n{}END:VTIMEZONE\n{}",
            observance.repeat(count),
            event(zone)
        ));
    }
    let feed = feed(&calendar(&text));
    assert!(feed.steps <= STEPS_MAX);
    assert_eq!((feed.items.len(), feed.warnings.len()), (1_500, REPORTED_MAX));
    assert!(feed.warning_count > REPORTED_MAX);
}

#[test]
fn sizes_are_bounded() {
    let plain = event("DTSTART:20260310T090000Z\nDURATION:PT1H");
    let padded = |length: usize| format!("{plain}{}", "\n".repeat(length - plain.len()));
    assert!(read(padded(BYTES_MAX).as_bytes(), &context("UTC")).is_ok());
    let error = read(padded(BYTES_MAX + 1).as_bytes(), &context("UTC")).unwrap_err();
    assert_eq!(error, ReadError::TooLarge { bytes: BYTES_MAX + 1 });

    let events = |count: usize| {
        let event = |index| format!("BEGIN:VEVENT\nUID:{index}\nDTSTART:20260310T090000Z\nEND:VEVENT\n");
        calendar(&(0..count).map(event).collect::<String>())
    };
    assert_eq!(feed(&events(EVENTS_MAX)).items.len(), EVENTS_MAX);
    assert_eq!(try_read(&events(EVENTS_MAX + 1)), Err(ReadError::TooManyEvents));
}

#[test]
fn all_skipped_events_are_counted_and_the_first_reported() {
    let broken = |index: usize| format!("BEGIN:VEVENT\nUID:b-{index:04}\nEND:VEVENT\n");
    let feed = feed(&calendar(&(0..500).map(broken).collect::<String>()));
    assert_eq!((feed.skipped.len(), feed.skipped_count), (REPORTED_MAX, 500));
    assert_eq!(feed.skipped[0].uid, "b-0000");
}
