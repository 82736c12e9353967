//! Rows of the tables, and how they become domain values. A value that does not is an error that names the table, the
//! column and the row.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod booking;
pub(crate) mod calendar;
pub(crate) mod claim;
pub(crate) mod code;
pub(crate) mod connection;
pub(crate) mod connection_link;
pub(crate) mod data_key;
pub(crate) mod event;
pub(crate) mod grant;
pub(crate) mod organization;
pub(crate) mod principal;
pub(crate) mod proposal;
pub(crate) mod rules;
pub(crate) mod scoped_key;
pub(crate) mod session;
pub(crate) mod subscription;
pub(crate) mod user;
pub(crate) mod webhook;

use std::fmt::Display;

use kalends_accounts::TokenHash;
use kalends_app::ports::{FieldCipher, Place, SEALED};
use kalends_calendars::Reminders;
use kalends_kernel::{Metadata, Span, StoreError};
use uuid::Uuid;

/// The row that a value belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'static str,
    pub(crate) id: &'a dyn Display,
}

impl Row<'_> {
    /// The error for a corrupt value in `column`.
    pub(crate) fn corrupt(self, column: &'static str, detail: impl Display) -> StoreError {
        StoreError::corrupt(self.table, column, self.id, detail)
    }

    /// The parsed value, or an error that names the row.
    pub(crate) fn read<T, E: Display>(self, column: &'static str, parsed: Result<T, E>) -> Result<T, StoreError> {
        parsed.map_err(|error| self.corrupt(column, error))
    }

    /// The value whose name is in `column`.
    pub(crate) fn named<T>(
        self,
        column: &'static str,
        from_name: fn(&str) -> Option<T>,
        name: &str,
    ) -> Result<T, StoreError> {
        from_name(name).ok_or_else(|| self.corrupt(column, format_args!("unknown name {name:?}")))
    }

    /// The metadata in `stored`: sealed, or plain as earlier versions wrote it. A JSON object never starts like a
    /// seal.
    pub(crate) fn metadata(self, id: Uuid, stored: &str, cipher: &dyn FieldCipher) -> Result<Metadata, StoreError> {
        const COLUMN: &str = "metadata";
        if !stored.starts_with(SEALED) {
            return self.read(COLUMN, Metadata::from_json(stored));
        }
        let plain = self.read(COLUMN, cipher.open(Place { table: self.table, column: COLUMN, id }, stored))?;
        let text = self.read(COLUMN, std::str::from_utf8(&plain))?;
        self.read(COLUMN, Metadata::from_json(text))
    }

    /// The identifier in `column`.
    pub(crate) fn uuid(self, column: &'static str, bytes: &[u8]) -> Result<Uuid, StoreError> {
        self.read(column, Uuid::from_slice(bytes))
    }

    /// The digest in `column`.
    pub(crate) fn digest(self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
        let length = bytes.len();
        bytes.try_into().map_err(|_| self.corrupt(column, format_args!("must be 32 bytes, got {length}")))
    }

    /// The reminders in `column`.
    pub(crate) fn reminders(self, column: &'static str, json: Option<&str>) -> Result<Option<Reminders>, StoreError> {
        let Some(json) = json else { return Ok(None) };
        let minutes: Vec<i64> = self.read(column, serde_json::from_str(json))?;
        self.read(column, Reminders::parse(column, &minutes)).map(Some)
    }
}

/// The identifier of a row itself.
pub(crate) fn row_id(table: &'static str, column: &'static str, bytes: &[u8]) -> Result<Uuid, StoreError> {
    let hex = || bytes.iter().take(32).map(|byte| format!("{byte:02x}")).collect::<String>();
    Uuid::from_slice(bytes).map_err(|error| StoreError::corrupt(table, column, hex(), error))
}

/// How many hexadecimal digits a busy span takes.
pub(crate) const BUSY_DIGITS: usize = 32;

/// A busy span as stored: 32 hexadecimal digits.
pub(crate) fn busy_text(span: Span) -> String {
    format!("{:032x}", u128::from_be_bytes(span.into()))
}

/// The spans of such texts, one after the other; `None` if the texts are not spans.
pub(crate) fn busy_spans(texts: &[u8]) -> Option<Vec<Span>> {
    let (digits, rest) = texts.as_chunks::<BUSY_DIGITS>();
    if !rest.is_empty() {
        return None;
    }
    let mut spans = Vec::with_capacity(digits.len());
    for digits in digits {
        spans.push(Span::try_from(bytes(digits)?).ok()?);
    }
    Some(spans)
}

/// The bytes of 32 hexadecimal digits.
fn bytes(digits: &[u8; BUSY_DIGITS]) -> Option<[u8; 16]> {
    let (pairs, _) = digits.as_chunks::<2>();
    let mut bytes = [0; 16];
    let mut valid = true;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (HEX[usize::from(*high)], HEX[usize::from(*low)]);
        valid &= high | low < 16;
        *byte = high << 4 | (low & 15);
    }
    valid.then_some(bytes)
}

/// The value of each lower-case hexadecimal digit; 255 for every other byte.
const HEX: [u8; 256] = {
    let mut values = [255; 256];
    let mut value = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Reminders as a JSON array.
pub(crate) fn reminders_json(reminders: Option<&Reminders>) -> Option<String> {
    reminders.map(|reminders| {
        let minutes: Vec<String> = reminders.minutes().iter().map(u16::to_string).collect();
        format!("[{}]", minutes.join(","))
    })
}

/// The metadata of the agent or the calendar, sealed.
pub(crate) fn seal_metadata(table: &'static str, id: Uuid, metadata: &Metadata, cipher: &dyn FieldCipher) -> String {
    cipher.seal(Place { table, column: "metadata", id }, metadata.to_json().as_bytes())
}

/// Where a secret of an attempt at a provider is stored. Its row has a hash instead of an identifier; half of the
/// hash distinguishes rows just as well.
pub(crate) fn attempt_secret(table: &'static str, column: &'static str, key: TokenHash) -> Place {
    let mut half = [0; 16];
    half.copy_from_slice(&key.0[..16]);
    Place { table, column, id: Uuid::from_bytes(half) }
}

/// The secret of an attempt in `stored`: sealed, or plain as earlier versions wrote it. `None` if it cannot be
/// opened: its key may have been replaced and removed since. The user then starts a new attempt.
pub(crate) fn open_attempt_secret(place: Place, stored: String, cipher: &dyn FieldCipher) -> Option<String> {
    if !stored.starts_with(SEALED) {
        return Some(stored);
    }
    String::from_utf8(cipher.open(place, &stored).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Timestamp;

    use super::*;

    fn span(start: i64, end: i64) -> Span {
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap()
    }

    #[test]
    fn busy_spans_are_read_as_written() {
        let spans = [span(0, 1), span(1_772_323_200_000_001, 4_102_444_800_000_000), span(i64::MIN, i64::MAX)];
        let texts: String = spans.iter().map(|span| busy_text(*span)).collect();
        assert_eq!(busy_spans(texts.as_bytes()), Some(spans.to_vec()));
        assert_eq!(busy_spans(b""), Some(Vec::new()));
        let one = busy_text(span(3, 5));
        for broken in [&one[1..], &one.replace('3', "g"), &one.to_uppercase().replace('0', "é"), &"0".repeat(32)] {
            assert_eq!(busy_spans(broken.as_bytes()), None, "{broken}");
        }
    }
}
