//! Scopes of agents' keys: what they open of others, and that nothing else of others is visible.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server, iso, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    connecting::{ACCOUNT, CALENDARS, Connecting, TITLE},
    core_tools::{run, wrong},
    fixtures::{agent, agent_with_calendar, calendar_of, has_exactly, now, shared_calendar},
};

/// The title of everything on calendars of others. No answer to the key may contain it.
const MARKER: &str = "Zebra";
const ALL: [&str; 3] = ["freebusy:org", "directory:org", "holds:org"];

/// An organization with two agents and a shared calendar.
struct World {
    server: Server,
    api: Client,
    own: String,
    calendar: String,
    other: String,
    theirs: String,
    shared: String,
    /// An event on the other agent's calendar from 09:00 to 10:00.
    event: String,
    expires: String,
}

/// A time of the day on which everything happens.
fn time(clock: &str) -> String {
    format!("2038-03-01T{clock}:00Z")
}

/// The client of a new key of the agent.
async fn key(server: &Server, api: &Client, agent: &str, scopes: &[&str]) -> Client {
    let made = api.post("/v1/keys").json(json!({ "agent_id": agent, "scopes": scopes })).await.expect(201);
    // Absent without scopes.
    let shown = if scopes.is_empty() { Value::Null } else { json!(scopes) };
    assert_eq!(made["scopes"], shown);
    server.client(made["key"].as_str().unwrap())
}

impl World {
    async fn new(database: Database) -> Self {
        let (server, api) = Server::with_org(database, "custom").await;
        let (own, calendar) = agent_with_calendar(&api).await;
        let body = json!({ "name": "Bob", "type": "human", "description": MARKER, "metadata": { "team": MARKER } });
        let other = api.post("/v1/agents").json(body).await.expect(201).id();
        let theirs = calendar_of(&api, &other).await;
        let shared = shared_calendar(&api, "Europe/Berlin").await;
        let patch = json!({ "metadata": { "note": MARKER } });
        api.patch(format!("/v1/calendars/{theirs}")).json(patch.clone()).await.expect(200);
        api.patch(format!("/v1/calendars/{shared}")).json(patch).await.expect(200);
        let entry = |from: &str, to: &str| json!({ "title": MARKER, "description": MARKER, "start_time": time(from), "end_time": time(to) });
        let events = format!("/v1/calendars/{theirs}/events");
        let event = api.post(events).json(entry("09:00", "10:00")).await.expect(201).id();
        api.post(format!("/v1/calendars/{shared}/events")).json(entry("11:00", "12:00")).await.expect(201);
        let expires = shifted(&now(&api).await, 14);
        Self { server, api, own, calendar, other, theirs, shared, event, expires }
    }

    async fn key(&self, scopes: &[&str]) -> Client {
        key(&self.server, &self.api, &self.own, scopes).await
    }

    fn set(&self, from: &str, to: &str, whose: Value) -> Value {
        let mut body = json!({
            "title": "Kick-off", "start_time": time(from), "end_time": time(to), "hold_expires_at": self.expires,
        });
        let Value::Object(whose) = whose else { panic!("{whose}") };
        body.as_object_mut().unwrap().extend(whose);
        body
    }

    /// Requires that an answer shows nothing of what others have.
    #[track_caller]
    fn hides(&self, answer: &Answer) {
        let text = answer.text();
        for secret in [MARKER, self.event.as_str()] {
            assert!(!text.contains(secret), "{secret} in {}", answer.describe());
        }
    }
}

fn window() -> [(&'static str, &'static str); 3] {
    [("start", "2038-03-01T08:00:00Z"), ("end", "2038-03-01T13:00:00Z"), ("include_busy", "true")]
}

