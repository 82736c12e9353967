//! How entries and hours are placed and named.

use rstest::rstest;

use super::*;
use crate::calendar::event::EventKind;

fn event(id: &str, start: &str, end: &str) -> EventInView {
    EventInView {
        id: id.to_owned(),
        title: id.to_owned(),
        calendar: "Work".to_owned(),
        span: Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap(),
        dates: None,
        kind: EventKind::Confirmed,
        is_imported: false,
        version: 1,
        series_version: None,
    }
}

fn seen(view: View, date: &str, zone: &str, events: &[EventInView]) -> Vec<DaySeen> {
    seen_by(true, true, view, date, zone, events)
}

fn seen_by(
    may_create: bool,
    may_move: bool,
    view: View,
    date: &str,
    zone: &str,
    events: &[EventInView],
) -> Vec<DaySeen> {
    let calendars = vec!["cal_1".to_owned(), "cal_2".to_owned()];
    let viewed = Viewed { view, date: date.parse().unwrap(), zone: zone.parse().unwrap(), second: None, calendars };
    let now = "2026-03-04T12:00:00Z".parse().unwrap();
    let query = query_of(&viewed);
    Days { viewed: &viewed, events: events.iter().collect(), may_create, may_move, query, now }.seen()
}

/// The events of each day, with the times that it shows.
fn shown(days: &[DaySeen]) -> Vec<String> {
    let lines = days.iter().flat_map(|day| {
        let entries = day.strip.iter().chain(&day.timed);
        entries.map(|entry| format!("{} {} {}", &day.date.to_string()[8..], entry.title, entry.clock))
    });
    lines.collect()
}

#[test]
fn an_event_over_midnight_is_on_both_days() {
    let events = [
        event("night", "2026-03-02T22:00:00Z", "2026-03-03T01:30:00Z"),
        event("long", "2026-03-05T12:00:00Z", "2026-03-07T12:00:00Z"),
    ];
    let expected =
        ["02 night From 22:00", "03 night Until 01:30", "05 long From 12:00", "06 long All day", "07 long Until 12:00"];
    for view in [View::Week, View::List] {
        assert_eq!(shown(&seen(view, "2026-03-02", "UTC", &events)), expected);
    }
}

#[test]
fn whole_days_keep_their_dates_in_every_zone() {
    let dates = Some(("2026-03-03".parse().unwrap(), "2026-03-04".parse().unwrap()));
    let events = [EventInView { dates, ..event("fair", "2026-03-02T23:00:00Z", "2026-03-04T23:00:00Z") }];
    for zone in ["Europe/Berlin", "Pacific/Auckland", "Pacific/Honolulu"] {
        let days = seen(View::Week, "2026-03-02", zone, &events);
        assert_eq!(shown(&days), ["03 fair All day", "04 fair All day"]);
        assert!(days.iter().all(|day| day.timed.is_empty()));
    }
}

/// The axis is shown again beside a day whose hours differ from those of the day before.
#[rstest]
#[case::usual("2026-03-02", &[48, 0, 0, 0, 0, 0, 0])]
#[case::clocks_change_on_sunday("2026-03-23", &[48, 0, 0, 0, 0, 0, 46])]
fn a_day_with_other_hours_has_an_axis_of_its_own(#[case] date: &str, #[case] rows: &[usize]) {
    let days = seen(View::Week, date, "Europe/Berlin", &[]);
    let axes: Vec<usize> = days.iter().map(|day| day.axis.len() * 2).collect();
    assert_eq!(axes, rows);
}

#[test]
fn a_month_shows_the_first_events_of_a_day() {
    let hours = ["08", "09", "10", "11", "12"];
    let events: Vec<EventInView> = hours
        .iter()
        .map(|hour| event(hour, &format!("2026-03-04T{hour}:00:00Z"), &format!("2026-03-04T{hour}:30:00Z")))
        .collect();
    let days = seen(View::Month, "2026-03-10", "UTC", &events);
    let full = days.iter().find(|day| !day.is_empty()).unwrap();
    assert_eq!((full.strip.len(), full.more, full.is_today), (3, 2, true));
    assert!(full.more_href.contains("view=day&date=2026-03-04"), "{}", full.more_href);
    assert_eq!((days.len(), days.iter().filter(|day| day.is_outside).count()), (42, 11));
}

