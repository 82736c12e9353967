//! Messages to the tools and large bodies, with a clock that stands still.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{body::Body, extract::Request};
use futures::stream;
use http::StatusCode;
use http_body_util::BodyExt as _;
use kalends_app::{App, ChangeSet, ports::Commit as _};
use kalends_plans::Plan;
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use rstest::rstest;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::router;

/// An application, and a key of an organization with that plan.
async fn application(plan: Plan) -> (Arc<App>, String) {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let app = super::app(&store, &make);
    let organization = kalends_accounts::Organization { plan, ..make.organization() };
    let key = make.key(organization.id);
    store.commit(ChangeSet::new(organization.id).create(&organization).create(&key.key)).await.unwrap();
    (app, key.text)
}

#[rstest]
#[case::request(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, StatusCode::OK)]
#[case::list(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, StatusCode::OK)]
#[case::notification(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, StatusCode::ACCEPTED)]
#[case::call(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listAgents","arguments":{}}}"#,
    StatusCode::OK
)]
#[tokio::test]
async fn the_rate_of_tools_messages_is_checked_before_they_are_read(
    #[case] message: &'static str,
    #[case] status: StatusCode,
) {
    let (app, key) = application(Plan::Free).await;
    let service = router(app, None);
    let send = async |body: Body| {
        let request = Request::post("/mcp").header("host", "localhost").header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {key}"));
        service.clone().oneshot(request.body(body).unwrap()).await.unwrap()
    };
    // The plan allows 10 requests per second.
    for _ in 0..10 {
        assert_eq!(send(Body::from(message)).await.status(), status);
    }
    let read = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&read);
    let body = stream::once(async move {
        seen.store(true, Ordering::Relaxed);
        Ok::<_, std::io::Error>(message)
    });
    // This body notices when it is read.
    let request = Request::post("/mcp").header("host", "localhost").header("expect", "100-continue");
    let request = request.header("authorization", format!("Bearer {key}")).body(Body::from_stream(body)).unwrap();
    let refused = service.oneshot(request).await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "1");
    assert!(refused.headers()["ratelimit"].to_str().unwrap().starts_with("\"burst\""));
    assert_eq!(refused.headers()["x-service-plan"], "free");
    assert!(!read.load(Ordering::Relaxed));
}

#[rstest]
#[case::route(false, None)]
#[case::route_with_idempotency_key(false, Some("once"))]
#[case::tool(true, None)]
#[case::tool_with_idempotency_key(true, Some("once"))]
#[tokio::test]
async fn a_large_file_reaches_the_import(#[case] tool: bool, #[case] once: Option<&str>) {
    let (app, key) = application(Plan::Pro).await;
    let file = "x".repeat(3 << 20);
    let request = Request::builder().method("POST").header("host", "localhost");
    let request = request.header("authorization", format!("Bearer {key}"));
    let request = if tool {
        let arguments = json!({ "id": "cal_none", "content": file, "idempotency_key": once });
        let call = json!({ "name": "importCalendar", "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        request.uri("/mcp?tools=all").header("content-type", "application/json").body(Body::from(message.to_string()))
    } else {
        let request = request.uri("/v1/calendars/cal_none/import").header("content-type", "text/calendar");
        let request = once.into_iter().fold(request, |request, once| request.header("idempotency-key", once));
        request.body(Body::from(file))
    };
    let response = router(app, None).oneshot(request.unwrap()).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let answer: Value = serde_json::from_slice(&body).unwrap();
    let answer = if tool { &answer["result"]["structuredContent"] } else { &answer };
    assert_eq!(answer["error"]["code"], "calendar_not_found", "{answer:#}");
}
