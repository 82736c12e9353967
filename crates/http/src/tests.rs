//! What surrounds every route: the form of answers that broke off, common headers, and requests that no route sees.

mod messages;
mod request_lines;
mod streams;

use std::{collections::HashSet, future::pending, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::Request,
    middleware,
    response::{IntoResponse, Redirect, Response},
    routing::{MethodRouter, get},
};
use http::{HeaderName, Method, StatusCode, Version};
use http_body_util::BodyExt as _;
use kalends_app::{
    App, ChangeSet, MemoryRateLimiter, Parts, Refusal, Settings,
    ports::{Commit as _, CredentialsError},
};
use kalends_kernel::StoreError;
use kalends_plans::Plan;
use kalends_testkit::{
    Mailbox, MemoryStore, NoCalendarProviders, NoFetcher, NoProviders, NoSender, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_web::headers::{self, CONTENT_SECURITY_POLICY};
use rstest::rstest;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::{
    enter::{self, Entrance},
    envelope::Desk,
    error::ApiError,
    known::{Approved, Carried},
    on_first_use::OnFirstUse,
    surround,
};

/// The origin that the operator configured.
const NAMED: &str = "https://app.example";

fn app(store: &MemoryStore, make: &Fixtures) -> Arc<App> {
    App::new(Parts {
        store: Arc::new(store.clone()),
        clock: Arc::new(make.clock.clone()),
        entropy: Arc::new(make.entropy.clone()),
        mailer: Arc::new(Mailbox::default()),
        passwords: Arc::new(TestPasswords::default()),
        tokens: Arc::new(TestTokens),
        calendar_providers: Arc::new(NoCalendarProviders),
        limiter: Arc::new(MemoryRateLimiter::default()),
        sender: Arc::new(NoSender),
        fetcher: Arc::new(NoFetcher),
        providers: Arc::new(NoProviders),
        settings: Settings { cors_origins: vec![NAMED.to_owned()], ..settings() },
    })
}

/// A service in which this handler answers the routes of agents and plans, and a key of one of its organizations.
async fn service(handler: MethodRouter<Arc<App>>) -> (Router, String) {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let app = app(&store, &make);
    let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
    let key = make.key(organization.id);
    store.commit(ChangeSet::new(organization.id).create(&organization).create(&key.key)).await.unwrap();
    let without_query: OnFirstUse<HashSet<&'static str>> = OnFirstUse::new(Box::new(HashSet::<&'static str>::new));
    let entrance = Entrance { app: Arc::clone(&app), without_query: Arc::new(without_query) };
    let routes = Router::new().route("/v1/agents", handler.clone()).route("/v1/plans", handler);
    let routes = routes.route_layer(middleware::from_fn_with_state(entrance, enter::enter));
    (surround(Desk { app: Arc::clone(&app), log: None }, routes.with_state(app)), key.text)
}

/// The complete service, without any account.
fn whole() -> Router {
    crate::router(app(&MemoryStore::new(), &Fixtures::new()), None)
}

fn reading(path: &str) -> http::request::Builder {
    Request::get(path).header("host", "localhost")
}

