//! Wall-clock expansion across clock changes: half-hour zones, the southern hemisphere, zones that changed their
//! rules, and one that skipped a day.

use kalends_recurrence::testing::hour;
use kalends_recurrence::{HORIZON, Length, Rule, Series, SeriesError};
use kalends_time::{Span, Timestamp, Zone};
use rstest::rstest;

#[rstest]
#[case::skipped("Europe/Berlin", "FREQ=DAILY", "2026-03-28T01:30 2026-03-29T01:30 2026-03-30T00:30")]
#[case::repeated("Europe/Berlin", "FREQ=DAILY", "2026-10-24T00:30 2026-10-25T00:30 2026-10-26T01:30")]
#[case::start_in_the_second_of_an_overlap("Europe/Berlin", "FREQ=DAILY", "2026-10-25T01:30 2026-10-26T01:30")]
#[case::later_starts_use_the_first_of_an_overlap(
    "Europe/Berlin",
    "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
    "2026-10-25T01:30 2027-10-31T00:30"
)]
#[case::over_the_year(
    "Europe/London",
    "FREQ=MONTHLY;INTERVAL=3",
    "2026-01-15T09:00 2026-04-15T08:00 2026-07-15T08:00 2026-10-15T08:00 2027-01-15T09:00"
)]
#[case::north("America/New_York", "FREQ=WEEKLY", "2026-03-02T14:00 2026-03-09T13:00 2026-03-16T13:00")]
#[case::half_hour_with_summer_time("America/St_Johns", "FREQ=WEEKLY", "2026-03-02T12:30 2026-03-09T11:30")]
#[case::half_hour("Asia/Kolkata", "FREQ=WEEKLY", "2026-03-25T03:30 2026-04-01T03:30")]
#[case::quarter_hour("Asia/Kathmandu", "FREQ=DAILY", "2026-03-25T03:15 2026-03-26T03:15")]
#[case::half_hour_is_skipped("Australia/Lord_Howe", "FREQ=DAILY", "2026-10-02T15:45 2026-10-03T15:45 2026-10-04T15:15")]
#[case::south("Australia/Sydney", "FREQ=DAILY", "2026-04-03T22:00 2026-04-04T23:00 2026-04-05T23:00")]
#[case::summer_time_ended("America/Sao_Paulo", "FREQ=YEARLY", "2018-01-15T11:00 2019-01-15T11:00 2020-01-15T12:00")]
#[case::summer_time_ended_too("Asia/Tehran", "FREQ=YEARLY", "2021-07-01T04:30 2022-07-01T04:30 2023-07-01T05:30")]
#[case::changed_twice(
    "Europe/Moscow",
    "FREQ=YEARLY",
    "2010-12-01T06:00 2011-12-01T05:00 2012-12-01T05:00 2013-12-01T05:00 2014-12-01T06:00"
)]
#[case::half_hour_for_nine_years(
    "America/Caracas",
    "FREQ=YEARLY;INTERVAL=5",
    "2007-01-15T13:00 2012-01-15T13:30 2017-01-15T13:00"
)]
#[case::half_hour_for_three_years(
    "Asia/Pyongyang",
    "FREQ=YEARLY;INTERVAL=2",
    "2014-01-10T00:00 2016-01-10T00:30 2018-01-10T00:30 2020-01-10T00:00"
)]
#[case::a_month_of_winter_time("Africa/Casablanca", "FREQ=WEEKLY;INTERVAL=6", "2026-02-09T08:00 2026-03-23T08:00")]
#[case::inside_that_month("Africa/Casablanca", "FREQ=WEEKLY", "2026-02-09T08:00 2026-02-16T09:00 2026-02-23T09:00")]
#[case::a_day_is_skipped(
    "Pacific/Apia",
    "FREQ=DAILY",
    "2011-12-28T22:00 2011-12-29T22:00 2011-12-30T22:00 2011-12-31T22:00"
)]
#[case::the_skipped_day_alone("Pacific/Apia", "FREQ=WEEKLY", "2011-12-23T22:00 2011-12-30T22:00 2012-01-05T22:00")]
#[case::a_skipped_date_counts_once(
    "Pacific/Apia",
    "FREQ=DAILY;COUNT=4",
    "2011-12-28T22:00 2011-12-29T22:00 2011-12-30T22:00 2011-12-31T22:00"
)]
fn starts_follow_the_wall_clock(#[case] zone: &str, #[case] rule: &str, #[case] expected: &str) {
    let expected = instants(expected);
    let series = Series::new(rule.parse().unwrap(), expected[0], zone.parse().unwrap(), hour()).unwrap();
    let limit = if rule.contains("COUNT") { usize::MAX } else { expected.len() };
    assert_eq!(series.starts(expected[0]..HORIZON).take(limit).collect::<Vec<_>>(), expected);
}

