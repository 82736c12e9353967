//! The pages of the first run, and the forms of a calendar.

use kalends_time::{SignedDuration, Timestamp};

use super::{done, problems, shell};
use crate::{
    CALENDAR_FIELDS, CalendarGiven, CalendarSettings, CalendarShown, DeleteCalendar, Done, FIRST_RUN_FIELDS,
    FirstAgent, FirstRunForm, FirstRunGiven, FirstRunMade, NO_PROBLEMS, NewCalendarForm, Place, TestEvent,
};

const AGENT: &str = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh";

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Home);
    let now: Timestamp = "2026-03-02T08:00:00Z".parse().unwrap();
    let wrong = &problems(&FIRST_RUN_FIELDS, text);
    let form = FirstRunForm {
        shell,
        once: "once",
        now,
        has_agents: false,
        makes_key: true,
        given: FirstRunGiven { agent: text, calendar: text, zone: None },
        made: FirstRunMade::Nothing,
        problems: &NO_PROBLEMS,
    };
    let sent = FirstRunGiven { zone: Some("Europe/Vaduz"), ..form.given };
    let stopped = FirstRunForm { given: sent, made: FirstRunMade::Agent, problems: wrong, ..form };
    let calendar = &CalendarShown {
        id: "cal_01jn8r6v9ke0bt3m5qz2c7xwdj".to_owned(),
        name: text.to_owned(),
        zone: "Europe/Berlin".to_owned(),
    };
    let ready = FirstAgent {
        shell,
        once: "once",
        agent: AGENT,
        agent_name: text,
        calendar,
        key: Some(text),
        base_url: "https://kalends.example",
        event: (now, now + SignedDuration::minutes(30)),
    };
    let week = "/console/calendar?view=week&date=2026-03-02";
    let event = TestEvent { shell, calendar: text, agent: Some(AGENT), week, event: text };
    let new_calendar = NewCalendarForm {
        shell,
        once: "once",
        now,
        agent: AGENT,
        agent_name: text,
        given: CalendarGiven { name: text, zone: None },
        problems: &NO_PROBLEMS,
    };
    let wrong_calendar = NewCalendarForm {
        given: CalendarGiven { name: text, zone: Some("Mars") },
        problems: &problems(&CALENDAR_FIELDS, text),
        ..new_calendar
    };
    let given = CalendarGiven { name: text, zone: Some("Europe/Vaduz") };
    let settings = CalendarSettings {
        shell,
        done: done(),
        once: "once",
        now,
        id: &calendar.id,
        name: text,
        agent: Some((AGENT, text)),
        version: text,
        publication: Some("confirmed"),
        may_delete: true,
        given,
        was: given,
        problems: &NO_PROBLEMS,
    };
    let wrong_fields = &problems(&CALENDAR_FIELDS, text);
    let bare =
        CalendarSettings { done: Done::default(), agent: None, publication: None, may_delete: false, ..settings };
    let wrong_settings = CalendarSettings { problems: wrong_fields, ..bare };
    let delete = DeleteCalendar {
        shell,
        id: &calendar.id,
        name: text,
        agent: Some((AGENT, text)),
        version: 3,
        events: 12_345,
        booking_pages: 2,
        has_more_pages: true,
        problem: Some(text),
    };
    vec![
        ("calendar settings", settings.html()),
        ("calendar settings, wrong", wrong_settings.html()),
        ("delete calendar", delete.html()),
        (
            "delete calendar, shared",
            DeleteCalendar { agent: None, has_more_pages: false, problem: None, ..delete }.html(),
        ),
        ("first run", form.html()),
        ("first run, without a key", FirstRunForm { has_agents: true, makes_key: false, ..form }.html()),
        ("first run, wrong", FirstRunForm { given: sent, problems: wrong, ..form }.html()),
        ("first run, no calendar", stopped.html()),
        ("first run, no calendar and no keys", FirstRunForm { makes_key: false, ..stopped }.html()),
        ("first run, no key", FirstRunForm { made: FirstRunMade::Calendar, ..stopped }.html()),
        ("first agent", ready.html()),
        ("first agent, without a key", FirstAgent { key: None, ..ready }.html()),
        ("test event", event.html()),
        ("test event, shared calendar", TestEvent { agent: None, ..event }.html()),
        ("new calendar", new_calendar.html()),
        ("new calendar, wrong", wrong_calendar.html()),
    ]
}
