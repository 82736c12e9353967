//! The scope of an `Idempotency-Key`: one caller, on every node.

use crate::on_both;
use std::collections::BTreeSet;

use futures::future::join_all;
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres},
    Server,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    fixtures::{agent_with_calendar, event_body},
};

const REPLAYED: &str = "idempotency-replayed";

async fn create(api: &Client, path: &str, key: &str, body: &Value) -> Answer {
    api.post(path).header("idempotency-key", key).json(body.clone()).await
}

fn body(title: &str) -> Value {
    event_body(title, "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z")
}

#[apply(on_both)]
#[tokio::test]
async fn two_keys_of_one_organization_have_separate_scopes(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (own, calendar) = agent_with_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let mut callers = vec![api.clone()];
    for _ in 0..2 {
        let made = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
        callers.push(server.client(&text(&made["key"])));
    }
    let mut made = Vec::new();
    for caller in &callers {
        let answer = create(caller, &path, "same", &body("x")).await.expect(201);
        assert_eq!(answer.header(REPLAYED), "", "{}", answer.describe());
        made.push(answer.id());
    }
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 3, "{made:?}");
    // Each caller gets its own answer again.
    for (caller, id) in callers.iter().zip(&made) {
        let again = create(caller, &path, "same", &body("x")).await.expect(201);
        assert_eq!((again.header(REPLAYED), &again.id()), ("true", id));
    }
    // A caller's request does not conflict with another caller's request that has the same key.
    for (number, caller) in callers.iter().enumerate() {
        let answer = create(caller, &path, "other", &body(&format!("No {number}"))).await.expect(201);
        assert_eq!((answer.header(REPLAYED), &answer["title"]), ("", &json!(format!("No {number}"))));
    }
    create(&callers[1], &path, "other", &body("No 2"))
        .await
        .refused(422, "validation_error")
        .code("idempotency_mismatch");
    assert_eq!(api.get(&path).await.expect(200)["total"], 6);
}

#[tokio::test]
async fn concurrent_requests_on_two_nodes_create_one_event() {
    let server = Server::start(Postgres).await;
    let org = server.org("pro").await;
    let node = server.another_node().await;
    let nodes = [server.api(&org), node.api(&org)];
    let (_, calendar) = agent_with_calendar(&nodes[0]).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let body = body("x");
    for round in 0..8 {
        let key = format!("round-{round}");
        let answers = join_all((0..8).map(|number| create(&nodes[number % 2], &path, &key, &body))).await;
        let (mut ids, mut fresh) = (BTreeSet::new(), 0);
        for answer in answers {
            if answer.status == 201 {
                fresh += u32::from(answer.header(REPLAYED).is_empty());
                ids.insert(answer.id());
            } else {
                // The first request was still running.
                answer.refused(409, "conflict");
            }
        }
        assert_eq!((ids.len(), fresh), (1, 1), "every successful answer shows the same event");
        for node in &nodes {
            let again = create(node, &path, &key, &body).await.expect(201);
            assert!(again.header(REPLAYED) == "true" && ids.contains(&again.id()), "{}", again.describe());
            assert_eq!(node.get(&path).await.expect(200)["total"], round + 1);
        }
        // Another body with the same key is a mismatch on every node.
        let other = json!({ "title": "y", "start_time": body["start_time"], "end_time": body["end_time"] });
        for node in &nodes {
            create(node, &path, &key, &other).await.refused(422, "validation_error").code("idempotency_mismatch");
        }
    }
}
