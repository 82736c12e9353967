//! Proposals: their fields, who may create, read and respond to them, and what is refused. Outcomes are in
//! `proposal_outcomes`, races in `proposal_races`, and reservations in `reservations`.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{Answer, Call, Client, Database, Server, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, calendar_of, has_exactly, is_id, is_time, now, shared_calendar};

pub(crate) const PROPOSALS: &str = "/v1/scheduling/proposals";

/// The fields of an entry in a list.
pub(crate) fn summary() -> Vec<&'static str> {
    "id title description organizer_agent_id participant_agent_ids calendar_id status reason expires_at hold_slots \
     skip_taken min_accepts placement resolved_slot_id created_event_id created_events metadata created_at updated_at"
        .split(' ')
        .collect()
}

/// A time on the day of the tests' slots.
pub(crate) fn time(clock: &str) -> String {
    format!("2031-03-03T{clock}:00Z")
}

/// A slot of that day.
pub(crate) fn slot(start: &str, end: &str) -> Value {
    json!({ "start_time": time(start), "end_time": time(end) })
}

/// A slot of that day with a weight.
pub(crate) fn weighted(start: &str, end: &str, weight: f64) -> Value {
    json!({ "start_time": time(start), "end_time": time(end), "weight": weight })
}

/// A slot of that day on a calendar other than the proposal's.
pub(crate) fn elsewhere(start: &str, end: &str, calendar: &str) -> Value {
    json!({ "start_time": time(start), "end_time": time(end), "calendar_id": calendar })
}

/// An organizer, its calendar, and the participants.
pub(crate) struct Team {
    pub(crate) organizer: String,
    pub(crate) calendar: String,
    pub(crate) participants: Vec<String>,
}

impl Team {
    /// An organizer with a calendar, and this many participants.
    pub(crate) async fn of(api: &Client, count: usize) -> Self {
        let (organizer, calendar) = agent_with_calendar(api).await;
        let mut participants = Vec::new();
        for _ in 0..count {
            participants.push(agent(api).await);
        }
        Self { organizer, calendar, participants }
    }

