//! Events.

use kalends_calendars::{
    self as domain, DESCRIPTION_MAX, EXPANDED_MAX, Moment, Reminders, TITLE_MAX, cannot_recur,
    ports::{EventFilter, InstanceFilter, StatusAt},
};
use kalends_kernel::{
    CalendarId, EventId, FieldError, FieldErrors, HoldSetId, Metadata, OrgId, Page, Span, Timestamp, Zone,
    bounded_text, optional_text,
};
use kalends_recurrence::{Rule, RuleError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use crate::{
    EventSource, EventStatus, ExternalSyncStatus, HoldScope, Local,
    agent::metadata,
    calendar::zone,
    holds::hold,
    patch::{Given, given, nothing_to_change, set, set_or_clear},
    schemas::{BatchedEvent, SettledStatus},
};

/// The maximum number of events in a batch.
const BATCH_MAX: usize = 100;

/// An event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd", "calendarId": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "title": "Standup", "description": null,
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

impl From<domain::Event> for Event {
    fn from(event: domain::Event) -> Self {
        let occurrence = event.occurrence();
        let (rule, exdates, zone) = match event.recurrence() {
            None => (None, Vec::new(), None),
            Some(series) => {
                let zone = series.zone().name().to_owned();
                (Some(series.rule().to_string()), series.exdates().to_vec(), Some(zone))
            }
        };
        Self {
            id: occurrence.map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string()),
            calendar_id: event.calendar,
            org_id: event.org,
            title: event.title,
            description: event.description,
            start_time: event.times.span.start(),
            end_time: event.times.span.end(),
            all_day: event.times.all_day,
            status: event.status.into(),
            source: event.source.into(),
            metadata: event.metadata.into_map(),
            reminders: event.reminders.map(|reminders| reminders.minutes().to_vec()),
            hold_expires_at: event.hold.map(|hold| hold.expires_at),
            hold_priority: event.hold.map(|hold| hold.priority),
            hold_set_id: event.hold_set,
            transparent: event.transparent,
            recurrence_rule: rule,
            recurrence_exdates: exdates,
            recurrence_timezone: zone,
            recurring_event_id: occurrence.map(|occurrence| occurrence.series),
            original_start_time: occurrence.map(|occurrence| occurrence.start),
            external_sync: None,
            local: None,
            deleted_at: event.deleted_at,
            created_at: event.created_at,
            updated_at: event.updated_at,
        }
    }
}

impl Event {
    /// Returns the event with the state of its copy.
    #[must_use]
    pub fn with_external_sync(mut self, status: domain::ExternalSync) -> Self {
        self.external_sync = Some(ExternalSync { status: status.into() });
        self
    }

    /// Returns the event with its times in `zone`, which is its calendar's.
    #[must_use]
    pub fn with_local(mut self, zone: Zone) -> Self {
        self.local = Span::new(self.start_time, self.end_time).ok().map(|span| Box::new(Local::of(span, zone)));
        self
    }
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
    /// Whether the event takes whole days in the calendar's zone.
    #[serde(default)]
    pub all_day: bool,
    /// The status. Defaults to `confirmed`. `hold` places a hold, which requires a paid plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<EventStatus>,
    /// Makes the event a hold and sets when it expires, 30 seconds to 15 minutes from now.
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
    /// The `as_of` of the availability answer on which a hold is based. The hold is refused (409, code `stale`) if a
    /// rule changed since, or anything that blocks and overlaps the time including buffers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_as_of: Option<String>,
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
    /// The IANA zone of the wall clock that the series follows. Defaults to UTC. An all-day series follows its
    /// calendar's zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Europe/Berlin")]
    pub recurrence_timezone: Option<String>,
}

impl CreateEvent {
    /// Checks every field that can be checked without the calendar.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<domain::NewEvent, FieldErrors> {
        let mut errors = FieldErrors::default();
        let title = errors.take(title(&self.title));
        let description = errors.take(optional_text("description", self.description.as_deref(), DESCRIPTION_MAX));
        let start = errors.take(Moment::parse("start_time", &self.start_time));
        let end = errors.take(Moment::parse("end_time", &self.end_time));
        let hold = errors.take_all(hold(
            self.status,
            self.hold_expires_at.as_deref(),
            self.hold_priority,
            self.scope,
            self.if_as_of.as_deref(),
        ));
        let metadata = errors.take(metadata(self.metadata));
        let reminders = errors.take(self.reminders.map(|minutes| Reminders::parse("reminders", &minutes)).transpose());
        let (rule, exdates, zone) = (self.recurrence_rule, self.recurrence_exdates, self.recurrence_timezone);
        let recurrence = match recurrence(rule.as_deref(), exdates.as_deref().unwrap_or_default(), zone.as_deref()) {
            Ok(recurrence) => recurrence,
            Err(found) => {
                errors.extend(&found);
                return Err(errors);
            }
        };
        if recurrence.is_some() && matches!(hold, Some(Some(_))) {
            errors.push(cannot_recur());
        }
        match (title, description, start, end, hold, metadata, reminders) {
            (Some(title), Some(description), Some(start), Some(end), Some(hold), Some(metadata), Some(reminders))
                if errors.is_empty() =>
            {
                let status = self.status.map_or(domain::EventStatus::Confirmed, Into::into);
                let status = if hold.is_some() { domain::EventStatus::Hold } else { status };
                Ok(domain::NewEvent {
                    title,
                    description,
                    start,
                    end,
                    all_day: self.all_day,
                    status,
                    metadata,
                    reminders,
                    recurrence,
                    hold,
                })
            }
            _ => Err(errors),
        }
    }
}

