//! Keys of one agent: creation, listing, revocation, and the agent's state.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{Client, Database, Database::Postgres, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::claims::DAY;
use crate::fixtures::{
    agent, agent_with_calendar, calendar_of, event, has_exactly, is_id, is_time, now, time, wait_for, wait_until,
};

async fn key_of(api: &Client, agent: &str) -> Value {
    api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "laptop" })).await.expect(201).json
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_is_returned_once_and_works_for_its_agent(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (own, calendar) = agent_with_calendar(&api).await;
    let (other, theirs) = agent_with_calendar(&api).await;
    let made = key_of(&api, &own).await;
    has_exactly(&made, &["id", "key", "key_prefix", "agent_id", "label", "created_at"]);
    is_id(&made["id"], "key_");
    is_time(&made["created_at"]);
    assert_eq!((&made["agent_id"], &made["label"]), (&json!(own), &json!("laptop")));
    let key = text(&made["key"]);
    assert!(key.strip_prefix("svc_ak_").is_some_and(|random| random.len() == 43), "{key}");
    assert_eq!(made["key_prefix"], key[..20]);

    let unnamed = api.post("/v1/keys").json(json!({ "agent_id": other })).await.expect(201);
    assert!(unnamed["label"].is_null());
    let listed = api.get("/v1/keys").await.expect(200);
    has_exactly(&listed.json, &["keys"]);
    let keys = listed["keys"].as_array().unwrap().clone();
    assert_eq!(keys.len(), 2);
    let shown = ["id", "key_prefix", "agent_id", "label", "created_at", "created_by", "last_used_on"];
    has_exactly(&keys[0], &shown);
    assert_eq!((&keys[0]["id"], &keys[1]["id"]), (&made["id"], &unnamed["id"]), "the oldest first");
    assert_eq!((&keys[0]["created_by"], &keys[0]["last_used_on"]), (&json!(org.key[..20]), &Value::Null));
    assert!(!listed.text().contains(&key[20..]), "the key is not shown again");

    let scoped = server.client(&key);
    assert_eq!(scoped.get(format!("/v1/agents/{own}")).await.expect(200).header("x-service-plan"), "pro");
    let entry = event(&scoped, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    scoped.get(format!("/v1/events/{entry}")).await.expect(200);
    scoped.get(format!("/v1/calendars/{theirs}")).await.refused(403, "forbidden");
    calendar_of(&scoped, &own).await;
    scoped.get("/v1/agents").await.refused(403, "forbidden");
    scoped.get("/v1/keys").await.refused(403, "forbidden");
    scoped.post("/v1/keys").json(json!({ "agent_id": own })).await.refused(403, "forbidden");
    scoped.delete(format!("/v1/keys/{}", text(&made["id"]))).await.refused(403, "forbidden");
    // Lists show only the key's own agent, whatever the request asks for.
    calendar_of(&api, &other).await;
    api.post("/v1/calendars").json(json!({ "name": "Shared", "timezone": "UTC" })).await.expect(201);
    for include in ["", "?include=all"] {
        let seen = scoped.get(format!("/v1/calendars{include}")).await.expect(200);
        assert_eq!(seen["total"], 2);
        assert!(seen.data().iter().all(|calendar| calendar["agentId"] == own.as_str()), "{}", seen.describe());
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_revoked_key_stops_working_at_once(#[case] database: Database) {
    let (mut server, api) = Server::with_org(database, "pro").await;
    let own = agent(&api).await;
    let made = key_of(&api, &own).await;
    let scoped = server.client(&text(&made["key"]));
    let path = format!("/v1/keys/{}", text(&made["id"]));
    scoped.get(format!("/v1/agents/{own}")).await.expect(200);
    api.delete(&path).await.expect(204);
    scoped.get(format!("/v1/agents/{own}")).await.refused(401, "unauthorized");
    api.delete(&path).await.refused(404, "not_found").code("key_not_found");
    assert_eq!(api.get("/v1/keys").await.expect(200)["keys"], json!([]));
    server.restart().await;
    server.client(&text(&made["key"])).get(format!("/v1/agents/{own}")).await.refused(401, "unauthorized");
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_shows_the_day_of_its_last_use(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let own = agent(&api).await;
    let (used, unused) = (key_of(&api, &own).await, key_of(&api, &own).await);
    let now = time(&json!(now(&api).await));
    // At noon of a later day, so that no day ends while the test runs.
    let noon = DAY + DAY / 2 - now.timestamp().rem_euclid(DAY);
    for days in [0, 2] {
        let ahead = noon + days * DAY;
        server.restart_at_offset(ahead).await;
        for _ in 0..3 {
            server.client(&text(&used["key"])).get(format!("/v1/agents/{own}")).await.expect(200);
        }
        // A request that is refused for its reach uses the key too. A wrong key is nobody's.
        server.client(&text(&used["key"])).get("/v1/agents").await.refused(403, "forbidden");
        server.client(&format!("svc_ak_{}", "A".repeat(43))).get("/v1/agents").await.refused(401, "unauthorized");
        // A clean stop writes what the process has noted.
        server.restart().await;
        let day = (now + TimeDelta::seconds(ahead)).date_naive().to_string();
        let listed = server.api(&org).get("/v1/keys").await.expect(200);
        let seen: Vec<_> = listed["keys"].as_array().unwrap().iter().map(|key| key["last_used_on"].clone()).collect();
        assert_eq!(seen, [json!(day), Value::Null]);
        assert_eq!(listed["keys"][1]["id"], unused["id"]);
    }

    // The running process writes it too, within seconds.
    server.client(&text(&unused["key"])).get(format!("/v1/agents/{own}")).await.expect(200);
    let api = server.api(&org);
    wait_for(|| async { api.get("/v1/keys").await }, |answer| answer["keys"][1]["last_used_on"].is_string()).await;
}

#[apply(on_both)]
#[tokio::test]
async fn keys_follow_the_state_of_their_agent(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (own, calendar) = agent_with_calendar(&api).await;
    let scoped = server.client(&text(&key_of(&api, &own).await["key"]));
    let body = json!({ "title": "x", "start_time": "2026-05-04T09:00:00Z", "end_time": "2026-05-04T10:00:00Z" });
    let create = || scoped.post(format!("/v1/calendars/{calendar}/events")).json(body.clone());
    let read = || scoped.get(format!("/v1/calendars/{calendar}"));
    create().await.expect(201);

    api.patch(format!("/v1/agents/{own}")).json(json!({ "status": "paused" })).await.expect(200);
    create().await.refused(403, "forbidden").code("agent_paused");
    read().await.expect(200);
    api.post(format!("/v1/calendars/{calendar}/events")).json(body.clone()).await.expect(201);
    api.patch(format!("/v1/agents/{own}")).json(json!({ "status": "active" })).await.expect(200);
    create().await.expect(201);

    api.delete(format!("/v1/agents/{own}")).await.expect(204);
    read().await.refused(401, "unauthorized");
    create().await.refused(401, "unauthorized");
    assert_eq!(api.get("/v1/keys").await.expect(200)["keys"], json!([]));
    api.post("/v1/keys").json(json!({ "agent_id": own })).await.refused(409, "conflict").code("agent_decommissioned");
}

#[apply(on_both)]
#[tokio::test]
async fn bad_key_requests_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let own = agent(&api).await;
    let ask = |body: Value| api.post("/v1/keys").json(body);
    for label in ["", " ", &"x".repeat(101), "a\u{0}b"] {
        ask(json!({ "agent_id": own, "label": label })).await.refused(400, "validation_error").param("label");
    }
    ask(json!({ "label": "x" })).await.refused(400, "validation_error").param("agent_id");
    ask(json!({ "agent_id": own, "scope": "all" })).await.refused(400, "validation_error").code("unknown_field");
    let foreign = agent(&server.api(&server.org("pro").await)).await;
    for missing in ["agt_nobody", foreign.as_str(), ""] {
        ask(json!({ "agent_id": missing })).await.refused(404, "not_found").code("agent_not_found");
    }
    for path in ["/v1/keys/key_nothing", "/v1/keys/x"] {
        api.delete(path).await.refused(404, "not_found").code("key_not_found");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn scoped_keys_need_a_plan_and_have_a_cap(#[case] database: Database) {
    let server = Server::start(database).await;
    let free = server.api(&server.org("free").await);
    let own = agent(&free).await;
    for refused in [
        free.post("/v1/keys").json(json!({ "agent_id": own })).await,
        free.get("/v1/keys").await,
        free.delete("/v1/keys/key_nothing").await,
    ] {
        let refused = refused.refused(403, "plan_required");
        let error = &refused["error"];
        assert_eq!((&error["required_plan"], &error["feature"]), (&json!("pro"), &json!("scoped_keys")));
        assert!(error["upgrade_url"].is_null() && error["docs_url"].is_string());
    }

    let org = server.org_with("pro", &["--limits", r#"{"scoped_keys":2}"#]).await;
    let api = server.api(&org);
    let own = agent(&api).await;
    let first = key_of(&api, &own).await;
    let second = key_of(&api, &own).await;
    let full = api.post("/v1/keys").json(json!({ "agent_id": own })).await.refused(429, "quota_exceeded");
    assert!(full.header("retry-after").parse::<i64>().is_ok_and(|seconds| seconds > 0));
    api.delete(format!("/v1/keys/{}", text(&first["id"]))).await.expect(204);
    key_of(&api, &own).await;

    // After a downgrade, existing keys can be listed and revoked, but none can be added.
    server.cli(&["org", "set-plan", &org.id, "free"]).await.succeeded();
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.header("x-service-plan") == "free").await;
    assert_eq!(api.get("/v1/keys").await.expect(200)["keys"].as_array().map(Vec::len), Some(2));
    api.post("/v1/keys").json(json!({ "agent_id": own })).await.refused(403, "plan_required");
    api.delete(format!("/v1/keys/{}", text(&second["id"]))).await.expect(204);
}

#[apply(on_both)]
#[tokio::test]
async fn a_repeated_request_creates_one_key(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let own = agent(&api).await;
    let ask = || api.post("/v1/keys").header("Idempotency-Key", "once").json(json!({ "agent_id": own }));
    let first = ask().await.expect(201);
    let again = ask().await.expect(201);
    assert_eq!((&again.json, again.header("idempotency-replayed")), (&first.json, "true"));
    assert_eq!(api.get("/v1/keys").await.expect(200)["keys"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_revoked_key_is_refused_on_every_node() {
    let (server, api) = Server::with_org(Postgres, "pro").await;
    let node = server.another_node().await;
    let own = agent(&api).await;
    let read = format!("/v1/agents/{own}");
    for ends in ["key", "agent"] {
        let made = key_of(&api, &own).await;
        let there = node.client(&text(&made["key"]));
        there.get(&read).await.expect(200);
        there.get(&read).await.expect(200);
        match ends {
            "key" => api.delete(format!("/v1/keys/{}", text(&made["id"]))).await.expect(204),
            _ => api.delete(&read).await.expect(204),
        };
        there.get(&read).await.refused(401, "unauthorized");
    }
}
