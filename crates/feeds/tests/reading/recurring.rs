//! Series that are kept, series that are expanded, and exceptions.

use kalends_feeds::read::{Feed, Item, SkipReason, What};
use kalends_time::Timestamp;
use rstest::rstest;

use super::{at, busy, calendar, event, feed};

/// A second rule, which gives only the first start. A series with two rules is expanded.
const SECOND_RULE: &str = "\nRRULE:FREQ=YEARLY;COUNT=1";

const DAILY: &str = "DTSTART:20260309T090000Z\nDTEND:20260309T100000Z\nRRULE:FREQ=DAILY;COUNT=4";

/// A calendar with a series and other events with the same `UID`.
fn with(master: &str, others: &[&str]) -> Feed {
    let event = |lines: &str| format!("BEGIN:VEVENT\nUID:one\nDTSTAMP:20260301T000000Z\n{lines}\nEND:VEVENT\n");
    feed(&calendar(&std::iter::once(master).chain(others.iter().copied()).map(event).collect::<String>()))
}

fn series(feed: &Feed) -> Vec<&Item> {
    feed.items.iter().filter(|item| matches!(item.what, What::Series(_))).collect()
}

/// The start of each busy span, as `MM-DDTHH`.
fn starts(feed: &Feed) -> Vec<String> {
    busy(feed).iter().map(|span| span[5..13].to_owned()).collect()
}

#[rstest]
#[case::plain("RRULE:FREQ=DAILY;COUNT=4", "FREQ=DAILY;COUNT=4")]
#[case::sloppy("RRULE:freq=weekly; byday=MO, WE;INTERVAL=1;", "FREQ=WEEKLY;BYDAY=MO,WE")]
#[case::ordinals_within_weeks("RRULE:FREQ=WEEKLY;BYDAY=1MO", "FREQ=WEEKLY;BYDAY=MO")]
#[case::local_until("RRULE:FREQ=DAILY;UNTIL=20260312T100000", "FREQ=DAILY;UNTIL=20260312T090000Z")]
#[case::date_until("RRULE:FREQ=DAILY;UNTIL=20260312", "FREQ=DAILY;UNTIL=20260312")]
#[case::twice_the_same("RRULE:FREQ=DAILY\nRRULE:FREQ=DAILY", "FREQ=DAILY")]
#[case::by_hour("RRULE:FREQ=DAILY;BYHOUR=9,15;COUNT=3", "FREQ=DAILY;BYHOUR=9,15;COUNT=3")]
#[case::year_days("RRULE:FREQ=YEARLY;BYYEARDAY=69,-1", "FREQ=YEARLY;BYYEARDAY=69,-1")]
#[case::weeks("RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO")]
#[case::long_intervals("RRULE:FREQ=DAILY;INTERVAL=2000;COUNT=5", "FREQ=DAILY;INTERVAL=2000;COUNT=5")]
#[case::count_and_until("RRULE:FREQ=DAILY;COUNT=9;UNTIL=20260312", "FREQ=DAILY;UNTIL=20260312")]
fn series_of_days_are_kept(#[case] rule: &str, #[case] kept: &str) {
    let feed = feed(&event(&format!("DTSTART;TZID=Europe/Berlin:20260309T100000\nDURATION:PT1H\n{rule}")));
    let [Item { what: What::Series(recurrence), recurrence_id: None, .. }] = feed.items.as_slice() else {
        panic!("{:?}", feed.items)
    };
    assert_eq!((recurrence.rule().to_string().as_str(), recurrence.zone().name()), (kept, "Europe/Berlin"));
}

#[rstest]
#[case::hours("RRULE:FREQ=HOURLY;COUNT=3", 3)]
#[case::more_than_every_hour("RRULE:FREQ=DAILY;BYHOUR=9,10,11,12,13;BYMINUTE=0,12,24,36,48;COUNT=3", 3)]
#[case::two_rules("RRULE:FREQ=DAILY;COUNT=2\nRRULE:FREQ=WEEKLY;COUNT=2", 3)]
#[case::excluded_rule("RRULE:FREQ=DAILY;COUNT=4\nEXRULE:FREQ=DAILY;INTERVAL=2;COUNT=2", 2)]
#[case::no_date_of_its_own("RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", 1)]
fn other_series_are_expanded(#[case] rule: &str, #[case] count: usize) {
    let feed = feed(&event(&format!("DTSTART:20260309T090000Z\nDURATION:PT1M\n{rule}")));
    assert_eq!(feed.items.len(), count);
    for item in &feed.items {
        assert_eq!((&item.what, item.recurrence_id), (&What::Once, Some(item.times.span.start())));
    }
}

