//! One event: its page, its cancellation, and the end of a hold.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, App, EventPath, Refusal, operations};
use kalends_calendars::{Attendee, AttendeeStatus, Calendar, Event, EventSource, Occurrence, SeriesScope};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_web::{
    CancelEvent, Done, EVENT_FIELDS, EventDetail, EventInView, EventPage, NO_PROBLEMS, Place, Problems, SeriesPart,
};

use super::{
    super::{
        form::OwnForm,
        frame::{needs, shell},
        places::CALENDAR,
        shown::{because_of, page, problems, refused},
    },
    asked::{parameters, to_event},
    reading::{identifier, kind},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
    reply::see_other,
};

/// The calendar, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_CALENDAR: (&str, &str) = (CALENDAR, "See the calendar");
/// Why a form about an event that has changed since had no effect.
pub(super) const CHANGED: &str = "The event has changed since you opened this page. Look at its current state before \
                                  you send this again.";
const NO_SCOPE: &str = "must be chosen: only this occurrence, this and the following, or all";

/// Reads an event or an occurrence, with times in the zone that the fields name or in that of its calendar.
pub(super) async fn find(app: &App, caller: &Actor, id: &str, asked: &Fields) -> Result<EventDetail, Refusal> {
    let event = app.event(caller, EventPath { calendar: None, id }).await?;
    let calendar = app.calendar(caller, &event.calendar.to_string()).await?;
    let agent = match calendar.agent {
        Some(agent) => app.agent(caller, &agent.to_string()).await?.name,
        None => String::new(),
    };
    Ok(detail(&event, calendar, agent, asked))
}

fn detail(event: &Event, calendar: Calendar, agent: String, asked: &Fields) -> EventDetail {
    let span = event.times.span;
    EventDetail {
        id: identifier(event),
        title: event.title.clone(),
        agent,
        span,
        dates: event.times.all_day.then(|| EventInView::whole_days(span, calendar.zone)),
        zone: asked.get("tz").parse().unwrap_or(calendar.zone),
        calendar: calendar.name,
        kind: kind(event),
        is_imported: event.source == EventSource::ExternalIcal,
        description: event.description.clone().unwrap_or_default(),
        location: event.location.clone().unwrap_or_default(),
        call: event.conference_url.as_ref().map(ToString::to_string).unwrap_or_default(),
        attendees: event.attendees.as_slice().iter().map(attendee).collect(),
        series: match (event.occurrence(), event.recurrence()) {
            (Some(occurrence), _) => SeriesPart::Occurrence(occurrence.series.to_string()),
            (None, Some(series)) => SeriesPart::Series(series.rule().to_string(), series.zone()),
            (None, None) => SeriesPart::Once,
        },
        version: event.version.0,
    }
}

fn attendee(attendee: &Attendee) -> (String, &'static str) {
    let reply = match attendee.status {
        AttendeeStatus::NeedsAction => "has not replied",
        AttendeeStatus::Accepted => "accepted",
        AttendeeStatus::Tentative => "may come",
        AttendeeStatus::Declined => "declined",
    };
    (attendee.name.clone().unwrap_or_else(|| attendee.email.to_string()), reply)
}

/// `GET /console/calendar/events/{id}`
pub(super) async fn show(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    match render(&app, &caller.0, &id.0, &parameters(query)).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

async fn render(app: &App, caller: &Actor, id: &str, asked: &Fields) -> Result<String, Refusal> {
    let event = find(app, caller, id, asked).await?;
    let shown = EventPage {
        shell: &shell(app, caller, Place::Calendar).await?,
        done: Done::named(asked.get("done")),
        may_change: caller.may(&operations::UPDATE_EVENT),
        event: &event,
        now: app.now(),
    };
    Ok(shown.html())
}

/// The occurrences that a form about this event chooses. Only occurrences of a series have the choice.
///
/// # Errors
/// If nothing is chosen.
pub(super) fn scope(id: &str, fields: &Fields) -> Result<SeriesScope, FieldErrors> {
    if id.parse::<Occurrence>().is_err() {
        return Ok(SeriesScope::This);
    }
    match fields.get("scope") {
        "this" => Ok(SeriesScope::This),
        "following" => Ok(SeriesScope::Following),
        "all" => Ok(SeriesScope::All),
        _ => Err(FieldError::new("scope", NO_SCOPE).into()),
    }
}

/// `GET /console/calendar/events/{id}/cancel`
pub(super) async fn ask_to_cancel(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    match question(&app, &caller.0, &id.0, &parameters(query), &NO_PROBLEMS).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

async fn question(
    app: &App,
    caller: &Actor,
    id: &str,
    fields: &Fields,
    problems: &Problems,
) -> Result<String, Refusal> {
    needs(caller, &operations::DELETE_EVENT)?;
    let event = find(app, caller, id, fields).await?;
    let shell = shell(app, caller, Place::Calendar).await?;
    Ok(CancelEvent { shell: &shell, event: &event, scope: fields.get("scope"), problems }.html())
}

/// `POST /console/calendar/events/{id}/cancel`
pub(super) async fn cancel(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    let path = EventPath { calendar: None, id: &id.0 };
    let send = form.fields.get("send_invitations") == "true";
    let outcome = match scope(&id.0, &form.fields) {
        Ok(scope) => app.delete_event(&form.caller, path, scope, None, send, &form.if_match()).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{CALENDAR}?done=cancelled"), None)),
        Err(refusal) => {
            let stale = matches!(refusal, Refusal::Stale { .. });
            let (problems, error) = problems(refusal, &EVENT_FIELDS)?;
            let problems = if stale { Problems::general(CHANGED.to_owned()) } else { problems };
            match question(&app, &form.caller, &id.0, &form.fields, &problems).await {
                Ok(text) => {
                    let shown = page(error.status(), text);
                    Ok(because_of(error, shown))
                }
                Err(refusal) => refused(refusal, TO_CALENDAR),
            }
        }
    }
}

/// `POST /console/calendar/events/{id}/confirm`
pub(super) async fn confirm(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match app.confirm_hold(&form.caller, &id.0).await {
        Ok(_) => Ok(to_event(&id.0, None, "confirmed")),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

/// `POST /console/calendar/events/{id}/release`
pub(super) async fn release(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match app.release_hold(&form.caller, &id.0).await {
        Ok(_) => Ok(to_event(&id.0, None, "released")),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

/// Somebody reloads the address of a form about an event.
pub(super) async fn back(id: PathOf<String>) -> Response {
    // Another text may have characters that no header can have.
    let is_identifier = id.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    see_other(&if is_identifier { format!("{CALENDAR}/events/{}", id.0) } else { CALENDAR.to_owned() }, None)
}
