//! The busy times of connected human calendars, as far as an answer about availability needs them.

use async_trait::async_trait;
use kalends_availability::{BusySet, HumanBusy, HumanSource, HumanTime};
use kalends_calendars::ports::BusySource;
use kalends_kernel::{CalendarId, Instant, OrgId, Span, StoreError};

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
    async fn human_sources(&self, _: OrgId, _: &[CalendarId]) -> Result<Vec<HumanSeen>, StoreError> {
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
    now: Instant,
    allow_stale: bool,
}

impl App {
    /// Which human calendars count for the calendars, in an order that is always the same.
    pub(crate) async fn humans_of(&self, org: OrgId, sources: &[BusySource]) -> Result<Vec<HumanSeen>, Refusal> {
        let calendars: Vec<CalendarId> = sources.iter().map(|source| source.calendar).collect();
        let mut seen = self.human.human_sources(org, &calendars).await?;
        seen.sort_unstable();
        seen.dedup();
        Ok(seen)
    }

    /// What the human calendars say about `window`.
    pub(crate) async fn read_humans(
        &self,
        org: OrgId,
        seen: Vec<HumanSeen>,
        window: Span,
        now: Instant,
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

    /// The time of `window` that those of one calendar do not offer; `None` where it has none.
    pub(crate) fn blocked(&self, calendar: CalendarId, window: Span) -> Option<BusySet> {
        self.of(calendar).map(|busy| HumanTime::of(&busy, window, self.now, self.allow_stale).blocked)
    }

    /// When those of one calendar are busy inside `window`, as far as anything usable is known; `None`
    /// where it has none.
    pub(crate) fn busy(&self, calendar: CalendarId, window: Span) -> Option<BusySet> {
        // What is unknown is not offered, but nobody says that it is busy.
        self.of(calendar).map(|busy| HumanTime::of(&busy, window, self.now, true).blocked)
    }

    fn of(&self, calendar: CalendarId) -> Option<Vec<HumanBusy>> {
        if self.seen.is_empty() {
            return None;
        }
        let counts =
            |busy: &&HumanBusy| self.seen.iter().any(|seen| seen.calendar == calendar && seen.source == busy.source);
        let busy: Vec<HumanBusy> = self.busy.iter().filter(counts).cloned().collect();
        (!busy.is_empty()).then_some(busy)
    }
}
