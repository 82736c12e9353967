//! Proposals.

mod cancel;
mod create;
mod list;
mod read;
mod resolve;
mod respond;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read))
        .routes(routes!(respond::respond))
        .routes(routes!(resolve::resolve))
        .routes(routes!(cancel::cancel))
}
