//! Bounds the audit entries for failed requests: keys that are no longer valid, and requests over a limit. They are
//! written in the background, and the request does not wait.

use std::sync::{Arc, Mutex, PoisonError};

use kalends_accounts::{Action, KeyHash};
use kalends_quotas::{Rate, RateDecision, RateState};
use kalends_time::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::sampler::Sampler;

/// How many entries are written at once. Further failures in that time are not recorded.
const AT_ONCE: usize = 8;
/// How often this process looks up an invalid key. So a flood of made-up keys is cheap.
const LOOK_UPS: Rate = Rate::per_minute(30);

/// Bounds the recording of failures.
pub(crate) struct Failures {
    places: Arc<Semaphore>,
    /// The invalid keys that were seen lately. Separate from the audit log's own sampler, so that made-up keys evict
    /// only each other.
    keys: Sampler,
    look_ups: Mutex<RateState>,
}

impl Failures {
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), keys: Sampler::new(), look_ups: Mutex::new(RateState::FRESH) }
    }

    /// A place to record one failure, if one is free.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Whether to look up the key with that hash, which was invalid at `now`, among former keys.
    pub(crate) fn looks_up(&self, KeyHash(hash): KeyHash, now: Timestamp) -> bool {
        if !self.keys.admits(Action::AuthFailure, &hash, now) {
            return false;
        }
        let mut state = self.look_ups.lock().unwrap_or_else(PoisonError::into_inner);
        match LOOK_UPS.decide(*state, now) {
            RateDecision::Admitted { state: next, .. } => {
                *state = next;
                true
            }
            RateDecision::Refused { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;

    use super::*;

    #[test]
    fn look_ups_of_made_up_keys_are_limited() {
        let failures = Failures::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let flood =
            |now| (0..10_000).filter(|number| failures.looks_up(KeyHash::of(&format!("{number}")), now)).count();
        assert_eq!(flood(now), 30);
        assert_eq!(flood(now + SignedDuration::minutes(1)), 30);
    }

    #[test]
    fn a_key_is_looked_up_once_a_minute_and_does_not_delay_others() {
        let failures = Failures::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let (one, other) = (KeyHash::of("one"), KeyHash::of("other"));
        let admitted = (0..1_000).filter(|_| failures.looks_up(one, now)).count();
        assert_eq!(admitted, 1);
        assert!(failures.looks_up(other, now));
        assert!(failures.looks_up(one, now + SignedDuration::minutes(1)));
    }

    #[test]
    fn concurrent_records_are_limited() {
        let failures = Failures::new();
        let mut places: Vec<_> = std::iter::from_fn(|| failures.place()).take(100).collect();
        assert_eq!(places.len(), AT_ONCE);
        places.pop();
        assert!(failures.place().is_some());
    }
}
