//! One event: its page, its cancellation, and the end of a hold.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, Answer, App, EventPath, IfMatch, Refusal, operations};
use kalends_calendars::{Calendar, Event, EventError, EventSource, EventStatus, Occurrence, SeriesScope};
use kalends_kernel::{FieldError, FieldErrors, Version};
use kalends_plans::Feature;
use kalends_time::{Timestamp, Zone};
use kalends_web::{
    CancelEvent, Done, EVENT_FIELDS, EventDetail, EventInView, EventPage, NO_PROBLEMS, Place, Problems, SeriesPart,
};

use super::{
    super::{
        form::{OwnForm, new_once},
        frame::{needs, shell},
        places::{CALENDAR, EVENTS, WAITING, segment},
        shown::{page, problems, refused, shown_again},
        waiting::TO_WAITING,
    },
    asked::{date, identifiers, parameters, to_calendar, to_event},
    people::shown,
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
const IS_CANCELLED: &str = "is cancelled, so the event cannot be changed";
const NO_SCOPE: &str = "must be chosen: only this occurrence, this and the following, or all";

/// Reads an event or an occurrence, with times in the zone that the fields name or in that of its calendar.
pub(super) async fn find(app: &App, caller: &Actor, id: &str, asked: &Fields) -> Result<EventDetail, Refusal> {
    let event = app.event(caller, EventPath { calendar: None, id }).await?;
    detailed(app, caller, &event, asked).await
}

/// [`find`], for a form that changes the event.
///
/// # Errors
/// [`Refusal::ReadOnly`] if it is imported; [`Refusal::Invalid`] if it is cancelled.
pub(super) async fn find_changeable(
    app: &App,
    caller: &Actor,
    id: &str,
    asked: &Fields,
) -> Result<EventDetail, Refusal> {
    let event = app.event(caller, EventPath { calendar: None, id }).await?;
    if event.source == EventSource::ExternalIcal {
        return Err(EventError::ReadOnly(event.id).into());
    }
    if event.status == EventStatus::Cancelled {
        return Err(FieldError::new("status", IS_CANCELLED).into());
    }
    detailed(app, caller, &event, asked).await
}

async fn detailed(app: &App, caller: &Actor, event: &Event, asked: &Fields) -> Result<EventDetail, Refusal> {
    let calendar = app.calendar(caller, &event.calendar.to_string()).await?;
    let agent = match calendar.agent {
        Some(agent) => app.agent(caller, &agent.to_string()).await?.name,
        None => String::new(),
    };
    let series = match event.occurrence() {
        Some(occurrence) => {
            let id = occurrence.series.to_string();
            Some(app.event(caller, EventPath { calendar: None, id: &id }).await?)
        }
        None => None,
    };
    let part = part(event, series.as_ref(), app.now());
    let series_version = series.as_ref().unwrap_or(event).version.0;
    Ok(detail(event, (part, series_version), calendar, agent, asked))
}

/// The place of an event in a series. `series` is the series if it is an occurrence.
fn part(event: &Event, series: Option<&Event>, now: Timestamp) -> SeriesPart {
    let whole = series.unwrap_or(event);
    let Some(recurrence) = whole.recurrence() else { return SeriesPart::Once };
    let (rule, zone) = (recurrence.rule().to_string(), recurrence.zone());
    let Some(occurrence) = event.occurrence() else { return SeriesPart::Series(rule, zone) };
    let (is_first, rest) = match whole.split(occurrence.start, whole.id, now) {
        Ok(None) => (true, None),
        Ok(Some((_, rest))) => (false, rest.recurrence().map(|rest| rest.rule().to_string())),
        // Some series cannot be split there.
        Err(_) => (occurrence.start == whole.times.span.start(), None),
    };
    let rest = rest.unwrap_or_else(|| rule.clone());
    SeriesPart::Occurrence { series: occurrence.series.to_string(), rule, zone, is_first, rest }
}

/// An event, and its place in its series with the version of that.
fn detail(
    event: &Event,
    (series, series_version): (SeriesPart, i64),
    calendar: Calendar,
    agent: String,
    asked: &Fields,
) -> EventDetail {
    let span = event.times.span;
    EventDetail {
        id: identifier(event),
        title: event.title.clone(),
        agent,
        span,
        dates: event.times.all_day.then(|| EventInView::whole_days(span, calendar.zone)),
        zone: asked.get("tz").parse().unwrap_or(calendar.zone),
        calendar_zone: calendar.zone,
        calendar_id: calendar.id.to_string(),
        calendar: calendar.name,
        kind: kind(event),
        is_imported: event.source == EventSource::ExternalIcal,
        description: event.description.clone().unwrap_or_default(),
        location: event.location.clone().unwrap_or_default(),
        call: event.conference_url.as_ref().map(ToString::to_string).unwrap_or_default(),
        attendees: event.attendees.as_slice().iter().map(shown).collect(),
        reminders: event.reminders.as_ref().map(|reminders| reminders.minutes().to_vec()),
        series,
        version: event.version.0,
        series_version,
        cals: identifiers(asked).into_iter().map(str::to_owned).collect(),
    }
}

/// Requires the versions that the page of a form showed: that of the event, and that of its series if the form changes more
/// than one occurrence.
pub(super) fn if_match(form: &OwnForm) -> IfMatch {
    let shown = |name: &str| -> Vec<Version> { form.fields.get(name).parse().map(Version).into_iter().collect() };
    IfMatch::WithSeries { own: shown("version"), series: shown("series_version") }
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
    let back = to_calendar(&identifiers(asked), event.zone, event.date());
    let page = EventPage {
        shell: &shell(caller, Place::Calendar)?,
        done: Done::named(asked.get("done")),
        once: &new_once(app.entropy()),
        may_change: caller.may(&operations::UPDATE_EVENT),
        may_move: caller.may(&operations::MOVE_EVENT),
        may_end_holds: caller.may(&operations::CONFIRM_HOLD) && caller.needs(Feature::Holds).is_ok(),
        event: &event,
        back: &back,
        now: app.now(),
    };
    Ok(page.html())
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
    let event = find_changeable(app, caller, id, fields).await?;
    let (shell, once) = (shell(caller, Place::Calendar)?, new_once(app.entropy()));
    let (scope, sends) = (fields.get("scope"), sends(fields));
    Ok(CancelEvent { shell: &shell, once: &once, event: &event, sends, scope, problems }.html())
}

/// Whether the attendees get an email about the cancellation.
fn sends(fields: &Fields) -> bool {
    fields.get("send_invitations") == "true"
}

/// `POST /console/calendar/events/{id}/cancel`
pub(super) async fn cancel(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let (id, send, if_match) = (&id.0, sends(&form.fields), if_match(&form));
    let outcome = match scope(id, &form.fields) {
        Ok(scope) => {
            form.once(&app, async |caller: &Actor| {
                app.delete_event(caller, EventPath { calendar: None, id }, scope, None, send, &if_match).await
            })
            .await
        }
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&after_cancelling(&form.fields, app.now()), None)),
        Err(refusal) => {
            let stale = matches!(refusal, Refusal::Stale { .. });
            let (problems, error) = problems(refusal, &EVENT_FIELDS)?;
            let problems = if stale { Problems::general(CHANGED.to_owned()) } else { problems };
            shown_again(error, question(&app, &form.caller, id, &form.fields, &problems).await, TO_CALENDAR)
        }
    }
}