#[test]
fn series_are_expanded_around_the_present() {
    let feed = feed(&event("DTSTART:20100101T090000Z\nDURATION:PT1H\nRRULE:FREQ=HOURLY;BYHOUR=9"));
    let first = feed.items.first().unwrap().times.span;
    let last = feed.items.last().unwrap().times.span;
    assert_eq!(first.start(), at("2025-03-11T09:00:00Z"));
    assert_eq!(last.start(), at("2028-03-09T09:00:00Z"));
    assert_eq!(feed.items.len(), 1 + 364 + 730);
}

#[test]
fn a_series_with_too_many_exdates_is_expanded() {
    let exdates = |count: i64| {
        let dates: Vec<String> = (0..count)
            .map(|day| (at("2024-01-01T09:00:00Z") + kalends_time::SignedDuration::days(day)).to_string())
            .map(|date| date.replace(['-', ':'], ""))
            .collect();
        let lines = "DTSTART:20240101T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=1002";
        feed(&event(&format!("{lines}\nEXDATE:{}", dates.join(","))))
    };
    let (kept, expanded) = (exdates(1_000), exdates(1_001));
    assert_eq!((series(&kept).len(), kept.items.len()), (1, 1));
    assert_eq!((series(&expanded).len(), expanded.items.len()), (0, 1));
    // The last of the 1,002 occurrences is on 28 September 2026.
    assert_eq!(
        (starts(&kept), starts(&expanded)),
        (vec!["09-27T09".into(), "09-28T09".into()], vec!["09-28T09".into()])
    );
}

#[test]
fn an_override_is_an_occurrence_of_its_series() {
    let moved = "RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T120000Z\nDTEND:20260310T130000Z\nSUMMARY:Moved";
    let feed = with(DAILY, &[moved]);
    assert_eq!(starts(&feed), ["03-09T09", "03-10T12", "03-11T09", "03-12T09"]);
    let changed = &feed.items[1];
    assert_eq!(changed.what, What::Override { series: None });
    assert_eq!(changed.recurrence_id, Some(at("2026-03-10T09:00:00Z")));
    let What::Series(recurrence) = &feed.items[0].what else { panic!("{:?}", feed.items) };
    assert_eq!(recurrence.overridden(), [at("2026-03-10T09:00:00Z")]);
}

#[rstest]
#[case::cancelled("RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T090000Z\nSTATUS:CANCELLED", &["03-09T09", "03-11T09", "03-12T09"])]
#[case::transparent("RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T090000Z\nDURATION:PT1H\nTRANSP:TRANSPARENT", &["03-09T09", "03-11T09", "03-12T09"])]
#[case::in_another_zone("RECURRENCE-ID;TZID=Asia/Tokyo:20260310T180000\nDTSTART:20260310T120000Z\nDURATION:PT1H", &["03-09T09", "03-10T12", "03-11T09", "03-12T09"])]
#[case::by_date("RECURRENCE-ID;VALUE=DATE:20260310\nDTSTART:20260310T120000Z\nDURATION:PT1H", &["03-09T09", "03-10T12", "03-11T09", "03-12T09"])]
#[case::of_no_occurrence("RECURRENCE-ID:20260320T090000Z\nDTSTART:20260320T120000Z\nDURATION:PT1H", &["03-09T09", "03-10T09", "03-11T09", "03-12T09", "03-20T12"])]
#[case::of_the_first("RECURRENCE-ID:20260309T090000Z\nDTSTART:20260309T120000Z\nDURATION:PT1H", &["03-09T12", "03-10T09", "03-11T09", "03-12T09"])]
#[case::broken("RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T120000Z\nDURATION:-PT1H", &["03-09T09", "03-10T09", "03-11T09", "03-12T09"])]
fn overrides(#[case] changed: &str, #[case] expected: &[&str]) {
    assert_eq!(starts(&with(DAILY, &[changed])), expected);
    // It makes no difference whether a series is kept or expanded.
    assert_eq!(starts(&with(&format!("{DAILY}{SECOND_RULE}"), &[changed])), expected);
}

