//! `Idempotency-Key`: one effect, however often a request is sent.

use crate::on_both;
use crate::{
    fixtures::{agent, agent_with_calendar, calendar_of, event, event_body, rows},
    subscriber::NOWHERE,
};
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

const KEY: &str = "idempotency-key";
const REPLAYED: &str = "idempotency-replayed";

#[apply(on_both)]
#[tokio::test]
async fn a_repeated_request_gets_the_first_answer(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let body = json!({ "name": "Ada", "type": "ai" });
    let create = |key: &str, body: &serde_json::Value| api.post("/v1/agents").header(KEY, key).json(body.clone());

    let first = create("a", &body).await.expect(201);
    assert_eq!(first.header(REPLAYED), "");
    let again = create("a", &body).await.expect(201);
    assert_eq!((again.header(REPLAYED), &again.json), ("true", &first.json));
    assert_eq!(again.header("etag"), first.header("etag"));
    assert_eq!(again.header("x-service-plan"), "pro");
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    // Without a key or with another key, it is a new request.
    assert_ne!(create("b", &body).await.expect(201).id(), first.id());
    assert_ne!(api.post("/v1/agents").json(body.clone()).await.expect(201).id(), first.id());
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 3);

    // The same key with another body.
    let other = json!({ "name": "Bob", "type": "ai" });
    create("a", &other).await.refused(422, "validation_error").code("idempotency_mismatch");
    create("a", &json!({})).await.refused(422, "validation_error").code("idempotency_mismatch");
    assert_eq!(create("a", &body).await.expect(201).json, first.json, "the first answer stays");
    // The same key on another route is a new request.
    let calendar = json!({ "name": "Work", "timezone": "UTC" });
    let made = api.post("/v1/calendars").header(KEY, "a").json(calendar).await.expect(201);
    assert_eq!(made.header(REPLAYED), "");

    // The replay shows the original answer, even if the resource has changed since. It survives a restart.
    api.patch(format!("/v1/agents/{}", first.id())).json(json!({ "name": "Grace" })).await.expect(200);
    assert_eq!(create("a", &body).await.expect(201)["name"], "Ada");
    server.restart().await;
    let api = server.api(&org);
    let again = api.post("/v1/agents").header(KEY, "a").json(body).await.expect(201);
    assert_eq!((again.header(REPLAYED), &again.json), ("true", &first.json));
    let answer = api.post("/v1/agents").header(KEY, "a").json(other).await;
    answer.refused(422, "validation_error").code("idempotency_mismatch");
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 3);
}

