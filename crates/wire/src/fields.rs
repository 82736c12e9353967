//! Parses fields that several requests contain.

use kalends_calendars::NAME_MAX;
use kalends_kernel::{Code, FieldError, FieldErrors, Metadata, bounded_text, request_time};
use kalends_time::{Span, Timestamp, Zone, ZoneError};
use serde_json::Value;

/// Parses the name of an agent or a calendar.
pub(crate) fn name(text: &str) -> Result<String, FieldError> {
    bounded_text("name", text, 1, NAME_MAX)
}

/// Parses the metadata of a new resource. Absent and null mean the empty object.
pub(crate) fn metadata(value: Option<Value>) -> Result<Metadata, FieldError> {
    value.map_or_else(|| Ok(Metadata::default()), |value| Metadata::parse("metadata", value))
}

/// Parses the name of a time zone.
pub(crate) fn zone(param: &str, text: &str) -> Result<Zone, FieldError> {
    text.parse().map_err(|error: ZoneError| FieldError::new(param, error.to_string()).with_code(Code::InvalidTimezone))
}

/// Parses a timestamp of a query or body.
pub(crate) fn instant(param: &str, text: &str) -> Result<Timestamp, FieldError> {
    request_time(text).map_err(|error| FieldError::new(param, error.to_string()).with_code(Code::InvalidTimeFormat))
}

/// Parses the span from `start` to `end`. `name` returns the path of a field.
pub(crate) fn span(
    name: impl Fn(&str) -> String,
    (start, end): (&str, &str),
    errors: &mut FieldErrors,
) -> Option<Span> {
    let start = errors.take(instant(&name("start_time"), start));
    let end = errors.take(instant(&name("end_time"), end));
    let span = Span::new(start?, end?);
    errors.take(
        span.map_err(|error| FieldError::new(name("end_time"), error.to_string()).with_code(Code::EndBeforeStart)),
    )
}