#[test]
fn an_excluded_occurrence_with_an_override_takes_place() {
    let moved = "RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T120000Z\nDTEND:20260310T130000Z";
    for rule in ["", SECOND_RULE] {
        let feed = with(&format!("{DAILY}{rule}\nEXDATE:20260310T090000Z"), &[moved]);
        assert_eq!(starts(&feed), ["03-09T09", "03-10T12", "03-11T09", "03-12T09"]);
    }
}

#[rstest]
#[case::sequence("SEQUENCE:2", "SEQUENCE:1")]
#[case::stamp("DTSTAMP:20260309T000000Z", "DTSTAMP:20260308T000000Z")]
fn the_later_of_two_overrides_counts(#[case] newer: &str, #[case] older: &str) {
    let to = |hour: u8, line: &str| {
        format!("RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T{hour}0000Z\nDURATION:PT1H\n{line}")
    };
    for lines in [[to(12, newer), to(15, older)], [to(15, older), to(12, newer)]] {
        assert_eq!(starts(&with(DAILY, &[&lines[0], &lines[1]]))[1], "03-10T12");
    }
}

#[test]
fn a_cancelled_series_is_gone_with_its_overrides() {
    let moved = "RECURRENCE-ID:20260310T090000Z\nDTSTART:20260310T120000Z\nDURATION:PT1H";
    let feed = with(&format!("{DAILY}\nSTATUS:CANCELLED"), &[moved]);
    assert_eq!((feed.items.len(), feed.cancelled_count, feed.skipped_count), (0, 1, 0));
}

#[rstest]
#[case::time("RECURRENCE-ID:20260309T090000Z,x\nDTSTART:20260309T120000Z", SkipReason::RecurrenceId)]
fn broken_overrides_are_skipped(#[case] changed: &str, #[case] reason: SkipReason) {
    let feed = with(DAILY, &[changed]);
    assert_eq!((feed.skipped[0].reason, starts(&feed).len()), (reason, 4));
}

#[rstest]
#[case::later_in_the_day("DTSTART:20260311T110000Z\nDTEND:20260311T113000Z", 2, &["03-09T09", "03-10T09", "03-11T11", "03-12T11"])]
#[case::another_day("DTSTART:20260312T110000Z\nDTEND:20260312T113000Z", 0, &["03-09T09", "03-10T09", "03-12T11", "03-13T11"])]
#[case::cancelled("DTSTART:20260311T090000Z\nSTATUS:CANCELLED", 1, &["03-09T09", "03-10T09"])]
#[case::another_zone("DTSTART;TZID=Asia/Tokyo:20260311T200000\nDURATION:PT1H", 0, &["03-09T09", "03-10T09", "03-11T11", "03-12T11"])]
fn this_and_future(#[case] lines: &str, #[case] kept: usize, #[case] expected: &[&str]) {
    let changed = format!("RECURRENCE-ID;RANGE=THISANDFUTURE:20260311T090000Z\n{lines}");
    let feed = with(DAILY, &[&changed]);
    assert_eq!(
        (series(&feed).len(), starts(&feed)),
        (kept, expected.iter().map(|start| (*start).to_owned()).collect())
    );
    let expanded = with(&format!("{DAILY}{SECOND_RULE}"), &[&changed]);
    assert_eq!((series(&expanded).len(), starts(&expanded)), (0, starts(&feed)));
}

#[test]
fn this_and_future_from_the_first_on_replaces_the_series() {
    let changed = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260309T090000Z\nDTSTART:20260309T150000Z\nDURATION:PT1H";
    let feed = with(DAILY, &[changed]);
    assert_eq!(starts(&feed), ["03-09T15", "03-10T15", "03-11T15", "03-12T15"]);
    assert_eq!(series(&feed).len(), 1);
}

