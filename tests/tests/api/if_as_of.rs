//! Holds, their confirmation, and events that depend on an earlier availability answer.

use crate::on_both;
use chrono::{Duration, SecondsFormat};
use kalends_e2e::{Call, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, calendar_of, event, now, shared_calendar};

/// A time on the day of these tests.
fn at(hour: &str) -> String {
    format!("2030-05-06T{hour}:00Z")
}

/// The service's time plus this many minutes.
async fn soon(api: &Client, minutes: i64) -> String {
    (kalends_e2e::at(&now(api).await) + Duration::minutes(minutes)).to_rfc3339_opts(SecondsFormat::Secs, true)
}

async fn hold(api: &Client, calendar: &str, start: &str, end: &str, if_as_of: &Value) -> Call {
    api.post(format!("/v1/calendars/{calendar}/events")).json(json!({
        "title": "Maybe", "start_time": at(start), "end_time": at(end), "hold_expires_at": soon(api, 10).await,
        "if_as_of": if_as_of
    }))
}

/// The `as_of` of the current availability.
async fn as_of(api: &Client, path: &str) -> Value {
    let range = [("start", at("00:00")), ("end", at("23:00")), ("slot_duration", "30m".to_owned())];
    let range: Vec<(&str, &str)> = range.iter().map(|(name, value)| (*name, value.as_str())).collect();
    api.get(path).query(&range).await.expect(200)["as_of"].clone()
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_refused_if_a_relevant_change_happened_since(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &agent).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let rules = format!("/v1/calendars/{calendar}/availability-rules");
    let buffers = json!({ "buffer_before_minutes": 15, "buffer_after_minutes": 30, "timezone": "UTC" });
    api.put(&rules).json(buffers.clone()).await.expect(200);
    let seen = as_of(&api, &of_agent).await;

    // Events at other times, deleted events and events next to the hold's time do not matter.
    event(&api, &calendar, &at("07:00"), &at("08:00")).await;
    event(&api, &calendar, &at("11:15"), &at("12:00")).await;
    event(&api, &second, &at("11:00"), &at("12:00")).await;
    let gone = event(&api, &calendar, &at("10:00"), &at("11:00")).await;
    api.delete(format!("/v1/events/{gone}")).await.expect(204);
    let id = hold(&api, &calendar, "10:00", "11:00", &seen).await.await.expect(201).id();
    api.put(format!("/v1/events/{id}/release")).await.expect(200);

    // The buffer of the next event overlaps the hold's time, although the event does not.
    let after = event(&api, &calendar, &at("11:10"), &at("11:15")).await;
    let refused = hold(&api, &calendar, "10:00", "11:00", &seen).await.await.refused(409, "conflict").code("stale");
    let refused = refused.param("if_as_of");
    let conflicts = refused["error"]["conflicts"].clone();
    let expected = json!([{ "calendar_id": calendar, "kind": "event", "start": at("11:10") , "end": at("11:15") }]);
    assert_eq!(conflicts.to_string().replace(":00Z", "Z"), expected.to_string().replace(":00Z", "Z"));
    let nearest = refused["error"]["nearest_free"].as_array().unwrap().clone();
    assert_eq!(nearest.len(), 3, "{nearest:?}");
    assert_eq!(nearest[0], json!({ "start": "2030-05-06T09:00:00Z", "end": "2030-05-06T10:00:00Z" }));
    // A hold with a new `as_of` succeeds.
    let renewed = as_of(&api, &of_agent).await;
    let id = hold(&api, &calendar, "10:00", "11:00", &renewed).await.await.expect(201).id();
    api.delete(format!("/v1/events/{id}")).await.expect(204);
    api.delete(format!("/v1/events/{after}")).await.expect(204);

    // A change on another calendar of the answer counts too. A series counts by its occurrences.
    let seen = as_of(&api, &of_agent).await;
    let daily = json!({ "title": "Daily", "start_time": "2030-05-01T10:30:00Z", "end_time": "2030-05-01T11:30:00Z",
        "recurrence_rule": "FREQ=DAILY;COUNT=20" });
    api.post(format!("/v1/calendars/{second}/events")).json(daily).await.expect(201);
    let refused = hold(&api, &calendar, "10:00", "11:00", &seen).await.await.refused(409, "conflict").code("stale");
    assert_eq!(refused["error"]["conflicts"][0]["start"], "2030-05-06T10:30:00Z");
    assert_eq!(refused["error"]["conflicts"][0]["calendar_id"], json!(second));
    hold(&api, &calendar, "13:00", "14:00", &seen).await.await.expect(201);

    // A change of the rules always counts.
    let seen = as_of(&api, &of_agent).await;
    api.put(&rules).json(buffers).await.expect(200);
    hold(&api, &calendar, "15:00", "16:00", &seen).await.await.refused(409, "conflict").code("stale").mentions("rules");
}

