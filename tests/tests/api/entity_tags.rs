//! `ETag` and `If-Match` of single resources.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, event, event_body, shared_calendar};

/// The entity tag of an answer. It must be a strong tag.
#[track_caller]
fn tag(answer: &Answer) -> String {
    let tag = answer.header("etag");
    assert!(tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"'), "{}", answer.describe());
    tag.to_owned()
}

/// The path of each kind of resource, and a valid change to it.
async fn resources(api: &Client) -> Vec<(String, Value)> {
    let owner = agent(api).await;
    let calendar = shared_calendar(api, "UTC").await;
    let (_, busy) = agent_with_calendar(api).await;
    let first = event(api, &busy, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let second = event(api, &busy, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    vec![
        (format!("/v1/agents/{owner}"), json!({ "name": "x" })),
        (format!("/v1/calendars/{calendar}"), json!({ "name": "x" })),
        (format!("/v1/events/{first}"), json!({ "title": "x" })),
        (format!("/v1/calendars/{busy}/events/{second}"), json!({ "title": "x" })),
    ]
}

#[apply(on_both)]
#[tokio::test]
async fn if_match_binds_a_change_to_the_version_read(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for (path, change) in resources(&api).await {
        let read = tag(&api.get(&path).await.expect(200));
        assert_eq!(tag(&api.get(&path).await.expect(200)), read);
        let patch = |condition: &str| api.patch(&path).header("if-match", condition).json(change.clone());

        let changed = tag(&patch(&read).await.expect(200));
        assert_ne!(changed, read);
        assert_eq!(tag(&api.get(&path).await.expect(200)), changed);
        let before = api.get(&path).await.expect(200).json;
        for stale in [read.as_str(), "\"no such tag\"", &format!("W/{changed}"), &format!("{read}, \"other\"")] {
            patch(stale).await.refused(412, "conflict").code("stale");
            api.delete(&path).header("if-match", stale).await.refused(412, "conflict").code("stale");
        }
        for malformed in ["x", "3", "\"open", "", "\"a\" \"b\"", "**"] {
            patch(malformed).await.refused(400, "validation_error").param("If-Match");
            api.delete(&path).header("if-match", malformed).await.refused(400, "validation_error").param("If-Match");
        }
        assert_eq!(api.get(&path).await.expect(200).json, before, "none of these changed it");

        let changed = tag(&patch("*").await.expect(200));
        let changed = tag(&patch(&format!("\"other\",{changed} , {read}")).await.expect(200));
        // A request without `If-Match` is unconditional.
        let unconditional = tag(&api.patch(&path).json(change.clone()).await.expect(200));
        assert_ne!(unconditional, changed);
        api.delete(&path).header("if-match", &unconditional).await.expect(204);
    }
    // A missing resource has no version.
    let absent = api.patch("/v1/agents/agt_x").header("if-match", "\"1\"").json(json!({ "name": "x" })).await;
    absent.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn every_answer_with_one_resource_is_tagged(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let made = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201);
    assert_eq!(tag(&made), tag(&api.get(format!("/v1/agents/{}", made.id())).await.expect(200)));
    let new = json!({ "name": "Work", "timezone": "UTC" });
    let calendar = api.post(format!("/v1/agents/{}/calendars", made.id())).json(new).await.expect(201);
    let path = format!("/v1/calendars/{}", calendar.id());
    assert_eq!(tag(&calendar), tag(&api.get(&path).await.expect(200)));
    let rotated = api.post(format!("{path}/ical-token/rotate")).await.expect(200);
    assert_ne!(tag(&rotated), tag(&calendar));
    assert_eq!(tag(&rotated), tag(&api.get(&path).await.expect(200)));

    let body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let made = api.post(format!("{path}/events")).json(body).await.expect(201);
    let by_id = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    let by_calendar = api.get(format!("{path}/events/{}", made.id())).await.expect(200);
    assert_eq!((tag(&made), tag(&made)), (tag(&by_id), tag(&by_calendar)));
    // A tag belongs to one row. A new event does not change its calendar's tag.
    assert_eq!(tag(&api.get(&path).await.expect(200)), tag(&rotated));
    assert_eq!(api.get("/v1/agents").await.expect(200).header("etag"), "");
}