#[test]
fn overrides_and_exdates_after_this_and_future() {
    let later = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260310T090000Z\nDTSTART:20260310T110000Z\nDURATION:PT1H";
    let one = "RECURRENCE-ID:20260312T090000Z\nDTSTART:20260312T200000Z\nDURATION:PT1H";
    let expected = ["03-09T09", "03-10T11", "03-12T20"];
    let kept = with(&format!("{DAILY}\nEXDATE:20260311T090000Z"), &[later, one]);
    assert_eq!(starts(&kept), expected);
    let split = Some(at("2026-03-10T09:00:00Z"));
    let changed = kept.items.iter().find(|item| item.what == What::Override { series: split }).unwrap();
    assert_eq!(changed.recurrence_id, Some(at("2026-03-12T11:00:00Z")));
    assert!(series(&kept).iter().any(|item| item.recurrence_id == split));
    let twice = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260312T090000Z\nDTSTART:20260312T130000Z\nDURATION:PT1H";
    let expanded = with(DAILY, &[later, twice]);
    assert_eq!(starts(&expanded), ["03-09T09", "03-10T11", "03-11T11", "03-12T13"]);
    assert_eq!(series(&expanded).len(), 0);
}

#[test]
fn an_excluded_occurrence_with_this_and_future_takes_place() {
    let later = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260311T090000Z\nDTSTART:20260311T110000Z\nDURATION:PT1H";
    for rule in ["", SECOND_RULE] {
        let feed = with(&format!("{DAILY}{rule}\nEXDATE:20260311T090000Z"), &[later]);
        assert_eq!(starts(&feed), ["03-09T09", "03-10T09", "03-11T11", "03-12T11"]);
    }
}

#[rstest]
#[case::series("FREQ=DAILY;COUNT=3")]
#[case::expanded("FREQ=DAILY;BYHOUR=2;COUNT=3")]
fn occurrences_moved_out_of_a_gap_keep_their_shift(#[case] rule: &str) {
    // In 2026 the clocks of Berlin skip 02:30 on 29 March.
    let master = format!("DTSTART;TZID=Europe/Berlin:20260328T023000\nDURATION:PT15M\nRRULE:{rule}");
    let later = "RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20260328T023000\nDTSTART;TZID=Europe/Berlin:20260328T053000\nDURATION:PT15M";
    let expected =
        ["2026-03-28T04:30/2026-03-28T04:45", "2026-03-29T03:30/2026-03-29T03:45", "2026-03-30T03:30/2026-03-30T03:45"];
    assert_eq!(busy(&with(&master, &[later])), expected);
    let skipped = "\nEXDATE;TZID=Europe/Berlin:20260329T023000";
    assert_eq!(busy(&with(&format!("{master}{skipped}"), &[later])), [expected[0], expected[2]]);
}

#[test]
fn the_starts_a_day_of_all_series_are_bounded() {
    // Each has 23 starts a day more than a plain daily series, so 43 of them are within the limit.
    let hours: Vec<String> = (0..24).map(|hour: u32| hour.to_string()).collect();
    let often = |number: u32| {
        let rule = format!("FREQ=DAILY;BYHOUR={};COUNT=48", hours.join(","));
        let lines = format!("UID:{number}\nDTSTART:20260309T000000Z\nDURATION:PT15M\nRRULE:{rule}");
        format!("BEGIN:VEVENT\nDTSTAMP:20260301T000000Z\n{lines}\nEND:VEVENT\n")
    };
    let feed = feed(&calendar(&(0..44).map(often).collect::<String>()));
    assert_eq!(series(&feed).len(), 43);
    assert_eq!(feed.items.len(), 43 + 48);
}

#[test]
fn an_override_after_the_end_of_a_series_takes_place() {
    let ended = "RECURRENCE-ID;RANGE=THISANDFUTURE:20260310T090000Z\nDTSTART:20260310T090000Z\nSTATUS:CANCELLED";
    let one = "RECURRENCE-ID:20260312T090000Z\nDTSTART:20260312T200000Z\nDURATION:PT1H";
    for rule in ["", SECOND_RULE] {
        assert_eq!(starts(&with(&format!("{DAILY}{rule}"), &[ended, one])), ["03-09T09", "03-12T20"]);
    }
}

