//! What guests see of a booking page, whether it is saved or a preview.

use kalends_accounts::EMAIL_MAX;
use kalends_bookings::{BookingPage, NAME_MAX, NOTES_MAX};
use kalends_web::{Limits, Page, Path};

/// The maximum length of the fields of the form that books.
pub(crate) const LIMITS: Limits = Limits { name: NAME_MAX, email: EMAIL_MAX, notes: NOTES_MAX };

/// The facts about a booking page that a visitor may see. `path` is the path of the page that shows them.
pub(crate) fn facts<'a>(page: &'a BookingPage, path: &'a Path) -> Page<'a> {
    Page {
        path,
        title: &page.title,
        description: page.description.as_deref(),
        host: page.details.host_name.as_deref(),
        duration_minutes: page.timetable.duration_minutes.into(),
        zone: page.timetable.zone,
        location: page.details.location.as_deref(),
        has_call: page.details.conference_url.is_some(),
        accent: page.details.accent,
        embedded: !page.details.embed_origins.is_empty(),
        questions: page.details.questions.as_slice(),
        preview: None,
    }
}
