//! Processes that do part of the work: which ones exist, and how they work together.

use std::time::Duration;

use kalends_e2e::{
    Client,
    Database::{Postgres, Sqlite},
    Server,
};
use rstest::rstest;
use serde_json::json;

use crate::{
    fixtures::{PATIENCE, measured, shared_calendar},
    holds::{hold_body, in_seconds},
};

#[rstest]
#[case("--workers-only")]
#[case("--no-workers")]
#[tokio::test]
async fn sqlite_has_one_process_for_everything(#[case] flag: &str) {
    let server = Server::start(Sqlite).await;
    let refused = server.cli(&["serve", flag]).await.failed();
    assert_eq!(refused.status.code(), Some(2), "{refused:#?}");
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains(flag) && refused.stderr.contains("KALENDS_DATABASE_URL"), "{}", refused.stderr);
}

#[tokio::test]
async fn the_two_flags_exclude_each_other() {
    let server = Server::start(Sqlite).await;
    let refused = server.cli(&["serve", "--workers-only", "--no-workers"]).await.failed();
    assert_eq!(refused.status.code(), Some(2), "{refused:#?}");
    let help = server.cli(&["serve", "--help"]).await.succeeded().stdout;
    assert!(help.contains("--workers-only") && help.contains("--no-workers"), "{help}");
}

/// Waits until `path` shows `value` in `field`.
async fn shows(api: &Client, path: &str, field: &str, value: &str) {
    let began = tokio::time::Instant::now();
    loop {
        let answer = api.get(path).await.expect(200);
        if answer[field] == value {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{}", answer.describe());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn requests_and_workers_run_separately_on_postgres() {
    let mut server = Server::start(Postgres).await;
    let org = server.org("pro").await;
    assert!(server.stop().await.success());
    server.start_again_as(&["serve", "--no-workers"], &[]).await;
    let api = server.api(&org);

    let calendar = shared_calendar(&api, "UTC").await;
    let until = in_seconds(&api, 600).await;
    let body = hold_body("2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z", &until, 0);
    let hold = api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id();
    let path = format!("/v1/events/{hold}");
    let version = api.get(&path).await.expect(200).header("etag").to_owned();

    // The worker's clock is ahead, so that the hold has expired for it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let variables = [("KALENDS_CLOCK_OFFSET_SECONDS", "700"), ("KALENDS_METRICS_LISTEN", &*free)];
    let worker = server.another_node_with(&["serve", "--workers-only"], &variables).await;
    shows(&api, &path, "status", "cancelled").await;
    assert_ne!(api.get(&path).await.expect(200).header("etag"), version);

    // The worker answers only health checks.
    let client = worker.api(&org).undescribed();
    for path in ["/health", "/ready"] {
        assert_eq!(client.get(path).await.expect(200)["status"], "ok");
    }
    for path in ["/v1/agents", "/openapi.json", "/docs/", "/", &path] {
        client.get(path).await.refused(404, "not_found");
    }
    client.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.refused(404, "not_found");

    // The worker's duties run independently of each other, and some take long.
    measured(
        &free,
        &[
            r#"kalends_duty_runs_total{duty="expired_holds",outcome="done"}"#,
            r#"kalends_duty_things_total{duty="expired_holds"} 1"#,
            r#"kalends_duty_lateness_seconds_count{duty="expired_holds"}"#,
            r#"kalends_duty_runs_total{duty="purge",outcome="done"}"#,
        ],
    )
    .await;
}
