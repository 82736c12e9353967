//! Passes many rows as one parameter: a JSON array of arrays that the statement splits with `jsonb_each`, so that
//! each row is parsed once.
//!
//! The driver hands each statement to a thread and back, so a statement for many rows costs little more than one for
//! a single row. Its text is the same for any number of rows.

use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

/// An identifier as 32 hexadecimal digits, since JSON cannot hold bytes; `unhex` restores it.
#[derive(Clone, Copy)]
pub(crate) struct Hex(pub(crate) Uuid);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.simple().encode_lower(&mut Uuid::encode_buffer()))
    }
}

/// A digest as 64 hexadecimal digits.
#[derive(Clone, Copy)]
pub(crate) struct HexDigest<'a>(pub(crate) &'a [u8; 32]);

impl Serialize for HexDigest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        serializer.serialize_str(&digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect::<String>())
    }
}

/// The rows as the text of a JSON array.
pub(crate) fn rows<T: Serialize>(rows: &[T]) -> Result<String, sqlx::Error> {
    serde_json::to_string(rows).map_err(|error| sqlx::Error::Encode(Box::new(error)))
}

/// The rows of a pack: a JSON array of arrays with the columns, which a statement returns as one row. Reading a row alone
/// wakes two threads, which costs more than reading its content.
pub(crate) fn packed<'a, T: Deserialize<'a>>(pack: &'a str) -> Result<Vec<T>, sqlx::Error> {
    serde_json::from_str(pack).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
