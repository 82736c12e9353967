//! The queries whose answers are cached, each with everything except the clock that its answer depends on.

use kalends_calendars::{AsOf, HumanAsOf, ports::BusySource};
use kalends_kernel::{AgentId, BookingPageId, CalendarId, Version};
use kalends_time::Span;
use kalends_wire::SlotsRequest;

use crate::{busy_cache::Question, ports::HumanSeen};

/// An availability query, and everything except the clock that its answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct AvailabilityQuestion {
    pub(crate) whose: Whose,
    /// The calendars, each with the revision up to which its events are included.
    pub(crate) sources: Vec<BusySource>,
    /// The human calendars that count for them, or for agents without a calendar, each as of its last read.
    pub(crate) humans: Vec<HumanSeen>,
    pub(crate) slots: SlotsRequest,
}

impl Question for AvailabilityQuestion {
    fn sources_len(&self) -> usize {
        self.sources.len() + self.humans.len()
    }
}

impl AvailabilityQuestion {
    /// The revisions that the answer is based on. They were read before the busy times, so the busy times may be
    /// newer, but never older.
    pub(crate) fn as_of(&self) -> AsOf {
        let human = |seen: &HumanSeen| HumanAsOf { of: seen.of, source: seen.source, revision: seen.revision };
        AsOf {
            calendars: self.sources.iter().map(|source| (source.calendar, source.revision)).collect(),
            humans: self.humans.iter().map(human).collect(),
        }
    }
}

/// The subject of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    Calendar(CalendarId),
    Agents(Vec<AgentId>),
}

/// A query for the slots of a page, and everything except the clock that its answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PageQuestion {
    pub(crate) page: BookingPageId,
    pub(crate) version: Version,
    /// The calendars, each with the revision up to which its events are included.
    pub(crate) sources: Vec<BusySource>,
    pub(crate) humans: Vec<HumanSeen>,
    pub(crate) within: Option<Span>,
}

impl Question for PageQuestion {
    fn sources_len(&self) -> usize {
        self.sources.len() + self.humans.len()
    }
}
