//! The effect of each part of a rule, as tables of dates.

use kalends_recurrence::testing::hour;
use kalends_recurrence::{EARLIEST_START, HORIZON, Rule, Series, SeriesError};
use kalends_time::{SignedDuration, Timestamp, Zone};
use rstest::rstest;

/// The first start, and the starts after it, as dates.
#[rstest]
#[case::every_day("FREQ=DAILY", "2026-02-27", "2026-02-28 2026-03-01 2026-03-02")]
#[case::every_third_day("FREQ=DAILY;INTERVAL=3", "2028-02-27", "2028-03-01 2028-03-04")]
#[case::days_of_a_month(
    "FREQ=DAILY;BYMONTH=1;BYDAY=SA",
    "2026-01-01",
    "2026-01-03 2026-01-10 2026-01-17 2026-01-24 2026-01-31 2027-01-02"
)]
#[case::a_day_has_one_position("FREQ=DAILY;BYDAY=MO,TU;BYSETPOS=-1", "2026-03-02", "2026-03-03 2026-03-09")]
#[case::weekdays("FREQ=WEEKLY;BYDAY=FR,MO", "2026-03-02", "2026-03-06 2026-03-09 2026-03-13")]
#[case::the_start_need_not_fit("FREQ=WEEKLY;BYDAY=MO", "2026-03-04", "2026-03-09 2026-03-16")]
#[case::the_weekday_of_the_start("FREQ=WEEKLY;INTERVAL=2", "2026-03-04", "2026-03-18 2026-04-01")]
#[case::weeks_begin_on_monday(
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;COUNT=4",
    "1997-08-05",
    "1997-08-10 1997-08-19 1997-08-24"
)]
#[case::weeks_begin_on_sunday(
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;COUNT=4;WKST=SU",
    "1997-08-05",
    "1997-08-17 1997-08-19 1997-08-31"
)]
#[case::the_last_of_the_week("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1", "2026-03-06", "2026-03-13 2026-03-20")]
#[case::weeks_of_two_months(
    "FREQ=WEEKLY;BYMONTH=3;BYDAY=MO,TU,WE",
    "2026-03-30",
    "2026-03-31 2027-03-01 2027-03-02 2027-03-03"
)]
#[case::months_without_a_31st("FREQ=MONTHLY", "2026-01-31", "2026-03-31 2026-05-31 2026-07-31")]
#[case::the_last_day("FREQ=MONTHLY;BYMONTHDAY=-1", "2027-12-31", "2028-01-31 2028-02-29 2028-03-31")]
#[case::days_that_only_long_months_have(
    "FREQ=MONTHLY;BYMONTHDAY=-30",
    "2026-01-02",
    "2026-03-02 2026-04-01 2026-05-02"
)]
#[case::last_friday("FREQ=MONTHLY;BYDAY=-1FR", "2028-01-28", "2028-02-25 2028-03-31")]
#[case::fifth_monday("FREQ=MONTHLY;BYDAY=5MO", "2026-03-30", "2026-06-29 2026-08-31")]
#[case::plain_and_numbered(
    "FREQ=MONTHLY;BYDAY=MO,1TU",
    "2026-03-02",
    "2026-03-03 2026-03-09 2026-03-16 2026-03-23 2026-03-30 2026-04-06 2026-04-07"
)]
#[case::friday_the_13th("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "2026-02-13", "2026-03-13 2026-11-13 2027-08-13")]
#[case::the_last_working_day(
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "2026-01-30",
    "2026-02-27 2026-03-31 2026-04-30"
)]
#[case::positions_count_before_the_start(
    "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=1,3",
    "2026-03-04",
    "2026-03-09 2026-04-06 2026-04-13"
)]
#[case::every_year("FREQ=YEARLY", "2026-03-02", "2027-03-02 2028-03-02")]
#[case::leap_days("FREQ=YEARLY", "2092-02-29", "2096-02-29")]
#[case::leap_days_of_odd_years_never_come(
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
    "2024-02-29",
    "2028-02-29 2032-02-29"
)]
#[case::the_day_of_the_start("FREQ=YEARLY;BYMONTH=1,6", "2026-01-10", "2026-06-10 2027-01-10")]
#[case::each_month_of_the_year("FREQ=YEARLY;BYMONTHDAY=15", "2026-11-15", "2026-12-15 2027-01-15")]
#[case::twentieth_monday_of_the_year("FREQ=YEARLY;BYDAY=20MO", "1997-05-19", "1998-05-18 1999-05-17")]
#[case::last_sunday_of_the_year("FREQ=YEARLY;BYDAY=-1SU", "2026-12-27", "2027-12-26 2028-12-31")]
#[case::second_tuesday_of_the_year("FREQ=YEARLY;BYDAY=2TU", "2026-01-13", "2027-01-12 2028-01-11")]
#[case::second_tuesday_of_a_month("FREQ=YEARLY;BYMONTH=11;BYDAY=2TU", "2026-11-10", "2027-11-09 2028-11-14")]
#[case::election_day(
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8",
    "1996-11-05",
    "2000-11-07 2004-11-02"
)]
#[case::numbered_weekday_on_a_month_day("FREQ=YEARLY;BYDAY=1MO;BYMONTHDAY=1", "2029-01-01", "2035-01-01 2046-01-01")]
#[case::last_position_of_the_year("FREQ=YEARLY;BYMONTHDAY=31,30;BYSETPOS=-1", "2026-12-31", "2027-12-31 2028-12-31")]
#[case::until_a_date_is_inclusive("FREQ=DAILY;UNTIL=20260304", "2026-03-02", "2026-03-03 2026-03-04")]
#[case::until_an_instant_is_inclusive("FREQ=DAILY;UNTIL=20260304T090000Z", "2026-03-02", "2026-03-03 2026-03-04")]
#[case::until_a_second_before_the_start_excludes_it("FREQ=DAILY;UNTIL=20260304T085959Z", "2026-03-02", "2026-03-03")]
#[case::the_first_counts("FREQ=WEEKLY;BYDAY=MO;COUNT=2", "2026-03-04", "2026-03-09")]
#[case::the_horizon("FREQ=DAILY", "2099-12-29", "2099-12-30 2099-12-31")]
#[case::only_the_start_is_left("FREQ=YEARLY", "2099-12-31", "")]
fn rules_generate_their_dates(#[case] rule: &str, #[case] first: &str, #[case] expected: &str) {
    let series = series(rule, first).unwrap();
    let expected: Vec<&str> = [first].into_iter().chain(expected.split_whitespace()).collect();
    let ended = rule.contains("COUNT") || rule.contains("UNTIL") || first.starts_with("2099");
    let limit = if ended { usize::MAX } else { expected.len() };
    let starts = series.starts(series.first_start()..HORIZON).take(limit);
    let dates: Vec<String> = starts.map(|start| start.utc_date().to_string()).collect();
    assert_eq!(dates, expected);
}

