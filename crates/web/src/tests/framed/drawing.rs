//! The page on which a user draws busy times.

use kalends_time::{Span, Timestamp};

use super::{done, problems, shell};
use crate::{Choice, Done, DrawingPage, DrawnWeek, NO_PROBLEMS, Place};

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Connections);
    let now: Timestamp = "2026-03-25T08:15:00Z".parse().unwrap();
    let busy = [Span::new(now, "2026-03-25T10:00:00Z".parse().unwrap()).unwrap()];
    // The clock skips an hour of this week.
    let week = DrawnWeek::of("2026-03-25".parse().unwrap(), "Europe/Berlin".parse().unwrap());
    let hours = week.busy_hours(&busy);
    let calendars = [Choice { value: text, title: text }, Choice { value: "Private", title: "Private" }];
    let page = DrawingPage {
        shell,
        done: done(),
        connection: "con_x",
        account: text,
        calendars: &calendars,
        calendar: text,
        week,
        busy: &busy,
        checked: &hours,
        was: &hours,
        now,
        problems: &NO_PROBLEMS,
    };
    let last = DrawnWeek::of("2099-12-31".parse().unwrap(), "UTC".parse().unwrap());
    vec![
        ("drawing", page.html()),
        ("drawing, wrong", DrawingPage { done: Done::default(), problems: &problems(&[], text), ..page }.html()),
        ("drawing, nothing", DrawingPage { week: last, busy: &[], checked: &[], was: &[], ..page }.html()),
    ]
}

#[test]
fn a_week_has_a_box_for_each_hour_that_exists() {
    let (_, page) = pages("Call").swap_remove(0);
    assert_eq!(page.matches("type=\"checkbox\"").count(), 167);
    assert_eq!(page.matches(" checked>").count(), 2);
    assert!(page.contains("id=\"at-2026-03-29T01\"") && !page.contains("id=\"at-2026-03-29T02\""));
    for date in ["2026-03-16", "2026-03-23", "2026-03-30"] {
        assert!(page.contains(&format!("?week={date}&#38;calendar=Call&#38;tz=Europe/Berlin\"")), "{date}");
    }
}
