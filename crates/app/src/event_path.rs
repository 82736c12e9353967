//! How a request names an event.

use kalends_calendars::Occurrence;
use kalends_kernel::EventId;

use crate::{Missing, Refusal};

/// The event that a request names, with or without its calendar in the route.
#[derive(Debug, Clone, Copy)]
pub struct EventPath<'a> {
    /// The calendar of the route, if the route names one.
    pub calendar: Option<&'a str>,
    /// The event.
    pub id: &'a str,
}

/// What the identifier in a path refers to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Named {
    /// An event.
    Event(EventId),
    /// One occurrence of a series.
    Occurrence(Occurrence),
}

impl Named {
    /// The event, or the series.
    pub(crate) const fn event(self) -> EventId {
        match self {
            Self::Event(id) => id,
            Self::Occurrence(occurrence) => occurrence.series,
        }
    }
}

impl EventPath<'_> {
    /// What the identifier refers to. A malformed identifier counts as unknown.
    pub(crate) fn named(&self) -> Result<Named, Refusal> {
        let event = self.id.parse().map(Named::Event);
        event.or_else(|_| self.id.parse().map(Named::Occurrence)).map_err(|_| self.missing())
    }

    pub(crate) fn missing(&self) -> Refusal {
        Refusal::missing(Missing::Event, self.id)
    }
}
