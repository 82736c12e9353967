//! Tables of texts, and what holds for every text.

use proptest::prelude::*;
use rstest::rstest;

use super::words::WEEKDAYS;
use super::*;
use crate::testing::{any_timestamp, civil_date_time, config, timestamp, whole_second, zone};
use crate::{SignedDuration, Timestamp, Zone};

/// A Friday, at 10:00 in Berlin.
const FRIDAY: &str = "2026-03-06T09:00:00Z";

fn berlin() -> Zone {
    "Europe/Berlin".parse().unwrap()
}

fn read(text: &str, now: &str) -> Result<Resolved, Unresolved> {
    resolve(text, berlin(), now.parse().unwrap())
}

/// The texts that an ambiguous text may mean.
fn candidates(text: &str, now: &str) -> Vec<String> {
    match read(text, now) {
        Err(Unresolved::Ambiguous { candidates }) => candidates,
        other => panic!("{text}: {other:?}"),
    }
}

#[rstest]
#[case::now("now", "Friday, 2026-03-06, at 10:00")]
#[case::today("today", "Friday, 2026-03-06")]
#[case::tomorrow("Tomorrow", "Saturday, 2026-03-07")]
#[case::yesterday("yesterday at noon", "Thursday, 2026-03-05, at 12:00")]
#[case::after_tomorrow("the day after tomorrow", "Sunday, 2026-03-08")]
#[case::before_yesterday("day before yesterday", "Wednesday, 2026-03-04")]
#[case::weekday("Tuesday", "Tuesday, 2026-03-10")]
#[case::short_weekday("tue, 2pm", "Tuesday, 2026-03-10, at 14:00")]
#[case::next("next Tuesday 2pm", "Tuesday, 2026-03-10, at 14:00")]
#[case::next_on_that_weekday("next Friday", "Friday, 2026-03-13")]
#[case::coming("coming Friday", "Friday, 2026-03-13")]
#[case::coming_soon("coming sat", "Saturday, 2026-03-07")]
#[case::this("this Sunday", "Sunday, 2026-03-08")]
#[case::this_is_today("this Friday at 18:00", "Friday, 2026-03-06, at 18:00")]
#[case::last("last Friday", "Friday, 2026-02-27")]
#[case::last_sunday("last Sunday", "Sunday, 2026-03-01")]
#[case::of_next_week("Thursday next week", "Thursday, 2026-03-12")]
#[case::next_week_on("next week on Thursday at 9am", "Thursday, 2026-03-12, at 09:00")]
#[case::of_last_week("Sunday last week", "Sunday, 2026-03-01")]
#[case::in_days("in 3 days", "Monday, 2026-03-09")]
#[case::in_days_at("in three days at 2 pm", "Monday, 2026-03-09, at 14:00")]
#[case::days_ago("2 days ago", "Wednesday, 2026-03-04")]
#[case::a_week("a week from now", "Friday, 2026-03-13")]
#[case::months("in two months", "Wednesday, 2026-05-06")]
#[case::minutes("in 90 minutes", "Friday, 2026-03-06, at 11:30")]
#[case::an_hour("in an hour", "Friday, 2026-03-06, at 11:00")]
#[case::hours_from_now("2 hours from now", "Friday, 2026-03-06, at 12:00")]
#[case::half_an_hour("half an hour ago", "Friday, 2026-03-06, at 09:30")]
#[case::iso_date("2026-03-10", "Tuesday, 2026-03-10")]
#[case::date_with_slashes("2026/03/10", "Tuesday, 2026-03-10")]
#[case::date_that_is_over("5 March", "Friday, 2027-03-05")]
#[case::date_of_today("6 March", "Friday, 2026-03-06")]
#[case::date_of_a_year("5 March 2026", "Thursday, 2026-03-05")]
#[case::month_first("March 10th, 2026", "Tuesday, 2026-03-10")]
#[case::short_month("Apr 5", "Sunday, 2026-04-05")]
#[case::ordinal("the 5th of April", "Sunday, 2026-04-05")]
#[case::weekday_with_date("Sunday, 5 April, at 9:00am", "Sunday, 2026-04-05, at 09:00")]
#[case::only_the_day_comes_first("25/12/2026", "Friday, 2026-12-25")]
#[case::the_weekday_decides("Friday 03/04/2026", "Friday, 2026-04-03")]
#[case::clock("14:00", "Friday, 2026-03-06, at 14:00")]
#[case::clock_that_is_over("9am", "Saturday, 2026-03-07, at 09:00")]
#[case::clock_of_now("10:00", "Saturday, 2026-03-07, at 10:00")]
#[case::seconds("at 14:00:30", "Friday, 2026-03-06, at 14:00:30")]
#[case::clock_first("2:30 p.m. tomorrow", "Saturday, 2026-03-07, at 14:30")]
#[case::noon("12pm", "Friday, 2026-03-06, at 12:00")]
#[case::twelve_am("12am", "Saturday, 2026-03-07, at 00:00")]
#[case::midnight("midnight", "Saturday, 2026-03-07, at 00:00")]
#[case::midnight_of_a_day("Sunday at midnight", "Sunday, 2026-03-08, at 00:00")]
#[case::bare_hour("tomorrow at 15", "Saturday, 2026-03-07, at 15:00")]
#[case::this_morning("this morning", "Friday, 2026-03-06, from 08:00 to 12:00")]
#[case::morning("morning", "Saturday, 2026-03-07, from 08:00 to 12:00")]
#[case::afternoon("Monday afternoon", "Monday, 2026-03-09, from 12:00 to 18:00")]
#[case::tonight("tonight", "Friday, 2026-03-06, from 18:00 to 22:00")]
#[case::hour_in_the_morning("tomorrow at 8 in the morning", "Saturday, 2026-03-07, at 08:00")]
#[case::hour_of_the_evening("tomorrow evening at 7:30", "Saturday, 2026-03-07, at 19:30")]
#[case::range("tomorrow 2pm to 3pm", "Saturday, 2026-03-07, from 14:00 to 15:00")]
#[case::range_first("from 2 to 3pm tomorrow", "Saturday, 2026-03-07, from 14:00 to 15:00")]
#[case::range_with_dash("tomorrow 2-3 p.m.", "Saturday, 2026-03-07, from 14:00 to 15:00")]
#[case::range_of_a_clock("14:00–15:30", "Friday, 2026-03-06, from 14:00 to 15:30")]
#[case::range_that_only_24_hours_show("tomorrow 9 to 14", "Saturday, 2026-03-07, from 09:00 to 14:00")]
#[case::range_over_noon("11 to 1pm", "Friday, 2026-03-06, from 11:00 to 13:00")]
#[case::range_from_a_half("tomorrow 11am to 1", "Saturday, 2026-03-07, from 11:00 to 13:00")]
#[case::range_between("between 2pm and 3pm on Monday", "Monday, 2026-03-09, from 14:00 to 15:00")]
#[case::range_over_midnight("10pm to 2am", "Friday, 2026-03-06, from 22:00 to Saturday, 2026-03-07, at 02:00")]
#[case::range_to_midnight(
    "Monday 10pm until midnight",
    "Monday, 2026-03-09, from 22:00 to Tuesday, 2026-03-10, at 00:00"
)]
#[case::range_from_now("now until 5pm", "Friday, 2026-03-06, from 10:00 to 17:00")]
#[case::range_of_days("Monday to Wednesday", "Monday, 2026-03-09, to Wednesday, 2026-03-11")]
#[case::range_over_the_year("28 December to 3 January", "Monday, 2026-12-28, to Sunday, 2027-01-03")]
#[case::range_of_two_days("Mon 9am to Tue 5pm", "Monday, 2026-03-09, from 09:00 to Tuesday, 2026-03-10, at 17:00")]
#[case::local("2026-03-05T14:00", "Thursday, 2026-03-05, at 14:00")]
#[case::local_with_a_space("2026-03-05 14:00", "Thursday, 2026-03-05, at 14:00")]
#[case::instant("2026-03-05T13:00:00Z", "Thursday, 2026-03-05, at 14:00")]
#[case::instant_without_seconds("2026-03-05T14:00+01:00", "Thursday, 2026-03-05, at 14:00")]
#[case::instants("2026-03-05T13:00:00Z to 2026-03-05T14:00:00Z", "Thursday, 2026-03-05, from 14:00 to 15:00")]
#[case::loud("TOMORROW, AT 3PM.", "Saturday, 2026-03-07, at 15:00")]
fn texts_are_read(#[case] text: &str, #[case] reading: &str) {
    let resolved = read(text, FRIDAY).unwrap();
    assert_eq!(resolved.reading, reading);
    assert_eq!(read(reading, FRIDAY), Ok(resolved));
}

