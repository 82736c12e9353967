//! What the web pages of a booking page have in common.

use axum::response::Response;
use http::{HeaderValue, header};
use kalends_bookings::BookingPage;
use kalends_time::{Span, Zone};
use kalends_web::{DisplaySettings, Href, Path, Reader, headers};
use kalends_wire as wire;

use crate::error::ApiError;

/// How to show times to the visitor.
pub(super) fn display_settings<'a>(page: &BookingPage, zone: Option<Zone>, reader: &'a Reader) -> DisplaySettings<'a> {
    DisplaySettings { zone: zone.unwrap_or(page.timetable.zone), reader }
}

/// An answer that shows a booking page or a booking of it, in the colour of the page. No other site may show it in a
/// frame.
pub(super) fn styled(page: &BookingPage, response: Response) -> Response {
    with_policy(headers::policy_of(page.details.accent, &[]), response)
}

/// [`styled`], but in a frame of the sites that the page names. It is for booking; everything that changes a booking stays
/// out of frames.
pub(super) fn framed(page: &BookingPage, response: Response) -> Response {
    with_policy(headers::policy_of(page.details.accent, &page.details.embed_origins), response)
}

fn with_policy(policy: Option<String>, mut response: Response) -> Response {
    // Origins and hashes consist of characters that a header may have.
    if let Some(policy) = policy.and_then(|policy| HeaderValue::try_from(policy).ok()) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
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

/// The links of a booking, as far as a page may show them.
#[derive(Debug, Default)]
pub(super) struct Hrefs {
    pub(super) cancel: Option<Href>,
    pub(super) reschedule: Option<Href>,
    pub(super) file: Option<Href>,
}

impl Hrefs {
    pub(super) fn of(links: &wire::BookingLinks) -> Self {
        Self {
            cancel: Href::new(links.cancel_url.as_str()),
            reschedule: links.reschedule_url.as_deref().and_then(Href::new),
            file: Href::new(links.ics_url.as_str()),
        }
    }
}
