//! Invitations: an event as a message from its organizer to one attendee (RFC 5546).

use kalends_calendars::{Event, Reminders};
use kalends_kernel::{Email, Foreign};
use kalends_time::Zone;

use super::{
    event::{Events, OccurrenceId},
    line::Lines,
    party::{Method, Party},
    series::{write_series, write_zones},
};

/// The maximum number of characters of a description that an invitation carries.
pub const MAILED_DESCRIPTION_MAX: usize = 2_000;

/// An event as invitations show it: with texts that calendar programs do not turn into links, and without what concerns
/// only the owner. Its identifier and version are the same as in the feed. So a calendar that contains both shows one
/// event, and the later revision counts.
#[derive(Debug)]
pub struct Meeting {
    zone: Zone,
    /// The rules of the series' zone, which are the same for every attendee.
    zones: String,
    event: Event,
    series: Option<Event>,
    overrides: Vec<Event>,
}

impl Meeting {
    /// An event on a calendar in `zone`. For an occurrence, `series` is its series. For a series, `overrides` are its
    /// changed occurrences.
    pub fn new(zone: Zone, event: &Event, series: Option<&Event>, overrides: &[Event]) -> Self {
        let mut zones = Lines::default();
        let repeats = series.or_else(|| event.recurrence().map(|_| event));
        write_zones(repeats.into_iter(), &mut zones);
        let takes_place = overrides.iter().filter(|event| event.takes_place());
        Self {
            zone,
            zones: zones.take(),
            event: as_mailed(event),
            series: series.cloned(),
            overrides: takes_place.map(as_mailed).collect(),
        }
    }

    /// A one-off event as a file that anyone can add to a calendar (RFC 5545). It is no message, so it has no method, and it
    /// names nobody. The reminders are the owner's, so it has none.
    pub fn file(&self) -> String {
        let mut text = Lines::default();
        begin(None, &mut text);
        let event = Event { reminders: Some(Reminders::default()), ..self.event.clone() };
        Events { zone: self.zone, reminders: None, party: None }.one_off(&event, &mut text);
        text.put("END", "VCALENDAR");
        text.take()
    }

    /// The text of the message to one attendee: an iCalendar object with a method (RFC 5546 section 3.2). Occurrences to
    /// which the attendee is not invited are left out.
    pub fn to(&self, party: &Party<'_>) -> String {
        let mut text = Lines::default();
        begin(Some(party.method), &mut text);
        let events = Events { zone: self.zone, reminders: None, party: Some(party) };
        text.append(&self.zones);
        let id = self.series.as_ref().and_then(OccurrenceId::of);
        match id {
            Some(id) => events.changed(&self.event, id, &mut text),
            None if self.event.recurrence().is_some() => {
                let invited = |event: &&Event| invites(event, &party.attendee.email);
                let overrides: Vec<&Event> = match party.method {
                    Method::Request => self.overrides.iter().filter(invited).collect(),
                    Method::Cancel => Vec::new(),
                };
                write_series(&events, &self.event, &overrides, &mut text);
            }
            None => events.one_off(&self.event, &mut text),
        }
        text.put("END", "VCALENDAR");
        text.take()
    }
}

fn begin(method: Option<Method>, to: &mut Lines) {
    to.put("BEGIN", "VCALENDAR");
    to.put("VERSION", "2.0");
    to.put("PRODID", "-//Kalends//Kalends//EN");
    to.put("CALSCALE", "GREGORIAN");
    if let Some(method) = method {
        to.put("METHOD", method.as_str());
    }
}

fn invites(event: &Event, email: &Email) -> bool {
    event.attendees.get(email).is_some()
}

/// The event with texts that no program turns into a link.
fn as_mailed(event: &Event) -> Event {
    let lines = |text: &String| {
        let kept: String = text.chars().take(MAILED_DESCRIPTION_MAX).collect();
        let more = if kept.len() < text.len() { "…" } else { "" };
        let lines: Vec<String> = kept.lines().map(|line| Foreign::new(line).to_string()).collect();
        lines.join("\n") + more
    };
    Event {
        title: Foreign::new(&event.title).to_string(),
        description: event.description.as_ref().map(lines),
        location: event.location.as_ref().map(|location| Foreign::new(location).to_string()),
        ..event.clone()
    }
}

