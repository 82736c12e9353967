//! The forms that create and edit a booking page.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use kalends_app::{Actor, Answer, App, Refusal, operations};
use kalends_calendars::Calendar;
use kalends_kernel::{BookingPageId, Listed};
use kalends_web::{
    BookingPageForm, BookingPageGiven, Choice, EditedBookingPage, NO_PROBLEMS, Place, Problems, headers,
};
use serde::Deserialize;

use super::{
    super::{
        form::{Again, OwnForm, new_once, read},
        frame::{needs, shell},
        shown::{because_of, page, refused},
    },
    given::{changed, current, is_changed, merged, shown_before, suggested, typed, wanted},
    reading::{TO_LIST, calendars, name, to_page},
    wrong::{beside_fields, problems_of, slug_taken},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
};

/// Why a form about a booking page that has changed since had no effect.
const CHANGED: &str = "The booking page has changed since you opened this form. Everything that you did not change is \
                       shown as it is now. Save again to apply your changes.";

/// The page of a form. It may show previews in a frame.
fn with_preview(status: StatusCode, text: String) -> Response {
    let mut response = page(status, text);
    // The policy consists of characters that a header may have.
    if let Ok(policy) = HeaderValue::try_from(headers::policy_with_preview()) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// The page of a form, or the page that says why it cannot be shown.
fn answer(text: Result<String, Refusal>) -> Result<Response, ApiError> {
    text.map_or_else(|refusal| refused(refusal, TO_LIST), |text| Ok(with_preview(StatusCode::OK, text)))
}

/// The page of a form that was refused, or the page that says why it cannot be shown any more.
fn refuse(error: ApiError, text: Result<String, Refusal>) -> Result<Response, ApiError> {
    match text {
        Ok(text) => {
            let shown = with_preview(error.status(), text);
            Ok(because_of(error, shown))
        }
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// Whether the form asks for room for another question. This changes nothing.
fn wants_more(fields: &Fields) -> bool {
    !fields.get("more").is_empty()
}

/// The form with room for another question.
fn with_more(mut given: BookingPageGiven) -> BookingPageGiven {
    given.empty += 1;
    given
}

fn choices(listed: &Listed<Calendar>) -> Vec<(String, String)> {
    listed.data.iter().map(|calendar| (calendar.id.to_string(), calendar.name.clone())).collect()
}

/// `GET /console/booking-pages/new`
pub(super) async fn ask(app: Service, caller: Caller) -> Result<Response, ApiError> {
    answer(new(&app, &caller.0, &suggested(), &NO_PROBLEMS).await)
}

async fn new(app: &App, caller: &Actor, given: &BookingPageGiven, problems: &Problems) -> Result<String, Refusal> {
    needs(caller, &operations::CREATE_BOOKING_PAGE)?;
    let listed = calendars(app, caller).await?;
    let options = choices(&listed);
    let form = BookingPageForm {
        shell: &shell(caller, Place::BookingPages)?,
        once: &new_once(app.entropy()),
        edits: None,
        calendars: &options.iter().map(|(value, title)| Choice { value, title }).collect::<Vec<_>>(),
        has_more_calendars: listed.total > listed.data.len() as u64,
        given,
        now: app.now(),
        problems,
    };
    Ok(form.html())
}

/// The parts of an answer that say where the booking page is, and what its owner should know.
#[derive(Deserialize)]
struct Stored {
    id: BookingPageId,
    #[serde(default)]
    notices: Vec<Notice>,
}

#[derive(Deserialize)]
struct Notice {
    code: String,
}

impl Stored {
    /// The name of what the form did: `done`, or `at_night` if nothing limits the hours of the page.
    fn done(&self, done: &'static str, at_night: &'static str) -> &'static str {
        if self.notices.iter().any(|notice| notice.code == "offers_nights") { at_night } else { done }
    }
}

/// `POST /console/booking-pages`
pub(super) async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let given = typed(&form.fields, app.entropy());
    if wants_more(&form.fields) {
        return answer(new(&app, &form.caller, &with_more(given), &NO_PROBLEMS).await);
    }
    let outcome = match wanted(&given, None) {
        Ok((calendar, new, named)) => {
            form.once(&app, async |caller: &Actor| app.create_booking_page(caller, &calendar, (new, named)).await).await
        }
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => {
            let stored: Stored = read(&answer)?;
            Ok(to_page(&stored.id.to_string(), stored.done("created", "created-nights")))
        }
        Err(refusal) => {
            let (problems, error) = problems_of(refusal, &given)?;
            refuse(error, new(&app, &form.caller, &given, &problems).await)
        }
    }
}

/// `GET /console/booking-pages/{id}/edit`
pub(super) async fn ask_to_edit(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    answer(edit(&app, &caller.0, &id.0, None).await)
}

/// A form that is shown again.
struct Sent<'a> {
    fields: &'a Fields,
    given: BookingPageGiven,
    /// The form and why it had no effect; `None` if it asks for room for another question.
    refused: Option<&'a Again<'a>>,
}

