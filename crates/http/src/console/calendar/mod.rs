//! The calendar: events of several calendars, and the forms about them.

mod asked;
mod reading;
mod view;

use std::sync::Arc;

use axum::{Router, routing::get};
use kalends_app::{App, operations};

use super::{Form, places::CALENDAR};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[("GET", CALENDAR, &operations::LIST_EVENTS)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(CALENDAR, get(view::show))
}
