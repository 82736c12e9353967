//! The forms that create and change an event.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, App, EventPath, Refusal, operations};
use kalends_calendars::Calendar;
use kalends_kernel::Listed;
use kalends_time::{CivilDateTime, CivilTime, Timestamp, Zone};
use kalends_web::{Choice, EditEventForm, EventGiven, NO_PROBLEMS, NewEventForm, Place, Problems, read_clock};
use serde::Deserialize;

use super::{
    super::{
        form::{OwnForm, new_once, read},
        frame::{needs, shell},
        shown::{because_of, page, refused},
    },
    asked::{calendars, chosen, date, named, parameters, to_event, zone},
    event::{TO_CALENDAR, find, scope},
    given::{Current, changed, problems_in, typed, wanted},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
};

/// An hour, in microseconds.
const HOUR: i64 = 3_600_000_000;
/// The hours of a day that the form suggests if it knows none.
const SUGGESTED: [u32; 2] = [9, 10];

/// The first and the last time of that day that a form suggests, or an hour from the time that the address names.
pub(super) fn suggested(asked: &Fields, zone: Zone, now: Timestamp) -> [String; 2] {
    let text = |civil: CivilDateTime| {
        let (hour, minute, _) = civil.time.hour_minute_second();
        format!("{}T{hour:02}:{minute:02}", civil.date)
    };
    let start = asked.get("start");
    if let Some(end) = read_clock(start).and_then(|civil| Some(CivilDateTime::from_micros(civil.as_micros()? + HOUR))) {
        return [start.to_owned(), text(end)];
    }
    let date = date(asked, zone, now);
    SUGGESTED.map(|hour| text(date.at(CivilTime::new(hour, 0, 0).unwrap_or(CivilTime::MIDNIGHT))))
}

/// The calendars as options of a form, with their names.
pub(super) struct Options(Vec<(String, String)>);

impl Options {
    pub(super) fn of(listed: &Listed<Calendar>) -> Self {
        let option = |calendar: &Calendar| (calendar.id.to_string(), calendar.name.clone());
        Self(listed.data.iter().map(option).collect())
    }

    pub(super) fn choices(&self) -> Vec<Choice<'_>> {
        self.0.iter().map(|(value, title)| Choice { value, title }).collect()
    }
}

/// `GET /console/calendar/new`
pub(super) async fn ask(app: Service, caller: Caller, query: RawQuery) -> Result<Response, ApiError> {
    match ask_for(&app, &caller.0, &parameters(query)).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

async fn ask_for(app: &App, caller: &Actor, asked: &Fields) -> Result<String, Refusal> {
    needs(caller, &operations::CREATE_EVENT)?;
    let listed = calendars(app, caller).await?;
    let named = named(asked, &listed.data);
    let zone = zone(asked, &chosen(&named, &listed.data));
    let [start, end] = suggested(asked, zone, app.now());
    let calendar = named.first().map(|calendar| calendar.id.to_string()).unwrap_or_default();
    let (calendar, start, end) = (calendar.as_str(), start.as_str(), end.as_str());
    let given = EventGiven { calendar, start, end, status: "confirmed", conflicts: "allow", ..EventGiven::default() };
    render_new(app, caller, &listed, zone, given, &NO_PROBLEMS).await
}

async fn render_new(
    app: &App,
    caller: &Actor,
    listed: &Listed<Calendar>,
    zone: Zone,
    given: EventGiven<'_>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let shell = shell(app, caller, Place::Calendar).await?;
    let (once, options) = (new_once(app.entropy()), Options::of(listed));
    Ok(NewEventForm { shell: &shell, once: &once, calendars: &options.choices(), zone, given, problems }.html())
}

/// The part of an answer that leads to the page of an event.
#[derive(Deserialize)]
struct Created {
    id: String,
}

/// `POST /console/calendar/events`
pub(super) async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let zone = zone(&form.fields, &[]);
    let calendar = form.fields.get("calendar").to_owned();
    let outcome = match wanted(&typed(&form.fields), zone) {
        Ok(new) => form.once(&app, async |caller: &Actor| app.create_event(caller, &calendar, new).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => Ok(to_event(&read::<Created>(&answer)?.id, Some(zone), "created")),
        Err(refusal) => {
            let (problems, error) = problems_in(refusal, zone)?;
            let listed = calendars(&app, &form.caller).await?;
            let text = render_new(&app, &form.caller, &listed, zone, typed(&form.fields), &problems).await?;
            let shown = page(error.status(), text);
            Ok(because_of(error, shown))
        }
    }
}

/// `GET /console/calendar/events/{id}/edit`
pub(super) async fn ask_to_edit(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    query: RawQuery,
) -> Result<Response, ApiError> {
    match render_edit(&app, &caller.0, &id.0, &parameters(query), None).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_CALENDAR),
    }
}

/// The form of an event, with what was typed if it had no effect, and the reason.
async fn render_edit(
    app: &App,
    caller: &Actor,
    id: &str,
    fields: &Fields,
    wrong: Option<&Problems>,
) -> Result<String, Refusal> {
    needs(caller, &operations::UPDATE_EVENT)?;
    let event = find(app, caller, id, fields).await?;
    let current = Current::of(&event);
    let (given, problems) = match wrong {
        Some(problems) => (typed(fields), problems),
        None => (current.given(&event), &NO_PROBLEMS),
    };
    let shell = shell(app, caller, Place::Calendar).await?;
    Ok(EditEventForm { shell: &shell, event: &event, given, problems }.html())
}

/// `POST /console/calendar/events/{id}/edit`
pub(super) async fn edit(app: Service, id: PathOf<String>, form: OwnForm) -> Result<Response, ApiError> {
    match save(&app, &id.0, &form).await {
        Ok(id) => Ok(to_event(&id, form.fields.get("tz").parse().ok(), "saved")),
        Err(refusal) => {
            let zone = zone(&form.fields, &[]);
            let (problems, error) = problems_in(refusal, zone)?;
            match render_edit(&app, &form.caller, &id.0, &form.fields, Some(&problems)).await {
                Ok(text) => {
                    let shown = page(error.status(), text);
                    Ok(because_of(error, shown))
                }
                Err(refusal) => refused(refusal, TO_CALENDAR),
            }
        }
    }
}

/// Changes the event, and returns the identifier of what it is now: a change of later occurrences makes a new series of
/// them.
async fn save(app: &App, id: &str, form: &OwnForm) -> Result<String, Refusal> {
    let scope = scope(id, &form.fields)?;
    let event = find(app, &form.caller, id, &form.fields).await?;
    let Some(patch) = changed(&event, &typed(&form.fields))? else { return Ok(id.to_owned()) };
    let path = EventPath { calendar: None, id };
    Ok(app.update_event(&form.caller, path, scope, patch, &form.if_match()).await?.resource.id)
}
