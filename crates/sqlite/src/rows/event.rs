//! A row of `events`, whose title, description and metadata are sealed together.

use std::borrow::Cow;

use kalends_app::ports::{FieldCipher, Place};
use kalends_calendars::{
    Event, EventSource, EventStatus, Hold, HoldScope, Occurrence, Recurrence, Repeating, Repeats, Times,
};
use kalends_kernel::{AgentId, CalendarId, EventId, HoldSetId, Metadata, OrgId, Span, StoreError, Timestamp, Version};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use uuid::Uuid;

use super::{Row, row_id};

#[derive(Clone)]
pub(crate) struct EventRow {
    pub(crate) id: Vec<u8>,
    pub(crate) calendar_id: Vec<u8>,
    pub(crate) content: String,
    pub(crate) start_at: i64,
    pub(crate) end_at: i64,
    pub(crate) all_day: bool,
    pub(crate) status: String,
    pub(crate) source: String,
    pub(crate) reminders: Option<String>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) recurrence: Option<String>,
    pub(crate) series_id: Option<Vec<u8>>,
    pub(crate) original_start: Option<i64>,
    pub(crate) hold_expires_at: Option<i64>,
    pub(crate) hold_priority: Option<i64>,
    pub(crate) hold_scope: Option<String>,
    pub(crate) hold_set_id: Option<Vec<u8>>,
    pub(crate) transparent: bool,
}

/// Builds an [`EventRow`] from a record that may have more columns.
macro_rules! event_row {
    ($record:ident) => {
        $crate::rows::event::EventRow {
            id: $record.id,
            calendar_id: $record.calendar_id,
            content: $record.content,
            start_at: $record.start_at,
            end_at: $record.end_at,
            all_day: $record.all_day,
            status: $record.status,
            source: $record.source,
            reminders: $record.reminders,
            version: $record.version,
            created_at: $record.created_at,
            updated_at: $record.updated_at,
            recurrence: $record.recurrence,
            series_id: $record.series_id,
            original_start: $record.original_start,
            hold_expires_at: $record.hold_expires_at,
            hold_priority: $record.hold_priority,
            hold_scope: $record.hold_scope,
            hold_set_id: $record.hold_set_id,
            transparent: $record.transparent,
        }
    };
}
pub(crate) use event_row;

/// The sealed content, for writing.
#[derive(Serialize)]
struct Content<'a> {
    title: &'a str,
    description: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

/// The sealed content, for reading.
#[derive(Deserialize)]
struct OpenedContent<'a> {
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    metadata: &'a RawValue,
}

const fn content_place(id: EventId) -> Place {
    Place { table: "events", column: "content", id: id.uuid() }
}

/// The sealed content of an event.
pub(crate) fn seal_content(event: &Event, cipher: &dyn FieldCipher) -> Result<String, sqlx::Error> {
    let content =
        Content { title: &event.title, description: event.description.as_deref(), metadata: event.metadata.as_map() };
    let plain = serde_json::to_vec(&content).map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
    Ok(cipher.seal(content_place(event.id), &plain))
}

impl EventRow {
    /// The event, which is visible and therefore not deleted.
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Event, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", &self.id)?);
        let row = Row { table: "events", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let content: OpenedContent<'_> = row.read("content", serde_json::from_slice(&plain))?;
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let times = Times { span: row.read("end_at", span)?, all_day: self.all_day };
        Ok(Event {
            id,
            org,
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            title: content.title.into_owned(),
            description: content.description.map(Cow::into_owned),
            times,
            status: row.named("status", EventStatus::from_name, &self.status)?,
            source: row.named("source", EventSource::from_name, &self.source)?,
            metadata: row.read("content", Metadata::from_json(content.metadata.get()))?,
            reminders: row.reminders("reminders", self.reminders.as_deref())?,
            repeats: repeats(row, times, (self.recurrence.as_deref(), self.series_id.as_deref(), self.original_start))?,
            hold: hold(row, self.hold_expires_at, self.hold_priority, self.hold_scope.as_deref())?,
            hold_set: self
                .hold_set_id
                .map(|set| row.uuid("hold_set_id", &set).map(HoldSetId::from_uuid))
                .transpose()?,
            transparent: self.transparent,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: None,
        })
    }
}

