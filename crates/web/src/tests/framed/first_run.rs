//! The pages of the first run, and the form of a calendar.

use super::{problems, shell};
use crate::{
    CALENDAR_FIELDS, CalendarGiven, CalendarShown, FIRST_RUN_FIELDS, FirstAgent, FirstRunForm, FirstRunGiven,
    FirstRunMade, NO_PROBLEMS, NewCalendarForm, Place, TestEvent,
};

const AGENT: &str = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh";

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Home);
    let now = "2026-03-02T08:00:00Z".parse().unwrap();
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
        event: (now, now),
    };
    let event = TestEvent { shell, calendar: text, agent: Some(AGENT), event: text };
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
    vec![
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
