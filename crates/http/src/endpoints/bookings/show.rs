//! `GET /book/{slug}`

use axum::{extract::RawQuery, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_app::{Offers, OpenPage};
use kalends_bookings::BookingPage;
use kalends_kernel::FieldErrors;
use kalends_time::{Span, Timestamp};
use kalends_web::{
    ChosenSlot, DisplaySettings, Form, Given, Href, Notice, Page, PageQuery, Picker, Reader, Taken, headers, markdown,
};

use super::view::{display_settings, framed, path};
use crate::{
    Service,
    booking_facts::{LIMITS, facts},
    error::ApiError,
    extract::PathOf,
    once::new_once,
    pages::{html, names, page_query, reader, text_of},
};

/// The number of free times in the Markdown text.
const MARKDOWN_OFFERS: usize = 12;

/// Shows a booking page.
///
/// As HTML, it shows the days of a `month` that have free times and the times of one `day`, in the zone `tz`. With
/// `slot`, it shows the form that books the slot. If the organization has used up the month's events, the page says
/// that booking is closed for now and offers no times. With `Accept: text/markdown`, the answer is the same as text
/// for agents, with the next free times and how to book one over HTTP. The page speaks English, German, French, Spanish, Portuguese
/// and Japanese; the text for agents is in English. The limit is 60 requests per minute and
/// address.
#[utoipa::path(
    get,
    path = "/book/{slug}",
    operation_id = "showBookingPage",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("month" = Option<String>, Query, description = "The month to show, such as `2026-03`."),
        ("day" = Option<String>, Query, description = "The day to show, such as `2026-03-05`."),
        ("tz" = Option<String>, Query, description = "The zone of the times. Defaults to the zone of the page."),
        ("slot" = Option<String>, Query, description = "The start of a slot, to show the form that books it."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
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
    let reader = &reader(query.as_deref(), &headers);
    let query = page_query(query.as_deref());
    let shown = display_settings(page, query.zone, reader);
    let now = app.now();
    if open.closed_for_now {
        if names(&headers, "text/markdown") {
            let text = markdown::closed(&page.title);
            return Ok(text_of(StatusCode::OK, markdown::CONTENT_TYPE, text, &headers::PAGE));
        }
        return Ok(framed(page, html(StatusCode::OK, Notice::Closed.html(reader, None))));
    }
    let bookable = bookable(page, now)?;
    match query.slot {
        _ if names(&headers, "text/markdown") => {}
        Some(ChosenSlot::At(start)) => return Ok(framed(page, chosen(&app, &open, start, shown).await?)),
        Some(ChosenSlot::Nonsense) => return Ok(framed(page, nonsense(page, reader)?)),
        None => {}
    }
    let offers = app.offered_slots(&open, None).await?;
    let path = path(page.slug.reveal())?;
    let facts = facts(page, &path);
    if names(&headers, "text/markdown") {
        let address = format!("{}{path}", app.settings().base_url);
        let address = Href::new(address).ok_or(ApiError::Internal)?;
        let offers: &[Span] = &offers.slots().take(MARKDOWN_OFFERS).collect::<Vec<_>>();
        // The text is for programs.
        let reader = &Reader::english();
        let shown = DisplaySettings { reader, ..shown };
        let guide = markdown::Guide { page: facts, shown, address: &address, bookable, offers, limits: LIMITS };
        return Ok(text_of(StatusCode::OK, markdown::CONTENT_TYPE, guide.markdown(), &headers::PAGE));
    }
    Ok(framed(page, pick(&offers, &query, Picking { facts, shown, now, bookable, moving: None })))
}

/// The context of a page on which a slot is picked, without the offers.
#[derive(Clone, Copy)]
pub(super) struct Picking<'a> {
    pub(super) facts: Page<'a>,
    pub(super) shown: DisplaySettings<'a>,
    pub(super) now: Timestamp,
    pub(super) bookable: Span,
    pub(super) moving: Option<Span>,
}

/// Shows the requested month, or that of the first offer, and in it the requested day.
pub(super) fn pick(offers: &Offers<'_>, query: &PageQuery, picking: Picking<'_>) -> Response {
    let Picking { facts, shown, now, bookable, moving } = picking;
    let first_offer = offers.slots().next();
    let month = query.month_to_show(shown.zone, bookable, first_offer);
    let of_month: Vec<Span> = month.span(shown.zone).into_iter().flat_map(|month| offers.starting_in(month)).collect();
    let (day, offers) = (query.day, of_month.as_slice());
    let picker = Picker { page: facts, shown, now, bookable, month, day, offers, first_offer, moving };
    html(StatusCode::OK, picker.html())
}

/// The span in which bookings may start. If the minimum notice is longer than the window, nothing can be booked, but
/// the page is shown anyway.
///
/// # Errors
/// [`ApiError::Internal`] at the end of the supported time range.
pub(super) fn bookable(page: &BookingPage, now: Timestamp) -> Result<Span, ApiError> {
    let window = page.window(now).map_or_else(|| Span::new(now, now + page.timetable.length()), Ok);
    window.map_err(|_| ApiError::Internal)
}

/// Shows the form for a slot.
async fn chosen(
    app: &Service,
    open: &OpenPage,
    start: Timestamp,
    shown: DisplaySettings<'_>,
) -> Result<Response, ApiError> {
    use kalends_app::Refusal::{BookingTaken, Invalid};
    let page = &open.page;
    let path = path(page.slug.reveal())?;
    match app.offered_slot(open, start).await {
        Ok(slot) => {
            let errors = &FieldErrors::default();
            let facts = facts(page, &path);
            let once = &new_once(app.entropy());
            let form = Form { page: facts, shown, slot, given: Given::default(), once, errors, limits: LIMITS };
            Ok(html(StatusCode::OK, form.html()))
        }
        Err(Invalid(_)) => nonsense(page, shown.reader),
        Err(BookingTaken { wanted, nearest }) => {
            // Nothing was entered yet, so the alternatives are links to the form.
            let facts = facts(page, &path);
            let taken =
                Taken { page: facts, shown, slot: wanted, nearest: &nearest, given: None, once: "", moves: false };
            Ok(html(StatusCode::CONFLICT, taken.html()))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The answer to a time that the page never offers.
pub(super) fn nonsense(page: &BookingPage, reader: &Reader) -> Result<Response, ApiError> {
    let path = path(page.slug.reveal())?;
    Ok(html(StatusCode::BAD_REQUEST, Notice::Nonsense.html(reader, Some(&path))))
}
