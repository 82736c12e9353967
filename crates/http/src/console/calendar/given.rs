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
const REPEATS_ALONE: &str = "must stay as it is if only this occurrence changes; choose this and the following, or all";

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
        if matches!(event.series, SeriesPart::Occurrence { .. }) && given.scope == "this" {
            errors.push(FieldError::new("repeats", REPEATS_ALONE));
        }
        let rule = errors.take_all(given.repeats.rule_text()).flatten();
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

#[cfg(test)]
mod tests {
    use kalends_calendars::{Attendees, Moment, Patch};
    use kalends_time::Span;
    use kalends_web::AttendeeShown;

    use super::*;

    fn event(title: &str, location: &str, description: &str) -> EventDetail {
        EventDetail {
            id: "evt_x".to_owned(),
            title: title.to_owned(),
            calendar_id: "cal_x".to_owned(),
            calendar: "Work".to_owned(),
            agent: String::new(),
            span: Span::new("2027-03-01T08:00:30Z".parse().unwrap(), "2027-03-01T09:00:00Z".parse().unwrap()).unwrap(),
            dates: None,
            zone: Zone::UTC,
            calendar_zone: "Europe/Berlin".parse().unwrap(),
            kind: Some(EventKind::Confirmed),
            is_imported: false,
            description: description.to_owned(),
            location: location.to_owned(),
            call: String::new(),
            attendees: Vec::new(),
            reminders: None,
            series: SeriesPart::Once,
            version: 1,
            series_version: 1,
            cals: Vec::new(),
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

    fn names(errors: &FieldErrors) -> Vec<&str> {
        let mut names: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn everything_that_is_wrong_is_listed() {
        let event = event("Standup", "Room 2", "");
        let current = Current::of(&event);
        let was = current.given(&event);
        let given = EventGiven {
            end: "soon",
            status: "x",
            call: "x",
            title: "",
            attendees: "ada",
            reminders: "x",
            repeats: RepeatGiven { choice: "rule", ..RepeatGiven::default() },
            ..was
        };
        let errors = changed(&event, &given, &was).unwrap_err();
        let expected = "attendees[0].email conference_url end_time recurrence_rule reminders status title";
        assert_eq!(names(&errors).join(" "), expected);
    }

    #[test]
    fn an_event_that_begins_to_repeat_follows_the_clocks_of_its_calendar() {
        let once = event("Standup", "", "");
        let current = Current::of(&once);
        let was = current.given(&once);
        let daily = RepeatGiven { choice: "daily", ends: "count", count: "3", ..RepeatGiven::default() };
        let patch = changed(&once, &EventGiven { repeats: daily, ..was }, &was).unwrap();
        assert_eq!(patch.recurrence.zone, Patch::Set(Some(once.calendar_zone)));
        assert!(patch.recurrence.rule.is_set() && !patch.title.is_set());
        // A series keeps its zone.
        let series = EventDetail { series: SeriesPart::Series("FREQ=WEEKLY".to_owned(), Zone::UTC), ..once.clone() };
        let current = Current::of(&series);
        let was = current.given(&series);
        assert_eq!((was.repeats.choice, was.repeats.ends), ("weekly", "never"));
        let patch = changed(&series, &EventGiven { repeats: daily, ..was }, &was).unwrap();
        assert!(patch.recurrence.rule.is_set() && !patch.recurrence.zone.is_set());
        let never = RepeatGiven { choice: "never", ..was.repeats };
        let patch = changed(&series, &EventGiven { repeats: never, ..was }, &was).unwrap();
        assert_eq!(patch.recurrence.rule, Patch::Set(None));
        // The form of an occurrence shows the rule of its series, which changes with more than one of them.
        let part =
            SeriesPart::Occurrence { series: "evt_y".to_owned(), rule: "FREQ=WEEKLY".to_owned(), zone: Zone::UTC };
        let occurrence = EventDetail { series: part, ..once.clone() };
        let current = Current::of(&occurrence);
        let was = current.given(&occurrence);
        assert_eq!(was.repeats.choice, "weekly");
        let patch = changed(&occurrence, &EventGiven { repeats: daily, scope: "following", ..was }, &was).unwrap();
        assert!(patch.recurrence.rule.is_set() && !patch.recurrence.zone.is_set());
        let errors = changed(&occurrence, &EventGiven { repeats: daily, scope: "this", ..was }, &was).unwrap_err();
        assert_eq!(names(&errors), ["repeats"]);
        // A hold does not repeat.
        let hold = EventDetail { kind: Some(EventKind::Hold(Timestamp::EPOCH)), ..once };
        let patch = changed(&hold, &EventGiven { repeats: daily, title: "Retro", sends: true, ..was }, &was).unwrap();
        assert!(!patch.recurrence.rule.is_set() && !patch.send_invitations && patch.title.is_set());
    }

    #[test]
    fn only_attendees_and_reminders_that_were_typed_over_are_changed() {
        let ada = AttendeeShown {
            name: Some("Ada".to_owned()),
            email: "ada@example.com".to_owned(),
            is_optional: false,
            agent: None,
            reply: "accepted",
        };
        let event = EventDetail { attendees: vec![ada], reminders: Some(vec![60, 10]), ..event("Standup", "", "") };
        let current = Current::of(&event);
        let was = current.given(&event);
        assert_eq!((was.attendees, was.reminders), ("Ada <ada@example.com>", "60, 10"));
        let patch = changed(&event, &EventGiven { sends: true, ..was }, &was).unwrap();
        assert!(patch.send_invitations && !patch.attendees.is_set() && !patch.reminders.is_set());
        let given = EventGiven { attendees: "", reminders: "", ..was };
        assert!(is_changed(given, was));
        let patch = changed(&event, &given, &was).unwrap();
        assert_eq!((patch.attendees, patch.reminders), (Patch::Set(Attendees::default()), Patch::Set(None)));
    }

    #[test]
    fn whole_days_are_changed_by_their_dates() {
        let dates = Some(("2027-03-01".parse().unwrap(), "2027-03-02".parse().unwrap()));
        let event = EventDetail { dates, ..event("Fair", "", "") };
        let current = Current::of(&event);
        let was = current.given(&event);
        assert_eq!((was.start, was.end), ("2027-03-01", "2027-03-02"));
        let patch = changed(&event, &EventGiven { end: "2027-03-04", ..was }, &was).unwrap();
        let at = |param, text| Patch::Set(Moment::parse(param, text).unwrap());
        assert_eq!((patch.start, patch.end), (at("start_time", "2027-03-01"), at("end_time", "2027-03-05")));
    }
}
