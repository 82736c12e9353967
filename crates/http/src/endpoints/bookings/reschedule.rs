//! `POST /book/{slug}/bookings/{token}/move`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::{App, Refusal};
use kalends_web::{Booked, Href};
use kalends_wire as wire;

use super::{
    show::nonsense,
    show_cancellation::shown_as,
    show_move::{still_to_come, taken},
    view::{Hrefs, display_settings, path, slot_of, styled},
};
use crate::{
    Service,
    booking_facts::facts,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, check_query_beside_form, read_body},
    pages::{Fields, html, is_form, reader},
    reply::{Changed, Fresh},
};

/// Moves a booking to another slot, as its guest.
///
/// The same rules apply as for a new booking: if the slot is taken, the answer is 409 `slot_taken`, and if the time is
/// not a slot of the page, it is 400. The booking's own time does not block it. The guest gets an email, and both links
/// stay valid. If the event has started or was cancelled, the answer is 409 `conflict`, code `booking_over`. If the
/// page is closed, it is 404.
#[utoipa::path(
    post,
    path = "/book/{slug}/bookings/{token}/move",
    operation_id = "moveBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `reschedule_url`."),
        ("lang" = Option<String>, Query, description = "The language of the answer to a form, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    request_body(content(
        (wire::MoveBooking = "application/json"),
        (wire::MoveBooking = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The moved booking.", body = wire::GuestBooking))
)]
pub(crate) async fn reschedule(
    app: Service,
    called: Anonymous,
    link: PathOf<(String, String)>,
    request: Request,
) -> Result<Response, ApiError> {
    let (slug, token) = link.0;
    if is_form(request.headers()) {
        return move_by_form(&app, &called.0, (&slug, &token), request).await;
    }
    check_query_beside_form(request.uri().query())?;
    let JsonBody(body) = JsonBody::<wire::MoveBooking>::from_request(request, &()).await?;
    Ok(Fresh(Changed(app.move_booking(&called.0, &slug, &token, body.parse()?).await?)).into_response())
}

async fn move_by_form(
    app: &App,
    called: &kalends_app::Request,
    (slug, token): (&str, &str),
    request: Request,
) -> Result<Response, ApiError> {
    let reader = &reader(request.uri().query(), request.headers());
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    let mut seen = app.booking(slug, token).await?;
    let shown = display_settings(&seen.page, fields.get("tz").parse().ok(), reader);
    let before = match still_to_come(app, &mut seen).await? {
        Ok(before) => before,
        Err(state) => return shown_as(&seen, (slug, seen.to_cancel().reveal()), shown, state),
    };
    let Ok(start) = fields.get("start").parse() else { return nonsense(&seen.page, reader) };
    let moved = match app.move_booking(called, slug, token, start).await {
        Ok(moved) => moved.resource,
        Err(Refusal::Invalid(_)) => return nonsense(&seen.page, reader),
        Err(Refusal::BookingTaken { wanted, nearest }) => {
            return taken(&seen, (slug, token), shown, (wanted, &nearest));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let slot = moved.event.as_ref().and_then(slot_of).ok_or(ApiError::Internal)?;
    let links = moved.links.as_ref().map(Hrefs::of).unwrap_or_default();
    let path = path(seen.page.slug.reveal())?;
    let event = moved.event.as_ref();
    let call = event.and_then(|event| event.conference_url.as_deref()).and_then(Href::new);
    let page = Booked {
        page: facts(&seen.page, &path),
        shown,
        slot,
        before: Some(before),
        mailed_to: Some(seen.booking.guest.email.as_str()),
        cancel: links.cancel.as_ref(),
        reschedule: links.reschedule.as_ref(),
        file: links.file.as_ref(),
        location: event.and_then(|event| event.location.as_deref()),
        call: call.as_ref(),
    };
    Ok(styled(&seen.page, html(StatusCode::OK, page.html())))
}
