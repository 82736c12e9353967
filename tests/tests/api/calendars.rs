//! Calendars: create, read, change, delete, and their feed address.

use crate::fixtures::{
    agent, agent_with_calendar, calendar_of, event, has_exactly, is_id, is_time, shared_calendar, time,
};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

const FIELDS: &[&str] = &[
    "id",
    "orgId",
    "agentId",
    "name",
    "timezone",
    "metadata",
    "externalId",
    "provider",
    "deletedAt",
    "createdAt",
    "updatedAt",
    "agent_status",
    "default_reminders",
    "ical_url",
];

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_is_created_and_read(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let owner = agent(&api).await;
    let body = json!({
        "name": "Work", "timezone": "Europe/Berlin", "agent_status": "working", "default_reminders": [30, 5, 30],
        "metadata": { "a": true }
    });
    let made = api.post(format!("/v1/agents/{owner}/calendars")).json(body).await.expect(201);
    has_exactly(&made.json, FIELDS);
    is_id(&made["id"], "cal_");
    assert_eq!((&made["orgId"], &made["agentId"]), (&json!(org.id), &json!(owner)));
    assert_eq!((&made["name"], &made["timezone"]), (&json!("Work"), &json!("Europe/Berlin")));
    assert_eq!((&made["agent_status"], &made["metadata"]), (&json!("working"), &json!({ "a": true })));
    let mut reminders: Vec<u64> = serde_json::from_value(made["default_reminders"].clone()).unwrap();
    reminders.sort_unstable();
    assert_eq!(reminders, [5, 30], "duplicates are merged");
    for null in ["externalId", "provider", "deletedAt"] {
        assert_eq!(made[null], json!(null), "{null}");
    }
    is_time(&made["createdAt"]);
    assert_eq!(made["createdAt"], made["updatedAt"]);
    let feed = made["ical_url"].as_str().unwrap();
    let token = feed.strip_prefix(&format!("{}/ical/", server.base_url())).and_then(|rest| rest.strip_suffix(".ics"));
    assert!(token.is_some_and(|token| token.len() >= 22), "128 random bits at least: {feed}");
    assert_eq!(api.get(format!("/v1/calendars/{}", made.id())).await.expect(200).json, made.json);

    // A shared calendar with the defaults.
    let shared = api.post("/v1/calendars").json(json!({ "name": "All", "timezone": "UTC" })).await.expect(201);
    has_exactly(&shared.json, FIELDS);
    assert_eq!((&shared["agentId"], &shared["agent_status"]), (&json!(null), &json!("idle")));
    assert_eq!((&shared["default_reminders"], &shared["metadata"]), (&json!(null), &json!({})));
    assert_ne!(shared["ical_url"], made["ical_url"]);
    let silent = json!({ "name": "Silent", "timezone": "Asia/Kolkata", "default_reminders": [] });
    assert_eq!(api.post("/v1/calendars").json(silent).await.expect(201)["default_reminders"], json!([]));
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_calendar_is_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    for path in ["/v1/calendars".to_owned(), format!("/v1/agents/{owner}/calendars")] {
        for (body, param) in [
            (json!({ "timezone": "UTC" }), "name"),
            (json!({ "name": "Work" }), "timezone"),
            (json!({ "name": "", "timezone": "UTC" }), "name"),
            (json!({ "name": "x".repeat(256), "timezone": "UTC" }), "name"),
            (json!({ "name": "Work", "timezone": "UTC", "agent_status": "asleep" }), "agent_status"),
            (json!({ "name": "Work", "timezone": "UTC", "default_reminders": [0] }), "default_reminders[0]"),
            (json!({ "name": "Work", "timezone": "UTC", "default_reminders": [5, 40321] }), "default_reminders[1]"),
            (
                json!({ "name": "Work", "timezone": "UTC", "default_reminders": [1, 2, 3, 4, 5, 6] }),
                "default_reminders",
            ),
            (json!({ "name": "Work", "timezone": "UTC", "default_reminders": 10 }), "default_reminders"),
            (json!({ "name": "Work", "timezone": "UTC", "metadata": 1 }), "metadata"),
        ] {
            api.post(&path).json(body).await.refused(400, "validation_error").param(param);
        }
        for zone in ["Mars/Olympus", "", "UTC+1", "+01:00", "Europe/Berlin\u{0}"] {
            let body = json!({ "name": "Work", "timezone": zone });
            api.post(&path)
                .json(body)
                .await
                .refused(400, "validation_error")
                .param("timezone")
                .code("invalid_timezone");
        }
    }
    assert_eq!(api.get("/v1/calendars?include=all").await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_patch_changes_only_the_given_fields(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    let body = json!({ "name": "Work", "timezone": "UTC", "default_reminders": [15], "metadata": { "a": 1 } });
    let made = api.post(format!("/v1/agents/{owner}/calendars")).json(body).await.expect(201);
    let path = format!("/v1/calendars/{}", made.id());

    let renamed = api.patch(&path).json(json!({ "name": "Play" })).await.expect(200);
    has_exactly(&renamed.json, FIELDS);
    assert_eq!(renamed["name"], "Play");
    for kept in ["id", "agentId", "timezone", "metadata", "agent_status", "default_reminders", "ical_url", "createdAt"]
    {
        assert_eq!(renamed[kept], made[kept], "{kept}");
    }
    assert!(time(&renamed["updatedAt"]) > time(&made["updatedAt"]));
    for (field, value) in [
        ("timezone", json!("America/New_York")),
        // Each status may follow any other.
        ("agent_status", json!("error")),
        ("agent_status", json!("waiting")),
        ("agent_status", json!("idle")),
        ("default_reminders", json!([1, 40320])),
        ("default_reminders", json!([])),
        ("default_reminders", json!(null)),
        ("metadata", json!({ "b": { "c": [] } })),
    ] {
        let changed = api.patch(&path).json(json!({ field: value.clone() })).await.expect(200);
        let sorted = |value: &serde_json::Value| {
            let mut minutes: Vec<u64> = serde_json::from_value(value.clone()).unwrap_or_default();
            minutes.sort_unstable();
            minutes
        };
        if value.is_array() {
            assert_eq!(sorted(&changed[field]), sorted(&value), "{field}");
        } else {
            assert_eq!(changed[field], value, "{field}");
        }
    }

    let before = api.get(&path).await.expect(200);
    for (body, param) in [
        (json!({ "name": null }), "name"),
        (json!({ "timezone": null }), "timezone"),
        (json!({ "agent_status": null }), "agent_status"),
        (json!({ "metadata": null }), "metadata"),
        (json!({ "name": "Kept out", "default_reminders": [0] }), "default_reminders[0]"),
        (json!({ "agent_status": "" }), "agent_status"),
    ] {
        api.patch(&path).json(body).await.refused(400, "validation_error").param(param);
    }
    let bad_zone = api.patch(&path).json(json!({ "timezone": "Nowhere" })).await;
    bad_zone.refused(400, "validation_error").param("timezone").code("invalid_timezone");
    api.patch(&path).json(json!({})).await.refused(400, "validation_error");
    api.patch(&path).json(json!({ "agent_id": "agt_x" })).await.refused(400, "validation_error").code("unknown_field");
    assert_eq!(api.get(&path).await.expect(200).json, before.json);
}

#[apply(on_both)]
#[tokio::test]
async fn deleting_a_calendar_deletes_its_events_unless_if_empty_is_set(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let standup = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let path = format!("/v1/calendars/{calendar}");

    api.delete(format!("{path}?if_empty=true")).await.refused(409, "conflict").code("calendar_has_events");
    api.delete(format!("{path}?if_empty=maybe")).await.refused(400, "validation_error").param("if_empty");
    api.get(format!("/v1/events/{standup}")).await.expect(200);
    api.delete(format!("{path}?if_empty=false")).await.expect(204);

    api.get(&path).await.refused(404, "not_found").code("calendar_not_found");
    api.patch(&path).json(json!({ "name": "Back" })).await.refused(404, "not_found").code("calendar_not_found");
    api.delete(&path).await.refused(404, "not_found").code("calendar_not_found");
    api.post(format!("{path}/ical-token/rotate")).await.refused(404, "not_found").code("calendar_not_found");
    api.get(format!("/v1/events/{standup}")).await.refused(404, "not_found").code("event_not_found");
    assert_eq!(api.get(format!("/v1/agents/{owner}/events")).await.expect(200)["total"], 0);
    assert_eq!(api.get(format!("/v1/agents/{owner}/calendars")).await.expect(200)["total"], 0);

    // A calendar with only deleted events counts as empty.
    let calendar = calendar_of(&api, &owner).await;
    let standup = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    api.delete(format!("/v1/events/{standup}")).await.expect(204);
    api.delete(format!("/v1/calendars/{calendar}?if_empty=true")).await.expect(204);
    api.get(format!("/v1/calendars/{calendar}")).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_feed_address_can_be_replaced(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}");
    let before = api.get(&path).await.expect(200);
    let rotated = api.post(format!("{path}/ical-token/rotate")).await.expect(200);
    has_exactly(&rotated.json, FIELDS);
    assert_ne!(rotated["ical_url"], before["ical_url"]);
    for kept in ["id", "name", "timezone", "createdAt"] {
        assert_eq!(rotated[kept], before[kept], "{kept}");
    }
    assert_eq!(api.get(&path).await.expect(200).json, rotated.json);
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_calendars_are_not_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (_, foreign) = agent_with_calendar(&stranger).await;
    let foreign_shared = shared_calendar(&stranger, "UTC").await;
    let range = "start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z";
    let new = json!({ "title": "Mine", "start_time": "2026-05-04T09:00:00Z", "end_time": "2026-05-04T10:00:00Z" });
    let absent = format!("cal_{}", "z".repeat(26));
    for id in [&foreign, &foreign_shared, &absent, &foreign.replace("cal_", ""), "CAL_0", "%00"] {
        let missing = |answer: kalends_e2e::Answer| answer.refused(404, "not_found").code("calendar_not_found");
        missing(api.get(format!("/v1/calendars/{id}")).await);
        missing(api.patch(format!("/v1/calendars/{id}")).json(json!({ "name": "Mine" })).await);
        missing(api.delete(format!("/v1/calendars/{id}")).await);
        missing(api.get(format!("/v1/calendars/{id}/context")).await);
        missing(api.post(format!("/v1/calendars/{id}/ical-token/rotate")).await);
        missing(api.get(format!("/v1/calendars/{id}/availability?{range}")).await);
        missing(api.get(format!("/v1/calendars/{id}/events")).await);
        missing(api.post(format!("/v1/calendars/{id}/events")).json(new.clone()).await);
        missing(api.post(format!("/v1/calendars/{id}/events/batch")).json(json!({ "events": [new] })).await);
    }
    assert_eq!(stranger.get(format!("/v1/calendars/{foreign}/events")).await.expect(200)["total"], 0);
}
