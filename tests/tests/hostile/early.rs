//! Answers that come before the body of their request. The connection carries the next request, or the answer
//! announces its end.

use std::time::Duration;

use futures::stream;
use kalends_e2e::{Client, Database, Server, plain_http};
use reqwest::{Body, StatusCode, Version};
use rstest::rstest;
use serde_json::json;

use crate::raw::{Connection, RawAnswer};

const BODY: &str = r#"{"name":"Ada","type":"ai"}"#;

/// A server, and requests that it refuses without reading their bodies. Each has its request line, its key, and the
/// status of the answer.
async fn refused() -> (Server, Vec<(String, String, u16)>) {
    let server = Server::start(Database::Sqlite).await;
    let org = server.org("pro").await;
    let spent = server.org_with("pro", &["--limits", r#"{"api_calls": 0}"#]).await;
    let long = format!("POST /v1/agents?pad={}", "x".repeat(8 << 10));
    let requests = [
        ("POST /v1/agents", "svc_sk_nothing".to_owned(), 401),
        ("POST /mcp", "svc_sk_nothing".to_owned(), 401),
        ("POST /v1/nothing", org.key.clone(), 404),
        ("PUT /v1/agents", org.key, 405),
        ("POST /v1/agents", spent.key.clone(), 429),
        ("POST /mcp", spent.key.clone(), 429),
        (&long, spent.key, 414),
    ];
    (server, requests.into_iter().map(|(line, key, status)| (line.to_owned(), key, status)).collect())
}

fn head(line: &str, key: &str, length: usize, also: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Length: {length}\r\n{also}\r\n"
    )
}

/// Requires that the connection answers another request, unless the last answer announced its end.
async fn goes_on_as_announced(connection: &mut Connection, answer: &RawAnswer, what: &str) {
    let next = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if answer.header("connection") == "close" {
        assert!(connection.answer().await.is_none(), "{what}: nothing comes after the last answer");
    } else {
        connection.send(next).await;
        assert_eq!(connection.answer().await.map(|answer| answer.status), Some(200), "{what}");
    }
}

#[tokio::test]
async fn refusal_keeps_the_connection_or_announces_its_end() {
    let (server, requests) = refused().await;
    for (line, key, status) in requests {
        let expect = |answer: Option<RawAnswer>| {
            let answer = answer.expect("an answer");
            assert_eq!((answer.status, answer.fault()), (status, None), "{line}");
            answer
        };
        // The body comes with the head or after it.
        for separately in [false, true] {
            let mut connection = Connection::open(server.address()).await;
            let head = head(&line, &key, BODY.len(), "");
            if separately {
                connection.send(&head).await;
                tokio::task::yield_now().await;
                connection.send(BODY).await;
            } else {
                connection.send(head + BODY).await;
            }
            let answer = expect(connection.answer().await);
            goes_on_as_announced(&mut connection, &answer, &line).await;
        }
        // The body never comes, or is too long to wait for.
        for length in [BODY.len(), 1 << 20] {
            let mut connection = Connection::open(server.address()).await;
            connection.send(head(&line, &key, length, "")).await;
            let answer = expect(connection.answer().await);
            assert_eq!(answer.header("connection"), "close", "{line}");
        }
    }
}

#[tokio::test]
async fn body_with_expect_continue_is_not_requested_after_a_refusal() {
    let (server, requests) = refused().await;
    for (line, key, status) in requests {
        let mut connection = Connection::open(server.address()).await;
        connection.send(head(&line, &key, BODY.len(), "Expect: 100-continue\r\n")).await;
        let answer = connection.answer().await.expect("an answer");
        assert_eq!((answer.status, answer.header("connection")), (status, "close"), "{line}");
        assert!(connection.answer().await.is_none(), "{line}");
    }
}

#[tokio::test]
async fn body_with_expect_continue_is_requested_and_read() {
    let server = Server::start(Database::Sqlite).await;
    let org = server.org("pro").await;
    let mut connection = Connection::open(server.address()).await;
    for _ in 0..2 {
        connection.send(head("POST /v1/agents", &org.key, BODY.len(), "Expect: 100-continue\r\n")).await;
        assert_eq!(connection.answer().await.map(|answer| answer.status), Some(100));
        connection.send(BODY).await;
        let answer = connection.answer().await.expect("an answer");
        assert_eq!((answer.status, answer.header("connection")), (201, ""));
    }
}

/// A body that comes after its head, in two pieces.
fn later(length: usize) -> Body {
    let piece = vec![b' '; length / 2];
    Body::wrap_stream(stream::unfold(0, move |sent| {
        let piece = piece.clone();
        async move {
            tokio::task::yield_now().await;
            (sent < 2).then_some((Ok::<_, std::io::Error>(piece), sent + 1))
        }
    }))
}

#[rstest]
#[case::http_1(false)]
#[case::http_2(true)]
#[tokio::test]
async fn client_that_reuses_its_connection_loses_no_request(#[case] http_2: bool) {
    let (server, requests) = refused().await;
    let client = plain_http().pool_max_idle_per_host(1).timeout(Duration::from_secs(60));
    let client = if http_2 { client.http2_prior_knowledge() } else { client.http1_only() }.build().unwrap();
    for (line, key, status) in requests {
        for length in [BODY.len(), 200_000] {
            let (method, path) = line.split_once(' ').unwrap();
            let request = client.request(method.parse().unwrap(), format!("{}{path}", server.base_url()));
            let request = request.bearer_auth(&key).header("content-type", "application/json");
            let answer = request.body(later(length)).send().await.unwrap_or_else(|error| panic!("{line}: {error:?}"));
            assert_eq!(answer.status().as_u16(), status, "{line}");
            if http_2 {
                assert_eq!((answer.version(), answer.headers().get("connection")), (Version::HTTP_2, None));
            }
            assert!(answer.bytes().await.unwrap().starts_with(b"{\"error\""), "{line}");
            let health = client.get(format!("{}/health", server.base_url())).send().await;
            assert_eq!(health.unwrap().status(), StatusCode::OK, "{line}");
        }
    }
}

#[tokio::test]
async fn body_that_stops_arriving_is_refused() {
    let server = Server::start(Database::Sqlite).await;
    let org = server.org("pro").await;
    let mut connection = Connection::open(server.address()).await;
    connection.send(head("POST /v1/agents", &org.key, BODY.len(), "")).await;
    connection.send(&BODY[..5]).await;
    let answer = connection.answer().await.expect("an answer");
    assert_eq!((answer.status, answer.header("connection"), answer.fault()), (408, "close", None));
    let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("8 KB a second") && message.contains("within 60 seconds"), "{message}");
    let api: Client = server.api(&org);
    assert_eq!(api.get("/v1/agents").await.expect(200).at("/total"), json!(0));
}