#[cfg(test)]
mod tests {
    use kalends_calendars::{Attendee, AttendeeRole, Attendees, Calendar, EventPatch, Moment, Patch};

    use super::{
        super::tests::{at, calendar, event, id},
        *,
    };

    fn attendee(email: &str, name: Option<&str>) -> Attendee {
        Attendee::parse("attendees[0]", email, name, AttendeeRole::Required, None).unwrap()
    }

    fn work() -> Calendar {
        calendar("Work", "Europe/Berlin")
    }

    fn once() -> Event {
        let attendees =
            vec![attendee("ada@example.com", Some("Ada \"A\" ada.example")), attendee("eve@example.com", None)];
        let attendees = Attendees::new(attendees).unwrap();
        let event = event(1, &work(), ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z"), None);
        Event { attendees, ..event }
    }

    fn weekly() -> Event {
        let repeats = Some(("FREQ=WEEKLY;COUNT=4", Some("Europe/Berlin"), &[][..]));
        Event {
            repeats: event(1, &work(), ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z"), repeats).repeats,
            ..once()
        }
    }

    /// The message to one attendee, unfolded.
    fn to(email: &str, method: Method, meeting: &Meeting) -> String {
        let link = (method == Method::Request).then_some(("Reply:", "https://example.com/rsvp/token"));
        let event = meeting.series.as_ref().unwrap_or(&meeting.event);
        let gone = attendee(email, None);
        let attendee = event.attendees.get(&gone.email).unwrap_or(&gone);
        let text = meeting.to(&Party {
            method,
            organizer: (&Foreign::new("Work \"x\"\r\nX:y"), "no-reply@example.com"),
            attendee,
            link,
            takes_place: method == Method::Request,
            written: at("2026-01-03T00:00:00Z"),
        });
        assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        text.replace("\r\n ", "").replace("\r\n", "\n")
    }

    fn alone(method: Method, event: &Event) -> String {
        to("ada@example.com", method, &Meeting::new(work().zone, event, None, &[]))
    }

    #[track_caller]
    fn assert_lines(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|found| found == *line), "{line} in {text}");
        }
    }

    #[test]
    fn foreign_texts_cannot_add_lines_or_links() {
        let event = Event {
            title: "Intro; call\r\nATTENDEE:mailto:eve@example.com".into(),
            description: Some("See evil.example\nBye".into()),
            location: Some("Room 2".into()),
            ..once()
        };
        let expected = "\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Kalends//Kalends//EN
CALSCALE:GREGORIAN
METHOD:REQUEST
BEGIN:VEVENT
UID:evt_00000000000000000000000001@kalends
DTSTAMP:20260103T000000Z
CREATED:20260102T030405Z
LAST-MODIFIED:20260102T030405Z
SEQUENCE:0
STATUS:CONFIRMED
SUMMARY:Intro\\; call  ATTENDEE\u{200b}:\u{200b}mailto\u{200b}:\u{200b}eve\u{200b}@\u{200b}example\u{200b}.\u{200b}com
DESCRIPTION:See evil\u{200b}.\u{200b}example\\nBye\\n\\nReply: https://example.com/rsvp/token
LOCATION:Room 2
DTSTART:20260302T090000Z
DTEND:20260302T093000Z
ORGANIZER;CN=\"Work x  X\u{200b}:\u{200b}y\":mailto:no-reply@example.com
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=NEEDS-ACTION;RSVP=FALSE;CN=\"Ada A ada\u{200b}.\u{200b}example\":mailto:ada@example.com
URL:https://example.com/rsvp/token
END:VEVENT
END:VCALENDAR
";
        assert_eq!(alone(Method::Request, &event), expected);
    }

    #[test]
    fn a_later_revision_has_a_higher_sequence() {
        let set = |text| Patch::Set(Moment::At(at(text)));
        let patch = EventPatch {
            start: set("2026-03-02T10:00:00Z"),
            end: set("2026-03-02T10:30:00Z"),
            ..EventPatch::default()
        };
        let moved = once().patched(patch, work().zone, at("2026-01-03T00:00:00Z")).unwrap();
        assert_lines(&alone(Method::Request, &moved), &["SEQUENCE:1", "DTSTART:20260302T100000Z"]);
        let gone = moved.deleted(at("2026-01-04T00:00:00Z")).unwrap();
        let text = alone(Method::Cancel, &gone);
        assert_lines(
            &text,
            &["METHOD:CANCEL", "SEQUENCE:2", "STATUS:CANCELLED", "UID:evt_00000000000000000000000001@kalends"],
        );
        assert!(!text.contains("URL:") && !text.contains("VALARM"));
    }

    #[test]
    fn a_series_brings_its_zone_and_the_occurrences_of_the_attendee() {
        let series = weekly();
        let (zone, now) = (work().zone, at("2026-01-03T00:00:00Z"));
        let patch = EventPatch {
            title: Patch::Set("Without Eve".into()),
            attendees: Patch::Set(Attendees::new(vec![attendee("ada@example.com", None)]).unwrap()),
            ..EventPatch::default()
        };
        let instance = series.instance(at("2026-03-09T09:00:00Z")).unwrap();
        let (series, changed) = series.with_occurrence_patched(&instance, id(2), patch, zone, now).unwrap();
        let meeting = Meeting::new(zone, &series, None, std::slice::from_ref(&changed));
        let text = to("ada@example.com", Method::Request, &meeting);
        assert_lines(
            &text,
            &[
                "TZID:Europe/Berlin",
                "DTSTART;TZID=Europe/Berlin:20260302T100000",
                "RRULE:FREQ=WEEKLY;UNTIL=20260323T090000Z",
                "RECURRENCE-ID;TZID=Europe/Berlin:20260309T100000",
                "SUMMARY:Without Eve",
            ],
        );
        assert_eq!(text.matches("UID:evt_00000000000000000000000001@kalends").count(), 2, "one UID");
        assert_eq!(text.matches("SEQUENCE:1").count(), 2);
        let text = to("eve@example.com", Method::Request, &meeting);
        assert_lines(&text, &["EXDATE;TZID=Europe/Berlin:20260309T100000"]);
        assert!(!text.contains("Without Eve") && !text.contains("ada"), "{text}");
        assert!(!to("ada@example.com", Method::Cancel, &meeting).contains("RECURRENCE-ID"));

        let occurrence = Meeting::new(zone, &changed, Some(&series), &[]);
        let text = to("ada@example.com", Method::Request, &occurrence);
        assert_lines(
            &text,
            &[
                "UID:evt_00000000000000000000000001@kalends",
                "RECURRENCE-ID;TZID=Europe/Berlin:20260309T100000",
                "SEQUENCE:1",
            ],
        );
        assert!(!text.contains("RRULE:FREQ=WEEKLY"), "{text}");
    }

    #[test]
    fn addresses_cannot_add_fields() {
        let ada = attendee("ada?cc=eve%40b.co@example.com", None);
        let event = Event { attendees: Attendees::new(vec![ada]).unwrap(), ..once() };
        let text = to("ada?cc=eve%40b.co@example.com", Method::Request, &Meeting::new(work().zone, &event, None, &[]));
        assert!(text.contains("mailto:ada%3Fcc=eve%2540b.co@example.com\n"), "{text}");
    }

    #[test]
    fn a_long_description_is_cut() {
        let event = Event { description: Some("ü".repeat(MAILED_DESCRIPTION_MAX + 1)), ..once() };
        let text = alone(Method::Cancel, &event);
        assert_lines(&text, &[&format!("DESCRIPTION:{}…", "ü".repeat(MAILED_DESCRIPTION_MAX))]);
    }
}
