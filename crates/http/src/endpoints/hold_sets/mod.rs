//! Holds on several calendars at once.

mod confirm;
mod create;
mod read;
mod release;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create))
        .routes(routes!(read::read))
        .routes(routes!(confirm::confirm))
        .routes(routes!(release::release))
}
