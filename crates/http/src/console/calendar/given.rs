//! What is typed into the forms about events, as requests of the API.

use kalends_app::{Obstacles, Refusal};
use kalends_calendars::{EventPatch, NewEvent};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{Timestamp, Zone};
use kalends_web::{EVENT_FIELDS, EventDetail, EventGiven, EventKind, Problems, clock_text, event_time, read_clock};
use kalends_wire as wire;

use super::{super::shown::problems, event::CHANGED};
use crate::{
    error::ApiError,
    pages::{Fields, WAS, line, lines},
};

/// What was typed.
pub(super) fn typed(fields: &Fields) -> EventGiven<'_> {
    given(fields, "")
}

/// What the form of an event showed before anything was typed, in its hidden fields.
pub(super) fn shown_before(fields: &Fields) -> EventGiven<'_> {
    given(fields, WAS)
}

fn given<'a>(fields: &'a Fields, prefix: &str) -> EventGiven<'a> {
    let given = |name: &str| -> &'a str { fields.get(&format!("{prefix}{name}")).trim() };
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
        description: optional(given.description),
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

/// What the form of an event shows, as browsers send it back.
pub(super) struct Current {
    title: String,
    start: String,
    end: String,
    location: String,
    description: String,
}

impl Current {
    pub(super) fn of(event: &EventDetail) -> Self {
        let clock = |at| clock_text(at, event.zone);
        Self {
            title: line(&event.title),
            start: clock(event.span.start()),
            end: clock(event.span.end()),
            location: line(&event.location),
            description: lines(&event.description),
        }
    }

    /// The fields of the form.
    pub(super) fn given<'a>(&'a self, event: &'a EventDetail) -> EventGiven<'a> {
        EventGiven {
            calendar: "",
            title: &self.title,
            start: &self.start,
            end: &self.end,
            status: if event.kind == Some(EventKind::Tentative) { "tentative" } else { "confirmed" },
            location: &self.location,
            call: &event.call,
            description: &self.description,
            conflicts: "allow",
            scope: "",
        }
    }
}

/// Whether a field of the event was typed over.
pub(super) fn is_changed<'a>(given: EventGiven<'a>, was: EventGiven<'a>) -> bool {
    let of_event = |fields: EventGiven<'a>| EventGiven { calendar: "", conflicts: "", scope: "", ..fields };
    of_event(given) != of_event(was)
}

/// The fields of a form that is shown again because the event has changed: what was typed over stays, and the others
/// are those of the event `now`.
pub(super) fn merged<'a>(given: EventGiven<'a>, was: EventGiven<'_>, now: EventGiven<'a>) -> EventGiven<'a> {
    let newer = |given: &'a str, was: &str, now: &'a str| if given == was { now } else { given };
    EventGiven {
        title: newer(given.title, was.title, now.title),
        start: newer(given.start, was.start, now.start),
        end: newer(given.end, was.end, now.end),
        status: newer(given.status, was.status, now.status),
        location: newer(given.location, was.location, now.location),
        call: newer(given.call, was.call, now.call),
        description: newer(given.description, was.description, now.description),
        ..given
    }
}

/// What the form changes. Only fields that were typed over are changed, so that what somebody else has changed stays,
/// a change of many occurrences leaves their other fields as they are, and a time that the clocks show twice stays what
/// it is.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn changed(
    event: &EventDetail,
    given: &EventGiven<'_>,
    was: &EventGiven<'_>,
) -> Result<EventPatch, FieldErrors> {
    let mut errors = FieldErrors::default();
    let text = |was: &str, given: &str| (was != given).then(|| given.to_owned());
    let cleared = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut body = wire::UpdateEvent {
        title: text(was.title, given.title).map(Some),
        location: text(was.location, given.location).map(cleared),
        conference_url: text(was.call, given.call).map(cleared),
        description: text(was.description, given.description).map(cleared),
        if_free: given.conflicts == "refuse",
        ..wire::UpdateEvent::default()
    };
    // If a time or a status is wrong, another one takes its place, so that the other fields are checked too.
    if event.dates.is_none() && (was.start, was.end) != (given.start, given.end) {
        // A side that was left as it is keeps its seconds.
        let mut time = |param: &str, was: &str, given: &str, known: Timestamp| {
            let typed = (was != given).then(|| errors.take(instant(param, given, event.zone))).flatten();
            Some(Some(typed.unwrap_or(known).to_string()))
        };
        body.start_time = time("start_time", was.start, given.start, event.span.start());
        body.end_time = time("end_time", was.end, given.end, event.span.end());
    }
    // The status of a hold is changed by other forms.
    let is_hold = matches!(event.kind, Some(EventKind::Hold(_)));
    if !is_hold && was.status != given.status {
        let status = errors.take(status(given.status)).unwrap_or(wire::EventStatus::Confirmed);
        body.status = Some(Some(status));
    }
    match errors.take_all(body.parse()) {
        Some(patch) if errors.is_empty() => Ok(patch),
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

#[cfg(test)]
mod tests {
    use kalends_time::Span;
    use kalends_web::SeriesPart;

    use super::*;

    fn event(title: &str, location: &str, description: &str) -> EventDetail {
        EventDetail {
            id: "evt_x".to_owned(),
            title: title.to_owned(),
            calendar: "Work".to_owned(),
            agent: String::new(),
            span: Span::new("2027-03-01T08:00:30Z".parse().unwrap(), "2027-03-01T09:00:00Z".parse().unwrap()).unwrap(),
            dates: None,
            zone: Zone::UTC,
            kind: Some(EventKind::Confirmed),
            is_imported: false,
            description: description.to_owned(),
            location: location.to_owned(),
            call: String::new(),
            attendees: Vec::new(),
            series: SeriesPart::Once,
            version: 1,
        }
    }

    #[test]
    fn forms_show_texts_as_browsers_send_them_back() {
        let event = event(" One\r\nTwo ", "Room\n2", "One\rTwo\r\nThree\n");
        let current = Current::of(&event);
        let shown = current.given(&event);
        let texts = (shown.title, shown.location, shown.description);
        assert_eq!(texts, ("OneTwo", "Room2", "One\nTwo\nThree"));
        assert!(!is_changed(EventGiven { scope: "all", conflicts: "refuse", ..shown }, shown));
        assert!(is_changed(EventGiven { location: "", ..shown }, shown));
    }

    #[test]
    fn what_was_not_typed_over_stays_as_somebody_else_has_changed_it() {
        let before = event("Standup", "Room 2", "");
        let current = Current::of(&before);
        let was = current.given(&before);
        let given = EventGiven { title: "Retro", start: "2027-03-01T08:30", ..was };
        let after = EventDetail { location: "Room 3".to_owned(), ..before.clone() };
        let current = Current::of(&after);
        let now = current.given(&after);
        let shown = merged(given, was, now);
        assert_eq!((shown.title, shown.start, shown.location), ("Retro", "2027-03-01T08:30", "Room 3"));
        let patch = changed(&after, &given, &was).unwrap();
        assert_eq!(patch, changed(&after, &shown, &now).unwrap());
        assert!(!patch.location.is_set() && patch.title.is_set());
    }

    #[test]
    fn everything_that_is_wrong_is_listed() {
        let event = event("Standup", "Room 2", "");
        let current = Current::of(&event);
        let was = current.given(&event);
        let given = EventGiven { end: "soon", status: "x", call: "x", title: "", ..was };
        let errors = changed(&event, &given, &was).unwrap_err();
        let mut names: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["conference_url", "end_time", "status", "title"]);
    }
}
