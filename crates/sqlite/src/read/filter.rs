//! What lists of events select, as parameters of statements.

use kalends_calendars::{
    EventSource,
    ports::{EventFilter, EventScope, InstanceScope},
};
use kalends_kernel::StoreError;
use kalends_time::Timestamp;

use crate::{
    error::store_error,
    json::{self, Hex},
};

/// A filter as parameters of the statements.
pub(super) struct Filter {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) status: Option<&'static str>,
    /// The time at which the status is evaluated; `None` if the filter has no status.
    pub(super) now: Option<i64>,
    pub(super) source: Option<&'static str>,
}

impl From<&EventFilter> for Filter {
    fn from(filter: &EventFilter) -> Self {
        Self {
            // Without a bound the range is unbounded, so the index on starts always applies.
            from: filter.start_after.map_or(i64::MIN, Timestamp::as_micros),
            to: filter.start_before.map_or(i64::MAX, Timestamp::as_micros),
            status: filter.status.map(|at| at.status.as_str()),
            now: filter.status.map(|at| at.now.as_micros()),
            source: filter.source.map(EventSource::as_str),
        }
    }
}

/// A scope as the two parameters of a statement: a calendar or an agent.
pub(super) const fn ids(scope: EventScope) -> (Option<uuid::Uuid>, Option<uuid::Uuid>) {
    match scope {
        EventScope::Calendar(calendar) => (Some(calendar.uuid()), None),
        EventScope::Agent(agent) => (None, Some(agent.uuid())),
    }
}

/// A scope as the two parameters of a statement: calendars as a JSON array, or an agent.
pub(super) fn listed_ids(scope: InstanceScope<'_>) -> Result<(String, Option<uuid::Uuid>), StoreError> {
    let (calendars, agent): (Vec<Hex>, _) = match scope {
        InstanceScope::Calendars(calendars) => (calendars.iter().map(|calendar| Hex(calendar.uuid())).collect(), None),
        InstanceScope::Agent(agent) => (Vec::new(), Some(agent.uuid())),
    };
    Ok((json::rows(&calendars).map_err(store_error)?, agent))
}
