//! The outcomes of proposals: responses, scores, resolution, cancellation, expiry, and their webhooks.

use crate::on_both;
use std::collections::BTreeSet;

use chrono::TimeDelta;
use kalends_e2e::{Answer, Client, Database, Server, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, calendar_of, event, has_exactly, is_id, is_time, now, shared_calendar},
    proposals::{
        PROPOSALS, Team, accept, cancel, counter, decline, elsewhere, events_of, get_proposal, key_of, resolve,
        respond, slot, slot_id, time, weighted,
    },
    webhooks::{hook, with_receiver},
};

/// Requires that the proposal accepts no more actions.
async fn is_over(api: &Client, proposal: &str, response: &Value) {
    for call in [respond(api, proposal, response.clone()), resolve(api, proposal), cancel(api, proposal)] {
        call.await.refused(409, "conflict").code("proposal_not_pending");
    }
    // The caller is checked before the proposal's state.
    let stranger = get_proposal(api, proposal).await["organizer_agent_id"].as_str().unwrap().to_owned();
    respond(api, proposal, decline(&stranger)).await.refused(403, "forbidden").code("not_a_participant");
}

#[apply(on_both)]
#[tokio::test]
async fn the_last_response_resolves(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 3).await;
    let other = shared_calendar(&api, "Europe/Berlin").await;
    let elsewhere = elsewhere("11:00", "12:00", &other);
    let more = json!({ "description": "Where we begin", "metadata": { "topic": "x", "proposal_id": "mine" } });
    let made = team.propose(&api, &[slot("09:00", "10:00"), elsewhere], more).await;
    let id = made.id();
    let [ada, bob, eve] = [0, 1, 2].map(|index| team.participants[index].as_str());
    let [first, second] = [0, 1].map(|index| slot_id(&made, index));

    let proposed = json!([{ "start_time": "2031-03-04T09:00:00+01:00", "end_time": "2031-03-04T09:00:00Z" }]);
    let mut answer = counter(ada, Some(&second));
    answer["counter_slots"] = proposed;
    answer["message"] = json!("Rather later");
    let answered = respond(&api, &id, answer).await.expect(200);
    assert_eq!((answered.id(), &answered["status"]), (id.clone(), &json!("pending")));
    let record = answered.at("/responses/0");
    let fields = ["id", "agent_id", "response", "selected_slot_id", "counter_slots", "message", "created_at"];
    has_exactly(&record, &fields);
    is_id(&record["id"], "rsp_");
    is_time(&record["created_at"]);
    assert_eq!((&record["agent_id"], &record["response"]), (&json!(ada), &json!("counter")));
    assert_eq!((&record["selected_slot_id"], &record["message"]), (&json!(second), &json!("Rather later")));
    let countered = json!([{ "start_time": "2031-03-04T08:00:00Z", "end_time": "2031-03-04T09:00:00Z" }]);
    assert_eq!(record["counter_slots"], countered);
    assert_eq!(get_proposal(&api, &id).await.json, answered.json);
    // The check for a duplicate response comes before the check of its contents.
    for again in [accept(ada, &first), decline(ada), accept(ada, "slt_00000000000000000000000000")] {
        respond(&api, &id, again).await.refused(409, "conflict").code("duplicate_response");
    }
    let answered = respond(&api, &id, decline(bob)).await.expect(200);
    let record = answered.at("/responses/1");
    has_exactly(&record, &fields);
    assert_eq!((&record["selected_slot_id"], &record["message"]), (&Value::Null, &Value::Null));
    assert_eq!(answered["status"], "pending");
    assert_eq!(events_of(&api, &other).await.len(), 0);

    let answered = respond(&api, &id, accept(eve, &second)).await.expect(200);
    assert_eq!((&answered["status"], &answered["resolved_slot_id"]), (&json!("confirmed"), &json!(second)));
    let responders: Vec<Value> = (0..3).map(|index| answered.at(&format!("/responses/{index}/agent_id"))).collect();
    assert_eq!(responders, [ada, bob, eve], "in the order of arrival");
    assert_eq!((&answered["reason"], get_proposal(&api, &id).await.json), (&Value::Null, answered.json.clone()));
    let events = events_of(&api, &other).await;
    assert_eq!((events.len(), events_of(&api, &team.calendar).await.len()), (1, 0), "on the slot's own calendar");
    let event = &events[0];
    assert_eq!(event["id"], answered["created_event_id"]);
    for (field, value) in [
        ("title", json!("Kick-off")),
        ("description", json!("Where we begin")),
        ("startTime", json!(time("11:00"))),
        ("endTime", json!(time("12:00"))),
        ("status", json!("confirmed")),
        ("source", json!("internal")),
        ("metadata", json!({ "topic": "x", "proposal_id": id })),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    is_over(&api, &id, &accept(eve, &second)).await;
    // The event is an ordinary event. Deleting it does not change the proposal.
    api.delete(format!("/v1/events/{}", event["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(get_proposal(&api, &id).await["status"], "confirmed");
    is_over(&api, &id, &accept(ada, &second)).await;
}

#[apply(on_both)]
#[tokio::test]
async fn the_organizer_may_resolve_or_cancel_early(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 3).await;
    let [ada, bob, eve] = [0, 1, 2].map(|index| team.participants[index].as_str());
    let offered = [weighted("09:00", "10:00", 3.0), weighted("11:00", "12:00", 2.5)];
    let propose = async || team.propose(&api, &offered, json!({})).await;

    let made = propose().await;
    let id = made.id();
    resolve(&api, &id).await.refused(409, "conflict").code("no_responses");
    for path in ["resolve", "cancel"] {
        let foreign = api.post(format!("{PROPOSALS}/{id}/{path}")).json(json!({ "slot_id": "x" })).await;
        foreign.refused(400, "validation").code("unknown_field");
    }
    respond(&api, &id, decline(bob)).await.expect(200);
    respond(&api, &id, accept(ada, &slot_id(&made, 1))).await.expect(200);
    let resolved = resolve(&api, &id).json(json!({})).await.expect(200);
    has_exactly(&resolved.json, &["status", "resolved_slot", "created_event_id", "created_events"]);
    assert_eq!((&resolved["status"], &resolved["resolved_slot"]), (&json!("confirmed"), &made.at("/slots/1")));
    let full = get_proposal(&api, &id).await;
    assert_eq!(full["resolved_slot_id"], slot_id(&made, 1));
    let event = &events_of(&api, &team.calendar).await[0];
    assert_eq!((&event["id"], &event["id"]), (&resolved["created_event_id"], &full["created_event_id"]));
    assert_eq!((&event["description"], &event["metadata"]), (&Value::Null, &json!({ "proposal_id": id })));
    is_over(&api, &id, &accept(eve, &slot_id(&made, 0))).await;

    // All responses so far are refusals, with and without participants who have not responded.
    let declined = propose().await.id();
    respond(&api, &declined, decline(ada)).await.expect(200);
    let answer = resolve(&api, &declined).await.expect(200);
    assert_eq!(answer.json, json!({ "status": "cancelled", "reason": "all_declined" }));
    let all = propose().await.id();
    for (agent, status) in [(ada, "pending"), (bob, "pending"), (eve, "cancelled")] {
        assert_eq!(respond(&api, &all, decline(agent)).await.expect(200)["status"], status);
    }
    let given_up = propose().await.id();
    respond(&api, &given_up, accept(ada, &slot_id(&get_proposal(&api, &given_up).await, 0))).await.expect(200);
    assert_eq!(cancel(&api, &given_up).json(json!({})).await.expect(200).json, json!({ "status": "cancelled" }));
    for (id, reason) in [(&declined, "all_declined"), (&all, "all_declined"), (&given_up, "organizer_cancelled")] {
        let full = get_proposal(&api, id).await;
        assert_eq!((&full["status"], &full["reason"]), (&json!("cancelled"), &json!(reason)));
        assert_eq!((&full["resolved_slot_id"], &full["created_event_id"]), (&Value::Null, &Value::Null));
        is_over(&api, id, &decline(eve)).await;
    }
    assert_eq!(events_of(&api, &team.calendar).await.len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn the_highest_score_wins_then_the_earliest_start(#[case] database: Database) {
    // The weights of three slots, which are not in the order of their starts; the responses of three participants; and
    // the winning slot. `a` accepts and `c` counters with the slot of that index, and `d` declines.
    let starts = ["14:00", "09:00", "11:00"];
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 3).await;
    for (weights, responses, winner) in [
        ([1.0, 1.0, 1.0], ["a0", "a0", "a1"], 0),
        ([1.0, 1.0, 1.0], ["a2", "c1", "c1"], 2),
        ([1.0, 1.0, 1.0], ["a0", "a2", "d"], 2),
        ([1.0, 1.0, 1.0], ["a0", "a1", "a2"], 1),
        // A weight counts as much as a response, even if nobody chose the slot.
        ([1.0, 1.5, 2.0], ["a0", "a1", "d"], 1),
        ([10.0, 0.0, 1.0], ["a2", "a1", "a2"], 0),
        ([0.0, 0.0, 0.0], ["c2", "d", "d"], 2),
        // A counter without a slot supports no slot, but is not a refusal.
        ([1.0, 1.0, 1.5], ["c", "c", "c"], 2),
        ([2.0, 2.0, 2.0], ["c", "d", "d"], 1),
        // Scores are equal if their decimal values are: 3 × 0.3 is 0.9, and 1 + 0.3 is 1.3.
        ([0.9, 0.0, 0.0], ["c2", "c2", "c2"], 2),
        ([0.0, 0.9, 0.0], ["c0", "c0", "c0"], 1),
        ([1.3, 0.0, 0.0], ["a2", "c2", "d"], 2),
        ([0.0, 0.7, 0.1], ["c2", "c2", "d"], 1),
        ([0.0, 0.1, 0.1], ["c0", "c0", "c0"], 0),
    ] {
        let offered: Vec<Value> = starts
            .iter()
            .zip(weights)
            .map(|(start, weight)| weighted(start, &start.replace(":00", ":30"), weight))
            .collect();
        let made = team.propose(&api, &offered, json!({})).await;
        for (agent, responses) in team.participants.iter().zip(responses) {
            let slot = responses[1..].parse().ok().map(|index: usize| slot_id(&made, index));
            let response = match (&responses[..1], &slot) {
                ("a", Some(slot)) => accept(agent, slot),
                ("c", slot) => counter(agent, slot.as_deref()),
                _ => decline(agent),
            };
            respond(&api, &made.id(), response).await.expect(200);
        }
        let full = get_proposal(&api, &made.id()).await;
        assert_eq!(full["resolved_slot_id"], slot_id(&made, winner), "{weights:?} {responses:?}");
        let event = api.get(format!("/v1/events/{}", full["created_event_id"].as_str().unwrap())).await.expect(200);
        assert_eq!(event["startTime"], time(starts[winner]));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_responses_are_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 8).await;
    let made = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await;
    let foreign = slot_id(&team.propose(&api, &[slot("09:00", "10:00")], json!({})).await, 0);
    let (id, agent, own) = (made.id(), team.participants[0].as_str(), slot_id(&made, 0));
    let proposed = json!({ "start_time": time("09:00"), "end_time": time("10:00") });
    let with = |mut response: Value, field: &str, value: &Value| {
        response[field] = value.clone();
        response
    };
    let countering = |slots: Value| with(counter(agent, None), "counter_slots", &slots);
    for (response, param) in [
        (json!({ "response": "decline" }), "agent_id"),
        (json!({ "agent_id": agent }), "response"),
        (json!({ "agent_id": agent, "response": "maybe" }), "response"),
        (json!({ "agent_id": agent, "response": null }), "response"),
        (json!({ "agent_id": agent, "response": "accept" }), "selected_slot_id"),
        (json!({ "agent_id": agent, "response": "accept", "selected_slot_id": null }), "selected_slot_id"),
        (accept(agent, &foreign), "selected_slot_id"),
        (accept(agent, "slt_x"), "selected_slot_id"),
        (counter(agent, Some(&foreign)), "selected_slot_id"),
        (with(decline(agent), "message", &json!("é".repeat(2_001))), "message"),
        (with(decline(agent), "message", &json!(1)), "message"),
        (countering(json!(vec![proposed.clone(); 21])), "counter_slots"),
        (countering(json!("later")), "counter_slots"),
        (countering(json!([proposed, { "start_time": time("09:00") }])), "counter_slots[1].end_time"),
        (countering(json!([{ "start_time": time("09:00"), "end_time": time("09:00") }])), "counter_slots[0].end_time"),
        (
            countering(json!([{ "start_time": "2031-03-03T09:00:00", "end_time": time("09:00") }])),
            "counter_slots[0].start_time",
        ),
        (with(decline(agent), "reason", &json!("x")), "reason"),
        (with(decline(agent), "selected_slot", &json!("x")), "selected_slot"),
    ] {
        respond(&api, &id, response).await.refused(400, "validation").param(param);
    }
    let unknown = respond(&api, &id, with(accept(agent, &own), "slot_id", &json!("x"))).await;
    unknown.refused(400, "validation").code("unknown_field");
    // The body is checked before the agent and the proposal.
    respond(&api, &id, json!({ "agent_id": team.organizer, "response": "maybe" })).await.refused(400, "validation");
    respond(&api, "spr_x", json!({ "agent_id": agent, "response": "maybe" })).await.refused(400, "validation");
    assert_eq!(get_proposal(&api, &id).await["responses"], json!([]));

    let longest = json!("é".repeat(2_000));
    let longest = with(countering(json!(vec![proposed; 20])), "message", &longest);
    let answered = respond(&api, &id, longest.clone()).await.expect(200);
    assert_eq!(answered.at("/responses/0/message"), longest["message"]);
    assert_eq!(answered.at("/responses/0/counter_slots").as_array().map(Vec::len), Some(20));
}

#[apply(on_both)]
#[tokio::test]
async fn the_largest_proposal_becomes_an_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    // The bytes that `,"proposal_id":"spr_…"` adds to the event's metadata, which may have 16,384 in total.
    let added = r#","proposal_id":"spr_""#.len() + 26;
    for (bytes, kept) in [(16_384 - added, true), (16_385 - added, false), (16_384, false)] {
        let metadata = json!({ "x": "y".repeat(bytes - r#"{"x":""}"#.len()) });
        let more = json!({ "title": "é".repeat(500), "description": "é".repeat(5_000), "metadata": metadata });
        let made = team.propose(&api, &[slot("09:00", "10:00")], more.clone()).await;
        let answered = respond(&api, &made.id(), accept(&team.participants[0], &slot_id(&made, 0))).await.expect(200);
        assert_eq!((&answered["status"], &answered["metadata"]), (&json!("confirmed"), &metadata));
        let event = api.get(format!("/v1/events/{}", answered["created_event_id"].as_str().unwrap())).await.expect(200);
        assert_eq!((&event["title"], &event["description"]), (&more["title"], &more["description"]));
        let mut expected = if kept { metadata } else { json!({}) };
        expected["proposal_id"] = json!(made.id());
        assert!(event["metadata"] == expected, "{bytes} bytes");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_expires_on_a_running_service(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["proposal.expired", "proposal.cancelled", "event.created"]).await;
    let team = Team::of(&api, 2).await;
    let expires = at(&now(&api).await) + TimeDelta::seconds(600);
    let until = json!({ "expires_at": iso(expires) });
    let made = team.propose(&api, &[slot("09:00", "10:00")], until).await;
    let (id, accepted) = (made.id(), accept(&team.participants[0], &slot_id(&made, 0)));
    respond(&api, &id, accepted).await.expect(200);
    let lasting = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await.id();
    // It expires about three seconds after the start.
    let left = (expires - at(&now(&api).await)).num_seconds();
    server.restart_at_offset(left - 3).await;
    let api = api.moved_to(server.base_url());
    let message = receiver.wait_for_type("/", "proposal.expired").await;
    assert_eq!(message.json(), json!({ "proposal_id": id }));
    let full = get_proposal(&api, &id).await;
    assert_eq!(full["status"], "expired");
    assert!(at(&now(&api).await) >= at(made["expires_at"].as_str().unwrap()));
    assert_eq!((&full["resolved_slot_id"], &full["created_event_id"]), (&Value::Null, &Value::Null));
    is_over(&api, &id, &decline(&team.participants[1])).await;
    assert_eq!(api.get(format!("{PROPOSALS}?status=expired")).await.expect(200).column("id"), [id]);
    assert_eq!(api.get(format!("{PROPOSALS}?status=pending")).await.expect(200).column("id"), [lasting]);
    assert_eq!(receiver.received("/").len(), 1, "one message and nothing else");
}

#[apply(on_both)]
#[tokio::test]
async fn a_slot_that_has_begun_is_never_confirmed(#[case] database: Database) {
    let (mut server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let moment = at(&now(&api).await);
    let ahead = |seconds: i64| iso(moment + TimeDelta::seconds(seconds));
    let soon = json!({ "start_time": ahead(600), "end_time": ahead(9_000), "weight": 9 });
    let until = json!({ "expires_at": ahead(50_000) });
    let made = team.propose(&api, &[soon.clone(), slot("09:00", "10:00")], until.clone()).await;
    let lost = team.propose(&api, &[soon], until).await;
    for made in [&made, &lost] {
        respond(&api, &made.id(), accept(&team.participants[0], &slot_id(made, 0))).await.expect(200);
    }
    server.restart_at_offset(605).await;
    let api = api.moved_to(server.base_url());
    // The best slot has begun, so the best of the others wins.
    let answered = respond(&api, &made.id(), accept(&team.participants[1], &slot_id(&made, 0))).await.expect(200);
    assert_eq!((&answered["status"], &answered["resolved_slot_id"]), (&json!("confirmed"), &json!(slot_id(&made, 1))));
    // No slot is left. The last response is recorded, and the proposal stays pending and can be cancelled.
    resolve(&api, &lost.id()).await.refused(409, "conflict").code("no_slot_left");
    let answered = respond(&api, &lost.id(), accept(&team.participants[1], &slot_id(&lost, 0))).await.expect(200);
    assert_eq!((&answered["status"], answered["responses"].as_array().unwrap().len()), (&json!("pending"), 2));
    resolve(&api, &lost.id()).await.refused(409, "conflict").code("no_slot_left");
    cancel(&api, &lost.id()).await.expect(200);
    let starts: Vec<_> = events_of(&api, &team.calendar).await.iter().map(|event| event["startTime"].clone()).collect();
    assert_eq!(starts, [json!(time("09:00"))]);
}

#[apply(on_both)]
#[tokio::test]
async fn proposals_expire_while_the_service_is_down(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["proposal.expired", "event.created"]).await;
    let team = Team::of(&api, 1).await;
    // One expires by its own expiry, the other by the start of its last slot.
    let moment = at(&now(&api).await);
    let ahead = |seconds: i64| iso(moment + TimeDelta::seconds(seconds));
    let soon = json!({ "start_time": ahead(600), "end_time": ahead(1_200) });
    let first = team.propose(&api, &[slot("09:00", "10:00")], json!({ "expires_at": ahead(300) })).await;
    let second = team.propose(&api, &[soon], json!({})).await;
    assert_eq!(second["expires_at"], ahead(600));
    server.restart_at_offset(605).await;
    let api = api.moved_to(server.base_url());
    for made in [&first, &second] {
        is_over(&api, &made.id(), &accept(&team.participants[0], &slot_id(made, 0))).await;
        assert_eq!(
            get_proposal(&api, &made.id()).await["status"],
            "expired",
            "whether or not the expiry is stored yet"
        );
    }
    let bodies: BTreeSet<_> = receiver.wait_for("/", 2).await.iter().map(|one| one.json().to_string()).collect();
    let expected = [&first, &second].map(|made| json!({ "proposal_id": made.id() }).to_string());
    assert_eq!(bodies, BTreeSet::from(expected));
    assert_eq!(events_of(&api, &team.calendar).await, Vec::<Value>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn every_step_is_announced_to_webhooks(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["*"]).await;
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let message = async |event_type: &str, proposal: &str| {
        let of_it = |body: &Value| {
            [&body["id"], &body["proposal_id"], &body["metadata"]["proposal_id"]].contains(&&json!(proposal))
        };
        let received =
            receiver.wait_for_one("/", event_type, |one| one.event_type() == event_type && of_it(&one.json())).await;
        received.json()
    };
    let more = json!({ "description": "Where", "metadata": { "a": 1 }, "hold_slots": true });
    let made = team.propose(&api, &[slot("09:00", "10:00")], more).await;
    let (id, only) = (made.id(), slot_id(&made, 0));
    assert_eq!(message("proposal.created", &id).await, made.json);
    respond(&api, &id, decline(ada)).await.expect(200);
    let responded = json!({ "proposal_id": id, "agent_id": ada, "response": "decline" });
    assert_eq!(message("proposal.responded", &id).await, responded);
    let answered = respond(&api, &id, accept(bob, &only)).await.expect(200);
    receiver
        .wait_for_one("/", "the last response", |one| {
            one.event_type() == "proposal.responded"
                && one.json() == json!({ "proposal_id": id, "agent_id": bob, "response": "accept" })
        })
        .await;
    let event_id = answered["created_event_id"].as_str().unwrap();
    let confirmed = json!({
        "proposal_id": id, "resolved_slot": made.at("/slots/0"), "created_event_id": event_id,
        "created_events": [{ "agent_id": team.organizer, "event_id": event_id }],
    });
    assert_eq!(message("proposal.confirmed", &id).await, confirmed);
    let event = api.get(format!("/v1/events/{event_id}")).await.expect(200);
    assert_eq!(message("event.created", &id).await, event.json);

    let declined = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await.id();
    for agent in [ada, bob] {
        respond(&api, &declined, decline(agent)).await.expect(200);
    }
    let cancelled = json!({ "proposal_id": declined, "reason": "all_declined" });
    assert_eq!(message("proposal.cancelled", &declined).await, cancelled);
    let given_up = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await.id();
    cancel(&api, &given_up).await.expect(200);
    let cancelled = json!({ "proposal_id": given_up, "reason": "organizer_cancelled" });
    assert_eq!(message("proposal.cancelled", &given_up).await, cancelled);
    let resolved = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await;
    respond(&api, &resolved.id(), accept(ada, &slot_id(&resolved, 0))).await.expect(200);
    let answer = resolve(&api, &resolved.id()).await.expect(200);
    let confirmed = message("proposal.confirmed", &resolved.id()).await;
    assert_eq!(confirmed["created_event_id"], answer["created_event_id"]);
    assert_eq!(confirmed["resolved_slot"], answer["resolved_slot"]);

    // No other messages: four created, five responses, two confirmed with one event each, two cancelled.
    let expected = [("created", 4), ("responded", 5), ("confirmed", 2), ("cancelled", 2), ("expired", 0)];
    receiver.wait_for("/", 3 + expected.iter().map(|(_, count)| count).sum::<usize>() + 2).await;
    for (kind, count) in expected {
        let kind = format!("proposal.{kind}");
        let received = receiver.received("/");
        assert_eq!(received.iter().filter(|one| one.event_type() == kind).count(), count, "{kind}");
    }
    let made_events = receiver.received("/").iter().filter(|one| one.event_type().starts_with("event.")).count();
    assert_eq!(made_events, 2);
}

#[apply(on_both)]
#[tokio::test]
async fn every_change_is_logged_and_idempotent(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let offered = [slot("09:00", "10:00")];
    let mut done: Vec<(&str, &str, String, String, Answer)> = Vec::new();
    // Each request is sent twice with one key. The second gets the first answer.
    let once = async |path: String, key: &str, body: Value| {
        let call = || api.post(&path).header("idempotency-key", key).json(body.clone());
        let first = call().await;
        assert!([200, 201].contains(&first.status), "{}", first.describe());
        let again = call().await.expect(first.status);
        assert_eq!((again.header("idempotency-replayed"), &again.json), ("true", &first.json));
        let other = api.post(&path).header("idempotency-key", key).json(json!({ "x": 1 })).await;
        other.refused(422, "validation_error").code("idempotency_mismatch");
        first
    };
    for (number, end) in ["resolve", "cancel"].into_iter().enumerate() {
        let key = |what: &str| format!("{what}-{number}");
        let made = once(PROPOSALS.to_owned(), &key("create"), team.body(&offered, &json!({}))).await;
        let id = made.id();
        let response = accept([ada, bob][number], &slot_id(&made, 0));
        done.push(("proposal.create", "", team.organizer.clone(), id.clone(), made));
        let answered = once(format!("{PROPOSALS}/{id}/respond"), &key("respond"), response).await;
        assert_eq!(answered["responses"].as_array().map(Vec::len), Some(1));
        done.push(("proposal.respond", "/{id}/respond", [ada, bob][number].to_owned(), id.clone(), answered));
        let ended = once(format!("{PROPOSALS}/{id}/{end}"), &key(end), json!({})).await;
        let (action, path) = match end {
            "resolve" => ("proposal.resolve", "/{id}/resolve"),
            _ => ("proposal.cancel", "/{id}/cancel"),
        };
        done.push((action, path, team.organizer.clone(), id, ended));
    }
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 2);
    assert_eq!(events_of(&api, &team.calendar).await.len(), 1);
    // A refused request is not logged.
    cancel(&api, &done[0].3).await.refused(409, "conflict");
    for (action, path, agent, resource, answer) in &done {
        let log = api.get(format!("/v1/audit-log?action={action}")).await.expect(200).data();
        assert_eq!(log.len(), done.iter().filter(|other| other.0 == *action).count(), "{action}");
        let request = answer.header("x-request-id");
        let entry = log.iter().find(|entry| entry["request_id"] == request).unwrap_or_else(|| panic!("{log:#?}"));
        assert_eq!((&entry["agent_id"], &entry["resource"]), (&json!(agent), &json!(resource)), "{entry:#}");
        assert_eq!((&entry["path"], &entry["status"]), (&json!(format!("{PROPOSALS}{path}")), &json!(answer.status)));
        assert_eq!((&entry["method"], &entry["actor_key_prefix"]), (&json!("POST"), &json!(org.key[..20])));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_survives_deleted_calendars_and_agents(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, other) = agent_with_calendar(&api).await;
    let elsewhere = elsewhere("11:00", "12:00", &other);
    // The calendar is deleted. No event is created on it, a slot on another calendar may win, and the organizer can
    // still cancel.
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let gone = calendar_of(&api, &team.organizer).await;
    let there = json!({ "calendar_id": gone });
    let made = team.propose(&api, &[weighted("09:00", "10:00", 9.0), elsewhere.clone()], there.clone()).await;
    let [lost, kept] = [team.propose(&api, &[slot("09:00", "10:00")], there).await, made];
    for made in [&lost, &kept] {
        respond(&api, &made.id(), accept(ada, &slot_id(made, 0))).await.expect(200);
    }
    api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    resolve(&api, &lost.id()).await.refused(404, "not_found").code("calendar_not_found");
    let answered = respond(&api, &lost.id(), accept(bob, &slot_id(&lost, 0))).await.expect(200);
    assert_eq!((&answered["status"], answered["responses"].as_array().map(Vec::len)), (&json!("pending"), Some(2)));
    cancel(&api, &lost.id()).await.expect(200);
    let answered = respond(&api, &kept.id(), decline(bob)).await.expect(200);
    assert_eq!(answered["resolved_slot_id"], slot_id(&kept, 1));
    api.delete(format!("/v1/events/{}", answered["created_event_id"].as_str().unwrap())).await.expect(204);

    // A participant is decommissioned. The other responses count.
    let made = team.propose(&api, &[slot("09:00", "10:00"), elsewhere], json!({})).await;
    respond(&api, &made.id(), accept(&team.participants[0], &slot_id(&made, 1))).await.expect(200);
    api.delete(format!("/v1/agents/{}", team.participants[1])).await.expect(204);
    let resolved = resolve(&api, &made.id()).await.expect(200);
    assert_eq!((&resolved["status"], events_of(&api, &other).await.len()), (&json!("confirmed"), 1));
    // A decommissioned agent cannot be in a new proposal.
    let refused = api.post(PROPOSALS).json(team.body(&[slot("09:00", "10:00")], &json!({}))).await;
    refused.refused(409, "conflict").code("agent_decommissioned");

    // The organizer is decommissioned, and its calendar is gone. The organization can still end the proposal.
    let team = Team::of(&api, 1).await;
    let made = team.propose(&api, &[slot("09:00", "10:00")], json!({ "calendar_id": other })).await;
    let lost = team.propose(&api, &[slot("09:00", "10:00")], json!({})).await;
    api.delete(format!("/v1/agents/{}", team.organizer)).await.expect(204);
    cancel(&api, &lost.id()).await.expect(200);
    let accepted = accept(&team.participants[0], &slot_id(&made, 0));
    assert_eq!(respond(&api, &made.id(), accepted).await.expect(200)["status"], "confirmed");
}

#[apply(on_both)]
#[tokio::test]
async fn the_key_of_an_agent_learns_nothing_of_other_calendars(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let organizer = key_of(&server, &api, &team.organizer).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let busy = calendar_of(&api, bob).await;
    event(&api, &busy, &time("09:00"), &time("10:00")).await;
    let all = json!({ "placement": "all", "skip_taken": true });
    let made = team.propose(&organizer, &[slot("09:00", "10:00")], all).await;
    respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);

    // An organization's key sees what blocks, and when everyone is free.
    let seen = resolve(&api, &made.id()).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(seen.at("/error/conflicts/0/calendar_id"), json!(busy));
    assert!(!seen.at("/error/nearest_free").as_array().unwrap().is_empty());
    let hidden = resolve(&organizer, &made.id()).await.refused(409, "conflict").code("slot_taken");
    assert_eq!((hidden.at("/error/conflicts"), hidden.at("/error/nearest_free")), (json!([]), json!([])));
    let message = hidden.at("/error/message").as_str().unwrap().to_owned();
    assert!(message.contains("is taken on a calendar of another agent"), "{message}");
    assert!(!message.contains(&busy), "{message}");
    // Its own conflicts are shown.
    event(&api, &team.calendar, &time("09:30"), &time("09:45")).await;
    let own = resolve(&organizer, &made.id()).await.refused(409, "conflict").code("slot_taken");
    let conflicts = own.at("/error/conflicts");
    let named: Vec<&Value> = conflicts.as_array().unwrap().iter().map(|one| &one["calendar_id"]).collect();
    assert_eq!((named, own.at("/error/nearest_free")), (vec![&json!(team.calendar)], json!([])));
}
