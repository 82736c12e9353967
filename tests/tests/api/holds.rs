//! Holds and hold sets: placing, confirming, releasing, pre-emption and expiry. Races are in `hold_races`.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{Answer, Client, Database, Server, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, calendar_of, event, is_id, now, shared_calendar};

const DAY: &str = "2031-03-03";

fn time(text: &str) -> String {
    format!("{DAY}T{text}:00Z")
}

/// The service's time plus this many seconds.
pub(crate) async fn in_seconds(api: &Client, seconds: i64) -> String {
    iso(at(&now(api).await) + TimeDelta::seconds(seconds))
}

/// The body of a hold.
pub(crate) fn hold_body(start: &str, end: &str, until: &str, priority: u8) -> Value {
    json!({
        "title": "Maybe", "start_time": start, "end_time": end, "status": "hold", "hold_expires_at": until,
        "hold_priority": priority,
    })
}

/// Requests a hold of ten minutes.
async fn hold(api: &Client, calendar: &str, start: &str, end: &str, priority: u8) -> Answer {
    let until = in_seconds(api, 600).await;
    let body = hold_body(&time(start), &time(end), &until, priority);
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await
}

async fn decide(api: &Client, id: &str, what: &str) -> Answer {
    api.put(format!("/v1/events/{id}/{what}")).await
}

/// The busy times of the calendar on that day, as `HH:MM-HH:MM`.
async fn busy(api: &Client, calendar: &str) -> Vec<String> {
    let query = format!("start={}&end={}&include_busy=true", time("08:00"), time("18:00"));
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{query}")).await.expect(200);
    let clock = |value: &Value| value.as_str().unwrap()[11..16].to_owned();
    let clocks = |interval: &Value| format!("{}-{}", clock(&interval["start"]), clock(&interval["end"]));
    answer["busy"].as_array().unwrap().iter().map(clocks).collect()
}

