//! What lists of events select, as parameters of statements.

use kalends_calendars::EventSource;
use kalends_calendars::ports::{EventFilter, EventScope, InstanceScope};
use kalends_time::Timestamp;
use uuid::Uuid;

/// A filter as parameters: a missing bound becomes one that always holds, so that the index is used for every filter.
pub(super) struct Bounds {
    pub(super) from: i64,
    pub(super) before: i64,
    pub(super) status: Option<&'static str>,
    /// The time at which the status is evaluated; `None` if the filter has no status.
    pub(super) now: Option<i64>,
    pub(super) source: Option<&'static str>,
}

impl Bounds {
    pub(super) fn of(filter: &EventFilter) -> Self {
        Self {
            from: filter.start_after.map_or(i64::MIN, Timestamp::as_micros),
            before: filter.start_before.map_or(i64::MAX, Timestamp::as_micros),
            status: filter.status.map(|at| at.status.as_str()),
            now: filter.status.map(|at| at.now.as_micros()),
            source: filter.source.map(EventSource::as_str),
        }
    }
}

/// A scope as the two parameters of a statement: a calendar or an agent.
pub(super) const fn ids(scope: EventScope) -> (Option<Uuid>, Option<Uuid>) {
    match scope {
        EventScope::Calendar(calendar) => (Some(calendar.uuid()), None),
        EventScope::Agent(agent) => (None, Some(agent.uuid())),
    }
}

/// A scope as the two parameters of a statement: calendars or an agent.
pub(super) fn listed_ids(scope: InstanceScope<'_>) -> (Vec<Uuid>, Option<Uuid>) {
    match scope {
        InstanceScope::Calendars(calendars) => (calendars.iter().map(|calendar| calendar.uuid()).collect(), None),
        InstanceScope::Agent(agent) => (Vec::new(), Some(agent.uuid())),
    }
}
