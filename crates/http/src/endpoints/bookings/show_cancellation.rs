//! `GET /book/{slug}/bookings/{token}/cancel`

use axum::{extract::RawQuery, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_app::{App, BookingSeen, Missing, Refusal};
use kalends_bookings::Purpose;
use kalends_time::Span;
use kalends_web::{Booking, BookingState, DisplaySettings, Href};

use super::view::{booking_path, display_settings, path, styled};
use crate::{
    Service,
    booking_facts::facts,
    error::ApiError,
    extract::PathOf,
    pages::{html, page_query, reader},
};

/// Shows a booking to its guest, who can cancel it there.
///
/// The address is the `cancel_url` of the booking.
#[utoipa::path(
    get,
    path = "/book/{slug}/bookings/{token}/cancel",
    operation_id = "showCancellation",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `cancel_url`."),
        ("tz" = Option<String>, Query, description = "The zone of the times. Defaults to the page's zone."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn show_cancellation(
    app: Service,
    link: PathOf<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (slug, token) = link.0;
    let mut seen = for_cancelling(app.booking(&slug, &token).await?)?;
    let reader = &reader(query.as_deref(), &headers);
    let shown = display_settings(&seen.page, page_query(query.as_deref()).zone, reader);
    let state = match first_event(&app, &mut seen).await? {
        None => BookingState::CancelledBefore,
        Some(span) if span.start() <= app.now() => BookingState::Past,
        Some(_) => BookingState::Upcoming,
    };
    shown_as(&seen, (&slug, &token), shown, state)
}

/// Returns the booking if the token may cancel it.
fn for_cancelling(seen: BookingSeen) -> Result<BookingSeen, ApiError> {
    if seen.purpose == Purpose::Cancel {
        return Ok(seen);
    }
    Err(Refusal::missing(Missing::Booking, "at this address").into())
}

/// The time of the first event of a booking that takes place. The page of the booking then shows this event, which may be
/// on another calendar than that of its booking page.
pub(super) async fn first_event(app: &App, seen: &mut BookingSeen) -> Result<Option<Span>, ApiError> {
    let first = app.events_of_booking(seen).await?.into_iter().next();
    let span = first.as_ref().map(|event| event.times.span);
    seen.event = first.or_else(|| seen.event.take());
    Ok(span)
}

/// The page of a booking in that state.
pub(super) fn shown_as(
    seen: &BookingSeen,
    (slug, token): (&str, &str),
    shown: DisplaySettings<'_>,
    state: BookingState,
) -> Result<Response, ApiError> {
    let (cancel, page_path) = (booking_path(slug, token, "cancel")?, path(seen.page.slug.reveal())?);
    let slot: Option<Span> = seen.event.as_ref().map(|event| event.times.span);
    let event = seen.event.as_ref().map(|event| seen.booking.guest.view_of(event));
    let call = event.as_ref().and_then(|event| event.conference_url.as_ref()).and_then(|url| Href::new(url.as_str()));
    let booking = Booking {
        page: facts(&seen.page, &page_path),
        shown,
        slot,
        location: event.as_ref().and_then(|event| event.location.as_deref()),
        call: call.as_ref(),
        name: &seen.booking.guest.name,
        state,
        cancel: &cancel,
        // The token of this address cannot move the booking.
        reschedule: None,
        again: Some(&page_path).filter(|_| seen.page.is_open()),
    };
    Ok(styled(&seen.page, html(StatusCode::OK, booking.html())))
}
