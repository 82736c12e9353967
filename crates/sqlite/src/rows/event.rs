//! A row of `events`, whose title, description and metadata are sealed together.

use std::borrow::Cow;

use kalends_app::ports::{FieldCipher, Place};
use kalends_calendars::{Event, EventSource, EventStatus, Occurrence, Recurrence, Repeating, Repeats, Times};
use kalends_kernel::{AgentId, CalendarId, EventId, Instant, Metadata, OrgId, Span, StoreError, Version};
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
}

/// What is sealed, as it is written.
#[derive(Serialize)]
struct Content<'a> {
    title: &'a str,
    description: Option<&'a str>,
    metadata: &'a Map<String, Value>,
}

/// What is sealed, as it is read.
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
    /// The event, which is in sight and thus not deleted.
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Event, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", &self.id)?);
        let row = Row { table: "events", id: &id };
        let plain = row.read("content", cipher.open(content_place(id), &self.content))?;
        let content: OpenedContent<'_> = row.read("content", serde_json::from_slice(&plain))?;
        let span = Span::new(Instant::from_micros(self.start_at), Instant::from_micros(self.end_at));
        Ok(Event {
            id,
            org,
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            title: content.title.into_owned(),
            description: content.description.map(Cow::into_owned),
            times: Times { span: row.read("end_at", span)?, all_day: self.all_day },
            status: row.named("status", EventStatus::from_name, &self.status)?,
            source: row.named("source", EventSource::from_name, &self.source)?,
            metadata: row.read("content", Metadata::from_json(content.metadata.get()))?,
            reminders: row.reminders("reminders", self.reminders.as_deref())?,
            repeats: repeats(row, self.recurrence.as_deref(), self.series_id.as_deref(), self.original_start)?,
            version: Version(self.version),
            created_at: Instant::from_micros(self.created_at),
            updated_at: Instant::from_micros(self.updated_at),
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

/// What tells when a series takes place.
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
        let span = Span::new(Instant::from_micros(self.start_at), Instant::from_micros(self.end_at));
        let times = Times { span: row.read("end_at", span)?, all_day: self.all_day };
        let recurrence = row.read("recurrence", Recurrence::from_json(self.recurrence))?;
        row.read("recurrence", Repeating::new(id, calendar, times, &recurrence))
    }
}

/// What the three columns say of the repetition.
fn repeats(
    row: Row<'_>,
    recurrence: Option<&str>,
    series: Option<&[u8]>,
    original_start: Option<i64>,
) -> Result<Repeats, StoreError> {
    match (recurrence, series, original_start) {
        (None, None, None) => Ok(Repeats::Once),
        (Some(json), None, None) => {
            row.read("recurrence", Recurrence::from_json(json)).map(|found| Repeats::Series(Box::new(found)))
        }
        (None, Some(series), Some(start)) => Ok(Repeats::Instance(Occurrence {
            series: EventId::from_uuid(row.uuid("series_id", series)?),
            start: Instant::from_micros(start),
        })),
        _ => Err(row.corrupt("series_id", "an event is a series, an occurrence of one, or neither")),
    }
}

/// What the columns hold of the repetition: recurrence, reaches, series_id and original_start.
pub(crate) fn series_columns(event: &Event) -> (Option<String>, Option<i64>, Option<Uuid>, Option<i64>) {
    let reaches = event.repeating().map(|series| series.reaches().map_or(i64::MAX, Instant::as_micros));
    let occurrence = event.occurrence();
    (
        event.recurrence().map(Recurrence::to_json),
        reaches,
        occurrence.map(|occurrence| occurrence.series.uuid()),
        occurrence.map(|occurrence| occurrence.start.as_micros()),
    )
}

/// The agent that owns the calendar of the event `id`.
pub(crate) fn read_owner(id: EventId, agent: Option<&[u8]>) -> Result<Option<AgentId>, StoreError> {
    let row = Row { table: "calendars", id: &format_args!("the calendar of {id}") };
    agent.map(|bytes| row.uuid("agent_id", bytes).map(AgentId::from_uuid)).transpose()
}
