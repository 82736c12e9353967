//! What the pages of a booking page have in common.

use http::{HeaderMap, header};
use kalends_accounts::EMAIL_MAX;
use kalends_bookings::{BookingPage, NAME_MAX, NOTES_MAX};
use kalends_kernel::Zone;
use kalends_web::{Clock, DisplaySettings, Limits, Page, PageQuery, Path};
use url::form_urlencoded;

use crate::error::ApiError;

/// How long the fields of the form may be.
pub(super) const LIMITS: Limits = Limits { name: NAME_MAX, email: EMAIL_MAX, notes: NOTES_MAX };

/// What the query of an address asks for.
pub(super) fn asked(query: Option<&str>) -> PageQuery {
    let pairs: Vec<_> = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).collect();
    PageQuery::read(pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref())))
}

/// How the visitor reads times.
pub(super) fn shown(page: &BookingPage, zone: Option<Zone>, headers: &HeaderMap) -> DisplaySettings {
    let languages = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    DisplaySettings { zone: zone.unwrap_or(page.timetable.zone), clock: Clock::of_languages(languages) }
}

/// What a visitor may know of a booking page that lies there.
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

/// Where the page lies.
///
/// # Errors
/// [`ApiError::NoRoute`] for a slug that no page can have.
pub(super) fn path(slug: &str) -> Result<Path, ApiError> {
    Path::new(format!("/book/{slug}")).ok_or(ApiError::NoRoute)
}

/// Where something is done with a booking.
///
/// # Errors
/// [`ApiError::NoRoute`] for what no page and no booking can have.
pub(super) fn booking_path(slug: &str, token: &str, what: &str) -> Result<Path, ApiError> {
    Path::new(format!("/book/{slug}/bookings/{token}/{what}")).ok_or(ApiError::NoRoute)
}

/// The fields of a form.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Those of a body; what is no text is read as well as possible.
    pub(super) fn read(body: &[u8]) -> Self {
        let fields = form_urlencoded::parse(body);
        Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The first value of a field; nothing where it was left out.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}
