//! Runs: the writes of one task, and what takes them back.

use crate::on_both;
use kalends_e2e::{Answer, Call, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    core_tools,
    fixtures::{agent_with_calendar, calendar_of, event, event_body},
    holds::{in_seconds, set_body},
    invitations_by_the_rule::{ADA, Host, people, sent},
    proposals::{Team, get_proposal, key_of, slot},
    webhooks::{hook, with_receiver},
};

const MONDAY: &str = "2038-03-01T09:00:00Z";

/// The call as a write of the run.
fn of_run(call: Call) -> Call {
    call.header("kalends-run", "plan")
}

async fn undo(api: &Client) -> Answer {
    api.post("/v1/runs/plan/undo").await
}

fn events(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// The path of the occurrence of `series` that the rule starts on this day of March.
fn occurrence(series: &str, day: u32) -> String {
    format!("/v1/events/{series}_203803{day:02}T090000Z")
}

/// A daily series of ten half hours. The occurrence of the 6th is at noon, and that of the 4th is cancelled.
async fn daily(api: &Client, calendar: &str) -> String {
    let mut body = event_body("Standup", MONDAY, &shifted(MONDAY, 30));
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=10");
    let series = api.post(events(calendar)).json(body).await.expect(201).id();
    api.delete(occurrence(&series, 4)).await.expect(204);
    let noon = json!({ "title": "Retro", "start_time": "2038-03-06T12:00:00Z" });
    api.patch(occurrence(&series, 6)).json(noon).await.expect(200);
    series
}

/// Everything on the calendars, as lists show it: events and series, and the instances of March. Times of changes are left
/// out.
async fn shown(api: &Client, calendars: &[&str]) -> Vec<Value> {
    let mut shown = Vec::new();
    for calendar in calendars {
        let window = [
            ("expand", "true"),
            ("start_after", "2038-03-01T00:00:00Z"),
            ("start_before", "2038-04-01T00:00:00Z"),
            ("limit", "200"),
        ];
        shown.extend(api.get(events(calendar)).query(&[("limit", "200")]).await.expect(200).data());
        shown.extend(api.get(events(calendar)).query(&window).await.expect(200).data());
    }
    for event in &mut shown {
        event.as_object_mut().unwrap().remove("updatedAt").unwrap();
    }
    shown
}

/// The resources that an undo changed, each with what it did.
fn actions(answer: &Answer) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let undone = answer["undone"].as_array().unwrap().iter();
    undone.map(|entry| (text(&entry["resource_id"]), text(&entry["action"]))).collect()
}

