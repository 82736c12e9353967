//! A row of `events`, whose texts and metadata are sealed together.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{
    Event, EventSource, EventStatus, Hold, HoldScope, Occurrence, Recurrence, Repeating, Repeats, Times,
    ports::LiveHold,
};
use kalends_kernel::{CalendarId, EventId, HoldSetId, OrgId, StoreError, Version};
use kalends_time::{Span, Timestamp};

use crate::{EventContent, Key, Located, places, row_id};

columns! {
    $ macro event_row;
        /// The columns of an event. `P` is the type of the priority.
    #[derive(Clone)]
    pub struct EventRow<K, P> {
        id: K,
        calendar_id: K,
        content: String,
        start_at: i64,
        end_at: i64,
        all_day: bool,
        status: String,
        source: String,
        reminders: Option<String>,
        version: i64,
        created_at: i64,
        updated_at: i64,
        recurrence: Option<String>,
        series_id: Option<K>,
        original_start: Option<i64>,
        hold_expires_at: Option<i64>,
        hold_priority: Option<P>,
        hold_scope: Option<String>,
        hold_set_id: Option<K>,
        transparent: bool,
    }
}

impl<K: Key, P: Into<i64>> EventRow<K, P> {
    /// The event, which is visible and therefore not deleted.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Event, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", &self.id)?);
        let row = Located { table: "events", id };
        let plain = row.open(places::event_content(id), &self.content, cipher)?;
        self.with_content(org, &plain)
    }

    /// The event with this content in plain form, in place of the sealed one.
    pub(crate) fn with_content(self, org: OrgId, plain: &[u8]) -> Result<Event, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", &self.id)?);
        let row = Located { table: "events", id };
        let EventContent {
            title,
            description,
            location,
            conference_url,
            attendees,
            previous_series,
            guest_reminders,
            seat_changes,
            metadata,
        } = row.read("content", EventContent::read(plain))?;
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let times = Times { span: row.read("end_at", span)?, all_day: self.all_day };
        Ok(Event {
            id,
            org,
            calendar: CalendarId::from_uuid(row.uuid("calendar_id", &self.calendar_id)?),
            title,
            description,
            location,
            conference_url,
            attendees,
            times,
            status: row.named("status", &self.status, EventStatus::from_name)?,
            source: row.named("source", &self.source, EventSource::from_name)?,
            metadata,
            reminders: row.reminders("reminders", self.reminders.as_deref())?,
            repeats: repeats(&row, times, (self.recurrence.as_deref(), self.series_id.as_ref(), self.original_start))?,
            guest_reminders,
            seat_changes,
            previous_series,
            hold: hold(&row, self.hold_expires_at, self.hold_priority.map(Into::into), self.hold_scope.as_deref())?,
            hold_set: row.uuid_if_any("hold_set_id", self.hold_set_id.as_ref())?.map(HoldSetId::from_uuid),
            transparent: self.transparent,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: None,
        })
    }
}

impl<K: Key, P: Into<i64>> EventRow<K, P> {
    /// When the series takes place; its text stays sealed.
    pub fn repeating(&self) -> Result<Repeating, StoreError> {
        RepeatingRow {
            id: &self.id,
            calendar_id: &self.calendar_id,
            start_at: self.start_at,
            end_at: self.end_at,
            all_day: self.all_day,
            recurrence: self.recurrence.as_deref().unwrap_or_default(),
        }
        .into_domain()
    }
}

/// The columns that determine when a series takes place.
#[expect(missing_docs, reason = "the fields are the columns of the same names")]
pub struct RepeatingRow<'a, K> {
    pub id: &'a K,
    pub calendar_id: &'a K,
    pub start_at: i64,
    pub end_at: i64,
    pub all_day: bool,
    pub recurrence: &'a str,
}

impl<K: Key> RepeatingRow<'_, K> {
    /// The series, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Repeating, StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", self.id)?);
        let row = Located { table: "events", id };
        let calendar = CalendarId::from_uuid(row.uuid("calendar_id", self.calendar_id)?);
        let span = Span::new(Timestamp::from_micros(self.start_at), Timestamp::from_micros(self.end_at));
        let times = Times { span: row.read("end_at", span)?, all_day: self.all_day };
        let recurrence = row.read("recurrence", Recurrence::from_json(self.recurrence))?;
        row.read("recurrence", Repeating::new(id, calendar, times, &recurrence))
    }
}

/// A hold with the columns of its calendar, or an error that names the corrupt one.
pub fn live_hold(event: Event, calendar_name: String, timezone: &str) -> Result<LiveHold, StoreError> {
    let row = Located { table: "calendars", id: event.calendar };
    Ok(LiveHold { zone: row.read("timezone", timezone.parse())?, calendar_name, event })
}

/// The repetition of an event at `times`, from its three columns.
fn repeats<K: Key>(
    row: &Located<EventId>,
    times: Times,
    columns: (Option<&str>, Option<&K>, Option<i64>),
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
    row: &Located<EventId>,
    expires_at: Option<i64>,
    priority: Option<i64>,
    scope: Option<&str>,
) -> Result<Option<Hold>, StoreError> {
    match (expires_at, priority, scope) {
        (None, None, None) => Ok(None),
        (Some(expires_at), Some(priority), Some(scope)) => Ok(Some(Hold {
            expires_at: Timestamp::from_micros(expires_at),
            priority: row.read("hold_priority", u8::try_from(priority))?,
            scope: row.named("hold_scope", scope, HoldScope::from_name)?,
        })),
        _ => Err(row.corrupt("hold_expires_at", "a hold has an expiry, a priority and a scope")),
    }
}
