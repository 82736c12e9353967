//! Failures of callers in their audit log, now and then (ruling 3.12): keys that open nothing any more, and requests
//! over a limit. They are recorded beside the request, which does not wait for it.

use std::sync::{Arc, Mutex, PoisonError};

use kalends_accounts::{Action, KeyForm, KeyHash, Principal, Reach};
use kalends_kernel::Timestamp;
use kalends_quotas::{Rate, RateDecision, RateState};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    App, Leased, Refusal, Request,
    app::Subject,
    audit::{By, Sampler},
};

/// How many entries are written at once; what comes meanwhile is left out.
const AT_ONCE: usize = 8;
/// How often this process looks for a key that opened nothing. A flood of made-up keys costs no more than that.
const LOOK_UPS: Rate = Rate::per_minute(30);

/// What bounds the recording of failures.
pub(crate) struct Failures {
    places: Arc<Semaphore>,
    /// Which keys opened nothing lately. Apart from the log's own sampler: made-up keys push out one another.
    keys: Sampler,
    look_ups: Mutex<RateState>,
}

impl Failures {
    pub(crate) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(AT_ONCE)), keys: Sampler::new(), look_ups: Mutex::new(RateState::FRESH) }
    }

    fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Whether the key of that hash, which opened nothing at `now`, is looked for among those that once did.
    fn looks_up(&self, KeyHash(hash): KeyHash, now: Timestamp) -> bool {
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

impl App {
    /// Records that a request was over its rate, over what its plan grants in a month, or over what is allowed so often
    /// whatever the plan. Other refusals are passed over.
    pub fn note_over_limit(self: &Arc<Self>, principal: &Principal, request: &Request, refusal: &Refusal) {
        match refusal {
            Refusal::TooFast { .. } | Refusal::TooMany { .. } => {}
            Refusal::LimitReached { metric, .. } if Leased::counts(*metric) => {}
            _ => return,
        }
        let Some(place) = self.failures.place() else { return };
        let action = Action::RateLimitExceeded;
        if !self.sampler.admits(action, &principal.credential.bytes(), self.now()) {
            return;
        }
        let org = principal.org;
        let agent = match principal.reach {
            Reach::Organization => None,
            Reach::Agent(agent) => Some(agent.id),
        };
        let (app, request, prefix) = (Arc::clone(self), request.clone(), principal.key_prefix.clone());
        tokio::spawn(async move {
            let subject = Subject { org, agent, resource: org.to_string() };
            let by = By::Request { request: &request, key_prefix: Some(&prefix) };
            app.note(action, subject, &by, 429).await;
            drop(place);
        });
    }

    /// Records that somebody presented a key that opens nothing any more. Of a key that never was nothing is
    /// recorded: it is nobody's.
    pub fn note_refused_key(self: &Arc<Self>, key: &str, request: &Request) {
        if KeyForm::of(key).is_none() {
            return;
        }
        let Some(place) = self.failures.place() else { return };
        let hash = KeyHash::of(key);
        if !self.failures.looks_up(hash, self.now()) {
            return;
        }
        let (app, request) = (Arc::clone(self), request.clone());
        tokio::spawn(async move {
            match app.store.find_ended_key(hash).await {
                Ok(Some(ended)) => {
                    let subject = Subject { org: ended.org, agent: ended.agent, resource: ended.org.to_string() };
                    let by = By::Request { request: &request, key_prefix: Some(&ended.prefix) };
                    app.note(Action::AuthFailure, subject, &by, 401).await;
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a refused key could not be looked for"),
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::SignedDuration;

    use super::*;

    #[test]
    fn a_flood_of_made_up_keys_is_hardly_looked_at() {
        let failures = Failures::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let flood =
            |now| (0..10_000).filter(|number| failures.looks_up(KeyHash::of(&format!("{number}")), now)).count();
        assert_eq!(flood(now), 30);
        assert_eq!(flood(now + SignedDuration::minutes(1)), 30);
    }

    #[test]
    fn one_key_is_looked_for_once_a_minute_and_takes_no_other_s_turn() {
        let failures = Failures::new();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let (one, other) = (KeyHash::of("one"), KeyHash::of("other"));
        let admitted = (0..1_000).filter(|_| failures.looks_up(one, now)).count();
        assert_eq!(admitted, 1);
        assert!(failures.looks_up(other, now));
        assert!(failures.looks_up(one, now + SignedDuration::minutes(1)));
    }

    #[test]
    fn a_few_are_recorded_at_once() {
        let failures = Failures::new();
        let mut places: Vec<_> = std::iter::from_fn(|| failures.place()).take(100).collect();
        assert_eq!(places.len(), AT_ONCE);
        places.pop();
        assert!(failures.place().is_some());
    }
}
