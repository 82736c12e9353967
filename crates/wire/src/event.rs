//! Events.

use std::{borrow::Cow, collections::BTreeMap};

use kalends_kernel::{CalendarId, EventId, HoldSetId, OrgId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "schema")]
use crate::schemas::{NoticeCode, SettledStatus};
use crate::{
    Attendee, EventSource, EventStatus, ExternalSyncStatus, HoldScope, Local, NewAttendee, SeriesScope,
    derives::{IntoParams, ToSchema},
    patch::{Given, given},
};

mod batch;
#[cfg(feature = "parse")]
mod parse;
pub use batch::{CreateEventBatch, EventBatch};
#[cfg(feature = "parse")]
pub use parse::{Listing, MAPS};

/// An event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd", "calendarId": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "title": "Standup", "description": null,
    "location": "Room 2", "conferenceUrl": "https://meet.example.com/standup",
    "startTime": "2026-03-02T09:00:00Z", "endTime": "2026-03-02T09:15:00Z", "allDay": false, "status": "confirmed",
    "source": "internal", "metadata": {}, "reminders": null, "holdExpiresAt": null, "holdPriority": null,
    "recurrenceRule": "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", "recurrenceExdates": ["2026-03-04T09:00:00Z"],
    "recurrenceTimezone": "UTC", "external_sync": { "status": "not_configured" },
    "deletedAt": null, "createdAt": "2026-03-02T08:00:00Z", "updatedAt": "2026-03-02T08:00:00Z"
}))]
pub struct Event {
    /// The identifier, `evt_…`. An instance of a series has `<series>_<start as YYYYMMDDTHHMMSSZ>`.
    pub id: String,
    /// The calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The owning organization, `org_…`.
    #[schema(value_type = String)]
    pub org_id: OrgId,
    /// The title, 1-500 characters.
    pub title: String,
    /// A description, as free text.
    pub description: Option<String>,
    /// Where the event takes place, as free text. Absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub location: Option<String>,
    /// The address of the event's call, an https URL. Absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", nullable = false)]
    pub conference_url: Option<String>,
    /// Who takes part. Absent if there is nobody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub attendees: Vec<Attendee>,
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
    /// Whether the event takes whole days.
    pub all_day: bool,
    /// The status of the event.
    pub status: EventStatus,
    /// The origin of the event.
    pub source: EventSource,
    /// Your own data.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    /// Reminders, in minutes before the start. Null inherits those of the calendar; an empty list means none.
    pub reminders: Option<Vec<u16>>,
    /// When the hold expires or expired. Null if the event is not a hold. An expired hold is `cancelled`.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub hold_expires_at: Option<Timestamp>,
    /// The priority of the hold. Null if the event is not a hold.
    pub hold_priority: Option<u8>,
    /// The hold set with which the event was placed, `hst_…`. Absent on all other events. It stays when the hold is
    /// confirmed or released.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub hold_set_id: Option<HoldSetId>,
    /// True if the event does not block its time although it takes place (`TRANSP:TRANSPARENT` in iCalendar).
    /// Otherwise absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(nullable = false)]
    pub transparent: bool,
    /// The recurrence rule of a series. Null on a one-off event and on an instance.
    pub recurrence_rule: Option<String>,
    /// The starts of the cancelled occurrences of a series.
    #[schema(value_type = Vec<String>)]
    pub recurrence_exdates: Vec<Timestamp>,
    /// The zone of the wall clock that a series follows. Null on a one-off event and on an instance.
    pub recurrence_timezone: Option<String>,
    /// The series of which this one was a part, until a change of the later occurrences split it. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub previous_series_id: Option<EventId>,
    /// The series. Only on its instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub recurring_event_id: Option<EventId>,
    /// The start that the series' rule gives this instance. Only on instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub original_start_time: Option<Timestamp>,
    /// The event's copy on a connected human calendar. Only in answers to writes.
    #[serde(rename = "external_sync", skip_serializing_if = "Option::is_none")]
    pub external_sync: Option<ExternalSync>,
    /// What deserves attention although the request succeeded. Only in answers to writes, and absent if there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(nullable = false)]
    pub notices: Vec<Notice>,
    /// The time on the wall clock of the calendar's zone. Only with `local=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Local>, nullable = false)]
    pub local: Option<Box<Local>>,
    /// When the event was deleted. Null if it was not.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deleted_at: Option<Timestamp>,
    /// When the event was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the event was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The state of an event's copy on a connected human calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExternalSync {
    /// The status of the copy.
    pub status: ExternalSyncStatus,
}

