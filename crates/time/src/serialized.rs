//! The values in serde's formats.

use std::{fmt, str};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::{CivilDate, Timestamp, Zone, rfc3339::WRITTEN_MAX};

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::with_capacity(WRITTEN_MAX);
        self.write_iso(&mut text);
        serializer.serialize_str(str::from_utf8(&text).map_err(ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(str::parse))
    }
}

/// A date is `YYYY-MM-DD`.
impl Serialize for CivilDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CivilDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(str::parse))
    }
}

/// A zone is its IANA name.
impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text(str::parse))
    }
}

/// Reads a value from text, without a copy of the text.
struct Text<T, E>(fn(&str) -> Result<T, E>);

impl<T, E: fmt::Display> de::Visitor<'_> for Text<T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<F: de::Error>(self, text: &str) -> Result<T, F> {
        (self.0)(text).map_err(F::custom)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::Value;

    use super::*;

    #[rstest]
    #[case::a_timestamp("2028-02-29T23:59:59.5Z", true)]
    #[case::the_end_of_the_last_day("2100-01-01T12:00:00Z", true)]
    #[case::the_start_of_the_first_day("1969-12-31T10:00:00Z", true)]
    #[case::a_date("2028-02-29", false)]
    fn a_timestamp_is_its_text(#[case] text: &str, #[case] is_timestamp: bool) {
        let json = Value::from(text);
        let read = serde_json::from_value::<Timestamp>(json.clone());
        assert_eq!(read.ok().map(|read| serde_json::to_value(read).unwrap()), is_timestamp.then_some(json));
    }

    #[test]
    fn dates_and_zones_are_their_texts() {
        let date: CivilDate = serde_json::from_value("2028-02-29".into()).unwrap();
        assert_eq!(serde_json::to_value(date).unwrap(), "2028-02-29");
        let zone: Zone = serde_json::from_value("Europe/Berlin".into()).unwrap();
        assert_eq!(serde_json::to_value(zone).unwrap(), "Europe/Berlin");
        assert!(serde_json::from_value::<Zone>("Mars/Olympus".into()).is_err());
    }
}