/// The resources that are in the way of an undo, each with the reason.
#[track_caller]
fn in_the_way(answer: Answer) -> Vec<(String, String)> {
    let answer = answer.refused(409, "conflict");
    assert_eq!(answer.at("/error/code"), "run_changed", "{}", answer.describe());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = answer.at("/error/in_the_way");
    found.as_array().unwrap().iter().map(|entry| (text(&entry["resource_id"]), text(&entry["reason"]))).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn everything_that_a_run_wrote_is_taken_back(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let (one, two) = (team.calendar.clone(), calendar_of(&api, &team.organizer).await);
    let changed = event(&api, &one, "2038-03-10T09:00:00Z", "2038-03-10T10:00:00Z").await;
    let moved = event(&api, &one, "2038-03-11T09:00:00Z", "2038-03-11T10:00:00Z").await;
    let deleted = event(&api, &one, "2038-03-12T09:00:00Z", "2038-03-12T10:00:00Z").await;
    let (split, gone) = (daily(&api, &one).await, daily(&api, &two).await);
    let before = shown(&api, &[&one, &two]).await;

    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let created = of_run(api.post(events(&one))).json(body.clone()).await.expect(201).id();
    of_run(api.patch(format!("/v1/events/{created}"))).json(json!({ "title": "Newer" })).await.expect(200);
    let fleeting = of_run(api.post(events(&one))).json(body.clone()).await.expect(201).id();
    of_run(api.delete(format!("/v1/events/{fleeting}"))).await.expect(204);
    let batch = json!({ "events": [body.clone(), body] });
    of_run(api.post(format!("{}/batch", events(&two)))).json(batch).await.expect(201);
    let title = json!({ "title": "Changed", "metadata": { "by": "run" } });
    of_run(api.patch(format!("/v1/events/{changed}"))).json(title).await.expect(200);
    let there = json!({ "calendar_id": two });
    of_run(api.post(format!("/v1/events/{moved}/move"))).json(there).await.expect(200);
    of_run(api.delete(format!("/v1/events/{deleted}"))).await.expect(204);
    let later = json!({ "title": "Sync", "start_time": "2038-03-03T10:15:00Z" });
    of_run(api.patch(format!("{}?scope=following", occurrence(&split, 3)))).json(later).await.expect(200);
    of_run(api.patch(occurrence(&split, 2))).json(json!({ "title": "Moved" })).await.expect(200);
    of_run(api.delete(occurrence(&split, 1))).await.expect(204);
    of_run(api.patch(occurrence(&gone, 7))).json(json!({ "title": "Moved" })).await.expect(200);
    of_run(api.delete(format!("/v1/events/{gone}"))).await.expect(204);
    let until = in_seconds(&api, 600).await;
    let set = set_body(&[&one, &two], "2038-03-14T09:00:00Z", "2038-03-14T10:00:00Z", &until);
    let set = of_run(api.post("/v1/hold-sets")).json(set).await.expect(201).id();
    of_run(api.put(format!("/v1/hold-sets/{set}/confirm"))).await.expect(200);
    let offered = team.body(&[slot("14:00", "15:00")], &json!({ "hold_slots": true }));
    let proposal = of_run(api.post("/v1/scheduling/proposals")).json(offered).await.expect(201).id();

    let during = shown(&api, &[&one, &two]).await;
    assert_ne!(during, before);
    let run = api.get("/v1/runs/plan").await.expect(200);
    let writes = run["writes"].as_array().unwrap().clone();
    assert!(writes.iter().all(|write| write["undone_at"].is_null()), "{}", run.describe());
    assert_eq!((&run["name"], &writes[0]["operation"]), (&json!("plan"), &json!("createEvent")));
    assert_eq!(writes[0]["resource_id"], json!(created));

    // A dry run shows what an undo would do.
    let dry = api.post("/v1/runs/plan/undo?dry_run=true").await.expect(200);
    assert_eq!(dry.header("kalends-dry-run"), "true");
    assert_eq!(shown(&api, &[&one, &two]).await, during);
    assert_eq!(api.get("/v1/runs/plan").await.expect(200).json, run.json);

    let undone = undo(&api).await.expect(200);
    assert_eq!(undone.json, dry.json);
    let done = actions(&undone);
    for (id, action) in [
        (&created, "removed"),
        (&changed, "restored"),
        (&moved, "restored"),
        (&deleted, "restored"),
        (&split, "restored"),
        (&gone, "restored"),
        (&proposal, "cancelled"),
    ] {
        assert!(done.contains(&(id.clone(), action.to_owned())), "{id} {action}: {done:#?}");
    }
    assert!(done.iter().all(|(id, _)| *id != fleeting), "{done:#?}");
    assert_eq!(shown(&api, &[&one, &two]).await, before);
    assert_eq!(get_proposal(&api, &proposal).await["status"], "cancelled");
    api.get(format!("/v1/hold-sets/{set}")).await.refused(404, "not_found");
    // Mirrors, versions and lists go on from there.
    let renamed = api.patch(format!("/v1/events/{gone}")).json(json!({ "title": "Again" })).await.expect(200);
    assert_eq!(renamed["title"], "Again");

    let again = undo(&api).await.expect(200);
    assert!(actions(&again).is_empty(), "{}", again.describe());
    let run = api.get("/v1/runs/plan").await.expect(200);
    let is_undone = |write: &Value| write["undone_at"].is_string();
    assert!(run["writes"].as_array().unwrap().iter().all(is_undone), "{}", run.describe());
    // A later write of the same name is a new one.
    of_run(api.delete(format!("/v1/events/{deleted}"))).await.expect(204);
    assert_eq!(actions(&undo(&api).await.expect(200)), [(deleted, "restored".to_owned())]);
}

#[apply(on_both)]
#[tokio::test]
async fn what_somebody_else_has_changed_blocks_the_whole_undo(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let kept = of_run(api.post(events(&calendar))).json(body.clone()).await.expect(201).id();
    let changed = of_run(api.post(events(&calendar))).json(body).await.expect(201).id();
    let series = daily(&api, &calendar).await;
    of_run(api.patch(occurrence(&series, 8))).json(json!({ "title": "Moved" })).await.expect(200);
    let own = format!("/v1/events/{changed}");
    api.patch(&own).json(json!({ "title": "Mine" })).await.expect(200);
    let changed = (changed, "changed".to_owned());
    assert_eq!(in_the_way(undo(&api).await), std::slice::from_ref(&changed));
    // It stays changed when the run writes it again.
    of_run(api.patch(&own)).json(json!({ "title": "New" })).await.expect(200);
    assert_eq!(in_the_way(api.post("/v1/runs/plan/undo?dry_run=true").await), std::slice::from_ref(&changed));
    // A change of another occurrence changes the series.
    api.patch(occurrence(&series, 9)).json(json!({ "title": "Moved" })).await.expect(200);
    assert_eq!(in_the_way(undo(&api).await), [changed, (series.clone(), "changed".to_owned())]);
    assert_eq!(api.get(format!("/v1/events/{kept}")).await.expect(200)["title"], "New", "nothing was taken back");
    assert_eq!(api.get(occurrence(&series, 8)).await.expect(200)["title"], "Moved");
}

#[apply(on_both)]
#[tokio::test]
async fn a_time_that_must_be_free_is_taken_only_if_it_is(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, _) = agent_with_calendar(&api).await;
    let room = json!({ "name": "Room", "timezone": "UTC", "conflicts": "refuse" });
    let room = api.post(format!("/v1/agents/{agent}/calendars")).json(room).await.expect(201).id();
    let (start, end) = ("2038-03-10T09:00:00Z", "2038-03-10T10:00:00Z");
    let first = event(&api, &room, start, end).await;

    // The time that the run itself took is free again.
    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    let own = of_run(api.post(events(&room))).json(event_body("Own", start, end)).await.expect(201).id();
    let expected = [(first.clone(), "restored".to_owned()), (own, "removed".to_owned())];
    assert_eq!(actions(&undo(&api).await.expect(200)), expected);

    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    let foreign = event(&api, &room, start, end).await;
    assert_eq!(in_the_way(undo(&api).await), [(first.clone(), "time_taken".to_owned())]);
    api.delete(format!("/v1/events/{foreign}")).await.expect(204);
    undo(&api).await.expect(200);
    assert_eq!(api.get(format!("/v1/events/{first}")).await.expect(200).id(), first);

    // So is the time of a hold.
    let held = json!({
        "title": "Held", "start_time": "2038-03-11T09:00:00Z", "end_time": "2038-03-11T10:00:00Z", "status": "hold",
        "hold_expires_at": in_seconds(&api, 600).await
    });
    let hold = api.post(events(&room)).json(held).await.expect(201).id();
    of_run(api.put(format!("/v1/events/{hold}/release"))).await.expect(200);
    let foreign = event(&api, &room, "2038-03-11T09:30:00Z", "2038-03-11T09:45:00Z").await;
    assert_eq!(in_the_way(undo(&api).await), [(hold.clone(), "time_taken".to_owned())]);
    api.delete(format!("/v1/events/{foreign}")).await.expect(204);
    undo(&api).await.expect(200);
    assert_eq!(api.get(format!("/v1/events/{hold}")).await.expect(200)["status"], "hold");

    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    api.delete(format!("/v1/calendars/{room}")).await.expect(204);
    assert_eq!(in_the_way(undo(&api).await), [(first, "calendar_deleted".to_owned())]);
}

