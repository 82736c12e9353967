//! Human calendars that return what a test sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use kalends_app::ports::{HumanCalendars, HumanSeen};
use kalends_bridge::HumanBusy;
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::HumanSource;
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Span;

/// Human calendars in memory, which count without a grant. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct TestHumans(Arc<Mutex<Connected>>);

#[derive(Debug, Default)]
struct Connected {
    sources: Vec<HumanBusy>,
    /// Which source counts for which calendar or agent.
    counts: Vec<(HumanFor, HumanSource)>,
}

impl TestHumans {
    /// Sets what the source of `busy` returns from now on.
    pub fn say(&self, busy: HumanBusy) {
        let mut connected = self.lock();
        connected.sources.retain(|other| other.source != busy.source);
        connected.sources.push(busy);
    }

    /// Makes the source count for the calendar or agent from now on.
    pub fn connect(&self, of: impl Into<HumanFor>, source: HumanSource) {
        self.lock().counts.push((of.into(), source));
    }

    /// Removes the source.
    pub fn disconnect(&self, source: HumanSource) {
        let mut connected = self.lock();
        connected.counts.retain(|(_, other)| *other != source);
        connected.sources.retain(|other| other.source != source);
    }

    fn seen(&self, owners: &[HumanFor]) -> Vec<HumanSeen> {
        let connected = self.lock();
        let seen = |(of, source): &(HumanFor, HumanSource)| {
            let known = connected.sources.iter().find(|known| known.source == *source)?;
            Some(HumanSeen { of: *of, source: *source, revision: known.revision, read_at: known.read_at })
        };
        connected.counts.iter().filter(|(of, _)| owners.contains(of)).filter_map(seen).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Connected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl HumanCalendars for TestHumans {
    async fn human_sources(&self, _: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        Ok(self.seen(&calendars.iter().map(|calendar| calendar.calendar.into()).collect::<Vec<_>>()))
    }

    async fn human_sources_of_agents(&self, _: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        Ok(self.seen(&agents.iter().map(|agent| agent.id.into()).collect::<Vec<_>>()))
    }

    async fn human_busy(&self, _: OrgId, sources: &[HumanSource], window: Span) -> Result<Vec<HumanBusy>, StoreError> {
        let connected = self.lock();
        let queried = connected.sources.iter().filter(|known| sources.contains(&known.source));
        // Clipped to the window, so that a caller that needs more must ask for it.
        let clipped = |known: &HumanBusy| {
            let copies = known.copies.iter().filter_map(|(calendar, span)| Some((*calendar, span.clip(window)?)));
            HumanBusy { spans: known.spans.clip(window), copies: copies.collect(), ..known.clone() }
        };
        Ok(queried.map(clipped).collect())
    }
}
