//! Availability rules of calendars.

mod delete;
mod put;
mod read;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read, put::put, delete::delete))
}
