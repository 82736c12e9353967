//! Edge cases of the grid.

use kalends_calendars::{WrittenHours, WrittenWeek};
use rstest::rstest;

use super::*;

fn span(text: &str) -> Span {
    let (start, end) = text.split_once(' ').unwrap();
    Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap()
}

/// A timetable with the same hours every day, or one that is always open.
fn daily(zone: &str, hours: &str, duration_minutes: u16) -> Timetable {
    let hours = hours.split_once('-').map(|(start, end)| WrittenHours { start: start.into(), end: end.into() });
    let constraints = hours.map(|hours| {
        let [mon, tue, wed, thu, fri, sat, sun] = [const { None }; 7].map(|_: Option<()>| Some(hours.clone()));
        WrittenWeek { mon, tue, wed, thu, fri, sat, sun }.read("week").unwrap()
    });
    Timetable { duration_minutes, zone: zone.parse().unwrap(), constraints }
}

/// The starts of the grid as HH:MM in UTC.
fn starts(timetable: &Timetable, window: &str) -> Vec<String> {
    timetable.grid(span(window)).map(|slot| slot.start().to_string()[11..16].to_owned()).collect()
}

#[rstest]
#[case::plain("UTC", "09:00-11:00", 30, "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z", "09:00 09:30 10:00 10:30")]
#[case::the_rest_is_too_short_for_a_slot(
    "UTC",
    "09:00-10:50",
    30,
    "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z",
    "09:00 09:30 10:00"
)]
#[case::exactly_one("UTC", "09:00-09:45", 45, "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z", "09:00")]
#[case::too_short("UTC", "09:00-09:44", 45, "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z", "")]
#[case::an_odd_start("UTC", "09:10-10:00", 20, "2026-03-02T00:00:00Z 2026-03-03T00:00:00Z", "09:10 09:30")]
#[case::up_to_midnight(
    "UTC",
    "23:00-24:00",
    20,
    "2026-03-02T00:00:00Z 2026-03-04T00:00:00Z",
    "23:00 23:20 23:40 23:00 23:20 23:40"
)]
#[case::always_begins_at_local_midnight(
    "Asia/Kolkata",
    "",
    480,
    "2026-07-01T00:00:00Z 2026-07-02T00:00:00Z",
    "02:30 10:30"
)]
#[case::quarter_zone("Asia/Kathmandu", "09:00-10:00", 30, "2026-07-01T00:00:00Z 2026-07-02T00:00:00Z", "03:15 03:45")]
#[case::the_window_cuts_whole_slots(
    "UTC",
    "",
    60,
    "2026-03-02T08:59:59.999999Z 2026-03-02T12:00:00Z",
    "09:00 10:00 11:00"
)]
#[case::the_window_cuts_at_its_end_too(
    "UTC",
    "",
    60,
    "2026-03-02T09:00:00.000001Z 2026-03-02T11:59:59.999999Z",
    "10:00"
)]
#[case::a_leap_day("UTC", "09:00-10:00", 60, "2028-02-28T12:00:00Z 2028-03-01T12:00:00Z", "09:00 09:00")]
#[case::month_ends("Europe/Berlin", "00:00-01:00", 60, "2026-04-30T00:00:00Z 2026-05-02T00:00:00Z", "22:00 22:00")]
#[case::clocks_go_forward(
    "Europe/Berlin",
    "01:00-04:00",
    30,
    "2026-03-29T00:00:00Z 2026-03-29T12:00:00Z",
    "00:00 00:30 01:00 01:30"
)]
#[case::forward_over_the_end("Europe/Berlin", "01:30-03:00", 60, "2026-03-29T00:00:00Z 2026-03-29T12:00:00Z", "")]
#[case::forward_from_inside_the_gap(
    "Europe/Berlin",
    "02:30-04:00",
    30,
    "2026-03-29T00:00:00Z 2026-03-29T12:00:00Z",
    "01:00 01:30"
)]
#[case::clocks_go_back(
    "Europe/Berlin",
    "01:00-04:00",
    30,
    "2026-10-24T22:00:00Z 2026-10-25T12:00:00Z",
    "23:00 23:30 00:00 00:30 02:00 02:30"
)]
#[case::west_forward("America/New_York", "01:00-04:00", 60, "2026-03-08T00:00:00Z 2026-03-08T12:00:00Z", "06:00 07:00")]
#[case::west_back(
    "America/New_York",
    "00:00-03:00",
    60,
    "2025-11-02T00:00:00Z 2025-11-02T12:00:00Z",
    "04:00 05:00 07:00"
)]
#[case::half_an_hour_forward(
    "Australia/Lord_Howe",
    "01:00-04:00",
    30,
    "2026-10-03T12:00:00Z 2026-10-04T00:00:00Z",
    "14:30 15:00 15:30 16:00 16:30"
)]
#[case::half_an_hour_back(
    "Australia/Lord_Howe",
    "01:00-03:00",
    30,
    "2026-04-04T12:00:00Z 2026-04-05T00:00:00Z",
    "14:00 14:30 15:30 16:00"
)]
#[case::midnight_is_skipped(
    "America/Santiago",
    "00:00-03:00",
    60,
    "2026-09-06T00:00:00Z 2026-09-06T12:00:00Z",
    "04:00 05:00"
)]
#[case::until_a_skipped_midnight(
    "America/Santiago",
    "22:00-24:00",
    60,
    "2026-09-05T12:00:00Z 2026-09-06T12:00:00Z",
    "02:00 03:00"
)]
#[case::the_last_hour_is_repeated(
    "America/Santiago",
    "22:00-24:00",
    60,
    "2026-04-04T12:00:00Z 2026-04-05T12:00:00Z",
    "01:00 02:00"
)]
#[case::midnight_is_repeated(
    "America/Havana",
    "00:00-02:00",
    30,
    "2025-11-02T00:00:00Z 2025-11-02T12:00:00Z",
    "04:00 04:30 06:00 06:30"
)]
#[case::two_hours_skipped(
    "Antarctica/Troll",
    "00:00-05:00",
    60,
    "2026-03-29T00:00:00Z 2026-03-29T12:00:00Z",
    "00:00 01:00 02:00"
)]
#[case::a_skipped_day("Pacific/Apia", "09:00-10:00", 60, "2011-12-29T12:00:00Z 2011-12-31T12:00:00Z", "19:00 19:00")]
#[case::the_last_days(
    "America/New_York",
    "09:00-10:00",
    60,
    "2099-12-30T00:00:00Z 2099-12-31T23:59:59Z",
    "14:00 14:00"
)]
fn edges(#[case] zone: &str, #[case] hours: &str, #[case] duration: u16, #[case] window: &str, #[case] expected: &str) {
    let expected: Vec<&str> = expected.split_whitespace().collect();
    assert_eq!(starts(&daily(zone, hours, duration), window), expected);
}

