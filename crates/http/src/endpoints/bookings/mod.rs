//! Booking pages for guests. The address is the credential.

mod asset;
mod book;
mod cancel;
mod emails;
mod file;
mod read;
mod reschedule;
mod show;
mod show_cancellation;
mod show_move;
mod slots;
mod view;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(slots::slots))
        .routes(routes!(asset::asset))
        .routes(routes!(show::show, book::book))
        .routes(routes!(emails::show, emails::answer))
        .routes(routes!(read::read))
        .routes(routes!(file::file))
        .routes(routes!(show_cancellation::show_cancellation, cancel::cancel))
        .routes(routes!(show_move::show_move, reschedule::reschedule))
}
