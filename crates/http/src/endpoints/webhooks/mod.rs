//! Webhook endpoints and their deliveries.

mod create;
mod delete;
mod deliveries;
mod list;
mod read;
mod retry;
mod rotate_secret;
mod test;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(rotate_secret::rotate_secret))
        .routes(routes!(test::test))
        .routes(routes!(deliveries::deliveries))
        .routes(routes!(retry::retry))
}