/// The address of the calendar on the day of an event that is gone.
fn after_cancelling(fields: &Fields, now: Timestamp) -> String {
    let Ok(zone) = fields.get("tz").parse::<Zone>() else { return format!("{CALENDAR}?done=cancelled") };
    format!("{}&done=cancelled", to_calendar(&identifiers(fields), zone, date(fields, zone, now)))
}

/// `POST /console/calendar/events/{id}/confirm`
pub(super) async fn confirm(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = form.once(&app, async |caller: &Actor| app.confirm_hold(caller, &id.0, None).await).await;
    ended(&id.0, &form, outcome, "confirmed")
}

/// `POST /console/calendar/events/{id}/release`
pub(super) async fn release(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let outcome = form.once(&app, async |caller: &Actor| app.release_hold(caller, &id.0).await).await;
    ended(&id.0, &form, outcome, "released")
}

/// The answer to a form that ends a hold. It leads back to the page of the form.
fn ended(id: &str, form: &OwnForm, outcome: Result<Answer, Refusal>, done: &str) -> Result<Response, ApiError> {
    let was_waiting = form.fields.get("next") == WAITING;
    match outcome {
        Ok(_) if was_waiting => Ok(see_other(&format!("{WAITING}?done={done}"), None)),
        Ok(_) => Ok(to_event(id, &form.fields, form.fields.get("tz").parse().ok(), done)),
        Err(refusal) => refused(refusal, if was_waiting { TO_WAITING } else { TO_CALENDAR }),
    }
}

/// Somebody reloads the address of a form about an event.
pub(super) async fn back(id: PathOf<String>) -> Response {
    see_other(&format!("{EVENTS}/{}", segment(&id.0)), None)
}
