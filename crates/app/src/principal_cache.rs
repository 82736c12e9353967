//! The cached callers of keys, and the lease under which they are valid: the store's epoch, if it was confirmed within
//! the last second.

use std::sync::{Arc, Mutex, PoisonError};

use kalends_time::{SignedDuration, Timestamp};
use moka::sync::Cache;

use crate::Caller;

/// How long a confirmed epoch is trusted.
const LEASE: SignedDuration = SignedDuration::seconds(1);
/// The most keys that are cached.
const KEYS_MAX: u64 = 50_000;

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) epoch: i64,
    pub(crate) caller: Arc<Caller>,
}

#[derive(Clone, Copy)]
struct Confirmed {
    epoch: i64,
    at: Timestamp,
}

pub(crate) struct PrincipalCache {
    pub(crate) entries: Cache<[u8; 32], Entry>,
    confirmed: Mutex<Option<Confirmed>>,
}

impl PrincipalCache {
    pub(crate) fn new() -> Self {
        Self { entries: Cache::builder().max_capacity(KEYS_MAX).build(), confirmed: Mutex::new(None) }
    }

    /// The epoch that may be trusted at `now`.
    pub(crate) fn epoch(&self, now: Timestamp) -> Option<i64> {
        let confirmed = *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        // If the clock is set back before the last poll, the lease ends.
        confirmed.filter(|confirmed| confirmed.at <= now && now < confirmed.at + LEASE).map(|confirmed| confirmed.epoch)
    }

    pub(crate) fn confirm(&self, epoch: i64, at: Timestamp) {
        let mut confirmed = self.confirmed.lock().unwrap_or_else(PoisonError::into_inner);
        // Two polls may finish out of order. Epochs only rise.
        if confirmed.is_none_or(|known| known.epoch <= epoch) {
            *confirmed = Some(Confirmed { epoch, at });
        }
    }
}
