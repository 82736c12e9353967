//! Dry runs: requests that are checked and answered, and keep nothing. That every operation has them is tested with the
//! examples of the description.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, event, event_body};

/// What lists show of the organization.
async fn shown(api: &Client, calendar: &str) -> Vec<Value> {
    let mut shown = Vec::new();
    for path in [
        "/v1/agents",
        "/v1/calendars",
        "/v1/webhooks",
        "/v1/keys",
        "/v1/booking-pages",
        "/v1/hold-sets",
        "/v1/audit-log?limit=200",
        "/v1/mail",
        &format!("/v1/calendars/{calendar}/events"),
        &format!("/v1/calendars/{calendar}/changes"),
    ] {
        let mut answer = api.get(path).await.expect(200).json;
        // The next token of a mirror depends on the time.
        answer.as_object_mut().unwrap().remove("next");
        shown.push(answer);
    }
    shown
}

#[track_caller]
fn is_dry(answer: &Answer) {
    assert_eq!(answer.header("kalends-dry-run"), "true", "{}", answer.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn a_dry_run_keeps_nothing(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let (start, end) = ("2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z");
    let taken = event(&api, &calendar, start, end).await;
    let before = shown(&api, &calendar).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = event_body("Dry", start, end);

    let made = api.post(format!("{events}?dry_run=true")).json(body.clone()).await.expect(201);
    is_dry(&made);
    assert_eq!(made["title"], "Dry");
    api.get(format!("/v1/events/{}", made.id())).await.refused(404, "not_found");
    let batch = json!({ "events": [body.clone(), body.clone()] });
    is_dry(&api.post(format!("{events}/batch?dry_run=true")).json(batch).await.expect(201));
    let path = format!("/v1/events/{taken}?dry_run=true");
    let changed = api.patch(&path).json(json!({ "title": "Changed" })).await.expect(200);
    is_dry(&changed);
    assert_eq!((&changed["title"], changed.header("etag")), (&json!("Changed"), "\"2\""));
    is_dry(&api.delete(&path).await.expect(204));
    is_dry(&api.delete(format!("/v1/calendars/{calendar}?dry_run=true")).await.expect(204));
    is_dry(&api.delete(format!("/v1/agents/{agent}?dry_run=true")).await.expect(204));

    // Secrets are not shown, because they open nothing.
    let hook = json!({ "url": "https://kalends.invalid/hook", "events": ["*"] });
    let hook = api.post("/v1/webhooks?dry_run=true").json(hook).await.expect(201);
    is_dry(&hook);
    assert_eq!(hook["secret"], "(dry run)");
    let room = json!({ "name": "Room", "timezone": "UTC" });
    let room = api.post("/v1/calendars?dry_run=true").json(room).await.expect(201);
    assert_eq!(room["ical_url"], "(dry run)");
    let key = api.post("/v1/keys?dry_run=true").json(json!({ "agent_id": agent })).await.expect(201);
    is_dry(&key);
    assert_eq!(key["key"], "(dry run)");

    // A dry run is refused as the request itself, and says so without the header.
    let mut conflicting = body.clone();
    conflicting["if_free"] = json!(true);
    let refused = api.post(format!("{events}?dry_run=true")).json(conflicting).await.refused(409, "conflict");
    assert_eq!(refused.header("kalends-dry-run"), "");
    let stale = api.patch(&path).header("if-match", "\"7\"").json(json!({ "title": "x" }));
    stale.await.expect(412);
    assert_eq!(shown(&api, &calendar).await, before);

    // With false, it is an ordinary request.
    let made = api.post(format!("{events}?dry_run=false")).json(body).await.expect(201);
    assert_eq!(made.header("kalends-dry-run"), "");
    api.get(format!("/v1/events/{}", made.id())).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_dry_run_ignores_the_idempotency_key(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = event_body("Dry", "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z");
    let ask = |path: String| api.post(path).header("idempotency-key", "one").json(body.clone());
    is_dry(&ask(format!("{events}?dry_run=true")).await.expect(201));
    let made = ask(events.clone()).await.expect(201);
    assert_eq!(made.header("idempotency-replayed"), "");
    let again = ask(events.clone()).await.expect(201);
    assert_eq!((again.id(), again.header("idempotency-replayed")), (made.id(), "true"));
    assert_eq!(api.get(&events).await.expect(200)["total"], 1);
}
