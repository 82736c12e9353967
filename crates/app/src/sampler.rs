//! Samples the entries of the audit log that many requests could cause.

use kalends_accounts::Action;
use kalends_quotas::{RateDecision, RateState};
use kalends_time::Timestamp;
use moka::sync::Cache;
use sha2::{Digest, Sha256};

/// The largest number of keys for which this process remembers the last recorded failure.
const SAMPLED_MAX: u64 = 50_000;

/// When a sampled action of each key or other caller was last recorded.
///
/// Each process has its own sampler, so several nodes may each write one entry per minute, key and action.
pub(crate) struct Sampler(Cache<[u8; 32], RateState>);

impl Sampler {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(SAMPLED_MAX).build())
    }

    /// Whether to write an entry of `action` by `who` at `now`.
    pub(crate) fn admits(&self, action: Action, who: &[u8], now: Timestamp) -> bool {
        let Some(rate) = action.sampled() else { return true };
        let place: [u8; 32] =
            Sha256::new().chain_update(action.as_str()).chain_update([0]).chain_update(who).finalize().into();
        let mut admitted = false;
        // Concurrent calls for one key take turns here, so that only one is admitted.
        self.0.entry(place).and_upsert_with(|known| {
            let state = known.map_or(RateState::FRESH, moka::Entry::into_value);
            match rate.decide(state, now) {
                RateDecision::Admitted { state, .. } => {
                    admitted = true;
                    state
                }
                RateDecision::Refused { .. } => state,
            }
        });
        admitted
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;

    use super::*;

    #[test]
    fn only_failures_are_sampled_by_key_and_action() {
        let sampler = Sampler::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        assert!(sampler.admits(Action::AuthFailure, b"a", now));
        assert!(!sampler.admits(Action::AuthFailure, b"a", now + SignedDuration::seconds(59)));
        assert!(sampler.admits(Action::AuthFailure, b"b", now));
        assert!(sampler.admits(Action::RateLimitExceeded, b"a", now));
        assert!(sampler.admits(Action::AuthFailure, b"a", now + SignedDuration::minutes(1)));
        for _ in 0..3 {
            assert!(sampler.admits(Action::EventCreate, b"a", now));
        }
    }
}