impl EventRow {
    /// When the series takes place; its text stays sealed.
    pub(crate) fn repeating(&self) -> Result<Repeating, StoreError> {
        RepeatingRow {
            id: &self.id,
            calendar_id: &self.calendar_id,
            start_at: self.start_at,
            end_at: self.end_at,
            all_day: self.all_day,
            recurrence: self.recurrence.as_deref().unwrap_or_default(),
        }
        .read()
    }
}

/// The columns that determine when a series takes place.
pub(crate) struct RepeatingRow<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) calendar_id: &'a [u8],
    pub(crate) start_at: i64,
    pub(crate) end_at: i64,
    pub(crate) all_day: bool,
    pub(crate) recurrence: &'a str,
}

impl RepeatingRow<'_> {
    pub(crate) fn read(&self) -> Result<Repeating, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", self.id)?);
        let row = Row { table: "events", id: &id };
        let calendar = CalendarId::from_uuid(row.uuid("calendar_id", self.calendar_id)?);
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let times = Times { span: row.read("end_at", span)?, all_day: self.all_day };
        let recurrence = row.read("recurrence", Recurrence::from_json(self.recurrence))?;
        row.read("recurrence", Repeating::new(id, calendar, times, &recurrence))
    }
}

/// The repetition of an event at `times`, from its three columns.
fn repeats(
    row: Row<'_>,
    times: Times,
    columns: (Option<&str>, Option<&[u8]>, Option<i64>),
) -> Result<Repeats, StoreError> {
    match columns {
        (None, None, None) => Ok(Repeats::Once),
        (Some(json), None, None) => {
            let found = row.read("recurrence", Recurrence::from_json(json))?;
            row.read("recurrence", found.series(times))?;
            Ok(Repeats::Series(Box::new(found)))
        }
        (None, Some(series), Some(start)) => Ok(Repeats::Instance(Occurrence {
            series: EventId::from_uuid(row.uuid("series_id", series)?),
            start: Timestamp::from_micros(start),
        })),
        _ => Err(row.corrupt("series_id", "an event is a series, an occurrence of one, or neither")),
    }
}

/// The hold, from its three columns.
fn hold(
    row: Row<'_>,
    expires_at: Option<i64>,
    priority: Option<i64>,
    scope: Option<&str>,
) -> Result<Option<Hold>, StoreError> {
    match (expires_at, priority, scope) {
        (None, None, None) => Ok(None),
        (Some(expires_at), Some(priority), Some(scope)) => Ok(Some(Hold {
            expires_at: Timestamp::from_micros(expires_at),
            priority: row.read("hold_priority", u8::try_from(priority))?,
            scope: row.named("hold_scope", HoldScope::from_name, scope)?,
        })),
        _ => Err(row.corrupt("hold_expires_at", "a hold has an expiry, a priority and a scope")),
    }
}

/// The repetition as columns: recurrence, reaches, series_id and original_start.
pub(crate) fn series_columns(event: &Event) -> (Option<String>, Option<i64>, Option<Uuid>, Option<i64>) {
    let reaches = event.repeating().map(|series| series.reaches().map_or(i64::MAX, Timestamp::as_micros));
    let occurrence = event.occurrence();
    (
        event.recurrence().map(Recurrence::to_json),
        reaches,
        occurrence.map(|occurrence| occurrence.series.uuid()),
        occurrence.map(|occurrence| occurrence.start.as_micros()),
    )
}

/// The hold as columns: hold_expires_at, hold_priority and hold_scope.
pub(crate) fn hold_columns(event: &Event) -> (Option<i64>, Option<i64>, Option<&'static str>) {
    let hold = event.hold.as_ref();
    (
        hold.map(|hold| hold.expires_at.as_micros()),
        hold.map(|hold| hold.priority.into()),
        hold.map(|hold| hold.scope.as_str()),
    )
}

/// The agent that owns the calendar of the event `id`.
pub(crate) fn read_owner(id: EventId, agent: Option<&[u8]>) -> Result<Option<AgentId>, StoreError> {
    let row = Row { table: "calendars", id: &format_args!("the calendar of {id}") };
    agent.map(|bytes| row.uuid("agent_id", bytes).map(AgentId::from_uuid)).transpose()
}