#[apply(on_both)]
#[tokio::test]
async fn other_events_of_the_run_count_as_they_are_after_the_undo(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let room = json!({ "name": "Room", "timezone": "UTC", "conflicts": "refuse" });
    let room = api.post(format!("/v1/agents/{}/calendars", team.organizer)).json(room).await.expect(201).id();
    let (start, end) = ("2038-03-10T10:00:00Z", "2038-03-10T11:00:00Z");
    let first = event(&api, &room, start, end).await;
    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    let foreign = event(&api, &room, start, end).await;
    let renamed = format!("/v1/events/{foreign}");
    of_run(api.patch(&renamed)).json(json!({ "title": "Renamed" })).await.expect(200);
    assert_eq!(in_the_way(undo(&api).await), [(first.clone(), "time_taken".to_owned())]);
    // The run moves it away, and the undo would move it back.
    let later = json!({ "start_time": "2038-03-10T12:00:00Z", "end_time": "2038-03-10T13:00:00Z" });
    of_run(api.patch(&renamed)).json(later).await.expect(200);
    let blocked = in_the_way(undo(&api).await);
    assert!(!blocked.is_empty() && blocked.iter().all(|(_, reason)| reason == "time_taken"), "{blocked:?}");
    api.delete(&renamed).await.expect(204);
    assert_eq!(in_the_way(undo(&api).await), [(foreign, "changed".to_owned())]);

    // Two events that overlapped before the run may overlap again.
    let lax = json!({ "name": "Lax", "timezone": "UTC" });
    let lax = api.post(format!("/v1/agents/{}/calendars", team.organizer)).json(lax).await.expect(201).id();
    let both = [event(&api, &lax, start, end).await, event(&api, &lax, start, end).await];
    api.patch(format!("/v1/calendars/{lax}")).json(json!({ "conflicts": "refuse" })).await.expect(200);
    for id in &both {
        api.delete(format!("/v1/events/{id}")).header("kalends-run", "both").await.expect(204);
    }
    let expected = both.map(|id| (id, "restored".to_owned()));
    assert_eq!(actions(&api.post("/v1/runs/both/undo").await.expect(200)), expected);

    // The time that a proposal of the run reserves is free again.
    let offered = slot("14:00", "15:00");
    let (start, end) = (offered["start_time"].as_str().unwrap(), offered["end_time"].as_str().unwrap());
    let replaced = event(&api, &room, start, end).await;
    api.delete(format!("/v1/events/{replaced}")).header("kalends-run", "offer").await.expect(204);
    let body = team.body(std::slice::from_ref(&offered), &json!({ "hold_slots": true, "calendar_id": room }));
    let proposal =
        api.post("/v1/scheduling/proposals").header("kalends-run", "offer").json(body).await.expect(201).id();
    let expected = [(replaced, "restored".to_owned()), (proposal, "cancelled".to_owned())];
    assert_eq!(actions(&api.post("/v1/runs/offer/undo").await.expect(200)), expected);
}

