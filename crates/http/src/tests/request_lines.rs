//! The line of each request for the log.

use std::sync::{Arc, Mutex};

use axum::{Router, body::Body, extract::Request};
use futures::FutureExt as _;
use http::{HeaderValue, Method, StatusCode, request::Builder};
use http_body_util::BodyExt as _;
use kalends_app::{ChangeSet, operations, ports::Commit as _};
use kalends_kernel::{KeyId, OrgId};
use kalends_plans::Plan;
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use rstest::rstest;
use serde_json::json;
use tower::ServiceExt as _;

use crate::{RequestLine, RequestLog, router};

/// Keeps the lines.
#[derive(Default)]
struct Lines(Mutex<Vec<RequestLine>>);

impl RequestLog for Lines {
    fn note(&self, line: RequestLine) {
        self.0.lock().unwrap().push(line);
    }
}

impl Lines {
    /// The only line so far.
    #[track_caller]
    fn only(&self) -> RequestLine {
        let lines = self.0.lock().unwrap();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0]
    }
}

/// The complete service with its log, and the key of an organization.
struct Scene {
    service: Router,
    lines: Arc<Lines>,
    org: OrgId,
    key: KeyId,
    secret: String,
}

impl Scene {
    async fn new() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let app = super::app(&store, &make);
        let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
        let key = make.key(organization.id);
        store.commit(ChangeSet::new(organization.id).create(&organization).create(&key.key)).await.unwrap();
        let lines = Arc::new(Lines::default());
        let service = router(app, Some(Arc::<Lines>::clone(&lines) as Arc<dyn RequestLog>));
        Self { service, lines, org: organization.id, key: key.key.id, secret: key.text }
    }

    fn authorized(&self, method: Method, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", self.secret))
    }

    /// Sends a request, reads its answer to the end, and returns the line, the status and the answer's length.
    async fn line_of(&self, request: Builder, body: impl Into<Body>) -> (RequestLine, StatusCode, u64) {
        let request = request.body(body.into()).unwrap();
        let response = self.service.clone().oneshot(request).await.unwrap();
        assert!(self.lines.0.lock().unwrap().is_empty(), "the answer has not been read");
        let (head, body) = response.into_parts();
        let length = body.collect().await.unwrap().to_bytes().len();
        let line = self.lines.only();
        assert_eq!(head.headers["x-request-id"], HeaderValue::from_str(&line.request.to_string()).unwrap());
        assert_eq!(line.status, Some(head.status));
        (line, head.status, length as u64)
    }
}

#[tokio::test]
async fn a_line_says_who_called_what_and_how_it_ended() {
    let scene = Scene::new().await;
    let (line, status, length) = scene.line_of(scene.authorized(Method::GET, "/v1/agents"), Body::empty()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(line.operation, Some(&operations::LIST_AGENTS));
    assert_eq!((line.method, line.bytes, line.tool), (Some("GET"), length, None));
    assert_eq!((line.organization, line.key), (Some(scene.org), Some(scene.key)));
    assert!(length > 0);
}

#[tokio::test]
async fn bytes_are_counted_as_they_are_sent() {
    let scene = Scene::new().await;
    let compressed = scene.authorized(Method::GET, "/openapi.json").header("accept-encoding", "gzip");
    let (line, _, length) = scene.line_of(compressed, Body::empty()).await;
    let plain = Scene::new().await;
    let (whole, _, _) = plain.line_of(plain.authorized(Method::GET, "/openapi.json"), Body::empty()).await;
    assert_eq!(line.bytes, length);
    assert!(line.bytes < whole.bytes / 2, "{line:?} {whole:?}");
}

#[rstest]
#[case::unknown_route(Request::get("/nowhere").header("host", "localhost"), 404, Some("GET"))]
#[case::no_host(Request::get("/v1/agents"), 400, Some("GET"))]
#[case::head_too_large(
    Request::get("/v1/agents").header("host", "localhost").header("a", "b".repeat(crate::limits::HEADER_BYTES_MAX)),
    431,
    Some("GET")
)]
#[case::target_too_long(Request::get(format!("/{}", "a".repeat(crate::limits::URI_MAX))).header("host", "localhost"), 414, Some("GET"))]
#[case::callers_own_method(Request::builder().method("SECRET").uri("/v1/agents").header("host", "localhost"), 405, Some("other"))]
#[tokio::test]
async fn requests_that_no_operation_answers_have_a_line(
    #[case] request: Builder,
    #[case] status: u16,
    #[case] method: Option<&'static str>,
) {
    let scene = Scene::new().await;
    let (line, answered, _) = scene.line_of(request, Body::empty()).await;
    assert_eq!(answered.as_u16(), status);
    assert_eq!((line.operation, line.method), (None, method));
    assert_eq!((line.organization, line.key), (None, None));
}

#[tokio::test]
async fn a_body_that_is_too_large_has_a_line() {
    let scene = Scene::new().await;
    let request = scene.authorized(Method::POST, "/v1/agents").header("content-type", "application/json");
    let (line, status, _) = scene.line_of(request, vec![b' '; crate::BODY_MAX + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!((line.operation, line.organization), (Some(&operations::CREATE_AGENT), Some(scene.org)));
}

#[rstest]
#[case::done("listAgents", 200)]
#[case::refused("getAgent", 404)]
#[tokio::test]
async fn a_tool_call_has_one_line_with_the_outcome_of_its_operation(#[case] tool: &str, #[case] status: u16) {
    let scene = Scene::new().await;
    let arguments = if tool == "getAgent" { json!({"id": "agt_00000000000000000000000000"}) } else { json!({}) };
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}
    });
    let request = scene.authorized(Method::POST, "/mcp").header("content-type", "application/json");
    let (line, answered, _) = scene.line_of(request, message.to_string()).await;
    assert_eq!((line.operation, answered), (Some(&operations::MCP), StatusCode::OK));
    let call = line.tool.unwrap();
    assert_eq!((call.operation.id, call.status.as_u16()), (tool, status));
    assert!(call.request.is_some_and(|inner| inner != line.request), "the inner request has its own identifier");
}

#[tokio::test]
async fn a_client_that_leaves_has_a_line_without_a_status() {
    let scene = Scene::new().await;
    let waiting = scene.authorized(Method::POST, "/v1/agents").header("content-type", "application/json");
    let never = Body::from_stream(futures::stream::pending::<Result<bytes::Bytes, axum::Error>>());
    let answer = scene.service.clone().oneshot(waiting.body(never).unwrap());
    assert!(answer.now_or_never().is_none(), "the body has not arrived");
    let line = scene.lines.only();
    assert_eq!((line.status, line.bytes), (None, 0));
    assert_eq!((line.operation, line.organization), (Some(&operations::CREATE_AGENT), Some(scene.org)));
}
