//! What no request can bring about from outside: answers that break off.

use std::{collections::HashSet, future::pending, sync::Arc};

use axum::{Router, body::Body, extract::Request, middleware, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{
    App, ChangeSet, MemoryRateLimiter, NoCalendarProviders, NoHumanCalendars, NoProviders, Parts, ports::Commit as _,
};
use kalends_quotas::Plan;
use kalends_testkit::{
    Mailbox, MemoryStore, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
};
use tower::ServiceExt as _;

use crate::{
    enter::{self, Entrance},
    surround,
};

/// A service whose agents are listed by that handler, and a key of one of its organizations.
async fn service(listing: axum::routing::MethodRouter<Arc<App>>) -> (Router, String) {
    let (store, make) = (MemoryStore::new(), Fixtures::new());
    let app = App::new(Parts {
        store: Arc::new(store.clone()),
        clock: Arc::new(make.clock.clone()),
        entropy: Arc::new(make.entropy.clone()),
        mailer: Arc::new(Mailbox::default()),
        passwords: Arc::new(TestPasswords::default()),
        tokens: Arc::new(TestTokens),
        human: Arc::new(NoHumanCalendars),
        calendar_providers: Arc::new(NoCalendarProviders),
        limiter: Arc::new(MemoryRateLimiter::default()),
        sender: Arc::new(kalends_app::NoSender),
        fetcher: Arc::new(kalends_app::NoFetcher),
        providers: Arc::new(NoProviders),
        settings: settings(),
    });
    let organization = kalends_accounts::Organization { plan: Plan::Pro, ..make.organization() };
    let key = make.key(organization.id);
    store.commit(ChangeSet::new(organization.id).create(&organization).create(&key.key)).await.unwrap();
    let entrance = Entrance { app: Arc::clone(&app), without_query: Arc::new(HashSet::new()) };
    let routes = Router::new().route("/v1/agents", listing);
    let routes = routes.route_layer(middleware::from_fn_with_state(entrance, enter::enter));
    (surround(Arc::clone(&app), routes.with_state(app)), key.text)
}

async fn ask(service: Router, key: &str) -> Response {
    let request = Request::get("/v1/agents").header("authorization", format!("Bearer {key}"));
    service.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

fn tells_of_the_caller(response: &Response, status: StatusCode) {
    assert_eq!(response.status(), status);
    let header = |name: &str| response.headers()[name].to_str().unwrap();
    assert_eq!(header("x-service-plan"), "pro");
    assert!(header("ratelimit-policy").starts_with("\"api_calls\";q="));
    assert!(header("ratelimit").starts_with("\"api_calls\";r="));
    assert!(header("x-request-id").starts_with("req_"));
    assert_eq!(header("content-type"), "application/json");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_late_tells_of_its_caller() {
    let (service, key) = service(get(pending::<StatusCode>)).await;
    tells_of_the_caller(&ask(service, &key).await, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn an_answer_that_panicked_tells_of_its_caller() {
    let panics = || async {
        // Asked of the runtime, so that the compiler believes in what follows.
        assert!(tokio::runtime::Handle::try_current().is_err(), "a handler that fails");
        StatusCode::OK
    };
    let (service, key) = service(get(panics)).await;
    tells_of_the_caller(&ask(service, &key).await, StatusCode::INTERNAL_SERVER_ERROR);
}