#[apply(on_both)]
#[tokio::test]
async fn a_run_belongs_to_its_owner(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let (other, elsewhere) = agent_with_calendar(&api).await;
    let (own, sibling) = (key_of(&server, &api, &agent).await, key_of(&server, &api, &other).await);
    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let mine = of_run(own.post(events(&calendar))).json(body.clone()).await.expect(201).id();
    let theirs = of_run(sibling.post(events(&elsewhere))).json(body).await.expect(201).id();
    api.get("/v1/runs/plan").await.refused(404, "not_found");
    let read = |client: &Client, agent: &str| client.get(format!("/v1/runs/plan?agent_id={agent}"));
    for (client, agent, written) in [(&own, &agent, &mine), (&sibling, &other, &theirs), (&api, &agent, &mine)] {
        let run = read(client, agent).await.expect(200);
        assert_eq!((run["writes"].as_array().unwrap().len(), run.at("/writes/0/resource_id")), (1, json!(written)));
    }
    read(&own, &other).await.refused(403, "forbidden");
    own.post(format!("/v1/runs/plan/undo?agent_id={other}")).await.refused(403, "forbidden");
    assert_eq!(actions(&undo(&sibling).await.expect(200)), [(theirs, "removed".to_owned())]);
    assert_eq!(api.get(format!("/v1/events/{mine}")).await.expect(200).id(), mine);
    let undone = api.post(format!("/v1/runs/plan/undo?agent_id={agent}")).await.expect(200);
    assert_eq!(actions(&undone), [(mine, "removed".to_owned())]);

    // An agent's key cannot take back what moved out of its reach.
    let moved = event(&api, &calendar, "2038-03-14T09:00:00Z", "2038-03-14T10:00:00Z").await;
    of_run(own.patch(format!("/v1/events/{moved}"))).json(json!({ "title": "Moved" })).await.expect(200);
    api.post(format!("/v1/events/{moved}/move")).json(json!({ "calendar_id": elsewhere })).await.expect(200);
    undo(&own).await.refused(403, "forbidden");
}

