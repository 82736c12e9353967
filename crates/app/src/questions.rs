//! The queries whose answers are cached, each with everything except the clock that its answer depends on.

use kalends_calendars::{AsOf, HumanAsOf, HumanFor, ports::BusySource};
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
    /// The agent whose key asks about others. The answer then says nothing of human calendars, and its state covers
    /// only what that agent owns.
    pub(crate) about_others: Option<AgentId>,
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
        let shown = |source: &&BusySource| self.about_others.is_none() || source.agent == self.about_others;
        let sources = || self.sources.iter().filter(shown);
        let counts = |seen: &&HumanSeen| match seen.of {
            _ if self.about_others.is_none() => true,
            HumanFor::Calendar(calendar) => sources().any(|source| source.calendar == calendar),
            HumanFor::Agent(agent) => self.about_others == Some(agent),
        };
        AsOf {
            calendars: sources().map(|source| (source.calendar, source.revision)).collect(),
            humans: self.humans.iter().filter(counts).map(human).collect(),
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
