//! The emails that Kalends sends for an organization.

mod list;
mod replies;
mod reply_to;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(list::list))
        .routes(routes!(reply_to::read, reply_to::put, reply_to::delete))
        .routes(routes!(replies::show, replies::answer))
}
