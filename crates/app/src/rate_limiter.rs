//! How fast: the limiter of one process.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use kalends_kernel::Instant;
use kalends_quotas::{Rate, RateDecision, RateState};
use moka::sync::Cache;

use crate::ports::{Admission, Gate, RateKey, RateLimiter};

/// The most keys that are remembered.
const KEYS_MAX: u64 = 100_000;
/// The most addresses that are remembered. A flood of them pushes out one another, and no key.
const ADDRESSES_MAX: u64 = 200_000;

type States = Cache<RateKey, Arc<AtomicI64>>;

/// Limits within this process (ruling 3.4), in bounded memory: what is least looked for is forgotten first.
#[derive(Debug, Clone)]
pub struct MemoryRateLimiter {
    keys: States,
    addresses: States,
}

impl Default for MemoryRateLimiter {
    fn default() -> Self {
        // What is idle is not looked for: that would cost a look at the clock for each request.
        let states = |most| Cache::builder().max_capacity(most).build();
        Self { keys: states(KEYS_MAX), addresses: states(ADDRESSES_MAX) }
    }
}

impl RateLimiter for MemoryRateLimiter {
    fn gate(&self, key: RateKey, rate: Rate) -> Arc<dyn Gate> {
        let states = match key {
            RateKey::Key(_) => &self.keys,
            RateKey::Address(..) => &self.addresses,
        };
        let state = match states.get(&key) {
            Some(state) => state,
            None => states.get_with(key, || Arc::new(AtomicI64::new(RateState::FRESH.as_i64()))),
        };
        Arc::new(MemoryGate { state, rate })
    }
}

/// A gate that knows of the requests of its own process.
struct MemoryGate {
    state: Arc<AtomicI64>,
    rate: Rate,
}

#[async_trait]
impl Gate for MemoryGate {
    async fn admit(&self, now: Instant) -> Admission {
        let mut seen = self.state.load(Ordering::Acquire);
        loop {
            match self.rate.decide(RateState::from_i64(seen), now) {
                RateDecision::Refused { retry_after } => return Admission::Refused { retry_after },
                RateDecision::Admitted { state: next, .. } => {
                    match self.state.compare_exchange_weak(seen, next.as_i64(), Ordering::AcqRel, Ordering::Acquire) {
                        Ok(_) => return Admission::Admitted,
                        Err(changed) => seen = changed,
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::{Elapsed, Entropy, KeyId};
    use kalends_quotas::{IpKey, IpLane};

    use super::*;

    struct Fixed(u8);
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn key(number: u8) -> RateKey {
        RateKey::Key(KeyId::new(Instant::from_micros(0), &Fixed(number)))
    }

    #[tokio::test]
    async fn keys_are_limited_apart_and_recover() {
        let limiter = MemoryRateLimiter::default();
        let (rate, now) = (Rate::per_second(10), Instant::from_micros(1_000_000));
        for who in [key(1), key(2), RateKey::Address(IpLane::Plans, IpKey::V4(1))] {
            for _ in 0..10 {
                assert_eq!(limiter.gate(who, rate).admit(now).await, Admission::Admitted);
            }
            let refused = limiter.gate(who, rate).admit(now).await;
            assert_eq!(refused, Admission::Refused { retry_after: Elapsed::micros(100_000) });
        }
        let later = now + Elapsed::micros(100_000);
        assert_eq!(limiter.gate(key(1), rate).admit(later).await, Admission::Admitted);
        assert_ne!(limiter.gate(key(1), rate).admit(later).await, Admission::Admitted);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_crowd_is_admitted_exactly_as_often_as_the_rate_allows() {
        let limiter = MemoryRateLimiter::default();
        let (rate, now) = (Rate::per_second(200), Instant::from_micros(1_000_000));
        let crowd: Vec<_> = (0..16)
            .map(|_| {
                let limiter = limiter.clone();
                tokio::spawn(async move {
                    let mut admitted = 0;
                    for _ in 0..50 {
                        admitted += i32::from(limiter.gate(key(1), rate).admit(now).await == Admission::Admitted);
                    }
                    admitted
                })
            })
            .collect();
        let mut admitted = 0;
        for task in crowd {
            admitted += task.await.unwrap();
        }
        assert_eq!(admitted, 200);
    }
}