/// Something that deserves attention although the request succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Notice {
    /// A stable name.
    #[schema(value_type = NoticeCode)]
    pub code: Cow<'static, str>,
    /// What it is about, and what to do.
    pub message: String,
}

/// The fields of a new event.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "title": "Standup", "start_time": "2026-03-02T10:00:00+01:00", "end_time": "2026-03-02T10:15:00+01:00",
    "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", "recurrence_timezone": "Europe/Berlin"
}))]
pub struct CreateEvent {
    /// A title, 1-500 characters.
    #[schema(min_length = 1, max_length = 500)]
    pub title: String,
    /// The start. RFC 3339 with an offset, or a plain date with `all_day`.
    pub start_time: String,
    /// The end, exclusive. RFC 3339 with an offset, or a plain date with `all_day`.
    pub end_time: String,
    /// A description of at most 20,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 20000)]
    pub description: Option<String>,
    /// Where the event takes place, as free text of at most 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500, example = "Room 2")]
    pub location: Option<String>,
    /// The address of the event's call: an https URL of at most 2,000 characters, without a user name or a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri", max_length = 2000, example = "https://meet.example.com/standup")]
    pub conference_url: Option<String>,
    /// Who takes part: at most 200. Nobody gets mail unless `send_invitations` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 200)]
    pub attendees: Option<Vec<NewAttendee>>,
    /// Whether the event takes whole days in the calendar's zone.
    #[serde(default)]
    pub all_day: bool,
    /// The status. Defaults to `confirmed`. `hold` places a hold, which requires a paid plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<EventStatus>,
    /// Makes the event a hold and sets when it expires: 30 seconds to 15 minutes from now, or up to 7 days on a plan
    /// with long holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub hold_expires_at: Option<String>,
    /// The priority of a hold. Defaults to 0. The hold pre-empts overlapping holds of a lower priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub hold_priority: Option<i64>,
    /// Which calendars a hold must fit. By default only its own; with `agent`, all calendars of the agent that owns
    /// its calendar. The hold then also pre-empts the agent's holds of a lower priority on those other calendars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<HoldScope>,
    /// The `as_of` of the availability answer on which the event is based. It is refused (409, code `stale`) if a rule
    /// changed since then, or if something changed that blocks and overlaps the time including buffers. Not for a series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_as_of: Option<String>,
    /// Whether to create the event only if nothing else blocks its time. If something does, the answer is 409
    /// `slot_taken`. For a series, this is about its occurrences within a year. A hold has rules of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_free: bool,
    /// Whether to mail each attendee an invitation with a link to reply. A request sends at most 200. Not for a hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub send_invitations: bool,
    /// Your own data: an object of at most 16,384 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Value>,
    /// Up to 5 reminders, each 1-40320 minutes before the start. If absent, the event inherits those of the calendar.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 5)]
    pub reminders: Option<Vec<i64>>,
    /// Makes the event a series. An RFC 5545 RRULE of the supported subset, without `RRULE:`. A series that does not
    /// end within 90 days of its start requires a paid plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 256, example = "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12")]
    pub recurrence_rule: Option<String>,
    /// The starts of cancelled occurrences, at most 1,000. Plain dates with `all_day`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 1000)]
    pub recurrence_exdates: Option<Vec<String>>,
    /// The IANA zone of the wall clock that the series follows, usually that of its calendar. By default,
    /// the `recurrence_default` of the calendar decides: UTC, or the calendar's zone. An all-day series follows its
    /// calendar's zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Europe/Berlin")]
    pub recurrence_timezone: Option<String>,
}

