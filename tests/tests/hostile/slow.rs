//! Callers that do not finish their requests.

use std::time::{Duration, Instant};

use kalends_e2e::{Database, Server};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// The longest wait on a busy machine for the end of a connection. A caller that goes on has a minute for its body.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn half_a_header_is_cut_off() {
    let server = Server::start(Database::Sqlite).await;
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Unfinished: ").await.unwrap();
    let began = Instant::now();
    let mut answer = Vec::new();
    // A reset ends the reading in the same way as a close.
    let _ = timeout(PATIENCE, connection.read_to_end(&mut answer)).await.expect("to be cut off");
    let waited = began.elapsed();
    assert!(waited >= Duration::from_secs(5), "{waited:?}");
    server.anonymous().get("/health").await.expect(200);
}

#[tokio::test]
async fn half_a_body_creates_nothing() {
    let server = Server::start(Database::Sqlite).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let body = json!({ "name": "Half", "type": "ai" }).to_string();
    for sent in [0, 1, body.len() / 2, body.len()] {
        let mut connection = TcpStream::connect(server.address()).await.unwrap();
        let head = format!(
            "POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\r\n",
            org.key,
            body.len() + 1
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        connection.write_all(&body.as_bytes()[..sent]).await.unwrap();
        connection.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, connection.read_to_end(&mut answer)).await.expect("to be let go");
    }
    assert_eq!(api.get("/v1/agents").await.expect(200).at("/total"), 0);
}
