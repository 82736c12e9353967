//! The tools that find and call any operation.

use crate::on_both;
use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    core_tools::{names, run, wrong},
    fixtures::{agent_with_calendar, event},
};

/// The answer of an operation that succeeds.
async fn call(api: &Client, operation: &str, arguments: Value) -> Value {
    run(api, "call_operation", json!({ "operation": operation, "arguments": arguments })).await
}

/// The error of an operation that fails.
async fn refused(api: &Client, operation: &str, arguments: Value) -> Value {
    wrong(api, "call_operation", json!({ "operation": operation, "arguments": arguments })).await
}

async fn found(api: &Client, query: &str) -> Vec<String> {
    let found = run(api, "search_operations", json!({ "query": query })).await;
    let operations = found["operations"].as_array().unwrap().iter();
    operations.map(|one| one["operation"].as_str().unwrap().to_owned()).collect()
}

async fn key_of(server: &Server, api: &Client, agent: &str) -> Client {
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    server.client(key["key"].as_str().unwrap())
}

#[apply(on_both)]
#[tokio::test]
async fn an_operation_is_found_and_called(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let own = key_of(&server, &api, &agent).await;
    for api in [&api, &own] {
        let listed = names(api, "core").await;
        assert!(["search_operations", "call_operation"].iter().all(|name| listed.contains(&(*name).to_owned())));
    }

    let one = run(&api, "search_operations", json!({ "query": "create booking page", "count": 1 })).await;
    assert_eq!(one["operations"].as_array().unwrap().len(), 1, "{one:#}");
    let one = &one["operations"][0];
    assert_eq!(one["operation"], "createBookingPage");
    assert!(one["summary"].is_string() && one["arguments"]["properties"]["calendar_id"].is_object(), "{one:#}");
    let some = found(&api, "make webhooks").await;
    assert!(some.len() <= 5 && some[0] == "createWebhook", "{some:?}");
    let other = found(&own, "make webhooks").await;
    assert!(other.iter().all(|name| !name.contains("Webhook")), "{other:?}");
    let nothing = run(&api, "search_operations", json!({ "query": "weather" })).await;
    assert_eq!(nothing["operations"], json!([]));
    assert!(nothing["note"].as_str().unwrap().contains("booking-pages"), "{nothing:#}");

    let fields = json!({ "calendar_id": calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
    let page = call(&own, "createBookingPage", fields).await;
    assert!(page["version"].is_u64() && page["id"].is_string(), "{page:#}");
    let shown = call(&own, "showBookingPage", json!({ "slug": page["slug"] })).await;
    assert!(shown["text"].as_str().unwrap().contains("Intro"), "{shown:#}");
    assert_eq!(shown.get("untrusted"), None, "{shown:#}");

    let audited = api.get("/v1/audit-log?action=booking_page.create").await.expect(200);
    assert_eq!(audited.data().len(), 1, "{}", audited.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn a_change_may_name_the_version(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let made = call(&api, "createAgent", json!({ "name": "Ada", "type": "ai", "description": "Plans" })).await;
    let (agent, version) = (&made["id"], &made["version"]);
    // Some models send the arguments as text.
    let text = json!({ "id": agent, "description": null, "if_match": version }).to_string();
    let changed = call(&api, "updateAgent", json!(text)).await;
    assert_eq!(changed["description"], Value::Null, "{changed:#}");
    assert_ne!(&changed["version"], version);
    let error = refused(&api, "updateAgent", json!({ "id": agent, "name": "Bob", "if_match": version })).await;
    assert_eq!((&error["code"], &error["param"]), (&json!("stale"), &json!("arguments.if_match")), "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn texts_are_sent_and_returned(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let one = event(&api, &calendar, "2038-03-01T09:00:00Z", "2038-03-01T09:15:00Z").await;
    let exported = call(&api, "exportCalendar", json!({ "id": calendar })).await;
    let text = exported["text"].as_str().unwrap();
    assert!(text.starts_with("BEGIN:VCALENDAR") && text.contains("Standup"), "{text}");
    assert_eq!(exported["untrusted"], true);

    let (_, other) = agent_with_calendar(&api).await;
    let report = call(&api, "importCalendar", json!({ "id": other, "content": text })).await;
    assert_eq!(report["created"], 1, "{report:#}");
    assert_eq!(call(&api, "deleteEvent", json!({ "id": one })).await, json!({ "done": true }));
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_calls_are_answered_with_what_is_right(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, _) = agent_with_calendar(&api).await;
    let own = key_of(&server, &api, &agent).await;
    let check = |error: &Value, param: &str, says: &str| {
        assert_eq!(error["param"], param, "{error:#}");
        assert!(error["message"].as_str().unwrap().contains(says), "{error:#}");
    };
    check(&wrong(&api, "search_operations", json!({ "query": "x".repeat(201) })).await, "query", "200");
    check(&wrong(&api, "search_operations", json!({ "query": "keys", "count": 6 })).await, "count", "1 to 5");
    check(&wrong(&api, "search_operations", json!({})).await, "query", "is required");

    check(&refused(&api, "create_webhook", json!({})).await, "operation", "createWebhook");
    let unknown = refused(&own, "createWebhook", json!({})).await;
    check(&unknown, "operation", "search_operations");
    assert!(!unknown["message"].as_str().unwrap().contains("deleteWebhook"), "{unknown:#}");
    check(&refused(&api, "signIn", json!({})).await, "operation", "search_operations");

    check(&refused(&api, "getAgent", json!({})).await, "arguments.id", "is required");
    check(&refused(&api, "listAgents", json!({ "colour": "red" })).await, "arguments.colour", "colour");
    let named = json!({ "name": "Ada", "type": "ai", "colour": "red" });
    check(&refused(&api, "createAgent", named).await, "arguments.colour", "colour");
    check(&refused(&api, "listAgents", json!("limit=5")).await, "arguments", "must be an object");
    let missing = refused(&api, "getEvent", json!({ "id": "evt_00000000000000000000000000" })).await;
    assert_eq!(missing["type"], "not_found", "{missing:#}");
}