#[apply(on_both)]
#[tokio::test]
async fn what_cannot_be_taken_back_takes_no_run(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    let proposal = team.propose(&api, &[slot("14:00", "15:00")], json!({})).await.id();
    // The description lists the header only where it is allowed.
    let bold = api.undescribed();
    let (agents, page) = (api.get("/v1/agents").await.expect(200)["total"].clone(), "/v1/booking-pages");
    let refused = [
        bold.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })),
        bold.post(format!("/v1/scheduling/proposals/{proposal}/cancel")),
        bold.post(page).json(json!({ "calendar_id": team.calendar, "title": "x" })),
        bold.post("/v1/bookings/bkg_00000000000000000000000000/cancel"),
        bold.post("/v1/runs/plan/undo"),
    ];
    for call in refused {
        let refused = of_run(call).await.expect(400);
        assert_eq!(refused.at("/error/code"), "not_undoable", "{}", refused.describe());
        assert_eq!(refused.at("/error/param"), "Kalends-Run");
        refused.mentions("createEvent");
    }
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], agents);
    assert_eq!(get_proposal(&api, &proposal).await["status"], "pending");
    // Reads ignore the header, whatever it says.
    bold.get("/v1/agents").header("kalends-run", "two words").await.expect(200);
    // So do routes without a key.
    let page = json!({ "calendar_id": team.calendar, "title": "x" });
    let slug = api.post("/v1/booking-pages").json(page).await.expect(201)["slug"].as_str().unwrap().to_owned();
    let guest = server.anonymous().undescribed();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    let booking = json!({ "name": "Ada", "email": "ada@example.com", "start": slots["slots"][40]["start"] });
    let booked = guest.post(format!("/book/{slug}")).header("kalends-run", "two words").json(booking);
    booked.await.expect(201);
    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let call = bold.post(events(&team.calendar)).header("kalends-run", "two words").json(body.clone());
    call.await.refused(400, "validation_error").param("Kalends-Run");
    // A dry run is not recorded, and neither is a write that is refused.
    of_run(api.post(format!("{}?dry_run=true", events(&team.calendar)))).json(body).await.expect(201);
    of_run(api.post(events(&team.calendar))).json(json!({ "title": "x" })).await.refused(400, "validation_error");
    let missing = api.get("/v1/runs/plan").await.refused(404, "not_found");
    assert_eq!(missing.at("/error/code"), "run_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_with_a_response_is_in_the_way(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let offered = team.body(&[slot("14:00", "15:00")], &json!({}));
    let proposal = of_run(api.post("/v1/scheduling/proposals")).json(offered).await.expect(201).id();
    let declines = json!({ "agent_id": team.participants[0], "response": "decline" });
    api.post(format!("/v1/scheduling/proposals/{proposal}/respond")).json(declines).await.expect(200);
    assert_eq!(in_the_way(undo(&api).await), [(proposal.clone(), "changed".to_owned())]);
    // Once it has ended, there is nothing to take back.
    api.post(format!("/v1/scheduling/proposals/{proposal}/cancel")).await.expect(200);
    assert!(actions(&undo(&api).await.expect(200)).is_empty());
}

