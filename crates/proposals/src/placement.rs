//! Who gets an event when a slot is confirmed.

use kalends_kernel::{AgentId, CalendarId, EventId};

use crate::named::named;

/// The maximum number of agents that get an event from one proposal, the organizer included.
pub const PLACES_MAX: usize = 20;

named! {
    /// Who gets an event when a slot is confirmed.
    ///
    /// ```
    /// use kalends_proposals::Placement;
    ///
    /// assert_eq!(Placement::from_name("all"), Some(Placement::All));
    /// assert_eq!(Placement::default().as_str(), "organizer");
    /// ```
    #[derive(Default)]
    Placement {
        /// The organizer.
        #[default]
        Organizer = "organizer",
        /// The organizer, and every participant that has not declined.
        All = "all",
    }
}

/// Where the event of a participant goes. [`Proposal::places`](crate::Proposal::places) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The participant.
    pub agent: AgentId,
    /// The calendar.
    pub calendar: CalendarId,
    /// Whether the participant accepts the slot. If not, its event is tentative.
    pub accepted: bool,
}

/// The event of a participant. [`Proposal::places`](crate::Proposal::places) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedEvent {
    /// The participant.
    pub agent: AgentId,
    /// The event.
    pub event: EventId,
}