    /// The body of a proposal with these slots and additional fields.
    pub(crate) fn body(&self, slots: &[Value], more: &Value) -> Value {
        let mut body = json!({
            "title": "Kick-off", "organizer_agent_id": self.organizer, "participant_agent_ids": self.participants,
            "calendar_id": self.calendar, "slots": slots,
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    }

    /// A new proposal.
    pub(crate) async fn propose(&self, api: &Client, slots: &[Value], more: Value) -> Answer {
        api.post(PROPOSALS).json(self.body(slots, &more)).await.expect(201)
    }
}

/// The identifier of a proposal's slot. Slots are shown in the order of the request.
#[track_caller]
pub(crate) fn slot_id(proposal: &Answer, index: usize) -> String {
    proposal.at(&format!("/slots/{index}/id")).as_str().unwrap_or_else(|| panic!("{}", proposal.describe())).to_owned()
}

pub(crate) fn accept(agent: &str, slot: &str) -> Value {
    json!({ "agent_id": agent, "response": "accept", "selected_slot_id": slot })
}

pub(crate) fn counter(agent: &str, slot: Option<&str>) -> Value {
    json!({ "agent_id": agent, "response": "counter", "selected_slot_id": slot })
}

pub(crate) fn decline(agent: &str) -> Value {
    json!({ "agent_id": agent, "response": "decline" })
}

pub(crate) fn respond(api: &Client, proposal: &str, response: Value) -> Call {
    api.post(format!("{PROPOSALS}/{proposal}/respond")).json(response)
}

pub(crate) fn resolve(api: &Client, proposal: &str) -> Call {
    api.post(format!("{PROPOSALS}/{proposal}/resolve"))
}

pub(crate) fn cancel(api: &Client, proposal: &str) -> Call {
    api.post(format!("{PROPOSALS}/{proposal}/cancel"))
}

pub(crate) async fn get_proposal(api: &Client, proposal: &str) -> Answer {
    api.get(format!("{PROPOSALS}/{proposal}")).await.expect(200)
}

/// The events of a calendar.
pub(crate) async fn events_of(api: &Client, calendar: &str) -> Vec<Value> {
    api.get(format!("/v1/calendars/{calendar}/events?limit=200")).await.expect(200).data()
}

/// A client with a key of this agent.
pub(crate) async fn key_of(server: &Server, api: &Client, agent: &str) -> Client {
    let made = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
    server.client(made["key"].as_str().unwrap())
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_shows_everything_that_was_sent(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let other = calendar_of(&api, &team.organizer).await;
    let offered = [
        slot("14:00", "15:00"),
        json!({ "start_time": "2031-03-03T12:00:00+03:00", "end_time": time("09:30"), "weight": 2.5, "calendar_id": other }),
        weighted("11:00", "12:00", 0.0),
        json!({ "start_time": time("11:00"), "end_time": time("11:30"), "weight": 10, "calendar_id": null }),
    ];
    let more = json!({ "description": "Where we begin", "metadata": { "topic": ["a", 1] } });
    let made = team.propose(&api, &offered, more).await;
    has_exactly(&made.json, &[&summary()[..], &["slots", "responses"]].concat());
    is_id(&made["id"], "spr_");
    is_time(&made["created_at"]);
    is_time(&made["updated_at"]);
    for (field, value) in [
        ("title", json!("Kick-off")),
        ("description", json!("Where we begin")),
        ("organizer_agent_id", json!(team.organizer)),
        ("participant_agent_ids", json!(team.participants)),
        ("calendar_id", json!(team.calendar)),
        ("status", json!("pending")),
        ("metadata", json!({ "topic": ["a", 1] })),
        // The default is the latest start of a slot.
        ("expires_at", json!(time("14:00"))),
        ("hold_slots", json!(false)),
        ("skip_taken", json!(false)),
        ("reason", Value::Null),
        ("resolved_slot_id", Value::Null),
        ("created_event_id", Value::Null),
        ("responses", json!([])),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    let slots = made["slots"].as_array().unwrap();
    let expected = [
        ("14:00", "15:00", 1.0, Value::Null),
        ("09:00", "09:30", 2.5, json!(other)),
        ("11:00", "12:00", 0.0, Value::Null),
        ("11:00", "11:30", 10.0, Value::Null),
    ];
    assert_eq!(slots.len(), expected.len());
    for (slot, (start, end, weight, calendar)) in slots.iter().zip(expected) {
        has_exactly(slot, &["id", "start_time", "end_time", "weight", "calendar_id"]);
        is_id(&slot["id"], "slt_");
        assert_eq!((&slot["start_time"], &slot["end_time"]), (&json!(time(start)), &json!(time(end))));
        assert_eq!((slot["weight"].as_f64(), &slot["calendar_id"]), (Some(weight), &calendar));
    }
    assert_eq!(get_proposal(&api, &made.id()).await.json, made.json);

    // Omitted fields are null or empty. Given values are shown unchanged.
    let until = json!({ "expires_at": "2030-01-01T01:00:00.5+01:00", "hold_slots": false, "skip_taken": true });
    let made = team.propose(&api, &[slot("09:00", "10:00")], until).await;
    assert_eq!((&made["description"], &made["metadata"]), (&Value::Null, &json!({})));
    assert_eq!((&made["hold_slots"], &made["skip_taken"]), (&json!(false), &json!(true)));
    assert_eq!(at(made["expires_at"].as_str().unwrap()), at("2030-01-01T00:00:00.5Z"));
    assert_eq!(events_of(&api, &team.calendar).await, Vec::<Value>::new(), "there is no event before the resolution");
    // The organizer may be a participant, and the calendar may be any of the organization.
    let shared = shared_calendar(&api, "Europe/Berlin").await;
    let more = json!({ "participant_agent_ids": [team.organizer], "calendar_id": shared });
    assert_eq!(team.propose(&api, &[slot("09:00", "10:00")], more).await["calendar_id"], shared);
}

#[apply(on_both)]
#[tokio::test]
async fn the_limits_of_a_proposal_are_checked(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "custom").await;
    let mut team = Team::of(&api, 51).await;
    let all = team.participants.clone();
    team.participants.truncate(1);
    let one = &[slot("09:00", "10:00")][..];
    let with = |more: Value| api.post(PROPOSALS).json(team.body(one, &more));
    let long = |length: usize| json!("é".repeat(length));
    let slots =
        |count: usize| json!((0..count).map(|minute| slot("09:00", &format!("10:{minute:02}"))).collect::<Vec<_>>());
    // As compact JSON: `{"x":"…"}`.
    let metadata = |bytes: usize| json!({ "x": "y".repeat(bytes - 8) });
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "x": inner }));
    for (field, good, bad) in [
        ("title", long(500), long(501)),
        ("title", long(1), json!("")),
        ("description", long(5_000), long(5_001)),
        ("participant_agent_ids", json!(all[..50]), json!(all)),
        ("participant_agent_ids", json!(all[..1]), json!([])),
        ("slots", slots(20), slots(21)),
        ("slots", slots(1), json!([])),
        ("metadata", metadata(16_384), metadata(16_385)),
        ("metadata", nested(32), nested(33)),
        ("metadata", json!({}), json!([])),
    ] {
        let made = with(json!({ field: good })).await.expect(201);
        if field != "slots" {
            assert_eq!(made[field], good, "{field}");
        }
        with(json!({ field: bad })).await.refused(400, "validation").param(field);
    }
    with(json!({ "metadata": metadata(16_385) })).await.refused(400, "validation").code("metadata_too_large");
    for (weight, accepted) in
        [(json!(0), true), (json!(10), true), (json!(9.99), true), (json!(10.1), false), (json!(-1), false)]
    {
        let mut offered = slots(3);
        offered[2]["weight"] = weight;
        let answer = with(json!({ "slots": offered })).await;
        match accepted {
            true => answer.expect(201),
            false => answer.refused(400, "validation").param("slots[2].weight"),
        };
    }
    let total = api.get(PROPOSALS).await.expect(200)["total"].as_u64().unwrap();
    assert_eq!(total, 13, "refused proposals were not created");
}

