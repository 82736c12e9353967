//! The plain forms of sealed fields, as far as no domain crate defines them.

use std::borrow::Cow;

use kalends_calendars::Event;
use kalends_kernel::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

/// The texts of an event.
#[derive(Debug, PartialEq)]
pub struct EventContent {
    /// The title.
    pub title: String,
    /// The description, if there is one.
    pub description: Option<String>,
    /// The caller's own data.
    pub metadata: Metadata,
}

#[derive(Serialize)]
struct Written<'a> {
    title: &'a str,
    description: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

#[derive(Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

impl EventContent {
    /// The plain form of an event's texts: a JSON object.
    pub fn write(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Written {
            title: &event.title,
            description: event.description.as_deref(),
            metadata: event.metadata.as_map(),
        })
    }

    /// Reads the plain form.
    pub fn read(plain: &[u8]) -> Result<Self, serde_json::Error> {
        let Read { title, description, metadata } = serde_json::from_slice(plain)?;
        Ok(Self {
            title: title.into_owned(),
            description: description.map(Cow::into_owned),
            metadata: Metadata::from_json(metadata.get())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_a_content_is_read() {
        for (plain, title, description, metadata) in [
            (r#"{"title":"Standup","description":null,"metadata":{}}"#, "Standup", None, "{}"),
            (r#"{"title":"a \"b\"","description":"\u00e9","metadata":{"n":1}}"#, "a \"b\"", Some("é"), r#"{"n":1}"#),
        ] {
            let expected = EventContent {
                title: title.into(),
                description: description.map(Into::into),
                metadata: Metadata::from_json(metadata).unwrap(),
            };
            assert_eq!(EventContent::read(plain.as_bytes()).unwrap(), expected, "{plain}");
        }
    }

    #[test]
    fn other_texts_are_errors() {
        for plain in ["", "[]", r#"{"title":"a","metadata":[]}"#, r#"{"title":1,"metadata":{}}"#, r#"{"title":"a"}"#] {
            assert!(EventContent::read(plain.as_bytes()).is_err(), "{plain}");
        }
    }
}
