//! The port through which the journal of runs is read.

use async_trait::async_trait;
use kalends_kernel::{EventId, OrgId, StoreError};
use kalends_time::{SignedDuration, Timestamp};

use crate::{Entry, Kept, RunKey};

/// How long the writes of a run are kept after the last of them.
pub const WRITES_KEPT: SignedDuration = SignedDuration::days(7);

/// Reads the journal of runs.
#[async_trait]
pub trait Runs: Send + Sync {
    /// The writes of a run, the oldest first, and by identifier among those of one time. Empty if there is no such run.
    async fn run_writes(&self, org: OrgId, run: &RunKey) -> Result<Vec<Entry>, StoreError>;

    /// How many writes a run has.
    async fn count_run_writes(&self, org: OrgId, run: &RunKey) -> Result<u64, StoreError>;

    /// These events as they are stored, by identifier: also deleted ones, those on deleted calendars, and overrides of
    /// series. Events that were purged are left out.
    async fn kept_events(&self, org: OrgId, ids: &[EventId]) -> Result<Vec<Kept>, StoreError>;

    /// Forgets up to `limit` writes that were recorded at or before that time, in all organizations, except those of runs
    /// that have a later one: an undo takes back all writes of its run. Returns how many.
    async fn purge_run_writes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
