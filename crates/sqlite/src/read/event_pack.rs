//! Rows of events in packs. Reading a row alone wakes two threads, which costs more than reading its content.

use std::{borrow::Cow, fmt::Display};

use kalends_kernel::StoreError;
use serde::Deserialize;
use uuid::Uuid;

use crate::rows::EventRow;

/// A row of `events` as a JSON array, with its columns in the order of [`EventRow`]. Identifiers are hexadecimal
/// digits (none for NULL), and booleans are numbers.
#[derive(Deserialize)]
struct PackedRow<'a> {
    id: &'a str,
    calendar_id: &'a str,
    #[serde(borrow)]
    content: Cow<'a, str>,
    start_at: i64,
    end_at: i64,
    all_day: u8,
    status: &'a str,
    source: &'a str,
    reminders: Option<String>,
    version: i64,
    created_at: i64,
    updated_at: i64,
    recurrence: Option<String>,
    series_id: &'a str,
    original_start: Option<i64>,
    hold_expires_at: Option<i64>,
    hold_priority: Option<i64>,
    hold_scope: Option<String>,
    hold_set_id: &'a str,
    transparent: u8,
}

/// The rows of a pack, by start, then identifier.
pub(super) fn unpacked(pack: &str) -> Result<Vec<EventRow>, StoreError> {
    let corrupt = |error: &dyn Display| StoreError::corrupt("events", "id", "in a pack of rows", error);
    let packed: Vec<PackedRow<'_>> = serde_json::from_str(pack).map_err(|error| corrupt(&error))?;
    let bytes = |digits: &str| {
        let id = Uuid::try_parse(digits).map_err(|error| corrupt(&error))?;
        Ok::<_, StoreError>(id.into_bytes().to_vec())
    };
    let some = |digits: &str| if digits.is_empty() { Ok(None) } else { bytes(digits).map(Some) };
    let rows = packed.into_iter().map(|row| {
        Ok(EventRow {
            id: bytes(row.id)?,
            calendar_id: bytes(row.calendar_id)?,
            content: row.content.into_owned(),
            start_at: row.start_at,
            end_at: row.end_at,
            all_day: row.all_day != 0,
            status: row.status.to_owned(),
            source: row.source.to_owned(),
            reminders: row.reminders,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            recurrence: row.recurrence,
            series_id: some(row.series_id)?,
            original_start: row.original_start,
            hold_expires_at: row.hold_expires_at,
            hold_priority: row.hold_priority,
            hold_scope: row.hold_scope,
            hold_set_id: some(row.hold_set_id)?,
            transparent: row.transparent != 0,
        })
    });
    let mut rows = rows.collect::<Result<Vec<_>, StoreError>>()?;
    // An aggregate does not guarantee an order.
    rows.sort_unstable_by(|one, other| (one.start_at, &one.id).cmp(&(other.start_at, &other.id)));
    Ok(rows)
}
