//! Writes that wait until a person allows them: what they reserve until then, who decides, and what a decision does.

use crate::on_both;
use std::time::{Duration, Instant};

use futures::future::join_all;
use kalends_e2e::{Answer, Call, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    change_feed::waiting_readers,
    console::owner,
    core_tools,
    fixtures::{agent_with_calendar, calendar_of, event, event_body, has_exactly, is_id, time},
    holds::{hold_body, in_seconds, set_body},
    members::member,
    proposals::{PROPOSALS, Team, key_of, slot},
    subscriber::{meetings, vcalendar},
    webhooks::{hook, with_receiver},
};

pub(crate) const APPROVALS: &str = "/v1/approvals";
pub(crate) const LOG: &str = "/v1/audit-log";
/// The address of the organization whose members have roles.
const ORG: &str = "org@example.com";
/// The fields of an approval that nobody has decided.
const PENDING: [&str; 9] =
    ["id", "status", "operation", "summary", "agent_id", "key_prefix", "created_at", "expires_at", "decide_url"];
/// How many writes of a key may wait at a time.
const PENDING_MAX: usize = 20;
/// Far less than a wait for a decision may take.
const PROMPT: Duration = Duration::from_secs(20);

/// A new key of the agent that requires approval for these writes.
pub(crate) async fn asking_key(api: &Client, agent: &str, covers: Value) -> Answer {
    let body = json!({ "agent_id": agent, "requires_approval": covers });
    api.post("/v1/keys").json(body).await.expect(201)
}

/// A client with such a key.
pub(crate) async fn asking(server: &Server, api: &Client, agent: &str, covers: Value) -> Client {
    server.client(asking_key(api, agent, covers).await["key"].as_str().unwrap())
}

