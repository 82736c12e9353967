//! Connected human calendars.

mod caldav;
mod callback;
mod delete;
mod drawing;
mod example;
mod external_calendars;
mod list;
mod pause;
mod read;
mod reauthorize;
mod refresh;
mod resume;
mod start;
mod update;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(start::start))
        .routes(routes!(callback::callback))
        .routes(routes!(caldav::connect))
        .routes(routes!(example::connect))
        .routes(routes!(list::list))
        .routes(routes!(read::read, update::update, delete::delete))
        .routes(routes!(refresh::refresh))
        .routes(routes!(pause::pause))
        .routes(routes!(resume::resume))
        .routes(routes!(reauthorize::reauthorize))
        .routes(routes!(external_calendars::external_calendars))
        .routes(routes!(drawing::read, drawing::replace))
}
