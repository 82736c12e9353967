//! Times that a pending proposal reserves (`hold_slots`), and proposals that skip times that were taken since
//! (`skip_taken`). Also the storage of proposals.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{
    Client, Database,
    Database::{Postgres, Sqlite},
    Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::owner,
    fixtures::{agent_with_calendar, calendar_of, event, event_body, now, shared_calendar},
    holds::{hold_body, in_seconds, set_body},
    proposals::{
        PROPOSALS, Team, accept, cancel, counter, decline, elsewhere, events_of, get_proposal, resolve, respond, slot,
        slot_id, time, weighted,
    },
    stored::{naming, tables},
};

/// The busy times of the calendar on that day, as `HH:MM-HH:MM`.
async fn calendar_busy(api: &Client, calendar: &str) -> Vec<String> {
    let query = format!("start={}&end={}&include_busy=true", time("06:00"), time("20:00"));
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{query}")).await.expect(200);
    let clock = |value: &Value| value.as_str().unwrap()[11..16].to_owned();
    let clocks = |one: &Value| format!("{}-{}", clock(&one["start"]), clock(&one["end"]));
    answer["busy"].as_array().unwrap().iter().map(clocks).collect()
}

/// The reasons why this time is not offered. It is offered if there are none.
async fn reasons(api: &Client, calendar: &str, start: &str, end: &str) -> Vec<Value> {
    let query = format!("calendar={calendar}&start={}&end={}", time(start), time(end));
    let explained = api.get(format!("/v1/availability/explain?{query}")).await.expect(200);
    assert_eq!(explained["offered"], explained["reasons"] == json!([]), "{}", explained.describe());
    explained["reasons"].as_array().unwrap().clone()
}

fn reserving() -> Value {
    json!({ "hold_slots": true })
}

