//! Holds on several calendars at once.

mod confirm;
mod create;
mod list;
mod read;
mod release;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read))
        .routes(routes!(confirm::confirm))
        .routes(routes!(release::release))
}
