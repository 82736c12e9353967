//! Input that is hardly HTTP at all, and methods that a route does not support.

use std::collections::BTreeMap;

use kalends_e2e::{Database, Server, plain_http};

use crate::{description, raw};

#[tokio::test]
async fn invalid_http_does_no_harm() {
    let server = Server::start(Database::Sqlite).await;
    let address = server.address().parse().unwrap();
    let long = |count: usize| "a".repeat(count);
    let requests = [
        "GET\r\n\r\n".to_owned(),
        "GET /health\r\n\r\n".to_owned(),
        "GET /health HTTP/9.9\r\n\r\n".to_owned(),
        "GET /he alth HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "G\0T /health HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(),
        "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned(),
        "GET /health HTTP/1.1\r\nHost x\r\n\r\n".to_owned(),
        "GET /health HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n".to_owned(),
        "GET /health HTTP/1.1\r\n: x\r\n\r\n".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_owned(),
        "POST /v1/agents HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", long(70_000)),
        format!("GET /health HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", long(1_000_000)),
        format!("GET /health HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(2_000)),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".to_owned(),
    ];
    for request in requests {
        let excerpt: String = request.escape_debug().take(100).collect();
        // Closing the connection without an answer is allowed.
        if let Some(answer) = raw::send(address, request.as_bytes()).await {
            assert!(answer.status < 500, "{excerpt} => {answer:?}");
        }
        server.anonymous().get("/health").await.expect(200);
    }
}

#[tokio::test]
async fn heads_within_the_parser_s_bounds_are_refused_with_the_error_envelope() {
    let server = Server::start(Database::Sqlite).await;
    let address = server.address().parse().unwrap();
    let request = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    let long = |count: usize| "a".repeat(count);
    let refused = [
        (400, request("/health", "")),
        (400, request("/health", "Host: a\r\nHost: b\r\n")),
        (400, request("/health", "Host: a\r\nHost: a\r\n")),
        (400, request("/health", "Host: me@a\r\n")),
        (400, request("http://a.example/health", "")),
        (414, request(&format!("/health?{}", long(9_000)), "Host: x\r\n")),
        (414, request(&format!("/{}", long(60_000)), "Host: x\r\n")),
        (431, request("/health", &format!("Host: x\r\n{}", "A: b\r\n".repeat(101)))),
        (431, request("/health", &format!("Host: x\r\nA: {}\r\n", long(33_000)))),
    ];
    for (status, request) in refused {
        let excerpt: String = request.escape_debug().take(100).collect();
        let answer = raw::send(address, request.as_bytes()).await.unwrap_or_else(|| panic!("no answer to {excerpt}"));
        assert_eq!((answer.status, answer.fault()), (status, None), "{excerpt}");
        assert_eq!(answer.json()["error"]["type"], "invalid_request", "{excerpt}");
    }
    let taken = [
        request("/health", &format!("Host: x\r\n{}", "A: b\r\n".repeat(98))),
        request("/health", &format!("Host: x\r\nA: {}\r\n", long(32_000))),
        request(&format!("/health?{}", long(8_000)), "Host: x\r\n"),
        request("http://a.example/health", "Host: a.example\r\n"),
        "GET /health HTTP/1.0\r\n\r\n".to_owned(),
    ];
    for request in taken {
        let excerpt: String = request.escape_debug().take(100).collect();
        let answer = raw::send(address, request.as_bytes()).await.unwrap_or_else(|| panic!("no answer to {excerpt}"));
        assert_eq!(answer.status, 200, "{excerpt}");
    }
}

#[tokio::test]
async fn heads_of_http_2_have_the_same_bounds() {
    let server = Server::start(Database::Sqlite).await;
    let client = plain_http().http2_prior_knowledge().build().unwrap();
    let get = |path: &str| client.get(format!("{}{path}", server.base_url()));
    let fine = get("/health").send().await.unwrap();
    assert_eq!((fine.status().as_u16(), fine.version()), (200, reqwest::Version::HTTP_2));
    let many = (0..101).fold(get("/health"), |request, _| request.header("a", "b"));
    let large = get("/health").header("a", "b".repeat(33_000));
    let long = get(&format!("/health?{}", "a".repeat(9_000)));
    for (status, request) in [(431, many), (431, large), (414, long)] {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status);
        assert!(answer.headers()["x-request-id"].to_str().unwrap().starts_with("req_"));
        let body: serde_json::Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(body["error"]["type"], "invalid_request");
    }
}

#[tokio::test]
async fn unsupported_methods_are_refused_with_the_error_envelope() {
    let (server, api) = Server::with_org(Database::Sqlite, "pro").await;
    let document = server.anonymous().get("/openapi.json").await.expect(200).json;
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for operation in description::operations(&document) {
        known.entry(operation.path).or_default().push(operation.method);
    }
    for (path, methods) in known {
        let path = path.replace(['{', '}'], "");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get"] {
            if methods.iter().any(|known| known == method) {
                continue;
            }
            let answer = api.call(method.parse().unwrap(), &path).await.refused(405, "invalid_request");
            assert!(
                methods.iter().all(|known| answer.header("allow").contains(known.as_str())),
                "{}",
                answer.describe()
            );
        }
    }
}
