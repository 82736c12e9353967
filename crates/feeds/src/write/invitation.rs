//! Invitations: one event as a message from its organizer to an attendee (RFC 5546).

use kalends_calendars::Event;
use kalends_kernel::Foreign;
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{line::Lines, stamp};

/// The method of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// The event is new or changed.
    Request,
    /// The event is cancelled.
    Cancel,
}

impl Method {
    /// The name in the text, and in the content type of the email part with the text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Cancel => "CANCEL",
        }
    }
}

/// The content of an invitation.
#[derive(Debug)]
pub struct Invitation<'a> {
    /// The method.
    pub method: Method,
    /// The event, which takes place once. Its identifier and version are the same as in the feed. So a calendar that
    /// contains both shows one event, and the later revision counts.
    pub event: &'a Event,
    /// The title that the attendee sees.
    pub title: &'a Foreign,
    /// The organizer's name and email address.
    pub organizer: (&'a Foreign, &'a str),
    /// The attendee's email address.
    pub attendee: &'a str,
    /// The address at which the attendee can move the event, if any.
    pub link: Option<&'a str>,
    /// When the invitation is written.
    pub written: Timestamp,
}

/// The text of an invitation.
pub fn invitation(invitation: &Invitation<'_>) -> String {
    let Invitation { method, event, title, organizer: (name, address), attendee, link, written } = *invitation;
    let span = event.times.span;
    let mut text = Lines::default();
    text.put("BEGIN", "VCALENDAR");
    text.put("VERSION", "2.0");
    text.put("PRODID", "-//Kalends//Kalends//EN");
    text.put("CALSCALE", "GREGORIAN");
    text.put("METHOD", method.as_str());
    text.put("BEGIN", "VEVENT");
    text.put("UID", &format!("{}@kalends", event.id));
    text.put("DTSTAMP", &stamp::utc(written));
    text.put("SEQUENCE", &(event.version.0 - 1).clamp(0, i32::MAX.into()).to_string());
    text.put("DTSTART", &stamp::utc(span.start()));
    text.put("DTEND", &stamp::utc(stamp::rounded_up(span.end())));
    text.text("SUMMARY", title.as_str());
    text.put(&format!("ORGANIZER;CN=\"{}\"", parameter(name.as_str())), &format!("mailto:{address}"));
    let attendee_field = "ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE";
    text.put(attendee_field, &format!("mailto:{attendee}"));
    if let Some(link) = link {
        text.put("URL", link);
        text.text("DESCRIPTION", &format!("To take another time: {link}"));
    }
    text.put("STATUS", if method == Method::Cancel { "CANCELLED" } else { "CONFIRMED" });
    text.put("END", "VEVENT");
    text.put("END", "VCALENDAR");
    text.take()
}

/// A text for a quoted parameter, which has no escapes (RFC 5545 section 3.2).
fn parameter(text: &str) -> String {
    let kept = text.chars().filter(|letter| *letter != '"');
    kept.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use kalends_calendars::{EventPatch, Moment, Patch};

    use super::{
        super::tests::{at, calendar, event},
        *,
    };

    fn of(method: Method, event: &Event) -> String {
        let link = (method == Method::Request).then_some("https://example.com/book/slug/bookings/token/move");
        invitation(&Invitation {
            method,
            event,
            title: &Foreign::new("Intro; call\r\nATTENDEE:mailto:eve@example.com"),
            organizer: (&Foreign::new("Intro \"call\"\r\nX:y"), "no-reply@example.com"),
            attendee: "ada@example.com",
            link,
            written: at("2026-01-03T00:00:00Z"),
        })
    }

    fn unfolded(text: &str) -> String {
        assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        text.replace("\r\n ", "").replace("\r\n", "\n")
    }

    #[test]
    fn foreign_texts_cannot_add_lines_or_links() {
        let calendar = calendar("Work", "UTC");
        let event = event(1, &calendar, ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z"), None);
        let expected = "\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Kalends//Kalends//EN
CALSCALE:GREGORIAN
METHOD:REQUEST
BEGIN:VEVENT
UID:evt_00000000000000000000000001@kalends
DTSTAMP:20260103T000000Z
SEQUENCE:0
DTSTART:20260302T090000Z
DTEND:20260302T093000Z
SUMMARY:Intro\\; call  ATTENDEE\u{200b}:\u{200b}mailto\u{200b}:\u{200b}eve\u{200b}@\u{200b}example\u{200b}.\u{200b}com
ORGANIZER;CN=\"Intro call  X\u{200b}:\u{200b}y\":mailto:no-reply@example.com
ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE:mailto:ada@example.com
URL:https://example.com/book/slug/bookings/token/move
DESCRIPTION:To take another time: https://example.com/book/slug/bookings/token/move
STATUS:CONFIRMED
END:VEVENT
END:VCALENDAR
";
        assert_eq!(unfolded(&of(Method::Request, &event)), expected);
    }

    #[test]
    fn a_later_revision_has_a_higher_sequence() {
        let calendar = calendar("Work", "UTC");
        let first = event(1, &calendar, ("2026-03-02T09:00:00Z", "2026-03-02T09:30:00Z"), None);
        let to = |text| Patch::Set(Moment::At(at(text)));
        let patch =
            EventPatch { start: to("2026-03-02T10:00:00Z"), end: to("2026-03-02T10:30:00Z"), ..EventPatch::default() };
        let moved = first.patched(patch, calendar.zone, at("2026-01-03T00:00:00Z")).unwrap();
        let gone = moved.deleted(at("2026-01-04T00:00:00Z")).unwrap();
        let has_line = |text: String, line: &str| assert!(text.lines().any(|found| found == line), "{line} in {text}");
        has_line(of(Method::Request, &moved), "SEQUENCE:1");
        has_line(of(Method::Request, &moved), "DTSTART:20260302T100000Z");
        let text = of(Method::Cancel, &gone);
        for line in ["METHOD:CANCEL", "SEQUENCE:2", "STATUS:CANCELLED", "UID:evt_00000000000000000000000001@kalends"] {
            has_line(text.clone(), line);
        }
        assert!(!text.contains("URL:"));
    }
}
