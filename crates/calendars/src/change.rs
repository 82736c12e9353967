//! The writes of a decision.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, CalendarId, HoldSetId, OrgId, Version};

use crate::{Advance, Agent, AvailabilityRules, Calendar, Event, Reservation, ReservationOwner};

/// One write to agents, calendars or events. An update applies only if the row still has the version that the
/// decision read. Otherwise the whole change-set is stale.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new agent.
    CreateAgent(Agent),
    /// The changed agent. This includes decommissioning.
    UpdateAgent {
        /// The row to write.
        agent: Agent,
        /// The version that was read.
        seen: Version,
    },
    /// A new calendar. Stale if its agent has been decommissioned since it was read.
    CreateCalendar(Calendar),
    /// The changed calendar. This includes deletion.
    UpdateCalendar {
        /// The row to write. The store sets its revision.
        calendar: Calendar,
        /// The version that was read.
        seen: Version,
    },
    /// A new event. Increments the calendar's revision. Stale if the calendar is not visible.
    CreateEvent(Event),
    /// The changed event. This includes deletion. Increments the calendar's revision.
    UpdateEvent {
        /// The row to write.
        event: Event,
        /// The version that was read.
        seen: Version,
    },
    /// The changed event, which is on another calendar now. Increments the revisions of both calendars. Stale if one of
    /// them is not visible.
    MoveEvent {
        /// The row to write.
        event: Event,
        /// The version that was read.
        seen: Version,
        /// The calendar that it leaves.
        from: CalendarId,
    },
    /// New rules of the calendar. Increments its revision. Stale if the calendar is not visible.
    PutRules {
        /// The row to write.
        rules: AvailabilityRules,
        /// The version that was read; `None` if the calendar had no rules.
        seen: Option<Version>,
    },
    /// Deletes these rules if they still have their version. Increments the calendar's revision. Stale if the
    /// calendar is not visible.
    DeleteRules(AvailabilityRules),
    /// A proposal or an approval reserves these times. Increments the calendar's revision. Stale if the calendar is not
    /// visible.
    Reserve {
        /// The organization.
        org: OrgId,
        /// The calendar.
        calendar: CalendarId,
        /// The times.
        reservations: Vec<Reservation>,
    },
    /// Removes all reservations of a proposal or an approval on the calendar. Increments its revision. Stale if the
    /// calendar is not visible.
    Unreserve {
        /// The organization.
        org: OrgId,
        /// The calendar.
        calendar: CalendarId,
        /// What reserved them.
        owner: ReservationOwner,
    },
    /// The key of an agent placed this hold set, whose events the same change-set creates. Increments neither the
    /// revision nor the events' versions.
    PlaceHolds {
        /// The organization.
        org: OrgId,
        /// The set.
        set: HoldSetId,
        /// The agent.
        agent: AgentId,
    },
    /// The next state of a timer that was processed. Increments neither the revision nor the event's version. All
    /// other writes of timers are made by the stores, which write the timer of [`Event::timer`] with each event.
    AdvanceTimer(Advance),
}

impl Change {
    /// The write of an event that was read as `seen`. It may have moved to another calendar.
    pub fn update(seen: &Event, event: Event) -> Self {
        let (from, seen) = (seen.calendar, seen.version);
        if from == event.calendar { Self::UpdateEvent { event, seen } } else { Self::MoveEvent { event, seen, from } }
    }

    /// The event that it writes, if any.
    pub const fn event(&self) -> Option<&Event> {
        match self {
            Self::CreateEvent(event) | Self::UpdateEvent { event, .. } | Self::MoveEvent { event, .. } => Some(event),
            Self::CreateAgent(_)
            | Self::UpdateAgent { .. }
            | Self::CreateCalendar(_)
            | Self::UpdateCalendar { .. }
            | Self::PutRules { .. }
            | Self::DeleteRules(_)
            | Self::Reserve { .. }
            | Self::Unreserve { .. }
            | Self::PlaceHolds { .. }
            | Self::AdvanceTimer(_) => None,
        }
    }

    /// The calendars whose events, reservations or rules it alters.
    fn revised(&self) -> [Option<CalendarId>; 2] {
        match self {
            Self::CreateEvent(event) | Self::UpdateEvent { event, .. } => [Some(event.calendar), None],
            Self::MoveEvent { event, from, .. } => [Some(event.calendar), Some(*from)],
            Self::PutRules { rules, .. } | Self::DeleteRules(rules) => [Some(rules.calendar), None],
            Self::Reserve { calendar, .. } | Self::Unreserve { calendar, .. } => [Some(*calendar), None],
            Self::CreateAgent(_)
            | Self::UpdateAgent { .. }
            | Self::CreateCalendar(_)
            | Self::UpdateCalendar { .. }
            | Self::PlaceHolds { .. }
            | Self::AdvanceTimer(_) => [None, None],
        }
    }
}

/// The calendars whose events, reservations or rules `changes` alter, ordered by id. Their rows are locked first, in
/// this order, and each revision is incremented once.
pub fn calendars_revised<'a>(changes: impl IntoIterator<Item = &'a Change>) -> BTreeSet<CalendarId> {
    changes.into_iter().flat_map(Change::revised).flatten().collect()
}
