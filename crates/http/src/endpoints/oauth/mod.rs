//! Sign-in with a provider.

mod callback;
mod returning;
mod start;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(start::start)).routes(routes!(callback::callback))
}