#[rstest]
#[case::a_day_by_the_calendar("TZID=Europe/Berlin:20260321T120000", "P1D", 0, &["03-21T11:00/2026-03-22T11:00", "03-28T11:00/2026-03-29T10:00", "04-04T10:00/2026-04-05T10:00"])]
#[case::a_day_and_hours("TZID=Europe/Berlin:20260321T120000", "P1DT1H", 0, &["03-21T11:00/2026-03-22T12:00", "03-28T11:00/2026-03-29T11:00", "04-04T10:00/2026-04-05T11:00"])]
#[case::hours("TZID=Europe/Berlin:20260321T120000", "PT24H", 1, &["03-21T11:00/2026-03-22T11:00", "03-28T11:00/2026-03-29T11:00", "04-04T10:00/2026-04-05T10:00"])]
#[case::a_day_in_utc("X-A=1:20260321T120000Z", "P1D", 1, &["03-21T12:00/2026-03-22T12:00", "03-28T12:00/2026-03-29T12:00", "04-04T12:00/2026-04-05T12:00"])]
fn lengths_of_occurrences(#[case] start: &str, #[case] length: &str, #[case] kept: usize, #[case] expected: &[&str]) {
    let feed = feed(&event(&format!("DTSTART;{start}\nDURATION:{length}\nRRULE:FREQ=WEEKLY;COUNT=3")));
    let expected: Vec<String> = expected.iter().map(|span| format!("2026-{span}")).collect();
    assert_eq!((series(&feed).len(), busy(&feed)), (kept, expected));
}

#[test]
fn only_the_skipped_first_occurrence_is_moved() {
    let feed = feed(&event("DTSTART;TZID=Europe/Berlin:20260329T023000\nDURATION:PT15M\nRRULE:FREQ=DAILY;COUNT=3"));
    let expected =
        ["2026-03-29T01:30/2026-03-29T01:45", "2026-03-30T00:30/2026-03-30T00:45", "2026-03-31T00:30/2026-03-31T00:45"];
    assert_eq!(busy(&feed), expected);
}

#[rstest]
#[case::with_a_rule("RRULE:FREQ=DAILY;COUNT=2\nRDATE:20260315T090000Z,20260310T090000Z", &["03-09T09", "03-10T09", "03-15T09"], 1)]
#[case::alone("RDATE:20260315T090000Z", &["03-09T09", "03-15T09"], 0)]
#[case::date("RDATE;VALUE=DATE:20260315", &["03-09T09", "03-15T09"], 0)]
#[case::excluded("RDATE:20260315T090000Z\nEXDATE:20260315T090000Z", &["03-09T09"], 0)]
#[case::first_excluded("RDATE:20260315T090000Z\nEXDATE:20260309T090000Z", &["03-15T09"], 0)]
#[case::far_ahead_and_unreadable("RDATE:20260315T090000Z,x,20990315T090000Z", &["03-09T09", "03-15T09"], 0)]
#[case::period_backwards("RDATE;VALUE=PERIOD:20260315T090000Z/20260314T090000Z", &["03-09T09"], 0)]
fn named_dates(#[case] lines: &str, #[case] expected: &[&str], #[case] kept: usize) {
    let feed = feed(&event(&format!("DTSTART:20260309T090000Z\nDURATION:PT1H\n{lines}")));
    assert_eq!(
        (starts(&feed), series(&feed).len()),
        (expected.iter().map(|start| (*start).to_owned()).collect(), kept)
    );
}

#[rstest]
#[case::utc_midnight("EXDATE:20260310T000000Z")]
#[case::local("EXDATE:20260310T120000")]
#[case::date("EXDATE;VALUE=DATE:20260310")]
#[case::instant_of_midnight("EXDATE:20260309T230000Z")]
fn exdates_of_all_day_events(#[case] exdate: &str) {
    let feed = feed(&event(&format!("DTSTART;VALUE=DATE:20260309\nRRULE:FREQ=DAILY;COUNT=3\n{exdate}")));
    assert_eq!(busy(&feed), ["2026-03-08T23:00/2026-03-09T23:00", "2026-03-10T23:00/2026-03-11T23:00"]);
}