#[rstest]
#[case::moment("tomorrow 2pm", "2026-03-07T13:00:00Z", None, Precision::Minute)]
#[case::day("tomorrow", "2026-03-06T23:00:00Z", Some("2026-03-07T23:00:00Z"), Precision::Day)]
#[case::part("tomorrow morning", "2026-03-07T07:00:00Z", Some("2026-03-07T11:00:00Z"), Precision::Minute)]
#[case::range_of_days("9 March to 10 March", "2026-03-08T23:00:00Z", Some("2026-03-10T23:00:00Z"), Precision::Day)]
#[case::short_day("29 March", "2026-03-28T23:00:00Z", Some("2026-03-29T22:00:00Z"), Precision::Day)]
#[case::over_the_gap(
    "29 March 1:30am to 3:30am",
    "2026-03-29T00:30:00Z",
    Some("2026-03-29T01:30:00Z"),
    Precision::Minute
)]
fn spans_have_an_end(#[case] text: &str, #[case] start: &str, #[case] end: Option<&str>, #[case] precision: Precision) {
    let resolved = read(text, FRIDAY).unwrap();
    assert_eq!((resolved.start.to_string().as_str(), resolved.precision), (start, precision));
    assert_eq!(resolved.end.map(|end| end.to_string()).as_deref(), end);
}

