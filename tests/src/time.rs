//! Times as the service writes them.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// The instant that `text` names.
pub fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// An instant as the service writes whole seconds.
pub fn iso(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// `text` moved by `minutes`, on a whole second.
pub fn shifted(text: &str, minutes: i64) -> String {
    iso(at(text) + TimeDelta::minutes(minutes))
}
