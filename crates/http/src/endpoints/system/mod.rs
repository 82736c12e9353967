//! The service itself.

mod health;
mod openapi;
mod plans;
mod ready;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(health::health))
        .routes(routes!(ready::ready))
        .routes(routes!(openapi::openapi))
        .routes(routes!(plans::plans))
}