/// The fields of an event that a PATCH can change. At least one is required.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "title": "Standup (short)", "end_time": "2026-03-02T10:10:00+01:00" }))]
pub struct UpdateEvent {
    /// A new title, 1-500 characters.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 500)]
    pub title: Given<String>,
    /// A new description. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 20000)]
    pub description: Given<String>,
    /// A new location. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub location: Given<String>,
    /// A new address of the call, an https URL. Null clears it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "uri", max_length = 2000)]
    pub conference_url: Given<String>,
    /// Replaces the attendees. Those who stay keep their reply. Null or an empty list removes all.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<NewAttendee>>, max_items = 200)]
    pub attendees: Given<Vec<NewAttendee>>,
    /// A new start. RFC 3339 with an offset, or a plain date with `all_day`. Without `end_time`, the event moves and
    /// keeps its length; an all-day event keeps its number of days.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub start_time: Given<String>,
    /// A new end, exclusive. RFC 3339 with an offset, or a plain date with `all_day`. Without `start_time`, it
    /// changes the length.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub end_time: Given<String>,
    /// Whether the event takes whole days.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<bool>, nullable = false)]
    pub all_day: Given<bool>,
    /// A new status: `confirmed`, `tentative` or `cancelled`.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<SettledStatus>, nullable = false)]
    pub status: Given<EventStatus>,
    /// Replaces the metadata as a whole.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    pub metadata: Given<Value>,
    /// Up to 5 reminders. Null inherits those of the calendar.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<i64>>, max_items = 5)]
    pub reminders: Given<Vec<i64>>,
    /// A new recurrence rule. Null makes the series a one-off event. Cancelled and changed occurrences stay as they
    /// are if the new rule still contains them. Otherwise they are dropped.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 256)]
    pub recurrence_rule: Given<String>,
    /// Replaces the cancelled occurrences. Null clears them.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    pub recurrence_exdates: Given<Vec<String>>,
    /// A new zone. Null means the zone of a new series that names none: the `recurrence_default` of the calendar
    /// decides.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub recurrence_timezone: Given<String>,
    /// A new expiry of a live hold: 30 seconds to 15 minutes from now, or up to 7 days on a plan with long holds.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, format = DateTime)]
    pub hold_expires_at: Given<String>,
    /// Whether to change the event only if nothing else blocks its time. If something does, the answer is 409
    /// `slot_taken`. For a series, this is about its occurrences within a year.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_free: bool,
    /// The `as_of` of the availability answer on which the change is based. It works as in the creation of an event, for
    /// the time that the event has after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_as_of: Option<String>,
    /// Whether to mail the attendees the event as it is after the change. Those who were removed, and all if the event is
    /// cancelled, get a cancellation instead. Alone, it sends the invitations and changes nothing else. Not for a hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub send_invitations: bool,
}

/// The calendar to which an event moves.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrt", "if_free": true }))]
pub struct MoveEvent {
    /// A calendar of the same organization.
    pub calendar_id: String,
    /// Whether to move the event only if nothing else blocks its time there. If something does, the answer is 409
    /// `slot_taken`. For a series, this is about its occurrences within a year.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub if_free: bool,
}

/// Filters a list of events.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListEvents {
    /// Only events that start at or after this time. With `expand`, only events and instances that end after it.
    #[param(format = DateTime)]
    pub start_after: Option<String>,
    /// Only events that start before this time. With `expand`, at most 366 days after `start_after`.
    #[param(format = DateTime)]
    pub start_before: Option<String>,
    /// Only events with this status.
    pub status: Option<EventStatus>,
    /// Only events from this source.
    pub source: Option<EventSource>,
    /// Only events with this metadata, as `metadata.KEY=VALUE` or `metadata[KEY]=VALUE`, at most 10. The value is
    /// compared with a text, a number or a boolean at the top level.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[param(required = false, style = DeepObject, explode)]
    pub metadata: BTreeMap<String, String>,
    /// Whether to list the instances of series instead of the series themselves. The list then contains every event
    /// and instance that overlaps the time from `start_after` to `start_before`, and both parameters are required.
    #[param(default = false)]
    pub expand: Option<bool>,
    /// Whether events also show their times in their calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// The number of entries to skip.
    #[param(minimum = 0, default = 0)]
    pub offset: Option<i64>,
}

/// Selects what a change affects, and how the answer is shown.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangeEvent {
    /// With the id of an instance: the occurrences of its series to change. `following` ends the series before the
    /// occurrence and starts a new one, which is the answer. `all` changes the series.
    #[param(default = "this")]
    pub scope: Option<SeriesScope>,
    /// Whether the event also shows its times in its calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}

/// Selects the occurrences of a series to delete.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteEvent {
    /// With the id of an instance: the occurrences of its series to delete. `following` ends the series before the
    /// occurrence. `all` deletes the series.
    #[param(default = "this")]
    pub scope: Option<SeriesScope>,
    /// Cancels only the occurrence that starts at this time by the series' rule. The answer is 200 with the changed
    /// series.
    #[param(format = DateTime, example = "2026-03-04T09:00:00Z")]
    pub occurrence_start: Option<String>,
    /// Whether to mail a cancellation to the attendees.
    #[param(default = false)]
    pub send_invitations: Option<bool>,
    /// Whether the series also shows its times in its calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}