#[test]
fn only_some_events_are_above_the_hours() {
    let dates = Some(("2026-03-04".parse().unwrap(), "2026-03-04".parse().unwrap()));
    let whole = EventInView { dates, ..event("fair", "2026-03-04T00:00:00Z", "2026-03-05T00:00:00Z") };
    let events = vec![whole; 25];
    let week = seen(View::Week, "2026-03-04", "UTC", &events);
    assert_eq!((week[2].strip.len(), week[2].more), (20, 5));
    assert!(week[2].more_href.contains("view=day&date=2026-03-04"));
    let day = seen(View::Day, "2026-03-04", "UTC", &events);
    assert_eq!((day[0].strip.len(), day[0].rest.len(), day[0].more), (20, 5, 0));
    assert_eq!(seen(View::List, "2026-03-04", "UTC", &events)[2].strip.len(), 25);
}

#[test]
fn a_list_leads_to_the_page_of_a_day_with_many_events() {
    let same = vec![event("x", "2026-03-04T08:00:00Z", "2026-03-04T09:00:00Z"); 60];
    let list = seen(View::List, "2026-03-04", "UTC", &same);
    assert_eq!((list[2].strip.len(), list[2].more), (50, 10));
    assert!(list[2].more_href.contains("view=day&date=2026-03-04"));
    let day = seen(View::Day, "2026-03-04", "UTC", &same);
    assert_eq!((day[0].timed.len(), day[0].rest.len(), day[0].more), (6, 54, 0));
}

#[test]
fn events_without_a_column_are_counted() {
    let same: Vec<EventInView> = (0..5).map(|_| event("x", "2026-03-04T08:00:00Z", "2026-03-04T09:00:00Z")).collect();
    let week = seen(View::Week, "2026-03-04", "UTC", &same);
    assert_eq!((week[2].timed.len(), week[2].more), (2, 3));
    assert!(week[2].more_href.contains("view=day&date=2026-03-04"));
    let day = seen(View::Day, "2026-03-04", "UTC", &same);
    assert_eq!((day[0].timed.len(), day[0].rest.len()), (5, 0));
}

/// Only the first axis has the hour with which the grid opens.
#[rstest]
#[case::no_events(&[], 14)]
#[case::in_the_working_day(&["09:00", "17:00"], 14)]
#[case::soon_after(&["17:00", "07:30"], 12)]
#[case::early(&["05:00"], 8)]
#[case::at_night(&["00:30"], 0)]
fn a_grid_opens_in_the_morning_or_before_its_first_event(#[case] starts: &[&str], #[case] row: usize) {
    let at = |start: &&str| event("x", &format!("2026-03-25T{start}:00Z"), &format!("2026-03-25T{start}:01Z"));
    let events: Vec<EventInView> = starts.iter().map(at).collect();
    // It continues until after midnight on the first day of both views.
    let over_midnight = |date: &str| {
        let begin = date.parse::<CivilDate>().unwrap().plus_days(-1);
        event("x", &format!("{begin}T22:00:00Z"), &format!("{date}T01:00:00Z"))
    };
    for (view, first) in [(View::Week, "2026-03-23"), (View::Day, "2026-03-25")] {
        let events = [&events[..], &[over_midnight(first)]].concat();
        let days = seen(view, "2026-03-25", "UTC", &events);
        let opens: Vec<usize> = days.iter().filter_map(|day| day.opens).collect();
        assert_eq!((opens, days[0].opens), (vec![row], Some(row)), "{view:?}");
    }
}

/// Each hour that a day has leads to the form, with the clock of the zone.
#[rstest]
#[case::usual("2026-03-02", 24, "r5 s2 p1-0", "2026-03-02T02:00", "02:00")]
#[case::spring("2026-03-29", 23, "r5 s2 p1-0", "2026-03-29T03:00", "03:00")]
#[case::autumn("2026-10-25", 25, "r9 s2 p1-0", "2026-10-25T03:00", "03:00")]
fn hours_lead_to_the_form_of_a_new_event(
    #[case] date: &str,
    #[case] count: usize,
    #[case] place: &str,
    #[case] start: &str,
    #[case] clock: &str,
) {
    let day = &seen(View::Day, date, "Europe/Berlin", &[])[0];
    assert_eq!(day.slots.len(), count);
    let slot = day.slots.iter().find(|slot| slot.clock == clock).unwrap();
    assert_eq!(slot.place, place);
    let form = "/console/calendar/new?cal=cal_1&cal=cal_2&tz=Europe/Berlin";
    assert_eq!(slot.href, format!("{form}&start={start}"));
    assert_eq!(day.new_href, Some(format!("{form}&date={date}")));
}

