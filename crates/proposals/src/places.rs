//! Where the events of participants go.

use std::collections::BTreeSet;

use kalends_kernel::{AgentId, CalendarId};

use crate::{CreatedEvent, Place, Placement, Proposal, Response, ResponseKind, Slot};

impl Proposal {
    /// Where the events of participants go if `slot` is confirmed, in the order of the participants. With
    /// [`Placement::All`], each participant has a place that has not declined and is not the organizer: on the calendar
    /// that its response names, else on the one that `calendar_of` returns for it. A participant without a calendar has no
    /// place. No calendar gets two events, and the organizer's comes first.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_kernel::{CalendarId, EventId};
    /// use kalends_proposals::{CreatedEvent, NewProposal, NewResponse, NewSlot, Place, Placement, Proposal};
    ///
    /// let new = NewProposal::new("Kick-off", ada, vec![ben], desk, vec![NewSlot::new(ten)]);
    /// let proposal = Proposal::create(org, new.with_placement(Placement::All), now, &entropy)?;
    /// let slot = proposal.slots()[0];
    /// let calendar: CalendarId = "cal_00000000000000000000000002".parse()?;
    /// let accept = NewResponse::accept(slot.id()).with_calendar(calendar);
    /// let answered = proposal.respond(ben, accept, now, &entropy)?;
    /// assert_eq!(answered.places(&slot, |_| None), [Place { agent: ben, calendar, accepted: true }]);
    /// let (hers, his) = (EventId::new(now, &entropy), EventId::new(now, &entropy));
    /// let confirmed = answered.confirmed_for(slot.id(), hers, vec![CreatedEvent { agent: ben, event: his }], now)?;
    /// assert_eq!(confirmed.participant_events()[0].event, his);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn places(&self, slot: &Slot, calendar_of: impl Fn(AgentId) -> Option<CalendarId>) -> Vec<Place> {
        let mut used = BTreeSet::from([self.calendar_of(slot)]);
        let mut places = Vec::new();
        for agent in self.invited() {
            let response = self.response_of(agent);
            let calendar = response.and_then(Response::calendar).or_else(|| calendar_of(agent));
            if let Some(calendar) = calendar.filter(|calendar| used.insert(*calendar)) {
                let accepted = response.is_some_and(|response| response.accepts(slot.id()));
                places.push(Place { agent, calendar, accepted });
            }
        }
        places
    }

    /// The participants that get an event of their own if they have a calendar for it, in their order. [`Proposal::places`]
    /// says which these are.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{NewProposal, NewSlot, Placement, Proposal};
    ///
    /// assert_eq!(proposal.invited().count(), 0);
    /// let new = NewProposal::new("Kick-off", ada, vec![ben, ada], desk, vec![NewSlot::new(ten)]);
    /// let proposal = Proposal::create(org, new.with_placement(Placement::All), now, &entropy)?;
    /// assert_eq!(proposal.invited().collect::<Vec<_>>(), [ben]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn invited(&self) -> impl Iterator<Item = AgentId> {
        let declined = |agent| self.response_of(agent).is_some_and(|response| response.kind() == ResponseKind::Decline);
        let asked = self.participants().iter().copied().filter(|_| self.placement() == Placement::All);
        asked.filter(move |agent| *agent != self.organizer() && !declined(*agent))
    }

    /// Checks that the events are of invited participants, in their order. Returns the first agent for which that is not
    /// so.
    pub(crate) fn check_events(&self, events: &[CreatedEvent]) -> Result<(), AgentId> {
        let mut invited = self.invited();
        let misplaced = events.iter().find(|created| !invited.any(|agent| agent == created.agent));
        misplaced.map_or(Ok(()), |created| Err(created.agent))
    }
}
