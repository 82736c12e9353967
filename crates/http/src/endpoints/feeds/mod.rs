//! Calendars as iCalendar text.

mod answer;
pub(crate) mod export;
mod import;
mod read;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new().routes(routes!(read::read)).routes(routes!(export::export)).routes(routes!(import::import))
}