#[rstest]
#[case::no_such_day("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")]
#[case::not_in_these_years("FREQ=YEARLY;INTERVAL=1000;BYMONTH=1;BYMONTHDAY=1")]
#[case::a_week_of_seven("FREQ=WEEKLY;BYDAY=MO,TU;BYSETPOS=3")]
#[case::one_day_has_no_second("FREQ=DAILY;BYMONTH=1;BYSETPOS=2")]
#[case::never_in_odd_years("FREQ=MONTHLY;INTERVAL=48;BYMONTH=1,2;BYMONTHDAY=29;BYSETPOS=2")]
fn rules_that_never_occur_are_refused(#[case] rule: &str) {
    let first = at("2026-03-02");
    assert_eq!(series(rule, "2026-03-02").unwrap_err(), SeriesError::NeverOccurs { first });
}

#[test]
fn invalid_series_are_refused() {
    let new = |rule: &str, first: Timestamp| Series::new(rule.parse().unwrap(), first, Zone::UTC, hour()).unwrap_err();
    let first = at("2026-03-02");
    let error = new("FREQ=DAILY;UNTIL=20260301", first);
    assert_eq!(error.to_string(), "UNTIL must not be before the start (2026-03-02T09:00:00Z), got 20260301");
    let error = new("FREQ=DAILY;UNTIL=20260302T085959Z", first);
    assert_eq!(error.to_string(), "UNTIL must not be before the start (2026-03-02T09:00:00Z), got 20260302T085959Z");
    let fraction = first + SignedDuration::micros(1);
    assert_eq!(new("FREQ=DAILY", fraction), SeriesError::Fraction { first: fraction });
    for first in [EARLIEST_START - SignedDuration::seconds(1), HORIZON] {
        assert_eq!(new("FREQ=DAILY", first), SeriesError::Range { first });
    }
}

#[test]
fn windows_are_half_open_and_include_occurrences_that_last_into_them() {
    let series = series("FREQ=DAILY;COUNT=3", "2026-03-02").unwrap();
    let window = |from: Timestamp, to: Timestamp| kalends_time::Span::new(from, to).unwrap();
    let first = at("2026-03-02");
    let count = |from: SignedDuration, to: SignedDuration| series.occurrences(window(first + from, first + to)).count();
    assert_eq!(count(SignedDuration::hours(-1), SignedDuration::ZERO), 0);
    assert_eq!(count(SignedDuration::hours(-1), SignedDuration::micros(1)), 1);
    assert_eq!(count(SignedDuration::minutes(59), SignedDuration::hours(2)), 1);
    assert_eq!(count(SignedDuration::hours(1), SignedDuration::hours(24)), 0);
    assert_eq!(count(SignedDuration::days(-9_000), SignedDuration::days(9_000)), 3);
    assert_eq!(count(SignedDuration::days(3), SignedDuration::days(9_000)), 0);
}

fn series(rule: &str, first: &str) -> Result<Series, SeriesError> {
    let rule: Rule = rule.parse().unwrap();
    Series::new(rule, at(first), Zone::UTC, hour())
}

fn at(date: &str) -> Timestamp {
    format!("{date}T09:00:00Z").parse().unwrap()
}
