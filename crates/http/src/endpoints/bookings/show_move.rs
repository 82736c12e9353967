//! `GET /book/{slug}/bookings/{token}/move`

use axum::{extract::RawQuery, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_app::{App, BookingSeen, Missing, Refusal};
use kalends_bookings::Purpose;
use kalends_time::Span;
use kalends_web::{BookingState, ChosenSlot, DisplaySettings, Moving, Taken};

use super::{
    show::{Picking, bookable, nonsense, pick},
    show_cancellation::{first_event, shown_as},
    view::{booking_path, display_settings, styled},
};
use crate::{
    Service,
    booking_facts::facts,
    error::ApiError,
    extract::PathOf,
    pages::{html, page_query, reader},
};

/// Shows a guest the times to which a booking can be moved.
///
/// The address is the `reschedule_url` of the booking. With `slot`, it asks the guest to confirm the new time.
#[utoipa::path(
    get,
    path = "/book/{slug}/bookings/{token}/move",
    operation_id = "showMove",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("token" = String, Path, description = "The token of `reschedule_url`."),
        ("month" = Option<String>, Query, description = "The month to show, such as `2026-03`."),
        ("day" = Option<String>, Query, description = "The day to show, such as `2026-03-05`."),
        ("tz" = Option<String>, Query, description = "The zone of the times. Defaults to the page's zone."),
        ("slot" = Option<String>, Query, description = "The start of the new slot."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn show_move(
    app: Service,
    link: PathOf<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (slug, token) = link.0;
    let mut seen = app.booking(&slug, &token).await?;
    if seen.purpose != Purpose::Move {
        return Err(Refusal::missing(Missing::Booking, "at this address").into());
    }
    let reader = &reader(query.as_deref(), &headers);
    let query = page_query(query.as_deref());
    let shown = display_settings(&seen.page, query.zone, reader);
    let now = app.now();
    let before = match still_to_come(&app, &mut seen).await? {
        Ok(before) => before,
        Err(state) => return shown_as(&seen, (&slug, seen.to_cancel().reveal()), shown, state),
    };
    // A page that has been closed since then offers nothing.
    let open = app.open_page(seen.page.slug.reveal()).await?;
    let page = &open.page;
    let path = booking_path(&slug, &token, "move")?;
    let facts = facts(page, &path);
    match query.slot {
        Some(ChosenSlot::At(start)) => {
            let Ok(slot) = page.slot(start, now) else { return nonsense(page, reader) };
            let moving = Moving { page: facts, shown, before, slot };
            return Ok(styled(page, html(StatusCode::OK, moving.html())));
        }
        Some(ChosenSlot::Nonsense) => return nonsense(page, reader),
        None => {}
    }
    let offers = app.slots_to_move(&open, &seen).await?;
    let bookable = bookable(page, now)?;
    Ok(styled(page, pick(&offers, &query, Picking { facts, shown, now, bookable, moving: Some(before) })))
}

/// The time of the booking if it can still be moved. Otherwise its state.
pub(super) async fn still_to_come(app: &App, seen: &mut BookingSeen) -> Result<Result<Span, BookingState>, ApiError> {
    let only_rest = seen.is_cancelled();
    Ok(match first_event(app, seen).await? {
        None => Err(BookingState::CancelledBefore),
        Some(span) if span.start() <= app.now() => Err(BookingState::Past),
        Some(_) if only_rest => Err(BookingState::Unmovable),
        Some(span) => Ok(span),
    })
}

/// The answer if the new time was taken in the meantime.
pub(super) fn taken(
    seen: &BookingSeen,
    (slug, token): (&str, &str),
    shown: DisplaySettings<'_>,
    (wanted, nearest): (Span, &[Span]),
) -> Result<Response, ApiError> {
    let path = booking_path(slug, token, "move")?;
    let page = facts(&seen.page, &path);
    let taken = Taken { page, shown, slot: wanted, nearest, given: None, once: "", moves: true };
    Ok(styled(&seen.page, html(StatusCode::CONFLICT, taken.html())))
}
