//! The requests, and what they are compared with.

use serde_json::json;

use super::console::PAGES;
use super::data::{BODIES, Data, FREE, FREE_TIMES, Organization, READERS, addition, cold_windows, free_from, window};
use super::floor::ROWS;
use super::tools;
use crate::connection::{get, post};
use crate::load::Requests;

/// The floors.
const CONSTANT: &str = "floor: a constant";
const SELECT: &str = "floor: one SELECT";
const INSERT: &str = "floor: one INSERT";
pub(crate) const GET_EVENT: &str = "GET event";
/// The case with which lists by metadata are compared.
const LIST: &str = "list events, 50 of 1,666";
/// The case of plain events, with which the case of series is compared.
pub(crate) const WARM: &str = "agent availability, warm";
pub(crate) const COLD: &str = "agent availability, cold";
pub(crate) const WARM_SERIES: &str = "availability with 50 series, warm";
pub(crate) const COLD_SERIES: &str = "availability with 50 series, cold";
/// The case of a short booking page, with which the case of a longer page is compared.
pub(crate) const SLOTS: &str = "slots of a page, 14 days of 30 minutes";
pub(crate) const LONG_SLOTS: &str = "slots of a page, a year of 5 minutes";
pub(crate) const TEAM_SLOTS: &str = "slots of a page for 5 calendars together";
/// The case that is also compared with the store's commits.
pub(crate) const POST: &str = "POST event";
/// POST event without the change feed, and with it.
const UNREAD: &str = "feed: POST event, never read";
pub(crate) const FOLLOWED: &str = "feed: POST event, read once";
/// The number of agents in a query across agents.
const ACROSS: usize = 10;

/// One measured kind of request.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The floor or the other case that it is compared with. A floor has none.
    pub(crate) floor: Option<&'static str>,
    pub(crate) requests: Requests,
}