#[apply(on_both)]
#[tokio::test]
async fn bad_proposals_are_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let good = team.body(&[slot("09:00", "10:00"), slot("11:00", "12:00")], &json!({}));
    let moment = at(&now(&api).await);
    let ago = iso(moment - TimeDelta::seconds(5));
    let refused =
        async |body: Value, param: &str| api.post(PROPOSALS).json(body).await.refused(400, "validation").param(param);
    for field in ["title", "organizer_agent_id", "participant_agent_ids", "calendar_id", "slots"] {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(field);
        refused(body.clone(), field).await;
        for wrong in [Value::Null, json!(7), json!({})] {
            body[field] = wrong;
            refused(body.clone(), field).await;
        }
    }
    for (field, wrong) in [
        ("description", json!(1)),
        ("expires_at", json!(ago)),
        ("expires_at", json!("tomorrow")),
        ("expires_at", json!("2031-03-03T09:00:00")),
        ("expires_at", json!("2100-01-01T00:00:00Z")),
        ("metadata", json!("x")),
        ("hold_slots", json!("yes")),
        ("skip_taken", json!(1)),
    ] {
        let mut body = good.clone();
        body[field] = wrong;
        refused(body, field).await;
    }
    for (field, wrong, param) in [
        ("start_time", Value::Null, "slots[1].start_time"),
        ("end_time", Value::Null, "slots[1].end_time"),
        ("start_time", json!("2031-03-03 11:00"), "slots[1].start_time"),
        ("end_time", json!("2031-03-03"), "slots[1].end_time"),
        ("start_time", json!(ago), "slots[1].start_time"),
        ("weight", json!("1"), "slots[1].weight"),
        ("calendar_id", json!(7), "slots[1].calendar_id"),
        ("priority", json!(1), "slots[1].priority"),
    ] {
        let mut body = good.clone();
        body["slots"][1][field] = wrong;
        refused(body, param).await;
    }
    for (end, code) in
        [("11:00", "end_before_start"), ("10:59", "end_before_start"), ("2031-03-03T12:00:00", "invalid_time_format")]
    {
        let mut body = good.clone();
        body["slots"][1]["end_time"] = if end.len() == 5 { json!(time(end)) } else { json!(end) };
        refused(body, "slots[1].end_time").await.code(code);
    }
    let mut body = good.clone();
    body["participant_agent_ids"] = json!([team.participants[0], team.participants[1], team.participants[0]]);
    refused(body, "participant_agent_ids[2]").await;
    let mut body = good.clone();
    body["participant_ids"] = json!([]);
    refused(body, "participant_ids").await.code("unknown_field").mentions("participant_agent_ids");
    // A body that is not JSON gets another error type.
    let call = api.post(PROPOSALS).header("content-type", "application/json").body("{");
    call.await.refused(400, "invalid_request");
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 0);
    assert_eq!(api.get("/v1/usage").await.expect(200)["proposals"], json!({ "used": 0, "limit": null }));
}

