//! Destinations: the calendars of connected accounts to which events are published.

mod delete;
mod put;
mod read;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read, put::put, delete::delete))
}
