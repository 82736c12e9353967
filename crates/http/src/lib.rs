//! The REST API: every handler parses, calls a use case of `kalends-app`, and maps what it answers.
//!
//! A request passes, from the outside in: compression, `envelope` (request id, bounds of the request's head, error
//! envelope, CORS, headers for browsers, metrics, log), within it `incoming` (how fast the body must arrive, a deadline,
//! what becomes of an unread body), a guard against panics, and, once its route is known, `enter` (authentication, limits,
//! metering, idempotency, headers of the plan).

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

/// The most bytes of a request's body: 1 MiB (ruling 2.2).
pub const BODY_MAX: usize = 1 << 20;
/// The most bytes of a file that is imported.
pub const FILE_MAX: usize = kalends_feeds::limits::BYTES_MAX;
/// The most bytes of a message that calls the tool of an import: the file as a JSON string, in which each character may
/// be escaped, and what stands around it. Every other message holds at most [`BODY_MAX`].
pub const CALL_MAX: usize = 2 * FILE_MAX + BODY_MAX;
/// Answers below this many bytes are not compressed (ruling 2.10).
const COMPRESS_ABOVE: u64 = 1024;

/// The service's router, ready to be served. The peer's address is expected as a
/// `ConnectInfo<SocketAddr>` in the request's extensions.
pub fn router(app: Arc<App>) -> Router {
    compose(app, |routes, entrance| routes.route_layer(middleware::from_fn_with_state(entrance, enter::enter)))
}

/// The router for one caller who is known already: nobody is authenticated, limited or counted. It is for whoever
/// puts an entrance of their own before it, and tells by comparison what the service's own one costs.
pub fn router_for(app: Arc<App>, principal: Arc<Principal>) -> Router {
    compose(app, |routes, entrance| {
        routes.route_layer(middleware::from_fn_with_state((entrance, principal), enter::enter_as))
    })
}

/// The router of a process that serves nobody: it tells that the process runs and reaches its database, and answers
/// 404 to everything else.
pub fn probes(app: Arc<App>) -> Router {
    let (routes, _) = endpoints::probes().split_for_parts();
    surround(Arc::clone(&app), routes.with_state(app))
}

/// Puts `enter` before each of the routes, and everything else around them.
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

/// Puts what every request passes around the routes.
fn surround(app: Arc<App>, routes: Router) -> Router {
    let compressed = SizeAbove::new(COMPRESS_ABOVE).and(files::is_made_for_its_request);
    // Around the router as a whole rather than each of its routes, which would make a box of every layer
    // for every request.
    let around = ServiceBuilder::new()
        .map_response(envelope::despite_encodings)
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(middleware::from_fn_with_state(app, envelope::envelope))
        .layer(CatchPanicLayer::custom(envelope::panicked));
    Router::new().fallback_service(around.service(routes))
}

/// The description of the API as JSON text; `base_url` names the server.
pub fn openapi_json(base_url: &str) -> String {
    describe::complete(&endpoints::all().into_openapi(), base_url)
}

/// The state of every handler.
type Service = axum::extract::State<Arc<App>>;
/// The routes of a resource with their description.
type Routes = OpenApiRouter<Arc<App>>;
