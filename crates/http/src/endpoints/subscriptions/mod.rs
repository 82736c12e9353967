//! Subscriptions to iCal feeds.

mod create;
mod delete;
mod list;
mod read;
mod sync;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(create::create, list::list))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(sync::sync))
}
