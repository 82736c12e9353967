//! The people of an invitation (RFC 5546): its organizer and one attendee.

use kalends_calendars::{Attendee, AttendeeRole, AttendeeStatus, Event};
use kalends_kernel::{Email, Foreign};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use super::line::Lines;

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

/// The people of one message, and what the message says about the event.
#[derive(Debug)]
pub struct Party<'a> {
    /// The method.
    pub method: Method,
    /// The organizer's name and email address.
    pub organizer: (&'a Foreign, &'a str),
    /// The attendee. No message names another one.
    pub attendee: &'a Attendee,
    /// What the attendee can do, such as `Reply:`, and the address at which that is possible.
    pub link: Option<(&'a str, &'a str)>,
    /// Whether the event takes place, with or without the attendee.
    pub takes_place: bool,
    /// When the message is written.
    pub written: Timestamp,
}

impl Party<'_> {
    /// The link with its explanation, as a part of the description.
    pub(super) fn linked(&self) -> Option<String> {
        self.link.map(|(explanation, address)| format!("{explanation} {address}"))
    }

    /// Writes the properties of the people.
    pub(super) fn write(&self, event: &Event, to: &mut Lines) {
        let (name, address) = self.organizer;
        to.put(&format!("ORGANIZER;CN=\"{}\"", parameter(name)), &format!("mailto:{address}"));
        // What the attendee replied for this event, which may be one occurrence.
        let Attendee { email, name, role, status, .. } =
            event.attendees.get(&self.attendee.email).unwrap_or(self.attendee);
        let role = match role {
            AttendeeRole::Required => "REQ-PARTICIPANT",
            AttendeeRole::Optional => "OPT-PARTICIPANT",
        };
        let status = match status {
            AttendeeStatus::NeedsAction => "NEEDS-ACTION",
            AttendeeStatus::Accepted => "ACCEPTED",
            AttendeeStatus::Tentative => "TENTATIVE",
            AttendeeStatus::Declined => "DECLINED",
        };
        // RSVP=FALSE: replies by email would reach nobody. The link takes them.
        let mut field = format!("ATTENDEE;CUTYPE=INDIVIDUAL;ROLE={role};PARTSTAT={status};RSVP=FALSE");
        if let Some(name) = name {
            field.push_str(&format!(";CN=\"{}\"", parameter(&Foreign::new(name))));
        }
        to.put(&field, &format!("mailto:{}", encoded(email)));
        if let Some((_, link)) = self.link {
            to.put("URL", link);
        }
    }
}

/// The address in a `mailto:` URI (RFC 6068, section 2).
fn encoded(email: &Email) -> String {
    let mut encoded = String::new();
    for letter in email.as_str().chars() {
        match letter {
            '%' | '?' | '&' | '#' | '/' | '^' | '`' | '{' | '|' | '}' => {
                encoded.push_str(&format!("%{:02X}", u32::from(letter)));
            }
            letter => encoded.push(letter),
        }
    }
    encoded
}

/// A text for a quoted parameter, which has no escapes (RFC 5545 section 3.2).
fn parameter(text: &Foreign) -> String {
    let kept = text.as_str().chars().filter(|letter| *letter != '"');
    kept.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