fn rule(text: &str) -> Result<Rule, FieldError> {
    text.parse().map_err(|error: RuleError| FieldError::new("recurrence_rule", error.to_string()))
}

fn recurrence_zone(text: &str) -> Result<Zone, FieldError> {
    zone("recurrence_timezone", text)
}

fn exdates(given: &[String]) -> Result<Vec<Moment>, FieldError> {
    domain::exdates(given, |param, text| Moment::parse(param, text))
}

fn recurrence(
    given: Option<&str>,
    given_exdates: &[String],
    given_zone: Option<&str>,
) -> Result<Option<domain::NewRecurrence>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let rule = errors.take(given.map(rule).transpose());
    let exdates = errors.take(exdates(given_exdates));
    let zone = errors.take(given_zone.map(recurrence_zone).transpose());
    if given.is_none() {
        let given = [("recurrence_exdates", !given_exdates.is_empty()), ("recurrence_timezone", given_zone.is_some())];
        given.into_iter().filter(|(_, given)| *given).for_each(|(param, _)| errors.push(domain::needs_a_rule(param)));
    }
    errors.finish()?;
    match (rule.flatten(), exdates, zone) {
        (Some(rule), Some(exdates), Some(zone)) => Ok(Some(domain::NewRecurrence { rule, exdates, zone })),
        _ => Ok(None),
    }
}

/// Up to 100 events. Either all of them are created or none.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateEventBatch {
    /// 1-100 events.
    #[schema(value_type = Vec<BatchedEvent>, min_items = 1, max_items = 100)]
    pub events: Vec<CreateEvent>,
}

impl CreateEventBatch {
    /// Checks every field of every event.
    ///
    /// # Errors
    /// Lists every invalid field with its path, such as `events[3].title`.
    pub fn parse(self) -> Result<Vec<domain::NewEvent>, FieldErrors> {
        let count = self.events.len();
        if !(1..=BATCH_MAX).contains(&count) {
            return Err(FieldError::new("events", format!("must contain 1 to {BATCH_MAX} events, got {count}")).into());
        }
        let mut errors = FieldErrors::default();
        let mut events = Vec::with_capacity(count);
        for (index, event) in self.events.into_iter().enumerate() {
            match event.parse() {
                Ok(event) if event.hold.is_some() => {
                    let message = "must not be a hold in a batch; place holds one by one, or on several calendars as a \
                        hold set";
                    errors.push(FieldError::new(format!("events[{index}].status"), message));
                }
                Ok(event) => events.push(event),
                Err(found) => errors.extend_below(&format!("events[{index}]"), &found),
            }
        }
        errors.finish()?;
        Ok(events)
    }
}

/// The events of a batch, in the order in which they were sent.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct EventBatch {
    /// The created events.
    pub data: Vec<Event>,
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
    /// Replaces the cancelled occurrences. Null cancels none.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    pub recurrence_exdates: Given<Vec<String>>,
    /// A new zone. Null means UTC.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub recurrence_timezone: Given<String>,
}

impl UpdateEvent {
    /// Checks every field that can be checked without the event.
    ///
    /// # Errors
    /// Lists every invalid field, or reports that no field was sent.
    pub fn parse(self) -> Result<domain::EventPatch, FieldErrors> {
        if let Self {
            title: None,
            description: None,
            start_time: None,
            end_time: None,
            all_day: None,
            status: None,
            metadata: None,
            reminders: None,
            recurrence_rule: None,
            recurrence_exdates: None,
            recurrence_timezone: None,
        } = self
        {
            let fields = "title, description, start_time, end_time, all_day, status, metadata, reminders, \
                recurrence_rule, recurrence_exdates, recurrence_timezone";
            return Err(nothing_to_change(fields).into());
        }
        let mut errors = FieldErrors::default();
        let new_title = errors.take(set("title", self.title, |text| title(&text)));
        let description =
            errors.take(set_or_clear(self.description, |text| bounded_text("description", &text, 0, DESCRIPTION_MAX)));
        let start = errors.take(set("start_time", self.start_time, |text| Moment::parse("start_time", &text)));
        let end = errors.take(set("end_time", self.end_time, |text| Moment::parse("end_time", &text)));
        let all_day = errors.take(set("all_day", self.all_day, Ok));
        let status = errors.take(set("status", self.status, |status| Ok(status.into())));
        let metadata = errors.take(set("metadata", self.metadata, |value| Metadata::parse("metadata", value)));
        let reminders = errors.take(set_or_clear(self.reminders, |minutes| Reminders::parse("reminders", &minutes)));
        let new_rule = errors.take(set_or_clear(self.recurrence_rule, |text| rule(&text)));
        let given_exdates = self.recurrence_exdates.map(Option::unwrap_or_default);
        let exdates = errors.take(given_exdates.map(|given| exdates(&given)).transpose());
        let zone = errors.take(set_or_clear(self.recurrence_timezone, |text| recurrence_zone(&text)));
        let (Some(rule), Some(exdates), Some(zone)) = (new_rule, exdates, zone) else { return Err(errors) };
        let recurrence = domain::RecurrencePatch { rule, exdates: exdates.into(), zone };
        match (new_title, description, start, end, all_day, status, metadata, reminders) {
            (
                Some(title),
                Some(description),
                Some(start),
                Some(end),
                Some(all_day),
                Some(status),
                Some(metadata),
                Some(reminders),
            ) => Ok(domain::EventPatch {
                title,
                description,
                start,
                end,
                all_day,
                status,
                metadata,
                reminders,
                recurrence,
            }),
            _ => Err(errors),
        }
    }
}