#[test]
fn series_from_before_1970_continue_from_1970() {
    let count = |count: u32| feed(&event(&format!("DTSTART;VALUE=DATE:19600310\nRRULE:FREQ=YEARLY;COUNT={count}")));
    let kept = count(67);
    let [Item { what: What::Series(recurrence), times, .. }] = kept.items.as_slice() else {
        panic!("{:?}", kept.items)
    };
    assert_eq!(times.span.start(), at("1970-03-09T23:00:00Z"));
    assert_eq!(recurrence.last_start(), Some(at("2026-03-09T23:00:00Z")));
    assert_eq!(count(10).skipped[0].reason, SkipReason::Years);
}

#[test]
fn described_zones_expand_with_their_own_clocks() {
    let zone = |daylight: &str| {
        format!(
            "BEGIN:VTIMEZONE\nTZID:Own\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:19700329T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n{daylight}\nEND:DAYLIGHT\nEND:VTIMEZONE\n"
        )
    };
    let event = "BEGIN:VEVENT\nUID:one\nDTSTART;TZID=Own:20260327T100000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=4\nEND:VEVENT\n";
    let like_berlin = feed(&calendar(&format!("{}{event}", zone("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU"))));
    let [Item { what: What::Series(recurrence), .. }] = like_berlin.items.as_slice() else { panic!("{like_berlin:?}") };
    assert_eq!(recurrence.zone().name(), "Europe/Berlin");
    // No known zone has a summer time that begins a day early.
    let own = feed(&calendar(&format!("{}{event}", zone("RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SA"))));
    assert_eq!((own.items.len(), series(&own).len()), (4, 0));
    assert_eq!(starts(&own), ["03-27T09", "03-28T08", "03-29T08", "03-30T08"]);
    assert_eq!(starts(&like_berlin), ["03-27T09", "03-28T09", "03-29T08", "03-30T08"]);
}

#[test]
fn zones_can_be_described_by_dates_alone() {
    let zone = "BEGIN:VTIMEZONE\nTZID:Dates\nBEGIN:STANDARD\nDTSTART:20251026T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\nRDATE:20261025T030000\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:20260329T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nEND:DAYLIGHT\nEND:VTIMEZONE\n";
    let event = |uid: u8, date: &str| {
        format!("BEGIN:VEVENT\nUID:{uid}\nDTSTART;TZID=Dates:{date}T100000\nDURATION:PT1H\nEND:VEVENT\n")
    };
    let text = format!("{}{}{zone}{}", event(1, "20260301"), event(2, "20260701"), event(3, "20261201"));
    assert_eq!(starts(&feed(&calendar(&text))), ["03-01T09", "07-01T08", "12-01T09"]);
}

/// A series that is kept and one that is expanded have the same occurrences.
#[rstest]
#[case("FREQ=DAILY;INTERVAL=3;COUNT=40")]
#[case("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU;COUNT=40")]
#[case("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO;COUNT=40")]
#[case("FREQ=MONTHLY;BYDAY=-1FR,1MO;COUNT=30")]
#[case("FREQ=MONTHLY;BYMONTHDAY=-1,13,31;COUNT=30")]
#[case("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1,2;COUNT=30")]
#[case("FREQ=YEARLY;BYMONTH=11;BYDAY=2TU;COUNT=8")]
#[case("FREQ=YEARLY;BYDAY=20MO,-1SU;COUNT=8")]
#[case("FREQ=YEARLY;BYMONTH=1,6;COUNT=8")]
#[case("FREQ=DAILY;BYMONTH=2,3;BYDAY=MO,FR;COUNT=20")]
#[case("FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=31;COUNT=6")]
fn kept_and_expanded_series_agree(#[case] rule: &str) {
    let series =
        |rule: &str| feed(&event(&format!("DTSTART;TZID=Europe/Berlin:20260131T083000\nDURATION:PT1H\nRRULE:{rule}")));
    let (kept, expanded) = (series(rule), series(&format!("{rule}{SECOND_RULE}")));
    assert!(matches!(kept.items[0].what, What::Series(_)) && expanded.items.len() > 1);
    let window = kalends_time::Span::new(Timestamp::EPOCH, at("2028-03-01T00:00:00Z")).unwrap();
    assert_eq!(kept.busy(window), expanded.busy(window));
}
