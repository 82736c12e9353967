//! The busy times of connected human calendars, as far as an answer about availability needs them.

use async_trait::async_trait;
use kalends_availability::{BusySet, HumanBusy, HumanSource, HumanTime};
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::{OrgId, Span, StoreError, Timestamp};

use crate::{
    App, Refusal,
    ports::{HumanCalendars, HumanSeen},
};

/// No human calendar is connected to anything: for what has no bridge to them. There is nothing to know then, and every answer is
/// `complete`.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHumanCalendars;

#[async_trait]
impl HumanCalendars for NoHumanCalendars {
    async fn human_sources(&self, _: OrgId, _: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        Ok(Vec::new())
    }

    async fn human_sources_of_agents(&self, _: OrgId, _: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        Ok(Vec::new())
    }

    async fn human_busy(&self, _: OrgId, _: &[HumanSource], _: Span) -> Result<Vec<HumanBusy>, StoreError> {
        Ok(Vec::new())
    }
}

/// What human calendars say about the time of a question, and how they are to be taken.
pub(crate) struct Humans {
    seen: Vec<HumanSeen>,
    /// Of each source that is connected still.
    busy: Vec<HumanBusy>,
    now: Timestamp,
    allow_stale: bool,
}

impl App {
    /// Which human calendars count for the calendars, in an order that is always the same.
    pub(crate) async fn humans_of(&self, org: OrgId, sources: &[BusySource]) -> Result<Vec<HumanSeen>, Refusal> {
        let mut seen = self.human.human_sources(org, sources).await?;
        seen.sort_unstable();
        seen.dedup();
        Ok(seen)
    }

    /// Which human calendars count for the calendars, and which for the agents `without` a calendar, in
    /// an order that is always the same. Whatever counts for an agent counts for each of its calendars, so that only
    /// those are asked about that have none.
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

    /// What the human calendars say about `window`.
    pub(crate) async fn read_humans(
        &self,
        org: OrgId,
        seen: Vec<HumanSeen>,
        window: Span,
        now: Timestamp,
        allow_stale: bool,
    ) -> Result<Humans, Refusal> {
        let mut sources: Vec<HumanSource> = seen.iter().map(|seen| seen.source).collect();
        sources.sort_unstable();
        sources.dedup();
        let busy = if sources.is_empty() { Vec::new() } else { self.human.human_busy(org, &sources, window).await? };
        Ok(Humans { seen, busy, now, allow_stale })
    }
}

impl Humans {
    /// What all of them together let one say about `window`, each counted once.
    pub(crate) fn know(&self, window: Span) -> HumanTime {
        HumanTime::of(&self.busy, window, self.now, self.allow_stale)
    }

    /// The time of `window` that those of one of ours do not offer; `None` where it has none.
    pub(crate) fn blocked(&self, of: impl Into<HumanFor>, window: Span) -> Option<BusySet> {
        self.of(of.into()).map(|busy| HumanTime::of(&busy, window, self.now, self.allow_stale).blocked)
    }

    /// When those of one of ours are busy inside `window`, as far as anything usable is known; `None`
    /// where it has none.
    pub(crate) fn busy(&self, of: impl Into<HumanFor>, window: Span) -> Option<BusySet> {
        // What is unknown is not offered, but nobody says that it is busy.
        self.of(of.into()).map(|busy| HumanTime::of(&busy, window, self.now, true).blocked)
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