#[apply(on_both)]
#[tokio::test]
async fn subscribers_see_what_an_undo_does(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let deleted = event(&api, &calendar, "2038-03-10T09:00:00Z", "2038-03-10T10:00:00Z").await;
    let changed = event(&api, &calendar, "2038-03-11T09:00:00Z", "2038-03-11T10:00:00Z").await;
    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let created = of_run(api.post(events(&calendar))).json(body).await.expect(201).id();
    of_run(api.delete(format!("/v1/events/{deleted}"))).await.expect(204);
    of_run(api.patch(format!("/v1/events/{changed}"))).json(json!({ "title": "Other" })).await.expect(200);
    hook(&api, &receiver, "/", &["event.created", "event.updated", "event.deleted"]).await;
    undo(&api).await.expect(200);
    for (kind, id) in [("event.created", &deleted), ("event.updated", &changed), ("event.deleted", &created)] {
        let received = receiver.wait_for_type("/", kind).await;
        assert_eq!(received.json()["id"], json!(id), "{kind}");
    }
    let entry = api.get("/v1/audit-log?action=run.undo").await.expect(200).data();
    assert_eq!((entry.len(), &entry[0]["resource"]), (1, &json!("plan")));
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_takes_its_task_back(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let asked = json!({
        "calendar_id": calendar, "title": "Call", "start": "2031-03-05T14:00", "duration_minutes": 30,
        "timezone": "UTC", "run": "my task"
    });
    let wrong = core_tools::wrong(&api, "create_event", asked.clone()).await;
    assert_eq!(wrong["param"], "run", "{wrong:#}");
    let mut asked = asked;
    asked["run"] = json!("my-task");
    let mut dry = asked.clone();
    dry["dry_run"] = json!(true);
    assert_eq!(core_tools::run(&api, "create_event", dry).await["dry_run"], true);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);
    let made = core_tools::run(&api, "create_event", asked).await;
    assert!(made.get("dry_run").is_none(), "{made:#}");
    let shown = core_tools::run(&api, "undo_run", json!({ "run": "my-task", "dry_run": true })).await;
    assert_eq!((&shown["dry_run"], &shown["undone"][0]["action"]), (&json!(true), &json!("removed")));
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 1);
    let undone = core_tools::run(&api, "undo_run", json!({ "run": "my-task" })).await;
    assert_eq!(undone["undone"], shown["undone"]);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);
    // Any operation takes the same arguments.
    let (start, end) = (MONDAY, shifted(MONDAY, 30));
    let arguments = json!({ "cal_id": calendar, "title": "x", "start_time": start, "end_time": end, "run": "my-task" });
    core_tools::run(&api, "call_operation", json!({ "operation": "createEvent", "arguments": arguments })).await;
    assert_eq!(core_tools::run(&api, "undo_run", json!({ "run": "my-task" })).await["undone"][0]["action"], "removed");
}

#[apply(on_both)]
#[tokio::test]
async fn a_booked_event_comes_back_only_for_its_guest(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let page = json!({ "calendar_id": calendar, "title": "x" });
    let slug = api.post("/v1/booking-pages").json(page).await.expect(201)["slug"].as_str().unwrap().to_owned();
    let guest = server.anonymous();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    let start = slots["slots"][40]["start"].clone();
    let book = async |name: &str| {
        let booking = json!({ "name": name, "email": "ada@example.com", "start": start });
        let booked = guest.post(format!("/book/{slug}")).json(booking).await.expect(201);
        let url = booked["cancel_url"].as_str().unwrap().to_owned();
        url[url.find("/book/").unwrap()..].to_owned()
    };
    let cancel_first = book("Ada").await;
    let first = api.get(events(&calendar)).await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    assert_eq!(actions(&undo(&api).await.expect(200)), [(first.clone(), "restored".to_owned())]);

    // Another guest books the slot.
    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    let cancel_second = book("Bob").await;
    assert_eq!(in_the_way(undo(&api).await), [(first.clone(), "time_taken".to_owned())]);
    guest.post(&cancel_second).await.expect(200);
    assert_eq!(actions(&undo(&api).await.expect(200)), [(first.clone(), "restored".to_owned())]);

    // The guest cancels, although the event is gone.
    of_run(api.delete(format!("/v1/events/{first}"))).await.expect(204);
    let cancelled = guest.post(&cancel_first).await.expect(200);
    assert_eq!(guest.post(&cancel_first).await.expect(200).json, cancelled.json);
    assert_eq!(in_the_way(undo(&api).await), [(first, "changed".to_owned())]);
}

