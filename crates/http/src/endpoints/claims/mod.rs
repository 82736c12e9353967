//! Claims of users on organizations that agents signed up.

mod initiate;
mod list;
mod revoke;
mod verify;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(initiate::initiate))
        .routes(routes!(verify::verify))
        .routes(routes!(revoke::revoke))
        .routes(routes!(list::list))
}
