//! Tables of ranges and midnights, and what holds for every range.

use proptest::prelude::*;
use rstest::rstest;

use super::words::{MONTHS, WEEKDAYS, o_clock};
use super::*;
use crate::testing::{config, whole_second, zone};
use crate::{CivilDate, Timestamp, Zone};

/// A Wednesday, at 10:00 in Berlin.
const WEDNESDAY: &str = "2026-03-04T09:00:00Z";
/// The Friday after it.
const FRIDAY: &str = "2026-03-06T09:00:00Z";

fn read(text: &str, now: &str) -> Result<Resolved, Unresolved> {
    resolve(text, "Europe/Berlin".parse().unwrap(), now.parse().unwrap())
}

#[rstest]
#[case::day_of_both("2pm to 3pm tomorrow", WEDNESDAY, "Thursday, 2026-03-05, from 14:00 to 15:00")]
#[case::both_have_a_day(
    "today 2pm to tomorrow 3pm",
    WEDNESDAY,
    "Wednesday, 2026-03-04, from 14:00 to Thursday, 2026-03-05, at 15:00"
)]
#[case::the_next_such_time_is_on_that_day(
    "9am to tomorrow 11am",
    WEDNESDAY,
    "Thursday, 2026-03-05, from 09:00 to 11:00"
)]
#[case::today("1pm to today 3pm", WEDNESDAY, "Wednesday, 2026-03-04, from 13:00 to 15:00")]
#[case::an_earlier_clock(
    "4pm to tomorrow 3pm",
    WEDNESDAY,
    "Wednesday, 2026-03-04, from 16:00 to Thursday, 2026-03-05, at 15:00"
)]
#[case::year_of_both("5 March to 8 March 2027", "2026-01-01T09:00:00Z", "Friday, 2027-03-05, to Monday, 2027-03-08")]
#[case::year_before("28 December to 3 January 2028", WEDNESDAY, "Tuesday, 2027-12-28, to Monday, 2028-01-03")]
#[case::year_that_is_over("March 5 to March 8, 2020", WEDNESDAY, "Thursday, 2020-03-05, to Sunday, 2020-03-08")]
#[case::year_of_clocks(
    "5 March 2pm to 8 March 2027 3pm",
    "2026-01-01T09:00:00Z",
    "Friday, 2027-03-05, from 14:00 to Monday, 2027-03-08, at 15:00"
)]
#[case::year_of_the_start("5 March 2027 to 8 March", WEDNESDAY, "Friday, 2027-03-05, to Monday, 2027-03-08")]
#[case::week_of_both("Thursday to Friday next week", FRIDAY, "Thursday, 2026-03-12, to Friday, 2026-03-13")]
#[case::week_that_is_over("Monday to Wednesday last week", FRIDAY, "Monday, 2026-02-23, to Wednesday, 2026-02-25")]
#[case::weekday_of_another_week(
    "Friday to Thursday next week",
    WEDNESDAY,
    "Friday, 2026-03-06, to Thursday, 2026-03-12"
)]
#[case::midnight_at_the_end(
    "10pm to midnight today",
    WEDNESDAY,
    "Wednesday, 2026-03-04, from 22:00 to Thursday, 2026-03-05, at 00:00"
)]
#[case::midnight_in_digits("today at 00:00", WEDNESDAY, "Wednesday, 2026-03-04, at 00:00")]
fn ranges_are_read(#[case] text: &str, #[case] now: &str, #[case] reading: &str) {
    let resolved = read(text, now).unwrap();
    assert_eq!(resolved.reading, reading);
    assert_eq!(read(reading, now), Ok(resolved));
}

#[rstest]
#[case::day_of_the_end(
    "2pm to tomorrow 3pm", WEDNESDAY,
    &["Wednesday, 2026-03-04, from 14:00 to Thursday, 2026-03-05, at 15:00", "Thursday, 2026-03-05, from 14:00 to 15:00"]
)]
#[case::local_time(
    "2pm to 2026-03-05T15:00", WEDNESDAY,
    &["Wednesday, 2026-03-04, from 14:00 to Thursday, 2026-03-05, at 15:00", "Thursday, 2026-03-05, from 14:00 to 15:00"]
)]
#[case::weekday_of_the_end(
    "2pm to Thursday 3pm", WEDNESDAY,
    &["Wednesday, 2026-03-04, from 14:00 to Thursday, 2026-03-05, at 15:00", "Thursday, 2026-03-05, from 14:00 to 15:00"]
)]
#[case::week_of_the_end(
    "Thursday to Friday next week", WEDNESDAY,
    &["Thursday, 2026-03-05, to Friday, 2026-03-13", "Thursday, 2026-03-12, to Friday, 2026-03-13"]
)]
#[case::week_of_clocks(
    "Thursday 2pm to Friday 3pm next week", WEDNESDAY,
    &[
        "Thursday, 2026-03-05, from 14:00 to Friday, 2026-03-13, at 15:00",
        "Thursday, 2026-03-12, from 14:00 to Friday, 2026-03-13, at 15:00",
    ]
)]
#[case::midnight("today at midnight", WEDNESDAY, &["Wednesday, 2026-03-04, at 00:00", "Thursday, 2026-03-05, at 00:00"])]
#[case::midnight_first("midnight today", WEDNESDAY, &["Wednesday, 2026-03-04, at 00:00", "Thursday, 2026-03-05, at 00:00"])]
#[case::from_midnight(
    "midnight today to 3am", WEDNESDAY,
    &["Wednesday, 2026-03-04, from 00:00 to 03:00", "Thursday, 2026-03-05, from 00:00 to 03:00"]
)]
fn ambiguous_ranges_have_candidates(#[case] text: &str, #[case] now: &str, #[case] expected: &[&str]) {
    let Err(Unresolved::Ambiguous { candidates }) = read(text, now) else { panic!("{text}: {:?}", read(text, now)) };
    assert_eq!(candidates, expected);
    for candidate in expected {
        assert_eq!(read(candidate, now).map(|resolved| resolved.reading), Ok((*candidate).to_owned()));
    }
}