async fn ask(service: &Router, request: http::request::Builder) -> Response {
    service.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

#[track_caller]
fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn error(response: Response) -> Value {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice::<Value>(&body).unwrap()["error"].take()
}

/// Checks what every answer has, whatever happened to the request.
#[track_caller]
fn is_dressed(response: &Response, status: StatusCode) {
    assert_eq!(response.status(), status);
    assert!(header(response, "x-request-id").starts_with("req_"));
    assert_eq!(header(response, "x-content-type-options"), "nosniff");
    assert_eq!(header(response, "content-type"), "application/json");
}

/// A cause of a 500 or 503.
#[derive(Debug, Clone, Copy)]
enum Trouble {
    Panic,
    Deadline,
    StoreAway,
    StoreFailed,
    TooManyPasswords,
    CredentialFailed,
    NoMail,
    Foreign(StatusCode),
}

impl Trouble {
    async fn bring(self) -> Response {
        let store = |error: StoreError| ApiError::from(Refusal::from(error)).into_response();
        let credentials = |error| ApiError::from(Refusal::Credentials(error)).into_response();
        match self {
            Self::Panic => {
                // A runtime check, so that the compiler does not consider the rest unreachable.
                assert!(tokio::runtime::Handle::try_current().is_err(), "a handler that fails");
                StatusCode::OK.into_response()
            }
            Self::Deadline => pending().await,
            Self::StoreAway => store(StoreError::Unavailable("it is away".into())),
            Self::StoreFailed => store(StoreError::Failed("it failed".into())),
            Self::TooManyPasswords => credentials(CredentialsError::Busy),
            Self::CredentialFailed => credentials(CredentialsError::Failed("it failed".into())),
            Self::NoMail => ApiError::from(Refusal::Undelivered).into_response(),
            Self::Foreign(status) => status.into_response(),
        }
    }
}

#[rstest]
#[case::panic(Trouble::Panic, 500)]
#[case::deadline(Trouble::Deadline, 503)]
#[case::store_unavailable(Trouble::StoreAway, 503)]
#[case::store_failed(Trouble::StoreFailed, 500)]
#[case::too_many_passwords(Trouble::TooManyPasswords, 503)]
#[case::credential_failed(Trouble::CredentialFailed, 500)]
#[case::mail_undelivered(Trouble::NoMail, 503)]
#[case::framework_500(Trouble::Foreign(StatusCode::INTERNAL_SERVER_ERROR), 500)]
#[case::framework_503(Trouble::Foreign(StatusCode::SERVICE_UNAVAILABLE), 503)]
#[tokio::test(start_paused = true)]
async fn a_failure_has_the_common_headers(#[case] trouble: Trouble, #[case] status: u16) {
    let status = StatusCode::from_u16(status).unwrap();
    let (service, key) = service(get(move || trouble.bring())).await;
    let request = reading("/v1/agents").header("authorization", format!("Bearer {key}"));
    let answer = ask(&service, request.header("origin", NAMED)).await;
    is_dressed(&answer, status);
    assert_eq!(header(&answer, "x-service-plan"), "pro");
    assert!(header(&answer, "ratelimit-policy").starts_with("\"api_calls\";q="));
    assert!(header(&answer, "ratelimit").starts_with("\"api_calls\";r="));
    assert_eq!(header(&answer, "access-control-allow-origin"), NAMED);
    assert!(header(&answer, "vary").contains("origin"));

    // Public answers are still readable for every page.
    let answer = ask(&service, reading("/v1/plans").header("origin", "https://elsewhere.example")).await;
    is_dressed(&answer, status);
    assert_eq!(header(&answer, "access-control-allow-origin"), "*");
}

#[tokio::test]
async fn a_failure_of_the_tools_has_the_common_headers() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let service = crate::router(app(&store, &make), None);
    let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
    let key = make.key(organization.id);
    store.commit(ChangeSet::new(organization.id).create(&organization).create(&key.key)).await.unwrap();
    // The handler panics when it reads the message. When the rest of the body is read afterwards, it has ended.
    let mut polled = false;
    let body = futures::stream::poll_fn(move |_| {
        let first = !std::mem::replace(&mut polled, true);
        assert!(!first, "a body that fails");
        std::task::Poll::Ready(None::<Result<Vec<u8>, std::convert::Infallible>>)
    });
    let request = Request::post("/mcp").header("host", "localhost").header("origin", NAMED);
    let request =
        request.header("content-type", "application/json").header("authorization", format!("Bearer {}", key.text));
    let answer = service.oneshot(request.body(Body::from_stream(body)).unwrap()).await.unwrap();
    is_dressed(&answer, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(header(&answer, "x-service-plan"), "pro");
    assert!(header(&answer, "ratelimit").starts_with("\"api_calls\";r="));
    assert_eq!(header(&answer, "access-control-allow-origin"), NAMED);
}

#[tokio::test]
async fn an_answer_to_an_unknown_key_has_the_common_headers() {
    let (service, _) = service(get(|| async { StatusCode::OK })).await;
    let request = reading("/v1/agents").header("authorization", "Bearer nobody-s").header("origin", NAMED);
    let answer = ask(&service, request).await;
    is_dressed(&answer, StatusCode::UNAUTHORIZED);
    assert_eq!(header(&answer, "access-control-allow-origin"), NAMED);
    assert!(!answer.headers().contains_key("x-service-plan"));
}

#[rstest]
#[case::documentation("/docs/")]
#[case::console("/console/connect")]
#[case::first_page("/")]
#[case::terms("/terms")]
#[case::plans("/console/plans")]
#[case::verification("/console/verify")]
#[case::sign_in("/console/sign-in")]
#[case::sign_up("/console/sign-up")]
#[case::forgot("/console/forgot")]
#[case::reset("/console/reset")]
#[case::invitations("/console/invitations")]
#[case::revocation("/console/claims/clm_01jn8r6v9ke0bt3m5qz2c7xwdh/revoke")]
#[case::missing("/console/nothing")]
#[case::booking_error("/book/nobody-s")]
#[tokio::test]
async fn pages_load_nothing_external_and_cannot_be_framed(#[case] path: &str) {
    let answer = ask(&whole(), reading(path).header("accept", "text/html")).await;
    assert!(header(&answer, "content-type").starts_with("text/html"), "{:?}", answer.headers());
    let policy = header(&answer, "content-security-policy");
    for directive in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
        assert!(policy.contains(directive), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    assert!(["no-referrer", "same-origin"].contains(&header(&answer, "referrer-policy")));
}

#[tokio::test]
async fn pages_of_the_console_are_not_cached() {
    let service = whole();
    for path in ["/", "/console/sign-in", "/console/sign-up", "/console/connect", "/console/plans", "/terms"] {
        let answer = ask(&service, reading(path)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
        for (name, value) in headers::PAGE {
            let lines: Vec<_> = answer.headers().get_all(name).iter().collect();
            assert!(lines.iter().any(|line| *line == value), "{path}: {name} is {lines:?}");
        }
    }
}

#[tokio::test]
async fn a_page_without_a_policy_gets_the_default() {
    let page = get(|| async { axum::response::Html("<p>hello") });
    let (service, _) = service(page).await;
    let answer = ask(&service, reading("/v1/plans")).await;
    assert_eq!(header(&answer, "content-security-policy"), CONTENT_SECURITY_POLICY);
    assert_eq!(header(&answer, "referrer-policy"), "no-referrer");
}

#[tokio::test]
async fn redirects_and_files_are_not_sniffed() {
    let service = whole();
    for path in ["/", "/docs", "/docs/use/quickstart", "/health", "/nowhere"] {
        let answer = ask(&service, reading(path)).await;
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff", "{path}");
        assert!(header(&answer, "x-request-id").starts_with("req_"), "{path}");
    }
    let moved = get(|| async { Redirect::to("/") });
    let (service, _) = self::service(moved).await;
    assert_eq!(header(&ask(&service, reading("/v1/plans")).await, "x-content-type-options"), "nosniff");
}

#[rstest]
#[case::description("/openapi.json")]
#[case::guide("/docs/use/quickstart")]
#[tokio::test]
async fn large_files_are_compressed_once(#[case] path: &str) {
    let service = whole();
    let ask = async || {
        let answer = ask(&service, reading(path).header("accept-encoding", "gzip")).await;
        assert_eq!(header(&answer, "content-encoding"), "gzip");
        assert!(header(&answer, "vary").contains("accept-encoding"));
        assert!(header(&answer, "cache-control").starts_with("public"));
        let tag = header(&answer, "etag").to_owned();
        assert!(tag.starts_with('"'), "a strong tag: {tag}");
        (tag, answer.into_body().collect().await.unwrap().to_bytes())
    };
    let ((tag, first), (same, second)) = (ask().await, ask().await);
    // The same bytes that are stored, not a copy.
    assert_eq!((same, second.as_ptr(), second.len()), (tag.clone(), first.as_ptr(), first.len()));
    let request = reading(path).header("accept-encoding", "gzip").header("if-none-match", tag);
    let known = self::ask(&service, request).await;
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    assert!(known.into_body().collect().await.unwrap().to_bytes().is_empty());
}

#[rstest]
#[case::no_host(&[], "/health", 400, "Host")]
#[case::two_hosts(&[("host", "a.example"), ("host", "b.example")], "/health", 400, "Host")]
#[case::unknown_route(&[], "/nowhere", 400, "Host")]
#[tokio::test]
async fn a_request_without_exactly_one_host_gets_an_error_envelope(
    #[case] headers: &[(&str, &str)],
    #[case] path: &str,
    #[case] status: u16,
    #[case] names: &str,
) {
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    let answer = ask(&whole(), request).await;
    is_dressed(&answer, StatusCode::from_u16(status).unwrap());
    let error = error(answer).await;
    assert_eq!(error["type"], "invalid_request");
    assert!(error["message"].as_str().unwrap().contains(names), "{error}");
}

#[tokio::test]
async fn the_authority_of_http_2_replaces_the_host_header() {
    let request = Request::get("http://cal.example/health").version(Version::HTTP_2);
    assert_eq!(ask(&whole(), request).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_head_that_is_too_large_gets_an_error_envelope() {
    let service = whole();
    let many = (0..100).fold(reading("/health"), |request, _| request.header("a", "b"));
    let large = reading("/health").header("a", "b".repeat(33 << 10));
    for (request, part) in [(many, "at most 100 headers"), (large, "32768 bytes")] {
        let answer = ask(&service, request).await;
        is_dressed(&answer, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
        let error = error(answer).await;
        assert_eq!(error["type"], "invalid_request");
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    let answer = ask(&service, reading(&format!("/v1/agents?cursor={}", "a".repeat(9 << 10)))).await;
    is_dressed(&answer, StatusCode::URI_TOO_LONG);
    assert!(error(answer).await["message"].as_str().unwrap().contains("8192 bytes"));
}

#[tokio::test]
async fn only_a_preflight_of_a_configured_origin_is_answered() {
    let service = whole();
    let preflight = |origin: &str| {
        let request = reading("/v1/agents").method(Method::OPTIONS).header("origin", origin);
        request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization")
    };
    let answer = ask(&service, preflight(NAMED)).await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert_eq!(header(&answer, "access-control-allow-origin"), NAMED);
    assert!(header(&answer, "access-control-allow-methods").contains("POST"));
    for name in ["authorization", "content-type", "idempotency-key", "if-match"] {
        assert!(header(&answer, "access-control-allow-headers").contains(name));
    }
    assert!(header(&answer, "vary").contains("origin"));
    assert!(header(&answer, "x-request-id").starts_with("req_"));
    for origin in ["https://evil.example", "https://app.example.evil.example", "http://app.example", "null", ""] {
        let answer = ask(&service, preflight(origin)).await;
        assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{origin}");
        let is_cors = |name: &HeaderName| name.as_str().starts_with("access-control");
        assert!(!answer.headers().keys().any(is_cors), "{origin}: {:?}", answer.headers());
    }
    // Without a requested method, it is an ordinary request.
    let options = reading("/v1/agents").method(Method::OPTIONS).header("origin", NAMED);
    assert_eq!(ask(&service, options).await.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn only_configured_origins_read_private_answers_and_never_with_cookies() {
    let service = whole();
    for (origin, allowed) in [(NAMED, NAMED), ("https://evil.example", "")] {
        let answer = ask(&service, reading("/v1/agents").header("origin", origin)).await;
        is_dressed(&answer, StatusCode::UNAUTHORIZED);
        assert_eq!(header(&answer, "access-control-allow-origin"), allowed);
        assert!(!answer.headers().contains_key("access-control-allow-credentials"));
        // A cache must not serve one origin the answer to another.
        assert!(header(&answer, "vary").contains("origin"));
    }
    let answer = ask(&service, reading("/v1/agents").header("origin", NAMED)).await;
    assert!(header(&answer, "access-control-expose-headers").contains("x-request-id"));
    let twice = reading("/v1/agents").header("origin", NAMED).header("origin", "https://evil.example");
    assert_eq!(header(&ask(&service, twice).await, "access-control-allow-origin"), "");
}

#[tokio::test]
async fn the_rate_limit_applies_to_sessions_too() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let service = crate::router(app(&store, &make), None);
    let body = serde_json::json!({
        "email": "ada@example.com", "password": "correct horse battery staple", "name": "Ada", "tos_version": "2026-01-01"
    });
    let post = |path: &str, body: Value| {
        let request = Request::post(path).header("host", "localhost").header("content-type", "application/json");
        service.clone().oneshot(request.body(Body::from(body.to_string())).unwrap())
    };
    assert_eq!(post("/v1/auth/signup", body.clone()).await.unwrap().status(), StatusCode::CREATED);
    let entering = serde_json::json!({ "email": body["email"], "password": body["password"] });
    let entered = post("/v1/auth/signin", entering).await.unwrap();
    let entered = entered.into_body().collect().await.unwrap().to_bytes();
    let token = serde_json::from_slice::<Value>(&entered).unwrap()["token"].as_str().unwrap().to_owned();
    let me = || ask(&service, reading("/v1/auth/me").header("authorization", format!("Bearer {token}")));
    for _ in 0..Plan::Free.limits().rate().unwrap().count() {
        assert_eq!(me().await.status(), StatusCode::OK);
    }
    let refused = me().await;
    is_dressed(&refused, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(header(&refused, "retry-after"), "1");
    assert_eq!(header(&refused, "ratelimit-policy"), "\"burst\";q=10;w=1");
    assert_eq!(header(&refused, "ratelimit"), "\"burst\";r=0;t=1");
    assert_eq!(header(&refused, "x-service-plan"), "free");
    assert_eq!(error(refused).await["type"], "rate_limit_error");
    make.clock.advance(kalends_time::SignedDuration::seconds(1));
    assert_eq!(me().await.status(), StatusCode::OK);
}

/// Behind an entrance of somebody else, too, a tool call and an approved write are those of their key.
#[tokio::test]
async fn an_inner_request_is_that_of_its_own_caller() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let app = app(&store, &make);
    let mut known = Vec::new();
    for _ in 0..2 {
        let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
        let (key, agent) = (make.key(organization.id), make.agent(organization.id));
        let changes = ChangeSet::new(organization.id).create(&organization).create(&key.key).create(&agent);
        store.commit(changes).await.unwrap();
        known.push((app.authenticate(&key.text).await.unwrap(), agent.id.to_string()));
    }
    let [(embedder, own), (inner, other)] = &known[..] else { panic!("{}", known.len()) };
    let service = crate::router_for(app, Arc::clone(&embedder.principal));
    for (carried, listed, absent) in [(None, own, other), (Some(inner), other, own)] {
        let mut request = reading("/v1/agents").body(Body::empty()).unwrap();
        if let Some(caller) = carried {
            request.extensions_mut().insert(Carried(Arc::clone(caller)));
        }
        let answer = service.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains(listed.as_str()) && !text.contains(absent.as_str()), "{text}");
    }
}

#[tokio::test]
async fn an_approval_makes_no_request_of_another_operation() {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let app = app(&store, &make);
    let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
    let (key, agent) = (make.key(organization.id), make.agent(organization.id));
    let changes = ChangeSet::new(organization.id).create(&organization).create(&key.key).create(&agent);
    store.commit(changes).await.unwrap();
    let caller = app.authenticate(&key.text).await.unwrap();
    let service = crate::router_for(app, Arc::clone(&caller.principal));
    for (operation, status) in [("listAgents", StatusCode::OK), ("createEvent", StatusCode::NOT_FOUND)] {
        let approval = kalends_approvals::Approval {
            operation: operation.to_owned(),
            ..make.approval(&make.scoped_key(&agent).key)
        };
        let approved = Arc::new(kalends_app::Approved { approval, by: "svc_sk_0".to_owned() });
        let mut request = reading("/v1/agents").body(Body::empty()).unwrap();
        request.extensions_mut().insert(Approved { approved, is_dry_run: false });
        assert_eq!(service.clone().oneshot(request).await.unwrap().status(), status, "{operation}");
    }
}
