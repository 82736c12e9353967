//! The plain forms of sealed fields, as far as no domain crate defines them.

use std::borrow::Cow;

use kalends_calendars::{ConferenceUrl, Event};
use kalends_kernel::{EventId, Metadata};
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
    /// The series that this one continues, if there is one.
    pub previous_series: Option<EventId>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_series: Option<EventId>,
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
    previous_series: Option<EventId>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

impl EventContent {
    /// The plain form of an event's texts: a JSON object.
    pub fn write(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            title: &event.title,
            description: event.description.as_deref(),
            location: event.location.as_deref(),
            conference_url: event.conference_url.as_ref().map(ConferenceUrl::as_str),
            previous_series: event.previous_series,
            metadata: event.metadata.as_map(),
        })
    }

    /// Reads the plain form.
    pub fn read(plain: &[u8]) -> Result<Self, serde_json::Error> {
        let Read { title, description, location, conference_url, previous_series, metadata } =
            serde_json::from_slice(plain)?;
        Ok(Self {
            title: title.into_owned(),
            description: description.map(Cow::into_owned),
            location: location.map(Cow::into_owned),
            conference_url: conference_url.map(|url| ConferenceUrl::from_stored(url.into_owned())),
            previous_series,
            metadata: Metadata::from_json(metadata.get())?,
        })
    }
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
                previous_series: None,
                metadata: Metadata::from_json(metadata).unwrap(),
            };
            assert_eq!(EventContent::read(plain.as_bytes()).unwrap(), expected, "{plain}");
        }
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
