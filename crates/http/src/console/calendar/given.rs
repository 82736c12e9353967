//! What is typed into the forms about events, as requests of the API.

use kalends_calendars::EventPatch;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{CivilDate, Timestamp, Zone};
use kalends_web::{
    EventDetail, EventGiven, EventKind, Repeat, RepeatGiven, SeriesPart, clock_text, read_clock, read_reminders,
    reminders_text,
};
use kalends_wire as wire;

use super::people::{attendees, lines_of};
use crate::pages::{Fields, WAS, line, lines};

/// What is wrong with another repetition of one occurrence.
const REPEATS_ALONE: &str = "must stay as it is with \"Only this one\"; choose \"This and the following\" or \"All\"";
/// What is wrong with the end of the repetition of a whole series in the form of a later occurrence.
const ENDS_AT_FIRST: &str = "cannot be \"It does not repeat\" with \"All\" here, because only the first occurrence would \
                             remain; choose \"This and the following\", or open the first one";

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
        start_at: given("start_at"),
        end_at: given("end_at"),
        all_day: given("all_day") == "true",
        status: given("status"),
        hold_minutes: given("hold_minutes"),
        location: given("location"),
        call: given("conference_url"),
        description: given("description"),
        attendees: given("attendees"),
        sends: given("send_invitations") == "true",
        reminders: given("reminders"),
        repeats: RepeatGiven {
            choice: given("repeats"),
            rule: given("recurrence_rule"),
            ends: given("ends"),
            count: given("count"),
            until: given("until"),
        },
        conflicts: given("if_free"),
        scope: given("scope"),
    }
}

/// A time that was typed, on the clock of the zone. As with the plain dates of the API, a time that the clocks skip
/// moves forward by what they skip, and of a time that they show twice, the first counts.
pub(crate) fn instant(param: &str, text: &str, zone: Zone) -> Result<Timestamp, FieldError> {
    let civil = read_clock(text)
        .ok_or_else(|| FieldError::new(param, "must be a date and a time of day, such as 2026-03-02T09:30"))?;
    zone.to_timestamp(civil).ok_or_else(|| FieldError::new(param, "must be from 1970 to 2099"))
}

/// [`instant`], for a time that the form suggested: it counts if a clock still shows the text then.
pub(super) fn instant_near(param: &str, text: &str, suggested: &str, zone: Zone) -> Result<Timestamp, FieldError> {
    let shown = suggested.parse::<Timestamp>().ok().filter(|at| clock_text(*at, zone) == text);
    shown.map_or_else(|| instant(param, text, zone), Ok)
}

pub(super) fn status(name: &str) -> Result<wire::EventStatus, FieldError> {
    match name {
        "confirmed" => Ok(wire::EventStatus::Confirmed),
        "tentative" => Ok(wire::EventStatus::Tentative),
        _ => Err(FieldError::new("status", "must be one of the choices; choose it again")),
    }
}

/// A date that was typed. A time stands for its date.
pub(super) fn date(param: &str, text: &str) -> Result<CivilDate, FieldError> {
    let date = text.split('T').next().unwrap_or_default();
    date.parse().map_err(|_| FieldError::new(param, "must be a date, such as 2026-03-02"))
}

/// What the form of an event shows, as browsers send it back.
pub(super) struct Current {
    title: String,
    start: String,
    end: String,
    location: String,
    description: String,
    attendees: String,
    reminders: String,
    repeats: Repeat,
}

impl Current {
    pub(super) fn of(event: &EventDetail) -> Self {
        let clock = |at| clock_text(at, event.zone);
        let (start, end) = match event.dates {
            Some((first, last)) => (first.to_string(), last.to_string()),
            None => (clock(event.span.start()), clock(event.span.end())),
        };
        let repeats = match &event.series {
            SeriesPart::Series(rule, zone) | SeriesPart::Occurrence { rule, zone, .. } => Repeat::of(Some(rule), *zone),
            SeriesPart::Once => Repeat::of(None, event.calendar_zone),
        };
        Self {
            title: line(&event.title),
            start,
            end,
            location: line(&event.location),
            description: lines(&event.description),
            attendees: lines(&lines_of(&event.attendees)),
            reminders: reminders_text(event.reminders.as_deref()),
            repeats,
        }
    }

