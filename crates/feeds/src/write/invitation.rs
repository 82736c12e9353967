//! Invitations: one event as a message from its organizer to an attendee (RFC 5546).

use kalends_calendars::Event;
use kalends_kernel::Instant;

use super::{line::Lines, stamp};

/// What the organizer says of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It takes place so, now or from now on.
    Request,
    /// It does not take place.
    Cancel,
}

impl Method {
    /// The name in the text, and in the type of the part of a mail that carries it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Cancel => "CANCEL",
        }
    }
}

/// What an invitation is written of.
#[derive(Debug)]
pub struct Invitation<'a> {
    /// What is said of the event.
    pub method: Method,
    /// The event, which takes place once. Its identifier and version are those of the feed: whoever has both sees one
    /// event, and the later word counts.
    pub event: &'a Event,
    /// What the attendee sees it called.
    pub title: &'a str,
    /// The organizer's name and mail address.
    pub organizer: (&'a str, &'a str),
    /// The attendee's mail address.
    pub attendee: &'a str,
    /// Where the attendee changes it, if anywhere.
    pub link: Option<&'a str>,
    /// When it is written.
    pub written: Instant,
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
    text.text("SUMMARY", title);
    text.put(&format!("ORGANIZER;CN=\"{}\"", parameter(name)), &format!("mailto:{address}"));
    let asked = "ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE";
    text.put(asked, &format!("mailto:{attendee}"));
    if let Some(link) = link {
        text.put("URL", link);
        text.text("DESCRIPTION", &format!("To take another time: {link}"));
    }
    text.put("STATUS", if method == Method::Cancel { "CANCELLED" } else { "CONFIRMED" });
    text.put("END", "VEVENT");
    text.put("END", "VCALENDAR");
    text.take()
}

/// A text as it may stand in a quoted parameter, which knows no escapes (RFC 5545 section 3.2).
fn parameter(text: &str) -> String {
    let kept = text.chars().filter(|letter| *letter != '"');
    kept.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
