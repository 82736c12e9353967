//! Rows as they stand in the tables, and how they become what the domain knows. What does not is a
//! located error: the table, the column and the row.

pub(crate) mod agent;
pub(crate) mod answer;
pub(crate) mod calendar;
pub(crate) mod code;
pub(crate) mod data_key;
pub(crate) mod event;
pub(crate) mod organization;
pub(crate) mod principal;

use std::fmt::Display;

use kalends_calendars::Reminders;
use kalends_kernel::StoreError;
use uuid::Uuid;

/// A row to which values belong.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'static str,
    pub(crate) id: &'a dyn Display,
}

impl Row<'_> {
    /// What is wrong with the value in `column`.
    pub(crate) fn corrupt(self, column: &'static str, detail: impl Display) -> StoreError {
        StoreError::corrupt(self.table, column, self.id, detail)
    }

    /// The value that `parsed` holds.
    pub(crate) fn read<T, E: Display>(self, column: &'static str, parsed: Result<T, E>) -> Result<T, StoreError> {
        parsed.map_err(|error| self.corrupt(column, error))
    }

    /// The value that a name in `column` stands for.
    pub(crate) fn named<T>(
        self,
        column: &'static str,
        from_name: fn(&str) -> Option<T>,
        name: &str,
    ) -> Result<T, StoreError> {
        from_name(name).ok_or_else(|| self.corrupt(column, format_args!("unknown name {name:?}")))
    }

    /// The identifier in `column`.
    pub(crate) fn uuid(self, column: &'static str, bytes: &[u8]) -> Result<Uuid, StoreError> {
        self.read(column, Uuid::from_slice(bytes))
    }

    /// The digest in `column`.
    pub(crate) fn digest(self, column: &'static str, bytes: &[u8]) -> Result<[u8; 32], StoreError> {
        let length = bytes.len();
        bytes.try_into().map_err(|_| self.corrupt(column, format_args!("32 bytes were expected, {length} found")))
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

/// Reminders as a JSON array.
pub(crate) fn reminders_json(reminders: Option<&Reminders>) -> Option<String> {
    reminders.map(|reminders| {
        let minutes: Vec<String> = reminders.minutes().iter().map(u16::to_string).collect();
        format!("[{}]", minutes.join(","))
    })
}
