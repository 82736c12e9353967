//! The plain forms of sealed fields, as far as no domain crate defines them.

use std::borrow::Cow;

use kalends_calendars::{
    Attendee, AttendeeRole, AttendeeStatus, Attendees, ConferenceUrl, Event, Reminders, ReplySecret,
};
use kalends_kernel::{AgentId, Email, EventId, Metadata, base64url, from_base64url};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

/// The texts of an event.
#[derive(Debug, PartialEq)]
pub struct EventContent {
    /// The title.
    pub title: String,
    /// The description, if there is one.
    pub description: Option<String>,
    /// The location, if there is one.
    pub location: Option<String>,
    /// The address of the call, if there is one.
    pub conference_url: Option<ConferenceUrl>,
    /// The attendees.
    pub attendees: Attendees,
    /// The series that this one continues, if there is one.
    pub previous_series: Option<EventId>,
    /// The reminders of the guest who booked it.
    pub guest_reminders: Reminders,
    /// How many of its versions differ only in who has a seat in it.
    pub seat_changes: i64,
    /// The caller's own data.
    pub metadata: Metadata,
}

#[derive(Serialize)]
struct Written<'a> {
    title: &'a str,
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conference_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attendees: Vec<AttendeeContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_series: Option<EventId>,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    guest_reminders: &'a [u16],
    #[serde(skip_serializing_if = "Option::is_none")]
    seat_changes: Option<i64>,
    metadata: &'a Map<String, Value>,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    location: Option<Cow<'a, str>>,
    #[serde(borrow)]
    conference_url: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    attendees: Vec<AttendeeContent<'a>>,
    previous_series: Option<EventId>,
    #[serde(default)]
    guest_reminders: Vec<i64>,
    #[serde(default)]
    seat_changes: i64,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

/// Only the title of the plain form.
#[derive(Deserialize)]
struct Titled {
    title: String,
}

/// An attendee. Fields with their usual value are left out.
#[derive(Serialize, Deserialize)]
struct AttendeeContent<'a> {
    #[serde(borrow)]
    email: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    role: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentId>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    status: Option<Cow<'a, str>>,
    /// In microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    responded_at: Option<i64>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    secret: Option<Cow<'a, str>>,
}

impl<'a> AttendeeContent<'a> {
    fn write(attendee: &'a Attendee) -> Self {
        let Attendee { email, name, role, agent, status, responded_at, secret } = attendee;
        Self {
            email: email.as_str().into(),
            name: name.as_deref().map(Cow::Borrowed),
            role: (*role != AttendeeRole::default()).then(|| role.as_str().into()),
            agent: *agent,
            status: (*status != AttendeeStatus::default()).then(|| status.as_str().into()),
            responded_at: responded_at.map(Timestamp::as_micros),
            secret: secret.map(|secret| base64url(&secret.0).into()),
        }
    }

    /// `None` if a value is not one that [`Self::write`] makes.
    fn read(self) -> Option<Attendee> {
        let secret = self.secret.map(|text| from_base64url(&text)?.try_into().ok());
        Some(Attendee {
            email: Email::from_stored(self.email.into_owned()),
            name: self.name.map(Cow::into_owned),
            role: self.role.map_or(Some(AttendeeRole::default()), |name| AttendeeRole::from_name(&name))?,
            agent: self.agent,
            status: self.status.map_or(Some(AttendeeStatus::default()), |name| AttendeeStatus::from_name(&name))?,
            responded_at: self.responded_at.map(Timestamp::from_micros),
            secret: match secret {
                None => None,
                Some(bytes) => Some(ReplySecret(bytes?)),
            },
        })
    }
}

impl EventContent {
    /// The plain form of an event's texts: a JSON object.
    pub fn write(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            title: &event.title,
            description: event.description.as_deref(),
            location: event.location.as_deref(),
            conference_url: event.conference_url.as_ref().map(ConferenceUrl::as_str),
            attendees: event.attendees.as_slice().iter().map(AttendeeContent::write).collect(),
            previous_series: event.previous_series,
            guest_reminders: event.guest_reminders.minutes(),
            seat_changes: Some(event.seat_changes).filter(|changes| *changes != 0),
            metadata: event.metadata.as_map(),
        })
    }

    /// Reads only the title of the plain form.
    pub fn title(plain: &[u8]) -> Result<String, serde_json::Error> {
        serde_json::from_slice(plain).map(|Titled { title }| title)
    }

    /// Reads the plain form.
    pub fn read(plain: &[u8]) -> Result<Self, serde_json::Error> {
        let Read {
            title,
            description,
            location,
            conference_url,
            attendees,
            previous_series,
            guest_reminders,
            seat_changes,
            metadata,
        } = serde_json::from_slice(plain)?;
        let attendees = attendees.into_iter().map(|attendee| attendee.read().ok_or_else(bad_attendee));
        let attendees: Result<Vec<Attendee>, serde_json::Error> = attendees.collect();
        Ok(Self {
            title: title.into_owned(),
            description: description.map(Cow::into_owned),
            location: location.map(Cow::into_owned),
            conference_url: conference_url.map(|url| ConferenceUrl::from_stored(url.into_owned())),
            attendees: Attendees::from_stored(attendees?),
            previous_series,
            guest_reminders: Reminders::parse("guest_reminders", &guest_reminders).map_err(serde::de::Error::custom)?,
            seat_changes,
            metadata: Metadata::from_json(metadata.get())?,
        })
    }
}

