//! Which writes of events no webhook message shows. Those have entries of their own in the change feed.

use std::collections::BTreeSet;

use kalends_calendars::{Change, Event, EventSource};
use kalends_notifications::{EventType, Message, Payload};
use kalends_time::Timestamp;
use serde::Deserialize;

use crate::ChangeSet;

/// The native events that the change-set writes and none of its messages shows, in order, each with what happened to
/// it. Among them are a series of which one occurrence changed, overrides that were rewritten or dropped with their
/// series, and events to which an attendee replied. What was gone before and stays gone is not among them.
pub(crate) fn unannounced(changes: &ChangeSet, now: Timestamp) -> Vec<(EventType, Event)> {
    let written = changes.calendars.iter().filter_map(Change::event);
    let native = written.filter(|event| event.source == EventSource::Internal);
    let mut native = native.filter(|event| !changes.still_gone.contains(&event.id)).peekable();
    if native.peek().is_none() {
        return Vec::new();
    }
    let shown = shown_by(&changes.messages);
    let hidden = native.filter(|event| !shown.contains(&shown_id(event)));
    hidden.map(|event| outcome(event, changes, now)).collect()
}

/// What a reader sees of a written event.
fn outcome(event: &Event, changes: &ChangeSet, now: Timestamp) -> (EventType, Event) {
    if event.deleted_at.is_none() {
        let is_new = event.occurrence().is_none()
            && changes.calendars.iter().any(|change| matches!(change, Change::CreateEvent(new) if new.id == event.id));
        let about = match event.live_hold(now) {
            _ if !is_new => EventType::EventUpdated,
            Ok(_) => EventType::EventHoldCreated,
            Err(_) => EventType::EventCreated,
        };
        return (about, event.clone());
    }
    // Without its override, an occurrence is again as its series has it, if it still has it.
    let instance = event.occurrence().and_then(|occurrence| {
        let mut events = changes.calendars.iter().filter_map(Change::event);
        let series = events.find(|series| series.id == occurrence.series && series.deleted_at.is_none())?;
        series.instance(occurrence.start)
    });
    match instance {
        Some(instance) => (EventType::EventUpdated, instance),
        None => (EventType::EventDeleted, event.clone()),
    }
}

/// The identifiers of the events that the messages show as they are after the change.
fn shown_by(messages: &[Message]) -> BTreeSet<String> {
    /// The part of a payload that names its event.
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    let shows = |message: &&Message| {
        // These show an event as it was when its time came.
        let is_timer =
            matches!(message.event_type, EventType::EventReminder | EventType::EventStarted | EventType::EventEnded);
        !is_timer && matches!(message.event_type.payload(), Payload::Event | Payload::EventWithReason)
    };
    let named = |message: &Message| serde_json::from_str::<Named>(&message.payload).ok();
    messages.iter().filter(shows).filter_map(named).map(|named| named.id).collect()
}

/// The identifier of an event as answers show it.
fn shown_id(event: &Event) -> String {
    event.occurrence().map_or_else(|| event.id.to_string(), |occurrence| occurrence.to_string())
}
