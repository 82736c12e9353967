//! Agents: create, read, change, decommission.

use crate::fixtures::{agent, agent_with_calendar, event, has_exactly, is_id, is_time, time};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

const FIELDS: &[&str] = &["id", "orgId", "name", "type", "description", "status", "metadata", "createdAt", "updatedAt"];

#[apply(on_both)]
#[tokio::test]
async fn an_agent_is_created_and_read(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let body = json!({
        "name": "Ada", "type": "human", "description": "Plans the week", "metadata": { "team": ["a", 1, null], "é": 1.5 }
    });
    let made = api.post("/v1/agents").json(body).await.expect(201);
    has_exactly(&made.json, FIELDS);
    is_id(&made["id"], "agt_");
    assert_eq!(made["orgId"], org.id);
    assert_eq!(made["name"], "Ada");
    assert_eq!(made["type"], "human");
    assert_eq!(made["description"], "Plans the week");
    assert_eq!(made["status"], "active");
    assert_eq!(made["metadata"], json!({ "team": ["a", 1, null], "é": 1.5 }));
    is_time(&made["createdAt"]);
    assert_eq!(made["createdAt"], made["updatedAt"]);
    assert_eq!(made.header("content-type"), "application/json");

    let read = api.get(format!("/v1/agents/{}", made.id())).await.expect(200);
    assert_eq!(read.json, made.json);

    // Without the optional fields.
    let plain = api.post("/v1/agents").json(json!({ "name": "Bob", "type": "resource" })).await.expect(201);
    has_exactly(&plain.json, FIELDS);
    assert_eq!((&plain["description"], &plain["metadata"]), (&json!(null), &json!({})));
    // Names are counted in characters, not in bytes.
    for name in ["é".repeat(255), "x".into()] {
        let made = api.post("/v1/agents").json(json!({ "name": name, "type": "ai" })).await.expect(201);
        assert_eq!(made["name"], name);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_agent_is_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for (body, param) in [
        (json!({}), "name"),
        (json!({ "type": "ai" }), "name"),
        (json!({ "name": "Ada" }), "type"),
        (json!({ "name": "", "type": "ai" }), "name"),
        (json!({ "name": "x".repeat(256), "type": "ai" }), "name"),
        (json!({ "name": "a\u{0}b", "type": "ai" }), "name"),
        (json!({ "name": 7, "type": "ai" }), "name"),
        (json!({ "name": null, "type": "ai" }), "name"),
        (json!({ "name": "Ada", "type": "robot" }), "type"),
        (json!({ "name": "Ada", "type": "AI" }), "type"),
        (json!({ "name": "Ada", "type": "ai", "description": 7 }), "description"),
        (json!({ "name": "Ada", "type": "ai", "description": "a\u{0}b" }), "description"),
        (json!({ "name": "Ada", "type": "ai", "metadata": [] }), "metadata"),
        (json!({ "name": "Ada", "type": "ai", "metadata": "{}" }), "metadata"),
    ] {
        api.post("/v1/agents").json(body).await.refused(400, "validation_error").param(param);
    }
    for body in [json!([]), json!("Ada"), json!(7), json!(null)] {
        api.post("/v1/agents").json(body).await.refused(400, "validation_error");
    }
    // None of these was stored.
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_patch_changes_only_the_given_fields(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let body = json!({ "name": "Ada", "type": "ai", "description": "first", "metadata": { "a": 1, "b": 2 } });
    let made = api.post("/v1/agents").json(body).await.expect(201);
    let path = format!("/v1/agents/{}", made.id());

    let renamed = api.patch(&path).json(json!({ "name": "Grace" })).await.expect(200);
    has_exactly(&renamed.json, FIELDS);
    assert_eq!(renamed["name"], "Grace");
    for kept in ["id", "orgId", "type", "description", "status", "metadata", "createdAt"] {
        assert_eq!(renamed[kept], made[kept], "{kept}");
    }
    assert!(time(&renamed["updatedAt"]) > time(&made["updatedAt"]));

    // Metadata is replaced, not merged. Null clears the description. The status changes in both directions.
    assert_eq!(
        api.patch(&path).json(json!({ "metadata": { "c": 3 } })).await.expect(200)["metadata"],
        json!({ "c": 3 })
    );
    assert_eq!(api.patch(&path).json(json!({ "metadata": {} })).await.expect(200)["metadata"], json!({}));
    assert_eq!(api.patch(&path).json(json!({ "description": null })).await.expect(200)["description"], json!(null));
    assert_eq!(api.patch(&path).json(json!({ "description": "new" })).await.expect(200)["description"], "new");
    assert_eq!(api.patch(&path).json(json!({ "status": "paused" })).await.expect(200)["status"], "paused");
    assert_eq!(api.patch(&path).json(json!({ "status": "paused" })).await.expect(200)["status"], "paused");
    assert_eq!(api.patch(&path).json(json!({ "status": "active" })).await.expect(200)["status"], "active");

    let before = api.get(&path).await.expect(200);
    for (body, param) in [
        (json!({ "name": null }), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": "x".repeat(256) }), "name"),
        (json!({ "metadata": null }), "metadata"),
        (json!({ "metadata": [1] }), "metadata"),
        (json!({ "status": null }), "status"),
        (json!({ "status": "decommissioned" }), "status"),
        (json!({ "status": "asleep" }), "status"),
        (json!({ "description": false }), "description"),
        // One bad field makes the whole change fail.
        (json!({ "name": "Kept out", "status": null }), "status"),
    ] {
        api.patch(&path).json(body).await.refused(400, "validation_error").param(param);
    }
    api.patch(&path).json(json!({})).await.refused(400, "validation_error");
    // The type is fixed at creation.
    api.patch(&path).json(json!({ "type": "human" })).await.refused(400, "validation_error").code("unknown_field");
    assert_eq!(api.get(&path).await.expect(200).json, before.json);
}

#[apply(on_both)]
#[tokio::test]
async fn a_decommissioned_agent_stays_readable_without_its_calendars(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (id, calendar) = agent_with_calendar(&api).await;
    let kept = agent(&api).await;
    let standup = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let path = format!("/v1/agents/{id}");

    let gone = api.delete(&path).await.expect(204);
    assert!(gone.bytes.is_empty());
    assert_eq!(api.get(&path).await.expect(200)["status"], "decommissioned");
    assert_eq!(api.get("/v1/agents?status=decommissioned").await.expect(200).column("id"), [id.as_str()]);
    assert_eq!(api.get("/v1/agents?status=active").await.expect(200).column("id"), [kept]);
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 2);

    for path in [
        format!("/v1/calendars/{calendar}"),
        format!("/v1/calendars/{calendar}/context"),
        format!("/v1/calendars/{calendar}/events"),
        format!("/v1/calendars/{calendar}/availability?start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z"),
    ] {
        api.get(path).await.refused(404, "not_found").code("calendar_not_found");
    }
    api.get(format!("/v1/calendars/{calendar}/events/{standup}")).await.refused(404, "not_found");
    api.get(format!("/v1/events/{standup}")).await.refused(404, "not_found").code("event_not_found");
    api.delete(format!("/v1/events/{standup}")).await.refused(404, "not_found").code("event_not_found");
    assert_eq!(api.get("/v1/calendars?include=all").await.expect(200)["total"], 0);

    // Decommissioning cannot be undone.
    api.patch(&path).json(json!({ "status": "active" })).await.refused(409, "conflict");
    let body = json!({ "name": "Late", "timezone": "UTC" });
    api.post(format!("{path}/calendars")).json(body).await.refused(409, "conflict");
    api.get(format!("{path}/availability?start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z"))
        .await
        .refused(404, "not_found")
        .code("agent_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_agents_are_not_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (foreign, _) = agent_with_calendar(&stranger).await;
    let absent = format!("agt_{}", "0".repeat(26));
    let upper = foreign.to_uppercase();
    let swapped = foreign.replace("agt_", "cal_");
    let body = json!({ "name": "Work", "timezone": "UTC" });
    let range = "start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z";
    for id in [&foreign, &absent, &upper, &swapped, "agt_", "x", "%00", "%F0%9F%A6%80", "agt_%2e%2e%2f"] {
        let missing = |answer: kalends_e2e::Answer| answer.refused(404, "not_found").code("agent_not_found");
        missing(api.get(format!("/v1/agents/{id}")).await);
        missing(api.patch(format!("/v1/agents/{id}")).json(json!({ "name": "Mine" })).await);
        missing(api.delete(format!("/v1/agents/{id}")).await);
        missing(api.get(format!("/v1/agents/{id}/calendars")).await);
        missing(api.post(format!("/v1/agents/{id}/calendars")).json(body.clone()).await);
        missing(api.get(format!("/v1/agents/{id}/events")).await);
        missing(api.get(format!("/v1/agents/{id}/availability?{range}")).await);
    }
    assert_eq!(stranger.get(format!("/v1/agents/{foreign}")).await.expect(200)["name"], "Ada");
}