#[apply(on_both)]
#[tokio::test]
async fn agents_and_calendars_must_belong_to_the_organization(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let foreign = server.api(&server.org("pro").await);
    let (team, theirs) = (Team::of(&api, 1).await, Team::of(&foreign, 1).await);
    let good = team.body(&[slot("09:00", "10:00")], &json!({}));
    for (field, foreign, unknown, code) in [
        ("organizer_agent_id", json!(theirs.organizer), json!("agt_x"), "agent_not_found"),
        ("participant_agent_ids", json!([team.organizer, theirs.organizer]), json!(["agt_y"]), "agent_not_found"),
        ("calendar_id", json!(theirs.calendar), json!("x"), "calendar_not_found"),
        (
            "slots",
            json!([slot("09:00", "10:00"), elsewhere("09:00", "10:00", &theirs.calendar)]),
            json!([elsewhere("09:00", "10:00", "cal_x")]),
            "calendar_not_found",
        ),
    ] {
        for named in [foreign, unknown] {
            let mut body = good.clone();
            body[field] = named;
            api.post(PROPOSALS).json(body.clone()).await.refused(404, "not_found").code(code);
            // The body itself is checked first.
            body["title"] = json!("");
            api.post(PROPOSALS).json(body).await.refused(400, "validation").param("title");
        }
    }
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 0);

    // Another organization cannot see the proposal.
    let made = api.post(PROPOSALS).json(good).await.expect(201);
    let (id, agent) = (made.id(), &team.participants[0]);
    for (who, id) in [(&foreign, id.as_str()), (&api, "spr_00000000000000000000000000"), (&api, "spr_x"), (&api, "x")] {
        let answers = [
            who.get(format!("{PROPOSALS}/{id}")).await,
            respond(who, id, decline(agent)).await,
            resolve(who, id).await,
            cancel(who, id).await,
        ];
        for answer in answers {
            answer.refused(404, "not_found").code("proposal_not_found");
        }
    }
    // A malformed identifier is treated as an unknown one.
    let only = slot_id(&made, 0);
    let unknown = respond(&api, &id, accept("agt_00000000000000000000000000", &only)).await;
    assert!([403, 404].contains(&unknown.status), "{}", unknown.describe());
    for named in ["agt_x", &theirs.organizer] {
        let answer = respond(&api, &id, accept(named, &only)).await;
        assert_eq!((answer.status, answer.at("/error/code")), (unknown.status, unknown.at("/error/code")), "{named}");
    }
    assert_eq!(foreign.get(PROPOSALS).await.expect(200).json["data"], json!([]));
    assert_eq!(get_proposal(&api, &id).await.json, made.json);
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_s_key_acts_only_for_its_agent(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let (stranger, abroad) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let [first, second] = [&team.participants[0], &team.participants[1]];
    let (organizer, taking_part) = (key_of(&server, &api, &team.organizer).await, key_of(&server, &api, first).await);
    let outside = key_of(&server, &api, &stranger).await;
    let offered = [slot("09:00", "10:00")];

    // An agent's key creates proposals only for its own agent and on its own calendars.
    let mine = team.propose(&organizer, &offered, json!({})).await;
    let body = |more: Value| team.body(&offered, &more);
    for (key, body) in [
        (&taking_part, body(json!({}))),
        (&outside, body(json!({ "calendar_id": abroad }))),
        (&organizer, body(json!({ "calendar_id": abroad }))),
        (&organizer, body(json!({ "calendar_id": shared }))),
        (&organizer, body(json!({ "organizer_agent_id": first }))),
        (&organizer, body(json!({ "slots": [elsewhere("09:00", "10:00", &abroad)] }))),
    ] {
        key.post(PROPOSALS).json(body).await.refused(403, "forbidden");
    }
    let theirs = json!({ "organizer_agent_id": stranger, "participant_agent_ids": [second], "calendar_id": abroad });
    let theirs = team.propose(&api, &offered, theirs).await;

    // The organizer and the participants can read and list it. Others cannot.
    for (key, sees) in [(&organizer, vec![&mine]), (&taking_part, vec![&mine]), (&outside, vec![&theirs])] {
        let listed = key.get(PROPOSALS).await.expect(200);
        assert_eq!((listed.column("id"), &listed["total"]), (sees.iter().map(|one| one.id()).collect(), &json!(1)));
        for proposal in [&mine, &theirs] {
            let answer = key.get(format!("{PROPOSALS}/{}", proposal.id())).await;
            match sees[0].id() == proposal.id() {
                true => assert_eq!(answer.expect(200).json, proposal.json),
                false => drop(answer.refused(403, "forbidden")),
            }
        }
    }
    assert_eq!(organizer.get(format!("{PROPOSALS}?organizer_agent_id={stranger}")).await.expect(200)["total"], 0);

    // Each participant responds only for itself, and the organizer decides.
    let (id, only) = (mine.id(), slot_id(&mine, 0));
    respond(&taking_part, &id, accept(second, &only)).await.refused(403, "forbidden");
    respond(&outside, &id, accept(first, &only)).await.refused(403, "forbidden");
    respond(&organizer, &id, accept(first, &only)).await.refused(403, "forbidden");
    respond(&outside, &id, accept(&stranger, &only)).await.refused(403, "forbidden");
    for key in [&taking_part, &outside] {
        resolve(key, &id).await.refused(403, "forbidden");
        cancel(key, &id).await.refused(403, "forbidden");
    }
    respond(&api, &id, accept(&stranger, &only)).await.refused(403, "forbidden").code("not_a_participant");
    respond(&api, &id, accept(&team.organizer, &only)).await.refused(403, "forbidden").code("not_a_participant");
    assert_eq!(get_proposal(&api, &id).await["responses"], json!([]), "none of these was recorded");

    // The key of a paused agent can only read.
    for (agent, key) in [(first, &taking_part), (&team.organizer, &organizer)] {
        let path = format!("/v1/agents/{agent}");
        api.patch(&path).json(json!({ "status": "paused" })).await.expect(200);
        key.get(format!("{PROPOSALS}/{id}")).await.expect(200);
        key.get(PROPOSALS).await.expect(200);
        respond(key, &id, accept(first, &only)).await.refused(403, "forbidden").code("agent_paused");
        resolve(key, &id).await.refused(403, "forbidden").code("agent_paused");
        cancel(key, &id).await.refused(403, "forbidden").code("agent_paused");
        key.post(PROPOSALS).json(body(json!({}))).await.refused(403, "forbidden").code("agent_paused");
        api.patch(&path).json(json!({ "status": "active" })).await.expect(200);
    }
    respond(&taking_part, &id, accept(first, &only)).await.expect(200);
    assert_eq!(resolve(&organizer, &id).await.expect(200)["status"], "confirmed");
    let again = team.propose(&organizer, &offered, json!({})).await;
    assert_eq!(cancel(&organizer, &again.id()).await.expect(200).json, json!({ "status": "cancelled" }));
}

