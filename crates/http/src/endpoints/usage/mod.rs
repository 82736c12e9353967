//! An organization's usage.

mod read;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read))
}
