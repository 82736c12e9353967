//! Proposals.

mod cancel;
mod create;
mod list;
mod read;
mod resolve;
mod respond;

use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read))
        .routes(routes!(respond::respond))
        .routes(routes!(resolve::resolve))
        .routes(routes!(cancel::cancel))
}
