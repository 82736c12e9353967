//! What the pages about booking pages have in common.

use axum::response::Response;
use kalends_app::{Actor, App, Missing, Refusal};
use kalends_bookings::BookingPage;
use kalends_calendars::{Calendar, ports::CalendarFilter};
use kalends_kernel::{CalendarId, LIMIT_MAX, Listed, Page};
use kalends_web::{BookingPageShown, Path};

use super::super::places::{BOOKING_PAGES, segment};
use crate::reply::see_other;

/// The list, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_LIST: (&str, &str) = (BOOKING_PAGES, "See the booking pages");
/// The calendars to choose from, the oldest first. A list with more would be of little use in a form.
const CALENDARS: Page = Page { limit: LIMIT_MAX, offset: 0 };
/// What a page says of a calendar that was deleted.
const DELETED: &str = "a deleted calendar";

/// The calendars to choose from.
pub(super) async fn calendars(app: &App, caller: &Actor) -> Result<Listed<Calendar>, Refusal> {
    app.list_calendars(caller, CalendarFilter::All, CALENDARS).await
}

/// The name of a calendar, which may be among the `known` ones.
pub(super) async fn name(app: &App, caller: &Actor, id: CalendarId, known: &[Calendar]) -> Result<String, Refusal> {
    if let Some(calendar) = known.iter().find(|calendar| calendar.id == id) {
        return Ok(calendar.name.clone());
    }
    match app.calendar(caller, &id.to_string()).await {
        Ok(calendar) => Ok(calendar.name),
        Err(Refusal::NotFound { .. }) => Ok(DELETED.to_owned()),
        Err(refusal) => Err(refusal),
    }
}

/// What pages show of a booking page, with the names of its first `most` calendars.
pub(super) async fn shown(
    app: &App,
    caller: &Actor,
    page: &BookingPage,
    (most, known): (usize, &[Calendar]),
) -> Result<BookingPageShown, Refusal> {
    let of_known =
        |id: CalendarId| known.iter().find(|calendar| calendar.id == id).map(|calendar| calendar.name.clone());
    let unknown = page.calendars().take(most).filter(|id| of_known(*id).is_none()).collect();
    let read = app.calendar_names(caller, &unknown).await?;
    let name_of = |id: CalendarId| of_known(id).or_else(|| read.get(&id).map(|calendar| calendar.name.clone()));
    let names = page.calendars().take(most).map(|id| name_of(id).unwrap_or_else(|| DELETED.to_owned())).collect();
    let slug = page.slug.reveal();
    let missing = || Refusal::missing(Missing::BookingPage, &page.id.to_string());
    Ok(BookingPageShown {
        id: page.id.to_string(),
        title: page.title.clone(),
        slug: slug.to_owned(),
        path: Path::new(format!("/book/{slug}")).ok_or_else(missing)?,
        address: format!("{}/book/{slug}", app.settings().base_url),
        active: page.active,
        calendars: names,
        calendars_total: page.calendars().count(),
    })
}

/// The answer to a form: the page of a booking page, which says what was done.
pub(super) fn to_page(id: &str, done: &str) -> Response {
    see_other(&format!("{BOOKING_PAGES}/{}?done={done}", segment(id)), None)
}
