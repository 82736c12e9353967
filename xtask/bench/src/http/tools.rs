//! Calls of tools, next to the requests that they stand for. Each tool calls one operation, with the same arguments as
//! its request.

use anyhow::Result;
use kalends_time::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::data::{BODIES, Data, Searched, addition, agent_with_calendar, create_events, instant};
use crate::connection::{Connection, get, post};
use crate::json;
use crate::load::Requests;

/// The endpoint of the tools.
const ENDPOINT: &str = "/mcp";
/// A search for free times, which is compared with the floor too.
pub(crate) const SEARCH: &str = "find_times, 10 agents, 14 days";
/// The number of agents whose free times are searched, and of the days.
const AGENTS: u64 = 10;
const DAYS: u64 = 14;
/// The time from one event of such an agent to the next, and the length of each, in minutes. The agents follow each
/// other, so all are free in the last half hour before the first one's next event.
const EVERY: u64 = 180;
const LASTS: u64 = 15;
/// The day whose events are listed, in days after the first.
const DAY: u64 = 8;

/// The cases of one tool, over all connections and over one.
struct Names {
    request: &'static str,
    call: &'static str,
    request_alone: &'static str,
    call_alone: &'static str,
}

macro_rules! names {
    ($tool:literal) => {
        Names {
            request: concat!("request: ", $tool),
            call: concat!("tool: ", $tool),
            request_alone: concat!("request: ", $tool, ", one connection"),
            call_alone: concat!("tool: ", $tool, ", one connection"),
        }
    };
}

const GET_EVENT: Names = names!("get_event");
const CALL_OPERATION: Names = names!("call_operation, getEvent");
const LIST_EVENTS: Names = names!("list_events, a day");
const CREATE_EVENT: Names = names!("create_event");
const FIND_TIMES: Names = names!("find_times");
const ALL: [&Names; 5] = [&GET_EVENT, &CALL_OPERATION, &LIST_EVENTS, &CREATE_EVENT, &FIND_TIMES];

/// A request and the call of a tool that stands for it.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) request: &'static str,
    pub(crate) call: &'static str,
    pub(crate) requests: Requests,
    pub(crate) calls: Requests,
}

/// One list of requests for all connections, or one for each.
type Lists = Vec<Vec<Vec<u8>>>;

/// Whether a case is a call of a tool that is compared with its request.
pub(crate) fn is_call(case: &str) -> bool {
    ALL.iter().any(|names| [names.call, names.call_alone].contains(&case))
}

/// Whether a case sends calls of tools.
pub(crate) fn calls(case: &str) -> bool {
    is_call(case) || case == SEARCH
}

/// Creates the agents whose free times are searched, from the day after tomorrow on: no time is over during a run.
pub(crate) async fn create(connection: &mut Connection, key: &str) -> Result<Searched> {
    let health = connection.ask(&get("/health", None)).await?.json(200)?;
    let now: Timestamp = json::text(&health, "ts")?.parse()?;
    let day = SignedDuration::days(1).as_micros();
    let first = Timestamp::from_micros((now.as_micros() / day + 2) * day);
    let after = |minutes: u64| (first + SignedDuration::minutes(i64::try_from(minutes).unwrap_or(0))).to_string();
    let length = DAYS * 1440;
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        let (agent, calendar) = agent_with_calendar(connection, key, &format!("Searched {number}")).await?;
        let event = |turn: u64| {
            let start = turn * EVERY + number * LASTS;
            json!({ "title": "Stand-up", "start_time": after(start), "end_time": after(start + LASTS) })
        };
        let bodies: Vec<Value> = (0..length / EVERY).map(event).collect();
        create_events(connection, key, &calendar, &bodies).await?;
        agents.push(agent);
    }
    Ok(Searched { agents, start: after(0), end: after(length) })
}

