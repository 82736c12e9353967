//! Requests as they are sent, and error texts.

use std::{net::TcpListener as StdListener, process::Command, time::Duration};

use tokio::time::advance;

use super::support::{Server, Stage, answer, ok, stand_still};
use crate::{EgressError, Exchange, HeaderMap, HeaderValue, Method, clients};

#[tokio::test]
async fn a_request_arrives_without_framing_headers_of_the_caller() {
    let server = Server::plain(|_| answer("201 Created", "x-answer: yes\r\n", b"thanks")).await;
    let stage = Stage::real(&[("hooks.internal", server.port())]);
    stage.names.set("hooks.internal", &["127.0.0.1"]);
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("x-signature", "sha256=00"),
        ("content-type", "application/json"),
        ("host", "other.example"),
        ("content-length", "3"),
        ("transfer-encoding", "chunked"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("accept-encoding", "br"),
        ("proxy-authorization", "Basic x"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let url = format!("http://hooks.internal:{}/hook?x=%20#part", server.port());
    let exchange = Exchange { method: Method::POST, headers, body: "{\"a\":1}".into(), ..stage.get(&url) };
    let reply = stage.egress.send(exchange).await.unwrap();
    assert_eq!((reply.status.as_u16(), &reply.body[..], reply.truncated), (201, &b"thanks"[..], false));
    assert_eq!(reply.headers["x-answer"], "yes");
    let [arrived] = &server.requests()[..] else { panic!("one request") };
    assert_eq!((arrived.line.as_str(), arrived.body.as_str()), ("POST /hook?x=%20 HTTP/1.1", "{\"a\":1}"));
    let mut headers = arrived.headers.clone();
    headers.sort();
    let expected = [
        ("accept", "*/*"),
        ("accept-encoding", "gzip"),
        ("content-length", "7"),
        ("content-type", "application/json"),
        ("host", &format!("hooks.internal:{}", server.port())),
        ("user-agent", "Kalends-Test/1"),
        ("x-signature", "sha256=00"),
    ];
    assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // A name that the operator allows is looked up as written.
    assert_eq!(stage.names.lookups(), ["hooks.internal"]);
}

#[tokio::test]
async fn a_post_without_content_has_a_length_of_zero() {
    let server = Server::plain(|_| ok("")).await;
    let stage = Stage::real(&[("127.0.0.1", server.port())]);
    for method in [Method::POST, Method::GET, Method::DELETE] {
        stage.egress.send(Exchange { method, ..stage.get(&server.url("/")) }).await.unwrap();
    }
    let lengths: Vec<_> = server.requests().iter().map(|r| r.header("content-length").map(str::to_owned)).collect();
    assert_eq!(lengths, [Some("0".to_owned()), None, None]);
}

#[tokio::test]
async fn following_requests_reuse_the_connection() {
    let server = Server::public(|_| ok("hello")).await;
    let stage = Stage::playing(&[]);
    stage.names.set("hooks.example.com", &["127.0.0.10", "10.0.0.1"]);
    let url = format!("https://hooks.example.com:{}/", server.port());
    for _ in 0..5 {
        assert_eq!(stage.fetch(&url).await.unwrap().body, "hello");
    }
    assert_eq!((server.connections(), stage.names.lookups().len()), (1, 1));
}

/// After an idle time, the name is resolved and checked again.
#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = Server::public(|_| ok("hello")).await;
    let stage = Stage::playing(&[]);
    stage.names.set("hooks.example.com", &["127.0.0.10", "10.0.0.1"]);
    let url = format!("https://hooks.example.com:{}/", server.port());
    let _still = stand_still();
    assert!(stage.fetch(&url).await.is_ok());
    advance(clients::IDLE - Duration::from_secs(1)).await;
    assert!(stage.fetch(&url).await.is_ok());
    advance(clients::IDLE + Duration::from_secs(1)).await;
    assert!(matches!(stage.fetch(&url).await, Err(EgressError::NotAllowed(_))));
    assert_eq!(server.connections(), 1);
}

/// The same holds for a connection that is never idle.
#[tokio::test]
async fn a_busy_connection_is_replaced_in_time() {
    let server = Server::public(|_| ok("hello")).await;
    let stage = Stage::playing(&[]);
    stage.names.set("hooks.example.com", &["127.0.0.10", "10.0.0.1"]);
    let url = format!("https://hooks.example.com:{}/", server.port());
    let _still = stand_still();
    let mut answered = Duration::ZERO;
    while stage.fetch(&url).await.is_ok() {
        answered += Duration::from_secs(5);
        advance(Duration::from_secs(5)).await;
    }
    assert_eq!((answered, server.connections()), (clients::POOL_LIFE, 1));
}

/// An error's text may be shown to the party that named the address.
#[tokio::test]
async fn errors_reveal_nothing_about_private_names() {
    let stage = Stage::real(&[("127.0.0.1", 1), ("closed.example.com", 1)]);
    stage.names.set("private.example.com", &["10.11.12.13"]);
    stage.names.set("empty.example.com", &[""]);
    stage.names.set("closed.example.com", &["127.0.0.1"]);
    let error_text = async |url: &str| {
        let error = stage.fetch(url).await.unwrap_err();
        assert!(!format!("{error:?}").contains("secret"), "not even the log contains a path: {error:?}");
        error.to_string()
    };
    let private = error_text("https://private.example.com/secret").await;
    assert_eq!(private, "the host has no public address");
    // A name that exists inside looks like one that does not exist at all.
    assert_eq!(error_text("https://empty.example.com/secret").await, private);
    assert_eq!(error_text("https://missing.example.com/secret").await, private);
    // Nothing listens on port 1 of a sane machine.
    assert_eq!(error_text("http://closed.example.com:1/secret").await, "cannot connect to the server");
}

/// Proxy settings in the environment are ignored. A test cannot change its own environment, so it runs itself with
/// another one.
#[test]
fn proxies_are_not_used() {
    const INNER: &str = "tests::manners::without_a_proxy";
    let proxy = StdListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner.args([INNER, "--exact", "--ignored"]);
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        inner.env(name, &address);
    }
    let output = inner.env_remove("no_proxy").env_remove("NO_PROXY").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    assert!(proxy.accept().is_err(), "the proxy was called");
}

#[tokio::test]
#[ignore = "run by the test above, in an environment with proxies"]
async fn without_a_proxy() {
    let (plain, secure) = (Server::plain(|_| ok("")).await, Server::public(|_| ok("")).await);
    let stage = Stage::playing(&[("127.0.0.1", plain.port())]);
    stage.names.set("hooks.example.com", &["127.0.0.10"]);
    stage.fetch(&plain.url("/")).await.unwrap();
    stage.fetch(&format!("https://hooks.example.com:{}/", secure.port())).await.unwrap();
    assert_eq!((plain.connections(), secure.connections()), (1, 1));
}
