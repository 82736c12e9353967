//! The tools that are written for models: who the caller is, and what takes place.

use crate::on_both;
use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::agent_with_calendar;

const PROTOCOL: &str = "2025-06-18";

/// Sends one request of the protocol to the endpoint with these tools, and returns its result.
pub(crate) async fn result(api: &Client, sets: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let path = format!("/mcp?tools={sets}");
    api.post(&path).json(body).header("mcp-protocol-version", PROTOCOL).await.expect(200).at("/result")
}

/// What a tool returns, as its text shows it, and the result with it.
pub(crate) async fn called(api: &Client, name: &str, arguments: Value) -> (Value, Value) {
    let result = result(api, "core", "tools/call", json!({ "name": name, "arguments": arguments })).await;
    assert!(result.get("structuredContent").is_none(), "the result is there once: {result:#}");
    let content = result["content"].as_array().unwrap();
    let text = content.last().unwrap()["text"].as_str().unwrap();
    (serde_json::from_str(text).unwrap_or_else(|_| panic!("{name}: {text}")), result)
}

/// The result of a tool that succeeds.
pub(crate) async fn run(api: &Client, name: &str, arguments: Value) -> Value {
    let (value, result) = called(api, name, arguments).await;
    assert_eq!(result["isError"], false, "{name}: {value:#}");
    value
}

/// The error of a tool that fails.
pub(crate) async fn wrong(api: &Client, name: &str, arguments: Value) -> Value {
    let (value, result) = called(api, name, arguments).await;
    assert_eq!(result["isError"], true, "{name}: {value:#}");
    value["error"].clone()
}

/// The entries of all pages of a list. Each answer has them in `field`.
pub(crate) async fn all_pages(api: &Client, sets: &str, method: &str, field: &str) -> Vec<Value> {
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let page = result(api, sets, method, params).await;
        all.extend(page[field].as_array().unwrap().iter().cloned());
        let Some(cursor) = page.get("nextCursor") else { return all };
        params = json!({ "cursor": cursor });
    }
}

/// The names of the listed tools.
pub(crate) async fn names(api: &Client, sets: &str) -> Vec<String> {
    let tools = all_pages(api, sets, "tools/list", "tools").await;
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_learns_who_it_is(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let found = run(&api, "whoami", json!({})).await;
    assert_eq!(
        (&found["agents"][0]["agent_id"], &found["calendars"][0]["calendar_id"]),
        (&json!(agent), &json!(calendar))
    );
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    let own = server.client(key.at("/key").as_str().unwrap());
    let found = run(&own, "whoami", json!({})).await;
    assert_eq!((&found["agent"]["agent_id"], found.get("agents")), (&json!(agent), None), "{found:#}");
    assert_eq!(found["calendars"][0]["calendar_id"], json!(calendar));
}

#[apply(on_both)]
#[tokio::test]
async fn a_list_shows_occurrences_in_local_times(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let series = json!({
        "title": "Standup", "start_time": "2038-03-01T09:00:00Z", "end_time": "2038-03-01T09:15:00Z",
        "recurrence_rule": "FREQ=DAILY;COUNT=5",
    });
    api.post(format!("/v1/calendars/{calendar}/events")).json(series).await.expect(201);
    let asked = json!({
        "calendar_id": calendar, "start": "2038-03-02", "end": "2038-03-03", "timezone": "Europe/Berlin"
    });
    let found = run(&api, "list_events", asked).await;
    let when: Vec<_> =
        found["events"].as_array().unwrap().iter().map(|event| event["when"].as_str().unwrap()).collect();
    assert_eq!(when, ["Tue 2038-03-02 10:00-10:15 Europe/Berlin", "Wed 2038-03-03 10:00-10:15 Europe/Berlin"]);

    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    let own = server.client(key.at("/key").as_str().unwrap());
    let found =
        run(&own, "list_events", json!({ "start": "2038-03-01T09:10:00Z", "end": "2038-03-01T10:00:00Z" })).await;
    assert_eq!(found["events"].as_array().unwrap().len(), 1, "what began earlier is listed: {found:#}");

    let error = wrong(&api, "list_events", json!({})).await;
    assert_eq!(error["param"], "calendar_id", "{error:#}");
    let error =
        wrong(&api, "list_events", json!({ "calendar_id": calendar, "start": "2038-03-01", "end": "2029-03-01" }))
            .await;
    assert_eq!(error["param"], "end", "{error:#}");
    let error = wrong(&api, "list_events", json!({ "calender": calendar })).await;
    assert!(error["message"].as_str().unwrap().contains("calendar_id"), "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn sets_of_tools_are_chosen_by_name(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let core = names(&api, "core").await;
    assert!(core.len() <= 20 && core.contains(&"whoami".to_owned()), "{core:?}");
    let some = names(&api, "core,webhooks").await;
    assert!(some.contains(&"createWebhook".to_owned()) && !some.contains(&"createAgent".to_owned()), "{some:?}");
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} });
    let refused = api.post("/mcp?tools=hooks").json(body).header("mcp-protocol-version", PROTOCOL).await.expect(400);
    assert_eq!(refused.at("/error/param"), "tools");
}
