//! The new event that a form describes, as a request of the API.

use kalends_calendars::NewEvent;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};
use kalends_web::{EventGiven, read_reminders};
use kalends_wire as wire;

use super::{
    given::{date, instant_near, status},
    people::attendees,
};

/// What a new event depends on, besides the form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// The zone of the form.
    pub zone: Zone,
    /// The zone of the calendar.
    pub calendar_zone: Zone,
    /// The current time.
    pub now: Timestamp,
    /// The longest time for which a hold can be placed.
    pub longest_hold: SignedDuration,
}

impl Around {
    /// The start and the end, as the API writes them. If one is wrong, another one takes its place, so that the other
    /// fields are checked too.
    fn times(&self, given: &EventGiven<'_>, errors: &mut FieldErrors) -> [String; 2] {
        if given.all_day {
            let first = errors.take(date("start_time", given.start)).unwrap_or(CivilDate::EPOCH);
            let last = errors.take(date("end_time", given.end)).unwrap_or(CivilDate::EPOCH);
            return [first.to_string(), last.plus_days(1).to_string()];
        }
        let mut time = |param: &str, text: &str, suggested: &str| {
            errors.take(instant_near(param, text, suggested, self.zone)).unwrap_or(Timestamp::EPOCH).to_string()
        };
        [time("start_time", given.start, given.start_at), time("end_time", given.end, given.end_at)]
    }

    /// When a hold expires that is placed now.
    fn expiry(&self, minutes: &str) -> Result<Timestamp, FieldError> {
        let most = in_minutes(self.longest_hold);
        let minutes = minutes.parse().ok().filter(|minutes: &i64| (1..=most).contains(minutes));
        let wrong = || FieldError::new("hold_minutes", format!("must be a number of minutes, 1 to {most}"));
        Ok(self.now + SignedDuration::minutes(minutes.ok_or_else(wrong)?))
    }
}

/// The whole minutes of a duration.
pub(super) const fn in_minutes(duration: SignedDuration) -> i64 {
    duration.as_seconds() / 60
}

/// The event that the form describes.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn wanted(given: &EventGiven<'_>, around: &Around) -> Result<NewEvent, FieldErrors> {
    let mut errors = FieldErrors::default();
    let [start_time, end_time] = around.times(given, &mut errors);
    let is_hold = given.status == "hold";
    let status = if is_hold { Some(wire::EventStatus::Hold) } else { errors.take(status(given.status)) };
    let expiry = is_hold.then(|| errors.take(around.expiry(given.hold_minutes)).unwrap_or(Timestamp::EPOCH));
    let rule = errors.take_all(given.repeats.rule_text()).flatten();
    let optional = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let body = wire::CreateEvent {
        title: given.title.to_owned(),
        start_time,
        end_time,
        all_day: given.all_day,
        description: optional(given.description),
        location: optional(given.location),
        conference_url: optional(given.call),
        attendees: Some(attendees(given.attendees, &[])),
        send_invitations: given.sends,
        reminders: errors.take(read_reminders(given.reminders)).flatten(),
        status,
        hold_expires_at: expiry.map(|expiry| expiry.to_string()),
        if_free: given.conflicts == "refuse",
        // An occurrence then takes place at the same time of day, whatever the clocks do.
        recurrence_timezone: (rule.is_some() && !given.all_day).then(|| around.calendar_zone.name().to_owned()),
        recurrence_rule: rule,
        ..wire::CreateEvent::default()
    };
    match errors.take_all(body.parse()) {
        Some(new) if errors.is_empty() => Ok(new),
        _ => Err(errors),
    }
}

#[cfg(test)]
mod tests {
    use kalends_calendars::Moment;
    use kalends_web::RepeatGiven;

    use super::*;

    #[test]
    fn a_new_event_is_read_as_it_was_typed() {
        let around = Around {
            zone: "Asia/Tokyo".parse().unwrap(),
            calendar_zone: "Europe/Berlin".parse().unwrap(),
            now: "2027-03-01T08:00:00Z".parse().unwrap(),
            longest_hold: SignedDuration::minutes(15),
        };
        let given = EventGiven {
            title: "Review",
            start: "2027-03-01T18:00",
            end: "2027-03-02T19:00",
            status: "confirmed",
            ..EventGiven::default()
        };
        let at = |param, text| Moment::parse(param, text).unwrap();
        let new = wanted(&given, &around).unwrap();
        assert_eq!((new.start, new.reminders), (at("start_time", "2027-03-01T09:00:00Z"), None));
        // If the clocks show the time twice, the suggested one counts, unless another time was typed.
        let berlin = Around { zone: around.calendar_zone, ..around };
        let night = EventGiven { start: "2027-10-31T02:00", start_at: "2027-10-31T01:00:00.000Z", ..given };
        let night = EventGiven { end: "2027-10-31T02:30", end_at: "2027-10-31T01:30:00Z", ..night };
        let new = wanted(&night, &berlin).unwrap();
        assert_eq!(new.start, at("start_time", "2027-10-31T01:00:00Z"));
        assert_eq!(new.end, at("end_time", "2027-10-31T01:30:00Z"));
        let new = wanted(&EventGiven { start: "2027-10-31T02:15", ..night }, &berlin).unwrap();
        assert_eq!(new.start, at("start_time", "2027-10-31T00:15:00Z"));
        let weekly = RepeatGiven { choice: "weekly", ..RepeatGiven::default() };
        let new = wanted(&EventGiven { repeats: weekly, ..given }, &around).unwrap();
        assert_eq!(new.recurrence.unwrap().zone, Some(around.calendar_zone));
        let new = wanted(&EventGiven { repeats: weekly, all_day: true, ..given }, &around).unwrap();
        assert_eq!((new.start, new.end), (at("start_time", "2027-03-01"), at("end_time", "2027-03-03")));
        assert!(new.all_day && new.recurrence.unwrap().zone.is_none());
        let hold = EventGiven { status: "hold", hold_minutes: "15", ..given };
        let new = wanted(&hold, &around).unwrap();
        assert_eq!(new.hold.unwrap().hold.expires_at, "2027-03-01T08:15:00Z".parse().unwrap());
        for hold_minutes in ["", "0", "16", "x"] {
            let errors = wanted(&EventGiven { hold_minutes, title: "", ..hold }, &around).unwrap_err();
            let names: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
            assert_eq!(names, ["hold_minutes", "title"], "{hold_minutes}");
        }
    }
}