#[apply(on_both)]
#[tokio::test]
async fn keys_are_created_with_scopes(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let own = agent(&api).await;
    let create = async |scopes: Value| api.post("/v1/keys").json(json!({ "agent_id": own, "scopes": scopes })).await;
    let made = create(json!(["holds:org", "freebusy:org"])).await.expect(201);
    assert_eq!(made["scopes"], json!(["freebusy:org", "holds:org"]));
    assert_eq!(create(json!([])).await.expect(201)["scopes"], Value::Null);
    create(json!(["events:org"])).await.refused(400, "validation_error").mentions("directory:org");
    create(json!(["holds:org", "holds:org"])).await.refused(400, "validation_error").param("scopes[1]");
    let listed = api.get("/v1/keys").await.expect(200);
    assert_eq!(listed["keys"][0]["scopes"], json!(["freebusy:org", "holds:org"]));
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn free_and_busy_is_all_that_is_seen_of_others(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&["freebusy:org"]).await;
    let none = world.key(&[]).await;
    let others = key(&world.server, &world.api, &world.own, &["directory:org", "holds:org"]).await;
    let across = format!("/v1/availability?agents={},{}", world.own, world.other);
    for path in [
        format!("/v1/agents/{}/availability", world.other),
        format!("/v1/calendars/{}/availability", world.theirs),
        format!("/v1/calendars/{}/availability", world.shared),
        across.clone(),
    ] {
        let seen = own.get(&path).query(&window()).await.expect(200);
        world.hides(&seen);
        assert_eq!((&seen["availability_state"], &seen["warnings"]), (&json!("complete"), &json!([])));
        for other in [&none, &others] {
            other.get(&path).query(&window()).await.refused(403, "forbidden");
        }
    }
    let busy = |from, to| json!([{ "start": time(from), "end": time(to) }]);
    let of_agent = own.get(format!("/v1/agents/{}/availability", world.other)).query(&window()).await.expect(200);
    assert_eq!(of_agent["per_agent_busy"][&world.other], busy("09:00", "10:00"));
    let of_shared = own.get(format!("/v1/calendars/{}/availability", world.shared)).query(&window()).await.expect(200);
    assert_eq!(of_shared["busy"], busy("11:00", "12:00"));
    // The state covers only what the agent owns, so it reveals no changes of others.
    assert_eq!(of_agent["as_of"], of_shared["as_of"]);
    let mine = format!("/v1/agents/{}/availability", world.own);
    let (seen, all) = (own.get(&mine).query(&window()).await, world.api.get(&mine).query(&window()).await);
    assert_eq!(seen.expect(200).json, all.expect(200).json, "its own agent as before");

    // Nothing else of others opens.
    for path in [
        format!("/v1/availability/explain?agent={}&start={}&end={}", world.other, time("09:00"), time("10:00")),
        format!("/v1/calendars/{}", world.theirs),
        format!("/v1/calendars/{}/events", world.theirs),
        format!("/v1/calendars/{}/context", world.theirs),
        format!("/v1/events/{}", world.event),
        format!("/v1/agents/{}", world.other),
        format!("/v1/agents/{}/events", world.other),
        "/v1/agents".to_owned(),
    ] {
        world.hides(&own.get(path).await.refused(403, "forbidden"));
    }
    // Who does not exist is not found, and another organization's agents do not exist.
    let abroad = world.server.api(&world.server.org("pro").await);
    let (stranger, strange) = agent_with_calendar(&abroad).await;
    own.get(format!("/v1/agents/{stranger}/availability")).query(&window()).await.refused(404, "not_found");
    own.get(format!("/v1/calendars/{strange}/availability")).query(&window()).await.refused(404, "not_found");
    own.get(format!("/v1/availability?agents={stranger}")).query(&window()).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn the_directory_shows_names(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&["directory:org"]).await;
    let listed = own.get("/v1/agents").await.expect(200);
    world.hides(&listed);
    assert_eq!(listed["total"], 2);
    let whole = world.api.get(format!("/v1/agents/{}", world.own)).await.expect(200);
    let name = json!({ "id": world.other, "name": "Bob", "status": "active" });
    assert_eq!(listed["data"], json!([whole.json, name]));
    let one = own.get(format!("/v1/agents/{}", world.other)).await.expect(200);
    assert_eq!(one.json, name);
    assert_eq!(own.get(format!("/v1/agents/{}", world.own)).await.expect(200).json, whole.json);
    // A filter by what is not shown would reveal it.
    own.get("/v1/agents?type=human").await.refused(400, "validation_error").param("type");
    assert_eq!(own.get("/v1/agents?status=paused").await.expect(200)["total"], 0);

    for query in ["", "?include=all"] {
        let listed = own.get(format!("/v1/calendars{query}")).await.expect(200);
        world.hides(&listed);
        assert_eq!((listed["total"].clone(), listed.data().len()), (json!(2), 2));
        assert_eq!(listed["data"][0]["agentId"], json!(world.own));
        let shared = json!({ "id": world.shared, "name": "Shared", "timezone": "Europe/Berlin" });
        assert_eq!(listed["data"][1], shared);
    }
    own.get(format!("/v1/calendars/{}", world.shared)).await.refused(403, "forbidden");
    own.patch(format!("/v1/agents/{}", world.other)).json(json!({ "name": "x" })).await.refused(403, "forbidden");
    let none = world.key(&["freebusy:org", "holds:org"]).await;
    none.get("/v1/agents").await.refused(403, "forbidden");
    assert_eq!(none.get("/v1/calendars?include=all").await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn hold_sets_are_placed_on_others(#[case] database: Database) {
    let world = World::new(database).await;
    let (own, none) = (world.key(&["holds:org"]).await, world.key(&["freebusy:org", "directory:org"]).await);
    let whose = json!({ "calendar_ids": [world.calendar, world.shared], "agent_ids": [world.other] });
    let body = world.set("15:00", "16:00", whose);
    none.post("/v1/hold-sets").json(body.clone()).await.refused(403, "forbidden");
    let placed = own.post("/v1/hold-sets?local=true").json(body.clone()).await.expect(201);
    let set = placed.id();
    let calendars: Vec<_> = placed["holds"].as_array().unwrap().iter().map(|hold| hold["calendarId"].clone()).collect();
    assert_eq!(calendars, [json!(world.calendar), json!(world.shared), json!(world.theirs)]);
    for (index, hold) in placed["holds"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&hold["title"], &hold["holdPriority"]), (&json!("Kick-off"), &json!(0)));
        assert_eq!(hold.get("local").is_some(), index == 0, "the zones of others are not shown: {hold:#}");
    }
    // A hold of equal priority blocks it now, and a plain one of its own gives it no higher one.
    let priority = json!({ "calendar_ids": [world.theirs], "hold_priority": 1 });
    let refused = own.post("/v1/hold-sets").json(world.set("17:00", "18:00", priority)).await;
    refused.refused(400, "validation_error").param("hold_priority");
    let body = world.set("15:30", "16:30", json!({ "agent_ids": [world.other] }));
    let taken = own.post("/v1/hold-sets").json(body).await;
    taken.refused(409, "conflict").code("slot_taken");

    // What blocks is shown as busy time only, and only inside the wanted time. Free times need the scope for them.
    let body = world.set("09:30", "10:30", json!({ "agent_ids": [world.other] }));
    let taken = own.post("/v1/hold-sets").json(body.clone()).await.refused(409, "conflict").code("slot_taken");
    world.hides(&taken);
    let conflict = json!({
        "calendar_id": world.theirs, "kind": "event", "start": time("09:30"), "end": time("10:00")
    });
    assert_eq!(taken.at("/error/conflicts"), json!([conflict]));
    assert_eq!(taken.at("/error/nearest_free"), json!([]));
    let both = world.key(&["freebusy:org", "holds:org"]).await;
    let taken = both.post("/v1/hold-sets").json(body).await.refused(409, "conflict").code("slot_taken");
    world.hides(&taken);
    assert_eq!(taken.at("/error/conflicts"), json!([conflict]));
    assert_eq!(taken.at("/error/nearest_free/0/start"), time("10:30"));

    // Other keys of the agent with the scope reach the set, and nobody else's do.
    let path = |end: &str| format!("/v1/hold-sets/{set}{end}");
    let sibling = key(&world.server, &world.api, &agent(&world.api).await, &ALL).await;
    let theirs = key(&world.server, &world.api, &world.other, &ALL).await;
    for other in [&none, &sibling, &theirs] {
        other.get(path("")).await.refused(403, "forbidden");
        other.put(path("/confirm")).await.refused(403, "forbidden");
        other.put(path("/release")).await.refused(403, "forbidden");
        assert_eq!(other.get("/v1/hold-sets").await.expect(200)["total"], 0);
    }
    let again = world.key(&["holds:org"]).await;
    assert_eq!(again.get("/v1/hold-sets").await.expect(200).column("id"), [set.as_str()]);
    assert_eq!(again.get(path("")).await.expect(200)["holds"].as_array().unwrap().len(), 3);
    let seen = again.get(format!("/v1/calendars/{}/availability", world.calendar)).query(&window()).await.expect(200);
    let unseen = again.put(path("/confirm")).json(json!({ "if_as_of": seen["as_of"] })).await;
    unseen.refused(400, "validation_error").param("if_as_of");
    let confirmed = again.put(path("/confirm")).await.expect(200);
    assert!(confirmed["holds"].as_array().unwrap().iter().all(|hold| hold["status"] == "confirmed"));
    // The event is the other agent's now. What it changes there is not seen.
    let holds = confirmed["holds"].as_array().unwrap();
    let event = holds.iter().find(|hold| hold["calendarId"] == world.theirs.as_str()).unwrap()["id"].as_str().unwrap();
    own.get(format!("/v1/events/{event}")).await.refused(403, "forbidden");
    let change = json!({ "title": MARKER, "location": MARKER });
    theirs.patch(format!("/v1/events/{event}")).json(change).await.expect(200);
    for answer in [own.get(path("")).await.expect(200), own.get("/v1/hold-sets").await.expect(200)] {
        world.hides(&answer);
        assert!(answer.text().contains("Busy"), "{}", answer.describe());
    }
    // A hold that the owner changed while it was live is not seen either, whatever becomes of it.
    let body = json!({ "calendar_ids": [world.theirs] });
    let placed = own.post("/v1/hold-sets").json(world.set("18:00", "19:00", body)).await.expect(201);
    let hold = placed["holds"][0]["id"].as_str().unwrap();
    theirs.patch(format!("/v1/events/{hold}")).json(json!({ "title": MARKER })).await.expect(200);
    let path = format!("/v1/hold-sets/{}", placed.id());
    world.hides(&own.get(&path).await.expect(200));
    let released = own.put(format!("{path}/release")).await.expect(200);
    world.hides(&released);
    assert_eq!(released["holds"][0]["status"], "cancelled");
    // A set of the organization stays out of reach.
    let set = world.api.post("/v1/hold-sets").json(world.set("20:00", "21:00", json!({ "agent_ids": [world.other] })));
    let set = set.await.expect(201).id();
    own.get(format!("/v1/hold-sets/{set}")).await.refused(403, "forbidden");
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_of_a_hold_set_has_one_calendar(#[case] database: Database) {
    let world = World::new(database).await;
    let without = agent(&world.api).await;
    let send = async |whose| world.api.post("/v1/hold-sets").json(world.set("15:00", "16:00", whose)).await;
    send(json!({ "agent_ids": [world.other, without] })).await.refused(400, "validation_error").param("agent_ids[1]");
    let both = json!({ "agent_ids": [world.other], "calendar_ids": [world.theirs] });
    send(both).await.refused(400, "validation_error").param("agent_ids[0]");
    let twice = json!({ "agent_ids": [world.other, world.other] });
    send(twice).await.refused(400, "validation_error").param("agent_ids[1]");
    send(json!({})).await.refused(400, "validation_error").param("calendar_ids");
    let many = json!({ "agent_ids": vec![world.other.as_str(); 15], "calendar_ids": vec![world.theirs.as_str(); 6] });
    send(many).await.refused(400, "validation_error").param("calendar_ids");
    send(json!({ "agent_ids": ["agt_00000000000000000000000000"] })).await.refused(404, "not_found");
    calendar_of(&world.api, &without).await;
    calendar_of(&world.api, &without).await;
    let several = send(json!({ "agent_ids": [without] })).await.refused(400, "validation_error");
    several.param("agent_ids[0]").mentions("calendar_ids");
    let placed = send(json!({ "agent_ids": [world.other, world.own] })).await.expect(201);
    assert_eq!(placed["holds"].as_array().unwrap().len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_holds_twenty_times_of_others(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&["holds:org"]).await;
    let hold = async |hour: u32, whose: &[&str]| {
        let (from, to) = (format!("{hour:02}:00"), format!("{hour:02}:30"));
        own.post("/v1/hold-sets").json(world.set(&from, &to, json!({ "calendar_ids": whose }))).await
    };
    let (calendar, theirs, shared) = (world.calendar.as_str(), world.theirs.as_str(), world.shared.as_str());
    // Holds on its own calendar do not count.
    let mut first = String::new();
    for hour in 13..23 {
        let placed = hold(hour, &[theirs, shared, calendar]).await.expect(201);
        if first.is_empty() {
            first = placed.id();
        }
    }
    let full = hold(23, &[theirs]).await.refused(409, "conflict").code("too_many_placed_holds");
    full.mentions("20");
    hold(23, &[calendar]).await.expect(201);
    own.put(format!("/v1/hold-sets/{first}/release")).await.expect(200);
    hold(23, &[theirs]).await.expect(201);
    hold(8, &[shared, theirs]).await.refused(409, "conflict").code("too_many_placed_holds");
    hold(8, &[shared]).await.expect(201);
    // Another agent has its own twenty.
    let sibling = key(&world.server, &world.api, &agent(&world.api).await, &["holds:org"]).await;
    let body = world.set("08:00", "08:30", json!({ "calendar_ids": [world.theirs] }));
    sibling.post("/v1/hold-sets").json(body).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn an_undo_counts_toward_the_twenty_holds(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&["holds:org"]).await;
    let both = json!({ "calendar_ids": [world.theirs, world.shared] });
    let hold = async |hour: u32| {
        let set = world.set(&format!("{hour:02}:00"), &format!("{hour:02}:30"), both.clone());
        own.post("/v1/hold-sets").json(set).await.expect(201).id()
    };
    let first = hold(13).await;
    for hour in 14..23 {
        hold(hour).await;
    }
    own.put(format!("/v1/hold-sets/{first}/release")).header("kalends-run", "plan").await.expect(200);
    let last = hold(23).await;
    let undo = async || own.post("/v1/runs/plan/undo").await;
    undo().await.refused(409, "conflict").code("too_many_placed_holds").mentions("20");
    own.put(format!("/v1/hold-sets/{last}/release")).await.expect(200);
    assert_eq!(undo().await.expect(200)["undone"].as_array().unwrap().len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn a_paused_agent_only_reads_by_its_scopes(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&ALL).await;
    let body = world.set("15:00", "16:00", json!({ "agent_ids": [world.other] }));
    let set = own.post("/v1/hold-sets").json(body.clone()).await.expect(201).id();
    let agent = format!("/v1/agents/{}", world.own);
    world.api.patch(&agent).json(json!({ "status": "paused" })).await.expect(200);
    own.post("/v1/hold-sets").json(body).await.refused(403, "forbidden").code("agent_paused");
    own.put(format!("/v1/hold-sets/{set}/release")).await.refused(403, "forbidden").code("agent_paused");
    own.get(format!("/v1/hold-sets/{set}")).await.expect(200);
    own.get("/v1/agents").await.expect(200);
    own.get(format!("/v1/agents/{}/availability", world.other)).query(&window()).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_plan_without_joint_availability_stays_without(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (own, other) = (agent(&api).await, agent(&api).await);
    let scoped = key(&server, &api, &own, &ALL).await;
    server.cli(&["org", "set-plan", &org.id, "free"]).await.succeeded();
    let path = format!("/v1/availability?agents={own},{other}");
    crate::fixtures::wait_until(
        || async { scoped.get(&path).query(&window()).await },
        |answer| answer.status == 403 && answer.at("/error/type") == "plan_required",
    )
    .await;
}

#[apply(on_both)]
#[tokio::test]
async fn the_tools_use_scopes(#[case] database: Database) {
    let world = World::new(database).await;
    let own = world.key(&ALL).await;
    let found = run(&own, "whoami", json!({})).await;
    assert_eq!(found["scopes"], json!(ALL));
    assert_eq!(found["agents"][1], json!({ "agent_id": world.other, "name": "Bob" }));
    assert_eq!(found["shared_calendars"][0]["calendar_id"], json!(world.shared));

    let times = json!({
        "participants": ["me", "bob"], "duration_minutes": 60, "earliest": time("09:00"), "latest": time("12:00"),
        "count": 1,
    });
    let found = run(&own, "find_times", times.clone()).await;
    assert_eq!(found["times"][0]["start"], time("10:00"));
    let hold = |start: &str, participants: Value| json!({ "title": "Kick-off", "start": time(start), "duration_minutes": 30, "participants": participants });
    // One other agent takes a set of one.
    let placed = run(&own, "hold_time", hold("10:00", json!(["Bob"]))).await;
    assert!(placed["hold_set_id"].as_str().is_some_and(|id| id.starts_with("hst_")), "{placed:#}");
    run(&own, "release_hold", json!({ "hold_set_id": placed["hold_set_id"] })).await;
    let both = run(&own, "hold_time", hold("10:00", json!(["me", "Bob"]))).await;
    assert_eq!(both["holds"].as_array().unwrap().len(), 2);
    let confirmed = run(&own, "confirm_hold", json!({ "hold_set_id": both["hold_set_id"] })).await;
    assert_eq!(confirmed["confirmed"].as_array().unwrap().len(), 2);
    let mine = run(&own, "hold_time", hold("11:00", json!(["me"]))).await;
    assert!(mine["hold_id"].as_str().is_some_and(|id| id.starts_with("evt_")), "{mine:#}");
    // A call that is repeated later returns the same set.
    let mut once = json!({
        "title": "Once", "start": time("13:00"), "duration_minutes": 30, "idempotency_key": "once",
        "calendar_ids": [world.shared],
    });
    let first = run(&own, "hold_time", once.clone()).await;
    once["expires_in_minutes"] = 12.into();
    assert_eq!(run(&own, "hold_time", once).await["hold_set_id"], first["hold_set_id"]);
    let error = wrong(&own, "hold_time", hold("09:00", json!(["Bob"]))).await;
    assert_eq!(error["code"], "slot_taken");
    assert!(!error.to_string().contains(MARKER), "{error:#}");

    // Without scopes, a tool reaches the own agent, as before.
    let none = world.key(&[]).await;
    assert_eq!(run(&none, "whoami", json!({})).await.get("scopes"), None);
    assert_eq!(wrong(&none, "find_times", times).await["param"], "participants");
    let id = hold("14:00", json!([world.other]));
    assert_eq!(wrong(&none, "hold_time", id).await["type"], "forbidden");
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_says_that_a_busy_time_is_a_human_s(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let connection = it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let external = it.external(&connection).await[0]["id"].as_str().unwrap().to_owned();
    let asking = agent(&it.api).await;
    let own = key(&it.server, &it.api, &asking, &ALL).await;
    let hides = |answer: &Answer| {
        let text = answer.text();
        for secret in [TITLE, "Planted", "human", ACCOUNT, connection.as_str(), external.as_str()] {
            assert!(!text.contains(secret), "{secret} in {}", answer.describe());
        }
    };
    let (start, end) = (iso(it.time(8 * 60)), iso(it.time(12 * 60)));
    let window = [("start", start.as_str()), ("end", end.as_str()), ("include_busy", "true")];
    let busy = json!([{ "start": iso(it.time(9 * 60)), "end": iso(it.time(10 * 60)) }]);
    let seen = own.get(format!("/v1/calendars/{}/availability", it.calendar)).query(&window).await.expect(200);
    hides(&seen);
    assert_eq!(seen["busy"], busy);
    let across = format!("/v1/availability?agents={},{asking}", it.agent);
    let seen = own.get(across).query(&window).await.expect(200);
    hides(&seen);
    assert_eq!(seen["per_agent_busy"][&it.agent], busy);
    let body = json!({
        "title": "x", "start_time": iso(it.time(9 * 60 + 30)), "end_time": iso(it.time(10 * 60 + 30)),
        "agent_ids": [it.agent], "hold_expires_at": shifted(&now(&it.api).await, 10),
    });
    let taken = own.post("/v1/hold-sets").json(body).await.refused(409, "conflict").code("slot_taken");
    hides(&taken);
    has_exactly(&taken.at("/error/conflicts/0"), &["calendar_id", "kind", "start", "end"]);
    assert_eq!(taken.at("/error/conflicts/0/kind"), "event");
    hides(&own.get("/v1/agents").await.expect(200));
    hides(&own.get("/v1/calendars").await.expect(200));
}
