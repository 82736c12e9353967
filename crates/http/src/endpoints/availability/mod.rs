//! Availability.

mod across;
mod explain;
mod of_agent;
mod of_calendar;

use crate::{Routes, routes};

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(across::across))
        .routes(routes!(explain::explain))
        .routes(routes!(of_agent::of_agent))
        .routes(routes!(of_calendar::of_calendar))
}
