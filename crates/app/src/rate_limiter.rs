//! The rate limiter of a single process.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use kalends_quotas::{Rate, RateDecision, RateState};
use kalends_time::Timestamp;
use moka::{policy::EvictionPolicy, sync::Cache};

use crate::ports::{Admission, Gate, RateKey, RateLimiter};

/// The most keys that are remembered.
const KEYS_MAX: u64 = 100_000;
/// The most console users that are remembered.
const USERS_MAX: u64 = 50_000;
/// The most accounts with password attempts that are remembered.
const ACCOUNTS_MAX: u64 = 50_000;
/// The most network addresses that are remembered. In a flood, they evict only each other, and no keys.
const ADDRESSES_MAX: u64 = 200_000;

type States = Cache<RateKey, Arc<AtomicI64>>;

/// Limits rates within this process, in bounded memory. The least recently used entry is evicted first.
#[derive(Debug, Clone)]
pub struct MemoryRateLimiter {
    keys: States,
    users: States,
    accounts: States,
    addresses: States,
}

impl Default for MemoryRateLimiter {
    fn default() -> Self {
        // No idle expiry, because it would read the clock for each request. LRU, because the default policy goes by
        // frequency: a full cache would not admit a new caller, who would then have no limit.
        let states = |most| Cache::builder().max_capacity(most).eviction_policy(EvictionPolicy::lru()).build();
        Self {
            keys: states(KEYS_MAX),
            users: states(USERS_MAX),
            accounts: states(ACCOUNTS_MAX),
            addresses: states(ADDRESSES_MAX),
        }
    }
}

impl RateLimiter for MemoryRateLimiter {
    fn gate(&self, key: RateKey, rate: Rate) -> Arc<dyn Gate> {
        let states = match key {
            RateKey::Key(_) => &self.keys,
            RateKey::User(_) => &self.users,
            RateKey::Account(_) => &self.accounts,
            RateKey::Address(..) => &self.addresses,
        };
        let state = match states.get(&key) {
            Some(state) => state,
            None => states.get_with(key, || Arc::new(AtomicI64::new(RateState::FRESH.as_i64()))),
        };
        Arc::new(MemoryGate { state, rate })
    }
}

/// A gate that only counts the requests of its own process.
struct MemoryGate {
    state: Arc<AtomicI64>,
    rate: Rate,
}

#[async_trait]
impl Gate for MemoryGate {
    async fn admit(&self, now: Timestamp) -> Admission {
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

    async fn give_back(&self) {
        let returned = |state| Some(self.rate.give_back(RateState::from_i64(state)).as_i64());
        // The closure always returns a state, so this cannot fail.
        let _ = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, returned);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use kalends_accounts::Email;
    use kalends_kernel::{Entropy, KeyId, UserId};
    use kalends_plans::IpLane;
    use kalends_quotas::IpKey;
    use kalends_time::SignedDuration;

    use super::*;
    use crate::ports::AccountKey;

    struct Fixed(u8);
    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn key(number: u8) -> RateKey {
        RateKey::Key(KeyId::new(Timestamp::from_micros(0), &Fixed(number)))
    }

    #[tokio::test]
    async fn callers_are_limited_separately_and_recover() {
        let limiter = MemoryRateLimiter::default();
        let (rate, now) = (Rate::per_second(10), Timestamp::from_micros(1_000_000));
        let user = |number| RateKey::User(UserId::new(Timestamp::from_micros(0), &Fixed(number)));
        let address = RateKey::Address(IpLane::Plans, IpKey::from(IpAddr::from([0, 0, 0, 1])));
        for who in [key(1), key(2), user(1), user(2), address] {
            for _ in 0..10 {
                assert_eq!(limiter.gate(who, rate).admit(now).await, Admission::Admitted);
            }
            let refused = limiter.gate(who, rate).admit(now).await;
            assert_eq!(refused, Admission::Refused { retry_after: SignedDuration::micros(100_000) });
        }
        let later = now + SignedDuration::micros(100_000);
        assert_eq!(limiter.gate(key(1), rate).admit(later).await, Admission::Admitted);
        assert_ne!(limiter.gate(key(1), rate).admit(later).await, Admission::Admitted);
    }

    #[tokio::test]
    async fn a_request_that_is_given_back_may_pass_again() {
        let limiter = MemoryRateLimiter::default();
        let (rate, now) = (Rate::per_minute(2), Timestamp::from_micros(1_000_000));
        let gate = limiter.gate(key(1), rate);
        for _ in 0..100 {
            assert_eq!(gate.admit(now).await, Admission::Admitted);
            gate.give_back().await;
        }
        for _ in 0..2 {
            assert_eq!(gate.admit(now).await, Admission::Admitted);
        }
        assert_ne!(gate.admit(now).await, Admission::Admitted);
    }

    #[test]
    fn the_memory_of_the_limiter_is_bounded() {
        let limiter = MemoryRateLimiter { accounts: Cache::builder().max_capacity(100).build(), ..Default::default() };
        for number in 0..1_000 {
            let email = Email::from_stored(format!("scout-{number}@example.com"));
            limiter.gate(RateKey::Account(AccountKey::from(&email)), Rate::per_minute(1));
        }
        limiter.accounts.run_pending_tasks();
        assert!(limiter.accounts.entry_count() <= 100, "{}", limiter.accounts.entry_count());
        let MemoryRateLimiter { keys, users, accounts, addresses } = MemoryRateLimiter::default();
        for states in [keys, users, accounts, addresses] {
            assert!(states.policy().max_capacity().is_some_and(|most| most <= 200_000));
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn concurrent_requests_are_admitted_exactly_up_to_the_rate() {
        let limiter = MemoryRateLimiter::default();
        let (rate, now) = (Rate::per_second(200), Timestamp::from_micros(1_000_000));
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
