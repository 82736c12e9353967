//! Striped locks: requests of one process that change the same thing take turns.

use std::{
    collections::{BTreeSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher as _},
};

use tokio::sync::{Mutex, MutexGuard};

/// The number of locks. Requests for two things that share a lock wait for each other needlessly, but that is rare.
const LOCKS: usize = 512;

/// A fixed number of locks, shared by everything that can change.
///
/// Correctness does not depend on them: the guards of the change-set ensure it, also between processes. Without the
/// locks, all but one of many concurrent writers would repeatedly decide on data that is stale at commit.
pub(crate) struct StripedLocks(Vec<Mutex<()>>);

impl StripedLocks {
    pub(crate) fn new() -> Self {
        Self((0..LOCKS).map(|_| Mutex::new(())).collect())
    }

    /// Locks each of `wanted`. All callers lock in the same order, so they cannot deadlock.
    pub(crate) async fn lock<T: Hash>(&self, wanted: impl IntoIterator<Item = T>) -> Vec<MutexGuard<'_, ()>> {
        let stripe = |wanted: T| {
            let mut hasher = DefaultHasher::new();
            wanted.hash(&mut hasher);
            usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0)
        };
        let stripes: BTreeSet<usize> = wanted.into_iter().map(stripe).collect();
        let mut held = Vec::with_capacity(stripes.len());
        for lock in stripes.into_iter().filter_map(|stripe| self.0.get(stripe)) {
            held.push(lock.lock().await);
        }
        held
    }
}
