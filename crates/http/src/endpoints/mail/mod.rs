//! The emails that Kalends sends for an organization.

mod list;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(list::list))
}
