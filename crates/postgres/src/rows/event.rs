//! A row of `events`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{
    Event, EventSource, EventStatus, Hold, HoldScope, Occurrence, Recurrence, Repeating, Repeats, Times,
};
use kalends_kernel::{CalendarId, EventId, HoldSetId, OrgId, Span, StoreError, Timestamp, Version};
use uuid::Uuid;

use super::Located;
use crate::sealed::{self, Content};

/// The columns of an event.
#[derive(Clone)]
pub(crate) struct EventRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) calendar_id: Uuid,
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
    pub(crate) deleted_at: Option<i64>,
    pub(crate) recurrence: Option<String>,
    pub(crate) series_id: Option<Uuid>,
    pub(crate) original_start: Option<i64>,
    pub(crate) hold_expires_at: Option<i64>,
    pub(crate) hold_priority: Option<i16>,
    pub(crate) hold_scope: Option<String>,
    pub(crate) hold_set_id: Option<Uuid>,
    pub(crate) transparent: bool,
}

/// Builds an [`EventRow`] from a record that may have more columns.
macro_rules! event_row {
    ($record:ident) => {
        $crate::rows::EventRow {
            org_id: $record.org_id,
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
            deleted_at: $record.deleted_at,
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

impl EventRow {
    pub(crate) fn into_domain(self, cipher: &dyn FieldCipher) -> Result<Event, StoreError> {
        let id = EventId::from_uuid(self.id);
        let row = Located { table: "events", id };
        let opened =
            cipher.open(sealed::event_content(id), &self.content).map_err(|error| row.corrupt("content", error))?;
        let Content { title, description, metadata } =
            Content::parse(&opened).map_err(|error| row.corrupt("content", error))?;
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at))
            .map_err(|error| row.corrupt("end_at", error))?;
        let times = Times { span, all_day: self.all_day };
        Ok(Event {
            id,
            org: OrgId::from_uuid(self.org_id),
            calendar: CalendarId::from_uuid(self.calendar_id),
            title,
            description,
            metadata,
            times,
            status: row.named("status", &self.status, EventStatus::from_name)?,
            source: row.named("source", &self.source, EventSource::from_name)?,
            reminders: row.reminders("reminders", self.reminders.as_deref())?,
            repeats: repeats(&row, times, (self.recurrence.as_deref(), self.series_id, self.original_start))?,
            hold: hold(&row, self.hold_expires_at, self.hold_priority, self.hold_scope.as_deref())?,
            hold_set: self.hold_set_id.map(HoldSetId::from_uuid),
            transparent: self.transparent,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: self.deleted_at.map(Timestamp::from_micros),
        })
    }
}

impl EventRow {
    /// When the series takes place; its text stays sealed.
    pub(crate) fn repeating(&self) -> Result<Repeating, StoreError> {
        RepeatingRow {
            id: self.id,
            calendar_id: self.calendar_id,
            start_at: self.start_at,
            end_at: self.end_at,
            all_day: self.all_day,
            recurrence: self.recurrence.as_deref().unwrap_or_default(),
        }
        .into_domain()
    }
}

/// The columns that determine when a series takes place.
pub(crate) struct RepeatingRow<'a> {
    pub(crate) id: Uuid,
    pub(crate) calendar_id: Uuid,
    pub(crate) start_at: i64,
    pub(crate) end_at: i64,
    pub(crate) all_day: bool,
    pub(crate) recurrence: &'a str,
}

impl RepeatingRow<'_> {
    pub(crate) fn into_domain(self) -> Result<Repeating, StoreError> {
        let id = EventId::from_uuid(self.id);
        let row = Located { table: "events", id };
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at))
            .map_err(|error| row.corrupt("end_at", error))?;
        let times = Times { span, all_day: self.all_day };
        let recurrence = Recurrence::from_json(self.recurrence).map_err(|error| row.corrupt("recurrence", error))?;
        Repeating::new(id, CalendarId::from_uuid(self.calendar_id), times, &recurrence)
            .map_err(|error| row.corrupt("recurrence", error))
    }
}

/// The repetition of an event at `times`, from its three columns.
fn repeats(
    row: &Located<EventId>,
    times: Times,
    columns: (Option<&str>, Option<Uuid>, Option<i64>),
) -> Result<Repeats, StoreError> {
    match columns {
        (None, None, None) => Ok(Repeats::Once),
        (Some(json), None, None) => {
            let found = Recurrence::from_json(json).map_err(|error| row.corrupt("recurrence", error))?;
            found.series(times).map_err(|error| row.corrupt("recurrence", error))?;
            Ok(Repeats::Series(Box::new(found)))
        }
        (None, Some(series), Some(start)) => Ok(Repeats::Instance(Occurrence {
            series: EventId::from_uuid(series),
            start: Timestamp::from_micros(start),
        })),
        _ => Err(row.corrupt("series_id", "an event is a series, an occurrence of one, or neither")),
    }
}

/// The hold, from its three columns.
fn hold(
    row: &Located<EventId>,
    expires_at: Option<i64>,
    priority: Option<i16>,
    scope: Option<&str>,
) -> Result<Option<Hold>, StoreError> {
    match (expires_at, priority, scope) {
        (None, None, None) => Ok(None),
        (Some(expires_at), Some(priority), Some(scope)) => Ok(Some(Hold {
            expires_at: Timestamp::from_micros(expires_at),
            priority: u8::try_from(priority).map_err(|error| row.corrupt("hold_priority", error))?,
            scope: row.named("hold_scope", scope, HoldScope::from_name)?,
        })),
        _ => Err(row.corrupt("hold_expires_at", "a hold has an expiry, a priority and a scope")),
    }
}
