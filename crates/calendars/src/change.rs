//! What a decision writes.

use std::collections::BTreeSet;

use kalends_kernel::{CalendarId, OrgId, ProposalId, Version};

use crate::{Advance, Agent, AvailabilityRules, Calendar, Event, Reservation};

/// One write to agents, calendars or events. An update holds only while the row still has the
/// version that the decision saw; otherwise the whole change-set is stale.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new agent.
    CreateAgent(Agent),
    /// The agent as it is from now on, decommissioning included.
    UpdateAgent {
        /// The row to write.
        agent: Agent,
        /// The version that was read.
        seen: Version,
    },
    /// A new calendar. Stale where its agent has been decommissioned meanwhile.
    CreateCalendar(Calendar),
    /// The calendar as it is from now on, deletion included.
    UpdateCalendar {
        /// The row to write; its revision is left to the store.
        calendar: Calendar,
        /// The version that was read.
        seen: Version,
    },
    /// A new event. Raises the calendar's revision; stale where the calendar is out of sight.
    CreateEvent(Event),
    /// The event as it is from now on, deletion included. Raises the calendar's revision.
    UpdateEvent {
        /// The row to write.
        event: Event,
        /// The version that was read.
        seen: Version,
    },
    /// The calendar's rules from now on. Raises its revision; stale where the calendar is out of sight.
    PutRules {
        /// The row to write.
        rules: AvailabilityRules,
        /// The version that was read; `None` where the calendar had no rules.
        seen: Option<Version>,
    },
    /// These rules end, if they still have their version. Raises the calendar's revision; stale where
    /// the calendar is out of sight.
    DeleteRules(AvailabilityRules),
    /// A proposal keeps these times free. Raises the calendar's revision; stale where the calendar is out of sight.
    Reserve {
        /// The organization.
        org: OrgId,
        /// The calendar.
        calendar: CalendarId,
        /// The times.
        reservations: Vec<Reservation>,
    },
    /// A proposal keeps nothing free any more on the calendar. Raises its revision; stale where the calendar is out of
    /// sight.
    Unreserve {
        /// The organization.
        org: OrgId,
        /// The calendar.
        calendar: CalendarId,
        /// The proposal.
        owner: ProposalId,
    },
    /// A timer was looked at and goes on like this. Raises no revision and no version of the event. The other writes
    /// of timers are the stores': whatever writes an event writes its timer with it, by [`Event::timer`].
    AdvanceTimer(Advance),
}

/// The calendars whose time `changes` alter, by what is scheduled on them or by their rules, ordered by id: their rows are locked first,
/// in this order, and their revisions raised once.
pub fn calendars_revised<'a>(changes: impl IntoIterator<Item = &'a Change>) -> BTreeSet<CalendarId> {
    changes
        .into_iter()
        .filter_map(|change| match change {
            Change::CreateEvent(event) | Change::UpdateEvent { event, .. } => Some(event.calendar),
            Change::PutRules { rules, .. } | Change::DeleteRules(rules) => Some(rules.calendar),
            Change::Reserve { calendar, .. } | Change::Unreserve { calendar, .. } => Some(*calendar),
            Change::CreateAgent(_)
            | Change::UpdateAgent { .. }
            | Change::CreateCalendar(_)
            | Change::UpdateCalendar { .. }
            | Change::AdvanceTimer(_) => None,
        })
        .collect()
}
