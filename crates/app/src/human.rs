//! The busy times of connected human calendars, as far as an availability query needs them.

use kalends_availability::BusySet;
use kalends_bridge::{AvailabilityState, HumanBusy, HumanTime};
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::{AgentId, CalendarId, HumanSource, OrgId};
use kalends_time::{Span, Timestamp};

use crate::{Actor, App, Refusal, ports::HumanSeen};

/// The busy times of human calendars for a query, and how to use them.
pub(crate) struct Humans {
    seen: Vec<HumanSeen>,
    /// One for each source that is still connected.
    busy: Vec<HumanBusy>,
    /// The calendars of the query and their owners. Empty if no source has copies, because then nobody needs them.
    owners: Vec<(CalendarId, Option<AgentId>)>,
    now: Timestamp,
    allow_stale: bool,
    /// Whether unknown time is reported as busy, so that an answer does not say that human calendars count.
    unknown_is_busy: bool,
}

/// What is known of the busy times of human calendars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanBusyTimes {
    /// The busy times, each with a calendar of ours for which it counts.
    pub busy: Vec<(CalendarId, Span)>,
    /// Whether all of it is known and fresh: [`AvailabilityState::Complete`].
    pub is_complete: bool,
}

impl App {
    /// The known busy times in `window` of the human calendars that count for each of the calendars. Like an
    /// explanation of an availability, they reveal neither titles nor which human calendar is busy. Calendars that the
    /// actor may not access have none.
    ///
    /// # Errors
    /// Only a failure of the service.
    pub async fn human_busy_of_calendars(
        &self,
        actor: &Actor,
        calendars: &[CalendarId],
        window: Span,
    ) -> Result<HumanBusyTimes, Refusal> {
        let mut sources = self.parts.store.sources_of_calendars(actor.org(), calendars).await?;
        sources.retain(|source| actor.for_agent(source.agent).is_ok());
        let seen = self.humans_of(actor.org(), &sources).await?;
        let humans = self.read_humans(actor.org(), (seen, &sources), window, self.now(), true).await?;
        let mut busy = Vec::new();
        for calendar in sources.iter().map(|source| source.calendar) {
            let known = humans.busy(calendar, window).unwrap_or_default();
            busy.extend(known.spans().iter().map(|span| (calendar, *span)));
        }
        let is_complete = humans.know(window).state == AvailabilityState::Complete;
        Ok(HumanBusyTimes { busy, is_complete })
    }

    /// The human calendars that count for the calendars, in a deterministic order.
    pub(crate) async fn humans_of(&self, org: OrgId, sources: &[BusySource]) -> Result<Vec<HumanSeen>, Refusal> {
        let mut seen = self.human.human_sources(org, sources).await?;
        seen.sort_unstable();
        seen.dedup();
        Ok(seen)
    }

    /// The human calendars that count for the calendars, and for the agents `without` a calendar, in a deterministic
    /// order. What counts for an agent counts for each of its calendars, so only agents without a calendar are looked
    /// up.
    pub(crate) async fn humans_of_agents(
        &self,
        org: OrgId,
        sources: &[BusySource],
        without: &[LivingAgent],
    ) -> Result<Vec<HumanSeen>, Refusal> {
        let mut seen = if sources.is_empty() { Vec::new() } else { self.humans_of(org, sources).await? };
        if !without.is_empty() {
            let mut own = self.human.human_sources_of_agents(org, without).await?;
            own.sort_unstable();
            own.dedup();
            seen.extend(own);
        }
        Ok(seen)
    }

    /// Reads the busy times of the human calendars in `window`, for a query about `calendars`. Copies of their events do
    /// not block the calendars of the same agent.
    pub(crate) async fn read_humans(
        &self,
        org: OrgId,
        (seen, calendars): (Vec<HumanSeen>, &[BusySource]),
        window: Span,
        now: Timestamp,
        allow_stale: bool,
    ) -> Result<Humans, Refusal> {
        let mut sources: Vec<HumanSource> = seen.iter().map(|seen| seen.source).collect();
        sources.sort_unstable();
        sources.dedup();
        let busy = if sources.is_empty() { Vec::new() } else { self.human.human_busy(org, &sources, window).await? };
        let humans = Humans { seen, busy, owners: Vec::new(), now, allow_stale, unknown_is_busy: false };
        Ok(if humans.have_copies() { humans.about(calendars) } else { humans })
    }
}

impl Humans {
    /// Whether a source has copies, so that it matters whose they are.
    pub(crate) fn have_copies(&self) -> bool {
        self.busy.iter().any(|busy| !busy.copies.is_empty())
    }

    /// Makes this a query about `calendars`.
    pub(crate) fn about(mut self, calendars: &[BusySource]) -> Self {
        self.owners = calendars.iter().map(|source| (source.calendar, source.agent)).collect();
        self
    }

    /// Reports unknown time as busy if `hide` is set: [`Self::busy`] is then everything that is not offered.
    pub(crate) const fn hiding_unknown(mut self, hide: bool) -> Self {
        self.unknown_is_busy = hide;
        self
    }

    /// What is known about `window` from all human calendars together, each counted once.
    pub(crate) fn know(&self, window: Span) -> HumanTime {
        // What is known does not depend on copies.
        HumanTime::of(&self.busy, &[], window, self.now, self.allow_stale)
    }

    /// The time in `window` that the human calendars of one of our calendars or agents do not offer; `None` if it has
    /// none.
    pub(crate) fn blocked(&self, of: impl Into<HumanFor>, window: Span) -> Option<BusySet> {
        self.blocked_if(of.into(), window, self.allow_stale)
    }

    /// The busy times in `window` of the human calendars of one of our calendars or agents, as far as they are known;
    /// `None` if it has none. After [`Self::hiding_unknown`] unknown time is busy too.
    pub(crate) fn busy(&self, of: impl Into<HumanFor>, window: Span) -> Option<BusySet> {
        // Unknown time is not offered. It is not reported as busy either, unless that would show that it is unknown.
        let allow_stale = !self.unknown_is_busy;
        self.blocked_if(of.into(), window, allow_stale)
    }

    fn blocked_if(&self, of: HumanFor, window: Span, allow_stale: bool) -> Option<BusySet> {
        let own = self.own(of);
        self.of(of).map(|busy| HumanTime::of(&busy, &own, window, self.now, allow_stale).blocked)
    }

    /// The calendars whose copies do not block: those of the query that belong to the same agent, and the calendar
    /// itself. An agent without a calendar has none.
    fn own(&self, of: HumanFor) -> Vec<CalendarId> {
        let HumanFor::Calendar(calendar) = of else { return Vec::new() };
        let owner = self.owners.iter().find(|(other, _)| *other == calendar).and_then(|(_, owner)| *owner);
        let is_own = |(other, agent): &&(CalendarId, Option<AgentId>)| {
            *other == calendar || (owner.is_some() && *agent == owner)
        };
        self.owners.iter().filter(is_own).map(|(other, _)| *other).collect()
    }

    fn of(&self, of: HumanFor) -> Option<Vec<HumanBusy>> {
        if self.seen.is_empty() {
            return None;
        }
        let counts = |busy: &&HumanBusy| self.seen.iter().any(|seen| seen.of == of && seen.source == busy.source);
        let busy: Vec<HumanBusy> = self.busy.iter().filter(counts).cloned().collect();
        (!busy.is_empty()).then_some(busy)
    }
}