#[apply(on_both)]
#[tokio::test]
async fn every_kind_of_write_is_repeatable(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let all = format!("/v1/agents/{owner}/ical-subscriptions");
    let subscribing = json!({ "calendar_id": calendar, "url": NOWHERE });
    let subscription = api.post(&all).json(json!({ "calendar_id": calendar, "url": format!("{NOWHERE}?first") })).await;
    let subscription = subscription.expect(201).id();
    let subscription = format!("/v1/ical-subscriptions/{subscription}");
    let paging = json!({ "calendar_id": calendar, "title": "Intro" });
    let page = api.post("/v1/booking-pages").json(paging.clone()).await.expect(201).id();
    let page = format!("/v1/booking-pages/{page}");
    let links = format!("/v1/calendars/{calendar}/connection-links");
    let asking = format!("/v1/calendars/{}/connection-links", calendar_of(&api, &owner).await);
    let link = api.post(&asking).json(json!({})).await.expect(201).id();
    let entry = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let slots = json!([{ "start_time": "2031-05-04T09:00:00Z", "end_time": "2031-05-04T10:00:00Z" }]);
    let proposing = json!({
        "title": "x", "organizer_agent_id": owner, "participant_agent_ids": [owner], "calendar_id": calendar,
        "slots": slots
    });
    let proposals = "/v1/scheduling/proposals";
    let propose = async || {
        let made = api.post(proposals).json(proposing.clone()).await.expect(201);
        (format!("{proposals}/{}", made.id()), made["slots"][0]["id"].clone())
    };
    let ((first, slot), (second, _), (third, _)) = (propose().await, propose().await, propose().await);
    let accepting = json!({ "agent_id": owner, "response": "accept", "selected_slot_id": slot });
    let other = api.post("/v1/agents").json(json!({ "name": "Bea", "type": "ai" })).await.expect(201).id();
    let mut pending = proposing.clone();
    pending["participant_agent_ids"] = json!([owner, other]);
    let fourth = format!("{proposals}/{}", api.post(proposals).json(pending).await.expect(201).id());
    let countering = json!({ "agent_id": owner, "response": "counter" });
    api.post(format!("{fourth}/respond")).json(countering.clone()).await.expect(200);
    for (number, (method, path, body)) in [
        ("POST", proposals.to_owned(), Some(proposing.clone())),
        ("POST", format!("{first}/respond"), Some(accepting)),
        ("POST", format!("{second}/cancel"), None),
        ("POST", format!("{third}/respond"), Some(countering)),
        ("POST", format!("{fourth}/resolve"), None),
        ("POST", format!("/v1/calendars/{calendar}/events"), Some(entry.clone())),
        ("POST", format!("/v1/calendars/{calendar}/events/batch"), Some(json!({ "events": [entry, entry] }))),
        ("POST", format!("/v1/calendars/{calendar}/ical-token/rotate"), None),
        ("PATCH", format!("/v1/agents/{owner}"), Some(json!({ "name": "Grace" }))),
        ("PATCH", format!("/v1/calendars/{calendar}"), Some(json!({ "name": "Play" }))),
        ("PATCH", format!("/v1/events/{id}"), Some(json!({ "title": "Retro" }))),
        ("POST", all, Some(subscribing)),
        ("POST", format!("{subscription}/sync"), None),
        ("PATCH", subscription.clone(), Some(json!({ "label": "Work" }))),
        ("DELETE", subscription, None),
        ("POST", "/v1/booking-pages".to_owned(), Some(paging)),
        ("PATCH", page.clone(), Some(json!({ "title": "Outro" }))),
        ("DELETE", page, None),
        ("POST", links, Some(json!({}))),
        ("DELETE", format!("/v1/connection-links/{link}"), None),
        ("DELETE", format!("/v1/events/{id}"), None),
        ("DELETE", format!("/v1/calendars/{calendar}"), None),
        ("DELETE", format!("/v1/agents/{owner}"), None),
    ]
    .into_iter()
    .enumerate()
    {
        let call = || {
            let call = api.call(method.parse().unwrap(), &path).header(KEY, format!("write-{number}"));
            match &body {
                Some(body) => call.json(body.clone()),
                None => call,
            }
        };
        let first = call().await;
        assert!([200, 201, 202, 204].contains(&first.status), "{}", first.describe());
        assert_eq!(first.header(REPLAYED), "", "{}", first.describe());
        let again = call().await.expect(first.status);
        assert_eq!((again.header(REPLAYED), &again.bytes), ("true", &first.bytes), "{}", again.describe());
        assert_eq!(again.header("etag"), first.header("etag"));
    }
    // Without a key, the deleted event is not found.
    api.delete(format!("/v1/events/{id}")).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn errors_are_not_replayed(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("free", &["--limits", r#"{"agents":1}"#]).await);
    let create = |body: serde_json::Value| api.post("/v1/agents").header(KEY, "k").json(body);
    create(json!({ "name": "" })).await.refused(400, "validation_error");
    create(json!({ "name": "", "type": "ai" })).await.refused(400, "validation_error").param("name");
    let made = create(json!({ "name": "Ada", "type": "ai" })).await.expect(201);
    assert_eq!(made.header(REPLAYED), "");
    let full = || api.post("/v1/agents").header(KEY, "full").json(json!({ "name": "Bob", "type": "ai" }));
    full().await.refused(429, "quota_exceeded");
    full().await.refused(429, "quota_exceeded");
    api.delete(format!("/v1/agents/{}", made.id())).await.expect(204);
    let bob = full().await.expect(201);
    assert_eq!(bob.header(REPLAYED), "");
    let rename = |id: &str| api.patch(format!("/v1/agents/{id}")).header(KEY, "p").json(json!({ "name": "x" }));
    rename("agt_x").await.refused(404, "not_found");
    rename(&bob.id()).await.expect(200);

    for key in ["", &"x".repeat(256)] {
        let answer = api.post("/v1/agents").header(KEY, key).json(json!({ "name": "x", "type": "ai" })).await;
        answer.refused(400, "validation_error").param("Idempotency-Key");
    }
    // A read ignores the key.
    api.get("/v1/agents").header(KEY, "k").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn organizations_do_not_share_keys(#[case] database: Database) {
    let server = Server::start(database).await;
    let (first, second) = (server.api(&server.org("pro").await), server.api(&server.org("pro").await));
    let body = json!({ "name": "Ada", "type": "ai" });
    let made = first.post("/v1/agents").header(KEY, "same").json(body.clone()).await.expect(201);
    let other = second.post("/v1/agents").header(KEY, "same").json(body.clone()).await.expect(201);
    assert_eq!(other.header(REPLAYED), "");
    assert_ne!(made.id(), other.id());
    assert_ne!(made["orgId"], other["orgId"]);
    let different = json!({ "name": "Bob", "type": "human" });
    let third = server.api(&server.org("pro").await);
    third.post("/v1/agents").header(KEY, "same").json(different).await.expect(201);
    let again = second.post("/v1/agents").header(KEY, "same").json(body).await.expect(201);
    assert_eq!(again.json, other.json);
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_is_forgotten_after_a_day(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let body = json!({ "name": "Ada", "type": "ai" });
    let first = server.api(&org).post("/v1/agents").header(KEY, "k").json(body.clone()).await.expect(201);
    server.restart_at_offset(23 * 3_600).await;
    let again = server.api(&org).post("/v1/agents").header(KEY, "k").json(body.clone()).await.expect(201);
    assert_eq!(again.id(), first.id());
    server.restart_at_offset(24 * 3_600 + 60).await;
    // The answer is no longer replayed, and is removed soon after.
    let began = std::time::Instant::now();
    while rows(&server, "idempotent_answers").await > 0 {
        assert!(began.elapsed().as_secs() < 60, "expired answers are removed");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let fresh = server.api(&org).post("/v1/agents").header(KEY, "k").json(body).await.expect(201);
    assert_eq!(fresh.header(REPLAYED), "");
    assert_ne!(fresh.id(), first.id());
    let other = json!({ "name": "Bob", "type": "ai" });
    let answer = server.api(&org).post("/v1/agents").header(KEY, "k").json(other).await;
    answer.refused(422, "validation_error").code("idempotency_mismatch");
}

#[apply(on_both)]
#[tokio::test]
async fn a_sign_up_is_repeatable(#[case] database: Database) {
    let server = Server::start(database).await;
    let body = json!({ "email": "ada@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    let sign_up = || {
        server
            .anonymous()
            .post("/v1/agent/sign-up")
            .header(KEY, "5b0f6b0e-6f0a-4d3e-9d0a-2f6f3c1d8a11")
            .json(body.clone())
    };
    let short = server.anonymous().post("/v1/agent/sign-up").header(KEY, "s").json(body.clone()).await;
    short.refused(400, "validation_error").param("Idempotency-Key");
    let first = sign_up().await.expect(200);
    let again = sign_up().await.expect(200);
    assert_eq!((again.header(REPLAYED), &again.json), ("true", &first.json), "the replay contains the API key");
    server.client(first["api_key"].as_str().unwrap()).get("/v1/agents").await.expect(200);
    assert_eq!(server.wait_for_mails(1).await.len(), 1, "one mail");
    agent(&server.api(&server.org("pro").await)).await;
}
