//! The reference store: plain maps behind one lock.
//!
//! It is the simplest implementation of the ports' contracts. A change-set is applied to a copy of the state, which
//! replaces the state if nothing fails.

mod account_data;
mod accounts;
mod apply;
mod approvals;
mod bookings;
mod bridge;
mod busy;
mod calendars;
mod change_feed;
mod changes;
mod claims;
mod connectors;
mod context;
mod feeds;
mod glances;
mod holds;
mod identities;
mod inspect;
mod instances;
mod letters;
mod metering;
mod names;
mod organization_lists;
mod people;
mod proposals;
mod publishing;
mod runs;
mod state;
mod subscriptions;
mod timers;
mod webhooks;

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use kalends_accounts::Acceptance;
use kalends_app::{
    ChangeSet, StoredAnswer,
    ports::{Backups, Commit, CommitError, DataKeyView, Readiness, SealingKeys, StoredAnswers},
};
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Timestamp;

use self::state::State;

/// A store in memory. Clones are the same store.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<Arc<State>>>,
    feeds_read: Arc<AtomicU64>,
    change_feed_reads: Arc<AtomicU64>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything that is stored except the use of the month, as text, so that tests can compare states.
    pub fn written(&self) -> String {
        let state = State { used: std::collections::BTreeMap::new(), ..State::clone(&self.state()) };
        format!("{state:?}")
    }

    /// How often the events of a feed were read.
    pub fn feeds_read(&self) -> u64 {
        self.feeds_read.load(Ordering::Relaxed)
    }

    /// How often a change feed was read, or the ends of some.
    pub fn change_feed_reads(&self) -> u64 {
        self.change_feed_reads.load(Ordering::Relaxed)
    }

    /// Every acceptance of terms that was recorded for the organization, in order.
    pub fn acceptances(&self, org: OrgId) -> Vec<Acceptance> {
        let state = self.state();
        let recorded = state.acceptances.iter().filter(|(accepted_by, _)| *accepted_by == Some(org));
        recorded.map(|(_, acceptance)| acceptance.clone()).collect()
    }

    /// The snapshot that every read uses.
    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Commit for MemoryStore {
    async fn commit(&self, changes: ChangeSet) -> Result<(), CommitError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let next = state.applied(&changes)?;
        if changes.dry_run {
            return Err(CommitError::RolledBack);
        }
        *state = Arc::new(next);
        Ok(())
    }
}

#[async_trait]
impl StoredAnswers for MemoryStore {
    async fn find_answer(&self, scope: [u8; 32], now: Timestamp) -> Result<Option<StoredAnswer>, StoreError> {
        Ok(self.state().answers.get(&scope).filter(|stored| now < stored.expires_at).cloned())
    }

    async fn forget_answers(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let expired = state.answers.iter().filter(|(_, stored)| stored.expires_at <= now);
            let expired: Vec<_> = expired.map(|(scope, _)| *scope).take(limit as usize).collect();
            expired.iter().filter(|scope| state.answers.remove(*scope).is_some()).count() as u64
        }))
    }
}

#[async_trait]
impl Readiness for MemoryStore {
    async fn ready(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn writable(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn database_bytes(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }
}

#[async_trait]
impl SealingKeys for MemoryStore {
    async fn sealing_keys(&self) -> Result<Vec<DataKeyView>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Backups for MemoryStore {
    async fn record_backup(&self, at: Timestamp) -> Result<(), StoreError> {
        self.write(|state| state.last_backup = Some(at));
        Ok(())
    }

    async fn last_backup(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.state().last_backup)
    }
}
