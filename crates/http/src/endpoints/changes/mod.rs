//! What changes in an organization.

mod list;
mod stream;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(list::list))
}