#[apply(on_both)]
#[tokio::test]
async fn proposals_are_listed_by_creation(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let second =
        Team { organizer: agent(&api).await, calendar: team.calendar.clone(), participants: team.participants.clone() };
    assert_eq!(api.get(PROPOSALS).await.expect(200).json, json!({ "data": [], "total": 0, "limit": 50, "offset": 0 }));
    let mut made = Vec::new();
    for number in 0..6 {
        let team = if number % 2 == 0 { &team } else { &second };
        made.push(team.propose(&api, &[slot("09:00", "10:00")], json!({ "description": "x" })).await);
    }
    let ids = |wanted: &[usize]| wanted.iter().map(|index| made[*index].id()).collect::<Vec<_>>();
    cancel(&api, &made[1].id()).await.expect(200);
    let accepted = accept(&team.participants[0], &slot_id(&made[2], 0));
    respond(&api, &made[2].id(), accepted).await.expect(200);
    for (query, expected) in [
        (String::new(), vec![0, 1, 2, 3, 4, 5]),
        ("status=pending".into(), vec![0, 3, 4, 5]),
        ("status=cancelled".into(), vec![1]),
        ("status=confirmed".into(), vec![2]),
        ("status=expired".into(), vec![]),
        (format!("organizer_agent_id={}", second.organizer), vec![1, 3, 5]),
        (format!("organizer_agent_id={}&status=pending", second.organizer), vec![3, 5]),
    ] {
        let listed = api.get(format!("{PROPOSALS}?{query}")).await.expect(200);
        has_exactly(&listed.json, &["data", "total", "limit", "offset"]);
        assert_eq!((listed.column("id"), &listed["total"]), (ids(&expected), &json!(expected.len())), "{query}");
        for entry in listed.data() {
            has_exactly(&entry, &summary());
            let full = get_proposal(&api, entry["id"].as_str().unwrap()).await;
            assert!(summary().into_iter().all(|field| entry[field] == full[field]), "{entry:#}\n{}", full.describe());
        }
    }
    let page = api.get(format!("{PROPOSALS}?status=pending&limit=2&offset=1")).await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (ids(&[3, 4]), &json!(4)));
    assert_eq!((&page["limit"], &page["offset"]), (&json!(2), &json!(1)));
    assert_eq!(api.get(format!("{PROPOSALS}?limit=200&offset=6")).await.expect(200)["data"], json!([]));
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("offset=-1", "offset"),
        ("status=open", "status"),
        ("participant=x", "participant"),
    ] {
        api.get(format!("{PROPOSALS}?{query}")).await.refused(400, "validation").param(param);
    }
    let unknown = api.get(format!("{PROPOSALS}?stat=pending")).await.refused(400, "validation");
    unknown.code("unknown_field").param("stat").mentions("status");
}
