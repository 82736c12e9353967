//! The forms that create and change an event.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, Answer, Answered, App, EventPath, IfMatch, Refusal, operations};
use kalends_calendars::Calendar;
use kalends_kernel::{FieldErrors, Listed};
use kalends_plans::Feature;
use kalends_time::{CivilDate, CivilDateTime, CivilTime, Timestamp, Zone};
use kalends_web::{
    Choice, EditEventForm, EventGiven, NO_PROBLEMS, NewEventForm, Place, Problems, RepeatGiven, date_in_range,
    read_clock,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    super::{
        form::{OwnForm, new_once, read},
        frame::{needs, shell},
        shown::{page, refused, shown_again},
    },
    asked::{calendars, chosen, date, identifiers, named, parameters, to_calendar, to_event, zone},
    event::{TO_CALENDAR, find_changeable, if_match, scope},
    given::{Current, changed, is_changed, merged, shown_before, typed},
    refused::problems_of,
    wanted::{Around, in_minutes, wanted},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    pages::Fields,
};

/// An hour, in microseconds.
const HOUR: i64 = 3_600_000_000;
/// The minutes for which the form suggests to place a hold, which every plan with holds allows.
const HELD: &str = "15";
/// The hours of a day that the form suggests if it knows none.
const SUGGESTED: [u32; 2] = [9, 10];