/// What a list of events contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Events. A series is one event.
    Events(EventFilter),
    /// One-off events and the instances of series, in a window.
    Instances(InstanceFilter),
}

/// Filters a list of events.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListEvents {
    /// Only events that start at or after this time. With `expand`, what ends after it.
    #[param(format = DateTime)]
    pub start_after: Option<String>,
    /// Only events that start before this time. With `expand`, at most 366 days after `start_after`.
    #[param(format = DateTime)]
    pub start_before: Option<String>,
    /// Only events with this status.
    pub status: Option<EventStatus>,
    /// Only events from this source.
    pub source: Option<EventSource>,
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

impl ListEvents {
    /// Checks every parameter. `now` decides whether a hold has expired.
    ///
    /// # Errors
    /// Lists every invalid parameter.
    pub fn parse(&self, now: Timestamp) -> Result<(Listing, Page), FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut bound = |param: &str, text: Option<&str>| text.and_then(|text| errors.take(instant(param, text)));
        let start_after = bound("start_after", self.start_after.as_deref());
        let start_before = bound("start_before", self.start_before.as_deref());
        match Page::parse(self.limit, self.offset) {
            Ok(page) => {
                errors.finish()?;
                let status = self.status.map(|status| StatusAt { status: status.into(), now });
                let source = self.source.map(Into::into);
                if self.expand == Some(true) {
                    let window = window(start_after, start_before)?;
                    return Ok((Listing::Instances(InstanceFilter { window, status, source }), page));
                }
                Ok((Listing::Events(EventFilter { start_after, start_before, status, source }), page))
            }
            Err(found) => {
                errors.extend(&found);
                Err(errors)
            }
        }
    }
}

/// The window in which instances are listed.
fn window(after: Option<Timestamp>, before: Option<Timestamp>) -> Result<Span, FieldErrors> {
    let mut errors = FieldErrors::default();
    let missing =
        |param: &str| FieldError::new(param, "is required with expand=true, which lists the instances in a window");
    let after = errors.take(after.ok_or_else(|| missing("start_after")));
    let before = errors.take(before.ok_or_else(|| missing("start_before")));
    let (Some(after), Some(before)) = (after, before) else { return Err(errors) };
    let window = Span::new(after, before)
        .map_err(|_| FieldError::new("start_before", format!("must be after start_after ({after}), got {before}")))?;
    if window.length() > EXPANDED_MAX {
        let days = EXPANDED_MAX.as_seconds() / 86_400;
        let message = format!("must be at most {days} days after start_after with expand=true, got {before}");
        return Err(FieldError::new("start_before", message).into());
    }
    Ok(window)
}

/// Selects the occurrence of a series to cancel.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteEvent {
    /// Cancels only the occurrence that starts at this time by the series' rule. The answer is 200 with the changed
    /// series.
    #[param(format = DateTime, example = "2026-03-04T09:00:00Z")]
    pub occurrence_start: Option<String>,
    /// Whether the series also shows its times in its calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}

impl DeleteEvent {
    /// Checks the parameter.
    ///
    /// # Errors
    /// `invalid_time_format` if the time is invalid.
    pub fn parse(&self) -> Result<Option<Timestamp>, FieldErrors> {
        let start = self.occurrence_start.as_deref().map(|text| instant("occurrence_start", text));
        start.transpose().map_err(FieldErrors::from)
    }
}

/// Parses a timestamp of a query or body.
pub(crate) fn instant(param: &str, text: &str) -> Result<Timestamp, FieldError> {
    text.parse().map_err(|error: kalends_kernel::ParseTimestampError| {
        FieldError::new(param, error.to_string()).with_code(kalends_kernel::Code::InvalidTimeFormat)
    })
}

pub(crate) fn title(text: &str) -> Result<String, FieldError> {
    bounded_text("title", text, 1, TITLE_MAX)
}