#[rstest]
#[case::leap_day("29 February to 5 March 2027", "in the year before 2027-03-05")]
#[case::same_day("5 March to 5 March 2027", "ends before it starts")]
#[case::other_weekday("Monday 5 March to 8 March 2027", "which is a Friday, not a Monday")]
fn other_ranges_are_refused_with_a_reason(#[case] text: &str, #[case] says: &str) {
    let message = read(text, WEDNESDAY).unwrap_err().to_string();
    assert!(message.contains(says), "{message}");
}

/// The texts of the times that a text may mean.
fn readings(text: &str, zone: Zone, now: Timestamp) -> Vec<String> {
    match resolve(text, zone, now) {
        Ok(resolved) => vec![resolved.reading],
        Err(Unresolved::Ambiguous { candidates }) => candidates,
        Err(_) => Vec::new(),
    }
}

/// A month from 1 and a day that every month has.
fn yearly() -> impl Strategy<Value = (u32, u32)> {
    (1..=12u32, 1..=28u32)
}

fn named((month, day): (u32, u32)) -> String {
    format!("{day} {}", MONTHS[usize::try_from(month).unwrap() - 1])
}

proptest! {
    #![proptest_config(config(256))]

    /// If the day of a range's end is written before its time, the range ends on that day, and begins on it or on the day
    /// before.
    #[test]
    fn a_range_ends_on_the_day_of_its_end(from in 0..24u32, to in 0..24u32, zone in zone(), now in whole_second()) {
        let (today, text) = (zone.to_civil(now).date, format!("{from:02}:00 to tomorrow {to:02}:00"));
        let tomorrow = today.plus_days(1);
        for reading in readings(&text, zone, now) {
            let found = resolve(&reading, zone, now).unwrap();
            let (start, end) = (zone.to_civil(found.start), zone.to_civil(found.end.unwrap()));
            prop_assert_eq!((start.time, end), (o_clock(from), tomorrow.at(o_clock(to))));
            prop_assert!(start.date == today || start.date == tomorrow, "{reading}");
        }
    }

    /// If only the end of a range has a year, the range begins at most a year before it.
    #[test]
    fn a_year_at_the_end_counts_for_the_start(
        first in yearly(), last in yearly(), year in 1972..2099i32, zone in zone(), now in whole_second(),
    ) {
        prop_assume!(first != last);
        let date = |year, (month, day): (u32, u32)| CivilDate::new(year, month, day).unwrap();
        let (start, end) = (date(if first < last { year } else { year - 1 }, first), date(year, last));
        let day = |date: CivilDate| format!("{}, {date}", WEEKDAYS[usize::from(date.weekday())]);
        let resolved = resolve(&format!("{} to {} {year}", named(first), named(last)), zone, now).unwrap();
        prop_assert_eq!(resolved.reading, format!("{}, to {}", day(start), day(end)));
    }

    /// Weekdays of a range to next week are on their weekdays, and the end is in that week.
    #[test]
    fn a_range_to_next_week_ends_there(first in 0..7usize, last in 0..7usize, zone in zone(), now in whole_second()) {
        let text = format!("{} to {} next week", WEEKDAYS[first], WEEKDAYS[last]);
        let alone = resolve(&format!("{} next week", WEEKDAYS[last]), zone, now);
        for reading in readings(&text, zone, now) {
            let found = resolve(&reading, zone, now).unwrap();
            prop_assert_eq!(usize::from(zone.to_civil(found.start).date.weekday()), first);
            // The clocks may skip a day alone.
            if let Ok(alone) = &alone {
                prop_assert_eq!(found.end, alone.end);
            }
        }
    }
}
