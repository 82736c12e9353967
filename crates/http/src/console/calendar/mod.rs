//! The calendar: events of several calendars, and the forms about them.

mod asked;
mod event;
mod given;
mod moving;
mod people;
mod reading;
mod refused;
mod view;
mod wanted;
mod why;
mod write;

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use kalends_app::{App, operations};

pub(super) use self::{
    given::instant,
    why::{obstacle, reasons},
};
use super::places::{
    CALENDAR, CANCEL_EVENT, CONFIRM_HOLD, EDIT_EVENT, EVENT, EVENTS, EXPLAIN, Form, MOVE_EVENT, NEW_EVENT, RELEASE_HOLD,
};
use crate::reply::see_other;

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", CALENDAR, &operations::LIST_EVENTS),
    ("GET", NEW_EVENT, &operations::LIST_CALENDARS),
    ("POST", EVENTS, &operations::CREATE_EVENT),
    ("GET", EVENT, &operations::GET_EVENT),
    ("GET", EDIT_EVENT, &operations::GET_EVENT),
    ("POST", EDIT_EVENT, &operations::UPDATE_EVENT),
    ("GET", CANCEL_EVENT, &operations::GET_EVENT),
    ("POST", CANCEL_EVENT, &operations::DELETE_EVENT),
    ("GET", MOVE_EVENT, &operations::GET_EVENT),
    ("POST", MOVE_EVENT, &operations::MOVE_EVENT),
    ("POST", CONFIRM_HOLD, &operations::CONFIRM_HOLD),
    ("POST", RELEASE_HOLD, &operations::RELEASE_HOLD),
    ("GET", EXPLAIN, &operations::EXPLAIN_AVAILABILITY),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(CALENDAR, get(view::show))
        .route(NEW_EVENT, get(write::ask))
        .route(EVENTS, post(write::create).get(back))
        .route(EVENT, get(event::show))
        .route(EDIT_EVENT, get(write::ask_to_edit).post(write::edit))
        .route(CANCEL_EVENT, get(event::ask_to_cancel).post(event::cancel))
        .route(MOVE_EVENT, get(moving::ask).post(moving::submit))
        .route(CONFIRM_HOLD, post(event::confirm).get(event::back))
        .route(RELEASE_HOLD, post(event::release).get(event::back))
        .route(EXPLAIN, get(why::explain))
}

/// Somebody reloads the address of a form.
async fn back() -> Response {
    see_other(CALENDAR, None)
}
