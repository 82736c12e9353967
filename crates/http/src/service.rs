//! The types of handlers and routes.

use std::sync::Arc;

use kalends_app::App;
use utoipa_axum::router::OpenApiRouter;

/// The state of every handler.
pub(crate) type Service = axum::extract::State<Arc<App>>;
/// The routes of a resource, with their description.
pub(crate) type Routes = OpenApiRouter<Arc<App>>;
