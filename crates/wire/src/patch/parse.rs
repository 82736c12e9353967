//! Turns the fields of a PATCH into changes of the domain.

use kalends_calendars::Patch;
use kalends_kernel::FieldError;

use super::Given;

/// Parses a field that must not be null.
pub(crate) fn set<T, U>(
    param: &str,
    field: Given<T>,
    parse: impl FnOnce(T) -> Result<U, FieldError>,
) -> Result<Patch<U>, FieldError> {
    match field {
        None => Ok(Patch::Keep),
        Some(None) => Err(FieldError::new(param, "must not be null; leave the field out to keep its value")),
        Some(Some(value)) => parse(value).map(Patch::Set),
    }
}

/// Parses a field that null clears.
pub(crate) fn set_or_clear<T, U>(
    field: Given<T>,
    parse: impl FnOnce(T) -> Result<U, FieldError>,
) -> Result<Patch<Option<U>>, FieldError> {
    match field {
        None => Ok(Patch::Keep),
        Some(None) => Ok(Patch::Set(None)),
        Some(Some(value)) => parse(value).map(|value| Patch::Set(Some(value))),
    }
}

/// The error for a PATCH without fields.
pub(crate) fn nothing_to_change(fields: &str) -> FieldError {
    FieldError::new("body", format!("must contain at least one of {fields}"))
}
