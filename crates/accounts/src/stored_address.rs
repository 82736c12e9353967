//! An address in JSON that is stored, for `#[serde(with = "…")]`.

use kalends_kernel::Email;
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes the address as a string.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(address: &Email, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(address.as_str())
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// If it is no string.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Email, D::Error> {
    String::deserialize(from).map(Email::from_stored)
}
