//! Events and copies for tests.

use kalends_calendars::{Attendees, Event, EventSource, EventStatus, Occurrence, Reminders, Repeats, Times};
use kalends_kernel::{CalendarId, EventId, ExternalCalendarId, Metadata, OrgId, Version};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use uuid::Uuid;

use crate::{CopyContent, CopyKey};

pub(super) const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(super) fn hours(from: i64, to: i64) -> Span {
    Span::new(NOW + SignedDuration::hours(from), NOW + SignedDuration::hours(to)).unwrap()
}

pub(super) fn target(number: u8) -> ExternalCalendarId {
    ExternalCalendarId::from_uuid(Uuid::from_u128(number.into()))
}

pub(super) fn event_id(number: u128) -> EventId {
    EventId::from_uuid(Uuid::from_u128(number))
}

/// Odd numbers are occurrences.
pub(super) fn key(number: u8) -> CopyKey {
    let original_start = (number % 2 == 1).then(|| NOW + SignedDuration::hours(number.into()));
    CopyKey { event: event_id((number / 2).into()), original_start }
}

/// Versions 0 and 1 differ only in the description, and so do 2 and 3. The others differ in the title too.
pub(super) fn content(number: u8, version: u8) -> CopyContent {
    CopyContent {
        title: format!("Event {number} {}", version / 2),
        description: Some(version.to_string()),
        location: None,
        span: hours(number.into(), i64::from(number) + 1),
        all_day: false,
        zone: Zone::UTC,
        tentative: false,
        transparent: false,
    }
}

/// A confirmed event that starts in that many hours.
pub(super) fn event(number: u8, start: i64) -> Event {
    Event {
        id: event_id(number.into()),
        org: OrgId::from_uuid(Uuid::from_u128(1)),
        calendar: CalendarId::from_uuid(Uuid::from_u128(1)),
        title: "Standup".into(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        times: Times { span: hours(start, start + 1), all_day: false },
        status: EventStatus::Confirmed,
        source: EventSource::Internal,
        metadata: Metadata::default(),
        reminders: None,
        guest_reminders: Reminders::default(),
        seat_changes: 0,
        repeats: Repeats::Once,
        previous_series: None,
        hold: None,
        hold_set: None,
        transparent: false,
        version: Version::FIRST,
        created_at: NOW,
        updated_at: NOW,
        deleted_at: None,
    }
}

/// An occurrence of the series with that number, which was moved by an hour.
pub(super) fn occurrence(series: u8, start: i64) -> Event {
    let original = Occurrence { series: event_id(series.into()), start: NOW + SignedDuration::hours(start - 1) };
    Event { repeats: Repeats::Instance(original), id: event_id(u128::from(series) + 1_000), ..event(series, start) }
}
