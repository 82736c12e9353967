//! Operations for the holder of the operator's token.

mod activate;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(activate::activate))
}
