//! The events around a point in time.

use std::cmp::Reverse;

use kalends_calendars::{ContextEvents, Event, EventStatus, RECENT_MAX, UPCOMING_MAX, UPCOMING_WITHIN};
use kalends_time::Timestamp;

use super::instances::name;

/// Those of `events` that are around `now`.
pub(super) fn events_around<'a>(events: impl Iterator<Item = &'a Event>, now: Timestamp) -> ContextEvents {
    let takes_place = |event: &&Event| (*event).clone().at(now).status != EventStatus::Cancelled;
    let events: Vec<&Event> = events.filter(takes_place).collect();
    let start = |event: &Event| event.times.span.start();
    let end = |event: &Event| event.times.span.end();

    let under_way = events.iter().filter(|event| event.times.span.contains(now));
    let current = under_way.max_by_key(|event| (start(event), name(event)));

    let mut ended: Vec<&Event> = events.iter().copied().filter(|event| end(event) <= now).collect();
    ended.sort_by_key(|event| Reverse((end(event), name(event))));

    let mut to_come: Vec<&Event> = events.iter().copied().filter(|event| now < start(event)).collect();
    to_come.sort_by_key(|event| (start(event), name(event)));

    let upcoming = to_come.iter().filter(|event| start(event) <= now + UPCOMING_WITHIN);
    ContextEvents {
        current: current.map(|event| (*event).clone()),
        next: to_come.first().map(|event| (*event).clone()),
        recent: ended.iter().take(RECENT_MAX as usize).map(|event| (*event).clone()).collect(),
        upcoming: upcoming.take(UPCOMING_MAX as usize).map(|event| (*event).clone()).collect(),
    }
}