fn bad_attendee() -> serde_json::Error {
    serde::de::Error::custom("an attendee has an unknown role, status or secret")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_content_is_read() {
        let url = "https://meet.example.com/a";
        for (plain, title, texts, metadata) in [
            (r#"{"title":"Standup","description":null,"metadata":{}}"#, "Standup", [None; 3], "{}"),
            (
                r#"{"title":"a \"b\"","description":"\u00e9","metadata":{"n":1}}"#,
                "a \"b\"",
                [Some("é"), None, None],
                r#"{"n":1}"#,
            ),
            (
                r#"{"title":"a","description":null,"location":"Room \u00e9","metadata":{}}"#,
                "a",
                [None, Some("Room é"), None],
                "{}",
            ),
            (
                r#"{"title":"a","description":"b","location":"c","conference_url":"https://meet.example.com/a","metadata":{}}"#,
                "a",
                [Some("b"), Some("c"), Some(url)],
                "{}",
            ),
        ] {
            let [description, location, conference_url] = texts.map(|text| text.map(str::to_owned));
            let expected = EventContent {
                title: title.into(),
                description,
                location,
                conference_url: conference_url.map(ConferenceUrl::from_stored),
                attendees: Attendees::default(),
                previous_series: None,
                guest_reminders: Reminders::default(),
                seat_changes: 0,
                metadata: Metadata::from_json(metadata).unwrap(),
            };
            assert_eq!(EventContent::read(plain.as_bytes()).unwrap(), expected, "{plain}");
            assert_eq!(EventContent::title(plain.as_bytes()).unwrap(), title, "{plain}");
        }
    }

    #[test]
    fn attendees_are_read() {
        let read = |attendees: &str| {
            let plain = format!(r#"{{"title":"a","description":null,"attendees":{attendees},"metadata":{{}}}}"#);
            EventContent::read(plain.as_bytes()).map(|content| content.attendees)
        };
        let ada = Attendee {
            email: Email::from_stored("ada@example.com".into()),
            name: None,
            role: AttendeeRole::Required,
            agent: None,
            status: AttendeeStatus::NeedsAction,
            responded_at: None,
            secret: None,
        };
        let eve = Attendee {
            email: Email::from_stored("eve@example.com".into()),
            name: Some("Eve".into()),
            role: AttendeeRole::Optional,
            agent: Some(AgentId::from_bytes([1; 16])),
            status: AttendeeStatus::Declined,
            responded_at: Some(Timestamp::from_micros(7)),
            secret: Some(ReplySecret([0; 16])),
        };
        let agent = AgentId::from_bytes([1; 16]);
        let both = format!(
            r#"[{{"email":"ada@example.com"}},{{"email":"eve@example.com","name":"Eve","role":"optional","agent":"{agent}","status":"declined","responded_at":7,"secret":"AAAAAAAAAAAAAAAAAAAAAA"}}]"#
        );
        assert_eq!(read(&both).unwrap().as_slice(), [ada, eve]);
        for wrong in [r#"[{"email":"a@b.co","role":"chair"}]"#, r#"[{"email":"a@b.co","secret":"AAAA"}]"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_belongs_to_guests_is_read() {
        let plain = r#"{"title":"a","description":null,"guest_reminders":[60,10],"seat_changes":3,"metadata":{}}"#;
        let content = EventContent::read(plain.as_bytes()).unwrap();
        assert_eq!((content.guest_reminders.minutes(), content.seat_changes), (&[60, 10][..], 3));
    }

    #[test]
    fn the_previous_series_is_read() {
        let id = "evt_00000000000000000000000001";
        let plain = format!(r#"{{"title":"a","description":null,"previous_series":"{id}","metadata":{{}}}}"#);
        assert_eq!(EventContent::read(plain.as_bytes()).unwrap().previous_series, Some(id.parse().unwrap()));
    }

    #[test]
    fn other_texts_are_errors() {
        for plain in ["", "[]", r#"{"title":"a","metadata":[]}"#, r#"{"title":1,"metadata":{}}"#, r#"{"title":"a"}"#] {
            assert!(EventContent::read(plain.as_bytes()).is_err(), "{plain}");
        }
    }
}