/// The starts and ends of all-day series.
#[rstest]
#[case::days_of_23_hours("Europe/Berlin", 1, "2026-03-28T23:00 2026-03-29T22:00 2026-03-30T22:00")]
#[case::days_of_25_hours("Europe/Berlin", 1, "2026-10-24T22:00 2026-10-25T23:00 2026-10-26T23:00")]
#[case::midnight_is_skipped(
    "America/Santiago",
    1,
    "2026-09-05T04:00 2026-09-06T04:00 2026-09-07T03:00 2026-09-08T03:00"
)]
#[case::begun_where_midnight_is_skipped("America/Santiago", 1, "2026-09-06T04:00 2026-09-07T03:00 2026-09-08T03:00")]
#[case::midnight_is_repeated(
    "America/Havana",
    1,
    "2025-11-01T04:00 2025-11-02T04:00 2025-11-03T05:00 2025-11-04T05:00"
)]
#[case::a_day_is_skipped("Pacific/Apia", 1, "2011-12-29T10:00 2011-12-30T10:00 2011-12-31T10:00")]
fn all_day_occurrences_last_from_midnight_to_midnight(#[case] zone: &str, #[case] days: u16, #[case] midnights: &str) {
    let midnights = instants(midnights);
    let length = Length::days(days).unwrap();
    let rule: Rule = "FREQ=DAILY".parse().unwrap();
    let series = Series::new(rule, midnights[0], zone.parse().unwrap(), length).unwrap();
    let window = Span::new(midnights[0], *midnights.last().unwrap()).unwrap();
    let expected: Vec<Span> = midnights.windows(2).map(|pair| Span::new(pair[0], pair[1]).unwrap()).collect();
    assert_eq!(series.occurrences(window).collect::<Vec<_>>(), expected);
}

#[test]
fn a_length_in_days_from_a_skipped_day_counts_from_the_next_day() {
    let first = instants("2011-12-29T10:00")[0];
    let rule: Rule = "FREQ=DAILY".parse().unwrap();
    let series = Series::new(rule, first, "Pacific/Apia".parse().unwrap(), Length::days(2).unwrap()).unwrap();
    let ends = |start: &str| series.span_at(instants(start)[0]).unwrap().end();
    assert_eq!(vec![ends("2011-12-29T10:00"), ends("2011-12-30T10:00")], instants("2011-12-30T10:00 2012-01-01T10:00"));
}

#[rstest]
#[case::inside("UNTIL=20261025", "2026-10-25T23:00", true)]
#[case::the_end_of_the_day_in_the_zone("UNTIL=20261024", "2026-10-25T00:30", false)]
fn until_a_date_ends_with_the_day_in_the_zone(#[case] until: &str, #[case] at: &str, #[case] included: bool) {
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    // 23:59 and 02:30 in Berlin.
    let first = if included { instants("2026-10-20T21:59")[0] } else { instants("2026-10-20T00:30")[0] };
    let series = Series::new(format!("FREQ=DAILY;{until}").parse().unwrap(), first, zone, hour()).unwrap();
    let last = series.last_start().unwrap();
    assert!(last < instants(at)[0]);
    assert_eq!(zone.to_civil(last).date.to_string(), if included { "2026-10-25" } else { "2026-10-24" });
}

#[test]
fn an_all_day_series_starts_at_a_midnight() {
    let first = instants("2026-03-01T00:00")[0];
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    let new = |zone| Series::new("FREQ=DAILY".parse().unwrap(), first, zone, Length::days(1).unwrap());
    assert_eq!(new(zone).unwrap_err(), SeriesError::NotMidnight { first, zone });
    assert!(new(Zone::UTC).is_ok());
}

fn instants(texts: &str) -> Vec<Timestamp> {
    texts.split_whitespace().map(|text| format!("{text}:00Z").parse().unwrap()).collect()
}
