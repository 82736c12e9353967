//! Booking pages for guests. The address is the credential.

mod asset;
mod book;
mod cancel;
mod read;
mod reschedule;
mod show;
mod show_cancellation;
mod show_move;
mod slots;
mod view;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use utoipa_axum::routes;

use crate::Routes;

pub(crate) fn routes() -> Routes {
    Routes::new()
        .routes(routes!(slots::slots))
        .routes(routes!(asset::asset))
        .routes(routes!(show::show, book::book))
        .routes(routes!(read::read))
        .routes(routes!(show_cancellation::show_cancellation, cancel::cancel))
        .routes(routes!(show_move::show_move, reschedule::reschedule))
}

/// An answer that must not be cached: slots are taken all the time, and a booking is private.
pub(crate) struct Fresh<T>(pub T);

impl<T: IntoResponse> IntoResponse for Fresh<T> {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
