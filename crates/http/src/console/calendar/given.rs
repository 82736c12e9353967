//! What is typed into the forms about events, as requests of the API.

use kalends_app::{Obstacles, Refusal};
use kalends_calendars::{EventPatch, NewEvent};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{Timestamp, Zone};
use kalends_web::{EVENT_FIELDS, EventDetail, EventGiven, EventKind, Problems, clock_text, event_time, read_clock};
use kalends_wire as wire;

use super::{super::shown::problems, event::CHANGED};
use crate::{error::ApiError, pages::Fields};

/// What was typed.
pub(super) fn typed(fields: &Fields) -> EventGiven<'_> {
    let given = |name| fields.get(name).trim();
    EventGiven {
        calendar: given("calendar"),
        title: given("title"),
        start: given("start_time"),
        end: given("end_time"),
        status: given("status"),
        location: given("location"),
        call: given("conference_url"),
        description: given("description"),
        conflicts: given("if_free"),
        scope: given("scope"),
    }
}

/// A time that was typed, on the clock of the zone. As with the plain dates of the API, a time that the clocks skip
/// moves forward by what they skip, and of a time that they show twice, the first counts.
pub(super) fn instant(param: &str, text: &str, zone: Zone) -> Result<Timestamp, FieldError> {
    let civil = read_clock(text)
        .ok_or_else(|| FieldError::new(param, "must be a date and a time of day, such as 2026-03-02T09:30"))?;
    zone.to_timestamp(civil).ok_or_else(|| FieldError::new(param, "must be from 1970 to 2099"))
}

fn status(name: &str) -> Result<wire::EventStatus, FieldError> {
    match name {
        "confirmed" => Ok(wire::EventStatus::Confirmed),
        "tentative" => Ok(wire::EventStatus::Tentative),
        _ => Err(FieldError::new("status", "must be one of the choices; choose it again")),
    }
}

/// A text as the API has it: browsers send `\r\n` at the end of a line.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The event that the form describes.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn wanted(given: &EventGiven<'_>, zone: Zone) -> Result<NewEvent, FieldErrors> {
    let mut errors = FieldErrors::default();
    let start = errors.take(instant("start_time", given.start, zone));
    let end = errors.take(instant("end_time", given.end, zone));
    let status = errors.take(status(given.status));
    let optional = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    // If a time is wrong, another one takes its place, so that the other fields are checked too.
    let time = |time: Option<Timestamp>| time.unwrap_or(Timestamp::EPOCH).to_string();
    let body = wire::CreateEvent {
        title: given.title.to_owned(),
        start_time: time(start),
        end_time: time(end),
        description: optional(&lines(given.description)),
        location: optional(given.location),
        conference_url: optional(given.call),
        status,
        if_free: given.conflicts == "refuse",
        ..wire::CreateEvent::default()
    };
    match errors.take_all(body.parse()) {
        Some(new) if errors.is_empty() => Ok(new),
        _ => Err(errors),
    }
}

/// What the form of an event shows.
pub(super) struct Current {
    start: String,
    end: String,
    description: String,
}

impl Current {
    pub(super) fn of(event: &EventDetail) -> Self {
        let clock = |at| clock_text(at, event.zone);
        let description = lines(event.description.trim());
        Self { start: clock(event.span.start()), end: clock(event.span.end()), description }
    }

    /// The fields of the form.
    pub(super) fn given<'a>(&'a self, event: &'a EventDetail) -> EventGiven<'a> {
        EventGiven {
            calendar: "",
            title: event.title.trim(),
            start: &self.start,
            end: &self.end,
            status: if event.kind == Some(EventKind::Tentative) { "tentative" } else { "confirmed" },
            location: event.location.trim(),
            call: &event.call,
            description: &self.description,
            conflicts: "allow",
            scope: "",
        }
    }
}

/// What the form changes; `None` if it is nothing. Only fields that were typed over are changed, so that a change of
/// many occurrences leaves their other fields as they are, and a time that the clocks show twice stays what it is.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn changed(event: &EventDetail, given: &EventGiven<'_>) -> Result<Option<EventPatch>, FieldErrors> {
    let current = Current::of(event);
    let seen = current.given(event);
    let mut errors = FieldErrors::default();
    let mut body = wire::UpdateEvent { if_free: given.conflicts == "refuse", ..wire::UpdateEvent::default() };
    let mut is_changed = false;
    let mut text = |seen: &str, given: &str| {
        (seen != given).then(|| {
            is_changed = true;
            given.to_owned()
        })
    };
    let cleared = |text: String| Some(text).filter(|text| !text.is_empty());
    body.title = text(seen.title, given.title).map(Some);
    body.location = text(seen.location, given.location).map(cleared);
    body.conference_url = text(seen.call, given.call).map(cleared);
    body.description = text(seen.description, &lines(given.description)).map(cleared);
    if event.dates.is_none() && (seen.start, seen.end) != (given.start, given.end) {
        is_changed = true;
        // A side that was left as it is keeps its seconds.
        let time = |param, seen: &str, given: &str, known: Timestamp| {
            if seen == given { Ok(known) } else { instant(param, given, event.zone) }
        };
        let start = errors.take(time("start_time", seen.start, given.start, event.span.start()));
        let end = errors.take(time("end_time", seen.end, given.end, event.span.end()));
        body.start_time = start.map(|start| Some(start.to_string()));
        body.end_time = end.map(|end| Some(end.to_string()));
    }
    // The status of a hold is changed by other forms.
    let is_hold = matches!(event.kind, Some(EventKind::Hold(_)));
    if !is_hold && seen.status != given.status {
        is_changed = true;
        body.status = errors.take(status(given.status)).map(Some);
    }
    if !is_changed {
        return Ok(None);
    }
    if !errors.is_empty() && body.title.is_none() {
        // A form that says nothing else would be refused for that, too.
        return Err(errors);
    }
    match errors.take_all(body.parse()) {
        Some(patch) if errors.is_empty() => Ok(Some(patch)),
        _ => Err(errors),
    }
}

/// What a form that was refused shows, as [`problems`], with times in the zone of the form.
pub(super) fn problems_in(refusal: Refusal, zone: Zone) -> Result<(Problems, ApiError), ApiError> {
    let said = match &refusal {
        Refusal::SlotTaken(obstacles) => Some(taken(obstacles, zone)),
        Refusal::Stale { .. } => Some(CHANGED.to_owned()),
        _ => None,
    };
    let (problems, error) = problems(refusal, &EVENT_FIELDS)?;
    Ok((said.map_or(problems, Problems::general), error))
}

/// What is at the time of an event that must have it alone.
fn taken(obstacles: &Obstacles, zone: Zone) -> String {
    let mut text = "Something else is at that time".to_owned();
    if let Some((_, block)) = obstacles.conflicts.first() {
        text.push_str(&format!(": {}", event_time(block.span, None, zone)));
    }
    if let Some(free) = obstacles.nearest_free.first() {
        text.push_str(&format!(". The nearest free time is {}", event_time(*free, None, zone)));
    }
    text + "."
}
