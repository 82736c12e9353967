//! Timestamps as the service writes them.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// The timestamp that `text` names.
pub fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap_or_else(|error| panic!("{text}: {error}")).to_utc()
}

/// A timestamp as the service writes whole seconds.
pub fn iso(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// `text` moved by `minutes`, in whole seconds.
pub fn shifted(text: &str, minutes: i64) -> String {
    iso(at(text) + TimeDelta::minutes(minutes))
}