/// All cases, in the order of measurement.
pub(crate) fn all(key: &str, data: &Data) -> Vec<Case> {
    let authorized = |target: &str| get(target, Some(key));
    let windowed = |agent: &str, window: &str| authorized(&format!("/v1/agents/{agent}/availability?{window}"));
    let first = window(0);
    let floor = |name, status, requests| Case { name, floor: None, requests: Requests::shared(status, requests) };
    let case = |name, floor, requests| Case { name, floor: Some(floor), requests };
    let across: Vec<String> = (0..READERS)
        .map(|start| {
            let named: Vec<&str> = data.agents.iter().cycle().skip(start).take(ACROSS).map(String::as_str).collect();
            format!("/v1/availability?agents={}&{first}", named.join(","))
        })
        .collect();
    let mut all = vec![
        floor(CONSTANT, 200, vec![get("/constant", None)]),
        floor("floor: 68 KB", 200, vec![get("/long", None)]),
        floor(SELECT, 200, (0..ROWS).map(|id| get(&format!("/rows/{id}"), None)).collect()),
        case(
            GET_EVENT,
            SELECT,
            Requests::shared(200, data.events.iter().map(|id| authorized(&format!("/v1/events/{id}"))).collect()),
        ),
        case(
            LIST,
            SELECT,
            Requests::shared(
                200,
                data.calendars.iter().map(|id| authorized(&format!("/v1/calendars/{id}/events?limit=50"))).collect(),
            ),
        ),
        case(
            "list events by metadata, 1 of 1,666",
            GET_EVENT,
            Requests::shared(
                200,
                (data.calendars.iter().enumerate())
                    .map(|(ticket, id)| authorized(&format!("/v1/calendars/{id}/events?metadata.ticket={ticket}")))
                    .collect(),
            ),
        ),
        case(
            "list events by metadata, 50 of 1,666",
            LIST,
            Requests::shared(
                200,
                (data.calendars.iter())
                    .map(|id| authorized(&format!("/v1/calendars/{id}/events?limit=50&metadata.room=4.12")))
                    .collect(),
            ),
        ),
        // No event has the word, so each request opens as many events as one may. The searches of an organization take
        // turns.
        case(
            "search, 5,000 events opened",
            SELECT,
            Requests::alone(200, vec![authorized("/v1/events/search?q=nowhere&start_after=2026-03-01T00:00:00Z")]),
        ),
        case(WARM, SELECT, Requests::each(200, data.agents.iter().map(|agent| vec![windowed(agent, &first)]))),
        case(WARM_SERIES, WARM, Requests::each(200, data.recurring.iter().map(|agent| vec![windowed(agent, &first)]))),
        case(
            COLD,
            SELECT,
            Requests::each(
                200,
                data.agents.iter().map(|agent| cold_windows().map(|window| windowed(agent, &window)).collect()),
            ),
        ),
        case(
            COLD_SERIES,
            COLD,
            Requests::each(
                200,
                data.recurring.iter().map(|agent| cold_windows().map(|window| windowed(agent, &window)).collect()),
            ),
        ),
        case(
            "availability across 10 agents",
            SELECT,
            Requests::shared(200, across.iter().map(|target| authorized(target)).collect()),
        ),
        case(SLOTS, SELECT, Requests::shared(200, data.pages.iter().take(1).map(|slug| slots(slug)).collect())),
        case(
            LONG_SLOTS,
            SLOTS,
            Requests::shared(200, data.pages.iter().skip(1).take(1).map(|slug| slots(slug)).collect()),
        ),
        case(TEAM_SLOTS, SLOTS, Requests::shared(200, data.pages.iter().skip(2).map(|slug| slots(slug)).collect())),
        case(
            "the page of these slots, HTML",
            SLOTS,
            Requests::shared(200, data.pages.iter().take(1).map(|slug| get(&format!("/book/{slug}"), None)).collect()),
        ),
        floor(INSERT, 200, vec![post("/rows", None, None, "")]),
        case(POST, INSERT, Requests::each(201, data.written.iter().map(|calendar| additions(key, calendar)))),
        case(
            "POST event, all on one calendar",
            INSERT,
            Requests::each(201, data.written.iter().take(1).map(|calendar| additions(key, calendar))),
        ),
        case(
            "POST event, if_free, 1,000 events",
            POST,
            Requests::each(201, data.free.iter().map(|calendar| free_additions(key, calendar))),
        ),
    ];
    let page = |path| Requests::shared(200, vec![get(path, Some(&data.session))]);
    all.extend(PAGES.iter().map(|(name, path)| case(name, GET_EVENT, page(path))));
    let written = |organization: &Organization| {
        let Organization { key, calendars } = organization;
        Requests::each(201, calendars.iter().map(|calendar| additions(key, calendar)))
    };
    all.push(case(UNREAD, INSERT, written(&data.unread)));
    all.push(case(FOLLOWED, UNREAD, written(&data.followed)));
    for pair in tools::pairs(key, data) {
        all.push(case(pair.request, SELECT, pair.requests));
        all.push(case(pair.call, pair.request, pair.calls));
    }
    all.push(case(tools::SEARCH, SELECT, tools::searches(key, &data.searched)));
    all
}

fn slots(slug: &str) -> Vec<u8> {
    get(&format!("/book/{slug}/slots"), None)
}

fn additions(key: &str, calendar: &str) -> Vec<Vec<u8>> {
    let bodies = (0..BODIES).map(|number| addition(number * 30, 30));
    bodies.map(|body| post(&events_of(calendar), Some(key), None, &body.to_string())).collect()
}

/// Events that demand free time. Each is sent once, because its time is taken then.
fn free_additions(key: &str, calendar: &str) -> Vec<Vec<u8>> {
    let bodies = (0..FREE_TIMES).map(|number| {
        let mut body = addition(free_from(number), FREE);
        body["if_free"] = json!(true);
        body
    });
    bodies.map(|body| post(&events_of(calendar), Some(key), None, &body.to_string())).collect()
}

fn events_of(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}