#[apply(on_both)]
#[tokio::test]
async fn as_of_must_cover_the_calendars(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let other = shared_calendar(&api, "UTC").await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let seen = as_of(&api, &of_agent).await;
    for wrong in [json!("x"), json!("AQEB"), json!("")] {
        hold(&api, &calendar, "10:00", "11:00", &wrong).await.await.refused(400, "validation_error").param("if_as_of");
    }
    let refused = hold(&api, &other, "10:00", "11:00", &seen).await.await.refused(400, "validation_error");
    refused.param("if_as_of").mentions(&other);
    let series = json!({ "title": "x", "start_time": at("10:00"), "end_time": at("11:00"), "if_as_of": seen,
        "recurrence_rule": "FREQ=DAILY;COUNT=3" });
    let refused = api.post(format!("/v1/calendars/{calendar}/events")).json(series).await;
    refused.refused(400, "validation_error").param("if_as_of").mentions("if_free");

    // A hold set depends on one answer that covers all its calendars.
    let both = as_of(&api, &format!("/v1/calendars/{other}/availability")).await;
    let set = json!({ "title": "Both", "start_time": at("10:00"), "end_time": at("11:00"),
        "calendar_ids": [calendar, other], "hold_expires_at": soon(&api, 5).await, "if_as_of": both });
    api.post("/v1/hold-sets").json(set).await.refused(400, "validation_error").param("if_as_of").mentions(&calendar);
    let second = calendar_of(&api, &agent).await;
    let seen = as_of(&api, &of_agent).await;
    let mut set = json!({ "title": "Both", "start_time": at("10:00"), "end_time": at("11:00"),
        "calendar_ids": [calendar, second], "hold_expires_at": soon(&api, 5).await, "if_as_of": seen });
    event(&api, &second, &at("10:30"), &at("10:45")).await;
    let refused = api.post("/v1/hold-sets").json(set.clone()).await.refused(409, "conflict").code("stale");
    assert_eq!(refused["error"]["conflicts"][0]["calendar_id"], json!(second));
    set["start_time"] = json!(at("12:00"));
    set["end_time"] = json!(at("13:00"));
    let placed = api.post("/v1/hold-sets?local=true").json(set).await.expect(201);
    assert_eq!(placed["holds"].as_array().unwrap().len(), 2);
    assert_eq!(placed["holds"][1]["local"]["weekday"], "monday");
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_refused_if_a_relevant_change_happened_since(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let events = format!("/v1/calendars/{calendar}/events");
    let new = |start: &str, end: &str, seen: &Value| json!({ "title": "Talk", "start_time": at(start), "end_time": at(end), "if_as_of": seen });
    let seen = as_of(&api, &of_agent).await;
    event(&api, &calendar, &at("07:00"), &at("08:00")).await;
    let talk = api.post(&events).json(new("10:00", "11:00", &seen)).await.expect(201).id();

    // The event itself blocks by now.
    let refused = api.post(&events).json(new("10:30", "11:30", &seen)).await.refused(409, "conflict").code("stale");
    let refused = refused.param("if_as_of");
    assert_eq!(refused["error"]["conflicts"][0]["start"], "2030-05-06T10:00:00Z");
    assert_eq!(refused["error"]["nearest_free"][0]["start"], "2030-05-06T11:30:00Z");
    let batch = json!({ "events": [new("13:00", "14:00", &seen), new("10:45", "10:50", &seen)] });
    let refused = api.post(format!("{events}/batch")).json(batch).await.refused(409, "conflict").code("stale");
    refused.param("events[1]");

    // An event that moves is not in its own way, and a change without new times asks about the time that it has.
    let talk_path = format!("/v1/events/{talk}");
    let to = |start: &str, end: &str, seen: &Value| json!({ "start_time": at(start), "end_time": at(end), "if_as_of": seen });
    api.patch(&talk_path).json(to("10:15", "11:15", &seen)).await.expect(200);
    api.patch(&talk_path).json(json!({ "title": "Keynote", "if_as_of": seen })).await.expect(200);
    let lunch = event(&api, &calendar, &at("12:00"), &at("13:00")).await;
    let refused = api.patch(&talk_path).json(to("12:30", "13:30", &seen)).await.refused(409, "conflict").code("stale");
    assert_eq!(refused["error"]["conflicts"][0]["end"], "2030-05-06T13:00:00Z");
    let renewed = as_of(&api, &of_agent).await;
    api.patch(&talk_path).json(to("12:30", "13:30", &renewed)).await.expect(200);
    api.delete(format!("/v1/events/{lunch}")).await.expect(204);

    // One occurrence is like an event. Several are like a series.
    let daily = json!({ "title": "Daily", "start_time": at("15:00"), "end_time": at("15:30"),
        "recurrence_rule": "FREQ=DAILY;COUNT=3" });
    let seen = as_of(&api, &of_agent).await;
    let daily = api.post(&events).json(daily).await.expect(201).id();
    let occurrence = format!("/v1/events/{daily}_20300506T150000Z");
    api.patch(&occurrence).json(to("15:15", "15:45", &seen)).await.expect(200);
    event(&api, &calendar, &at("17:00"), &at("18:00")).await;
    let refused = api.patch(&occurrence).json(to("17:30", "18:30", &seen)).await.refused(409, "conflict").code("stale");
    assert_eq!(refused["error"]["conflicts"][0]["start"], "2030-05-06T17:00:00Z");
    let all = api.patch(format!("{occurrence}?scope=all")).json(to("16:00", "16:30", &seen)).await;
    all.refused(400, "validation_error").param("if_as_of");
    let series = api.patch(format!("/v1/events/{daily}")).json(json!({ "title": "x", "if_as_of": seen })).await;
    series.refused(400, "validation_error").param("if_as_of");
}

/// An occurrence that moves leaves its own time, but the rest of its series is in its way.
#[apply(on_both)]
#[tokio::test]
async fn a_new_rule_of_its_series_is_in_the_way_of_an_occurrence(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let weekly = json!({ "title": "Weekly", "start_time": at("10:00"), "end_time": at("11:00"),
        "recurrence_rule": "FREQ=WEEKLY;COUNT=3" });
    let series = api.post(format!("/v1/calendars/{calendar}/events")).json(weekly).await.expect(201).id();
    let first = format!("/v1/events/{series}_20300506T100000Z");
    let to = |start: &str, end: &str, seen: &Value| json!({ "start_time": at(start), "end_time": at(end), "if_as_of": seen });

    // The row of the series changes, and nothing but the time of the occurrence itself overlaps the new one.
    let seen = as_of(&api, &of_agent).await;
    api.patch(format!("/v1/events/{series}")).json(json!({ "title": "Sync" })).await.expect(200);
    let tried = api.patch(format!("{first}?dry_run=true")).json(to("10:30", "11:30", &seen)).await;
    tried.expect(200);
    // By the new rule, another occurrence takes the wanted time.
    let daily = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" });
    api.patch(format!("/v1/events/{series}")).json(daily).await.expect(200);
    let next = json!({ "start_time": "2030-05-07T10:30:00Z", "end_time": "2030-05-07T11:30:00Z", "if_as_of": seen });
    let refused = api.patch(&first).json(next).await.refused(409, "conflict").code("stale");
    assert_eq!(refused["error"]["conflicts"].as_array().unwrap().len(), 1, "{}", refused.describe());
    assert_eq!(refused["error"]["conflicts"][0]["start"], "2030-05-07T10:00:00Z");
    api.patch(&first).json(to("10:30", "11:30", &seen)).await.expect(200);
    // The occurrence has a row of its own now, which is not in its way either.
    api.patch(&first).json(to("11:00", "12:00", &seen)).await.expect(200);
}

/// A series that becomes one event is not in its own way, and neither are its changed occurrences.
#[apply(on_both)]
#[tokio::test]
async fn the_occurrences_of_a_series_are_not_in_the_way_of_its_only_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let seen = as_of(&api, &of_agent).await;
    let daily = json!({ "title": "Daily", "start_time": at("10:00"), "end_time": at("11:00"),
        "recurrence_rule": "FREQ=DAILY;COUNT=3" });
    let series = api.post(format!("/v1/calendars/{calendar}/events")).json(daily).await.expect(201).id();
    // The second occurrence moves to the day of the first.
    let moved = json!({ "start_time": at("14:00"), "end_time": at("15:00") });
    api.patch(format!("/v1/events/{series}_20300507T100000Z")).json(moved).await.expect(200);
    let once = json!({ "recurrence_rule": null, "start_time": at("14:00"), "end_time": at("15:00"), "if_as_of": seen });
    let once = api.patch(format!("/v1/events/{series}")).json(once).await.expect(200);
    assert_eq!((&once["startTime"], &once["recurrenceRule"]), (&json!("2030-05-06T14:00:00Z"), &json!(null)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_confirmed_only_if_nothing_relevant_changed(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let confirm =
        |id: &str, seen: &Value| api.put(format!("/v1/events/{id}/confirm")).json(json!({ "if_as_of": seen }));
    // The hold itself is newer than the answer, and is not in its own way.
    let seen = as_of(&api, &of_agent).await;
    let id = hold(&api, &calendar, "10:00", "11:00", &seen).await.await.expect(201).id();
    assert_eq!(confirm(&id, &seen).await.expect(200)["status"], "confirmed");

    let id = hold(&api, &calendar, "13:00", "14:00", &seen).await.await.expect(201).id();
    for wrong in [json!("x"), json!("AQEB")] {
        confirm(&id, &wrong).await.refused(400, "validation_error").param("if_as_of");
    }
    let other = shared_calendar(&api, "UTC").await;
    let elsewhere = as_of(&api, &format!("/v1/calendars/{other}/availability")).await;
    confirm(&id, &elsewhere).await.refused(400, "validation_error").param("if_as_of").mentions(&calendar);
    event(&api, &calendar, &at("13:30"), &at("13:45")).await;
    let refused = confirm(&id, &seen).await.refused(409, "conflict").code("stale").param("if_as_of");
    assert_eq!(refused["error"]["conflicts"].as_array().unwrap().len(), 1, "{}", refused.describe());
    assert_eq!(refused["error"]["conflicts"][0]["start"], "2030-05-06T13:30:00Z");
    assert_eq!(refused["error"]["nearest_free"].as_array().unwrap().len(), 3, "{}", refused.describe());
    assert_eq!(api.get(format!("/v1/events/{id}")).await.expect(200)["status"], "hold");
    let renewed = as_of(&api, &of_agent).await;
    assert_eq!(confirm(&id, &renewed).await.expect(200)["status"], "confirmed");
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_set_is_confirmed_only_if_nothing_relevant_changed(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &agent).await;
    let of_agent = format!("/v1/agents/{agent}/availability");
    let expires = soon(&api, 10).await;
    let place = async |start: &str, end: &str| {
        let set = json!({ "title": "Both", "start_time": at(start), "end_time": at(end),
            "calendar_ids": [calendar, second], "hold_expires_at": expires });
        api.post("/v1/hold-sets").json(set).await.expect(201)
    };
    let confirm =
        |id: &str, seen: &Value| api.put(format!("/v1/hold-sets/{id}/confirm")).json(json!({ "if_as_of": seen }));
    let seen = as_of(&api, &of_agent).await;
    let set = place("10:00", "11:00").await.id();
    let confirmed = confirm(&set, &seen).await.expect(200);
    assert!(confirmed["holds"].as_array().unwrap().iter().all(|hold| hold["status"] == "confirmed"));

    // All its calendars count, and the answer must cover them.
    let set = place("13:00", "14:00").await.id();
    let of_one = as_of(&api, &format!("/v1/calendars/{calendar}/availability")).await;
    confirm(&set, &of_one).await.refused(400, "validation_error").param("if_as_of").mentions(&second);
    event(&api, &second, &at("13:30"), &at("13:45")).await;
    let refused = confirm(&set, &seen).await.refused(409, "conflict").code("stale").param("if_as_of");
    assert_eq!(refused["error"]["conflicts"].as_array().unwrap().len(), 1, "{}", refused.describe());
    assert_eq!(refused["error"]["conflicts"][0]["calendar_id"], json!(second));
    let held = api.get(format!("/v1/hold-sets/{set}")).await.expect(200);
    assert!(held["holds"].as_array().unwrap().iter().all(|hold| hold["status"] == "hold"), "{}", held.describe());
    let renewed = as_of(&api, &of_agent).await;
    confirm(&set, &renewed).await.expect(200);

    // A hold that is confirmed alone is not in the way of its set, and the set is not in its way.
    let seen = as_of(&api, &of_agent).await;
    let placed = place("16:00", "17:00").await;
    let alone = format!("/v1/events/{}/confirm", placed["holds"][0]["id"].as_str().unwrap());
    api.put(alone).json(json!({ "if_as_of": seen })).await.expect(200);
}