#[apply(on_both)]
#[tokio::test]
async fn a_reservation_is_busy_but_not_an_event(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let other = shared_calendar(&api, "Europe/Berlin").await;
    // One reservation is within the next day, so that the context would show it.
    let moment = at(&now(&api).await);
    let near = |hours: i64| iso(moment + TimeDelta::hours(hours));
    let today = json!({ "start_time": near(1), "end_time": near(2) });
    let there = elsewhere("15:00", "16:00", &other);
    let began = api.get(format!("/v1/calendars/{}/changes", team.calendar)).await.expect(200);
    let tag = |calendar: &str| api.get(format!("/v1/calendars/{calendar}"));
    let before = tag(&team.calendar).await.expect(200);
    // Reserved slots may overlap each other.
    let offered = [slot("09:00", "10:00"), slot("09:30", "11:00"), slot("12:00", "13:00"), there, today];
    let until = json!({ "hold_slots": true, "expires_at": near(24) });
    let made = team.propose(&api, &offered, until).await;
    assert_eq!((&made["hold_slots"], &made["status"]), (&json!(true), &json!("pending")));

    assert_eq!(calendar_busy(&api, &team.calendar).await, ["09:00-11:00", "12:00-13:00"]);
    assert_eq!(calendar_busy(&api, &other).await, ["15:00-16:00"]);
    let query = format!("start={}&end={}", time("09:00"), time("14:00"));
    let slots = api.get(format!("/v1/agents/{}/availability?{query}&slot_duration=1h", team.organizer)).await;
    let starts: Vec<Value> =
        slots.expect(200)["slots"].as_array().unwrap().iter().map(|one| one["start"].clone()).collect();
    assert_eq!(starts, [json!(time("11:00")), json!(time("13:00"))]);
    let across = format!("/v1/availability?agents={}&{query}&slot_duration=1h", team.organizer);
    assert_eq!(api.get(across).await.expect(200)["slots"].as_array().map(Vec::len), Some(2));
    let expected =
        json!({ "calendar_id": team.calendar, "reason": "reservation", "start": time("12:00"), "end": time("13:00") });
    assert_eq!(reasons(&api, &team.calendar, "12:30", "12:45").await, [expected]);
    let found = reasons(&api, &team.calendar, "09:45", "11:30").await;
    assert!(!found.is_empty() && found.iter().all(|one| one["reason"] == "reservation"), "{found:#?}");
    assert_eq!(reasons(&api, &team.calendar, "11:00", "12:00").await, Vec::<Value>::new(), "half-open");

    for calendar in [&team.calendar, &other] {
        assert_eq!(events_of(&api, calendar).await, Vec::<Value>::new());
        let context = api.get(format!("/v1/calendars/{calendar}/context")).await.expect(200);
        for field in ["current_event", "next_event"] {
            assert_eq!(context[field], Value::Null, "{}", context.describe());
        }
        assert_eq!((&context["upcoming"], &context["recent_events"]), (&json!([]), &json!([])));
        let calendar_now = tag(calendar).await.expect(200);
        let url = calendar_now["ical_url"].as_str().unwrap();
        let feed = server.anonymous().get(&url[url.find("/ical/").unwrap()..]).await.expect(200);
        assert!(!feed.text().contains("VEVENT"), "{}", feed.text());
        let changes = api.get(format!("/v1/calendars/{calendar}/changes")).await.expect(200);
        assert_eq!(changes["data"], json!([]));
    }
    let of_agent = api.get(format!("/v1/agents/{}/events", team.organizer)).await.expect(200);
    assert_eq!(of_agent["total"], 0);
    let since = began["next"].as_str().unwrap();
    let changes = api.get(format!("/v1/calendars/{}/changes", team.calendar)).query(&[("since", since)]).await;
    assert_eq!((changes.expect(200)["data"].clone(), &began["data"]), (json!([]), &json!([])));
    assert_eq!(tag(&team.calendar).await.expect(200).json, before.json);
    assert_eq!(api.get("/v1/usage").await.expect(200)["events"]["used"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_reservation_blocks_everyone_else(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let sibling = calendar_of(&api, &team.organizer).await;
    team.propose(&api, &[slot("09:00", "10:00")], reserving()).await;
    let events = format!("/v1/calendars/{}/events", team.calendar);
    let until = in_seconds(&api, 600).await;
    let hold = |start: &str, end: &str| hold_body(&time(start), &time(end), &until, 100);
    let taken = |answer: kalends_e2e::Answer| answer.refused(409, "conflict").code("slot_taken");

    for (start, end) in [("09:00", "10:00"), ("08:30", "09:01"), ("09:59", "11:00"), ("08:00", "11:00")] {
        let refused = taken(api.post(&events).json(hold(start, end)).await);
        assert_eq!(refused.at("/error/conflicts/0/calendar_id"), team.calendar);
        assert_eq!(refused.at("/error/conflicts/0/start"), time("09:00"));
        taken(api.post(PROPOSALS).json(team.body(&[slot("14:00", "15:00"), slot(start, end)], &reserving())).await);
    }
    let set = set_body(&[&sibling, &team.calendar], &time("09:00"), &time("10:00"), &until);
    taken(api.post("/v1/hold-sets").json(set).await);
    let mut wide = hold("09:00", "10:00");
    wide["scope"] = json!("agent");
    taken(api.post(format!("/v1/calendars/{sibling}/events")).json(wide).await);
    assert_eq!(calendar_busy(&api, &team.calendar).await, ["09:00-10:00"], "none of these was placed");
    assert_eq!(calendar_busy(&api, &sibling).await, Vec::<String>::new());
    assert_eq!(api.get("/v1/usage").await.expect(200)["proposals"]["used"], 1);
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 1);

    // The adjacent time is free, but a hold cannot move onto the reservation.
    let adjacent = api.post(&events).json(hold("10:00", "11:00")).await.expect(201).id();
    let moved = json!({ "start_time": time("09:30"), "end_time": time("10:30") });
    taken(api.patch(format!("/v1/events/{adjacent}")).json(moved).await);
    // A proposal without reservations and a plain event may overlap it.
    team.propose(&api, &[slot("09:00", "10:00")], json!({})).await;
    event(&api, &team.calendar, &time("09:15"), &time("09:45")).await;
    // Another organization's calendars are not affected.
    let foreign = server.api(&server.org("pro").await);
    Team::of(&foreign, 1).await.propose(&foreign, &[slot("09:00", "10:00")], reserving()).await;
}

#[apply(on_both)]
#[tokio::test]
async fn busy_times_cannot_be_reserved(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let other = shared_calendar(&api, "UTC").await;
    let events = format!("/v1/calendars/{}/events", team.calendar);
    let mut body = event_body("x", &time("09:00"), &time("10:00"));
    for (start, end, field, value) in [
        ("09:00", "10:00", "status", json!("confirmed")),
        ("10:30", "11:00", "status", json!("tentative")),
        ("12:00", "12:30", "recurrence_rule", json!("FREQ=DAILY;COUNT=2")),
        ("16:00", "17:00", "status", json!("cancelled")),
    ] {
        let mut body = body.clone();
        (body["start_time"], body["end_time"], body[field]) = (json!(time(start)), json!(time(end)), value);
        api.post(&events).json(body).await.expect(201);
    }
    let until = in_seconds(&api, 600).await;
    let held = hold_body(&time("14:00"), &time("15:00"), &until, 0);
    let held = api.post(&events).json(held).await.expect(201).id();
    body["title"] = json!("Elsewhere");
    api.post(format!("/v1/calendars/{other}/events")).json(body).await.expect(201);

    let elsewhere = elsewhere("09:30", "10:30", &other);
    for taken in [
        slot("09:30", "09:45"),
        slot("10:00", "10:31"),
        slot("12:15", "13:00"),
        json!({ "start_time": "2031-03-04T12:00:00Z", "end_time": "2031-03-04T12:10:00Z" }),
        slot("14:30", "15:30"),
        elsewhere,
    ] {
        let offered = [slot("07:00", "08:00"), taken.clone()];
        let refused = api.post(PROPOSALS).json(team.body(&offered, &reserving())).await;
        refused.refused(409, "conflict").code("slot_taken");
        // A proposal without reservations may offer any time.
        let declined_proposal = team.propose(&api, &offered, json!({ "skip_taken": true })).await;
        cancel(&api, &declined_proposal.id()).await.expect(200);
    }
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 6, "the ones that were not refused");
    assert_eq!(
        api.get(format!("/v1/events/{held}")).await.expect(200)["status"],
        "hold",
        "a reservation does not pre-empt a hold"
    );
    assert_eq!(reasons(&api, &team.calendar, "07:00", "08:00").await, Vec::<Value>::new());
    // Adjacent and cancelled times are free.
    let offered = [slot("08:00", "09:00"), slot("10:00", "10:30"), slot("16:00", "17:00")];
    team.propose(&api, &offered, reserving()).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reservation_ends_with_its_proposal(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let offered = [slot("09:00", "10:00"), slot("09:30", "10:30"), slot("12:00", "13:00")];
    let expected = ["09:00-10:30", "12:00-13:00"];
    for skip in [false, true] {
        let propose = async || team.propose(&api, &offered, json!({ "hold_slots": true, "skip_taken": skip })).await;
        let id = propose().await.id();
        assert_eq!(calendar_busy(&api, &team.calendar).await, expected);
        cancel(&api, &id).await.expect(200);
        assert_eq!(calendar_busy(&api, &team.calendar).await, Vec::<String>::new());

        let id = propose().await.id();
        respond(&api, &id, decline(ada)).await.expect(200);
        assert_eq!(calendar_busy(&api, &team.calendar).await, expected);
        respond(&api, &id, decline(bob)).await.expect(200);
        assert_eq!(calendar_busy(&api, &team.calendar).await, Vec::<String>::new());

        // It does not block its own resolution, of either kind. Its other reservations end.
        for last in [true, false] {
            let made = propose().await;
            respond(&api, &made.id(), accept(ada, &slot_id(&made, 1))).await.expect(200);
            match last {
                true => respond(&api, &made.id(), accept(bob, &slot_id(&made, 1))).await.expect(200),
                false => resolve(&api, &made.id()).await.expect(200),
            };
            let full = get_proposal(&api, &made.id()).await;
            assert_eq!((&full["status"], &full["resolved_slot_id"]), (&json!("confirmed"), &made.at("/slots/1/id")));
            assert_eq!(calendar_busy(&api, &team.calendar).await, ["09:30-10:30"]);
            let found = reasons(&api, &team.calendar, "09:30", "10:30").await;
            assert_eq!(found.iter().map(|one| &one["reason"]).collect::<Vec<_>>(), ["event"]);
            api.delete(format!("/v1/events/{}", full["created_event_id"].as_str().unwrap())).await.expect(204);
        }
    }
    // The time of a cancelled proposal is free at once.
    let id = team.propose(&api, &offered, reserving()).await.id();
    cancel(&api, &id).await.expect(200);
    let until = in_seconds(&api, 600).await;
    let body = hold_body(&time("09:00"), &time("10:00"), &until, 0);
    api.post(format!("/v1/calendars/{}/events", team.calendar)).json(body).await.expect(201);
}

#[rstest]
#[case::sqlite(Sqlite, &["serve"])]
#[case::postgres(Postgres, &["serve"])]
#[case::without_workers(Postgres, &["serve", "--no-workers"])]
#[tokio::test]
async fn a_reservation_ends_exactly_at_its_expiry(#[case] database: Database, #[case] arguments: &[&str]) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let team = Team::of(&api, 1).await;
    let expires = at(&in_seconds(&api, 600).await);
    let more = json!({ "hold_slots": true, "expires_at": iso(expires) });
    let made = team.propose(&api, &[slot("09:00", "10:00")], more).await;
    // About two seconds before the expiry.
    let left = (expires - at(&now(&api).await)).num_seconds();
    assert!(server.stop().await.success());
    let offset = (left - 2).to_string();
    server.start_again_as(arguments, &[("KALENDS_CLOCK_OFFSET_SECONDS", &offset)]).await;
    let api = server.api(&org);
    // Each answer must match some moment between the request and the answer.
    let mut before_the_end = 0;
    loop {
        let now_at = at(&now(&api).await);
        let busy = calendar_busy(&api, &team.calendar).await;
        let answered = at(&now(&api).await);
        if now_at >= expires {
            assert_eq!(busy, Vec::<String>::new(), "it lasts no longer than {expires}");
            break;
        }
        if answered < expires {
            assert_eq!(busy, ["09:00-10:00"], "it lasts until {expires}");
            before_the_end += 1;
        }
    }
    eprintln!("seen {before_the_end} times before the end");
    assert_eq!(reasons(&api, &team.calendar, "09:00", "10:00").await, Vec::<Value>::new());
    for call in [
        respond(&api, &made.id(), accept(&team.participants[0], &slot_id(&made, 0))),
        resolve(&api, &made.id()),
        cancel(&api, &made.id()),
    ] {
        call.await.refused(409, "conflict").code("proposal_not_pending");
    }
    assert_eq!(events_of(&api, &team.calendar).await, Vec::<Value>::new());
    // The time is free for the next proposal or hold.
    let next = team.propose(&api, &[slot("09:00", "10:00")], reserving()).await;
    cancel(&api, &next.id()).await.expect(200);
    let until = in_seconds(&api, 600).await;
    let body = hold_body(&time("09:00"), &time("10:00"), &until, 0);
    api.post(format!("/v1/calendars/{}/events", team.calendar)).json(body).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn slots_taken_since_are_skipped(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let offered = [weighted("09:00", "10:00", 9.0), weighted("11:00", "12:00", 5.0), weighted("13:00", "14:00", 1.0)];
    let skipping = json!({ "skip_taken": true });
    // A plain event takes the best slot, and another proposal's reservation takes the second.
    event(&api, &team.calendar, &time("09:59"), &time("10:30")).await;
    let rival = team.propose(&api, &[slot("11:30", "12:30")], reserving()).await.id();
    for (more, winner) in [(skipping.clone(), 2), (json!({ "skip_taken": false }), 0)] {
        let made = team.propose(&api, &offered, more).await;
        respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);
        let resolved = resolve(&api, &made.id()).await.expect(200);
        assert_eq!(resolved["resolved_slot"], made.at(&format!("/slots/{winner}")));
        api.delete(format!("/v1/events/{}", resolved["created_event_id"].as_str().unwrap())).await.expect(204);
    }

    // All slots are taken. The proposal stays pending and keeps its responses. It can be resolved once a slot is free.
    let until = in_seconds(&api, 600).await;
    let last = hold_body(&time("13:00"), &time("13:01"), &until, 0);
    let last = api.post(format!("/v1/calendars/{}/events", team.calendar)).json(last).await.expect(201).id();
    let made = team.propose(&api, &offered, skipping.clone()).await;
    let id = made.id();
    respond(&api, &id, accept(ada, &slot_id(&made, 0))).await.expect(200);
    resolve(&api, &id).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(get_proposal(&api, &id).await["status"], "pending");
    let answered = respond(&api, &id, accept(bob, &slot_id(&made, 1))).await.expect(200);
    assert_eq!((&answered["status"], answered.at("/responses/1/agent_id")), (&json!("pending"), json!(bob)));
    assert_eq!(get_proposal(&api, &id).await.json, answered.json);
    respond(&api, &id, decline(bob)).await.refused(409, "conflict").code("duplicate_response");
    resolve(&api, &id).await.refused(409, "conflict").code("slot_taken");
    cancel(&api, &rival).await.expect(200);
    assert_eq!(resolve(&api, &id).await.expect(200)["resolved_slot"], made.at("/slots/1"));

    // If all decline, no slot is needed.
    api.delete(format!("/v1/events/{last}")).await.expect(204);
    let declined = team.propose(&api, &offered[..1], skipping).await.id();
    respond(&api, &declined, decline(ada)).await.expect(200);
    assert_eq!(respond(&api, &declined, decline(bob)).await.expect(200)["status"], "cancelled");
}

#[apply(on_both)]
#[tokio::test]
async fn a_plain_event_over_a_reservation_counts_as_taken(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let offered = [weighted("09:00", "10:00", 9.0), weighted("09:30", "10:30", 5.0), weighted("13:00", "14:00", 1.0)];
    event(&api, &team.calendar, &time("16:00"), &time("17:00")).await;
    for (skip, winner) in [(true, 1), (false, 0)] {
        let made = team.propose(&api, &offered, json!({ "hold_slots": true, "skip_taken": skip })).await;
        let over = event(&api, &team.calendar, &time("08:30"), &time("09:15")).await;
        let accepted = accept(&team.participants[0], &slot_id(&made, 0));
        let answered = respond(&api, &made.id(), accepted).await.expect(200);
        assert_eq!(answered["resolved_slot_id"], slot_id(&made, winner), "skip_taken: {skip}");
        for id in [&over, answered["created_event_id"].as_str().unwrap()] {
            api.delete(format!("/v1/events/{id}")).await.expect(204);
        }
    }
    assert_eq!(calendar_busy(&api, &team.calendar).await, ["16:00-17:00"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_reservation_ends_with_its_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, kept) = agent_with_calendar(&api).await;
    let team = Team::of(&api, 1).await;
    let there = elsewhere("11:00", "12:00", &kept);
    let made = team.propose(&api, &[slot("09:00", "10:00"), there], reserving()).await;
    api.delete(format!("/v1/calendars/{}", team.calendar)).await.expect(204);
    assert_eq!(calendar_busy(&api, &kept).await, ["11:00-12:00"], "it is still pending");
    cancel(&api, &made.id()).await.expect(200);
    assert_eq!(calendar_busy(&api, &kept).await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn an_expired_hold_does_not_block_a_reservation(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let team = Team::of(&api, 1).await;
    let body = hold_body(&time("09:00"), &time("12:00"), &in_seconds(&api, 600).await, 100);
    let held = api.post(format!("/v1/calendars/{}/events", team.calendar)).json(body).await.expect(201).id();
    let offered = [slot("09:00", "10:00"), slot("11:00", "13:00")];
    let refused = api.post(PROPOSALS).json(team.body(&offered, &reserving())).await;
    refused.refused(409, "conflict").code("slot_taken");
    server.restart_at_offset(605).await;
    let api = server.api(&org);
    team.propose(&api, &offered, reserving()).await;
    assert_eq!(calendar_busy(&api, &team.calendar).await, ["09:00-10:00", "11:00-13:00"]);
    assert_eq!(api.get(format!("/v1/events/{held}")).await.expect(200)["status"], "cancelled");
}

#[apply(on_both)]
#[tokio::test]
async fn proposals_are_exported_and_stored_sealed(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let api = server.api(&server.org_with("pro", &["--email", "ada@example.com"]).await);
    let session = owner(&server, "ada@example.com").await;
    let foreign = server.api(&server.org("pro").await);
    Team::of(&foreign, 1).await.propose(&foreign, &[slot("09:00", "10:00")], json!({ "title": "Theirs" })).await;
    let team = Team::of(&api, 2).await;
    let offered = [slot("09:00", "10:00"), slot("11:00", "12:00")];
    let made = team.propose(&api, &offered, json!({ "description": "Secret é", "hold_slots": true })).await;
    let mut response = counter(&team.participants[0], Some(&slot_id(&made, 1)));
    response["message"] = json!("Rather later");
    let answered = respond(&api, &made.id(), response).await.expect(200);
    let stored: Vec<String> = tables(&server).await.into_values().flatten().collect();
    for words in ["kick-off", "secret", "rather later"] {
        let hex: String = words.bytes().map(|byte| format!("{byte:02x}")).collect();
        let plain = words.replace('-', "");
        assert!(!stored.iter().any(|row| row.contains(&plain) || row.contains(&hex)), "{words} is stored in clear");
    }
    let export = session.get("/v1/auth/export").await.expect(200);
    let list = |name: &str| export[name].as_array().unwrap_or_else(|| panic!("{name} is not a list")).clone();
    let (proposals, slots, responses) =
        (list("scheduling_proposals"), list("proposal_slots"), list("proposal_responses"));
    assert_eq!((proposals.len(), slots.len(), responses.len()), (1, 2, 1));
    for field in ["id", "title", "description", "status", "organizer_agent_id", "participant_agent_ids", "calendar_id"]
    {
        assert_eq!(proposals[0][field], made[field], "{field}");
    }
    for (index, slot) in slots.iter().enumerate() {
        assert_eq!((&slot["id"], &slot["proposal_id"]), (&json!(slot_id(&made, index)), &made["id"]));
    }
    for field in ["id", "agent_id", "response", "selected_slot_id", "message"] {
        assert_eq!(responses[0][field], answered.at(&format!("/responses/0/{field}")), "{field}");
    }
    assert_eq!(responses[0]["proposal_id"], made["id"]);
    assert!(!export.text().contains("Theirs"));

    // Deleting the account deletes all of it.
    let id = made.id();
    assert!(!naming(&tables(&server).await, &id).is_empty());
    session.delete("/v1/auth/account").await.expect(204);
    api.get(format!("{PROPOSALS}/{id}")).await.refused(401, "unauthorized");
    server.restart_at_offset(60).await;
    let began = tokio::time::Instant::now();
    loop {
        let stored = tables(&server).await;
        let left = naming(&stored, &id);
        if left.is_empty() {
            break;
        }
        assert!(began.elapsed().as_secs() < 60, "{left:?} still name it");
        tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    }
}
