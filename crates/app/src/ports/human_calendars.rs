//! The busy times of connected human calendars, as they are stored.

use async_trait::async_trait;
use kalends_bridge::HumanBusy;
use kalends_calendars::{
    HumanFor,
    ports::{BusySource, LivingAgent},
};
use kalends_kernel::{HumanSource, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};

/// A human calendar that counts for one of our calendars or agents, as of its last read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HumanSeen {
    /// What the human calendar counts for.
    pub of: HumanFor,
    /// The human calendar.
    pub source: HumanSource,
    /// Raised whenever a read returns different busy times.
    pub revision: Revision,
    /// When it was last read in full; `None` before the first read.
    pub read_at: Option<Timestamp>,
}

/// Reads the busy times of connected human calendars.
///
/// All methods answer from stored data. None of them calls a provider.
#[async_trait]
pub trait HumanCalendars: Send + Sync {
    /// The human calendars that count for each of the given calendars, in any order. Every availability query calls
    /// this, even if its answer comes from a cache. Whatever could change an answer changes a `revision` or `read_at`
    /// here. A store skips the lookup if nothing is granted.
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError>;

    /// The human calendars that count for each of the given living agents, as [`HumanCalendars::human_sources`]
    /// returns them for calendars. An agent need not have a calendar.
    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError>;

    /// The busy times of each source in `window`, as of its last read, and at least as new as the revision that the
    /// caller saw. A source that is no longer connected is left out.
    async fn human_busy(&self, org: OrgId, sources: &[HumanSource], window: Span)
    -> Result<Vec<HumanBusy>, StoreError>;
}