/// The first and the last time of that day that a form suggests, or the times that the address names. Without a later
/// end in the address, that is an hour.
pub(super) fn suggested(asked: &Fields, zone: Zone, now: Timestamp) -> [String; 2] {
    let text = |civil: CivilDateTime| {
        let (hour, minute, _) = civil.time.hour_minute_second();
        format!("{}T{hour:02}:{minute:02}", civil.date)
    };
    let (start, end) = (asked.get("start"), asked.get("end"));
    let micros = |text: &str| read_clock(text)?.as_micros();
    if let Some(from) = micros(start) {
        // Clocks may show the same, or an earlier time, when an event ends.
        let at = |name: &str| asked.get(name).parse::<Timestamp>().ok();
        let known = at("start_at").zip(at("end_at"));
        let is_later = micros(end).is_some_and(|to| known.map_or(to > from, |(from, to)| to > from));
        let end = if is_later { end.to_owned() } else { text(CivilDateTime::from_micros(from + HOUR)) };
        return [start.to_owned(), end];
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

    /// All but the calendar with that identifier.
    pub(super) fn besides(self, id: &str) -> Self {
        Self(self.0.into_iter().filter(|(option, _)| option != id).collect())
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
    let given = EventGiven {
        calendar,
        start,
        end,
        start_at: asked.get("start_at"),
        end_at: asked.get("end_at"),
        status: "confirmed",
        hold_minutes: HELD,
        repeats: RepeatGiven { choice: "never", ends: "never", ..RepeatGiven::default() },
        conflicts: "allow",
        ..EventGiven::default()
    };
    let shown = read_clock(start).map_or_else(|| date(asked, zone, app.now()), |start| start.date);
    render_new(app, caller, &listed, zone, (given, asked, shown), &NO_PROBLEMS)
}

fn render_new(
    app: &App,
    caller: &Actor,
    listed: &Listed<Calendar>,
    zone: Zone,
    (given, asked, day): (EventGiven<'_>, &Fields, CivilDate),
    problems: &Problems,
) -> Result<String, Refusal> {
    let shell = shell(caller, Place::Calendar)?;
    let cals = identifiers(asked);
    let (cals, back) = (cals.as_slice(), to_calendar(&cals, zone, day));
    let back = back.as_str();
    let (once, options) = (new_once(app.entropy()), Options::of(listed));
    let (shell, once, calendars) = (&shell, once.as_str(), options.choices());
    let longest_hold = caller.needs(Feature::Holds).is_ok().then(|| in_minutes(caller.longest_hold()));
    Ok(NewEventForm { shell, once, calendars: &calendars, zone, longest_hold, given, cals, back, problems }.html())
}

/// The part of an answer that leads to the page of an event.
#[derive(Deserialize)]
struct Created {
    id: String,
}

/// `POST /console/calendar/events`
pub(super) async fn create(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let (fields, zone) = (form.fields.clone(), zone(&form.fields, &[]));
    let given = typed(&fields);
    let outcome = form.once(&app, async |caller: &Actor| add(&app, caller, &given, zone).await).await;
    match outcome {
        Ok(answer) => Ok(to_event(&read::<Created>(&answer)?.id, &fields, Some(zone), "created")),
        Err(refusal) => {
            let (problems, error) = problems_of(refusal, zone, &given)?;
            let listed = calendars(&app, &form.caller).await?;
            let day = read_clock(given.start).map(|start| start.date).and_then(date_in_range);
            let day = day.unwrap_or_else(|| zone.to_civil(app.now()).date);
            let text = render_new(&app, &form.caller, &listed, zone, (given, &fields, day), &problems);
            shown_again(error, text, TO_CALENDAR)
        }
    }
}

async fn add(app: &App, caller: &Actor, given: &EventGiven<'_>, zone: Zone) -> Result<Answered<wire::Event>, Refusal> {
    let calendar_zone = app.calendar(caller, given.calendar).await?.zone;
    let around = Around { zone, calendar_zone, now: app.now(), longest_hold: caller.longest_hold() };
    app.create_event(caller, given.calendar, wanted(given, &around)?).await
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

/// Why a form about an event had no effect.
struct Wrong<'a> {
    problems: &'a Problems,
    /// Whether the event has changed since the form was opened.
    is_stale: bool,
}

/// The form of an event, with what was typed if it had no effect, and the reason.
async fn render_edit(
    app: &App,
    caller: &Actor,
    id: &str,
    fields: &Fields,
    wrong: Option<Wrong<'_>>,
) -> Result<String, Refusal> {
    needs(caller, &operations::UPDATE_EVENT)?;
    let event = find_changeable(app, caller, id, fields).await?;
    let (current, version) = (Current::of(&event), event.version.to_string());
    let (now, typed, before) = (current.given(&event), typed(fields), shown_before(fields));
    let is_stale = wrong.as_ref().is_some_and(|wrong| wrong.is_stale);
    let series_version = event.series_version.to_string();
    let versions = (version.as_str(), series_version.as_str());
    let (given, was, (version, series_version)) = match &wrong {
        None => (now, now, versions),
        // What is sent next is compared with the event as this page shows it.
        Some(_) if is_stale => (merged(typed, before, now), now, versions),
        Some(_) => (typed, before, (fields.get("version"), fields.get("series_version"))),
    };
    let problems = wrong.map_or(&NO_PROBLEMS, |wrong| wrong.problems);
    let (shell, once) = (shell(caller, Place::Calendar)?, new_once(app.entropy()));
    let (shell, once, event, now) = (&shell, once.as_str(), &event, app.now());
    Ok(EditEventForm { shell, once, event, version, series_version, given, was, is_stale, now, problems }.html())
}

/// `POST /console/calendar/events/{id}/edit`
pub(super) async fn edit(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let fields = form.fields.clone();
    match save(&app, &id.0, &mut form, &fields).await {
        Ok(answer) => {
            // A change of later occurrences makes a new series of them.
            let changed = answer.map(|answer| read::<Created>(&answer)).transpose()?;
            let id = changed.map_or(id.0, |changed| changed.id);
            Ok(to_event(&id, &fields, fields.get("tz").parse().ok(), "saved"))
        }
        Err(refusal) => {
            let is_stale = matches!(refusal, Refusal::Stale { .. });
            let (problems, error) = problems_of(refusal, zone(&fields, &[]), &typed(&fields))?;
            let wrong = Wrong { problems: &problems, is_stale };
            let text = render_edit(&app, &form.caller, &id.0, &fields, Some(wrong)).await;
            shown_again(error, text, TO_CALENDAR)
        }
    }
}

/// Changes the event, and returns the answer, which shows what it is now; `None` if nothing was typed over.
async fn save(app: &App, id: &str, form: &mut OwnForm, fields: &Fields) -> Result<Option<Answer>, Refusal> {
    if !is_changed(typed(fields), shown_before(fields)) {
        scope(id, fields)?;
        return Ok(None);
    }
    let if_match = if_match(form);
    let answer = form.once(app, async |caller: &Actor| update(app, caller, id, fields, &if_match).await).await?;
    Ok(Some(answer))
}

async fn update(
    app: &App,
    caller: &Actor,
    id: &str,
    fields: &Fields,
    if_match: &IfMatch,
) -> Result<Answered<wire::Event>, Refusal> {
    let event = find_changeable(app, caller, id, fields).await?;
    let mut errors = FieldErrors::default();
    let scope = errors.take_all(scope(id, fields));
    let patch = errors.take_all(changed(&event, &typed(fields), &shown_before(fields)));
    let (Some(scope), Some(patch)) = (scope, patch) else { return Err(errors.into()) };
    app.update_event(caller, EventPath { calendar: None, id }, scope, patch, if_match).await
}
