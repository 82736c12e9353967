//! Several nodes copy events to a user's calendar, and one of them is killed.

use std::time::Duration;

use kalends_e2e::{Client, Database::Postgres, Server, iso};
use serde_json::json;

use crate::{
    connecting::{Connecting, HUMAN},
    console::PASSWORD,
    fixtures::{PATIENCE, event_body, wait_for},
    publishing::{MANY, copied, counts, create_many, has_each_once},
    publishing_pages::{connected_to_write, destination_path, put},
};

/// A client of the user at a node.
async fn console_at(node: &Server) -> Client {
    let body = json!({ "email": HUMAN, "password": PASSWORD });
    let answer = node.anonymous().post("/v1/auth/signin").json(body).await.expect(200);
    node.client(answer["token"].as_str().unwrap())
}

#[tokio::test]
async fn a_node_that_is_killed_leaves_one_copy_of_each_event() {
    // More than two groups of events go to the provider.
    let count = 60;
    let mut it = Connecting::new(Postgres).await;
    let connection = connected_to_write(&it).await;
    create_many(&it, count).await;
    // The answer to the first group never arrives, so that its copies are not recorded.
    it.microsoft.cuts(1);
    put(&it, &connection, 0, "confirmed").await.expect(200);
    let began = tokio::time::Instant::now();
    while copied(&it, 0).is_empty() {
        assert!(began.elapsed() < PATIENCE, "nothing is copied");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    it.server.kill().await;

    // For another node, the claim of the first one has ended.
    let later = [("KALENDS_CLOCK_OFFSET_SECONDS", "900")];
    let node = it.server.another_node_with(&["serve"], &later).await;
    let console = console_at(&node).await;
    let all = json!({ "published": count, "diverged": 0 });
    wait_for(async || console.get(destination_path(&it)).await, |now| now["copies"] == all).await;
    has_each_once(&it, count);
}

#[tokio::test]
async fn two_nodes_write_each_copy_once() {
    let it = Connecting::new(Postgres).await;
    let node = it.server.another_node().await;
    let connection = connected_to_write(&it).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    let other = node.api(&it.org);
    for number in 0..MANY {
        let api = if number % 2 == 0 { &it.api } else { &other };
        let (start, end) = (iso(it.time(number * 20)), iso(it.time(number * 20 + 15)));
        let body = event_body(&format!("Event {number}"), &start, &end);
        api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201);
    }
    counts(&it, MANY.unsigned_abs(), 0).await;
    has_each_once(&it, MANY);
}
