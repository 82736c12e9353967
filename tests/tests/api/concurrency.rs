//! Concurrent requests: limits, versions and idempotency keys still apply.

use crate::on_both;
use std::collections::BTreeMap;

use kalends_e2e::{Answer, Call, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::fixtures::{agent_with_calendar, event, event_body};

/// Sends all calls at once.
async fn all(calls: impl IntoIterator<Item = Call>) -> Vec<Answer> {
    let running: Vec<_> = calls.into_iter().map(|call| tokio::spawn(call.into_future())).collect();
    let mut answers = Vec::with_capacity(running.len());
    for call in running {
        answers.push(call.await.unwrap());
    }
    answers
}

/// The number of answers with each status.
fn statuses(answers: &[Answer]) -> BTreeMap<u16, usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        *counts.entry(answer.status).or_default() += 1;
        counts
    })
}

#[apply(on_both)]
#[tokio::test]
async fn the_last_place_is_given_once(#[case] database: Database) {
    let server = Server::start(database).await;
    let limits = r#"{"agents":3,"calendars":4,"events":5}"#;
    let api = server.api(&server.org_with("free", &["--limits", limits]).await);
    let (owner, calendar) = agent_with_calendar(&api).await;
    agent_with_calendar(&api).await;
    let answers = all((0..20).map(|_| api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([(201, 1), (429, 19)]));
    for answer in answers.into_iter().filter(|answer| answer.status == 429) {
        assert!(answer.error("quota_exceeded").header("retry-after").parse::<u64>().is_ok_and(|left| left > 0));
    }
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 3);

    // Shared calendars and an agent's calendars count towards one limit.
    let new = json!({ "name": "Work", "timezone": "UTC" });
    api.post("/v1/calendars").json(new.clone()).await.expect(201);
    let own = format!("/v1/agents/{owner}/calendars");
    let paths = (0..20).map(|n| if n % 2 == 0 { "/v1/calendars" } else { own.as_str() });
    let answers = all(paths.map(|path| api.post(path).json(new.clone()))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([(201, 1), (429, 19)]));

    let events = format!("/v1/calendars/{calendar}/events");
    for _ in 0..4 {
        event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    }
    let body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let answers = all((0..20).map(|_| api.post(&events).json(body.clone()))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([(201, 1), (429, 19)]));
    assert_eq!(api.get(&events).await.expect(200)["total"], 5);
}

#[apply(on_both)]
#[tokio::test]
async fn one_version_is_changed_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    for (path, field) in [
        (format!("/v1/agents/{owner}"), "name"),
        (format!("/v1/calendars/{calendar}"), "name"),
        (format!("/v1/events/{id}"), "title"),
    ] {
        let tag = api.get(&path).await.expect(200).header("etag").to_owned();
        let calls =
            (0..12).map(|n| api.patch(&path).header("if-match", &tag).json(json!({ field: format!("No {n}") })));
        let answers = all(calls).await;
        assert_eq!(statuses(&answers), BTreeMap::from([(200, 1), (412, 11)]), "{path}");
        let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
        assert_eq!(api.get(&path).await.expect(200)[field], winner[field]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn concurrent_changes_of_different_fields_are_all_kept(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let path = format!("/v1/events/{id}");
    let bodies = [
        json!({ "title": "Retro" }),
        json!({ "description": "long" }),
        json!({ "status": "tentative" }),
        json!({ "metadata": { "a": 1 } }),
        json!({ "reminders": [5] }),
        json!({ "end_time": "2026-05-04T11:00:00Z" }),
    ];
    let answers = all(bodies.into_iter().map(|body| api.patch(&path).json(body))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([(200, 6)]));
    let event = api.get(&path).await.expect(200);
    assert_eq!((&event["title"], &event["description"]), (&json!("Retro"), &json!("long")));
    assert_eq!((&event["status"], &event["metadata"]), (&json!("tentative"), &json!({ "a": 1 })));
    assert_eq!((&event["reminders"], &event["endTime"]), (&json!([5]), &json!("2026-05-04T11:00:00Z")));
}

#[apply(on_both)]
#[tokio::test]
async fn one_idempotency_key_has_one_effect(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    for round in 0..5 {
        let key = format!("round-{round}");
        let call = || api.post(&events).header("idempotency-key", &key).json(body.clone());
        let answers = all((0..16).map(|_| call())).await;
        let mut made = Vec::new();
        for answer in answers {
            if answer.status == 201 {
                made.push(answer.id());
            } else {
                // The first request was still running.
                answer.refused(409, "conflict");
            }
        }
        made.dedup();
        assert_eq!(made.len(), 1, "every successful answer shows the same event");
        let replayed = call().await.expect(201);
        assert_eq!((replayed.header("idempotency-replayed"), replayed.id()), ("true", made[0].clone()));
        assert_eq!(api.get(&events).await.expect(200)["total"], round + 1);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_empty_calendar_is_deleted_or_gets_its_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let body = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    for _ in 0..5 {
        let (_, calendar) = agent_with_calendar(&api).await;
        let path = format!("/v1/calendars/{calendar}");
        let answers =
            all([api.delete(format!("{path}?if_empty=true")), api.post(format!("{path}/events")).json(body.clone())])
                .await;
        match (answers[0].status, answers[1].status) {
            (204, 404) => {
                api.get(&path).await.refused(404, "not_found");
            }
            (409, 201) => assert_eq!(api.get(format!("{path}/events")).await.expect(200)["total"], 1),
            other => panic!("deleted although an event was accepted, or neither: {other:?}"),
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn writers_do_not_lose_each_others_events(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = |n: usize| event_body(&format!("No {n}"), "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let answers = all((0..60).map(|n| api.post(&events).json(body(n)))).await;
    assert_eq!(statuses(&answers), BTreeMap::from([(201, 60)]));
    let listed = api.get(format!("/v1/agents/{owner}/events?limit=200")).await.expect(200);
    let mut expected: Vec<_> = answers.iter().map(Answer::id).collect();
    expected.sort();
    assert_eq!(listed.column("id"), expected, "by start, then by identifier");
}

/// Writers without `If-Match` overwrite each other's changes, even if there are many at once.
#[apply(on_both)]
#[tokio::test]
async fn concurrent_writers_without_a_version_all_succeed(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("custom", &["--limits", r#"{"rate_per_second":100000}"#]).await);
    let (_, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let writers = (0..20).map(async |writer| {
        for round in 0..10 {
            let title = format!("{writer}-{round}");
            api.patch(format!("/v1/events/{id}")).json(json!({ "title": title })).await.expect(200);
            api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "name": title })).await.expect(200);
        }
    });
    futures::future::join_all(writers).await;
    let read = api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!(read.header("etag"), "\"201\"");
}