/// All pairs, each over all connections and over one.
pub(crate) fn pairs(key: &str, data: &Data) -> Vec<Pair> {
    let read = |target: &str| get(target, Some(key));
    let events = of_each(&data.events, |id| read(&format!("/v1/events/{id}?local=true")));
    let (start, end) = (instant(DAY * 1440), instant((DAY + 1) * 1440));
    let day = format!("start_after={start}&start_before={end}&expand=true&local=false&limit=50");
    let Searched { agents, start: from, end: until } = &data.searched;
    let agents = agents.join(",");
    let search = format!("/v1/availability?agents={agents}&start={from}&end={until}&slot_duration=30m&slot_step=15m");
    let cases: [(&Names, u16, Lists, Lists); 5] = [
        (
            &GET_EVENT,
            200,
            events.clone(),
            of_each(&data.events, |id| call(key, "get_event", &json!({ "event_id": id }))),
        ),
        (
            &CALL_OPERATION,
            200,
            events,
            of_each(&data.events, |id| {
                call(key, "call_operation", &json!({ "operation": "getEvent", "arguments": { "id": id } }))
            }),
        ),
        (
            &LIST_EVENTS,
            200,
            of_each(&data.calendars, |id| read(&format!("/v1/calendars/{id}/events?{day}"))),
            of_each(&data.calendars, |id| {
                let arguments = json!({ "calendar_id": id, "start": start, "end": end, "timezone": "UTC" });
                call(key, "list_events", &arguments)
            }),
        ),
        (
            &CREATE_EVENT,
            201,
            additions(data, |calendar, body| {
                let target = format!("/v1/calendars/{calendar}/events?local=true");
                post(&target, Some(key), None, &body.to_string())
            }),
            additions(data, |calendar, body| call(key, "create_event", &arguments(calendar, body))),
        ),
        (&FIND_TIMES, 200, vec![vec![read(&search)]], vec![vec![find_times(key, &data.searched)]]),
    ];
    cases.into_iter().flat_map(|(names, status, requests, calls)| both(names, status, requests, calls)).collect()
}

/// The calls of [`SEARCH`].
pub(crate) fn searches(key: &str, searched: &Searched) -> Requests {
    Requests::shared(200, vec![find_times(key, searched)])
}

/// The pair over all connections, and over one.
fn both(names: &Names, status: u16, requests: Lists, calls: Lists) -> [Pair; 2] {
    let alone = |status, lists: &Lists| Requests::alone(status, lists.first().cloned().unwrap_or_default());
    let one = Pair {
        request: names.request_alone,
        call: names.call_alone,
        requests: alone(status, &requests),
        calls: alone(200, &calls),
    };
    let (requests, calls) = (Requests::each(status, requests), Requests::each(200, calls));
    [Pair { request: names.request, call: names.call, requests, calls }, one]
}

fn call(key: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    post(ENDPOINT, Some(key), None, &body.to_string())
}

fn find_times(key: &str, searched: &Searched) -> Vec<u8> {
    let Searched { agents, start, end } = searched;
    let arguments = json!({
        "participants": agents, "duration_minutes": 30, "earliest": start, "latest": end, "timezone": "UTC",
    });
    call(key, "find_times", &arguments)
}

/// What `make` makes of each of these, for all connections.
fn of_each(ids: &[String], make: impl Fn(&str) -> Vec<u8>) -> Lists {
    vec![ids.iter().map(|id| make(id)).collect()]
}

/// What `make` makes of each new event, for each writing connection.
fn additions(data: &Data, make: impl Fn(&str, &Value) -> Vec<u8>) -> Lists {
    let bodies: Vec<Value> = (0..BODIES).map(|number| addition(number * 30, 30)).collect();
    let mut lists = Vec::with_capacity(data.written.len());
    for calendar in &data.written {
        lists.push(bodies.iter().map(|body| make(calendar, body)).collect());
    }
    lists
}

/// A new event as the tool takes it. The time may be taken, so the tool calls no other operation.
fn arguments(calendar: &str, body: &Value) -> Value {
    json!({
        "calendar_id": calendar, "title": body["title"], "description": body["description"],
        "start": body["start_time"], "end": body["end_time"], "metadata": body["metadata"], "allow_conflict": true,
    })
}
