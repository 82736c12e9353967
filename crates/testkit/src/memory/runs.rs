//! The journal of runs.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_app::ports::CommitError;
use kalends_kernel::{EventId, OrgId, StoreError};
use kalends_runs::{Change, Entry, Kept, RunKey, WRITES_MAX, ports::Runs};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    apply::create,
    state::{RunWriteRow, State},
};

impl State {
    pub(super) fn apply_to_runs(&mut self, org: OrgId, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::Record { run, entry } => {
                let row = RunWriteRow { run: run.clone(), entry: Entry::clone(entry) };
                create(self.run_writes.entry((org, entry.id)), &row)?;
                let of_run = self.run_writes.iter().filter(|((by, _), row)| *by == org && row.run == *run);
                if of_run.count() > WRITES_MAX { Err(CommitError::Stale) } else { Ok(()) }
            }
            Change::Undo { run, count, at } => {
                let mut undone = 0;
                for ((by, _), row) in &mut self.run_writes {
                    if *by == org && row.run == *run && row.entry.undone_at.is_none() {
                        row.entry.undone_at = Some(*at);
                        undone += 1;
                    }
                }
                if undone == *count { Ok(()) } else { Err(CommitError::Stale) }
            }
        }
    }
}

#[async_trait]
impl Runs for MemoryStore {
    async fn run_writes(&self, org: OrgId, run: &RunKey) -> Result<Vec<Entry>, StoreError> {
        let state = self.state();
        let rows = state.run_writes.iter().filter(|((by, _), row)| *by == org && row.run == *run);
        let mut writes: Vec<Entry> = rows.map(|(_, row)| row.entry.clone()).collect();
        writes.sort_by_key(|entry| (entry.at, entry.id));
        Ok(writes)
    }

    async fn count_run_writes(&self, org: OrgId, run: &RunKey) -> Result<u64, StoreError> {
        Ok(self.run_writes(org, run).await?.len() as u64)
    }

    async fn kept_events(&self, org: OrgId, ids: &[EventId]) -> Result<Vec<Kept>, StoreError> {
        let state = self.state();
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let kept = ids.into_iter().filter_map(|id| {
            let event = state.events.get(&(org, id))?.clone();
            let agent = state.calendars.get(&(org, event.calendar))?.agent;
            Some(Kept { event, agent })
        });
        Ok(kept.collect())
    }

    async fn purge_run_writes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.write(|state| {
            let later = state.run_writes.iter().filter(|(_, row)| row.entry.at > before);
            let active: BTreeSet<(OrgId, RunKey)> = later.map(|((org, _), row)| (*org, row.run.clone())).collect();
            let old = state.run_writes.iter().filter(|((org, _), row)| !active.contains(&(*org, row.run.clone())));
            let old: Vec<_> = old.map(|(key, _)| *key).take(limit as usize).collect();
            Ok(old.iter().filter(|key| state.run_writes.remove(*key).is_some()).count() as u64)
        })
    }
}