#[rstest]
#[case::leap_day("2028-02-28T12:00:00Z", "tomorrow", "Tuesday, 2028-02-29")]
#[case::next_leap_day("2026-03-06T12:00:00Z", "29 February", "Tuesday, 2028-02-29")]
#[case::short_month("2026-01-31T12:00:00Z", "in a month", "Saturday, 2026-02-28")]
#[case::over_the_year("2026-12-31T12:00:00Z", "in 2 months", "Sunday, 2027-02-28")]
#[case::new_year("2026-12-31T12:00:00Z", "tomorrow at 9am", "Friday, 2027-01-01, at 09:00")]
#[case::the_day_is_that_of_the_zone("2026-03-06T23:30:00Z", "today", "Saturday, 2026-03-07")]
#[case::before_midnight("2026-03-06T22:59:59Z", "midnight", "Saturday, 2026-03-07, at 00:00")]
#[case::at_midnight("2026-03-06T23:00:00Z", "midnight", "Sunday, 2026-03-08, at 00:00")]
#[case::after_the_gap("2026-03-29T08:00:00Z", "02:30", "Monday, 2026-03-30, at 02:30")]
#[case::hours_are_exact("2026-03-29T00:30:00Z", "in an hour", "Sunday, 2026-03-29, at 03:30")]
fn edges_of_the_calendar(#[case] now: &str, #[case] text: &str, #[case] reading: &str) {
    assert_eq!(read(text, now).map(|resolved| resolved.reading), Ok(reading.to_owned()));
}

#[rstest]
#[case::hour("tomorrow at 3", FRIDAY, &["Saturday, 2026-03-07, at 03:00", "Saturday, 2026-03-07, at 15:00"])]
#[case::next_hour("at 3", FRIDAY, &["Friday, 2026-03-06, at 15:00", "Saturday, 2026-03-07, at 03:00"])]
#[case::one_digit("Monday 2:30", FRIDAY, &["Monday, 2026-03-09, at 02:30", "Monday, 2026-03-09, at 14:30"])]
#[case::range("2 to 3", FRIDAY, &["Friday, 2026-03-06, from 14:00 to 15:00", "Saturday, 2026-03-07, from 02:00 to 03:00"])]
#[case::range_of_24_hours(
    "tomorrow 8:00-20:30", FRIDAY,
    &["Saturday, 2026-03-07, from 08:00 to 20:30", "Saturday, 2026-03-07, from 20:00 to 20:30"]
)]
#[case::slashes("03/04/2026", FRIDAY, &["Wednesday, 2026-03-04", "Friday, 2026-04-03"])]
#[case::that_weekday("Friday", FRIDAY, &["Friday, 2026-03-06", "Friday, 2026-03-13"])]
#[case::next("next Friday", "2026-03-04T09:00:00Z", &["Friday, 2026-03-06", "Friday, 2026-03-13"])]
#[case::this("this Tuesday", FRIDAY, &["Tuesday, 2026-03-03", "Tuesday, 2026-03-10"])]
#[case::last("last Tuesday", FRIDAY, &["Tuesday, 2026-02-24", "Tuesday, 2026-03-03"])]
#[case::repeated("2026-10-25 02:30", FRIDAY, &["Sunday, 2026-10-25T02:30:00+02:00", "Sunday, 2026-10-25T02:30:00+01:00"])]
#[case::repeated_end(
    "2026-10-25 01:00 to 02:30", FRIDAY,
    &["from 2026-10-25T01:00:00+02:00 to 2026-10-25T02:30:00+02:00", "from 2026-10-25T01:00:00+02:00 to 2026-10-25T02:30:00+01:00"]
)]
fn ambiguous_texts_have_candidates(#[case] text: &str, #[case] now: &str, #[case] expected: &[&str]) {
    assert_eq!(candidates(text, now), expected);
    for candidate in expected {
        assert_eq!(read(candidate, now).map(|resolved| resolved.reading), Ok((*candidate).to_owned()));
    }
}

