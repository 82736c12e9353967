//! `POST /book/{slug}`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::{App, Refusal};
use kalends_bookings::{BookingPage, QuestionType};
use kalends_kernel::{FieldErrors, request_time};
use kalends_time::Timestamp;
use kalends_web::{Booked, DisplaySettings, Form, Given, HONEYPOT, Href, Reader, Taken};
use kalends_wire as wire;
use serde_json::{Map, Value};

use super::{
    show::nonsense,
    view::{Hrefs, display_settings, framed, path, slot_of},
};
use crate::{
    Service,
    booking_facts::{LIMITS, facts},
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, check_query_beside_form, read_body},
    once::{Earlier, ONCE, begin_anonymous, earlier, read},
    pages::{Fields, html, is_form, reader},
    reply::{Changed, Fresh},
};

/// Books a slot on a booking page.
///
/// `start` must be the start of a slot that the page offers right now. If several guests want the same slot, one gets
/// it. The others get 409 `conflict`, code `slot_taken`, with up to three other slots in `nearest_free`. If the time is
/// not a slot of the page, or a required question is not answered, the answer is 400. The guest gets an email with an
/// invitation. The answer contains links to cancel or move the booking. If the page's owner has used up the month's
/// events, the answer is 429 `quota_exceeded`, code `booking_closed`. The limit is 10 requests per minute and address.
///
/// If the same fields are sent as a form, with the answers as `answers[id]`, the answer is HTML.
#[utoipa::path(
    post,
    path = "/book/{slug}",
    operation_id = "createBooking",
    tag = "Booking pages",
    params(
        ("slug" = String, Path, description = "The `slug` of the page."),
        ("lang" = Option<String>, Query, description = "The language of the answer to a form, and of emails to the guest, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    request_body(content(
        (wire::SubmitBooking = "application/json"),
        (wire::SubmitBooking = "application/x-www-form-urlencoded")
    )),
    responses((status = 201, description = "The booking.", body = wire::Booked))
)]
pub(crate) async fn book(
    app: Service,
    called: Anonymous,
    slug: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let reader = reader(request.uri().query(), request.headers());
    if is_form(request.headers()) {
        return book_by_form(&app, called.0, &slug.0, &reader, request).await;
    }
    check_query_beside_form(request.uri().query())?;
    let JsonBody(mut body) = JsonBody::<wire::SubmitBooking>::from_request(request, &()).await?;
    body.language.get_or_insert_with(|| reader.locale().to_string());
    let (start, guest, answers) = body.parse()?;
    Ok(Fresh(Changed(app.book(&called.0, &slug.0, start, (guest, &answers)).await?)).into_response())
}

/// The values of a booking form, and how to show the answer.
struct Filled<'a> {
    page: &'a BookingPage,
    shown: DisplaySettings<'a>,
    once: &'a str,
    given: Given<'a>,
}

async fn book_by_form(
    app: &App,
    called: kalends_app::Request,
    slug: &str,
    reader: &Reader,
    request: Request,
) -> Result<Response, ApiError> {
    let body = read_body(request.into_body()).await?;
    let page = app.open_page(slug).await?.page;
    let answer = book_on(app, called, &page, reader, &body).await;
    // A site that shows the page also shows why nothing was booked.
    Ok(framed(&page, answer.unwrap_or_else(|error| error.into_response())))
}

