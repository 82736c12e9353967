//! The fields of a PATCH: absent, null or given.

use serde::{Deserialize, Deserializer};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub(crate) use parse::{nothing_to_change, set, set_or_clear};

/// A field of a PATCH as it was sent. `None` is absent, `Some(None)` is null.
pub(crate) type Given<T> = Option<Option<T>>;

/// Distinguishes a field that is null from one that is absent.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: D) -> Result<Given<T>, D::Error> {
    Option::deserialize(field).map(Some)
}
