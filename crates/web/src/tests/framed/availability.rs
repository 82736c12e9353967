//! The pages about availability.

use kalends_kernel::Page;
use kalends_time::{Span, Timestamp, Zone};

use super::{done, problems, shell};
use crate::{
    AskedTime, AvailabilityList, Candidate, DATE_FIELDS, DateGiven, DateShown, Done, Hindrance, NO_PROBLEMS, Obstacle,
    OpenHours, Paging, Place, Problems, RULES_FIELDS, RemoveRules, RuledCalendar, RulesGiven, RulesPage, RulesShown,
    TEST_FIELDS, TestGiven, Tested, TesterPage, WhyNot,
};

const CALENDAR: &str = "cal_01jn8r6v9ke0bt3m5qz2c7xwdj";
const AGENT: &str = "agt_01jn8r6v9ke0bt3m5qz2c7xwdh";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn rules() -> RulesShown {
    let open = OpenHours::new(540, 1_020);
    let date = |date: &str, hours| DateShown { date: date.parse().unwrap(), hours };
    RulesShown {
        before: 15,
        after: 0,
        week: Some([open, open, open, open, open, None, None]),
        zone: "Europe/Berlin".parse().unwrap(),
        dates: vec![date("2026-01-01", None), date("2026-12-24", None), date("2026-12-31", open)],
    }
}

pub(super) fn pages(text: &str) -> Vec<(&'static str, String)> {
    let mut pages = lists(text);
    pages.extend(of_rules(text));
    pages.extend(testers(text));
    pages
}

fn lists(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Availability);
    let calendar =
        |agent, rules| RuledCalendar { id: CALENDAR.to_owned(), name: text.to_owned(), agent, zone: Zone::UTC, rules };
    let calendars = [calendar(Some((AGENT.to_owned(), text.to_owned())), Some(rules())), calendar(None, None)];
    let page = Page { limit: 50, offset: 50 };
    let paging = &Paging { path: "/console/availability".to_owned(), filter: Vec::new(), page, total: 132 };
    let none = &Paging { page: Page::default(), total: 0, ..paging.clone() };
    let list = AvailabilityList { shell, calendars: &calendars, paging };
    vec![
        ("availability", list.html()),
        ("availability, none", AvailabilityList { calendars: &[], paging: none, ..list }.html()),
    ]
}

fn of_rules(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Availability);
    let rules = rules();
    let closed = RulesShown { week: Some([None; 7]), dates: Vec::new(), ..rules.clone() };
    let path = format!("/console/availability/{CALENDAR}");
    let paging = &Paging { path, filter: Vec::new(), page: Page { limit: 2, offset: 0 }, total: 3 };
    let none = &Paging { total: 0, ..paging.clone() };
    let given = RulesGiven { before: text, after: text, restricted: "hours", zone: text, days: [text; 7] };
    let wrong: &Problems = &problems(&[&RULES_FIELDS[..], &DATE_FIELDS[..]].concat(), text);
    let page = RulesPage {
        shell,
        done: done(),
        may_change: true,
        calendar: CALENDAR,
        name: text,
        rules: Some(&rules),
        zone: rules.zone,
        now: at("2026-03-02T08:00:00Z"),
        once: "once",
        version: text,
        date_once: "once",
        date_version: text,
        current: text,
        given,
        was: given,
        date: DateGiven { date: text, hours: text },
        problems: &NO_PROBLEMS,
        paging,
    };
    let remove =
        RemoveRules { shell, calendar: CALENDAR, name: text, rules: &rules, version: text, problem: Some(text) };
    vec![
        ("rules", page.html()),
        ("rules, wrong", RulesPage { problems: wrong, ..page }.html()),
        ("rules, closed", RulesPage { rules: Some(&closed), paging: none, ..page }.html()),
        ("rules, none", RulesPage { rules: None, paging: none, done: Done::default(), ..page }.html()),
        ("rules, seen by a viewer", RulesPage { may_change: false, ..page }.html()),
        ("remove rules", remove.html()),
    ]
}

fn testers(text: &str) -> Vec<(&'static str, String)> {
    let shell = &shell(text, Place::Availability);
    let candidate = |id: &str, is_agent| {
        let (id, name) = (id.to_owned(), text.to_owned());
        Candidate { id, name, is_agent, is_chosen: true }
    };
    let candidates = [candidate(AGENT, true), candidate(CALENDAR, false)];
    let span = |start, end| Span::new(at(start), at(end)).unwrap();
    let closed = span("2026-03-03T00:00:00Z", "2026-03-05T00:00:00Z");
    let why = WhyNot { obstacle: Obstacle::ClosedHours, span: closed };
    let hindrances = vec![Hindrance { who: text.to_owned(), why }; 12];
    let asked = span("2026-03-03T09:00:00Z", "2026-03-03T09:30:00Z");
    let tested = Tested {
        window: span("2026-03-02T08:00:00Z", "2026-03-06T08:00:00Z"),
        minutes: 30,
        step: 15,
        slots: vec![at("2026-03-02T09:00:00Z"), at("2026-03-02T09:15:00Z")],
        hindrances: hindrances.clone(),
        incomplete: vec![span("2026-03-04T00:00:00Z", "2026-03-06T08:00:00Z")],
        warnings: vec![text.to_owned()],
        at: Some(AskedTime { span: asked, hindrances, has_more: true }),
    };
    let free = Tested {
        slots: vec![at("2026-03-02T09:00:00Z"); 201],
        hindrances: Vec::new(),
        incomplete: Vec::new(),
        warnings: Vec::new(),
        at: Some(AskedTime { span: asked, hindrances: Vec::new(), has_more: false }),
        ..tested.clone()
    };
    let page = TesterPage {
        shell,
        candidates: &candidates,
        has_more: true,
        zone: "Europe/Berlin".parse().unwrap(),
        now: at("2026-03-02T08:00:00Z"),
        given: TestGiven { minutes: text, step: text, start: text, end: text, at: text },
        problems: &NO_PROBLEMS,
        tested: None,
    };
    vec![
        ("tester", page.html()),
        ("tester, wrong", TesterPage { problems: &problems(&TEST_FIELDS, text), ..page }.html()),
        ("tester, answered", TesterPage { tested: Some(&tested), ..page }.html()),
        ("tester, many slots", TesterPage { tested: Some(&free), ..page }.html()),
        ("tester, nobody to choose", TesterPage { candidates: &[], has_more: false, ..page }.html()),
    ]
}