/// The form of a page, with what was typed if it is shown again.
async fn edit(app: &App, caller: &Actor, id: &str, sent: Option<Sent<'_>>) -> Result<String, Refusal> {
    needs(caller, &operations::UPDATE_BOOKING_PAGE)?;
    let saved = app.booking_page(caller, id).await?;
    let listed = calendars(app, caller).await?;
    let mut options = choices(&listed);
    let own = name(app, caller, saved.calendar, &listed.data).await?;
    let team: Vec<String> = saved.calendars().skip(1).map(|other| other.to_string()).collect();
    // The calendars of the team can be chosen, whatever their age. Those that were deleted take no part.
    let beyond = saved.calendars().skip(1).filter(|other| listed.data.iter().all(|known| known.id != *other));
    let beyond = app.calendar_names(caller, &beyond.collect()).await?;
    options.extend(beyond.into_iter().map(|(id, calendar)| (id.to_string(), calendar.name)));
    // A browser sends the calendars as the form lists them. So those of the team come first, in their order.
    options.sort_by_key(|(id, _)| team.iter().position(|other| other == id).unwrap_or(team.len()));
    let others: Vec<String> = options.iter().map(|(id, _)| id.clone()).filter(|id| team.contains(id)).collect();
    let now = current(app, &saved, &others);
    let (given, was, version, problems) = match &sent {
        None => (now.clone(), now, saved.version.0.to_string(), &NO_PROBLEMS),
        Some(Sent { fields, given, refused }) => {
            let before = shown_before(fields);
            match refused {
                None => (given.clone(), before, fields.get("version").to_owned(), &NO_PROBLEMS),
                Some(again) if again.is_stale() => {
                    (merged(given, &before, &now), now, again.version(saved.version), &again.problems)
                }
                Some(again) => (given.clone(), before, again.version(saved.version), &again.problems),
            }
        }
    };
    let id = saved.id.to_string();
    let form = BookingPageForm {
        shell: &shell(caller, Place::BookingPages)?,
        once: &new_once(app.entropy()),
        edits: Some(EditedBookingPage { id: &id, title: &saved.title, calendar: &own, version: &version, was: &was }),
        calendars: &options.iter().map(|(value, title)| Choice { value, title }).collect::<Vec<_>>(),
        has_more_calendars: listed.total > listed.data.len() as u64,
        given: &given,
        now: app.now(),
        problems,
    };
    Ok(form.html())
}

/// `POST /console/booking-pages/{id}/edit`
pub(super) async fn change(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let given = typed(&form.fields, app.entropy());
    if wants_more(&form.fields) {
        let sent = Sent { fields: &form.fields, given: with_more(given), refused: None };
        return answer(edit(&app, &form.caller, &id.0, Some(sent)).await);
    }
    let refusal = match save(&app, &id.0, &mut form, &given).await {
        Ok(None) => return Ok(to_page(&id.0, "saved")),
        Ok(Some(answer)) => {
            return Ok(to_page(&id.0, read::<Stored>(&answer)?.done("saved", "saved-nights")));
        }
        Err(refusal) => refusal,
    };
    let known = given.known();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let slug_is_taken = matches!(refusal, Refusal::SlugTaken);
    let (mut again, error) = Again::of(&form, beside_fields(refusal, &given), &known, CHANGED)?;
    if slug_is_taken {
        again.problems = slug_taken();
    }
    let sent = Sent { fields: &form.fields, given, refused: Some(&again) };
    refuse(error, edit(&app, &form.caller, &id.0, Some(sent)).await)
}

/// Changes what was typed over. A form in which nothing was changes nothing, and has no answer.
async fn save(app: &App, id: &str, form: &mut OwnForm, given: &BookingPageGiven) -> Result<Option<Answer>, Refusal> {
    let was = shown_before(&form.fields);
    if !is_changed(given, &was) {
        return app.booking_page(&form.caller, id).await.map(|_| None);
    }
    let (patch, seen) = (changed(given, &was)?, form.if_match());
    form.once(app, async |caller: &Actor| app.update_booking_page(caller, id, patch, &seen).await).await.map(Some)
}