/// The identifiers of a calendar's events with this status.
async fn listed(api: &Client, calendar: &str, status: &str) -> Vec<String> {
    api.get(format!("/v1/calendars/{calendar}/events?status={status}")).await.expect(200).column("id")
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_placed_by_its_status_or_by_its_expiry(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let until = in_seconds(&api, 600).await;

    let made = api.post(&events).json(hold_body(&time("09:00"), &time("10:00"), &until, 7)).await.expect(201);
    is_id(&made["id"], "evt_");
    assert_eq!((&made["status"], &made["holdExpiresAt"]), (&json!("hold"), &json!(until)));
    assert_eq!((&made["holdPriority"], &made["external_sync"]["status"]), (&json!(7), &json!("not_configured")));
    assert_eq!(api.get(format!("/v1/events/{}", made.id())).await.expect(200)["status"], "hold");

    let body = json!({
        "title": "x", "start_time": time("10:00"), "end_time": time("11:00"), "hold_expires_at": until,
        "hold_priority": null,
    });
    let made = api.post(&events).json(body).await.expect(201);
    assert_eq!((&made["status"], &made["holdPriority"]), (&json!("hold"), &json!(0)));
    assert_eq!(listed(&api, &calendar, "hold").await.len(), 2);
    assert_eq!(busy(&api, &calendar).await, ["09:00-11:00"]);
    // An event that is not a hold has null in the fields of a hold.
    let plain = event(&api, &calendar, &time("12:00"), &time("13:00")).await;
    let plain = api.get(format!("/v1/events/{plain}")).await.expect(200);
    assert_eq!((&plain["holdExpiresAt"], &plain["holdPriority"]), (&Value::Null, &Value::Null));
}

#[apply(on_both)]
#[tokio::test]
async fn the_fields_of_a_hold_are_checked_together(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let moment = at(&now(&api).await);
    let later = |seconds| iso(moment + TimeDelta::seconds(seconds));
    let (good, rule) = (later(600), "FREQ=DAILY;COUNT=3");
    for (fields, param) in [
        (json!({ "status": "hold" }), "hold_expires_at"),
        (json!({ "status": "hold", "hold_expires_at": null }), "hold_expires_at"),
        (json!({ "status": "confirmed", "hold_expires_at": good }), "status"),
        (json!({ "status": "tentative", "hold_expires_at": good }), "status"),
        (json!({ "status": "cancelled", "hold_expires_at": good }), "status"),
        (json!({ "hold_priority": 1 }), "hold_priority"),
        (json!({ "status": "tentative", "hold_priority": 0 }), "hold_priority"),
        (json!({ "scope": "agent" }), "scope"),
        (json!({ "hold_expires_at": good, "scope": "organization" }), "scope"),
        (json!({ "hold_expires_at": good, "hold_priority": -1 }), "hold_priority"),
        (json!({ "hold_expires_at": good, "hold_priority": 101 }), "hold_priority"),
        (json!({ "hold_expires_at": good, "hold_priority": 1.5 }), "hold_priority"),
        (json!({ "hold_expires_at": "soon" }), "hold_expires_at"),
        (json!({ "hold_expires_at": "2027-03-01T09:00:00" }), "hold_expires_at"),
        (json!({ "hold_expires_at": later(-1) }), "hold_expires_at"),
        (json!({ "hold_expires_at": later(29) }), "hold_expires_at"),
        (json!({ "hold_expires_at": later(920) }), "hold_expires_at"),
        (json!({ "hold_expires_at": later(7 * 86_400) }), "hold_expires_at"),
        (json!({ "hold_expires_at": good, "recurrence_rule": rule }), "recurrence_rule"),
        (json!({ "status": "hold", "hold_expires_at": good, "recurrence_rule": rule }), "recurrence_rule"),
    ] {
        let mut body = json!({ "title": "x", "start_time": time("09:00"), "end_time": time("10:00") });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        api.post(&events).json(body).await.refused(400, "validation_error").param(param);
    }
    let hold = hold_body(&time("09:00"), &time("10:00"), &good, 0);
    let batch = json!({ "events": [{ "title": "x", "start_time": time("09:00"), "end_time": time("10:00") }, hold] });
    let refused = api.post(format!("{events}/batch")).json(batch).await.refused(400, "validation_error");
    refused.param("events[1].status").mentions("batch");
    assert_eq!(api.get(&events).await.expect(200)["total"], 0, "none of these was created");

    // The limits themselves are allowed, with some slack for the time of the requests.
    for (seconds, hour) in [(45, "09"), (890, "11")] {
        let until = in_seconds(&api, seconds).await;
        let body = hold_body(&time(&format!("{hour}:00")), &time(&format!("{hour}:30")), &until, 100);
        assert_eq!(api.post(&events).json(body).await.expect(201)["holdPriority"], 100);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn holds_need_a_paid_plan(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "free").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let plain = event(&api, &calendar, &time("09:00"), &time("10:00")).await;
    let until = in_seconds(&api, 600).await;
    let body = hold_body(&time("11:00"), &time("12:00"), &until, 0);
    let set = json!({
        "title": "x", "start_time": time("11:00"), "end_time": time("12:00"), "hold_expires_at": until,
        "calendar_ids": [calendar],
    });
    let needing = [
        api.post(format!("/v1/calendars/{calendar}/events")).json(body),
        api.post("/v1/hold-sets").json(set),
        api.put(format!("/v1/events/{plain}/confirm")),
        api.put(format!("/v1/events/{plain}/release")),
        api.put("/v1/hold-sets/hst_00000000000000000000000001/confirm"),
        api.put("/v1/hold-sets/hst_00000000000000000000000001/release"),
    ];
    for call in needing {
        let refused = call.await.refused(403, "plan_required");
        assert_eq!((refused.at("/error/feature"), refused.at("/error/required_plan")), (json!("holds"), json!("pro")));
    }
    assert_eq!(api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200)["total"], 1);
    // Another organization cannot see this hold.
    let other = server.api(&server.org("pro").await);
    let (_, theirs) = agent_with_calendar(&other).await;
    let id = hold(&other, &theirs, "09:00", "10:00", 0).await.expect(201).id();
    let third = server.api(&server.org("pro").await);
    decide(&third, &id, "confirm").await.refused(404, "not_found").code("event_not_found");
    decide(&other, &id, "confirm").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_conflicts_with_busy_times(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    event(&api, &first, &time("09:00"), &time("10:00")).await;
    let series = json!({
        "title": "x", "start_time": "2031-02-03T11:00:00Z", "end_time": "2031-02-03T11:30:00Z",
        "recurrence_rule": "FREQ=DAILY;COUNT=40",
    });
    api.post(format!("/v1/calendars/{first}/events")).json(series).await.expect(201);
    let tentative = json!({
        "title": "x", "start_time": time("13:00"), "end_time": time("14:00"), "status": "tentative",
    });
    api.post(format!("/v1/calendars/{first}/events")).json(tentative).await.expect(201);
    let cancelled = json!({
        "title": "x", "start_time": time("15:00"), "end_time": time("16:00"), "status": "cancelled",
    });
    api.post(format!("/v1/calendars/{first}/events")).json(cancelled).await.expect(201);
    let held = hold(&api, &first, "16:00", "17:00", 3).await.expect(201).id();

    for (start, end, kind, from, to) in [
        ("09:30", "09:45", "event", "09:00", "10:00"),
        ("08:00", "09:01", "event", "09:00", "10:00"),
        ("10:45", "11:05", "event", "11:00", "11:30"),
        ("13:59", "14:30", "event", "13:00", "14:00"),
        ("16:30", "17:30", "hold", "16:00", "17:00"),
    ] {
        let refused = hold(&api, &first, start, end, 3).await.refused(409, "conflict").code("slot_taken");
        let conflict = json!({ "calendar_id": first, "kind": kind, "start": time(from), "end": time(to) });
        assert_eq!(refused.at("/error/conflicts"), json!([conflict]));
        let nearest = refused.at("/error/nearest_free");
        let nearest = nearest.as_array().unwrap();
        assert_eq!(nearest.len(), 3);
        let length = at(&time(end)) - at(&time(start));
        for free in nearest {
            let (start, end) = (free["start"].as_str().unwrap(), free["end"].as_str().unwrap());
            assert_eq!(at(end) - at(start), length);
        }
        // The offered time is free. The hold is deleted again.
        let (start, end) = (nearest[0]["start"].as_str().unwrap(), nearest[0]["end"].as_str().unwrap());
        let until = in_seconds(&api, 600).await;
        let offered = api.post(format!("/v1/calendars/{first}/events")).json(hold_body(start, end, &until, 3)).await;
        api.delete(format!("/v1/events/{}", offered.expect(201).id())).await.expect(204);
    }
    // Adjacent times do not overlap, and cancelled events do not block.
    for (start, end) in [("08:00", "09:00"), ("10:00", "11:00"), ("15:00", "16:00")] {
        hold(&api, &first, start, end, 0).await.expect(201);
    }
    // A plain event may overlap a hold. Another calendar matters only with the scope `agent`.
    event(&api, &first, &time("16:15"), &time("16:30")).await;
    hold(&api, &second, "09:00", "10:00", 0).await.expect(201);
    let until = in_seconds(&api, 600).await;
    let mut wide = hold_body(&time("13:30"), &time("13:45"), &until, 100);
    wide["scope"] = json!("agent");
    let refused = api.post(format!("/v1/calendars/{second}/events")).json(wide.clone()).await;
    let refused = refused.refused(409, "conflict").code("slot_taken");
    assert_eq!(refused.at("/error/conflicts/0/calendar_id"), json!(first));
    // With that scope, a hold also pre-empts holds on the agent's other calendars.
    wide["start_time"] = json!(time("16:45"));
    wide["end_time"] = json!(time("17:00"));
    api.post(format!("/v1/calendars/{second}/events")).json(wide).await.expect(201);
    assert_eq!(api.get(format!("/v1/events/{held}")).await.expect(200)["status"], "cancelled");
    decide(&api, &held, "confirm").await.refused(409, "conflict").code("not_a_hold");
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_confirmed_or_released_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    for (what, status, taken) in [("confirm", "confirmed", true), ("release", "cancelled", false)] {
        for body in [None, Some("{}"), Some(" ")] {
            let id = hold(&api, &calendar, "09:00", "10:00", 5).await.expect(201).id();
            let path = format!("/v1/events/{id}/{what}");
            for foreign in [r#"{"status":"confirmed"}"#, r#"{"hold_expires_at":null}"#] {
                let call = api.put(&path).header("content-type", "application/json").body(foreign);
                call.await.refused(400, "validation_error").code("unknown_field");
            }
            let call = api.put(&path);
            let call = match body {
                Some(body) => call.header("content-type", "application/json").body(body),
                None => call,
            };
            let answer = call.await.expect(200);
            assert_eq!((answer.id(), &answer["status"]), (id.clone(), &json!(status)));
            assert_eq!((&answer["holdExpiresAt"], &answer["holdPriority"]), (&Value::Null, &Value::Null));
            assert_eq!(answer.header("etag"), api.get(format!("/v1/events/{id}")).await.expect(200).header("etag"));
            for again in ["confirm", "release"] {
                decide(&api, &id, again).await.refused(409, "conflict").code("not_a_hold");
            }
            assert_eq!(busy(&api, &calendar).await, if taken { vec!["09:00-10:00"] } else { vec![] });
            assert_eq!(listed(&api, &calendar, "hold").await, Vec::<String>::new());
            api.delete(format!("/v1/events/{id}")).await.expect(204);
        }
    }
    let plain = event(&api, &calendar, &time("09:00"), &time("10:00")).await;
    for what in ["confirm", "release"] {
        decide(&api, &plain, what).await.refused(409, "conflict").code("not_a_hold");
        for unknown in ["evt_00000000000000000000000000", "evt_x", "x"] {
            decide(&api, unknown, what).await.refused(404, "not_found").code("event_not_found");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_patched_hold_stays_a_hold(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let id = hold(&api, &calendar, "09:00", "10:00", 5).await.expect(201).id();
    let weak = hold(&api, &calendar, "12:00", "13:00", 4).await.expect(201).id();
    event(&api, &calendar, &time("11:00"), &time("12:00")).await;
    let path = format!("/v1/events/{id}");
    let patch = async |body: Value| api.patch(&path).json(body).await;

    for status in ["confirmed", "tentative", "cancelled", "hold"] {
        patch(json!({ "status": status })).await.refused(409, "conflict").code("hold_status");
    }
    let plain = event(&api, &calendar, &time("20:00"), &time("21:00")).await;
    let refused = api.patch(format!("/v1/events/{plain}")).json(json!({ "status": "hold" })).await;
    refused.refused(400, "validation_error").param("status");
    let refused = patch(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2" })).await;
    refused.refused(400, "validation_error").param("recurrence_rule");
    let answer = patch(json!({ "title": "Surely" })).await.expect(200);
    assert_eq!(
        (&answer["title"], &answer["status"], &answer["holdPriority"]),
        (&json!("Surely"), &json!("hold"), &json!(5))
    );

    // The hold's own old time does not block the move. An event does.
    patch(json!({ "start_time": time("09:30"), "end_time": time("10:30") })).await.expect(200);
    assert_eq!(busy(&api, &calendar).await, ["09:30-10:30", "11:00-13:00"]);
    let refused = patch(json!({ "end_time": time("11:15") })).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(refused.at("/error/conflicts/0/kind"), json!("event"));
    assert_eq!(busy(&api, &calendar).await, ["09:30-10:30", "11:00-13:00"], "nothing has moved");
    // A moved hold pre-empts weaker holds at its new time.
    patch(json!({ "start_time": time("12:30"), "end_time": time("13:30") })).await.expect(200);
    assert_eq!(busy(&api, &calendar).await, ["11:00-12:00", "12:30-13:30"]);
    assert_eq!(api.get(format!("/v1/events/{weak}")).await.expect(200)["status"], "cancelled");

    api.delete(&path).await.expect(204);
    assert_eq!(busy(&api, &calendar).await, ["11:00-12:00"]);
    decide(&api, &id, "confirm").await.refused(404, "not_found").code("event_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_live_hold_is_prolonged(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let id = hold(&api, &calendar, "09:00", "10:00", 5).await.expect(201).id();
    let short = hold(&api, &calendar, "11:00", "12:00", 5).await.expect(201).id();
    let path = format!("/v1/events/{id}");
    for (until, reason) in [
        (json!(null), "null"),
        (json!("soon"), "RFC 3339"),
        (json!(in_seconds(&api, -1).await), "30 seconds to 15 minutes"),
        (json!(in_seconds(&api, 20).await), "30 seconds to 15 minutes"),
        (json!(in_seconds(&api, 920).await), "30 seconds to 15 minutes"),
    ] {
        let answer = api.patch(&path).json(json!({ "hold_expires_at": until })).await;
        answer.refused(400, "validation_error").param("hold_expires_at").mentions(reason);
    }
    let until = in_seconds(&api, 880).await;
    let before = api.get(&path).await.expect(200);
    let answer = api.patch(&path).json(json!({ "hold_expires_at": until })).await.expect(200);
    assert_eq!((&answer["holdExpiresAt"], &answer["status"]), (&json!(until), &json!("hold")));
    for field in ["startTime", "endTime", "holdPriority", "title", "metadata"] {
        assert_eq!(answer[field], before[field], "{field}");
    }

    // The expiry that counts is the new one.
    server.restart_at_offset(605).await;
    let api = server.api(&org);
    assert_eq!(busy(&api, &calendar).await, ["09:00-10:00"]);
    let until = json!({ "hold_expires_at": in_seconds(&api, 600).await });
    let refused = api.patch(format!("/v1/events/{short}")).json(until.clone()).await.refused(409, "conflict");
    refused.code("hold_expired");
    api.patch(&path).json(until.clone()).await.expect(200);
    server.restart_at_offset(1_100).await;
    let api = server.api(&org);
    decide(&api, &id, "confirm").await.expect(200);

    // Only a hold has an expiry.
    api.patch(&path).json(until.clone()).await.refused(409, "conflict").code("not_a_hold");
    let series = json!({
        "title": "x", "start_time": time("13:00"), "end_time": time("14:00"), "recurrence_rule": "FREQ=DAILY;COUNT=3"
    });
    let series = api.post(format!("/v1/calendars/{calendar}/events")).json(series).await.expect(201).id();
    let query = format!("expand=true&start_after={}&start_before={}", time("12:30"), time("15:00"));
    let instances = api.get(format!("/v1/calendars/{calendar}/events?{query}")).await.expect(200).column("id");
    assert!(instances.len() == 1 && instances[0].starts_with(&series), "{instances:?}");
    let refused = api.patch(format!("/v1/events/{}", instances[0])).json(until).await;
    refused.refused(409, "conflict").code("not_a_hold");
}

#[apply(on_both)]
#[tokio::test]
async fn a_negotiated_plan_has_long_holds(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("custom").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let week = 7 * 86_400;
    let events = format!("/v1/calendars/{calendar}/events");
    for (seconds, status) in [(week + 20, 400), (20, 400), (week - 20, 201)] {
        let until = in_seconds(&api, seconds).await;
        let made = api.post(&events).json(hold_body(&time("09:00"), &time("10:00"), &until, 0)).await.expect(status);
        if status == 400 {
            assert!(made.text().contains("30 seconds to 7 days ahead"), "{}", made.describe());
        }
    }
    let until = in_seconds(&api, week - 20).await;
    let set = json!({
        "title": "x", "start_time": time("11:00"), "end_time": time("12:00"), "hold_expires_at": until,
        "calendar_ids": [calendar],
    });
    let set = api.post("/v1/hold-sets").json(set).await.expect(201);
    let held = set.at("/holds/0/id").as_str().unwrap().to_owned();

    server.restart_at_offset(6 * 86_400).await;
    let api = server.api(&org);
    assert_eq!(busy(&api, &calendar).await, ["09:00-10:00", "11:00-12:00"]);
    let later = json!({ "hold_expires_at": in_seconds(&api, week - 20).await });
    api.patch(format!("/v1/events/{held}")).json(later).await.expect(200);
    server.restart_at_offset(8 * 86_400).await;
    let api = server.api(&org);
    assert_eq!(busy(&api, &calendar).await, ["11:00-12:00"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_pre_empted_by_a_higher_priority(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let weak = hold(&api, &calendar, "09:00", "10:00", 1).await.expect(201).id();
    let weaker = hold(&api, &calendar, "10:00", "11:00", 0).await.expect(201).id();
    let apart = hold(&api, &calendar, "12:00", "13:00", 0).await.expect(201).id();
    hold(&api, &calendar, "09:30", "10:30", 1).await.refused(409, "conflict").code("slot_taken");
    for id in [&weak, &weaker] {
        assert_eq!(
            api.get(format!("/v1/events/{id}")).await.expect(200)["status"],
            "hold",
            "either all are pre-empted or none"
        );
    }
    let strong = hold(&api, &calendar, "09:30", "10:30", 2).await.expect(201).id();
    for id in [&weak, &weaker] {
        let event = api.get(format!("/v1/events/{id}")).await.expect(200);
        assert_eq!((&event["status"], &event["holdExpiresAt"]), (&json!("cancelled"), &Value::Null));
        for what in ["confirm", "release"] {
            decide(&api, id, what).await.refused(409, "conflict").code("not_a_hold");
        }
    }
    assert_eq!(listed(&api, &calendar, "hold").await, [strong.clone(), apart]);
    assert_eq!(listed(&api, &calendar, "cancelled").await, [weak, weaker]);
    assert_eq!(busy(&api, &calendar).await, ["09:30-10:30", "12:00-13:00"]);
    // A confirmed hold cannot be pre-empted.
    decide(&api, &strong, "confirm").await.expect(200);
    hold(&api, &calendar, "09:30", "10:30", 100).await.refused(409, "conflict").code("slot_taken");
}

#[apply(on_both)]
#[tokio::test]
async fn an_expired_hold_is_cancelled(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let other = shared_calendar(&api, "UTC").await;
    // A hold that is in progress, so that the context shows it.
    let (start, end) = (in_seconds(&api, -3_600).await, in_seconds(&api, 7_200).await);
    let until = in_seconds(&api, 600).await;
    let present = json!({ "title": "x", "start_time": start, "end_time": end, "hold_expires_at": until });
    let present = api.post(format!("/v1/calendars/{calendar}/events")).json(present).await.expect(201).id();
    let id = hold(&api, &calendar, "09:00", "10:00", 5).await.expect(201).id();
    let set = json!({
        "title": "x", "start_time": time("11:00"), "end_time": time("12:00"), "hold_expires_at": until,
        "calendar_ids": [calendar, other],
    });
    let set = api.post("/v1/hold-sets").json(set).await.expect(201);
    let context = api.get(format!("/v1/calendars/{calendar}/context")).await.expect(200);
    assert!(context.text().contains(&present), "{}", context.describe());
    let explain = format!("/v1/availability/explain?calendar={calendar}&start={}&end={}", time("09:00"), time("09:30"));
    let explained = api.get(&explain).await.expect(200);
    let reason = json!({ "calendar_id": calendar, "reason": "hold", "start": time("09:00"), "end": time("10:00") });
    assert_eq!((&explained["offered"], &explained["reasons"]), (&json!(false), &json!([reason])));
    assert_eq!(busy(&api, &calendar).await, ["09:00-10:00", "11:00-12:00"]);

    server.restart_at_offset(605).await;
    let api = server.api(&org);
    assert_eq!(busy(&api, &calendar).await, Vec::<String>::new());
    let event = api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!((&event["status"], &event["holdPriority"]), (&json!("cancelled"), &json!(5)));
    for what in ["confirm", "release"] {
        decide(&api, &id, what).await.refused(409, "conflict").code("hold_expired");
        let answer = api.put(format!("/v1/hold-sets/{}/{what}", set.id())).await;
        answer.refused(409, "conflict").code("hold_expired");
    }
    let expired = api.get(format!("/v1/hold-sets/{}", set.id())).await.expect(200);
    assert_eq!(
        expired["holds"].as_array().unwrap().iter().map(|hold| &hold["status"]).collect::<Vec<_>>(),
        ["cancelled"; 2]
    );
    api.patch(format!("/v1/events/{id}")).json(json!({ "status": "confirmed" })).await.refused(409, "conflict");
    assert_eq!(listed(&api, &calendar, "hold").await, Vec::<String>::new());
    let cancelled = listed(&api, &calendar, "cancelled").await;
    assert!(cancelled.len() == 3 && cancelled.contains(&id), "{cancelled:?}");
    assert_eq!(api.get(&explain).await.expect(200)["offered"], true);
    let context = api.get(format!("/v1/calendars/{calendar}/context")).await.expect(200);
    assert!(!context.text().contains(&present), "{}", context.describe());
    // The time of the expired hold is free.
    hold(&api, &calendar, "09:00", "10:00", 0).await.expect(201);
    assert_eq!(busy(&api, &calendar).await, ["09:00-10:00"]);
}

/// The body of a hold set.
pub(crate) fn set_body(calendars: &[&str], start: &str, end: &str, until: &str) -> Value {
    json!({
        "title": "Kick-off", "start_time": start, "end_time": end, "hold_expires_at": until,
        "calendar_ids": calendars,
    })
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_set_is_placed_entirely_or_not_at_all(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let shared = shared_calendar(&api, "Europe/Berlin").await;
    let until = in_seconds(&api, 600).await;
    let (start, end) = (time("09:00"), time("10:00"));
    let all = [first.as_str(), second.as_str(), shared.as_str()];
    let ask = async |body: Value| api.post("/v1/hold-sets").json(body).await;

    let mut body = set_body(&all, &start, &end, &until);
    body["hold_priority"] = json!(4);
    let set = ask(body).await.expect(201);
    is_id(&set["id"], "hst_");
    let holds = set["holds"].as_array().unwrap().clone();
    let on: Vec<&str> = holds.iter().map(|hold| hold["calendarId"].as_str().unwrap()).collect();
    assert_eq!(on, all);
    for hold in &holds {
        assert_eq!((&hold["status"], &hold["holdSetId"]), (&json!("hold"), &set["id"]));
        assert_eq!((&hold["holdPriority"], &hold["holdExpiresAt"]), (&json!(4), &json!(until)));
        assert_eq!(hold["title"], "Kick-off");
    }

    // The 409 lists every calendar that is not free, with each conflict, and the times that are free on all calendars.
    event(&api, &second, &time("10:00"), &time("11:00")).await;
    let refused = ask(set_body(&all, &time("09:30"), &time("10:30"), &until)).await;
    let refused = refused.refused(409, "conflict").code("slot_taken");
    let conflict = |calendar: &str, kind: &str, from: &str, to: &str| json!({ "calendar_id": calendar, "kind": kind, "start": time(from), "end": time(to) });
    let expected = json!([
        conflict(&first, "hold", "09:00", "10:00"),
        conflict(&second, "hold", "09:00", "10:00"),
        conflict(&second, "event", "10:00", "11:00"),
        conflict(&shared, "hold", "09:00", "10:00"),
    ]);
    assert_eq!(refused.at("/error/conflicts"), expected);
    let starts: Vec<Value> = (0..3).map(|index| refused.at(&format!("/error/nearest_free/{index}/start"))).collect();
    assert_eq!(starts, [json!(time("08:00")), json!(time("11:00")), json!(time("07:45"))]);
    for calendar in all {
        assert_eq!(listed(&api, calendar, "hold").await.len(), 1, "nothing was placed");
    }

    let path = |what: &str| format!("/v1/hold-sets/{}/{what}", set.id());
    let foreign = api.put(path("confirm")).json(json!({ "calendar_ids": [] })).await;
    foreign.refused(400, "validation_error").code("unknown_field");
    let confirmed = api.put(path("confirm")).json(json!({})).await.expect(200);
    assert_eq!(confirmed.id(), set.id());
    let read = api.get(format!("/v1/hold-sets/{}", set.id())).await.expect(200);
    assert_eq!(read.json, confirmed.json);
    for hold in confirmed["holds"].as_array().unwrap() {
        assert_eq!((&hold["status"], &hold["holdExpiresAt"]), (&json!("confirmed"), &Value::Null));
        assert_eq!(hold["holdSetId"], set["id"]);
    }
    for what in ["confirm", "release"] {
        api.put(path(what)).await.refused(409, "conflict").code("not_a_hold");
    }
    assert_eq!(busy(&api, &first).await, ["09:00-10:00"]);

    let set = ask(set_body(&all, &time("14:00"), &time("15:00"), &until)).await.expect(201);
    let read = api.get(format!("/v1/hold-sets/{}?local=true", set.id())).await.expect(200);
    assert_eq!(read["holds"].as_array().unwrap().len(), 3);
    assert!(read.at("/holds/0/local").is_object(), "{}", read.describe());
    // One hold is released. Now the set cannot be confirmed, but the others can be released.
    let one = set.at("/holds/1/id");
    decide(&api, one.as_str().unwrap(), "release").await.expect(200);
    api.put(format!("/v1/hold-sets/{}/confirm", set.id())).await.refused(409, "conflict").code("not_a_hold");
    assert_eq!(listed(&api, &first, "hold").await.len(), 1);
    let released = api.put(format!("/v1/hold-sets/{}/release", set.id())).await.expect(200);
    let statuses: Vec<&Value> = released["holds"].as_array().unwrap().iter().map(|hold| &hold["status"]).collect();
    assert_eq!(statuses, [&json!("cancelled"); 3]);
    assert_eq!(busy(&api, &first).await, ["09:00-10:00"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_ends_after_now(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let until = in_seconds(&api, 600).await;
    let (begun, over, ahead) =
        (in_seconds(&api, -7200).await, in_seconds(&api, -1).await, in_seconds(&api, 3600).await);
    let events = format!("/v1/calendars/{calendar}/events");
    let past = api.post(&events).json(hold_body(&begun, &over, &until, 0)).await;
    past.refused(400, "validation_error").param("end_time").mentions("service's clock");
    let set = api.post("/v1/hold-sets").json(set_body(&[&calendar], &begun, &over, &until)).await;
    set.refused(400, "validation_error").param("end_time");
    // A time that has begun is not over.
    let hold = api.post(&events).json(hold_body(&begun, &ahead, &until, 0)).await.expect(201);
    let path = format!("/v1/events/{}", hold.id());
    let moved = api.patch(&path).json(json!({ "start_time": begun, "end_time": over })).await;
    moved.refused(400, "validation_error").param("end_time");
    assert_eq!(api.get(&path).await.expect(200)["endTime"], json!(ahead));
    // Plain events may lie in the past.
    let plain = json!({ "title": "Retro", "start_time": begun, "end_time": over });
    api.post(&events).json(plain).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn hold_sets_are_listed(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let (other, second) = agent_with_calendar(&api).await;
    let until = in_seconds(&api, 600).await;
    let mut sets = Vec::new();
    for (calendars, start, end) in
        [(&[&first[..]][..], "09:00", "10:00"), (&[&first, &second], "10:00", "11:00"), (&[&second], "11:00", "12:00")]
    {
        let body = set_body(calendars, &time(start), &time(end), &until);
        sets.push(api.post("/v1/hold-sets").json(body).await.expect(201).id());
    }
    let list = async |api: &Client, query: &str| api.get(format!("/v1/hold-sets?{query}")).await.expect(200);
    let all = list(&api, "").await;
    assert_eq!((all.column("id"), &all["total"]), (sets.clone(), &json!(3)));
    let page = list(&api, "limit=1&offset=1").await;
    assert_eq!((page.column("id"), &page["total"]), (sets[1..2].to_vec(), &json!(3)));
    // An entry is what the set itself returns.
    for (index, id) in sets.iter().enumerate() {
        assert_eq!(all.at(&format!("/data/{index}")), api.get(format!("/v1/hold-sets/{id}")).await.expect(200).json);
    }

    api.put(format!("/v1/hold-sets/{}/confirm", sets[0])).await.expect(200);
    api.put(format!("/v1/hold-sets/{}/release", sets[2])).await.expect(200);
    for (status, expected) in [("hold", &sets[1..2]), ("confirmed", &sets[..1]), ("cancelled", &sets[2..])] {
        assert_eq!(list(&api, &format!("status={status}")).await.column("id"), expected, "{status}");
    }
    api.get("/v1/hold-sets?status=held").await.refused(400, "validation_error").param("status");
    api.get("/v1/hold-sets?limit=201").await.refused(400, "validation_error").param("limit");

    // A key of an agent sees the sets that are on its calendars alone, and a set that it sees can be read.
    for (agent, expected) in [(&owner, &sets[..1]), (&other, &sets[2..])] {
        let key = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
        let scoped = server.client(key["key"].as_str().unwrap());
        assert_eq!(list(&scoped, "").await.column("id"), expected);
        scoped.get(format!("/v1/hold-sets/{}", expected[0])).await.expect(200);
        scoped.get(format!("/v1/hold-sets/{}", sets[1])).await.refused(403, "forbidden");
    }
    let stranger = server.api(&server.org("pro").await);
    assert_eq!(list(&stranger, "").await["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_set_names_each_calendar_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let mut many = vec![calendar.clone()];
    for _ in 0..20 {
        many.push(shared_calendar(&api, "UTC").await);
    }
    let until = in_seconds(&api, 600).await;
    let body = |calendars: &[&str]| set_body(calendars, &time("09:00"), &time("10:00"), &until);
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let ask = async |body: Value| api.post("/v1/hold-sets").json(body).await;

    let twice = ask(body(&[many[0], many[1], many[0]])).await;
    twice.refused(400, "validation_error").param("calendar_ids[2]");
    ask(body(&many)).await.refused(400, "validation_error").param("calendar_ids").mentions("20");
    ask(body(&[])).await.refused(400, "validation_error").param("calendar_ids");
    for unknown in ["cal_00000000000000000000000000", "cal_x"] {
        ask(body(&[many[0], unknown])).await.refused(404, "not_found").code("calendar_not_found");
    }
    for (field, value) in [
        ("title", json!("")),
        ("end_time", json!(time("09:00"))),
        ("start_time", json!("2027-03-01")),
        ("hold_expires_at", json!(time("09:00"))),
        ("hold_priority", json!(101)),
    ] {
        let mut wrong = body(&[many[0]]);
        wrong[field] = value;
        ask(wrong).await.refused(400, "validation_error").param(field);
    }
    let mut foreign = body(&[many[0]]);
    foreign["scope"] = json!("agent");
    ask(foreign).await.refused(400, "validation_error").param("scope").code("unknown_field");
    for calendar in &many {
        assert_eq!(api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200)["total"], 0);
    }
    assert_eq!(ask(body(&many[..20])).await.expect(201)["holds"].as_array().unwrap().len(), 20);
    for unknown in ["hst_00000000000000000000000000", "hst_x"] {
        for what in ["confirm", "release"] {
            let answer = api.put(format!("/v1/hold-sets/{unknown}/{what}")).await;
            answer.refused(404, "not_found").code("hold_set_not_found");
        }
        api.get(format!("/v1/hold-sets/{unknown}")).await.refused(404, "not_found").code("hold_set_not_found");
    }
}

/// A hold moves only to a calendar that is free at its time, and stays a hold there.
#[apply(on_both)]
#[tokio::test]
async fn a_hold_moves_to_a_calendar_that_is_free(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let (free, taken) = (shared_calendar(&api, "UTC").await, shared_calendar(&api, "UTC").await);
    event(&api, &taken, &time("09:30"), &time("10:30")).await;
    let placed = hold(&api, &calendar, "09:00", "10:00", 5).await.expect(201);
    let moving = |to: &str| api.post(format!("/v1/events/{}/move", placed.id())).json(json!({ "calendar_id": to }));
    let refused = moving(&taken).await.refused(409, "conflict");
    refused.code("slot_taken");
    assert_eq!(busy(&api, &calendar).await, ["09:00-10:00"]);

    let moved = moving(&free).await.expect(200);
    assert_eq!((&moved["status"], &moved["holdExpiresAt"]), (&json!("hold"), &placed["holdExpiresAt"]));
    assert_eq!((busy(&api, &calendar).await, busy(&api, &free).await), (vec![], vec!["09:00-10:00".to_owned()]));
    decide(&api, &placed.id(), "confirm").await.expect(200);
    assert_eq!(listed(&api, &free, "confirmed").await, [placed.id()]);

    // A stronger hold there is in the way of a weaker one, and gives way to none.
    let strong = hold(&api, &free, "11:00", "12:00", 9).await.expect(201);
    let weak = hold(&api, &calendar, "11:00", "12:00", 1).await.expect(201);
    let blocked = api.post(format!("/v1/events/{}/move", weak.id())).json(json!({ "calendar_id": free })).await;
    blocked.refused(409, "conflict").code("slot_taken");
    let pushes = api.post(format!("/v1/events/{}/move", strong.id())).json(json!({ "calendar_id": calendar })).await;
    pushes.expect(200);
    assert_eq!(listed(&api, &calendar, "hold").await, [strong.id()], "the weaker hold gave way");
}
