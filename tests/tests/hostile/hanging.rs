//! A database that hangs: it answers nothing and closes no connection. A stop does not wait for it.

use std::{process::Stdio, time::Duration};

use kalends_e2e::{Database, Server, binary};
use rstest::rstest;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use tokio::{process::Command, time::timeout};

use crate::{proxy::Proxy, raw::Connection};

/// The longest wait on a busy machine for a server to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most concurrent queries of a server without requests and duties: the key epoch and the data keys.
const OF_EACH_NODE: usize = 2;

/// Requires that `server` ends by itself, as after any stop, and starts again once Postgres answers.
async fn stops_and_starts_again(server: &mut Server, direct: &str) {
    server.terminate().await;
    let status = server.ended().await;
    // A process that was killed by a signal has no exit code.
    assert_eq!(status.code(), Some(0), "{status}");
    assert!(server.log().contains("the database did not close in time"), "{}", server.log());
    server.start_again_as(&["serve"], &[("KALENDS_DATABASE_URL", direct)]).await;
}

#[rstest]
#[case::reads("GET")]
#[case::writes("POST")]
#[tokio::test]
async fn a_stop_does_not_wait_for_a_request_that_hangs_in_postgres(#[case] method: &str) {
    let mut server = Server::start(Database::Postgres).await;
    let org = server.org("pro").await;
    let agent = server.api(&org).post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201).id();
    let direct = server.postgres_url().unwrap();
    let (proxy, url) = Proxy::before_database_of(&server).await;
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_DATABASE_URL", &url)]).await;

    // The request itself triggers the hang: a read with its only statement, a write in the middle of its transaction.
    let (path, body) = match method {
        "GET" => {
            let mut connection = PgConnection::connect(&direct).await.unwrap();
            let id: Vec<u8> =
                sqlx::query_scalar("select uuid_send(id) from agents").fetch_one(&mut connection).await.unwrap();
            proxy.fall_silent_at(&id);
            (format!("/v1/agents/{agent}"), String::new())
        }
        _ => {
            proxy.fall_silent_at(b"INSERT INTO agents");
            ("/v1/agents".to_owned(), json!({ "name": "Half", "type": "ai" }).to_string())
        }
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        org.key,
        body.len()
    );
    let mut connection = Connection::open(server.address()).await;
    connection.send(request).await;
    // The request, the queries of each node, and at least one duty.
    proxy.unheard(1 + OF_EACH_NODE + 1).await;

    let (answer, ()) = tokio::join!(connection.answer(), stops_and_starts_again(&mut server, &direct));
    assert!(answer.is_none(), "{answer:?}");
    assert!(server.log().contains("requests still running after 8 s are cut off"), "{}", server.log());
    let agents = server.api(&org).get("/v1/agents").await.expect(200);
    assert_eq!(agents.column("id"), [agent], "the write was rolled back");
}

#[rstest]
#[case::timers("UPDATE timers", "the database did not close in time")]
#[case::letters("UPDATE letters", "webhooks and emails still being sent after 8 s")]
#[case::webhooks("UPDATE webhook_queues", "webhooks and emails still being sent after 8 s")]
#[tokio::test]
async fn a_stop_does_not_wait_for_a_duty_that_hangs_in_postgres(#[case] claims: &str, #[case] warned: &str) {
    let mut server = Server::start(Database::Postgres).await;
    let org = server.org("pro").await;
    let direct = server.postgres_url().unwrap();
    let (proxy, url) = Proxy::before_database_of(&server).await;
    assert!(server.stop().await.success());
    // The duty itself triggers the hang with the first statement that claims work.
    proxy.fall_silent_at(claims.as_bytes());
    server.start_again_as(&["serve", "--workers-only"], &[("KALENDS_DATABASE_URL", &url)]).await;
    proxy.unheard(1).await;

    stops_and_starts_again(&mut server, &direct).await;
    assert!(server.log().contains(warned), "{}", server.log());
    server.api(&org).get("/v1/agents").await.expect(200);
}

#[tokio::test]
async fn a_start_that_hangs_in_postgres_can_be_stopped() {
    let mut server = Server::start(Database::Postgres).await;
    let (proxy, url) = Proxy::before_database_of(&server).await;
    assert!(server.stop().await.success());

    proxy.fall_silent_at(b"_sqlx_migrations");
    let mut starting = Command::new(binary())
        .env_clear()
        .envs(server.environment())
        .env("KALENDS_DATABASE_URL", url)
        .current_dir(server.data_dir().parent().unwrap())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    proxy.unheard(1).await;
    let pid = starting.id().expect("it still starts").to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    let status = timeout(PATIENCE, starting.wait()).await.expect("the start to end").unwrap();
    assert_eq!(status.code(), Some(0), "{status}");
}
