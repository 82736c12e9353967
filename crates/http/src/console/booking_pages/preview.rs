//! What guests would see of a booking page that is not saved.

use axum::response::Response;
use http::StatusCode;
use kalends_app::{App, Missing, OpenPage, Refusal};
use kalends_bookings::BookingPage;
use kalends_kernel::{FieldErrors, RequestId};
use kalends_time::{Span, Timestamp};
use kalends_web::{BookingPageGiven, DisplaySettings, Form, Given, NoPreview, Page, PageQuery, Path, Picker, Reader};

use super::{
    super::{
        form::OwnForm,
        places::PREVIEW_BOOKING_PAGE,
        shown::{in_frame, reason, wait},
    },
    given::{shown_before, typed, wanted},
    wrong::without,
};
use crate::{
    Service,
    booking_facts::{LIMITS, facts},
    error::ApiError,
    pages::reader,
};

/// What is above a preview.
const NOTE: &str = "Preview. Nothing is saved, and nothing can be booked here.";
/// Likewise, if something that was typed is left out.
const LEFT_OUT: &str = "Preview. Nothing is saved, and nothing can be booked here. What is not right yet is left out.";
/// Why the links of a preview lead nowhere.
const NOWHERE: &str = "This is only a preview. On the page itself, guests would continue from here. The buttons of the \
                       form show the preview again.";
/// Why nobody sees a preview without a session.
const SIGNED_OUT: &str = "Your session has ended. Sign in again in another tab. Then show the preview again.";
/// How often what is wrong is left out. Some of it is found only when the rest is right.
const ATTEMPTS: usize = 4;

/// `GET /console/booking-pages/preview`
pub(super) async fn leads_nowhere() -> Response {
    in_frame(StatusCode::OK, NoPreview { reason: NOWHERE }.html(), None)
}

/// `POST /console/booking-pages/preview`
pub(super) async fn show(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    match unsaved(&app, &form).await {
        Ok((open, note)) => {
            let reader = reader(None, &form.headers);
            let text = render(&app, &open, note, (form.fields.get("step") == "form", &reader)).await;
            text.map_or_else(not_shown, |text| Ok(in_frame(StatusCode::OK, text, open.page.details.accent)))
        }
        Err(refusal) => not_shown(refusal),
    }
}

/// The answer in place of a preview to a request that failed with this error. Like a preview, the form may show it in
/// its frame, so that people see why nothing new comes.
pub(crate) fn failed_preview(error: &ApiError, request: RequestId) -> Response {
    let text = match error {
        ApiError::Refused(Refusal::NotSignedIn | Refusal::Unauthorized) => SIGNED_OUT.to_owned(),
        ApiError::Refused(Refusal::TooFast { retry_after, .. }) => {
            format!("Too many requests. Try again in {}.", wait(*retry_after))
        }
        error if error.status().is_server_error() => {
            format!("Something went wrong on our side. Show the preview again in a minute. Request: {request}.")
        }
        ApiError::Refused(refusal) => reason(refusal),
        _ => "The form could not be read, so there is no preview.".to_owned(),
    };
    let mut response = in_frame(error.status(), NoPreview { reason: &text }.html(), None);
    error.add_retry_after(response.headers_mut());
    response
}

/// Says why there is no preview. A server error is reported, and the end of the session has an answer of its own.
fn not_shown(refusal: Refusal) -> Result<Response, ApiError> {
    let text = reason(&refusal);
    let error = ApiError::from(refusal);
    let status = error.status();
    if !status.is_client_error() || status == StatusCode::UNAUTHORIZED {
        return Err(error);
    }
    Ok(in_frame(StatusCode::OK, NoPreview { reason: &text }.html(), None))
}

/// The page as it would be, without what is wrong with it, and what is said above it.
async fn unsaved(app: &App, form: &OwnForm) -> Result<(OpenPage, &'static str), Refusal> {
    let saved = Some(form.fields.get("page")).filter(|page| !page.is_empty());
    let mut given: BookingPageGiven = typed(&form.fields, app.entropy());
    let was = saved.map(|_| shown_before(&form.fields));
    let (mut note, mut wrong) = (NOTE, FieldErrors::default());
    for _ in 0..ATTEMPTS {
        let outcome = match wanted(&given, was.as_ref()) {
            Ok((calendar, new, named)) => app.unsaved_page(&form.caller, &calendar, (new, named), saved).await,
            Err(errors) => Err(errors.into()),
        };
        match outcome {
            Ok(open) => return Ok((open, note)),
            Err(Refusal::Invalid(errors)) => {
                given = without(&given, &errors);
                (note, wrong) = (LEFT_OUT, errors);
            }
            Err(refusal) => return Err(refusal),
        }
    }
    Err(wrong.into())
}

/// The times that the page would offer now, or the form for the first of them.
async fn render(app: &App, open: &OpenPage, note: &str, (is_form, reader): (bool, &Reader)) -> Result<String, Refusal> {
    let (page, now) = (&open.page, app.now());
    let missing = || Refusal::missing(Missing::BookingPage, "of the preview");
    let path = Path::new(PREVIEW_BOOKING_PAGE).ok_or_else(missing)?;
    let shown = DisplaySettings { zone: page.timetable.zone, reader };
    let facts = Page { embedded: false, preview: Some(note), ..facts(page, &path) };
    let offers = app.offered_slots(open, None).await?;
    let first_offer = offers.slots().next();
    let example = || example(page, now).ok_or_else(missing);
    if is_form {
        let slot = first_offer.map_or_else(example, Ok)?;
        let errors = &FieldErrors::default();
        return Ok(Form { page: facts, shown, slot, given: Given::default(), once: "", errors, limits: LIMITS }.html());
    }
    let bookable = page.window(now).map_or_else(example, Ok)?;
    let month = PageQuery::default().month_to_show(shown.zone, bookable, first_offer);
    let of_month: Vec<Span> = month.span(shown.zone).into_iter().flat_map(|month| offers.starting_in(month)).collect();
    let (day, offers, moving) = (None, of_month.as_slice(), None);
    Ok(Picker { page: facts, shown, now, bookable, month, day, offers, first_offer, moving }.html())
}

/// A time of the length of a slot, for a page that offers none.
fn example(page: &BookingPage, now: Timestamp) -> Option<Span> {
    Span::new(now, now + page.timetable.length()).ok()
}
