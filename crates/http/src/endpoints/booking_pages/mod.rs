//! Booking pages, for their owners.

mod bookings;
mod cancel;
mod create;
mod delete;
mod list;
mod read;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(bookings::bookings))
        .routes(routes!(cancel::cancel))
}
