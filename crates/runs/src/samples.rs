//! Events for tests.

use kalends_calendars::{Attendees, Event, EventSource, EventStatus, Reminders, Repeats, Times};
use kalends_kernel::{CalendarId, EventId, Metadata, OrgId, RunWriteId, Version};
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use crate::{Entry, Resource};

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_772_438_400_000_000);

pub(crate) fn calendar(number: u8) -> CalendarId {
    CalendarId::from_uuid(Uuid::from_u128(number.into()))
}

pub(crate) fn event_id(number: usize) -> EventId {
    EventId::from_uuid(Uuid::from_u128(number as u128 + 1))
}

/// A new event of one hour.
pub(crate) fn event(id: EventId, title: &str) -> Event {
    let hour = Span::new(NOW, Timestamp::from_micros(NOW.as_micros() + 3_600_000_000)).unwrap();
    Event {
        id,
        org: OrgId::from_uuid(Uuid::from_u128(7)),
        calendar: calendar(1),
        title: title.to_owned(),
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        times: Times { span: hour, all_day: false },
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

/// The entry of a write that turned `before` into `after`.
pub(crate) fn entry(number: usize, before: Option<&Event>, after: &Event) -> Entry {
    Entry {
        id: RunWriteId::from_uuid(Uuid::from_u128(number as u128)),
        operation: "updateEvent".to_owned(),
        resource: Resource::Event(after.id),
        before: before.cloned().map(Box::new),
        after: after.version,
        at: NOW,
        undone_at: None,
    }
}
