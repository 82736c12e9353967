//! `GET /book/{slug}`

use axum::{extract::RawQuery, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_app::{Offers, OpenPage};
use kalends_bookings::BookingPage;
use kalends_kernel::{FieldErrors, Span, Timestamp};
use kalends_web::{
    ChosenSlot, DisplaySettings, Form, Given, Href, Notice, Page, PageQuery, Picker, Taken, headers, markdown,
};

use super::view::{LIMITS, asked, page as facts, path, shown};
use crate::{
    Service,
    error::ApiError,
    extract::PathOf,
    pages::{html, names, text_of},
};

/// How many free times an agent is told at once.
const TOLD: usize = 12;

/// Shows a booking page to a human, or tells an agent how to book on it.
///
/// HTML: the days of a `month` with free times, and the times of one `day`, by the clocks of `tz`; with `slot`, the form that
/// books it. While the month's events of the organization are used up, the page says that booking is closed for now and
/// offers no times. With `Accept: text/markdown` the same as text, with the free times to come and how to book one over HTTP.
/// 60 times a minute and address.
#[utoipa::path(
    get,
    path = "/book/{slug}",
    operation_id = "showBookingPage",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("month" = Option<String>, Query, description = "The month to show, such as `2026-03`."),
        ("day" = Option<String>, Query, description = "The day to show, such as `2026-03-05`."),
        ("tz" = Option<String>, Query, description = "The zone of the times, such as `Europe/Berlin`; the page's unless told."),
        ("slot" = Option<String>, Query, description = "The start of a slot: shows the form that books it.")
    ),
    responses((status = 200, description = "The page.", content(
        (String = "text/html"),
        (String = "text/markdown")
    )))
)]
pub(crate) async fn show(
    app: Service,
    slug: PathOf<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let open = app.open_page(&slug.0).await?;
    let page = &open.page;
    let asked = asked(query.as_deref());
    let shown = shown(page, asked.zone, &headers);
    let now = app.now();
    if open.closed_for_now {
        if names(&headers, "text/markdown") {
            let text = markdown::closed(&page.title);
            return Ok(text_of(StatusCode::OK, markdown::CONTENT_TYPE, text, &headers::PAGE));
        }
        return Ok(html(StatusCode::OK, Notice::Closed.html(None)));
    }
    let bookable = bookable(page, now)?;
    match asked.slot {
        _ if names(&headers, "text/markdown") => {}
        Some(ChosenSlot::At(start)) => return chosen(&app, &open, start, shown).await,
        Some(ChosenSlot::Nonsense) => return nonsense(page),
        None => {}
    }
    let offers = app.offered_slots(&open, None).await?;
    let path = path(page.slug.reveal())?;
    let facts = facts(page, &path);
    if names(&headers, "text/markdown") {
        let address = format!("{}{path}", app.settings().base_url);
        let address = Href::new(address).ok_or(ApiError::Internal)?;
        let offers: &[Span] = &offers.slots().take(TOLD).collect::<Vec<_>>();
        let guide = markdown::Guide { page: facts, shown, address: &address, bookable, offers, limits: LIMITS };
        return Ok(text_of(StatusCode::OK, markdown::CONTENT_TYPE, guide.markdown(), &headers::PAGE));
    }
    Ok(pick(&offers, &asked, Picking { facts, shown, now, bookable, moving: None }))
}

/// Where a slot is picked, beside what is offered.
#[derive(Clone, Copy)]
pub(super) struct Picking<'a> {
    pub(super) facts: Page<'a>,
    pub(super) shown: DisplaySettings,
    pub(super) now: Timestamp,
    pub(super) bookable: Span,
    pub(super) moving: Option<Span>,
}

/// The month that is asked for, or that of the first offer, and of it the day that is asked for.
pub(super) fn pick(offers: &Offers<'_>, asked: &PageQuery, picking: Picking<'_>) -> Response {
    let Picking { facts, shown, now, bookable, moving } = picking;
    let first_offer = offers.slots().next();
    let month = asked.month_to_show(shown.zone, bookable, first_offer);
    let of_month: Vec<Span> = month.span(shown.zone).into_iter().flat_map(|month| offers.starting_in(month)).collect();
    let (day, offers) = (asked.day, of_month.as_slice());
    let picker = Picker { page: facts, shown, now, bookable, month, day, offers, first_offer, moving };
    html(StatusCode::OK, picker.html())
}

/// When bookings may begin. A notice that is longer than the window leaves nothing; the page is shown all the same.
///
/// # Errors
/// [`ApiError::Internal`] where time itself ends.
pub(super) fn bookable(page: &BookingPage, now: Timestamp) -> Result<Span, ApiError> {
    let window = page.window(now).map_or_else(|| Span::new(now, now + page.timetable.length()), Ok);
    window.map_err(|_| ApiError::Internal)
}

/// The form for a slot.
async fn chosen(
    app: &Service,
    open: &OpenPage,
    start: Timestamp,
    shown: DisplaySettings,
) -> Result<Response, ApiError> {
    use kalends_app::Refusal::{BookingTaken, Invalid};
    let page = &open.page;
    let path = path(page.slug.reveal())?;
    match app.offered_slot(open, start).await {
        Ok(slot) => {
            let errors = &FieldErrors::default();
            let facts = facts(page, &path);
            let form = Form { page: facts, shown, slot, given: Given::default(), errors, limits: LIMITS };
            Ok(html(StatusCode::OK, form.html()))
        }
        Err(Invalid(_)) => nonsense(page),
        Err(BookingTaken { wanted, nearest }) => {
            // Nothing was typed yet: the others are links to the form.
            let facts = facts(page, &path);
            let taken = Taken { page: facts, shown, slot: wanted, nearest: &nearest, given: None, moves: false };
            Ok(html(StatusCode::CONFLICT, taken.html()))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The answer to a time that the page never offers.
pub(super) fn nonsense(page: &BookingPage) -> Result<Response, ApiError> {
    let path = path(page.slug.reveal())?;
    Ok(html(StatusCode::BAD_REQUEST, Notice::Nonsense.html(Some(&path))))
}
