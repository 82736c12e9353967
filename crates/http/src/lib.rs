//! The REST API. Every handler parses the request, calls a use case of `kalends-app` and converts its result.
//!
//! A request passes these layers, from the outside in:
//!
//! - compression
//! - `envelope`: request identifier, limits on the request's head, error envelope, CORS, security headers, metrics,
//!   log
//! - `incoming`: minimum speed of the body, deadline, handling of an unread body
//! - a guard against panics
//! - `enter`, after routing: authentication, limits, metering, idempotency, headers of the plan

mod budget;
mod cors;
mod describe;
mod docs;
mod endpoints;
mod enter;
mod envelope;
mod error;
mod examples;
mod extract;
mod files;
mod head;
mod incoming;
mod list_page;
mod mcp;
mod metered;
mod pages;
mod reply;
mod security;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::{Router, middleware};
use kalends_accounts::Principal;
use kalends_app::App;
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::{CompressionLayer, Predicate as _, predicate::SizeAbove},
};
use utoipa_axum::router::OpenApiRouter;

use crate::enter::Entrance;
pub use crate::error::refused_connection;

/// The maximum size of a request's body, in bytes: 1 MiB.
pub const BODY_MAX: usize = 1 << 20;
/// The maximum size of an imported file, in bytes.
pub const FILE_MAX: usize = kalends_feeds::limits::BYTES_MAX;
/// The maximum size of a message that calls the import tool, in bytes. The file is a JSON string in which every
/// character may be escaped, and the rest of the message surrounds it. All other messages are at most [`BODY_MAX`]
/// long.
pub const CALL_MAX: usize = 2 * FILE_MAX + BODY_MAX;
/// Answers smaller than this are not compressed, in bytes.
const COMPRESS_ABOVE: u64 = 1024;

/// The complete router of the service. It expects the peer's address as a `ConnectInfo<SocketAddr>` in the request's
/// extensions.
pub fn router(app: Arc<App>) -> Router {
    compose(app, |routes, entrance| routes.route_layer(middleware::from_fn_with_state(entrance, enter::enter)))
}

/// The router for a single, known caller. It does not authenticate, limit or count. Use it behind your own entrance,
/// or to measure what the service's own entrance costs.
pub fn router_for(app: Arc<App>, principal: Arc<Principal>) -> Router {
    compose(app, |routes, entrance| {
        routes.route_layer(middleware::from_fn_with_state((entrance, principal), enter::enter_as))
    })
}

/// The router of a process that serves no requests. It answers whether the process is running and reaches its
/// database, and answers 404 to everything else.
pub fn probes(app: Arc<App>) -> Router {
    let (routes, _) = endpoints::probes().split_for_parts();
    surround(Arc::clone(&app), routes.with_state(app))
}

/// Adds `enter` to each route and the other layers around them.
fn compose(app: Arc<App>, enter: impl FnOnce(Router<Arc<App>>, Entrance) -> Router<Arc<App>>) -> Router {
    let (routes, description) = endpoints::all().split_for_parts();
    let entrance = Entrance { app: Arc::clone(&app), without_query: Arc::new(describe::without_query(&description)) };
    let description = describe::complete(&description, &app.settings().base_url);
    let (tools, _) = mcp::Tools::of(&serde_json::from_str(&description).unwrap_or_default());
    let routes = Router::new()
        .merge(enter(routes, entrance))
        .merge(docs::routes())
        .merge(pages::console(&app.sign_in_providers()))
        .with_state(Arc::clone(&app))
        .layer(axum::Extension(endpoints::Description::new(description)));
    let inner = surround(Arc::clone(&app), routes.clone());
    let routes = routes.merge(mcp::route(&app, tools, inner));
    surround(app, routes)
}

/// Adds the layers that every request passes.
fn surround(app: Arc<App>, routes: Router) -> Router {
    let compressed = SizeAbove::new(COMPRESS_ABOVE).and(files::is_made_for_its_request);
    // The layers wrap the router as a whole. Wrapping each route would box every layer for every request.
    let around = ServiceBuilder::new()
        .map_response(envelope::despite_encodings)
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(middleware::from_fn_with_state(app, envelope::envelope))
        .layer(CatchPanicLayer::custom(envelope::panicked));
    Router::new().fallback_service(around.service(routes))
}

/// The OpenAPI description as JSON text. `base_url` is the address of the server.
pub fn openapi_json(base_url: &str) -> String {
    describe::complete(&endpoints::all().into_openapi(), base_url)
}

/// The state of every handler.
type Service = axum::extract::State<Arc<App>>;
/// The routes of a resource, with their description.
type Routes = OpenApiRouter<Arc<App>>;