#[rstest]
#[case::empty(" , ", "must have words")]
#[case::unknown("someday", "\"someday\"")]
#[case::forms("someday", "next Tuesday")]
#[case::no_weekday("next month", "next Tuesday")]
#[case::no_weekday_of_week("next week", "Tuesday next week")]
#[case::no_day("March", "5 march")]
#[case::no_month("the 5th", "5th March")]
#[case::a_bare_number("Tuesday 17", "17")]
#[case::no_unit("in 3", "in 3 days")]
#[case::no_direction("3 days", "from now")]
#[case::two_days("Monday tomorrow Wednesday", "two weekdays")]
#[case::two_times("2pm 3pm", "two times")]
#[case::two_moments("now tomorrow", "a moment")]
#[case::other_weekday("Friday 2026-03-05", "2026-03-05, which is a Thursday, not a Friday")]
#[case::other_part("2pm in the morning", "part of the day")]
#[case::ends_first("2026-03-05 14:00 to 2026-03-05 13:00", "ends before it starts")]
#[case::no_end("2pm to", "lacks a day or a time")]
#[case::one_end("Monday to 3pm", "one end of the range")]
#[case::an_hour_and_a_day("9 to 10 March 2026", "one end of the range")]
#[case::two_ranges("2pm to 3pm to 4pm", "more than one range")]
#[case::no_such_day("30 February", "there is no 30 February")]
#[case::no_such_iso_day("2026-02-29", "there is no 2026-02-29")]
#[case::no_such_day_with_slashes("31/31/2026", "there is no 31/31/2026")]
#[case::no_such_clock("25:00", "there is no 25:00")]
#[case::no_such_half("14pm", "there is no 14pm")]
#[case::skipped("2026-03-29 02:30", "the next time that exists is \"Sunday, 2026-03-29, at 03:00\"")]
#[case::too_early("1 January 1969", "1970 to 2099")]
#[case::too_late("in 999999 months", "1970 to 2099")]
fn other_texts_are_refused_with_a_reason(#[case] text: &str, #[case] says: &str) {
    let message = read(text, FRIDAY).unwrap_err().to_string();
    assert!(message.contains(says), "{message}");
}

#[test]
fn long_texts_are_refused() {
    assert_eq!(read(&"a".repeat(LENGTH_MAX + 1), FRIDAY), Err(Unresolved::TooLong));
    let long = format!("tomorrow{}", " ".repeat(LENGTH_MAX - "tomorrow".len()));
    assert!(read(&long, FRIDAY).is_ok());
}

#[test]
fn days_and_midnights_that_the_clocks_skip() {
    let resolve_in = |zone: &str, text| resolve(text, zone.parse().unwrap(), FRIDAY.parse().unwrap());
    let start = |zone, text| resolve_in(zone, text).unwrap().start.to_string();
    assert_eq!(start("America/Santiago", "2026-09-06"), "2026-09-06T04:00:00Z");
    let next = |zone, text| match resolve_in(zone, text) {
        Err(Unresolved::Skipped { next, .. }) => next,
        other => panic!("{other:?}"),
    };
    assert_eq!(next("America/Santiago", "2026-09-06 at midnight"), "Sunday, 2026-09-06, at 01:00");
    assert_eq!(next("Pacific/Apia", "2011-12-30"), "Saturday, 2011-12-31, at 00:00");
}

/// Words of the grammar and others.
fn word() -> impl Strategy<Value = String> {
    let words = vec![
        "now",
        "today",
        "tomorrow",
        "day after tomorrow",
        "this",
        "next",
        "last",
        "coming",
        "week",
        "in",
        "a",
        "an",
        "half",
        "hour",
        "minutes",
        "days",
        "months",
        "from now",
        "ago",
        "at",
        "on",
        "to",
        "-",
        "between",
        "and",
        "noon",
        "midnight",
        "morning",
        "in the afternoon",
        "tonight",
        "am",
        "pm",
        "2pm",
        "2:30",
        "14:00",
        "25:00",
        "2-3pm",
        "5",
        "15",
        "2026",
        "5th",
        "March",
        "feb",
        "Friday",
        "sun",
        "2026-03-05",
        "2026-10-25",
        "02:30",
        "03/04/2026",
        "2026-03-29T02:30",
        "of",
        "the",
        ",",
        "2026-10-25T00:30:00Z",
        "someday",
        "три",
        "",
    ];
    prop_oneof![8 => prop::sample::select(words).prop_map(str::to_owned), 1 => "[0-9a-zß/:.-]{0,12}"]
}