/// A booking has an event on each calendar. A run deletes one of them, and the other takes place.
#[apply(on_both)]
#[tokio::test]
async fn an_event_of_several_comes_back_only_for_its_guest(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let mut calendars = Vec::new();
    for _ in 0..2 {
        calendars.push(agent_with_calendar(&api).await.1);
    }
    let page = json!({
        "calendar_id": calendars[0], "calendars": [calendars[1]], "assignment": "collective", "title": "x"
    });
    let page = api.post("/v1/booking-pages").json(page).await.expect(201);
    let (id, slug) = (page.id(), page["slug"].as_str().unwrap());
    let guest = server.anonymous();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    let path = |url: &Value| {
        let url = url.as_str().unwrap();
        url[url.find("/book/").unwrap()..].to_owned()
    };
    for (round, (how, calendar)) in
        [("guest", 0), ("guest", 1), ("host", 0), ("host", 1), ("moved", 1)].into_iter().enumerate()
    {
        let start = |place: usize| &slots["slots"][20 + 4 * round + place]["start"];
        let booking = json!({ "name": "Ada", "email": format!("ada-{round}@example.com"), "start": start(0) });
        let booked = guest.post(format!("/book/{slug}")).json(booking).await.expect(201);
        let confirmed = api.get(format!("/v1/booking-pages/{id}/bookings")).query(&[("status", "confirmed")]);
        let confirmed = confirmed.await.expect(200).data().remove(0);
        let event = api.get(events(&calendars[calendar])).await.expect(200).data().remove(0);
        let event = event["id"].as_str().unwrap().to_owned();
        let run = format!("round-{round}");
        let delete = async || api.delete(format!("/v1/events/{event}")).header("kalends-run", &run).await.expect(204);
        let undo = async || api.post(format!("/v1/runs/{run}/undo")).await;
        delete().await;
        assert_eq!(actions(&undo().await.expect(200)), [(event.clone(), "restored".to_owned())], "{how}");
        delete().await;
        let (left, answer) = match how {
            "guest" => (0, guest.post(path(&booked["cancel_url"])).await),
            "host" => (0, api.post(format!("/v1/bookings/{}/cancel", confirmed["id"].as_str().unwrap())).await),
            _ => (1, guest.post(path(&booked["reschedule_url"])).json(json!({ "start": start(2) })).await),
        };
        answer.expect(200);
        assert_eq!(in_the_way(undo().await), [(event, "changed".to_owned())], "{how}");
        for (place, of) in calendars.iter().enumerate() {
            let total = if place == calendar { 0 } else { left };
            assert_eq!(api.get(events(of)).await.expect(200)["total"], total, "{how}");
        }
    }
}

/// The guest got an email about the cancellation, so it belongs to no run, and nothing brings the event back.
#[apply(on_both)]
#[tokio::test]
async fn a_booking_that_its_host_cancelled_does_not_come_back(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let page = api.post("/v1/booking-pages").json(json!({ "calendar_id": calendar, "title": "x" })).await.expect(201);
    let (id, slug) = (page.id(), page["slug"].as_str().unwrap());
    let guest = server.anonymous();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    let booking = json!({ "name": "Ada", "email": "ada@example.com", "start": slots["slots"][40]["start"] });
    guest.post(format!("/book/{slug}")).json(booking).await.expect(201);
    let booked = api.get(format!("/v1/booking-pages/{id}/bookings")).await.expect(200).data().remove(0);
    let event = booked["event_id"].as_str().unwrap();
    let cancel = format!("/v1/bookings/{}/cancel", booked["id"].as_str().unwrap());
    of_run(api.patch(format!("/v1/events/{event}"))).json(json!({ "location": "Room 1" })).await.expect(200);
    let refused = of_run(api.undescribed().post(&cancel)).await.refused(400, "validation_error").code("not_undoable");
    refused.param("Kalends-Run").mentions("cancelBookingAsHost cannot be taken back");
    api.post(&cancel).await.expect(200);
    assert_eq!(in_the_way(undo(&api).await), [(event.to_owned(), "changed".to_owned())]);
}

/// Whichever of the two comes first, no event is left for a guest who has cancelled.
#[apply(on_both)]
#[tokio::test]
async fn an_undo_at_the_moment_of_a_cancellation_leaves_no_event_without_its_guest(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let page = json!({ "calendar_id": calendar, "title": "x" });
    let slug = api.post("/v1/booking-pages").json(page).await.expect(201)["slug"].as_str().unwrap().to_owned();
    let guest = server.anonymous();
    let slots = guest.get(format!("/book/{slug}/slots")).await.expect(200);
    for round in 0..4 {
        let booking = json!({ "name": "Ada", "email": "ada@example.com", "start": slots["slots"][40]["start"] });
        let booked = guest.post(format!("/book/{slug}")).json(booking).await.expect(201);
        let url = booked["cancel_url"].as_str().unwrap();
        let cancel = &url[url.find("/book/").unwrap()..];
        let id = api.get(events(&calendar)).await.expect(200).data()[0]["id"].as_str().unwrap().to_owned();
        let run = format!("round-{round}");
        api.delete(format!("/v1/events/{id}")).header("kalends-run", &run).await.expect(204);
        let undo = async { api.post(format!("/v1/runs/{run}/undo")).await };
        let (undone, cancelled) = tokio::join!(undo, async { guest.post(cancel).await });
        cancelled.expect(200);
        if undone.status != 200 {
            assert_eq!(in_the_way(undone), [(id, "changed".to_owned())]);
        }
        assert_eq!(api.get(events(&calendar)).await.expect(200).data(), Vec::<Value>::new());
    }
}

