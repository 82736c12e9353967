//! The booking pages and their bookings.

mod bookings;
mod cancelling;
mod edit;
mod every;
mod filtered;
mod given;
mod one;
mod preview;
mod questions;
mod reading;
mod wrong;

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use kalends_app::{App, operations};

pub(crate) use self::preview::failed_preview;
use super::places::{
    BOOKING_PAGE, BOOKING_PAGES, BOOKINGS, CANCEL_BOOKING, CANCEL_PAGE_BOOKING, DELETE_BOOKING_PAGE, EDIT_BOOKING_PAGE,
    Form, NEW_BOOKING_PAGE, PAGE_BOOKINGS, PREVIEW_BOOKING_PAGE, SWITCH_OFF_BOOKING_PAGE, SWITCH_ON_BOOKING_PAGE,
    segment,
};
use crate::{extract::PathOf, reply::see_other};

/// The pages and forms, each with its operation. A preview stores nothing, but only users who may create a page can see
/// one.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", BOOKING_PAGES, &operations::LIST_BOOKING_PAGES),
    ("POST", BOOKING_PAGES, &operations::CREATE_BOOKING_PAGE),
    ("GET", NEW_BOOKING_PAGE, &operations::LIST_BOOKING_PAGES),
    ("GET", PREVIEW_BOOKING_PAGE, &operations::LIST_BOOKING_PAGES),
    ("POST", PREVIEW_BOOKING_PAGE, &operations::CREATE_BOOKING_PAGE),
    ("GET", BOOKING_PAGE, &operations::GET_BOOKING_PAGE),
    ("GET", EDIT_BOOKING_PAGE, &operations::GET_BOOKING_PAGE),
    ("POST", EDIT_BOOKING_PAGE, &operations::UPDATE_BOOKING_PAGE),
    ("POST", SWITCH_ON_BOOKING_PAGE, &operations::UPDATE_BOOKING_PAGE),
    ("POST", SWITCH_OFF_BOOKING_PAGE, &operations::UPDATE_BOOKING_PAGE),
    ("GET", DELETE_BOOKING_PAGE, &operations::GET_BOOKING_PAGE),
    ("POST", DELETE_BOOKING_PAGE, &operations::DELETE_BOOKING_PAGE),
    ("GET", PAGE_BOOKINGS, &operations::LIST_BOOKINGS),
    ("GET", CANCEL_PAGE_BOOKING, &operations::LIST_BOOKINGS),
    ("POST", CANCEL_PAGE_BOOKING, &operations::CANCEL_BOOKING_AS_HOST),
    ("GET", BOOKINGS, &operations::LIST_BOOKINGS),
    ("GET", CANCEL_BOOKING, &operations::LIST_BOOKINGS),
    ("POST", CANCEL_BOOKING, &operations::CANCEL_BOOKING_AS_HOST),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(BOOKING_PAGES, get(one::list).post(edit::create))
        .route(NEW_BOOKING_PAGE, get(edit::ask))
        .route(PREVIEW_BOOKING_PAGE, post(preview::show).get(preview::leads_nowhere))
        .route(BOOKING_PAGE, get(one::show))
        .route(EDIT_BOOKING_PAGE, get(edit::ask_to_edit).post(edit::change))
        .route(SWITCH_ON_BOOKING_PAGE, post(one::switch_on).get(back))
        .route(SWITCH_OFF_BOOKING_PAGE, post(one::switch_off).get(back))
        .route(DELETE_BOOKING_PAGE, get(one::ask_to_delete).post(one::delete))
        .route(PAGE_BOOKINGS, get(bookings::list))
        .route(CANCEL_PAGE_BOOKING, get(cancelling::ask_of_page).post(cancelling::cancel_of_page))
        .route(BOOKINGS, get(every::list))
        .route(CANCEL_BOOKING, get(cancelling::ask).post(cancelling::cancel))
}

/// Somebody reloads the address of a form about a booking page.
async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{BOOKING_PAGES}/{}", segment(&id.0)), None)
}
