//! Connection links: agents ask for a human calendar, and users connect one.

mod cancel;
mod create;
mod decline;
mod open;
mod read;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create))
        .routes(routes!(read::read, cancel::cancel))
        .routes(routes!(open::open))
        .routes(routes!(decline::decline))
}
