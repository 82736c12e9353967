//! Start and stop, and what survives a restart.

use crate::on_both;
use std::time::{Duration, Instant};

use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::fixtures::{PATIENCE, agent_with_calendar, event};

/// What the service sends when it begins to read the body of a request that expects it.
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
/// Part of the warning about requests that did not end in the time that a stop gives them.
const CUT_OFF: &str = "are cut off";

/// Everything that an organization can see.
async fn everything(api: &Client) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in ["/v1/agents", "/v1/calendars?include=all"] {
        seen.extend(api.get(path).await.expect(200).data());
    }
    for calendar in api.get("/v1/calendars?include=all").await.expect(200).column("id") {
        seen.extend(api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data());
    }
    seen
}

/// The same without the feeds' base URL, which changes with the server's port.
fn without_addresses(mut seen: Vec<Value>) -> Vec<Value> {
    for resource in &mut seen {
        if let Some(url) = resource["ical_url"].as_str() {
            resource["ical_url"] = json!(url.rsplit('/').next());
        }
    }
    seen
}

#[apply(on_both)]
#[tokio::test]
async fn a_restart_keeps_everything(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    for hour in [9, 10, 11] {
        let body = json!({
            "title": format!("Retro {hour} ü"), "description": "Where we stand", "metadata": { "room": hour },
            "start_time": format!("2026-05-04T{hour:02}:00:00.5Z"), "end_time": format!("2026-05-04T{hour:02}:30:00Z"),
        });
        api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201);
    }
    let before = without_addresses(everything(&api).await);
    assert_eq!(before.len(), 5);
    let status = server.stop().await;
    assert_eq!(status.code(), Some(0));
    server.start_again(&[]).await;
    assert_eq!(without_addresses(everything(&server.api(&org)).await), before);

    // Everything also survives a crash, once its request was answered.
    let id = event(&server.api(&org), &calendar, "2026-05-05T09:00:00Z", "2026-05-05T10:00:00Z").await;
    server.kill().await;
    server.start_again(&[]).await;
    let api = server.api(&org);
    api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!(everything(&api).await.len(), 6);
    // A clock offset affects new timestamps but not stored ones.
    server.restart_at_offset(86_400).await;
    let api = server.api(&org);
    let ts = kalends_e2e::at(api.get("/health").await.expect(200)["ts"].as_str().unwrap());
    let made = api.get(format!("/v1/events/{id}")).await.expect(200);
    let age = ts - kalends_e2e::at(made["createdAt"].as_str().unwrap());
    assert!((86_400..86_400 + 600).contains(&age.num_seconds()), "{age}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_stop(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let body = r#"{"name":"Last","type":"ai"}"#;
    let head = format!(
        "POST /v1/agents HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        server.address(),
        org.key,
        body.len()
    );
    // An idle connection does not delay the stop.
    let _idle = TcpStream::connect(server.address()).await.unwrap();
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    // The service asks for the body, so the request is in flight.
    let mut interim = [0; CONTINUE.len()];
    timeout(PATIENCE, connection.read_exact(&mut interim)).await.unwrap().unwrap();
    assert_eq!(std::str::from_utf8(&interim), Ok(CONTINUE));
    connection.write_all(&body.as_bytes()[..10]).await.unwrap();
    server.terminate().await;
    // New connections are soon refused.
    let began = Instant::now();
    while server.api(&org).get("/v1/agents").attempt().await.is_ok() {
        assert!(began.elapsed() < PATIENCE, "connections are still accepted");
        sleep(Duration::from_millis(20)).await;
    }
    connection.write_all(&body.as_bytes()[10..]).await.unwrap();
    let mut answer = String::new();
    timeout(PATIENCE, connection.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    // It ends without waiting for the idle connection.
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(!server.log().contains(CUT_OFF), "{}", server.log());

    server.start_again(&[]).await;
    let agents = server.api(&org).get("/v1/agents").await.expect(200);
    assert_eq!(agents.data()[0]["name"], "Last");
}

#[apply(on_both)]
#[tokio::test]
async fn an_interrupt_also_stops_the_server(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let pid = server.pid().to_string();
    // A running request is given ten seconds to end. There is none here.
    let _idle = TcpStream::connect(server.address()).await.unwrap();
    let sent = tokio::process::Command::new("kill").args(["-INT", &pid]).status().await.unwrap();
    assert!(sent.success());
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(!server.log().contains(CUT_OFF), "{}", server.log());
}

#[apply(on_both)]
#[tokio::test]
async fn a_first_start_makes_the_tables(#[case] database: Database) {
    let mut server = Server::first_start(database).await;
    let org = server.org("pro").await;
    let (agent, _) = agent_with_calendar(&server.api(&org)).await;
    server.restart().await;
    let agents = server.api(&org).get("/v1/agents").await.expect(200);
    assert_eq!(agents.column("id"), [agent]);
}

#[apply(on_both)]
#[tokio::test]
async fn migrations_can_be_run_by_command(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    // Again, while a server runs: there is nothing left to do.
    server.cli(&["migrate"]).await.succeeded();
    server.cli(&["migrate"]).await.succeeded();
    assert!(server.stop().await.success());
    server.cli(&["migrate"]).await.succeeded();
    server.start_again(&[("KALENDS_MIGRATE", "false")]).await;
    server.api(&org).get("/v1/agents").await.expect(200);
}
