//! The REST API. Every handler parses the request, calls a use case of `kalends-app` and converts its result.
//!
//! A request passes these layers, from the outside in:
//!
//! - compression, unless the service itself makes the request, for a tool call or an approval
//! - `envelope`: request identifier, span, limits on the request's head, error envelope, CORS, security headers,
//!   metrics, log
//! - `incoming`: minimum speed of the body, deadline, handling of an unread body
//! - a guard against panics
//! - `enter`, after routing: authentication, limits, metering, idempotency, headers of the plan

mod approving;
mod booking_facts;
mod budget;
mod console;
mod cors;
mod describe;
mod docs;
mod dry_run;
mod endpoints;
mod enter;
mod envelope;
mod error;
mod examples;
mod extract;
mod files;
mod head;
mod incoming;
mod known;
mod limits;
mod list_page;
mod mcp;
mod metered;
mod new_key;
mod oauth_error;
mod on_first_use;
mod once;
mod pages;
mod provenance;
mod reply;
mod request_log;
mod run;
mod security;
mod service;
#[cfg(test)]
mod tests;
mod traceparent;

use std::{collections::HashSet, sync::Arc};

use axum::{Router, middleware};
use kalends_accounts::Principal;
use kalends_app::App;
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{
        CompressionLayer, Predicate as _,
        predicate::{NotForContentType, SizeAbove},
    },
};

pub(crate) use self::service::{Routes, Service, routes};
use self::{approving::Maker, enter::Entrance, envelope::Desk, limits::COMPRESS_ABOVE, on_first_use::OnFirstUse};
pub use self::{
    error::refused_connection,
    known::ToolCall,
    limits::{BODY_MAX, CALL_MAX, FILE_MAX},
    request_log::{RequestLine, RequestLog},
};

/// The complete router of the service. It expects the peer's address as a `ConnectInfo<SocketAddr>` in the request's
/// extensions. `log` takes the line of each request.
pub fn router(app: Arc<App>, log: Option<Arc<dyn RequestLog>>) -> Router {
    compose(app, log, |routes, entrance| routes.route_layer(middleware::from_fn_with_state(entrance, enter::enter)))
}

/// The router for a single, known caller. It does not authenticate, check rates or count calls, except at `/mcp`, which
/// still requires a key. Use it behind your own entrance, or to measure what the service's own entrance costs.
pub fn router_for(app: Arc<App>, principal: Arc<Principal>) -> Router {
    compose(app, None, |routes, entrance| {
        routes.route_layer(middleware::from_fn_with_state((entrance, principal), enter::enter_as))
    })
}

/// The router of a process that does not serve the API. It answers whether the process is running and reaches its
/// database, and answers 404 to everything else. `log` takes the line of each request.
pub fn probes(app: Arc<App>, log: Option<Arc<dyn RequestLog>>) -> Router {
    let (routes, _) = endpoints::probes().into_parts();
    surround(Desk { app: Arc::clone(&app), log }, routes.with_state(app))
}

/// Adds `enter` to each route and the other layers around them.
fn compose(
    app: Arc<App>,
    log: Option<Arc<dyn RequestLog>>,
    enter: impl FnOnce(Router<Arc<App>>, Entrance) -> Router<Arc<App>>,
) -> Router {
    let (routes, operations) = endpoints::all().into_parts();
    let without_query: OnFirstUse<HashSet<&'static str>> =
        OnFirstUse::new(Box::new(move || describe::without_query(&operations)));
    let entrance = Entrance { app: Arc::clone(&app), without_query: Arc::new(without_query) };
    let base_url = app.settings().base_url.clone();
    let tools = {
        let base_url = base_url.clone();
        move || mcp::Tools::of(&description(&base_url)).0
    };
    let description = endpoints::Description::new(move || openapi_json(&base_url));
    let maker = Maker::new(Arc::clone(&app));
    let routes = Router::new()
        .merge(enter(routes.merge(console::routes()).merge(endpoints::connectors::routes()), entrance))
        .merge(docs::routes(docs::Site::new(description.clone())))
        .merge(pages::routes(&app))
        .merge(console::operator_routes(&app))
        .with_state(Arc::clone(&app))
        .layer(axum::Extension(description))
        .layer(axum::Extension(maker.clone()));
    let desk = Desk { app, log };
    let inner = Arc::new(enclose(desk.clone(), routes.clone()));
    maker.serve(&inner);
    // The route of the tools keeps it, so it lives as long as the complete router.
    let routes = routes.merge(mcp::route(&desk.app, tools, inner));
    surround(desk, routes)
}

/// Adds the layers that every request of a client passes.
fn surround(desk: Desk, routes: Router) -> Router {
    // A compressed stream would arrive late.
    let compressed = SizeAbove::new(COMPRESS_ABOVE).and(NotForContentType::SSE).and(files::is_made_for_its_request);
    // The layers wrap the router as a whole. Wrapping each route would box every layer for every request.
    let around = ServiceBuilder::new()
        .map_response(envelope::finish)
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(middleware::from_fn_with_state(desk, envelope::envelope))
        .layer(CatchPanicLayer::custom(envelope::panicked));
    Router::new().fallback_service(around.service(routes))
}

/// Adds the layers of [`surround`] that a request needs if the service itself makes it. Nothing is sent, so nothing is
/// compressed or counted.
fn enclose(desk: Desk, routes: Router) -> Router {
    let around = ServiceBuilder::new()
        .layer(middleware::from_fn_with_state(desk, envelope::envelope))
        .layer(CatchPanicLayer::custom(envelope::panicked));
    Router::new().fallback_service(around.service(routes))
}

/// The OpenAPI description as JSON text. `base_url` is the address of the server.
pub fn openapi_json(base_url: &str) -> String {
    description(base_url).to_string()
}

fn description(base_url: &str) -> serde_json::Value {
    describe::complete(&endpoints::described(), base_url)
}