    /// The fields of the form.
    pub(super) fn given<'a>(&'a self, event: &'a EventDetail) -> EventGiven<'a> {
        EventGiven {
            calendar: "",
            title: &self.title,
            start: &self.start,
            end: &self.end,
            start_at: "",
            end_at: "",
            all_day: false,
            hold_minutes: "",
            status: if event.kind == Some(EventKind::Tentative) { "tentative" } else { "confirmed" },
            location: &self.location,
            call: &event.call,
            description: &self.description,
            attendees: &self.attendees,
            sends: false,
            reminders: &self.reminders,
            repeats: self.repeats.given(),
            conflicts: "allow",
            scope: "",
        }
    }
}

/// Whether a field of the event was typed over, or its attendees are to get an email.
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
        attendees: newer(given.attendees, was.attendees, now.attendees),
        reminders: newer(given.reminders, was.reminders, now.reminders),
        repeats: if given.repeats == was.repeats { now.repeats } else { given.repeats },
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
        attendees: (was.attendees != given.attendees).then(|| Some(attendees(given.attendees, &event.attendees))),
        if_free: given.conflicts == "refuse",
        ..wire::UpdateEvent::default()
    };
    // If a time, a status, a rule or a reminder is wrong, another one takes its place, so that the other fields are
    // checked too.
    match event.dates {
        _ if (was.start, was.end) == (given.start, given.end) => {}
        Some((first, last)) => {
            let first = errors.take(date("start_time", given.start)).unwrap_or(first);
            let last = errors.take(date("end_time", given.end)).unwrap_or(last);
            body.start_time = Some(Some(first.to_string()));
            body.end_time = Some(Some(last.plus_days(1).to_string()));
        }
        None => {
            // A side that was left as it is keeps its seconds.
            let mut time = |param: &str, was: &str, given: &str, known: Timestamp| {
                let typed = (was != given).then(|| errors.take(instant(param, given, event.zone))).flatten();
                Some(Some(typed.unwrap_or(known).to_string()))
            };
            body.start_time = time("start_time", was.start, given.start, event.span.start());
            body.end_time = time("end_time", was.end, given.end, event.span.end());
        }
    }
    // The status of a hold is changed by other forms, and it sends no invitations.
    let is_hold = matches!(event.kind, Some(EventKind::Hold(_)));
    body.send_invitations = given.sends && !is_hold;
    if !is_hold && was.status != given.status {
        let status = errors.take(status(given.status)).unwrap_or(wire::EventStatus::Confirmed);
        body.status = Some(Some(status));
    }
    if was.reminders != given.reminders {
        body.reminders = Some(errors.take(read_reminders(given.reminders)).flatten());
    }
    if event.may_repeat() && was.repeats != given.repeats {
        let rule = typed_rule(event, given, was);
        if let SeriesPart::Occurrence { is_first, .. } = &event.series {
            match given.scope {
                "this" => errors.push(FieldError::new("repeats", REPEATS_ALONE)),
                "all" if !is_first && rule == Ok(None) => errors.push(FieldError::new("repeats", ENDS_AT_FIRST)),
                _ => {}
            }
        }
        let rule = errors.take_all(rule).flatten();
        // A series keeps its zone. One of whole days has that of its calendar.
        if rule.is_some() && event.series == SeriesPart::Once && event.dates.is_none() {
            body.recurrence_timezone = Some(Some(event.calendar_zone.name().to_owned()));
        }
        body.recurrence_rule = Some(rule);
    }
    match errors.take_all(body.parse()) {
        Some(patch) if errors.is_empty() => Ok(patch),
        _ => Err(errors),
    }
}

/// The rule that was typed. If this and the following occurrences get another one, but the number of times was left as
/// it is, the series takes place as often as before.
fn typed_rule(
    event: &EventDetail,
    given: &EventGiven<'_>,
    was: &EventGiven<'_>,
) -> Result<Option<String>, FieldErrors> {
    let ends_by_count = [given, was].iter().all(|fields| fields.repeats.ends == "count");
    let is_left = ends_by_count && given.repeats.count == was.repeats.count;
    match &event.series {
        SeriesPart::Occurrence { rest, zone, .. } if is_left && given.scope == "following" => {
            let rest = Repeat::of(Some(rest), *zone);
            RepeatGiven { count: rest.given().count, ..given.repeats }.rule_text()
        }
        _ => given.repeats.rule_text(),
    }
}

#[cfg(test)]
mod tests;
