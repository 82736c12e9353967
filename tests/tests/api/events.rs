//! Events and batches: create, read, change and delete, by the calendar's route and by the event's.

use crate::fixtures::{agent_with_calendar, event, event_body, has_exactly, is_id, is_time, shared_calendar, time};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

const FIELDS: &[&str] = &[
    "id",
    "calendarId",
    "orgId",
    "title",
    "description",
    "startTime",
    "endTime",
    "allDay",
    "status",
    "source",
    "metadata",
    "reminders",
    "holdExpiresAt",
    "holdPriority",
    "recurrenceRule",
    "recurrenceExdates",
    "recurrenceTimezone",
    "deletedAt",
    "createdAt",
    "updatedAt",
];

/// The fields of an answer to a write. It also has the state of the copy in a connected calendar.
fn written() -> Vec<&'static str> {
    [FIELDS, &["external_sync"]].concat()
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_created_and_read(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = json!({
        "title": "Retro 🚀", "start_time": "2026-05-04T11:00:00+02:00", "end_time": "2026-05-04T10:30:00Z",
        "description": "line\nline", "all_day": false, "status": "tentative", "metadata": { "n": [1, { "x": null }] },
        "reminders": [60, 5, 5]
    });
    let made = api.post(&events).json(body).await.expect(201);
    has_exactly(&made.json, &written());
    is_id(&made["id"], "evt_");
    assert_eq!((&made["calendarId"], &made["orgId"]), (&json!(calendar), &json!(org.id)));
    assert_eq!((&made["title"], &made["description"]), (&json!("Retro 🚀"), &json!("line\nline")));
    assert_eq!(made["startTime"], "2026-05-04T09:00:00Z");
    assert_eq!(made["endTime"], "2026-05-04T10:30:00Z");
    assert_eq!((&made["allDay"], &made["status"]), (&json!(false), &json!("tentative")));
    assert_eq!((&made["source"], &made["recurrenceExdates"]), (&json!("internal"), &json!([])));
    assert_eq!(made["metadata"], json!({ "n": [1, { "x": null }] }));
    let mut reminders: Vec<u64> = serde_json::from_value(made["reminders"].clone()).unwrap();
    reminders.sort_unstable();
    assert_eq!(reminders, [5, 60]);
    for null in ["holdExpiresAt", "holdPriority", "recurrenceRule", "recurrenceTimezone", "deletedAt"] {
        assert_eq!(made[null], json!(null), "{null}");
    }
    assert_eq!(made["external_sync"], json!({ "status": "not_configured" }));
    is_time(&made["createdAt"]);
    assert_eq!(made["createdAt"], made["updatedAt"]);

    // Both routes return the same event, without the state of the copy.
    let read = api.get(format!("{events}/{}", made.id())).await.expect(200);
    has_exactly(&read.json, FIELDS);
    for field in FIELDS {
        assert_eq!(read[field], made[field], "{field}");
    }
    assert_eq!(api.get(format!("/v1/events/{}", made.id())).await.expect(200).json, read.json);
    assert_eq!(api.get(&events).await.expect(200).data(), [read.json]);

    // The defaults. Events may overlap.
    let plain = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let plain = api.post(&events).json(plain).await.expect(201);
    assert_eq!((&plain["status"], &plain["allDay"]), (&json!("confirmed"), &json!(false)));
    assert_eq!((&plain["reminders"], &plain["description"]), (&json!(null), &json!(null)));
    assert_eq!(plain["metadata"], json!({}));
    let mut silent = event_body(&"é".repeat(500), "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    silent["reminders"] = json!([]);
    silent["status"] = json!("cancelled");
    let silent = api.post(&events).json(silent).await.expect(201);
    assert_eq!((&silent["reminders"], &silent["status"]), (&json!([]), &json!("cancelled")));
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_event_is_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let events = format!("/v1/calendars/{calendar}/events");
    for (field, value, param) in [
        ("title", json!(null), "title"),
        ("title", json!(""), "title"),
        ("title", json!("x".repeat(501)), "title"),
        ("title", json!("a\u{0}b"), "title"),
        ("title", json!(["x"]), "title"),
        ("start_time", json!(null), "start_time"),
        ("start_time", json!(1_777_888_999), "start_time"),
        ("end_time", json!({}), "end_time"),
        ("all_day", json!("yes"), "all_day"),
        ("status", json!("done"), "status"),
        ("metadata", json!([]), "metadata"),
        ("reminders", json!([0]), "reminders[0]"),
        ("reminders", json!([1, 40321]), "reminders[1]"),
        ("reminders", json!([1, 2, 3, 4, 5, 6]), "reminders"),
        ("reminders", json!([1.5]), "reminders[0]"),
        ("description", json!("a\u{0}b"), "description"),
        ("location", json!("x".repeat(501)), "location"),
        ("location", json!("a\u{0}b"), "location"),
        ("location", json!({ "room": 2 }), "location"),
        ("conference_url", json!(""), "conference_url"),
        ("conference_url", json!("http://meet.example.com/a"), "conference_url"),
        ("conference_url", json!("javascript:alert(1)"), "conference_url"),
        ("conference_url", json!("https://bank.example@evil.example/"), "conference_url"),
        ("conference_url", json!("https://meet.example.com/\r\nATTENDEE:mailto:a@example.com"), "conference_url"),
        ("conference_url", json!(format!("https://meet.example.com/{}", "a".repeat(2_000))), "conference_url"),
    ] {
        let mut body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
        body[field] = value;
        api.post(&events).json(body).await.refused(400, "validation_error").param(param);
    }
    for missing in ["title", "start_time", "end_time"] {
        let mut body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
        body.as_object_mut().unwrap().remove(missing);
        api.post(&events).json(body).await.refused(400, "validation_error").param(missing);
    }
    assert_eq!(api.get(&events).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_patch_changes_only_the_given_fields_on_both_routes(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let mut body = event_body("Retro", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    body["description"] = json!("first");
    body["metadata"] = json!({ "a": 1 });
    body["reminders"] = json!([15]);
    let made = api.post(&events).json(body).await.expect(201);
    for path in [format!("{events}/{}", made.id()), format!("/v1/events/{}", made.id())] {
        let before = api.get(&path).await.expect(200);
        let changed = api.patch(&path).json(json!({ "title": "Review" })).await.expect(200);
        has_exactly(&changed.json, &written());
        assert_eq!(changed["title"], "Review");
        assert_eq!(changed["external_sync"]["status"], "not_configured");
        for kept in FIELDS.iter().filter(|field| !["title", "updatedAt"].contains(field)) {
            assert_eq!(changed[kept], before[kept], "{kept}");
        }
        assert!(time(&changed["updatedAt"]) > time(&before["updatedAt"]));

        for (sent, field, returned) in [
            (json!({ "description": null }), "description", json!(null)),
            (json!({ "description": "first" }), "description", json!("first")),
            (json!({ "location": "Room 2" }), "location", json!("Room 2")),
            (json!({ "location": null }), "location", json!(null)),
            (
                json!({ "conference_url": "https://meet.example.com/a" }),
                "conferenceUrl",
                json!("https://meet.example.com/a"),
            ),
            (json!({ "conference_url": null }), "conferenceUrl", json!(null)),
            (json!({ "reminders": null }), "reminders", json!(null)),
            (json!({ "reminders": [] }), "reminders", json!([])),
            (json!({ "reminders": [15] }), "reminders", json!([15])),
            (json!({ "metadata": { "b": 2 } }), "metadata", json!({ "b": 2 })),
            (json!({ "status": "tentative" }), "status", json!("tentative")),
            (json!({ "status": "cancelled" }), "status", json!("cancelled")),
            (json!({ "status": "confirmed" }), "status", json!("confirmed")),
            (json!({ "end_time": "2026-05-04T10:30:00Z" }), "endTime", json!("2026-05-04T10:30:00Z")),
            (json!({ "start_time": "2026-05-04T12:15:00+02:00" }), "startTime", json!("2026-05-04T10:15:00Z")),
            (
                json!({ "all_day": true, "start_time": "2026-05-05", "end_time": "2026-05-07" }),
                "endTime",
                json!("2026-05-06T22:00:00Z"),
            ),
            (
                json!({ "all_day": false, "start_time": "2026-05-04T09:00:00Z", "end_time": "2026-05-04T10:00:00Z" }),
                "allDay",
                json!(false),
            ),
        ] {
            let changed = api.patch(&path).json(sent.clone()).await.expect(200);
            assert_eq!(changed[field], returned, "{sent}");
            assert_eq!(api.get(&path).await.expect(200)[field], returned, "{sent}");
        }

        let before = api.get(&path).await.expect(200);
        for field in ["title", "start_time", "end_time", "all_day", "status", "metadata"] {
            api.patch(&path).json(json!({ field: null })).await.refused(400, "validation_error").param(field);
        }
        for (body, param) in [
            (json!({ "title": "" }), "title"),
            (json!({ "status": "done" }), "status"),
            (json!({ "reminders": [0] }), "reminders[0]"),
            (json!({ "title": "Kept out", "metadata": 1 }), "metadata"),
        ] {
            api.patch(&path).json(body).await.refused(400, "validation_error").param(param);
        }
        api.patch(&path).json(json!({})).await.refused(400, "validation_error");
        // If only the end is given, it must be after the start.
        let early = api.patch(&path).json(json!({ "end_time": "2026-05-04T09:00:00Z" })).await;
        early.refused(400, "validation_error").param("end_time").code("end_before_start");
        for fixed in ["calendar_id", "source", "id"] {
            let answer = api.patch(&path).json(json!({ fixed: "x" })).await;
            answer.refused(400, "validation_error").param(fixed).code("unknown_field");
        }
        assert_eq!(api.get(&path).await.expect(200).json, before.json);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_event_is_gone_from_every_route(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    for by_calendar in [true, false] {
        let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
        let (own, nested) = (format!("/v1/events/{id}"), format!("/v1/calendars/{calendar}/events/{id}"));
        let deleted = api.delete(if by_calendar { &nested } else { &own }).await.expect(204);
        assert!(deleted.bytes.is_empty());
        for path in [&own, &nested] {
            api.get(path).await.refused(404, "not_found").code("event_not_found");
            api.patch(path).json(json!({ "title": "Back" })).await.refused(404, "not_found").code("event_not_found");
            api.delete(path).await.refused(404, "not_found").code("event_not_found");
        }
    }
    assert_eq!(api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200)["total"], 0);
    assert_eq!(api.get(format!("/v1/agents/{owner}/events")).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_events_are_not_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (_, foreign_calendar) = agent_with_calendar(&stranger).await;
    let foreign = event(&stranger, &foreign_calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let other = shared_calendar(&api, "UTC").await;
    let elsewhere = event(&api, &other, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let absent = format!("evt_{}", "0".repeat(26));
    let mut paths: Vec<String> = [&foreign, &absent, "evt_", "x", "%00", &foreign.to_uppercase()]
        .iter()
        .flat_map(|id| [format!("/v1/events/{id}"), format!("/v1/calendars/{calendar}/events/{id}")])
        .collect();
    // An event of the organization that is on another calendar than the route's.
    paths.push(format!("/v1/calendars/{calendar}/events/{elsewhere}"));
    for path in paths {
        api.get(&path).await.refused(404, "not_found").code("event_not_found");
        api.patch(&path).json(json!({ "title": "Mine" })).await.refused(404, "not_found").code("event_not_found");
        api.delete(&path).await.refused(404, "not_found").code("event_not_found");
    }
    // In another organization's calendar, not even the event's existence is revealed.
    let path = format!("/v1/calendars/{foreign_calendar}/events/{foreign}");
    api.get(&path).await.refused(404, "not_found");
    api.delete(&path).await.refused(404, "not_found");
    assert_eq!(stranger.get(format!("/v1/events/{foreign}")).await.expect(200)["title"], "Standup");
    api.get(format!("/v1/events/{elsewhere}")).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_batch_is_created_entirely_or_not_at_all(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let batch = format!("{events}/batch");
    let entry = |n: usize| event_body(&format!("No {n}"), "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");

    for (index, field, value, param, code) in [
        (3, "title", json!(""), "events[3].title", None),
        (0, "end_time", json!("2026-05-04T08:00:00Z"), "events[0].end_time", Some("end_before_start")),
        (4, "start_time", json!("2026-05-04T09:00:00"), "events[4].start_time", Some("invalid_time_format")),
        (1, "titel", json!("x"), "events[1].titel", Some("unknown_field")),
        (2, "reminders", json!([9, 0]), "events[2].reminders[1]", None),
        (2, "status", json!("done"), "events[2].status", None),
    ] {
        let mut entries: Vec<_> = (0..5).map(entry).collect();
        entries[index][field] = value;
        let answer = api.post(&batch).json(json!({ "events": entries })).await;
        let answer = answer.refused(400, "validation_error").param(param);
        if let Some(code) = code {
            answer.code(code);
        }
    }
    for count in [0, 101] {
        let entries: Vec<_> = (0..count).map(entry).collect();
        api.post(&batch).json(json!({ "events": entries })).await.refused(400, "validation_error").param("events");
    }
    api.post(&batch).json(json!({})).await.refused(400, "validation_error").param("events");
    assert_eq!(api.get(&events).await.expect(200)["total"], 0);

    let mut entries: Vec<_> = (0..100).map(entry).collect();
    entries[7] = json!({ "title": "Off", "start_time": "2026-05-05", "end_time": "2026-05-06", "all_day": true });
    let made = api.post(&batch).json(json!({ "events": entries })).await.expect(201).data();
    assert_eq!(made.len(), 100);
    for (index, event) in made.iter().enumerate() {
        has_exactly(event, &written());
        let title = if index == 7 { "Off".to_owned() } else { format!("No {index}") };
        assert_eq!(event["title"], title, "in the order given");
    }
    assert_eq!(made[7]["startTime"], "2026-05-04T22:00:00Z");
    assert_eq!(api.get(&events).await.expect(200)["total"], 100);
}
