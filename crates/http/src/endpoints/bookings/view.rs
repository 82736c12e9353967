//! What the web pages of a booking page have in common.

use http::{HeaderMap, header};
use kalends_accounts::EMAIL_MAX;
use kalends_bookings::{BookingPage, NAME_MAX, NOTES_MAX};
use kalends_time::{Span, Zone};
use kalends_web::{Clock, DisplaySettings, Href, Limits, Page, PageQuery, Path};
use kalends_wire as wire;
use url::form_urlencoded;

use crate::error::ApiError;

/// The maximum length of the form's fields.
pub(super) const LIMITS: Limits = Limits { name: NAME_MAX, email: EMAIL_MAX, notes: NOTES_MAX };

/// Parses the query of a page.
pub(super) fn page_query(query: Option<&str>) -> PageQuery {
    let pairs: Vec<_> = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
    PageQuery::read(pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
}

/// How to show times to the visitor.
pub(super) fn display_settings(page: &BookingPage, zone: Option<Zone>, headers: &HeaderMap) -> DisplaySettings {
    let languages = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    DisplaySettings { zone: zone.unwrap_or(page.timetable.zone), clock: Clock::of_languages(languages) }
}

/// The facts about a booking page that a visitor may see. `path` is the path of the page that shows them.
pub(super) fn page<'a>(page: &'a BookingPage, path: &'a Path) -> Page<'a> {
    Page {
        path,
        title: &page.title,
        description: page.description.as_deref(),
        host: None,
        duration_minutes: page.timetable.duration_minutes.into(),
        zone: page.timetable.zone,
    }
}

/// The path of a booking page.
///
/// # Errors
/// [`ApiError::NoRoute`] if no page can have the slug.
pub(super) fn path(slug: &str) -> Result<Path, ApiError> {
    Path::new(format!("/book/{slug}")).ok_or(ApiError::NoRoute)
}

/// The path for an action on a booking.
///
/// # Errors
/// [`ApiError::NoRoute`] if no page or booking can have the slug or token.
pub(super) fn booking_path(slug: &str, token: &str, what: &str) -> Result<Path, ApiError> {
    Path::new(format!("/book/{slug}/bookings/{token}/{what}")).ok_or(ApiError::NoRoute)
}

/// The time of a booked event; `None` if it ends before it starts, which no event does.
pub(super) fn slot_of(event: &wire::GuestEvent) -> Option<Span> {
    Span::new(event.start_time, event.end_time).ok()
}

/// The links that cancel and move a booking, as far as a page may show them.
pub(super) fn hrefs(links: Option<&wire::BookingLinks>) -> (Option<Href>, Option<Href>) {
    let cancel = links.and_then(|links| Href::new(links.cancel_url.as_str()));
    (cancel, links.and_then(|links| links.reschedule_url.as_deref()).and_then(Href::new))
}
