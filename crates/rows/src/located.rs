//! Errors that name the table, the column and the row of a corrupt value.

use std::fmt::Display;

use kalends_app::ports::{FieldCipher, Place, SEALED};
use kalends_calendars::Reminders;
use kalends_kernel::{Metadata, StoreError};
use kalends_quotas::Period;
use uuid::Uuid;

use crate::Key;

/// The table and the row of a value.
#[derive(Debug, Clone, Copy)]
pub struct Located<I> {
    /// The table.
    pub table: &'static str,
    /// What identifies the row in an error.
    pub id: I,
}

impl<I: Display> Located<I> {
    /// The error for a corrupt value in `column`.
    pub fn corrupt(&self, column: &'static str, detail: impl Display) -> StoreError {
        StoreError::corrupt(self.table, column, &self.id, detail)
    }

    /// The parsed value, or an error that names the row.
    pub fn read<T, E: Display>(&self, column: &'static str, parsed: Result<T, E>) -> Result<T, StoreError> {
        parsed.map_err(|error| self.corrupt(column, error))
    }

    /// The value whose name is in `column`.
    pub fn named<T>(
        &self,
        column: &'static str,
        name: &str,
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        from_name(name).ok_or_else(|| self.corrupt(column, format_args!("unknown name {name:?}")))
    }

    /// The identifier in `column`.
    pub fn uuid<K: Key + ?Sized>(&self, column: &'static str, key: &K) -> Result<Uuid, StoreError> {
        self.read(column, key.read())
    }

    /// The identifier in `column`, if there is one.
    pub fn uuid_if_any<K: Key>(&self, column: &'static str, key: Option<&K>) -> Result<Option<Uuid>, StoreError> {
        key.map(|key| self.uuid(column, key)).transpose()
    }

    /// The month in `column`, a [`Period::number`].
    pub fn month(&self, column: &'static str, number: i64) -> Result<Period, StoreError> {
        Period::from_number(number).ok_or_else(|| self.corrupt(column, format_args!("{number} is not a month")))
    }

    /// The digest in `column`.
    pub fn digest(&self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
        let length = bytes.len();
        bytes.try_into().map_err(|_| self.corrupt(column, format_args!("must be 32 bytes, got {length}")))
    }

    /// The reminders in `column`, a JSON array of minutes.
    pub fn reminders(&self, column: &'static str, json: Option<&str>) -> Result<Option<Reminders>, StoreError> {
        let Some(json) = json else { return Ok(None) };
        let minutes: Vec<i64> = self.read(column, serde_json::from_str(json))?;
        self.read(column, Reminders::parse(column, &minutes)).map(Some)
    }

    /// The plain form of the value that is sealed at `place`.
    pub fn open(&self, place: Place, sealed: &str, cipher: &dyn FieldCipher) -> Result<Vec<u8>, StoreError> {
        self.read(place.column, cipher.open(place, sealed))
    }

    /// The text that is sealed at `place`. The error does not repeat the bytes that failed to decode.
    pub fn open_text(&self, place: Place, sealed: &str, cipher: &dyn FieldCipher) -> Result<String, StoreError> {
        let plain = self.open(place, sealed, cipher)?;
        self.read(place.column, String::from_utf8(plain).map_err(|error| error.utf8_error()))
    }

    /// The text in `stored`: sealed at `place`, or plain as earlier versions wrote it.
    pub fn open_or_plain(&self, place: Place, stored: &str, cipher: &dyn FieldCipher) -> Result<String, StoreError> {
        if stored.starts_with(SEALED) { self.open_text(place, stored, cipher) } else { Ok(stored.to_owned()) }
    }

    /// The metadata in `stored`: sealed at `place`, or plain as earlier versions wrote it. A JSON object never starts
    /// like a seal.
    pub fn metadata(&self, place: Place, stored: &str, cipher: &dyn FieldCipher) -> Result<Metadata, StoreError> {
        let text = self.open_or_plain(place, stored, cipher)?;
        self.read(place.column, Metadata::from_json(&text))
    }
}

/// The identifier of a row itself.
pub fn row_id<K: Key + ?Sized>(table: &'static str, column: &'static str, key: &K) -> Result<Uuid, StoreError> {
    key.read().map_err(|error| StoreError::corrupt(table, column, key.shown(), error))
}

/// The secret of an attempt in `stored`: sealed, or plain as earlier versions wrote it. `None` if it cannot be
/// opened: its key may have been replaced and removed since. The user then starts a new attempt.
pub fn open_attempt_secret(place: Place, stored: String, cipher: &dyn FieldCipher) -> Option<String> {
    if !stored.starts_with(SEALED) {
        return Some(stored);
    }
    String::from_utf8(cipher.open(place, &stored).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table, column and row that the error names.
    fn place<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> (&'static str, &'static str, String) {
        match outcome {
            Err(StoreError::Corrupt(row)) => (row.table, row.column, row.id),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn errors_name_the_place() {
        let row = Located { table: "agents", id: 7 };
        assert_eq!(place(row.named("status", "gone", |_| None::<()>)), ("agents", "status", "7".into()));
        assert_eq!(place(row.digest("hash", &[0; 31])), ("agents", "hash", "7".into()));
        assert_eq!(place(row.uuid("org_id", &vec![1, 2])), ("agents", "org_id", "7".into()));
        assert_eq!(place(row.reminders("reminders", Some("[0]"))), ("agents", "reminders", "7".into()));
        assert_eq!(place(row.reminders("reminders", Some("none"))), ("agents", "reminders", "7".into()));
        assert_eq!(place(row.month("period", 202_613)), ("agents", "period", "7".into()));
        assert_eq!(place(row_id("agents", "id", &vec![0xab, 0xcd])), ("agents", "id", "abcd".into()));
    }

    #[test]
    fn sound_values_are_read() {
        let row = Located { table: "agents", id: 7 };
        assert_eq!(row.digest("hash", &[3; 32]).unwrap(), [3; 32]);
        assert_eq!(row.uuid_if_any::<Uuid>("agent_id", None).unwrap(), None);
        assert_eq!(row.uuid_if_any("agent_id", Some(&Uuid::nil())).unwrap(), Some(Uuid::nil()));
        assert_eq!(row.month("period", 202_612).unwrap().to_string(), "2026-12");
        assert_eq!(row.reminders("reminders", None).unwrap(), None);
        assert_eq!(row.reminders("reminders", Some("[30,5]")).unwrap().unwrap().minutes().len(), 2);
    }
}
