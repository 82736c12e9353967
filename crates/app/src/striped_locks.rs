//! Striped locks: requests of one process that want to change the same thing decide one after another.

use std::{
    collections::{BTreeSet, hash_map::DefaultHasher},
    hash::{Hash, Hasher as _},
};

use tokio::sync::{Mutex, MutexGuard};

/// How many locks there are. Two things that share a lock wait for each other without need, but rarely.
const LOCKS: usize = 512;

/// A fixed number of locks, shared by everything that can be changed.
///
/// Correctness does not depend on them: guards in the change-set see to that, between processes too. Without them, all but
/// one of many concurrent writers would decide on data that is stale at commit, again and again.
pub(crate) struct StripedLocks(Vec<Mutex<()>>);

impl StripedLocks {
    pub(crate) fn new() -> Self {
        Self((0..LOCKS).map(|_| Mutex::new(())).collect())
    }

    /// Locks each of `wanted`. All callers lock in the same order, so that they cannot wait for each other in a circle.
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