#[test]
fn weekdays_that_are_missing_are_closed() {
    let hours = |start: &str, end: &str| Some(WrittenHours { start: start.into(), end: end.into() });
    let week = WrittenWeek { mon: hours("09:00", "10:00"), wed: hours("23:00", "24:00"), ..WrittenWeek::default() };
    let timetable = Timetable {
        duration_minutes: 60,
        zone: "Pacific/Auckland".parse().unwrap(),
        constraints: Some(week.read("week").unwrap()),
    };
    // Auckland is 13 hours ahead, so its Monday begins on Sunday in UTC.
    let week = span("2026-03-01T00:00:00Z 2026-03-08T00:00:00Z");
    let found: Vec<String> = timetable.grid(week).map(|slot| slot.start().to_string()).collect();
    assert_eq!(found, ["2026-03-01T20:00:00Z", "2026-03-04T10:00:00Z"]);
    let closed = Timetable { constraints: Some(Week::default()), ..timetable };
    assert_eq!(closed.grid(week).next(), None);
}

#[test]
fn a_year_has_every_short_slot() {
    let year = span("2026-01-01T00:00:00Z 2027-01-01T00:00:00Z");
    assert_eq!(daily("UTC", "", 5).grid(year).count(), 365 * 288);
    // The elapsed time is the same in Berlin, but the hour that the clocks repeat has slots only the first time.
    assert_eq!(daily("Europe/Berlin", "", 5).grid(year).count(), 365 * 288 - 12);
}

#[rstest]
#[case::on_the_grid("2026-03-02T09:30:00Z", true)]
#[case::off_the_grid("2026-03-02T09:31:00Z", false)]
#[case::a_microsecond_later("2026-03-02T09:30:00.000001Z", false)]
#[case::too_late_for_the_hours("2026-03-02T11:00:00Z", false)]
fn one_slot(#[case] start: &str, #[case] is_slot: bool) {
    let start: Timestamp = start.parse().unwrap();
    let slot = daily("UTC", "09:00-11:00", 30).slot_at(start);
    assert_eq!(slot, is_slot.then(|| Span::new(start, start + SignedDuration::minutes(30)).unwrap()));
}