/// The header of a message is the default of the argument.
#[apply(on_both)]
#[tokio::test]
async fn the_header_names_the_run_of_a_tool(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let bold = api.undescribed();
    let called = async |sets: &str, run: &str, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
        let call = bold.post(format!("/mcp?tools={sets}")).json(body).header("mcp-protocol-version", "2025-06-18");
        call.header("kalends-run", run).await
    };
    let done = |answer: Answer| assert_eq!(answer.expect(200).at("/result/isError"), false);
    let written = async |run: &str| api.get(format!("/v1/runs/{run}")).await.expect(200)["writes"].clone();
    let asked = json!({
        "calendar_id": calendar, "title": "Call", "start": "2031-03-05T14:00", "duration_minutes": 30, "timezone": "UTC"
    });
    let mut named = asked.clone();
    (named["run"], named["start"]) = (json!("other"), json!("2031-03-05T15:00"));
    let whole = json!({
        "cal_id": calendar, "title": "x", "start_time": MONDAY, "end_time": shifted(MONDAY, 30)
    });
    done(called("core", "plan", "create_event", asked.clone()).await);
    done(called("core", "plan", "create_event", named).await);
    done(called("all", "plan", "createEvent", whole).await);
    // What cannot belong to a run has no such argument.
    done(called("all", "plan", "createAgent", json!({ "name": "Bot", "type": "ai" })).await);
    assert_eq!(written("plan").await.as_array().unwrap().len(), 2);
    assert_eq!(written("other").await.as_array().unwrap().len(), 1);
    called("core", "two words", "create_event", asked).await.refused(400, "validation_error").param("Kalends-Run");
    done(called("core", "plan", "undo_run", json!({ "run": "plan" })).await);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_run_has_at_most_500_writes(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "custom").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let body = event_body("New", "2038-03-13T09:00:00Z", "2038-03-13T10:00:00Z");
    let batch = |count: usize| json!({ "events": vec![body.clone(); count] });
    let add = |count: usize| of_run(api.post(format!("{}/batch", events(&calendar)))).json(batch(count));
    for count in [100, 100, 100, 100, 99] {
        add(count).await.expect(201);
    }
    let full = add(2).await.expect(400).code("not_undoable").param("Kalends-Run");
    full.mentions("another name");
    add(1).await.expect(201);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 500);
    assert_eq!(actions(&undo(&api).await.expect(200)).len(), 500);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);
    of_run(api.post(events(&calendar))).json(body).await.expect(400).code("not_undoable").mentions("another name");
}

#[apply(on_both)]
#[tokio::test]
async fn attendees_get_emails_about_an_undo_only_if_it_says_so(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let invited = host.invited(people(&[ADA]), json!({})).await;
    let path = format!("/v1/events/{}", invited.id);
    of_run(host.api.delete(format!("{path}?send_invitations=true"))).await.expect(204);
    let sequence = sent(&host.mails(1).await, "CANCEL", &[ADA], &invited.id, invited.sequence);
    host.api.post("/v1/runs/plan/undo?send_invitations=true").await.expect(200);
    sent(&host.mails(1).await, "REQUEST", &[ADA], &invited.id, sequence);
    of_run(host.api.patch(&path)).json(json!({ "title": "Other" })).await.expect(200);
    undo(&host.api).await.expect(200);
    host.nothing_more().await;
    // A series comes back with its changed occurrence.
    let series = host.invited(people(&[ADA]), json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })).await;
    let (first, gone) = (format!("/v1/events/{}_20310507T103000Z", series.id), format!("/v1/events/{}", series.id));
    host.api.patch(first).json(json!({ "title": "Other" })).await.expect(200);
    of_run(host.api.delete(gone)).await.expect(204);
    host.api.post("/v1/runs/plan/undo?send_invitations=true").await.expect(200);
    let mails = host.mails(1).await;
    assert_eq!((mails[0].to.as_str(), mails[0].invitation.matches("BEGIN:VEVENT").count()), (ADA, 2));
    assert!(mails[0].invitation.contains("METHOD:REQUEST"), "{:#?}", mails[0]);
}