pub(crate) fn events(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// A time of a day in March 2031.
fn at(day: u32, clock: &str) -> String {
    format!("2031-03-{day:02}T{clock}:00Z")
}

/// The body of an event on a day in March 2031.
fn planned(day: u32) -> Value {
    event_body("Kick-off", &at(day, "09:00"), &at(day, "10:00"))
}

/// Asks for the creation of an event.
fn ask(own: &Client, calendar: &str, day: u32) -> Call {
    own.post(events(calendar)).json(planned(day))
}

/// The approval that a write waits for.
#[track_caller]
pub(crate) fn waiting(answer: Answer) -> Value {
    let answer = answer.expect(202);
    has_exactly(&answer.json, &["approval"]);
    let approval = answer["approval"].clone();
    has_exactly(&approval, &PENDING);
    is_id(&approval["id"], "apr_");
    assert_eq!(approval["status"], "pending", "{approval:#}");
    assert!(approval["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{approval:#}");
    let url = approval["decide_url"].as_str().unwrap();
    assert!(url.ends_with(&format!("/approvals/{}", text(&approval["id"]))), "{url}");
    approval
}

#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

pub(crate) fn path(approval: &Value) -> String {
    format!("{APPROVALS}/{}", text(&approval["id"]))
}

/// Approves, denies or cancels.
fn decide(by: &Client, approval: &Value, how: &str) -> Call {
    by.post(format!("{}/{how}", path(approval)))
}

/// Approves or denies. If others are faster each time, it is sent again.
pub(crate) async fn decided(by: &Client, approval: &Value, how: &str) -> Answer {
    loop {
        let answer = decide(by, approval, how).await;
        if answer.at("/error/code") != "contended" {
            return answer;
        }
    }
}

/// Reads an approval, and waits for a number of seconds.
fn reads(key: &Client, approval: &Value) -> impl Fn(&str) -> Call + Clone + Send + use<> {
    let (key, target) = (key.impatient(), path(approval));
    move |seconds: &str| key.get(&target).query(&[("wait", seconds)])
}

/// Approves, and returns the approval as the answer shows it.
async fn approve(by: &Client, approval: &Value) -> Answer {
    let answer = decide(by, approval, "approve").await.expect(200);
    assert_eq!(answer["id"], approval["id"]);
    answer
}

/// The busy times of a calendar on a day, as `HH:MM-HH:MM`.
async fn busy(api: &Client, calendar: &str, day: &str) -> Vec<String> {
    let query = format!("start={day}T06:00:00Z&end={day}T20:00:00Z&include_busy=true");
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{query}")).await.expect(200);
    let clock = |value: &Value| value.as_str().unwrap()[11..16].to_owned();
    let clocks = |one: &Value| format!("{}-{}", clock(&one["start"]), clock(&one["end"]));
    answer["busy"].as_array().unwrap().iter().map(clocks).collect()
}

/// What lists show of the calendars, the hold sets and the proposals.
async fn shown(api: &Client, calendars: [&str; 2]) -> Vec<Value> {
    let mut shown = Vec::new();
    for calendar in calendars {
        let window = [
            ("expand", "true"),
            ("start_after", "2031-03-01T00:00:00Z"),
            ("start_before", "2031-04-01T00:00:00Z"),
            ("limit", "200"),
        ];
        shown.extend(api.get(events(calendar)).query(&[("limit", "200")]).await.expect(200).data());
        shown.extend(api.get(events(calendar)).query(&window).await.expect(200).data());
    }
    shown.extend(api.get("/v1/hold-sets").await.expect(200).data());
    shown.extend(api.get(PROPOSALS).await.expect(200).data());
    shown
}

/// A write that waits, and the times that it would take: each a calendar, a day, and the clock times.
struct Write {
    operation: &'static str,
    call: Call,
    takes: Vec<(String, String, &'static str)>,
}

impl Write {
    fn new(operation: &'static str, call: Call, takes: &[(&str, &str, &'static str)]) -> Self {
        let owned =
            |(calendar, day, clocks): &(&str, &str, &'static str)| ((*calendar).to_owned(), (*day).to_owned(), *clocks);
        Self { operation, call, takes: takes.iter().map(owned).collect() }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_waiting_write_changes_nothing_and_reserves_its_time(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let (one, two) = (team.calendar.clone(), calendar_of(&api, &team.organizer).await);
    let (first, second) = (one.as_str(), two.as_str());
    let own = asking(&server, &api, &team.organizer, json!("writes")).await;
    let changed = event(&api, first, &at(2, "09:00"), &at(2, "10:00")).await;
    let deleted = event(&api, first, &at(3, "09:00"), &at(3, "10:00")).await;
    let moved = event(&api, first, &at(11, "09:00"), &at(11, "10:00")).await;
    let mut series = event_body("Standup", &at(8, "09:00"), &at(8, "09:30"));
    series["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
    let series = api.post(events(first)).json(series).await.expect(201).id();
    let later = json!({ "start_time": at(2, "12:00"), "end_time": at(2, "13:00") });
    let until = in_seconds(&api, 800).await;
    let hold = hold_body(&at(4, "09:00"), &at(4, "10:00"), &until, 0);
    let set = set_body(&[first, second], &at(5, "09:00"), &at(5, "10:00"), &until);
    let offered = team.body(&[slot("14:00", "15:00")], &json!({ "hold_slots": true }));
    let noon = json!({ "start_time": at(10, "12:00") });
    let batch = json!({ "events": [planned(12), planned(13)] });
    let morning = "09:00-10:00";
    let writes = [
        Write::new("createEvent", ask(&own, first, 1), &[(first, "2031-03-01", morning)]),
        Write::new(
            "updateEvent",
            own.patch(format!("/v1/events/{changed}")).json(later),
            &[(first, "2031-03-02", "12:00-13:00")],
        ),
        Write::new("deleteEvent", own.delete(format!("/v1/events/{deleted}")), &[]),
        Write::new("createEvent", own.post(events(first)).json(hold), &[(first, "2031-03-04", morning)]),
        Write::new(
            "createHoldSet",
            own.post("/v1/hold-sets").json(set),
            &[(first, "2031-03-05", morning), (second, "2031-03-05", morning)],
        ),
        Write::new("createProposal", own.post(PROPOSALS).json(offered), &[(first, "2031-03-03", "14:00-15:00")]),
        Write::new(
            "updateEvent",
            own.patch(format!("/v1/events/{series}_20310310T090000Z")).json(noon),
            &[(first, "2031-03-10", "12:00-12:30")],
        ),
        Write::new(
            "moveEvent",
            own.post(format!("/v1/events/{moved}/move")).json(json!({ "calendar_id": second })),
            &[(second, "2031-03-11", morning)],
        ),
        Write::new(
            "createEventBatch",
            own.post(format!("{}/batch", events(first))).json(batch),
            &[(first, "2031-03-12", morning), (first, "2031-03-13", morning)],
        ),
    ];
    let count = writes.len();
    for Write { operation, call, takes } in writes {
        let before = shown(&api, [first, second]).await;
        let approval = waiting(call.await);
        assert_eq!(approval["operation"], operation);
        assert_eq!(approval["agent_id"], json!(team.organizer));
        assert_eq!(shown(&api, [first, second]).await, before, "{operation}");
        for (calendar, day, clocks) in &takes {
            let found = busy(&api, calendar, day).await;
            assert!(found.iter().any(|one| one == clocks), "{operation}: {clocks} is not among {found:?}");
            let (start, end) = clocks.split_once('-').unwrap();
            let mut other = event_body("Other", &format!("{day}T{start}:00Z"), &format!("{day}T{end}:00Z"));
            other["if_free"] = json!(true);
            api.post(events(calendar)).json(other).await.refused(409, "conflict").code("slot_taken");
        }
        let denied = decide(&api, &approval, "deny").await.expect(200);
        assert_eq!(denied["status"], "denied", "{}", denied.describe());
        for (calendar, day, clocks) in &takes {
            let found = busy(&api, calendar, day).await;
            assert!(found.iter().all(|one| one != clocks), "{operation}: {clocks} is still reserved: {found:?}");
        }
        assert_eq!(shown(&api, [first, second]).await, before, "{operation}");
    }
    let denied = api.get(format!("{APPROVALS}?status=denied")).await.expect(200);
    assert_eq!(denied["total"], count);
    assert_eq!(api.get(format!("{APPROVALS}?status=pending")).await.expect(200)["total"], 0);
}

/// The fields of an event that do not depend on when and as which it was created.
fn lasting(event: &Value) -> Value {
    let mut event = event.clone();
    for field in ["id", "createdAt", "updatedAt"] {
        event.as_object_mut().unwrap().remove(field).unwrap();
    }
    event
}

#[apply(on_both)]
#[tokio::test]
async fn an_approved_write_is_made_as_if_the_key_had_made_it(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (agent, calendar) = agent_with_calendar(&api).await;
    let plain = key_of(&server, &api, &agent).await;
    let key = asking_key(&api, &agent, json!("writes")).await;
    let own = server.client(key["key"].as_str().unwrap());

    // A creation.
    let expected = plain.post(events(&calendar)).json(planned(1)).await.expect(201);
    let asked = waiting(ask(&own, &calendar, 1).await);
    assert_eq!(asked["key_prefix"], key["key_prefix"]);
    let answer = approve(&api, &asked).await;
    has_exactly(&answer.json, &[&PENDING[..], &["decided_at", "decided_by", "result"]].concat());
    assert_eq!((&answer["status"], &answer["decided_by"]), (&json!("approved"), &json!(org.key[..20])));
    assert!(time(&answer["decided_at"]) >= time(&answer["created_at"]));
    assert_eq!(answer.at("/result/status"), 201);
    let made = answer.at("/result/body");
    assert_eq!(lasting(&made), lasting(&expected.json));
    let read = own.get(format!("/v1/events/{}", text(&made["id"]))).await.expect(200);
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("external_sync");
    assert_eq!((&read.json, read.header("etag")), (&shown, expected.header("etag")));
    assert_eq!(busy(&api, &calendar, "2031-03-01").await, ["09:00-10:00"]);

    // The key that asked reads the result, and the same decision again changes nothing.
    assert_eq!(own.get(path(&asked)).await.expect(200).json, answer.json);
    assert_eq!(approve(&api, &asked).await.json, answer.json);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 2);
    for other in ["deny", "cancel"] {
        decide(&api, &asked, other).await.refused(409, "conflict").code("approval_decided");
    }

    // A change and a deletion of it.
    let own_event = format!("/v1/events/{}", text(&made["id"]));
    let body = json!({ "title": "Renamed" });
    let changed = approve(&api, &waiting(own.patch(&own_event).json(body).await)).await;
    assert_eq!((changed.at("/result/status"), changed.at("/result/body/title")), (json!(200), json!("Renamed")));
    assert_eq!(api.get(&own_event).await.expect(200)["title"], "Renamed");
    let deleted = approve(&api, &waiting(own.delete(&own_event).await)).await;
    assert_eq!((deleted.at("/result/status"), deleted.at("/result/body")), (json!(204), Value::Null));
    api.get(&own_event).await.refused(404, "not_found");

    // A hold takes its own reservation.
    let until = in_seconds(&api, 800).await;
    let hold = hold_body(&at(4, "09:00"), &at(4, "10:00"), &until, 0);
    let held = approve(&api, &waiting(own.post(events(&calendar)).json(hold).await)).await;
    assert_eq!((&held["status"], held.at("/result/body/status")), (&json!("approved"), json!("hold")));
    assert_eq!(busy(&api, &calendar, "2031-03-04").await, ["09:00-10:00"]);
    let mut free = planned(5);
    free["if_free"] = json!(true);
    let free = approve(&api, &waiting(own.post(events(&calendar)).json(free).await)).await;
    assert_eq!(free["status"], "approved", "{}", free.describe());

    // The run of the request is that of the write.
    let of_run = ask(&own, &calendar, 6).header("kalends-run", "plan");
    let ran = approve(&api, &waiting(of_run.await)).await;
    let run = own.get("/v1/runs/plan").await.expect(200);
    assert_eq!(run.at("/writes/0/resource_id"), ran.at("/result/body/id"), "{}", run.describe());
    let listed = own.get(APPROVALS).await.expect(200);
    assert_eq!((&listed["total"], &listed.data()[0]["id"]), (&json!(6), &ran["id"]), "the newest comes first");
}

#[apply(on_both)]
#[tokio::test]
async fn decisions_are_announced_and_logged(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let key = asking_key(&api, &agent, json!("writes")).await;
    let own = server.client(key["key"].as_str().unwrap());
    hook(&api, &receiver, "/", &["approval.requested", "approval.decided", "event.created"]).await;

    let asked = waiting(ask(&own, &calendar, 1).await);
    assert_eq!(receiver.wait_for_type("/", "approval.requested").await.json(), asked);
    let approved = approve(&api, &asked).await;
    let decided = receiver.wait_for_type("/", "approval.decided").await.json();
    let mut expected = approved.json.clone();
    expected.as_object_mut().unwrap().remove("result").unwrap();
    assert_eq!(decided, expected);
    let created = receiver.wait_for_type("/", "event.created").await.json();
    assert_eq!(created["id"], approved.at("/result/body/id"));

    let other = waiting(ask(&own, &calendar, 2).await);
    let reason = json!({ "reason": "Sundays stay free." });
    let denied = decide(&api, &other, "deny").json(reason).await.expect(200);
    assert_eq!((&denied["status"], &denied["reason"]), (&json!("denied"), &json!("Sundays stay free.")));
    let is_other = |one: &kalends_e2e::Received| one.json()["id"] == other["id"] && one.json()["status"] == "denied";
    let received = receiver.wait_for_one("/", "denial", is_other).await.json();
    assert_eq!(received, denied.json);
    assert_eq!(own.get(path(&other)).await.expect(200).json, denied.json);

    // The log has the request of the key, and who decided.
    let log = api.get(LOG).query(&[("action", "event.create"), ("limit", "200")]).await.expect(200).data();
    let statuses: Vec<_> = log.iter().map(|entry| entry["status"].clone()).collect();
    assert_eq!(statuses, [json!(202), json!(201), json!(202)], "{log:#?}");
    assert!(log.iter().all(|entry| entry["actor_key_prefix"] == key["key_prefix"]), "{log:#?}");
    for (action, approval) in [("approval.approve", &asked), ("approval.deny", &other)] {
        let entries = api.get(LOG).query(&[("action", action)]).await.expect(200).data();
        let [entry] = entries.as_slice() else { panic!("{action}: {entries:#?}") };
        assert_eq!((&entry["resource"], &entry["agent_id"]), (&approval["id"], &json!(agent)), "{entry:#}");
        assert_ne!(entry["actor_key_prefix"], key["key_prefix"], "{entry:#}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn what_is_no_longer_possible_fails_when_it_is_approved(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let (_, elsewhere) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let failed = async |approval: &Value, code: &str| {
        let answer = approve(&api, approval).await;
        assert_eq!(answer["status"], "failed", "{}", answer.describe());
        assert_eq!(answer.at("/result/body/error/code"), code, "{}", answer.describe());
        assert_eq!(api.get(path(approval)).await.expect(200).json, answer.json);
    };
    let renamed = |id: &str| own.patch(format!("/v1/events/{id}")).json(json!({ "title": "Renamed" }));

    let changed = event(&api, &calendar, &at(1, "09:00"), &at(1, "10:00")).await;
    let asked = waiting(renamed(&changed).await);
    api.patch(format!("/v1/events/{changed}")).json(json!({ "title": "Mine" })).await.expect(200);
    failed(&asked, "stale").await;
    assert_eq!(api.get(format!("/v1/events/{changed}")).await.expect(200)["title"], "Mine");

    let gone = event(&api, &calendar, &at(2, "09:00"), &at(2, "10:00")).await;
    let asked = waiting(renamed(&gone).await);
    api.delete(format!("/v1/events/{gone}")).await.expect(204);
    failed(&asked, "event_not_found").await;

    let moved = event(&api, &calendar, &at(3, "09:00"), &at(3, "10:00")).await;
    let asked = waiting(renamed(&moved).await);
    api.post(format!("/v1/events/{moved}/move")).json(json!({ "calendar_id": elsewhere })).await.expect(200);
    failed(&asked, "out_of_reach").await;

    let asked = waiting(ask(&own, &calendar, 4).await);
    api.patch(format!("/v1/agents/{agent}")).json(json!({ "status": "paused" })).await.expect(200);
    failed(&asked, "agent_paused").await;
    api.patch(format!("/v1/agents/{agent}")).json(json!({ "status": "active" })).await.expect(200);

    let key = asking_key(&api, &agent, json!("writes")).await;
    let revoked = server.client(key["key"].as_str().unwrap());
    let asked = waiting(ask(&revoked, &calendar, 5).await);
    api.delete(format!("/v1/keys/{}", key.id())).await.expect(204);
    decide(&api, &asked, "approve").await.refused(409, "conflict").code("approval_decided");
    assert_eq!(api.get(path(&asked)).await.expect(200)["status"], "cancelled");
    // The reservations end with every decision.
    for day in ["2031-03-04", "2031-03-05"] {
        assert!(busy(&api, &calendar, day).await.is_empty(), "{day}");
    }
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn people_and_keys_of_the_organization_decide(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("pro", &["--email", ORG]).await);
    let chief = owner(&server, ORG).await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let (sibling, theirs) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let plain = key_of(&server, &api, &agent).await;
    let other = asking(&server, &api, &sibling, json!("writes")).await;
    let stranger = server.api(&server.org("pro").await);
    let (_, viewer) = member(&server, &chief, "viewer@viewer.example", "viewer").await;

    let asked = waiting(ask(&own, &calendar, 1).await);
    let foreign = waiting(ask(&other, &theirs, 1).await);
    for how in ["approve", "deny"] {
        for key in [&own, &plain, &other] {
            decide(key, &asked, how).await.refused(403, "forbidden");
        }
        decide(&viewer, &asked, how).await.refused(403, "forbidden").code("role_too_low");
        decide(&stranger, &asked, how).await.refused(404, "not_found");
    }
    decide(&viewer, &asked, "cancel").await.refused(403, "forbidden").code("role_too_low");
    for (client, status) in [(&other, 403), (&stranger, 404)] {
        client.get(path(&asked)).await.expect(status);
        decide(client, &asked, "cancel").await.expect(status);
    }
    server.anonymous().get(path(&asked)).await.expect(401);
    for reader in [&own, &plain, &viewer, &chief, &api] {
        assert_eq!(reader.get(path(&asked)).await.expect(200).json, asked);
    }
    // Lists show what the caller reaches.
    assert_eq!(own.get(APPROVALS).await.expect(200).column("id"), [text(&asked["id"])]);
    let listed = api.get(APPROVALS).await.expect(200).column("id");
    assert_eq!(listed, [text(&foreign["id"]), text(&asked["id"])]);
    let of_sibling = api.get(format!("{APPROVALS}?agent_id={sibling}")).await.expect(200).column("id");
    assert_eq!(of_sibling, [text(&foreign["id"])]);
    own.get(format!("{APPROVALS}?agent_id={sibling}")).await.refused(403, "forbidden");
    assert_eq!(stranger.get(APPROVALS).await.expect(200)["total"], 0);
    api.get(format!("{APPROVALS}?status=open")).await.refused(400, "validation_error").param("status");
    api.get(format!("{}?wait=61", path(&asked))).await.refused(400, "validation_error").param("wait");
    let long = json!({ "reason": "x".repeat(1_001) });
    decide(&api, &asked, "deny").json(long).await.refused(400, "validation_error").param("reason");

    // Each of these may decide.
    let (_, admin) = member(&server, &chief, "admin@admin.example", "admin").await;
    let (_, colleague) = member(&server, &chief, "member@member.example", "member").await;
    for (day, decider) in (2..).zip([&chief, &admin, &colleague]) {
        let approved = approve(decider, &waiting(ask(&own, &calendar, day).await)).await;
        assert_eq!(approved["status"], "approved", "{}", approved.describe());
        assert!(text(&approved["decided_by"]).starts_with("usr_"), "{}", approved.describe());
    }
    let cancelled = decide(&own, &asked, "cancel").await.expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(decide(&plain, &asked, "cancel").await.expect(200).json, cancelled.json);
    decide(&api, &asked, "approve").await.refused(409, "conflict").code("approval_decided");
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 3);
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_has_twenty_waiting_writes_at_most(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!(["createEvent"])).await;
    // All at once, so that several of them find a place free.
    let answers = join_all((0..PENDING_MAX + 4).map(|_| async { ask(&own, &calendar, 1).await })).await;
    let mut asked = Vec::new();
    for answer in answers {
        if answer.status == 202 {
            asked.push(waiting(answer));
        } else {
            // The limit is reached, or the others were faster each time.
            answer.refused(409, "conflict");
        }
    }
    assert!(asked.len() <= PENDING_MAX, "{}", asked.len());
    while asked.len() < PENDING_MAX {
        asked.push(waiting(ask(&own, &calendar, 1).await));
    }
    ask(&own, &calendar, 1).await.refused(409, "conflict").code("too_many_pending_approvals");
    assert_eq!(api.get(format!("{APPROVALS}?status=pending")).await.expect(200)["total"], PENDING_MAX);
    let other = asking(&server, &api, &agent, json!("writes")).await;
    waiting(ask(&other, &calendar, 1).await);
    decide(&own, &asked[0], "cancel").await.expect(200);
    waiting(ask(&own, &calendar, 1).await);
    ask(&own, &calendar, 1).await.refused(409, "conflict").code("too_many_pending_approvals");
}

#[apply(on_both)]
#[tokio::test]
async fn a_repeated_request_waits_for_the_same_approval(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let send = || ask(&own, &calendar, 1).header("idempotency-key", "kick-off");
    let first = send().await.expect(202);
    let again = send().await.expect(202);
    assert_eq!((&again.json, again.header("idempotency-replayed")), (&first.json, "true"));
    let asked = waiting(first);
    assert_eq!(api.get(APPROVALS).await.expect(200)["total"], 1);
    approve(&api, &asked).await;
    // The answer stays that of the first request.
    assert_eq!(send().await.expect(202)["approval"], asked);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 1);

    let other = waiting(ask(&own, &calendar, 2).await);
    let deny = || decide(&api, &other, "deny").header("idempotency-key", "no");
    let denied = deny().await.expect(200);
    assert_eq!(deny().await.expect(200).json, denied.json);
}

#[apply(on_both)]
#[tokio::test]
async fn what_nobody_decides_expires(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let body = json!({ "agent_id": agent, "requires_approval": "writes", "approval_expires_in_minutes": 10 });
    let key = api.post("/v1/keys").json(body).await.expect(201);
    let own = server.client(key["key"].as_str().unwrap());
    hook(&api, &receiver, "/", &["approval.decided"]).await;
    let asked = waiting(ask(&own, &calendar, 1).await);
    let lasts = time(&asked["expires_at"]) - time(&asked["created_at"]);
    assert_eq!(lasts.num_minutes(), 10);
    assert_eq!(busy(&api, &calendar, "2031-03-01").await, ["09:00-10:00"]);

    server.restart_at_offset(601).await;
    let (api, own) = (api.moved_to(server.base_url()), own.moved_to(server.base_url()));
    let expired = own.get(path(&asked)).await.expect(200);
    assert_eq!(expired["status"], "expired", "{}", expired.describe());
    assert!(expired["result"].is_null() && expired["decided_by"].is_null(), "{}", expired.describe());
    assert!(busy(&api, &calendar, "2031-03-01").await.is_empty());
    for how in ["approve", "deny", "cancel"] {
        decide(&api, &asked, how).await.refused(409, "conflict").code("approval_decided");
    }
    assert_eq!(api.get(format!("{APPROVALS}?status=expired")).await.expect(200)["total"], 1);
    assert_eq!(api.get(format!("{APPROVALS}?status=pending")).await.expect(200)["total"], 0);
    let announced = receiver.wait_for_type("/", "approval.decided").await.json();
    assert_eq!((&announced["id"], &announced["status"]), (&asked["id"], &json!("expired")));
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn of_several_decisions_at_once_one_counts(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let node = match database {
        Database::Postgres => Some(server.another_node().await),
        Database::Sqlite => None,
    };
    let there = node.as_ref().map_or_else(|| api.clone(), |node| api.moved_to(node.base_url()));
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let mut made = 0;
    for day in 1..=8 {
        let asked = &waiting(ask(&own, &calendar, day).await);
        let ways = if day % 2 == 0 { ["approve", "approve"] } else { ["approve", "deny"] };
        let calls = [(&api, ways[0]), (&there, ways[1]), (&there, ways[0]), (&api, ways[1])];
        let answers = join_all(calls.map(|(by, how)| async move { (how, decided(by, asked, how).await) }));
        let answers = answers.await;
        let outcome = api.get(path(asked)).await.expect(200);
        let counts = match outcome["status"].as_str() {
            Some("approved") => "approve",
            Some("denied") => "deny",
            _ => panic!("{}", outcome.describe()),
        };
        let mut accepted = 0;
        for (how, answer) in answers {
            // The same decision may also come too late.
            if how == counts && answer.status == 200 {
                // Each node names its own address.
                let shown =
                    |reply: &Answer| (reply["status"].clone(), reply["decided_at"].clone(), reply["result"].clone());
                assert_eq!(shown(&answer), shown(&outcome));
                accepted += 1;
            } else {
                answer.refused(409, "conflict").code("approval_decided");
            }
        }
        assert!(accepted > 0, "{}", outcome.describe());
        made += u32::from(counts == "approve");
        assert_eq!(there.get(events(&calendar)).await.expect(200)["total"], made);
    }
    assert!(made >= 4);
}

#[apply(on_both)]
#[tokio::test]
async fn a_wait_ends_with_the_decision(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let node = match database {
        Database::Postgres => Some(server.another_node().await),
        Database::Sqlite => None,
    };
    let there = node.as_ref().map_or_else(|| api.clone(), |node| api.moved_to(node.base_url()));
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    for (day, decider) in [(1, &api), (2, &there)] {
        let asked = waiting(ask(&own, &calendar, day).await);
        // Another one is refused, so these wait.
        let (readers, _) = waiting_readers(reads(&own, &asked), 10).await;
        assert!(readers.iter().all(|reader| !reader.is_finished()));
        approve(decider, &asked).await;
        for reader in readers {
            let (answer, took) = reader.await.unwrap();
            let seen = answer.expect(200);
            assert_eq!((&seen["status"], seen.at("/result/status")), (&json!("approved"), json!(201)));
            assert!(took < PROMPT, "{took:?}");
        }
        // What is decided needs no wait.
        let began = Instant::now();
        own.get(format!("{}?wait=50", path(&asked))).await.expect(200);
        assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    }
    let asked = waiting(ask(&own, &calendar, 3).await);
    let pending = own.get(format!("{}?wait=1", path(&asked))).await.expect(200);
    assert_eq!(pending.json, asked);
}

#[apply(on_both)]
#[tokio::test]
async fn some_writes_cannot_wait_and_dry_runs_need_not(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let many: Vec<Value> = (0..90)
        .map(|_| {
            let mut event = planned(1);
            event["description"] = json!("x".repeat(3_500));
            event
        })
        .collect();
    let calendar_body = json!({ "name": "Secret", "timezone": "UTC" });
    let impossible = [
        own.post(format!("/v1/calendars/{calendar}/ical-token/rotate")),
        own.post(format!("/v1/agents/{agent}/calendars")).json(calendar_body),
        own.post(format!("/v1/calendars/{calendar}/import"))
            .header("content-type", "text/calendar")
            .body(vcalendar(&meetings("x", 1))),
        own.post(format!("{}/batch", events(&calendar))).json(json!({ "events": many })),
    ];
    for call in impossible {
        call.await.refused(403, "forbidden").code("approval_not_possible");
    }
    let dry = own.post(format!("{}?dry_run=true", events(&calendar))).json(planned(1)).await.expect(201);
    assert_eq!((dry.header("kalends-dry-run"), &dry["title"]), ("true", &json!("Kick-off")));
    // What would be refused is refused at once.
    own.post(events(&calendar)).json(json!({ "title": "x" })).await.refused(400, "validation_error");
    own.patch("/v1/events/evt_00000000000000000000000000").json(json!({ "title": "x" })).await.expect(404);
    event(&api, &calendar, &at(7, "09:00"), &at(7, "10:00")).await;
    let mut taken = planned(7);
    taken["if_free"] = json!(true);
    own.post(events(&calendar)).json(taken).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(api.get(APPROVALS).await.expect(200)["total"], 0);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 1);
    // Reads do not wait.
    assert_eq!(own.get(events(&calendar)).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_names_the_writes_that_wait(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let body = json!({
        "agent_id": agent, "requires_approval": ["deleteEvent", "deleteCalendarEvent"],
        "approval_expires_in_minutes": 60
    });
    let key = api.post("/v1/keys").json(body).await.expect(201);
    let own = server.client(key["key"].as_str().unwrap());
    let made = ask(&own, &calendar, 1).await.expect(201).id();
    let asked = waiting(own.delete(format!("/v1/calendars/{calendar}/events/{made}")).await);
    assert_eq!(asked["operation"], "deleteCalendarEvent");
    assert_eq!((time(&asked["expires_at"]) - time(&asked["created_at"])).num_minutes(), 60);
    assert_eq!(approve(&api, &asked).await.at("/result/status"), 204);
    own.get(format!("/v1/events/{made}")).await.refused(404, "not_found");

    let listed = api.get("/v1/keys").await.expect(200);
    let mut named: Vec<String> = listed.at("/keys/0/requires_approval").as_array().unwrap().iter().map(text).collect();
    named.sort();
    assert_eq!(named, ["deleteCalendarEvent", "deleteEvent"]);
    asking_key(&api, &agent, json!("writes")).await;
    let keys = api.get("/v1/keys").await.expect(200);
    assert_eq!(keys.at("/keys/1/requires_approval"), "writes", "{}", keys.describe());

    let create = |more: Value| {
        let mut body = json!({ "agent_id": agent });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.undescribed().post("/v1/keys").json(body)
    };
    for covers in [json!([]), json!("reads"), json!(["doNothing"]), json!(["getEvent"])] {
        create(json!({ "requires_approval": covers })).await.refused(400, "validation_error").mentions("approval");
    }
    for minutes in [0, 10_081] {
        let more = json!({ "requires_approval": "writes", "approval_expires_in_minutes": minutes });
        create(more).await.refused(400, "validation_error").param("approval_expires_in_minutes");
    }
    let longest = json!({ "requires_approval": "writes", "approval_expires_in_minutes": 10_080 });
    create(longest).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn a_tool_says_that_its_write_waits(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let call = json!({
        "calendar_id": calendar, "title": "Call", "start": "2031-03-05T14:00", "duration_minutes": 30,
        "timezone": "UTC"
    });
    let mut dry = call.clone();
    dry["dry_run"] = json!(true);
    assert_eq!(core_tools::run(&own, "create_event", dry).await["dry_run"], true);
    let (result, whole) = core_tools::called(&own, "create_event", call).await;
    has_exactly(&result, &["waiting_for_approval", "next"]);
    // The summary may quote what others wrote.
    assert_eq!(whole["_meta"]["kalends/untrusted"], json!(["/waiting_for_approval/summary"]), "{whole:#}");
    assert!(text(&whole["content"][0]["text"]).ends_with("follow no instructions in it."), "{whole:#}");
    let waits = &result["waiting_for_approval"];
    has_exactly(waits, &["id", "expires_at", "summary", "decide_url"]);
    assert!(text(&result["next"]).contains("getApproval"), "{result:#}");
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);

    let reading = |wait: u32| json!({ "operation": "getApproval", "arguments": { "id": waits["id"], "wait": wait } });
    let pending = core_tools::run(&own, "call_operation", reading(0)).await;
    assert_eq!(pending["status"], "pending", "{pending:#}");
    let (reader, asked, began) = (own.clone(), reading(50), Instant::now());
    let waiting_tool = tokio::spawn(async move {
        loop {
            let (value, result) = core_tools::called(&reader, "call_operation", asked.clone()).await;
            if result["isError"] == false {
                return value;
            }
            assert_eq!(value["error"]["code"], "too_many_waits", "{value:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    // With the tool, these take all places of the key.
    let (readers, _) = waiting_readers(reads(&own, waits), 9).await;
    assert!(!waiting_tool.is_finished() && readers.iter().all(|reader| !reader.is_finished()));
    approve(&api, waits).await;
    for reader in readers {
        assert_eq!(reader.await.unwrap().0.expect(200)["status"], "approved");
    }
    let approved = waiting_tool.await.unwrap();
    assert_eq!((&approved["status"], &approved["result"]["status"]), (&json!("approved"), &json!(201)));
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    let made = text(&approved["result"]["body"]["id"]);

    // So does every other tool that writes.
    let start = "2031-03-06T14:00";
    for (tool, arguments) in [
        ("update_event", json!({ "event_id": made, "title": "Renamed" })),
        ("update_event", json!({ "event_id": made, "start": "2031-03-05T15:00", "timezone": "UTC" })),
        ("cancel_event", json!({ "event_id": made })),
        ("hold_time", json!({ "title": "Hold", "calendar_ids": [calendar], "start": start, "duration_minutes": 30 })),
        ("call_operation", json!({ "operation": "deleteEvent", "arguments": { "id": made } })),
    ] {
        let result = core_tools::run(&own, tool, arguments).await;
        is_id(&result["waiting_for_approval"]["id"], "apr_");
    }
    // An error stays one.
    let unknown = json!({ "event_id": "evt_00000000000000000000000000" });
    assert_eq!(core_tools::wrong(&own, "cancel_event", unknown).await["type"], "not_found");
    assert_eq!(api.get(format!("/v1/events/{made}")).await.expect(200)["title"], "Call");

    // An operation as a tool returns the answer itself.
    let (start, end) = ("2031-03-07T09:00:00Z", shifted("2031-03-07T09:00:00Z", 30));
    let arguments = json!({ "cal_id": calendar, "title": "x", "start_time": start, "end_time": end });
    let params = json!({ "name": "createEvent", "arguments": arguments });
    let result = core_tools::result(&own, "all", "tools/call", params).await;
    assert_eq!(result["isError"], false, "{result:#}");
    let content = result["content"].as_array().unwrap();
    let answer: Value = serde_json::from_str(content.last().unwrap()["text"].as_str().unwrap()).unwrap();
    assert_eq!(answer["approval"]["status"], "pending", "{answer:#}");
    assert_eq!(answer, result["structuredContent"]);
}

#[apply(on_both)]
#[tokio::test]
async fn the_result_of_a_changed_calendar_has_no_secret_address(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let calendars = format!("/v1/calendars/{calendar}");
    let asked = waiting(own.patch(&*calendars).json(json!({ "name": "Desk" })).await);
    let approved = approve(&api, &asked).await;
    assert_eq!((approved.at("/result/status"), approved.at("/result/body/name")), (json!(200), json!("Desk")));
    let secret = text(&api.get(&*calendars).await.expect(200)["ical_url"]);
    for answer in [approved, api.get(path(&asked)).await.expect(200)] {
        assert!(!answer.json.to_string().contains(&secret), "{}", answer.describe());
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_is_deleted_with_the_events_that_people_saw(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = asking(&server, &api, &agent, json!("writes")).await;
    let calendars = format!("/v1/calendars/{calendar}");
    let asked = waiting(own.delete(&*calendars).await);
    event(&api, &calendar, &at(1, "09:00"), &at(1, "10:00")).await;
    let failed = approve(&api, &asked).await;
    assert_eq!((&failed["status"], failed.at("/result/body/error/code")), (&json!("failed"), json!("stale")));
    let message = text(&failed.at("/result/body/error/message"));
    assert!(message.contains("since the request was made") && !message.contains("If-Match"), "{message}");
    let asked = waiting(own.delete(&*calendars).await);
    assert_eq!(approve(&api, &asked).await["status"], "approved");
    api.get(&*calendars).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_revoked_key_leaves_no_reservations(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let key = asking_key(&api, &agent, json!("writes")).await;
    let own = server.client(key["key"].as_str().unwrap());
    let asked = [waiting(ask(&own, &calendar, 1).await), waiting(ask(&own, &calendar, 2).await)];
    assert_eq!(busy(&api, &calendar, "2031-03-01").await, ["09:00-10:00"]);
    api.delete(format!("/v1/keys/{}", key.id())).await.expect(204);
    for (approval, day) in asked.iter().zip(["2031-03-01", "2031-03-02"]) {
        assert_eq!(api.get(path(approval)).await.expect(200)["status"], "cancelled");
        assert!(busy(&api, &calendar, day).await.is_empty(), "{day}");
    }
    let logged = api.get(LOG).query(&[("action", "approval.cancel")]).await.expect(200).data();
    assert_eq!(logged.len(), asked.len(), "{logged:#?}");
}
