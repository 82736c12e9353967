//! Sign-up and terms.

mod sign_up;
mod terms;
mod verify;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(sign_up::sign_up)).routes(routes!(verify::verify)).routes(routes!(terms::terms))
}
