//! A whole event as one text, for the journal of runs.

use kalends_calendars::{Event, Recurrence};
use kalends_kernel::{CalendarId, EventId, HoldSetId, OrgId, StoreError};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{EventContent, EventRow, Located, reminders_json};

/// The format that [`write_event_state`] writes.
const FORMAT: u8 = 1;

/// The columns of an event, with its content in plain form.
#[derive(Serialize, Deserialize)]
struct EventState {
    format: u8,
    id: EventId,
    calendar_id: CalendarId,
    content: Box<RawValue>,
    start_at: i64,
    end_at: i64,
    all_day: bool,
    status: String,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reminders: Option<String>,
    version: i64,
    created_at: i64,
    updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recurrence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series_id: Option<EventId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    original_start: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_expires_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_priority: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_scope: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold_set_id: Option<HoldSetId>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    transparent: bool,
}

/// An event as JSON text, which [`read_event_state`] reads.
pub(crate) fn write_event_state(event: &Event) -> Result<Vec<u8>, serde_json::Error> {
    let content: Box<RawValue> = serde_json::from_slice(&EventContent::write(event)?)?;
    let (occurrence, hold) = (event.occurrence(), event.hold.as_ref());
    serde_json::to_vec(&EventState {
        format: FORMAT,
        id: event.id,
        calendar_id: event.calendar,
        content,
        start_at: event.times.span.start().as_micros(),
        end_at: event.times.span.end().as_micros(),
        all_day: event.times.all_day,
        status: event.status.as_str().to_owned(),
        source: event.source.as_str().to_owned(),
        reminders: reminders_json(event.reminders.as_ref()),
        version: event.version.0,
        created_at: event.created_at.as_micros(),
        updated_at: event.updated_at.as_micros(),
        deleted_at: event.deleted_at.map(Timestamp::as_micros),
        recurrence: event.recurrence().map(Recurrence::to_json),
        series_id: occurrence.map(|occurrence| occurrence.series),
        original_start: occurrence.map(|occurrence| occurrence.start.as_micros()),
        hold_expires_at: hold.map(|hold| hold.expires_at.as_micros()),
        hold_priority: hold.map(|hold| hold.priority.into()),
        hold_scope: hold.map(|hold| hold.scope.as_str().to_owned()),
        hold_set_id: event.hold_set,
        transparent: event.transparent,
    })
}

/// The event in a text of [`write_event_state`]. `row` and `column` name the place of a corrupt text.
pub(crate) fn read_event_state<I: std::fmt::Display>(
    org: OrgId,
    plain: &[u8],
    row: &Located<I>,
    column: &'static str,
) -> Result<Event, StoreError> {
    let state: EventState = row.read(column, serde_json::from_slice(plain))?;
    if state.format != FORMAT {
        return Err(row.corrupt(column, format_args!("unknown format {}", state.format)));
    }
    let EventState {
        format: _,
        id,
        calendar_id,
        content,
        start_at,
        end_at,
        all_day,
        status,
        source,
        reminders,
        version,
        created_at,
        updated_at,
        deleted_at,
        recurrence,
        series_id,
        original_start,
        hold_expires_at,
        hold_priority,
        hold_scope,
        hold_set_id,
        transparent,
    } = state;
    let columns = EventRow::<Uuid, i64> {
        id: id.uuid(),
        calendar_id: calendar_id.uuid(),
        content: String::new(),
        start_at,
        end_at,
        all_day,
        status,
        source,
        reminders,
        version,
        created_at,
        updated_at,
        recurrence,
        series_id: series_id.map(EventId::uuid),
        original_start,
        hold_expires_at,
        hold_priority,
        hold_scope,
        hold_set_id: hold_set_id.map(HoldSetId::uuid),
        transparent,
    };
    let event = columns.with_content(org, content.get().as_bytes())?;
    Ok(Event { deleted_at: deleted_at.map(Timestamp::from_micros), ..event })
}