async fn book_on(
    app: &App,
    mut called: kalends_app::Request,
    page: &BookingPage,
    reader: &Reader,
    body: &[u8],
) -> Result<Response, ApiError> {
    let fields = &Fields::of_form(body)?;
    let shown = display_settings(page, fields.get("tz").parse().ok(), reader);
    if !fields.get(HONEYPOT).is_empty() {
        return nonsense(page, reader);
    }
    let answers: Vec<(String, String)> = fields.within("answers").collect();
    let given =
        Given { name: fields.get("name"), email: fields.get("email"), notes: fields.get("notes"), answers: &answers };
    let once = fields.get(ONCE);
    let filled = Filled { page, shown, once, given };
    let wanted = wire::SubmitBooking {
        name: given.name.to_owned(),
        email: given.email.to_owned(),
        notes: Some(given.notes.to_owned()).filter(|notes| !notes.is_empty()),
        answers: typed(page, &answers),
        timezone: Some(shown.zone.name().to_owned()),
        language: Some(reader.locale().to_string()),
        start: fields.get("start").to_owned(),
    };
    // All errors of the form are shown at once.
    let unanswered = page.details.questions.read(&wanted.answers).err();
    let (start, guest, answers) = match (wanted.parse(), unanswered) {
        (Ok(parsed), None) => parsed,
        (parsed, unanswered) => {
            let mut errors = FieldErrors::default();
            for found in [parsed.err(), unanswered].into_iter().flatten() {
                found.iter().for_each(|error| errors.push(error.clone()));
            }
            return filled.again(fields.get("start"), app.now(), &errors);
        }
    };
    let mailed_to = guest.email.as_str().to_owned();
    // A browser sends the form again when the page of the booking is loaded again. That must not book once more.
    let _running = match begin_anonymous(app, &mut called, once, body).await {
        Ok(Earlier::Answered(answer)) => return filled.booked(&read(&answer)?, &mailed_to),
        Ok(Earlier::Nothing(running)) => running,
        // The visitor went back and changed something.
        Err(Refusal::IdempotencyMismatch) => {
            called.idempotency = None;
            None
        }
        Err(refusal) => return Err(refusal.into()),
    };
    match app.book(&called, page.slug.reveal(), start, (guest, &answers)).await {
        Ok(booked) => filled.booked(&booked.resource, &mailed_to),
        // The questions have just changed, or the fields are too long together.
        Err(Refusal::Invalid(errors)) if errors.iter().all(|error| error.param != "start") => {
            filled.again(fields.get("start"), app.now(), &errors)
        }
        Err(Refusal::Invalid(_)) => nonsense(page, reader),
        Err(Refusal::BookingTaken { wanted, nearest }) => {
            // The same form may just have taken it, through another process.
            if let Some(answer) = earlier(app, &called).await? {
                return filled.booked(&read(&answer)?, &mailed_to);
            }
            let path = path(page.slug.reveal())?;
            let page = facts(page, &path);
            let taken = Taken { page, shown, slot: wanted, nearest: &nearest, given: Some(given), once, moves: false };
            Ok(html(StatusCode::CONFLICT, taken.html()))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The answers of a form as JSON has them: a box that is checked is true.
fn typed(page: &BookingPage, answers: &[(String, String)]) -> Map<String, Value> {
    let asked = page.details.questions.as_slice();
    let is_box = |id: &str| asked.iter().any(|one| one.id == id && one.kind == QuestionType::Checkbox);
    let typed = answers.iter().map(|(id, text)| {
        let value = if is_box(id) { Value::Bool(text == "true") } else { Value::String(text.to_string()) };
        (id.clone(), value)
    });
    // If a field is repeated, the first one counts, as for all fields.
    typed.rev().collect()
}

impl Filled<'_> {
    /// Shows the form again with its errors. If `start` is invalid, which the form cannot fix, shows an error page.
    fn again(&self, start: &str, now: Timestamp, errors: &FieldErrors) -> Result<Response, ApiError> {
        let start = request_time(start).ok();
        let Some(slot) = start.and_then(|start| self.page.slot(start, now).ok()) else {
            return nonsense(self.page, self.shown.reader);
        };
        let path = path(self.page.slug.reveal())?;
        let page = facts(self.page, &path);
        let (shown, given, once) = (self.shown, self.given, self.once);
        let form = Form { page, shown, slot, given, once, errors, limits: LIMITS };
        Ok(html(StatusCode::BAD_REQUEST, form.html()))
    }

    /// Shows the booking.
    fn booked(&self, booking: &wire::Booked, mailed_to: &str) -> Result<Response, ApiError> {
        let slot = slot_of(&booking.event).ok_or(ApiError::Internal)?;
        let links = Hrefs::of(&booking.links);
        let path = path(self.page.slug.reveal())?;
        let call = booking.event.conference_url.as_deref().and_then(Href::new);
        let booked = Booked {
            page: facts(self.page, &path),
            shown: self.shown,
            slot,
            before: None,
            mailed_to: Some(mailed_to),
            cancel: links.cancel.as_ref(),
            reschedule: links.reschedule.as_ref(),
            file: links.file.as_ref(),
            location: booking.event.location.as_deref(),
            call: call.as_ref(),
        };
        Ok(html(StatusCode::CREATED, booked.html()))
    }
}