fn any_text() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(word(), 0..8).prop_map(|words| words.join(" "));
    prop_oneof![6 => words, 1 => "\\PC{0,210}"]
}

/// The times that a text may mean.
fn meanings(text: &str, zone: Zone, now: Timestamp) -> Vec<Resolved> {
    match resolve(text, zone, now) {
        Ok(resolved) => vec![resolved],
        Err(Unresolved::Ambiguous { candidates }) => {
            candidates.iter().map(|candidate| resolve(candidate, zone, now).unwrap()).collect()
        }
        // A day or a time that the clocks of the zone skip, or that is outside the years.
        Err(Unresolved::Skipped { .. } | Unresolved::OutOfRange) => Vec::new(),
        Err(other) => panic!("{text}: {other}"),
    }
}

proptest! {
    #![proptest_config(config(512))]

    /// Any text resolves to a time in range whose reading resolves to the same, or is refused with a reason.
    #[test]
    fn any_text_resolves_or_is_refused(
        text in any_text(), zone in zone(), now in prop_oneof![4 => timestamp(), 1 => any_timestamp()],
    ) {
        match resolve(&text, zone, now) {
            Ok(resolved) => {
                prop_assert!((Timestamp::EPOCH..Timestamp::HORIZON).contains(&resolved.start));
                prop_assert!(resolved.end.is_none_or(|end| resolved.start < end));
                prop_assert_eq!(resolve(&resolved.reading, zone, now), Ok(resolved));
            }
            Err(unresolved) => {
                prop_assert!(!unresolved.to_string().is_empty());
                let texts = match unresolved {
                    Unresolved::Ambiguous { candidates } => {
                        prop_assert!(candidates.len() > 1);
                        candidates
                    }
                    Unresolved::Skipped { next, .. } => vec![next],
                    _ => Vec::new(),
                };
                for text in texts {
                    prop_assert_eq!(resolve(&text, zone, now).map(|resolved| resolved.reading), Ok(text));
                }
            }
        }
    }

    /// A printed local time means itself, unless the clocks skip it or show it twice.
    #[test]
    fn a_printed_local_time_means_itself(civil in civil_date_time(), zone in zone(), now in timestamp()) {
        let expected = zone.to_timestamp(civil).unwrap();
        match resolve(&civil.to_string(), zone, now) {
            Ok(resolved) => prop_assert_eq!((resolved.start, resolved.end), (expected, None)),
            Err(Unresolved::OutOfRange) => prop_assert!(!(Timestamp::EPOCH..Timestamp::HORIZON).contains(&expected)),
            Err(Unresolved::Skipped { local, .. }) => prop_assert!(local == civil && zone.to_civil(expected) != civil),
            Err(Unresolved::Ambiguous { candidates }) => {
                let found: Vec<_> = candidates.iter().map(|text| resolve(text, zone, now).unwrap().start).collect();
                prop_assert!(found.len() == 2 && found[0] == expected && found[1] > expected, "{found:?}");
                prop_assert_eq!(zone.to_civil(found[1]), civil);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// A text about a weekday means days on that weekday.
    #[test]
    fn a_weekday_is_that_weekday(
        at in 0..7usize, before in prop::sample::select(vec!["", "this ", "next ", "last ", "coming ", "next week "]),
        zone in zone(), now in whole_second(),
    ) {
        for resolved in meanings(&format!("{before}{}", WEEKDAYS[at]), zone, now) {
            prop_assert_eq!(usize::from(zone.to_civil(resolved.start).date.weekday()), at);
        }
    }

    /// Minutes from now are exact, whatever the clocks do.
    #[test]
    fn minutes_from_now_are_exact(minutes in 0..500_000i64, zone in zone(), now in whole_second()) {
        let expected = now + SignedDuration::minutes(minutes);
        let resolved = resolve(&format!("in {minutes} minutes"), zone, now).unwrap();
        prop_assert_eq!((resolved.start, resolved.end), (expected, None));
    }
}