#[test]
fn an_hour_that_the_clocks_show_twice_leads_to_two_times() {
    let day = &seen(View::Day, "2026-10-25", "Europe/Berlin", &[])[0];
    let twice: Vec<&Slot> = day.slots.iter().filter(|slot| slot.href.contains("start=2026-10-25T02:00")).collect();
    let clocks: Vec<&str> = twice.iter().map(|slot| slot.clock.as_str()).collect();
    assert_eq!(clocks, ["02:00", "02:00, the second time"]);
    assert!(!twice[0].href.contains("start_at"), "{}", twice[0].href);
    assert!(twice[1].href.ends_with("&start_at=2026-10-25T01:00:00Z"), "{}", twice[1].href);
}

#[rstest]
#[case(View::Week, "2026-09-30", &["Mon 28 Sep", "Tue 29", "Wed 30", "Thu 1 Oct", "Fri 2", "Sat 3", "Sun 4"])]
#[case(View::Month, "2026-10-05", &["Mon 28 Sep", "Tue 29", "Wed 30", "Thu 1 Oct", "Fri 2", "Sat 3", "Sun 4"])]
#[case(View::List, "2026-09-30", &[])]
fn columns_have_short_names(#[case] view: View, #[case] date: &str, #[case] names: &[&str]) {
    let days = seen(view, date, "UTC", &[]);
    let shown: Vec<&str> = days.iter().take(7).filter_map(|day| day.short.as_deref()).collect();
    assert_eq!(shown, names);
    assert!(days.iter().any(|day| day.name == "Wednesday 30 September"));
}

#[test]
fn days_without_a_form_lead_to_none() {
    for days in [
        seen_by(false, true, View::Week, "2026-03-02", "UTC", &[]),
        seen(View::Month, "2099-12-24", "UTC", &[]).split_off(32),
        seen(View::Week, "2011-12-30", "Pacific/Apia", &[]).drain(4..5).collect(),
    ] {
        assert!(days.iter().all(|day| day.slots.is_empty() && day.new_href.is_none()));
        assert!(!days.is_empty());
    }
}

#[test]
fn only_some_events_can_be_moved() {
    let at = |hour: u8| event("x", &format!("2026-03-04T{hour:02}:00:00Z"), &format!("2026-03-04T{hour:02}:30:00Z"));
    let date = "2026-03-04".parse().unwrap();
    let events = [
        EventInView { version: 7, ..at(1) },
        EventInView { is_imported: true, ..at(2) },
        EventInView { id: String::new(), kind: EventKind::Busy, ..at(3) },
        EventInView { dates: Some((date, date)), ..at(4) },
        EventInView { series_version: Some(9), kind: EventKind::Tentative, ..at(5) },
        event("night", "2026-03-04T22:00:00Z", "2026-03-05T01:00:00Z"),
    ];
    let moved = |days: &[DaySeen]| -> Vec<String> {
        let entries = days.iter().flat_map(|day| day.strip.iter().chain(&day.timed));
        let shown = |it: &Movable| {
            format!("{} {} {} {}", it.span.start(), it.version, it.series_version.unwrap_or(0), it.has_end)
        };
        entries.filter_map(|entry| entry.movable.as_ref()).map(shown).collect()
    };
    let expected = [
        "2026-03-04T01:00:00Z 7 0 true",
        "2026-03-04T05:00:00Z 1 9 true",
        "2026-03-04T22:00:00Z 1 0 false",
        "2026-03-04T22:00:00Z 1 0 true",
    ];
    assert_eq!(moved(&seen(View::Week, "2026-03-04", "UTC", &events)), expected);
    let viewers = seen_by(false, false, View::Week, "2026-03-04", "UTC", &events);
    assert_eq!(moved(&viewers), Vec::<String>::new());
}
