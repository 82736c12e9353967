//! `POST /book/{slug}/bookings/{token}/cancel`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use kalends_app::{App, Refusal};
use kalends_web::{BookingState, Reader};
use kalends_wire as wire;

use super::{
    show_cancellation::{first_event, shown_as},
    view::display_settings,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, NoBody, PathOf, check_query_beside_form},
    pages::{is_form, reader},
    reply::{Changed, Fresh},
};

/// Cancels a booking, as its guest.
///
/// The event is deleted and the guest gets an email. Repeating the request changes nothing and returns the same answer.
/// If the event has started, the answer is 409 `conflict`, code `booking_over`. A booking can be cancelled even if its
/// page is closed. If the request is a form, the answer is HTML.
#[utoipa::path(
    post,
    path = "/book/{slug}/bookings/{token}/cancel",
    operation_id = "cancelBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `cancel_url`."),
        ("lang" = Option<String>, Query, description = "The language of the answer to a form, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    responses((status = 200, description = "The cancelled booking.", body = wire::GuestBooking))
)]
pub(crate) async fn cancel(
    app: Service,
    called: Anonymous,
    link: PathOf<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    let (slug, token) = link.0;
    if is_form(request.headers()) {
        let reader = reader(request.uri().query(), request.headers());
        return cancel_by_form(&app, &called.0, (&slug, &token), &reader).await;
    }
    check_query_beside_form(request.uri().query())?;
    let _: NoBody = NoBody::from_request(request, &()).await?;
    Ok(Fresh(Changed(app.cancel_booking(&called.0, &slug, &token).await?)).into_response())
}

/// Handles the form, which consists only of a button.
async fn cancel_by_form(
    app: &App,
    called: &kalends_app::Request,
    (slug, token): (&str, &str),
    reader: &Reader,
) -> Result<Response, ApiError> {
    let mut seen = app.booking(slug, token).await?;
    let shown = display_settings(&seen.page, None, reader);
    let is_over = first_event(app, &mut seen).await?.is_none();
    let state = match app.cancel_booking(called, slug, token).await {
        Ok(_) if is_over => BookingState::CancelledBefore,
        Ok(_) => BookingState::Cancelled,
        Err(Refusal::BookingOver(_)) => BookingState::Past,
        Err(refusal) => return Err(refusal.into()),
    };
    shown_as(&seen, (slug, token), shown, state)
}
